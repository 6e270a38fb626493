"""The way into the compiled core: the only place that makes its families' chains and forests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from mixwood._support.types import Data, IntArray
from mixwood.input.groups import MovedGroups
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.model import Mixture
from mixwood.priors import Prior, PriorValues
from mixwood.samplers import Sampler

if TYPE_CHECKING:
    from mixwood import _core

__all__ = [
    "MoveStatistics",
    "bind_family",
    "load_chain",
    "make_chain",
    "make_forest",
    "move_statistics",
]


class MoveStatistics(TypedDict):
    """What one kind of move did: how often, with which log acceptance ratios, for how long."""

    proposed: int
    accepted: int
    seconds: float
    mean_log_ratio: float
    sd_log_ratio: float


def make_chain(
    model: Mixture,
    X: Data | WeightedLeaves,
    labels: NDArray[np.int32],
    bit_generator: np.random.BitGenerator,
    sampler: Sampler,
    family: _core.Family | None = None,
    *,
    groups: IntArray | MovedGroups | None = None,
    blank: bool = False,
    threads: int = 1,
) -> _core.Chain:
    """Return a compiled chain at its start.

    Parameters
    ----------
    model : Mixture
        With a resolved likelihood.
    X : array, csr_array or WeightedLeaves
        Checked data.
    labels : int32 array of shape (n,)
        The partition to start from, labels within ``0..n-1``.
    bit_generator : numpy.random.BitGenerator
        The chain's random stream.
    sampler : Sampler
        Which moves it makes.
    family : Family, optional
        The likelihood bound to `X`, if that is at hand: chains share it.
    groups : array of shape (n,) or MovedGroups, optional
        The group of each row, from 0 on; or those of leaves.
    blank : bool
        Whether to grow no guide tree: a state is about to be loaded.
    threads : int
        How many its guide trees are grown on; they do not depend on it.
    """
    from mixwood import _core

    if family is None:
        family = bind_family(model, X, sampler)
    own: dict[str, Any] = {}
    if isinstance(groups, MovedGroups):
        own = {"groups": groups.groups, "group_counts": groups.counts, "group_ends": groups.ends}
    elif groups is not None:
        own = {"groups": np.ascontiguousarray(groups, dtype=np.int32)}
    return _core.Chain(
        family,
        **model.prior.core_arguments(),
        labels=np.ascontiguousarray(labels, dtype=np.int32),
        bit_generator=bit_generator,
        sampler=sampler.name,
        options=sampler.options(len(labels), model.likelihood.matrix_size),
        blank=blank,
        threads=threads,
        **own,
    )


def bind_family(
    model: Mixture, X: Data | WeightedLeaves, sampler: Sampler | None = None
) -> _core.Family:
    """Return the compiled family of a resolved model, over rows or over leaves.

    Raises
    ------
    ValueError
        If a row's density is not a number.
    TypeError
        If the chains' `sampler` is given and cannot work with the likelihood, or with missing
        entries or scales of rows that are drawn.
    """
    if isinstance(X, WeightedLeaves):
        family = X.bind()
    else:
        bind = model.likelihood.bind if sampler is None else model.likelihood.bind_for_chains
        family = bind(X)
    if isinstance(X, WeightedLeaves) and sampler is not None and not sampler.takes_leaves:
        raise TypeError(
            "sampler must be mw.Tree() or mw.Gibbs() for weighted leaves, weights= and known=, "
            f"got {sampler}, which moves single rows"
        )
    if sampler is not None and sampler.draws_parameters and not family.has_atoms:
        why_not = model.likelihood.why_no_atoms or "has no atom sampler"
        raise TypeError(
            "sampler Slice() draws the parameters of the clusters, and the likelihood "
            f"{type(model.likelihood).__name__} cannot: it {why_not}. Use one of the marginal "
            "samplers, for example mw.Gibbs()"
        )
    if sampler is not None and family.latent_size > 0:
        reason, draws = sampler.why_no_latent(family.n_rows), model.likelihood.why_no_leaves
        if reason is not None and draws is not None:
            raise TypeError(
                f"sampler {sampler} cannot work with {type(model.likelihood).__name__}, which "
                f"{draws}: {reason}. Use mw.Tree(), or mw.Gaussian()"
            )
        if reason is not None:
            raise TypeError(
                f"sampler {sampler} cannot draw the missing entries of X: {reason}. Use mw.Tree(), "
                "or mw.DiagonalGaussian(), which skips them"
            )
    densities = family.log_alone()
    if not np.all(np.isfinite(densities)):
        row = int(np.flatnonzero(~np.isfinite(densities))[0])
        raise ValueError(
            f"X has a row ({row}) so extreme that its prior density is not a finite number; "
            "rescale X or change the likelihood's parameters"
        )
    return family


def load_chain(
    model: Mixture,
    X: Data | WeightedLeaves,
    sampler: Sampler,
    family: _core.Family,
    *,
    state: bytes,
    random: Any,
    groups: IntArray | MovedGroups | None = None,
    threads: int = 1,
) -> tuple[_core.Chain, np.random.BitGenerator]:
    """Return a compiled chain, and its random stream, as they were when they were saved.

    Raises
    ------
    ValueError
        If the state is not one of such a chain.
    """
    # It must start somewhere: where that is cheap. PaperTree grows a tree for each cluster.
    n = X.shape[0]
    labels = np.arange(n) if sampler.grows_clusters else np.zeros(n)
    stream = np.random.PCG64(0)
    first = labels.astype(np.int32)
    chain = make_chain(
        model, X, first, stream, sampler, family, groups=groups, blank=True, threads=threads
    )
    chain.load_state(state)
    stream.state = random
    return chain, stream


def make_forest(
    prior: Prior,
    family: _core.Family,
    values: PriorValues[float],
    rule: str,
    search: str = "index",
) -> _core.Forest:
    """Return an empty compiled forest over the rows of `family`.

    Parameters
    ----------
    prior : Prior
        That of the partition.
    family : Family
        The likelihood bound to the rows.
    values : PriorValues
        The prior's parameters and ``u``.
    rule, search : str
        As for `mixwood.ibhc`.
    """
    from mixwood import _core

    return _core.Forest(
        family,
        prior.kernel,
        log_u=values.log_u,
        log_alpha=values.log_alpha,
        sigma=values.sigma,
        theta=values.theta,
        rule=rule,
        search=search,
    )


def move_statistics(chain: _core.Chain) -> dict[str, MoveStatistics]:
    """Return what each kind of move of a chain did so far."""
    found: dict[str, MoveStatistics] = {}
    for report in chain.reports():
        name: str = report.pop("move")
        found[name] = MoveStatistics(**report)  # type: ignore[typeddict-item]
    return found
