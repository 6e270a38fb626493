"""How probable the clusters of a point estimate are for each item: the one word for certainty.

The clusters of a draw are not those of the estimate. As in prediction, the draw's cluster ``c`` of
an item is spread over the estimate's clusters ``k`` by where its rows are, and the probability of
``k`` is the mean over all draws::

    p(k) = E[ |c and k| / |c| ]

It is `membership`; its entry for the item's own cluster is `certainty`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mixwood._support.labels import by_size
from mixwood._support.memory import available_bytes
from mixwood._support.numbers import count, memory
from mixwood.posterior.prediction import nearest_clusters
from mixwood.posterior.predictive_mixture import contingency, flat_labels

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["certainty", "large_clusters", "membership", "undecided_settled"]

#: How many labels, and how many cells of tables of draws' clusters by the estimate's, are held at
#: a time.
_AT_ONCE = 2**22


def certainty(draws: Draws, estimate: IntArray) -> FloatArray:
    """Return the probability of each item's own cluster, shape (n,); see `Posterior.certainty`."""
    K = int(estimate.max()) + 1
    weights = None if np.all(draws.item_sizes == 1) else draws.item_sizes
    total = np.zeros(len(estimate))
    for row in flat_labels(draws):
        cell = row * np.int64(K) + estimate
        if cell.max() > 8 * len(row):  # few of very many cells are in use
            cell = np.unique(cell, return_inverse=True)[1]
        total += np.bincount(cell, weights)[cell] / np.bincount(row, weights)[row]
    return np.asarray(total / (draws.n_chains * draws.n_draws))


def membership(draws: Draws, estimate: IntArray, items: IntArray | None = None) -> FloatArray:
    """Return the probability of each cluster of `estimate`; see `Posterior.membership`.

    Parameters
    ----------
    draws : Draws
    estimate : int array of shape (n,)
        Labels 0 to K-1.
    items : int array of shape (m,), optional
        For these items only, in this order.

    Returns
    -------
    array of shape (n, K), or (m, K)
    """
    K = int(estimate.max()) + 1
    rows = len(estimate) if items is None else len(items)
    _refuse_beyond_memory(rows, K)
    total = np.zeros((rows, K))
    for labels, shares in _shares(draws, estimate, K):
        chosen = labels if items is None else labels[:, items]
        # Each row of this matrix has a 1 for its cluster in every draw.
        ends = np.arange(0, chosen.size + 1, len(chosen))
        entries = np.ones(chosen.size), chosen.T.ravel(), ends
        total += np.asarray(csr_array(entries, shape=(rows, len(shares))) @ shares)
    return np.asarray(total / (draws.n_chains * draws.n_draws))


def _shares(
    draws: Draws, estimate: IntArray, K: int
) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Yield blocks of draws, the clusters of all numbered in turn, and ``|c and k| / |c|``."""
    all_labels, clusters = flat_labels(draws), draws.n_clusters.ravel()
    at_once = max(_AT_ONCE // max(len(estimate), K * int(clusters.max())), 1)
    for start in range(0, len(all_labels), at_once):
        lengths = clusters[start : start + at_once]
        firsts = np.cumsum(lengths) - lengths
        labels = all_labels[start : start + at_once] + firsts[:, None]
        weights: Any = np.tile(draws.item_sizes, len(labels))
        table = contingency(labels.ravel(), np.tile(estimate, len(labels)), weights)
        yield labels, table / table.sum(axis=1, keepdims=True)


def large_clusters(draws: Draws, estimate: IntArray, min_size: int) -> IntArray:
    """Return `estimate` with the rows of clusters below `min_size` moved to the others.

    Each goes where its membership is highest. One that no draw has with any of the others' rows
    goes where the data put it, or to the largest cluster if there are no data. Clusters of
    `estimate` are numbered by size.
    """
    sizes = np.bincount(estimate, draws.item_sizes)
    kept = int(np.count_nonzero(sizes >= min_size))
    if kept == 0:
        raise ValueError(
            f"min_size must be at most {int(sizes[0]):,}, the number of rows in the largest "
            f"cluster of the estimate, got {min_size:,}"
        )
    small = np.flatnonzero(estimate >= kept)
    if len(small) == 0:
        return estimate
    # All small clusters are one last column, which is not asked about.
    chances = membership(draws, np.minimum(estimate, kept), small)[:, :kept]
    moved = estimate.copy()
    moved[small] = chances.argmax(axis=1)
    strangers = small[chances.max(axis=1) == 0]
    if len(strangers) > 0 and draws.X is not None:
        clusters = np.where(estimate < kept, estimate, -1)
        moved[strangers] = nearest_clusters(draws, clusters, strangers)
    return by_size(moved, draws.item_sizes)


def undecided_settled(draws: Draws, estimate: IntArray) -> IntArray:
    """Return `estimate` with undecided rows that lack entries in their likeliest cluster.

    Both losses put a row into a cluster only if it belongs there with a probability of more than
    a half or so. A row of which little is known may reach that nowhere; the estimate of least
    loss then leaves it alone, although hardly any draw does. Here such a row goes where its
    membership is highest, unless that is its own. Rows of known label stay.
    """
    lone = np.bincount(estimate)[estimate] == 1
    if draws.known is not None:
        lone &= draws.known < 0
    lone[lone] = _lack_entries(draws.X, np.flatnonzero(lone))
    rows = np.flatnonzero(lone)
    others = np.setdiff1d(estimate, estimate[rows])
    if len(rows) == 0 or len(others) == 0:
        return estimate
    chances = membership(draws, estimate, rows)
    own = chances[np.arange(len(rows)), estimate[rows]]
    best = others[chances[:, others].argmax(axis=1)]
    settled = estimate.copy()
    moves = chances[:, others].max(axis=1) > own
    settled[rows[moves]] = best[moves]
    return by_size(settled, draws.item_sizes)


def _lack_entries(X: Any, rows: IntArray) -> NDArray[np.bool_]:
    """Return which of these rows of the data have missing entries; sparse counts have none."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return np.zeros(len(rows), dtype=np.bool_)
    return np.asarray(np.isnan(X[rows]).any(axis=1))


def _refuse_beyond_memory(items: int, clusters: int) -> None:
    needed, available = 2 * 8 * items * clusters, available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the membership of {count('item', items)} in {count('cluster', clusters)} needs "
            f"{memory(needed)} of memory, and {memory(available)} are available; ask for fewer "
            "clusters with min_size=, or for the own cluster of each item only: certainty()"
        )
