"""Which colour each cluster of a picture has: no two neighbours the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.numbers import count
from mixwood._support.types import FloatArray, IntArray
from mixwood.plots.style import COLOURS, sample_of

__all__ = ["as_palette", "cluster_colours", "cluster_names"]

#: Neighbours of a row, and of a cluster's middle, that are looked at; at most this many rows.
_NEIGHBOURS, _MOST_ROWS = 8, 5000
#: Smaller clusters than these many take colours in turn.
_MOST_CLUSTERS = 2000


def as_palette(palette: Any, n_clusters: int = 20) -> tuple[str, ...]:
    """Return colours from what a user gave: a sequence of colours, or the name of a colour map.

    A continuous colour map is spread over the clusters, up to twenty.

    Examples
    --------
    >>> as_palette(["red", (0, 0, 1)]), len(as_palette("viridis")), len(as_palette("viridis", 3))
    (('#ff0000', '#0000ff'), 20, 3)
    """
    if palette is None:
        return COLOURS
    import matplotlib
    from matplotlib.colors import ListedColormap, to_hex

    try:
        if isinstance(palette, str):
            colours = matplotlib.colormaps[palette]
            # Of a qualitative one its own colours, of a continuous one some along it.
            few = isinstance(colours, ListedColormap) and colours.N <= 40
            steps = np.linspace(0.02, 0.98, min(max(n_clusters, 2), 20))
            chosen: Any = colours(np.arange(colours.N) if few else steps)
        else:
            chosen = list(palette)
        found = tuple(to_hex(one) for one in chosen)
    except (KeyError, TypeError, ValueError):
        found = ()
    if not found:
        raise ValueError(
            "palette must be a sequence of colours that matplotlib knows, or the name of one of "
            f"its colour maps, got {shown(palette)}"
        )
    return found


def cluster_names(names: Any, n_clusters: int) -> list[str]:
    """Return what the clusters are called: by a user's sequence or dict, others by number.

    Examples
    --------
    >>> cluster_names({1: "small"}, 3), cluster_names(None, 2)
    (['0', 'small', '2'], ['0', '1'])
    """
    result = [str(k) for k in range(n_clusters)]
    if names is None:
        return result
    if isinstance(names, Mapping):
        for k, name in names.items():
            if isinstance(k, bool) or k not in range(n_clusters):
                raise ValueError(
                    f"names must be of clusters 0 to {n_clusters - 1}, got one of {shown(k)}"
                )
            result[int(k)] = str(name)
        return result
    if isinstance(names, str) or not isinstance(names, (Sequence, np.ndarray)):
        raise TypeError(
            "names must be a sequence with a name per cluster, or a dict from numbers of clusters "
            f"to names, got {shown(names)}"
        )
    if len(names) != n_clusters:
        raise ValueError(
            f"names must be {count('name', n_clusters)}, one per cluster of the estimate, got "
            f"{len(names)}; "
            "a dict names some of them"
        )
    return [str(name) for name in names]


def cluster_colours(
    points: FloatArray, labels: IntArray, n_clusters: int, palette: Sequence[str] = COLOURS
) -> list[str]:
    """Return a colour for each cluster of a picture.

    As long as there are colours left, cluster ``k`` has the ``k``-th. From then on each has the
    colour that fewest of its neighbours have (none, where they are fewer than the colours), and
    of these the one that is furthest away. Neighbours are clusters of which rows lie side by side,
    or whose middles do.

    Parameters
    ----------
    points : array of shape (m, 2)
        The rows as they are drawn.
    labels : int array of shape (m,)
        Their clusters, 0 to ``n_clusters - 1``.
    n_clusters : int
    palette : sequence of str

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> cluster_colours(points, np.array([0, 1, 2]), 3, ["red", "blue"])
    ['red', 'blue', 'red']
    """
    first = len(palette)
    colours = [palette[k % first] for k in range(n_clusters)]
    most = min(n_clusters, _MOST_CLUSTERS)
    if n_clusters <= first or first == 1:
        return colours
    spread = np.ptp(points, axis=0)
    scaled = points / np.where(spread > 0, spread, 1.0)
    middles = np.full((most, 2), np.inf)  # of clusters that are not drawn, far away
    for k in np.unique(labels[labels < most]):
        middles[k] = np.median(scaled[labels == k], axis=0)
    near = _contacts(scaled, labels, middles, most)
    taken = np.arange(n_clusters) % first
    for k in range(first, most):
        if not np.isfinite(middles[k, 0]):
            continue
        before = near[k] < k
        used = np.bincount(taken[near[k][before]], minlength=first)
        apart = np.full(first, np.inf)
        np.minimum.at(apart, taken[:k], np.linalg.norm(middles[:k] - middles[k], axis=1))
        taken[k] = np.lexsort((-apart, used))[0]
        colours[k] = palette[taken[k]]
    return colours


def _contacts(
    points: FloatArray, labels: IntArray, middles: FloatArray, most: int
) -> list[IntArray]:
    """Return for each cluster the others that touch it, one entry for each pair that does."""
    from scipy.spatial import cKDTree

    chosen = sample_of(len(points), _MOST_ROWS)
    drawn = np.flatnonzero(np.isfinite(middles[:, 0]))
    pairs = []
    for places, owners in ((points[chosen], labels[chosen]), (middles[drawn], drawn)):
        found = cKDTree(places).query(places, k=min(_NEIGHBOURS + 1, len(places)))[1]
        found = found.reshape(len(places), -1)
        pairs.append(np.column_stack([np.repeat(owners, found.shape[1]), owners[found.ravel()]]))
    both = np.concatenate(pairs)
    both = both[(both[:, 0] != both[:, 1]) & (both < most).all(axis=1)]
    both = np.unique(np.concatenate([both, both[:, ::-1]]), axis=0)
    ends = np.searchsorted(both[:, 0], np.arange(most + 1))
    return [both[ends[k] : ends[k + 1], 1] for k in range(most)]
