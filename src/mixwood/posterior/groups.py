"""Items in groups: the weights of the clusters in each group, for tables and for new rows.

Given a draw with ``n_jk`` items of group j in cluster k, one more row of group j weighs::

    cluster k:  (u_j/n_j) (gamma_j + n_jk) / tau_j      new:  (u_j/n_j) rate gamma_j chi / tau_j

which, as without groups, sum to 1 on average over the posterior and are normalized over all draws.
In a group not seen before all components are equally likely, and those without items are
Poisson of mean ``rate chi``: ``E[1/(K + M)]`` for each cluster, the rest for a new one.

The shares of a group (`group_shares`) are draws of its weights given the counts,
``w_j ~ Dirichlet(gamma_j + n_j1, ..., gamma_j + n_jK, M gamma_j)`` with M of that Poisson law.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import probability, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood.posterior.predictive_mixture import (
    PREDICTIVE_DRAWS,
    DistinctClusters,
    PredictiveMixture,
    contingency,
    flat_bases,
    flat_labels,
    flat_latents,
)

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.input.groups import Groups
    from mixwood.posterior.draws import Draws

__all__ = [
    "GroupMixture",
    "GroupValues",
    "compare_groups",
    "group_mixture",
    "group_shares",
    "group_weights",
    "groups_of",
    "mean_inverse",
]


def groups_of(draws: Draws, purpose: str) -> Groups:
    """Return the groups of the items, or raise a ValueError that says `purpose` needs them."""
    if draws.groups is None:
        raise ValueError(
            f"{purpose} needs groups, and this posterior has none: give them to mixwood.sample as "
            "groups="
        )
    return draws.groups


def group_counts(draws: Draws, labels: Any) -> FloatArray:
    """Return how many rows of each group (columns) are in each cluster (rows)."""
    members = groups_of(draws, "this").members(draws.item_sizes)
    return contingency(labels[members.items], members.codes, members.counts)


@dataclass(frozen=True)
class GroupValues:
    """The prior's values of each draw, chains in turn: S draws of J groups.

    Attributes
    ----------
    log_u, gamma : arrays of shape (S, J)
        Of each group.
    log_rate, log_chi : arrays of shape (S,)
        The rate, and ``chi = prod_j tau_j^-gamma_j``.
    """

    log_u: FloatArray
    gamma: FloatArray
    log_rate: FloatArray
    log_chi: FloatArray

    @classmethod
    def of(cls, draws: Draws) -> GroupValues:
        """Return those of a posterior with groups."""
        J = len(groups_of(draws, "this"))
        assert draws.group_values is not None
        values = draws.group_values.reshape(-1, draws.group_values.shape[-1])
        core = draws.core_values()
        one = np.broadcast_to(-core.sigma.reshape(-1, 1), (len(values), J))
        log_u, gamma = values[:, :J], values[:, J:] if values.shape[1] > J else one
        log_chi = -(gamma * np.logaddexp(0, log_u)).sum(axis=1)
        return cls(log_u, gamma, core.log_alpha.ravel(), log_chi)


def mean_inverse(clusters: IntArray, mean: FloatArray) -> FloatArray:
    """Return ``E[1/(K + M)]`` for M ~ Poisson(mean): the integral of ``s^(K-1) e^(-mean (1-s))``.

    Examples
    --------
    >>> mean_inverse(np.array([1, 4]), np.array([1e-12, 2.0])).round(4)
    array([1.    , 0.1758])
    """
    from numpy.polynomial.legendre import leggauss

    x, weight = leggauss(200)
    # s = y^(1/K) makes s^(K-1) ds = dy/K: flat in y where the mean is small, steep near 1 if large
    y = 1 - ((1 - x) / 2) ** 3
    dy = weight / 2 * 3 * ((1 - x) / 2) ** 2
    s = y ** (1 / np.asarray(clusters, dtype=np.float64)[:, None])
    integrand = np.exp(-np.asarray(mean)[:, None] * (1 - s))
    return np.asarray(integrand @ dy / clusters)


@dataclass(frozen=True)
class GroupMixture:
    """The predictive mixture of each group, over the same clusters.

    Attributes
    ----------
    old : array of shape (C, J + 1)
        The weights of the clusters in each group, and last in a group not seen before.
    new : array of shape (b, J + 1)
        Those of a new cluster under each base measure.
    shares : array of shape (J,)
        Which share of the items each group has.
    clusters, ends, bases
        As in `PredictiveMixture`.
    """

    old: FloatArray
    new: FloatArray
    shares: FloatArray
    clusters: DistinctClusters
    ends: IntArray
    bases: FloatArray | None

    def of(self, codes: IntArray) -> PredictiveMixture:
        """Return the mixture with the weights of some groups; the last is one not seen before."""
        return PredictiveMixture(
            self.new[:, codes], self.old[:, codes], self.clusters, self.ends, self.bases
        )

    def of_any(self) -> PredictiveMixture:
        """Return the mixture for a row of a random item's group."""
        old, new = (weights[:, :-1] @ self.shares for weights in (self.old, self.new))
        return PredictiveMixture(new, old, self.clusters, self.ends, self.bases)


def group_mixture(draws: Draws) -> GroupMixture:
    """Return the weights of all draws' clusters in each group; some draws stand for all."""
    groups = groups_of(draws, "prediction by group")
    draws = draws.thinned(max(PREDICTIVE_DRAWS // draws.n_chains, 1))
    values, labels, J = GroupValues.of(draws), flat_labels(draws), len(groups)
    clusters = DistinctClusters.apart(labels, draws.item_sizes, flat_latents(draws))
    counts = draws.n_clusters.ravel()
    empty = np.exp(values.log_rate + values.log_chi)  # the mean number of components without items
    members = groups.members(draws.item_sizes)
    sizes = np.bincount(members.codes, members.counts)
    factor = np.exp(-np.logaddexp(0, -values.log_u)) / sizes
    new = np.column_stack([factor * values.gamma * empty[:, None], np.zeros(len(labels))])
    each = mean_inverse(counts, empty)
    new[:, J] = 1 - counts * each
    old = np.empty((len(clusters), J + 1))
    for s, (start, end) in enumerate(zip(clusters.starts[:-1], clusters.starts[1:], strict=True)):
        there = group_counts(draws, labels[s])
        old[start:end, :J] = factor[s] * (values.gamma[s] + there)
        old[start:end, J] = each[s]
    scale = old.sum(axis=0) + new.sum(axis=0)
    bases = flat_bases(draws)
    old, new = old / scale, new / scale
    if bases is None:
        new, ends = new.sum(axis=0, keepdims=True), np.array([len(clusters)])
    else:
        ends = clusters.starts[1:]
    return GroupMixture(old, new, sizes / sizes.sum(), clusters, ends, bases)


def group_shares(draws: Draws, estimate: IntArray, *, seed: Any, n_draws: int) -> FloatArray:
    """Draw the shares of an estimate's clusters in each group.

    The share of a draw's cluster goes to the clusters of the estimate in proportion to where its
    items are: those ``n_jk`` of the group itself and, with the weight ``gamma_j`` of the prior,
    those of all groups.

    Returns
    -------
    array of shape (S, J, K + 1)
        Rows sum to 1; last is what belongs to no cluster of the data.
    """
    groups = groups_of(draws, "the shares of groups")
    rng = np.random.default_rng(seed_sequence(seed))
    n_draws = whole_number(n_draws, "draws", at_least=1)
    draws = draws.thinned(max(n_draws // draws.n_chains, 1))
    values, labels = GroupValues.of(draws), flat_labels(draws)
    J, K = len(groups), int(estimate.max()) + 1
    items, codes, counts = groups.members(draws.item_sizes)
    cells = codes * K + estimate[items]
    shares = np.empty((len(labels), J, K + 1))
    for s, row in enumerate(labels):
        there = group_counts(draws, row)
        spread = contingency(row, estimate, draws.item_sizes)
        spread /= spread.sum(axis=1, keepdims=True)
        components = rng.poisson(min(np.exp(values.log_rate[s] + values.log_chi[s]), 1e15))
        jumps = rng.standard_gamma(there + values.gamma[s])
        rest = rng.standard_gamma(np.maximum(components * values.gamma[s], 1e-300))
        each = jumps / (jumps.sum(axis=0) + rest) / (there + values.gamma[s])  # of one item
        own = np.bincount(cells, each[row[items], codes] * counts, minlength=J * K)
        shares[s, :, :K] = own.reshape(J, K) + (each * values.gamma[s]).T @ spread
        shares[s, :, K] = rest / (jumps.sum(axis=0) + rest)
    return shares


def group_weights(
    draws: Draws, estimate: IntArray, *, level: float, seed: Any, n_draws: int
) -> Any:
    """Return a table of the shares; see `Posterior.group_weights`."""
    pandas = importlib.import_module("pandas")
    groups = groups_of(draws, "group_weights")
    K, tail = int(estimate.max()) + 1, (1 - probability(level, "level")) / 2
    shares = group_shares(draws, estimate, seed=seed, n_draws=n_draws)[:, :, :K]
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    rows = group_counts(draws, estimate).T
    rows = rows.astype(np.int64) if draws.item_sizes.dtype.kind == "i" else rows
    index = pandas.MultiIndex.from_product([groups.names, range(K)], names=["group", "cluster"])
    columns = {"mean": shares.mean(axis=0), "low": low, "high": high, "rows": rows}
    return pandas.DataFrame({name: table.ravel() for name, table in columns.items()}, index=index)


def compare_groups(
    draws: Draws,
    estimate: IntArray,
    first: Any,
    second: Any,
    *,
    level: float,
    seed: Any,
    n_draws: int,
) -> Any:
    """Return how the shares of two groups differ; see `Posterior.compare_groups`."""
    pandas = importlib.import_module("pandas")
    groups = groups_of(draws, "compare_groups")
    a, b = groups.index(first, "a"), groups.index(second, "b")
    if a == b:
        raise ValueError(f"a and b must be two groups, got {groups.names[a]!r} twice")
    K, tail = int(estimate.max()) + 1, (1 - probability(level, "level")) / 2
    shares = group_shares(draws, estimate, seed=seed, n_draws=n_draws)[:, :, :K]
    difference = shares[:, a] - shares[:, b]
    low, high = np.quantile(difference, [tail, 1 - tail], axis=0)
    table = pandas.DataFrame(
        {
            "a": shares[:, a].mean(axis=0),
            "b": shares[:, b].mean(axis=0),
            "difference": difference.mean(axis=0),
            "low": low,
            "high": high,
            "probability": (difference > 0).mean(axis=0),
        },
        index=pandas.RangeIndex(K, name="cluster"),
    )
    sure = np.abs(table["probability"] - 0.5)
    order = np.lexsort([-np.abs(table["difference"]), -sure.round(3)])
    return table.iloc[order]
