"""The clusters of all draws, each once, and how much of the predictive density is theirs.

Given a draw, a new row joins one of its clusters or starts a new one with the weights of
`mixwood.priors.Prior.predictive_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixwood.posterior.draws import Draws
from mixwood.priors import PredictiveWeights, PriorValues

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import FloatArray, IntArray

__all__ = [
    "DistinctClusters",
    "PredictiveMixture",
    "clusters_at_once",
    "contingency",
    "draw_weights",
    "flat_labels",
    "predictive_mixture",
]

#: How many clusters at most, and how many numbers in their statistics, are held at a time.
_CLUSTERS_AT_ONCE = 512
_NUMBERS_AT_ONCE = 2**22


def draw_weights(draws: Draws) -> PredictiveWeights:
    """Return the weights that the prior gives the clusters of each draw, chains in turn."""
    core = draws.core_values()
    values = PriorValues(**{name: array.ravel() for name, array in vars(core).items()})
    n = int(draws.item_sizes.sum())
    return draws.model.prior.predictive_weights(values, n, draws.n_clusters.ravel())


@dataclass(frozen=True)
class DistinctClusters:
    """Sets of items that are clusters in one draw or in many, each kept once.

    Attributes
    ----------
    labels : int array of shape (S, n)
        The draws.
    weights : int array of shape (n,)
        How many rows each item stands for.
    ids : int array
        Which of the distinct clusters each draw's clusters are, one draw after the other.
    starts : int array of shape (S + 1,)
        Where each draw begins in `ids`.
    sizes, first_draw, first_label : int arrays of shape (C,)
        The number of rows in each distinct cluster, the first draw that has it and its label
        there. They are in the order in which they appear.
    """

    labels: NDArray[np.int32]
    weights: IntArray
    ids: IntArray
    starts: IntArray
    sizes: IntArray
    first_draw: IntArray
    first_label: IntArray

    @classmethod
    def of(cls, labels: NDArray[np.int32], weights: IntArray | None = None) -> DistinctClusters:
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
            counts.append(np.bincount(row, weights).astype(np.int64))
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
        sizes = np.concatenate(counts)[first]
        return cls(
            labels, weights, place[ids], starts, sizes, first_draw, first - starts[first_draw]
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def draw_of_id(self) -> IntArray:
        """The draw of each entry of `ids`."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.starts))

    def statistics(self, family: _core.Family) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the clusters' statistics a portion at a time, all in the end.

        `family` is bound to the items. Each portion is a range of distinct clusters and their
        statistics, one per row.
        """
        limit = clusters_at_once(family)
        for start in range(0, len(self), limit):
            part = slice(start, min(start + limit, len(self)))
            yield part, self.statistics_of(family, np.arange(part.start, part.stop))

    def statistics_of(self, family: _core.Family, chosen: IntArray) -> FloatArray:
        """Return the statistics of some of the clusters, named by their place, in any order."""
        statistics = np.empty((len(chosen), family.statistic_size))
        draws = self.first_draw[chosen]
        for s in np.unique(draws):
            here = np.flatnonzero(draws == s)
            wanted, place = np.unique(self.first_label[chosen[here]], return_inverse=True)
            number = np.full(self.starts[s + 1] - self.starts[s], -1, dtype=np.int32)
            number[wanted] = np.arange(len(wanted))
            statistics[here] = family.cluster_statistics(number[self.labels[s]])[place]
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
class PredictiveMixture:
    """The predictive density as one mixture: ``p(x | X) = new P(x) + sum_c old_c P(x | X_c)``.

    The sum is over the distinct clusters of all draws, and the weights sum to 1.
    """

    new: float
    old: FloatArray
    clusters: DistinctClusters


def predictive_mixture(draws: Draws) -> PredictiveMixture:
    """Return the weights of all draws' clusters, normalized over all draws together."""
    weights = draw_weights(draws)
    clusters = DistinctClusters.of(flat_labels(draws), draws.item_sizes)
    scale = weights.log_normalizer + np.log(len(weights.log_total))
    log_old = weights.log_old(clusters.draw_of_id, clusters.sizes[clusters.ids])
    old = np.zeros(len(clusters))
    np.add.at(old, clusters.ids, np.exp(log_old - scale))
    return PredictiveMixture(float(np.exp(weights.log_new - scale).sum()), old, clusters)


def contingency(
    labels: NDArray[np.int32], estimate: IntArray, weights: IntArray | None = None
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
