"""`sample`: from a model and data to draws from the posterior."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from mixwood._support.checks import positive_number, shown, whole_number
from mixwood._support.seeding import chain_seeds, seed_sequence
from mixwood._support.threads import thread_count
from mixwood._support.versions import versions
from mixwood.core import bind_family
from mixwood.likelihoods.leaf_data import read_data
from mixwood.model import Mixture
from mixwood.posterior.posterior import Posterior
from mixwood.samplers import Sampler, Tree, as_sampler
from mixwood.sampling.chain import ChainPlan
from mixwood.sampling.executor import Job, run_jobs
from mixwood.sampling.initial_partition import start_from

__all__ = ["MOST_CHAINS", "sample", "warn_or_refuse"]

#: Each chain has a seed, and on disk a folder.
MOST_CHAINS = 2**16


def sample(
    model: Mixture,
    X: Any,
    sampler: Sampler | str = Tree(),  # noqa: B008 (frozen)
    draws: int = 1000,
    warmup: int = 500,
    chains: int = 4,
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    init: Any = "ibhc",
    thin: int = 1,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool = True,
) -> Posterior:
    """Draw partitions of the rows of `X` from their posterior.

    Parameters
    ----------
    model : Mixture
        Likelihood and prior.
    X : array, data frame or sparse matrix of shape (n, d), or WeightedLeaves
        One row an item; or the leaves that stand for too many of them, see
        `mixwood.stream_leaves`.
    sampler : Sampler or str
        Which moves the chains make: `Tree()`, exact and guided by trees, by default.
    draws : int
        Draws kept from each chain.
    warmup : int
        Iterations before the first draw.
    chains : int
        How many chains.
    seed : int, SeedSequence, Generator or None
        The same seed, data and options give the same draws, whatever the number of
        threads, on one machine and instruction set.
    init : {"ibhc", "one", "singletons", "on-top"} or array of shape (n,)
        The partition to start from: the clusters of `mixwood.ibhc`, for each chain its
        own; all items in one cluster; each in its own; a bad start, for tests (items put
        on top of the nearest tree in random order, never cut); or labels.
    thin : int
        Iterations from one kept draw to the next.
    max_seconds : float, optional
        Stop after so long; all chains are cut to the shortest.
    n_jobs : int, optional
        How many chains run at once: threads, as many as chains and processors by
        default, or the joblib backend that is active (then the time limit is each
        chain's own).
    store : path, optional
        A folder to write the run to as it goes, which must be new or empty. Then draws are on
        disk, not in memory, until the run ends; it survives whatever happens, and
        `mixwood.resume` goes on with it.
    progress : bool
        Whether to show progress on a terminal or in a notebook.

    Returns
    -------
    Posterior

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
    >>> post.labels.shape
    (1, 50, 6)
    """
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    chosen = as_sampler(sampler)
    plan = ChainPlan(
        warmup=whole_number(warmup, "warmup", at_least=0),
        draws=whole_number(draws, "draws", at_least=1),
        thin=whole_number(thin, "thin", at_least=1),
    )
    n_chains = whole_number(chains, "chains", at_least=1, at_most=MOST_CHAINS)
    limit = None if max_seconds is None else positive_number(max_seconds, "max_seconds")
    thread_count(n_jobs)  # or it says what is wrong
    sequence = seed_sequence(seed)
    resolved, data = read_data(model.likelihood, X)
    explicit = replace(model, likelihood=resolved)
    start = start_from(init, explicit, data, chosen)
    # The user may write to the array later, perhaps through a view: the posterior keeps its own.
    if data is X or getattr(data, "base", None) is not None:
        data = data.copy()
    settings = {
        "sampler": repr(chosen),
        "draws": plan.draws,
        "warmup": plan.warmup,
        "thin": plan.thin,
        "chains": n_chains,
        "init": init if isinstance(init, str) else "labels",
        "max_seconds": limit,
        "seed": {"entropy": sequence.entropy, "spawn_key": list(sequence.spawn_key)},
        **versions(),
    }
    constant = float(np.sum(resolved.row_constants(data)))
    seeds = chain_seeds(sequence, n_chains)
    job = Job(explicit, data, chosen, plan, limit, constant, start, seeds)
    names = resolved.names_in(X)
    if store is None:
        return _run(job, model, settings, names, n_jobs, progress)
    from mixwood.sampling.resume import begin
    from mixwood.store.folders import check_destination
    from mixwood.store.manifest import Description, Plan

    check_destination(store)
    with warnings.catch_warnings():  # they come once more when the chains start
        warnings.simplefilter("ignore")
        bind_family(explicit, data, chosen)  # what cannot be run shall make no folder
    labels = init if isinstance(init, str) else np.asarray(init)
    going = Plan(chosen, labels, sequence, plan.warmup, plan.thin)
    about = Description(
        n_chains, plan.draws, data.shape[0], names, model, resolved, settings, [], data, going
    )
    return begin(store, about, job, n_jobs, progress)


def _run(
    job: Job,
    model: Mixture,
    settings: dict[str, Any],
    columns: tuple[str, ...] | None,
    n_jobs: int | None,
    progress: bool,
) -> Posterior:
    """Run the chains in memory, and put them together, cut to the shortest."""
    _refuse_beyond_memory(len(job.seeds) * job.plan.draws * job.X.shape[0])
    began = time.perf_counter()
    labels, results = run_jobs(job, range(len(job.seeds)), n_jobs, progress)
    errors = [result.error for result in results if result.error is not None]
    shortest = min(result.n_draws for result in results)
    warn_or_refuse(shortest, job.plan.draws, errors)
    arrays = {
        name: np.stack([result.values[name][:shortest] for result in results])
        for name in results[0].values
    }
    log_joint, log_u = arrays.pop("log_joint"), arrays.pop("log_u")
    return Posterior(
        labels=labels[:, :shortest],
        log_joint=log_joint,
        log_u=log_u,
        parameters=arrays,
        model=model,
        resolved=job.model.likelihood,
        X=job.X,
        stats=[result.stats for result in results],
        settings=settings | {"seconds": time.perf_counter() - began},
        columns=columns,
    )


def warn_or_refuse(shortest: int, asked: int, errors: list[str], advice: str = "") -> None:
    """Warn if there are fewer draws than asked for, and raise if there are none."""
    if shortest == 0:
        raise RuntimeError(
            errors[0]
            if errors
            else f"stopped before every chain had its first draw{advice or '; nothing is kept'}. "
            "Give it more time, a shorter warmup or fewer chains"
        )
    if shortest < asked:
        reason = f" ({errors[0]})" if errors else ""
        warnings.warn(
            f"stopped early{reason}: {shortest} draws are kept of each chain, "
            f"of {asked} asked for{'' if errors else advice}",
            RuntimeWarning,
            stacklevel=4,
        )


def _refuse_beyond_memory(needed: int) -> None:
    """Raise before the run if the labels alone would not fit into memory."""
    from mixwood._support.memory import available_bytes

    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the label draws need at least {needed / 2**30:.1f} GiB and "
            f"{available / 2**30:.1f} GiB are available; keep fewer with a larger thin (and fewer "
            "draws), run fewer chains, keep the statistics of mw.stream_leaves, or "
            "keep them on disk with store="
        )
