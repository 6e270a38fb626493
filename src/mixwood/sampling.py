"""`sample`: from a model and data to draws from the posterior."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood.chains import ChainPlan, ChainResult
from mixwood.checks import positive_number, shown, whole_number
from mixwood.leaves import read_data
from mixwood.model import Mixture
from mixwood.parallel import Job, run_jobs
from mixwood.posterior import Posterior
from mixwood.samplers import Sampler, Tree, as_sampler
from mixwood.seeding import chain_seeds, seed_sequence
from mixwood.starts import start_from
from mixwood.threads import thread_count

__all__ = ["sample"]


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
        A folder to save the posterior to at the end, as `Posterior.save` does.
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
    n_chains = whole_number(chains, "chains", at_least=1)
    limit = None if max_seconds is None else positive_number(max_seconds, "max_seconds")
    thread_count(n_jobs)  # or it says what is wrong
    sequence = seed_sequence(seed)
    resolved, data = read_data(model.likelihood, X)
    explicit = replace(model, likelihood=resolved)
    start = start_from(init, explicit, data)
    _refuse_beyond_memory(n_chains * plan.draws * data.shape[0] * 4)
    if store is not None:
        from mixwood.encoding import encode
        from mixwood.storage import check_destination

        check_destination(store)
        encode(explicit, [], "model")  # what cannot be saved is said before the run

    began = time.perf_counter()
    constant = float(np.sum(resolved.row_constants(data)))
    job = Job(explicit, data, chosen, plan, limit, constant, start)
    labels, results = run_jobs(job, chain_seeds(sequence, n_chains), n_jobs, progress)
    settings = {
        "sampler": repr(chosen),
        "draws": plan.draws,
        "warmup": plan.warmup,
        "thin": plan.thin,
        "chains": n_chains,
        "init": init if isinstance(init, str) else "labels",
        "max_seconds": limit,
        "seed": {"entropy": sequence.entropy, "spawn_key": list(sequence.spawn_key)},
        "seconds": time.perf_counter() - began,
        **_versions(),
    }
    # The user may write to the array later, perhaps through a view: the posterior keeps its own.
    if data is X or getattr(data, "base", None) is not None:
        job = replace(job, X=data.copy())
    posterior = _collect(labels, results, job, model, settings, resolved.names_in(X))
    if store is not None:
        posterior.save(store)
    return posterior


def _collect(
    labels: NDArray[np.int32],
    results: Sequence[ChainResult],
    job: Job,
    model: Mixture,
    settings: dict[str, Any],
    columns: tuple[str, ...] | None,
) -> Posterior:
    """Put the chains together, cut to the shortest."""
    errors = [result.error for result in results if result.error is not None]
    shortest = min(result.n_draws for result in results)
    if shortest == 0:
        raise RuntimeError(
            errors[0]
            if errors
            else "stopped before every chain had its first draw; nothing is kept. "
            "Give it more time, a shorter warmup or fewer chains"
        )
    if shortest < job.plan.draws:
        reason = f" ({errors[0]})" if errors else ""
        warnings.warn(
            f"stopped early{reason}: {shortest} draws are kept of each chain, "
            f"of {job.plan.draws} asked for",
            RuntimeWarning,
            stacklevel=3,
        )
    arrays = {
        name: np.stack([result.values[name][:shortest] for result in results])
        for name in results[0].values
    }
    log_joint, log_u = arrays.pop("log_joint"), arrays.pop("log_u")
    return Posterior(
        labels=labels[:, :shortest],
        log_joint=log_joint + job.log_constant,
        log_u=log_u,
        parameters=arrays,
        model=model,
        resolved=job.model.likelihood,
        X=job.X,
        stats=[result.stats for result in results],
        settings=settings,
        columns=columns,
    )


def _versions() -> dict[str, str]:
    from mixwood import __version__, _core

    return {
        "mixwood": __version__,
        "numpy": np.__version__,
        "instruction_set": _core.instruction_set(),
    }


def _refuse_beyond_memory(needed: int) -> None:
    """Raise before the run if the labels alone would not fit into memory."""
    from mixwood.memory import available_bytes

    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the label draws need {needed / 2**30:.1f} GiB and {available / 2**30:.1f} GiB are "
            "available; keep fewer with a larger thin (and fewer draws), or run fewer chains"
        )
