"""Groups of near points: partitions from which chains may start.

By hand, since chains start in threads: scipy's ``kmeans2`` warns about groups that run empty, which
is nothing to worry about here, and warnings cannot be silenced in one thread alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import FloatArray

__all__ = ["group_counts", "near_points"]

#: How often points go to their nearest centre, at most.
ROUNDS = 20


def group_counts(n: int) -> list[int]:
    """Return how many groups to try: each about a half more than the one before.

    Examples
    --------
    >>> group_counts(100)
    [2, 3, 4, 6, 9, 13, 19]
    """
    counts = [2]
    while counts[-1] < n // 5 and counts[-1] < 60:
        counts.append(max(counts[-1] + 1, int(counts[-1] * 1.5)))
    return [count for count in counts if count <= max(n // 5, 2)]


def near_points(points: FloatArray, groups: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return labels of groups of near points, by k-means.

    Parameters
    ----------
    points : array of shape (n, d)
        One point a row.
    groups : int
        How many groups, at most.
    rng : numpy.random.Generator
        The first centres are random points, far ones more likely (k-means++).

    Examples
    --------
    >>> near_points(np.array([[0.0], [9.0], [0.1]]), 2, np.random.default_rng(1)).tolist()
    [1, 0, 1]
    """
    centres = _first_centres(points, groups, rng)
    labels = np.full(len(points), -1)
    for _ in range(ROUNDS):
        # Squared distances, but for the points' own squares.
        nearest = (points @ (-2 * centres.T) + (centres**2).sum(axis=1)).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        count = len(centres)
        sizes = np.bincount(labels, minlength=count)
        sums = np.stack([np.bincount(labels, column, count) for column in points.T], axis=1)
        filled = sizes > 0
        centres[filled] = sums[filled] / sizes[filled, None]
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _first_centres(points: FloatArray, groups: int, rng: np.random.Generator) -> FloatArray:
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen]) ** 2).sum(axis=1)
    for at in rng.random(groups - 1):
        sums = nearest.cumsum()
        if not sums[-1] > 0:
            break
        place = sums.searchsorted(at * sums[-1], side="right")
        chosen.append(min(int(place), len(points) - 1))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen].copy()
