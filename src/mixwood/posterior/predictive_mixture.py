"""The clusters of all draws, and how much of the predictive density is theirs.

Given a draw, a new row joins one of its clusters or starts a new one with the weights of
`mixwood.priors.Prior.predictive_weights`. Where the base measure is fixed, a cluster that many
draws have counts once. Where it is learned, each draw has a base measure of its own, hence
clusters of its own, and some of the draws stand for all; likewise where missing entries are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood.posterior.draws import Draws
from mixwood.priors import PredictiveWeights, PriorValues

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import FloatArray, IntArray, Sizes

__all__ = [
    "PREDICTIVE_DRAWS",
    "DistinctClusters",
    "Portion",
    "PredictiveMixture",
    "clusters_at_once",
    "contingency",
    "draw_weights",
    "flat_bases",
    "flat_labels",
    "flat_latents",
    "predictive_mixture",
]

#: How many draws, of all chains together, predict where the base measure is learned.
PREDICTIVE_DRAWS = 400

#: How many clusters at most, and how many numbers in their statistics, are held at a time.
_CLUSTERS_AT_ONCE = 512
_NUMBERS_AT_ONCE = 2**22


def draw_weights(draws: Draws) -> PredictiveWeights:
    """Return the weights that the prior gives the clusters of each draw, chains in turn."""
    core = draws.core_values()
    values = PriorValues(**{name: array.ravel() for name, array in vars(core).items()})
    n = draws.item_sizes.sum().item()
    return draws.model.prior.predictive_weights(values, n, draws.n_clusters.ravel())


@dataclass(frozen=True)
class DistinctClusters:
    """Sets of items that are clusters in one draw or in many, each kept once.

    Attributes
    ----------
    labels : int array of shape (S, n)
        The draws.
    weights : array of shape (n,)
        How many rows each item stands for.
    ids : int array
        Which of the distinct clusters each draw's clusters are, one draw after the other.
    starts : int array of shape (S + 1,)
        Where each draw begins in `ids`.
    sizes, first_draw, first_label : int arrays of shape (C,)
        The number of rows in each distinct cluster, the first draw that has it and its label
        there. They are in the order in which they appear.
    latents : array of shape (S, entries), optional
        The missing entries of each draw, where they are drawn: no two clusters are equal then.
    """

    labels: NDArray[np.int32]
    weights: Sizes
    ids: IntArray
    starts: IntArray
    sizes: Sizes
    first_draw: IntArray
    first_label: IntArray
    latents: FloatArray | None = None

    @classmethod
    def of(cls, labels: NDArray[np.int32], weights: Sizes | None = None) -> DistinctClusters:
        """Find them in draws of shape (S, n), each labelled from 0 without gaps.

        Without `weights` items are rows.

        A set is known by two sums of random numbers, one per member: equal sets have equal sums,
        since they are added in the same order, and unequal ones do not, in all likelihood.
        """
        if weights is None:
            weights = np.ones(labels.shape[1], dtype=np.int64)
        numbers = np.random.default_rng(0).random((2, labels.shape[1]))
        counts, sums = [], []
        for row in labels:
            counts.append(_rows_in(row, weights))
            real, imaginary = (np.bincount(row, weights=z) for z in numbers)
            sums.append(real + 1j * imaginary)
        lengths = np.array([len(c) for c in counts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        _, first, ids = np.unique(np.concatenate(sums), return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = first[order]
        first_draw = np.searchsorted(starts, first, side="right") - 1
        sizes: Any = np.concatenate(counts)[first]
        return cls(
            labels, weights, place[ids], starts, sizes, first_draw, first - starts[first_draw]
        )

    @classmethod
    def apart(
        cls, labels: NDArray[np.int32], weights: Sizes, latents: FloatArray | None = None
    ) -> DistinctClusters:
        """Take every cluster of every draw for one of its own."""
        counts = [_rows_in(row, weights) for row in labels]
        lengths = np.array([len(c) for c in counts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        ids = np.arange(starts[-1])
        first_draw = np.repeat(np.arange(len(labels)), lengths)
        sizes: Any = np.concatenate(counts)
        first_label = ids - starts[first_draw]
        return cls(labels, weights, ids, starts, sizes, first_draw, first_label, latents)

    @classmethod
    def among(
        cls, labels: NDArray[np.int32], weights: Sizes, latents: FloatArray | None
    ) -> DistinctClusters:
        """Find them where no two are equal if missing entries differ from draw to draw."""
        if latents is None:
            return cls.of(labels, weights)
        return cls.apart(labels, weights, latents)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def draw_of_id(self) -> IntArray:
        """The draw of each entry of `ids`."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.starts))

    def statistics_of(self, family: _core.Family, chosen: IntArray) -> FloatArray:
        """Return the statistics of some of the clusters, named by their place, in any order."""
        statistics = np.empty((len(chosen), family.statistic_size))
        draws = self.first_draw[chosen]
        for s in np.unique(draws):
            here = np.flatnonzero(draws == s)
            wanted, place = np.unique(self.first_label[chosen[here]], return_inverse=True)
            number = np.full(self.starts[s + 1] - self.starts[s], -1, dtype=np.int32)
            number[wanted] = np.arange(len(wanted))
            there = family if self.latents is None else family.at(family.base, self.latents[s])
            statistics[here] = there.cluster_statistics(number[self.labels[s]])[place]
        return statistics

    def shares(self, estimate: IntArray, part: slice) -> FloatArray:
        """Return what share of each cluster's items is in each cluster of `estimate`.

        Returns
        -------
        array of shape (clusters of `part`, K)
            ``|c intersect k| / |c|``.
        """
        K = int(estimate.max()) + 1
        draws, labels = self.first_draw[part], self.first_label[part]
        counts = np.empty((len(draws), K))
        for s in np.unique(draws):
            here = np.flatnonzero(draws == s)
            counts[here] = contingency(self.labels[s], estimate, self.weights)[labels[here]]
        return counts / self.sizes[part, None]


@dataclass(frozen=True)
class Portion:
    """Some of the clusters of a predictive mixture, under one base measure.

    Attributes
    ----------
    chosen : slice
        Which they are, among the distinct clusters.
    statistics : array of shape (c, statistic_size)
        Theirs.
    weights : array of shape (c,), or (c, g)
        Theirs; that of a new cluster is apart. Of items in groups, those in each of some groups.
    new : array of shape () or (g,)
        The weight of a new cluster under this base measure.
    base : array of shape (base_size,) or None
        Where the base measure is learned.
    """

    chosen: slice
    statistics: FloatArray
    weights: FloatArray
    new: FloatArray
    base: FloatArray | None

    def log_weights(self, codes: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """Return the logs of the weights for new rows, and of those of a new cluster.

        Parameters
        ----------
        codes : array of shape (m,), or None
            Which of the groups each row is in.

        Returns
        -------
        pair of arrays of shapes (m, c) and (m,); without groups (c,) and ()
        """
        with np.errstate(divide="ignore"):
            weights, new = np.log(self.weights), np.log(self.new)
        return (weights, new) if codes is None else (weights.T[codes], new[codes])


@dataclass(frozen=True)
class PredictiveMixture:
    """The predictive density as one mixture: ``p(x | X) = new P(x) + sum_c old_c P(x | X_c)``.

    The weights sum to 1.

    Attributes
    ----------
    new : array of shape (b,), or (b, g)
        The weight of a new cluster under each base measure; in each of some groups.
    old : array of shape (C,), or (C, g)
        The weights of the clusters.
    clusters : DistinctClusters
        The clusters: distinct under one base measure.
    ends : int array of shape (b,)
        The clusters under a base measure end here, those of the next begin.
    bases : array of shape (b, base_size), or None
        The base measures, or None where there is one that is fixed.
    """

    new: FloatArray
    old: FloatArray
    clusters: DistinctClusters
    ends: IntArray
    bases: FloatArray | None

    def portions(self, family: _core.Family) -> Iterator[Portion]:
        """Yield all clusters a portion at a time; `family` is bound to the items."""
        limit = clusters_at_once(family)
        start = 0
        for b, end in enumerate(self.ends):
            base = None if self.bases is None else self.bases[b]
            new = np.asarray(self.new[b])
            while start < end:
                part = slice(start, min(start + limit, int(end)))
                statistics = self.clusters.statistics_of(family, np.arange(part.start, part.stop))
                yield Portion(part, statistics, self.old[part], new, base)
                start, new = part.stop, np.zeros_like(new)

    def draw_of_cluster(self, places: IntArray) -> IntArray:
        """Return under which base measure clusters are; a new one has a place after all others."""
        old = np.searchsorted(self.ends, places, side="right")
        return np.where(places < len(self.old), old, places - len(self.old))


def predictive_mixture(draws: Draws) -> PredictiveMixture:
    """Return the weights of all draws' clusters, normalized over all draws together.

    Of items in groups, for a row of a random item's group.
    """
    if draws.groups is not None:
        return draws.group_mixture.of_any()
    if draws.resolved.base_size > 0 or draws.latents is not None:
        draws = draws.thinned(max(PREDICTIVE_DRAWS // draws.n_chains, 1))
        return _one_draw_after_the_other(draws)
    weights = draw_weights(draws)
    clusters = DistinctClusters.of(flat_labels(draws), draws.item_sizes)
    scale = weights.log_normalizer + np.log(len(weights.log_total))
    log_old = weights.log_old(clusters.draw_of_id, clusters.sizes[clusters.ids])
    old = np.zeros(len(clusters))
    np.add.at(old, clusters.ids, np.exp(log_old - scale))
    new = np.exp(weights.log_new - scale).sum()[None]
    return PredictiveMixture(new, old, clusters, np.array([len(clusters)]), None)


def _one_draw_after_the_other(draws: Draws) -> PredictiveMixture:
    weights = draw_weights(draws)
    clusters = DistinctClusters.apart(flat_labels(draws), draws.item_sizes, flat_latents(draws))
    scale = weights.log_normalizer + np.log(len(weights.log_total))
    old = np.exp(weights.log_old(clusters.draw_of_id, clusters.sizes) - scale)
    new = np.exp(weights.log_new - scale)
    return PredictiveMixture(new, old, clusters, clusters.starts[1:], flat_bases(draws))


def _rows_in(labels: NDArray[np.int32], weights: Sizes) -> Sizes:
    """Return how many rows each cluster has, as whole numbers where the weights are."""
    counts = np.bincount(labels, weights)
    return counts.astype(np.int64) if weights.dtype.kind == "i" else counts


def contingency(
    labels: NDArray[np.int32], estimate: IntArray, weights: Sizes | None = None
) -> FloatArray:
    """Return how many items each cluster of a draw shares with each of an estimate.

    With `weights`, one per item, the sum of theirs.

    Examples
    --------
    >>> contingency(np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 1]))
    array([[1., 1.],
           [0., 1.]])
    """
    rows, K = int(labels.max()) + 1, int(estimate.max()) + 1
    table = np.bincount(labels * np.int64(K) + estimate, weights, minlength=rows * K)
    return table.reshape(rows, K).astype(np.float64)


def clusters_at_once(family: _core.Family) -> int:
    """Return how many clusters' statistics are held at a time."""
    return min(_CLUSTERS_AT_ONCE, max(_NUMBERS_AT_ONCE // family.statistic_size, 1))


def flat_labels(draws: Draws) -> NDArray[np.int32]:
    """Return the labels with all chains in turn, shape (chain * draw, n)."""
    return draws.labels.reshape(-1, draws.n_items)


def flat_bases(draws: Draws, chosen: IntArray | None = None) -> FloatArray | None:
    """Return the base measures likewise, (chain * draw, base_size), or None where it is fixed."""
    if draws.bases is None or draws.bases.shape[-1] == 0:
        return None
    bases = draws.bases.reshape(-1, draws.bases.shape[-1])
    return bases if chosen is None else bases[chosen]


def flat_latents(draws: Draws, chosen: IntArray | slice | None = None) -> FloatArray | None:
    """Return the missing entries likewise, (chain * draw, entries), or None if none are drawn."""
    if draws.latents is None:
        return None
    latents = draws.latents.reshape(-1, draws.latents.shape[-1])
    return latents if chosen is None else latents[chosen]
