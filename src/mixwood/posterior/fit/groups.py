"""Clusters as a reader sees them, before their fit is checked: pieces of one group put together.

A mixture covers what is not normal by several clusters: heavy tails by a wide cluster around a
narrow one, or by rows on their own; a crescent by a chain of pieces. Piece by piece all is well,
and a check would find nothing. So clusters of a draw are put together first:

- two of which the wide one surrounds the narrow one, see `_one_inside`;
- three or more in a chain: neighbours that overlap, both longer towards each other than across, see
  `_chains`;
- rows in clusters too small to be groups go to the nearest group, if they are in its surroundings.

Groups of a right model overlap, too, side by side or across each other, and two such groups are not
one normal: put together, they would be found to miss one. What is put together here is what groups
that have nothing to do with each other seldom form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import FloatArray, IntArray

__all__ = ["MOST_COLUMNS", "groups_of", "ridge_fall"]

#: In more columns clusters are left as they are: normal ones have gaps there.
MOST_COLUMNS = 50
#: How many clusters at most, the largest ones, are compared with each other.
_MOST_CLUSTERS = 40
#: Above these the density between two clusters has no gap, and two clusters are neighbours.
_NO_GAP, _NEIGHBOURS = 0.9, 0.1
#: Of a cluster that surrounds another: how many times the variance of that it has, in the mean of
#: directions and in each, and how many times as much in one direction as in another, at most;
#: beyond that, as much as this many standard errors allow, since few rows have no sure shape.
_WIDER, _NOWHERE_LESS, _ALIKE, _ERRORS = 2.0, 0.5, 3.0, 3.0
#: How much larger the variance towards neighbours is than that across, in pieces of a chain.
_LONG = 1.5
#: The fewest clusters that make a chain: two may well be two that touch.
_CHAIN = 3


def groups_of(
    X: FloatArray, labels: IntArray, mean: FloatArray, covariance: FloatArray, least: int
) -> tuple[IntArray, list[IntArray]]:
    """Return labels of the groups that clusters form, from 0 without gaps, and those in chains.

    A chain is told by the clusters in it.

    Parameters
    ----------
    X : array of shape (n, d)
    labels : int array of shape (n,)
        The clusters of a draw.
    mean, covariance : arrays of shape (K, d) and (K, d, d)
        Theirs.
    least : int
        Clusters of fewer rows are no groups.

    Examples
    --------
    A narrow cluster inside a wide one, and a third far away:

    >>> X = np.array([[0.0], [0.1], [-3.0], [3.0], [50.0], [50.1]])
    >>> mean = np.array([[0.0], [0.0], [50.0]])
    >>> labels, variances = np.array([0, 0, 1, 1, 2, 2]), np.array([1.0, 9.0, 1.0])[:, None, None]
    >>> groups_of(X, labels, mean, variances, 2)
    (array([0, 0, 0, 0, 1, 1]), [])
    """
    sizes = np.bincount(labels)
    large = np.flatnonzero(sizes >= least)
    if len(large) == 0:
        return labels, []
    group = np.arange(len(sizes))
    compared = large[np.argsort(-sizes[large], kind="stable")[:_MOST_CLUSTERS]]
    pairs, chains = _links(sizes, mean, covariance, compared)
    for first, *others in (*pairs, *chains):
        for other in others:
            group[group == group[other]] = group[first]
    found = group[labels]
    odd = np.flatnonzero(sizes[labels] < least)
    if len(odd):
        near, distance = _nearest(X[odd], mean[large], covariance[large])
        # the squared radius within which a normal has all but one of thousand rows, twice as far
        inside = distance <= 4 * _far(X.shape[1])
        found[odd[inside]] = group[large[near[inside]]]
    return np.asarray(np.unique(found, return_inverse=True)[1]), chains


def _far(columns: int) -> float:
    from scipy.special import chdtri

    return float(chdtri(columns, 0.001))


def _nearest(
    X: FloatArray, mean: FloatArray, covariance: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the nearest cluster of each row, and the squared distance in its units."""
    best, place = np.full(len(X), np.inf), np.zeros(len(X), dtype=np.int64)
    for k, precision in enumerate(np.linalg.inv(covariance)):
        apart = X - mean[k]
        distance = np.einsum("ni,ij,nj->n", apart, precision, apart)
        place[distance < best] = k
        best = np.minimum(best, distance)
    return place, best


def _links(
    sizes: IntArray, mean: FloatArray, covariance: FloatArray, compared: IntArray
) -> tuple[list[IntArray], list[IntArray]]:
    """Return the clusters to put together: pairs, and chains."""
    sizes, mean, covariance = sizes[compared], mean[compared], covariance[compared]
    # Beyond this no normals are neighbours, whatever their sizes: their ridge has a deep gap.
    a, b = np.triu_indices(len(compared), 1)
    near = _squares(mean[b] - mean[a], covariance[a] + covariance[b]) < 16
    a, b = a[near], b[near]
    if len(a) == 0:
        return [], []
    fall = ridge_fall(sizes[a], mean[a], covariance[a], sizes[b], mean[b], covariance[b])
    rows = sizes[a], sizes[b]
    inside = (fall >= _NO_GAP) & _one_inside(covariance[a], covariance[b], rows)
    pairs = [*compared[np.column_stack([a, b])[inside]]]
    if mean.shape[1] == 1:
        return pairs, []
    near = fall >= _NEIGHBOURS
    pooled = np.average(covariance, axis=0, weights=sizes)
    chains = _chains(mean, covariance, pooled, a[near], b[near])
    return pairs, [compared[chain] for chain in chains]


def _one_inside(
    one: FloatArray, other: FloatArray, rows: tuple[IntArray, IntArray]
) -> NDArray[np.bool_]:
    """Tell which pairs of covariances are one inside the other, as of a group with heavy tails.

    By the variances of one in all directions in which those of the other are 1: such a group has a
    wide cluster that is wide everywhere, and about equally so, since the group has one shape. But
    groups of a right model, if they do overlap, are as wide as each other, or one is wide where the
    other is narrow, or it is much wider one way than another. The shape of a cluster of n rows is
    known so well: the log of a variance has the standard error ``sqrt(2/n)``.

    Examples
    --------
    >>> wide, across, long = 9 * np.eye(2), np.diag([9.0, 0.2]), np.diag([20.0, 2.0])
    >>> given = np.array([wide, across, np.eye(2), long, long])
    >>> rows = np.array([100, 100, 100, 100, 5])
    >>> _one_inside(given, np.array([np.eye(2)] * 5), (rows, rows))
    array([ True, False, False, False,  True])
    """
    logs = np.log(np.maximum(np.linalg.eigvals(np.linalg.solve(one, other)).real, 1e-300))
    mean = np.abs(logs.mean(axis=1))
    least = np.where(logs.mean(axis=1) > 0, logs.min(axis=1), -logs.max(axis=1))
    unsure = _ERRORS * np.sqrt(2 / rows[0] + 2 / rows[1])
    alike = np.ptp(logs, axis=1) <= np.log(_ALIKE) + unsure
    return np.asarray((mean >= np.log(_WIDER)) & (least >= np.log(_NOWHERE_LESS)) & alike)


def _chains(
    mean: FloatArray, covariance: FloatArray, pooled: FloatArray, a: IntArray, b: IntArray
) -> list[IntArray]:
    """Return chains of clusters, of which neighbours are both longer towards each other.

    In columns in which all clusters together, of covariance `pooled`, are round: where all are long
    in one direction, that is no sign of a chain.
    """
    to_round = np.linalg.inv(np.linalg.cholesky(pooled))
    round_ones = to_round @ covariance @ to_round.T
    towards = (mean[b] - mean[a]) @ to_round.T
    length = np.minimum(_lengths(towards, round_ones[a]), _lengths(towards, round_ones[b]))
    linked = length >= _LONG
    found = _components(a[linked], b[linked])
    return [np.array(chain) for chain in found if len(chain) >= _CHAIN]


def _squares(apart: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray((apart * np.linalg.solve(covariance, apart[..., None])[..., 0]).sum(axis=-1))


def _lengths(apart: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the variance along each direction over the mean of those across."""
    direction = apart / np.maximum(np.linalg.norm(apart, axis=1), 1e-300)[:, None]
    along = np.einsum("ni,nij,nj->n", direction, covariance, direction)
    across = (np.trace(covariance, axis1=1, axis2=2) - along) / (covariance.shape[1] - 1)
    return np.asarray(along / np.maximum(across, 1e-300))


def ridge_fall(
    size_a: IntArray, mean_a: FloatArray, covariance_a: FloatArray,
    size_b: IntArray, mean_b: FloatArray, covariance_b: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return how far the density of pairs of normals falls between them: 1 if not at all.

    With precisions A and B, the ridge (Ray and Lindsay 2005), which passes through all modes, is
    ``x(t) = C(t)^-1 ((1-t) A m_a + t B m_b)`` where ``C(t) = (1-t) A + t B``, t from 0 to 1. The
    fall is the least ratio of the density on it to the lower of the highest points on both sides.

    Examples
    --------
    >>> m, one = np.array([[0.0]]), np.ones((1, 1, 1))
    >>> ridge_fall(1, m, one, 1, m + 2, one).round(2), ridge_fall(1, m, one, 1, m + 3, one).round(2)
    (array([1.]), array([0.64]))
    """
    steps = np.linspace(0, 1, 33)[:, None, None]
    A, B = np.linalg.inv(covariance_a), np.linalg.inv(covariance_b)
    towards = (1 - steps) * (A @ mean_a[..., None])[..., 0] + steps * (B @ mean_b[..., None])[
        ..., 0
    ]
    both = (1 - steps[..., None]) * A + steps[..., None] * B
    x = np.linalg.solve(both, towards[..., None])[..., 0]
    log_f = [
        np.log(size) + 0.5 * np.linalg.slogdet(P)[1]
        - 0.5 * np.einsum("tni,nij,tnj->tn", x - mean, P, x - mean)
        for size, mean, P in ((size_a, mean_a, A), (size_b, mean_b, B))
    ]  # fmt: skip
    density = np.logaddexp(*log_f)
    before = np.maximum.accumulate(density)
    after = np.maximum.accumulate(density[::-1])[::-1]
    return np.asarray(np.exp((density - np.minimum(before, after)).min(axis=0)))


def _components(a: IntArray, b: IntArray) -> list[list[int]]:
    """Return the connected parts of a graph with these edges."""
    place = {int(node): int(node) for node in (*a, *b)}
    for i, j in zip(a, b, strict=True):
        old, new = place[int(j)], place[int(i)]
        place = {node: new if at == old else at for node, at in place.items()}
    return [[node for node, at in place.items() if at == one] for one in sorted({*place.values()})]
