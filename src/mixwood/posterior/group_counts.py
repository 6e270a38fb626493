"""How many clusters of some size the draws have, and how many rows are in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.predictive_mixture import flat_labels

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["groups_of_at_least"]

#: How many labels are looked at together.
_AT_ONCE = 2**20


def groups_of_at_least(draws: Draws, m: int) -> tuple[IntArray, IntArray]:
    """Return the number of clusters with at least `m` rows, and of the rows in them.

    Returns
    -------
    pair of int64 arrays of shape (chain, draw)
    """
    labels, clusters = flat_labels(draws), draws.n_clusters.ravel()
    groups = np.empty(len(labels), dtype=np.int64)
    rows = np.empty(len(labels), dtype=np.int64)
    weights = None if np.all(draws.item_sizes == 1) else draws.item_sizes
    at_once = max(_AT_ONCE // draws.n_items, 1)
    for start in range(0, len(labels), at_once):
        block = labels[start : start + at_once]
        width = int(clusters[start : start + at_once].max())
        cells = (block + width * np.arange(len(block))[:, None]).ravel()
        counted = None if weights is None else np.tile(weights, len(block))
        sizes = np.bincount(cells, counted, minlength=width * len(block)).reshape(-1, width)
        large = sizes >= m
        groups[start : start + at_once] = large.sum(axis=1)
        rows[start : start + at_once] = np.rint(np.where(large, sizes, 0).sum(axis=1))
    shape = draws.labels.shape[:2]
    return groups.reshape(shape), rows.reshape(shape)
