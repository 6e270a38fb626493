"""`sample`: from a model and data to draws from the posterior."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from mixwood._support.checks import positive_number, shown, whole_number
from mixwood._support.labels import one_array
from mixwood._support.memory import available_bytes
from mixwood._support.numbers import count, memory, number
from mixwood._support.seeding import seed_sequence
from mixwood._support.threads import OutOfTimeError, thread_count
from mixwood._support.types import FloatArray
from mixwood._support.versions import versions
from mixwood.core import bind_family
from mixwood.input.groups import checked_groups
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.cost import warn_of_cost
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.far_entries import warn_of_far_entries
from mixwood.likelihoods.known_labels import checked_known, kept_by
from mixwood.likelihoods.row_weights import checked_weights, weighted_rows
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, names_in, read_data
from mixwood.model import Mixture
from mixwood.posterior.posterior import Posterior
from mixwood.priors import Prior
from mixwood.run_spec import MOST_CHAINS, RunInformation, RunSpec
from mixwood.samplers import Sampler, Tree, as_sampler
from mixwood.sampling.executor import Job, run_in_memory
from mixwood.sampling.initial_partition import checked_init
from mixwood.sampling.interruptible import interruptibly
from mixwood.sampling.progress import say
from mixwood.sampling.stored import begin, warn_or_refuse
from mixwood.sampling.structure import Structure, best_structure, ways_of
from mixwood.sampling.tails import with_tails_if_heavy
from mixwood.sampling.until_agree import checked_until, run_until_agree
from mixwood.store.folders import check_destination

__all__ = ["refuse_light_rows", "sample"]


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
    *,
    weights: Any = None,
    known: Any = None,
    until: str | None = None,
    groups: Any = None,
) -> Posterior:
    """Draw partitions of the rows of `X` from their posterior.

    Parameters
    ----------
    model : Mixture
        Likelihood and prior.
    X : array, data frame or sparse matrix of shape (n, d), or WeightedLeaves
        One row per item; or the leaves that stand for too many of them, see
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
        Stop after this long, the choice of a structure and the start included; all chains are cut
        to the shortest. RuntimeError if there is no draw of each by then.
    n_jobs : int, optional
        How many chains run at once: threads, as many as chains and processors by
        default, or the joblib backend that is active (then the time limit is each
        chain's own).
    store : path, optional
        A folder to write the run to as it goes, which must be new or empty. Then draws are on
        disk, not in memory, until the run ends; it survives whatever happens, and
        `mixwood.resume` continues it.
    progress : bool
        Whether to show progress on a terminal or in a notebook.
    weights : array of shape (n,), optional
        How many rows each row of `X` stands for, which stay together: positive, not
        necessarily whole (they are rounded to a millionth). With `NGGP` and `PitmanYor` at
        least 1, or more than a ``sigma`` that is fixed; with `Multinomial` whole numbers. What
        the likelihood takes from the data does not look at them.
    known : array of shape (n,), optional
        Known labels, whole numbers from 0 on, -1 where the label is unknown. Rows of the same
        label are together in every draw, rows of different labels apart.
    until : {None, "agree"}
        With "agree" the chains go on after `draws` until they agree (R-hat at most 1.01 and 100
        effective draws per chain, for every quantity of `Posterior.summary`), have 64 times as many
        draws, or `max_seconds` are over; a warning says so if they do not agree by then.
    groups : array of shape (n,), optional
        The group of each row (patient, batch, site, time window): names or numbers. The clusters
        are shared, their weights are each group's own. Needs the prior `FiniteMixture`, whose
        ``gamma`` is then random unless it is given, and a sampler that knows of groups: `Tree`,
        `Gibbs` or `SplitMerge`. `WeightedLeaves` have their own, see `mixwood.stream_leaves`. One
        group means the same as none. Chains start from clusters of all rows pooled.

    Returns
    -------
    Posterior

    Notes
    -----
    With `weights` the items of the posterior are weighted leaves, one for each row:
    `Posterior.item_sizes` has the weights, and estimates, summaries and predictions count them.
    `weights` and `known` need a sampler that moves weighted leaves, `Tree` or `Gibbs`.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
    >>> post.labels.shape
    (1, 50, 6)
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False,
    ...                  known=[0, -1, -1, -1, -1, 0])
    >>> bool((post.labels[..., 0] == post.labels[..., 5]).all())
    True
    """
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    # What is cheap to check comes first, the data last.
    decided: dict[str, Any] = {
        "sampler": as_sampler(sampler),
        "warmup": whole_number(warmup, "warmup", at_least=0),
        "draws": whole_number(draws, "draws", at_least=1),
        "thin": whole_number(thin, "thin", at_least=1),
        "chains": whole_number(chains, "chains", at_least=1, at_most=MOST_CHAINS),
    }
    _refuse_groups(decided["sampler"], X, groups)
    limit = None if max_seconds is None else positive_number(max_seconds, "max_seconds")
    deadline = None if limit is None else time.monotonic() + limit
    in_leaves = known is not None or weights is not None or isinstance(X, WeightedLeaves)
    if decided["sampler"].moves_nothing(in_leaves):
        kept = " where rows are kept together" if in_leaves else ""
        raise ValueError(
            f"sampler must move something in every iteration{kept}, got {sampler}; leave one of "
            "subtree_moves, split_moves and leaf_moves at its default"
        )
    goes_on = checked_until(until, decided["chains"])
    threads = thread_count(n_jobs)
    decided["seed"] = seed_sequence(seed)
    if store is not None:
        check_destination(store, "store", instead="continue this one by mixwood.resume")
    try:
        resolved, data, structure = _fitted(
            model,
            X,
            decided["seed"],
            sampler=decided["sampler"],
            in_leaves=known is not None or weights is not None,
            threads=threads,
            shown=progress,
            until=deadline,
        )
    except OutOfTimeError:
        warn_or_refuse(0, decided["draws"], [])
        raise
    names = names_in(resolved, X)
    labels = None if known is None else checked_known(known, data.shape[0])
    in_groups = X.groups if isinstance(X, WeightedLeaves) else None
    if groups is not None:
        in_groups = checked_groups(groups, data.shape[0])
    if in_groups is not None:
        model = replace(model, prior=model.prior.for_groups(len(in_groups)))
    if weights is not None:
        data = _weighted(model.prior, resolved, data, weights)
    # The user may write to the array later, perhaps through a view: the posterior keeps its own.
    borrowed = data is X or getattr(data, "base", None) is not None
    if borrowed and not isinstance(data, WeightedLeaves):  # they cannot be written to
        data = data.copy()
    spec = RunSpec(
        model=model,
        resolved=resolved,
        data=data,
        names=names,
        known=labels,
        groups=in_groups,
        init=checked_init(init, data.shape[0]),
        ways=() if structure is None else tuple(ways_of(structure.pilots)),
        **decided,
    )
    _refuse_broken(spec)
    information: RunInformation = {**spec.information, "max_seconds": limit, **versions()}
    if isinstance(data, WeightedLeaves) and weights is not None:
        total = float(data.sizes.sum())
        information["weights"] = f"{count('row', data.n_leaves)} that count as {number(total)}"
    if structure is not None:
        information["structure"] = structure.reason
        if progress:
            say(structure.reason)
    left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
    job = Job(spec=spec, max_seconds=left, n_jobs=n_jobs, progress=progress)
    if store is None and not goes_on:
        return _in_memory(job, information)
    with warnings.catch_warnings():  # they come once more when the chains start
        warnings.simplefilter("ignore")
        bind_family(
            spec.explicit, spec.moved, spec.sampler
        )  # what cannot be run is to make no folder
    if goes_on:
        return run_until_agree(store, job, information)
    assert store is not None
    return begin(store, job, information)


def _refuse_groups(sampler: Sampler, X: Any, groups: Any) -> None:
    """Raise if rows in groups are given with what does not go with them."""
    own = X.groups if isinstance(X, WeightedLeaves) else None
    if isinstance(X, WeightedLeaves) and groups is not None:
        raise ValueError(
            "groups must be None where X is WeightedLeaves, each of which stands for several rows; "
            "make the leaves with groups: mw.stream_leaves(model, blocks, groups=...)"
        )
    if isinstance(groups, str):
        raise ValueError(
            f"groups must be names or numbers, one per row of X, got {shown(groups)}; of a data "
            f"frame, X[{shown(groups)}], which X then should not have among its columns"
        )
    if groups is None and own is None:
        return
    reason = sampler.why_no_groups
    if reason is not None:
        raise TypeError(
            f"sampler {sampler} does not work with groups=: {reason}. Use mw.Tree(), mw.Gibbs() or "
            "mw.SplitMerge()"
        )


def _fitted(
    model: Mixture,
    X: Any,
    seed: np.random.SeedSequence,
    *,
    sampler: Sampler,
    in_leaves: bool,
    threads: int,
    shown: bool,
    until: float | None,
) -> tuple[Likelihood, Any, Structure | None]:
    """Return the likelihood, explicit, the data, and what pilots found if others were tried.

    Where rows will be `in_leaves`, which keep sums alone, those that would draw missing entries
    are not tried if there are others, nor are heavy tails, which draw scales of rows. These must
    also be what the `sampler` can draw.
    """
    if not model.likelihood.is_open or isinstance(X, WeightedLeaves):
        return *read_data(model.likelihood, X), None
    located, data = model.likelihood.located_in(X)
    candidates = located.candidates(data)
    if in_leaves:
        drawing_none = [one for one in candidates if not len(one.missing_entries(data)[0])]
        candidates = drawing_none or candidates
    draws_scales = not in_leaves and sampler.why_no_latent(data.shape[0]) is None

    def choose(tried: list[Likelihood]) -> Structure:
        best = best_structure(model, tried, data, seed)
        heavier = located.with_heavy_tails(best.likelihood, data) if draws_scales else None
        return best if heavier is None else with_tails_if_heavy(model, best, heavier, data, seed)

    chosen = interruptibly(
        choose,
        [candidates],
        threads,
        what="choosing the structure of clusters",
        shown=shown,
        until=until,
    )[0]
    likelihood = chosen.likelihood
    names = None if likelihood.reads_tables else likelihood.names_in(X)  # those have their own
    warn_of_left_out(likelihood.left_out, names)
    if likelihood.continuous and isinstance(data, np.ndarray):
        warn_of_far_entries(data, names)
    warn_of_cost(chosen.likelihood, data.shape[0])
    return chosen.likelihood, data, chosen


def _weighted(prior: Prior, resolved: Likelihood, data: Any, weights: Any) -> WeightedLeaves:
    """Return rows with their weights, or raise if these cannot be."""
    if isinstance(data, WeightedLeaves):
        raise ValueError("weights must be None where X is WeightedLeaves, which have sizes already")
    checked = checked_weights(weights, data.shape[0])
    refuse_light_rows(prior, checked)
    return weighted_rows(resolved, data, checked)


def refuse_light_rows(prior: Prior, weights: FloatArray, name: str = "weights") -> None:
    """Raise if a row weighs so little that a cluster of it has no weight under the prior."""
    least = float(weights.min())
    if least < 1 and least <= prior.largest_discount:
        raise ValueError(
            f"{name} must be at least 1 with {type(prior).__name__} (or more than a sigma that is "
            f"fixed), got {least:g} in row {int(weights.argmin())}: a cluster of fewer than sigma "
            "rows has no prior weight. Use mw.DirichletProcess() or mw.FiniteMixture(), or divide "
            "the weights by the smallest"
        )


def _refuse_broken(spec: RunSpec) -> None:
    """Raise if the sampler or the start cannot keep the labels that are known."""
    if spec.known is None:
        return
    if spec.sampler.joins_rows:
        raise ValueError(
            f"sampler must not have max_leaves with known=, got {spec.sampler}: leaves are made of "
            "near rows, whatever their labels"
        )
    broken = None if isinstance(spec.init, str) else kept_by(spec.init, spec.known)
    if broken is not None:
        raise ValueError(f"init must keep what is known: {broken}")


def _in_memory(job: Job, information: RunInformation) -> Posterior:
    """Run the chains in memory, and put them together, cut to the shortest."""
    spec = job.spec
    # Labels can be in a file. A missing entry takes eight bytes, and eight more until the chain is
    # at its end.
    _refuse_beyond_memory(spec.chains * spec.draws * 16 * spec.vectors.get("latent", 0))
    began = time.perf_counter()
    sinks, results = run_in_memory(job)
    shortest = min(result.n_draws for result in results)
    warn_or_refuse(shortest, spec.draws, results)
    arrays = {
        name: np.stack([sink.values[name][:shortest] for sink in sinks]) for name in sinks[0].values
    }
    group_values = arrays.pop("groups", None)
    return Posterior(
        labels=one_array([sink.labels for sink in sinks])[:, :shortest],
        log_joint=arrays.pop("log_joint"),
        log_u=arrays.pop("log_u"),
        bases=arrays.pop("base", None),
        latents=arrays.pop("latent", None),
        parameters=arrays,
        model=spec.model,
        resolved=spec.resolved,
        X=spec.data,
        stats=[result.stats for result in results],
        settings={**information, "seconds": time.perf_counter() - began},
        columns=spec.names,
        known=spec.known,
        groups=spec.groups,
        group_values=group_values,
    )


def _refuse_beyond_memory(needed: int) -> None:
    """Raise before the run if the draws of missing entries alone would not fit into memory."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the draws of missing entries need at least {memory(needed)} of memory, and "
            f"{memory(available)} are available; keep fewer with a larger thin (and fewer "
            "draws), run fewer chains, or keep them on disk with store="
        )
