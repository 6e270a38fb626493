"""Two coordinates for the rows, or weighted leaves, of any data, so that they can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mixwood._support.checks import shown
from mixwood._support.numbers import percent
from mixwood.input.matrices import is_table
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items, item_sizes
from mixwood.plots.discriminant import discriminants

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray, IntArray, Sizes
    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["Plane", "plane_of"]

#: Of more columns, the rest next to a single discriminant is that of the most variable ones.
_MOST_COLUMNS = 500


class Plane(NamedTuple):
    """Where items are drawn.

    Attributes
    ----------
    points : array of shape (m, 2)
    names : pair of str
        What the axes are called.
    own : bool
        Whether the axes are the data's own columns.
    sizes : int array of shape (m,)
        How many rows each point stands for.
    """

    points: FloatArray
    names: tuple[str, str]
    own: bool
    sizes: Sizes


def plane_of(
    posterior: GroupedDraws,
    items: IntArray,
    labels: IntArray,
    certainty: FloatArray,
    coordinates: Any = None,
) -> Plane:
    """Return two coordinates for each of the items, of which `labels` are the clusters.

    A user's `coordinates`, if there are some. Else data of one or two columns are their own; one
    column has zeros as the second coordinate. More columns are drawn in the plane that tells the
    clusters best apart, see `discriminants`, each row weighted by its `certainty`: of standardized
    columns, each category of `Categorical` being one; of `Multinomial` counts, of the square roots
    of each row's shares. Of one cluster, the first two principal components of the same. A missing
    entry is drawn at its column's mean. A weighted leaf is drawn at the mean of its rows, and
    counts as many.

    Raises
    ------
    TypeError
        If the items are leaves, and the likelihood does not tell the means of their rows.
    """
    likelihood = posterior.resolved
    X = chosen_items(posterior.data_for("a picture of the data"), items)
    sizes = item_sizes(X)
    if coordinates is not None and not is_column_pair(coordinates):
        return _given(coordinates, posterior.n_items, items, sizes)
    nominal = likelihood.nominal_columns(X.shape[1])
    if coordinates is not None:
        return _two_columns(posterior, X, sizes, nominal, coordinates)
    weights = sizes * certainty
    if likelihood.has_row_totals:
        return _clusters_apart(_roots_of_shares(_entries(X)), labels, weights, sizes)
    if isinstance(X, WeightedLeaves):
        table = likelihood.mean_rows(np.asarray(X.statistics))
    else:
        table = _with_indicators(np.asarray(X), nominal)
    means = _column_means(table, sizes)
    table = np.where(np.isnan(table), means, table)
    if X.shape[1] <= 2 and not any(nominal):
        names = (*posterior.column_names, "")
        second = np.zeros(len(table)) if table.shape[1] == 1 else table[:, 1]
        points = np.column_stack([table[:, 0], second])
        return Plane(points, (names[0], names[1]), True, sizes)
    spread = np.sqrt(_column_means((table - means) ** 2, sizes))
    standard = table / np.where(spread > 0, spread, 1.0)
    return _clusters_apart(standard, labels, weights, sizes)


def is_column_pair(coordinates: Any) -> bool:
    """Tell whether a user named two columns, instead of giving numbers."""
    return (
        isinstance(coordinates, (tuple, list))
        and len(coordinates) == 2
        and all(isinstance(name, str) for name in coordinates)
    )


def _given(coordinates: Any, n: int, items: IntArray, sizes: Sizes) -> Plane:
    """Return coordinates that the user has."""
    names = ("first coordinate", "second coordinate")
    if is_table(coordinates) and len(coordinates.columns) == 2:
        names = (str(coordinates.columns[0]), str(coordinates.columns[1]))
    try:
        points = np.asarray(coordinates, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (n, 2):
        raise ValueError(
            f"coordinates must be {n:,} rows of two numbers, one row per item of the data, or the "
            f"names of two columns, got {shown(coordinates)}"
        )
    if not np.isfinite(points).all():
        bad = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise ValueError(f"coordinates must be finite numbers, row {bad:,} is {points[bad]}")
    return Plane(points[items], names, False, sizes)


def _two_columns(
    posterior: GroupedDraws, X: Any, sizes: Sizes, nominal: Sequence[bool], names: Sequence[str]
) -> Plane:
    """Return two columns of the data, by their names."""
    known = list(posterior.column_names)
    for name in names:
        if name not in known:
            few = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ValueError(f"coordinates must be columns of the data ({few}), got {name!r}")
        if nominal[known.index(name)]:
            raise ValueError(f"coordinates must be columns of numbers; {name!r} has categories")
    chosen = [known.index(name) for name in names]
    if isinstance(X, WeightedLeaves):
        if any(nominal):
            raise ValueError(
                "coordinates of weighted leaves with categories cannot be columns: give numbers"
            )
        counts = posterior.resolved.has_row_totals
        table = X.statistics if counts else posterior.resolved.mean_rows(np.asarray(X.statistics))
    else:
        table = X
    points = _as_dense(table[:, chosen])
    points = np.where(np.isnan(points), _column_means(points, sizes), points)
    own = len(known) == 2 and chosen == [0, 1]
    return Plane(points, (names[0], names[1]), own, sizes)


def _clusters_apart(table: Any, labels: IntArray, weights: FloatArray, sizes: Sizes) -> Plane:
    """Return the items in the plane that tells clusters best apart, or components of one cluster.

    Two clusters have one such direction: the other is the first component of what is left.
    """
    found = discriminants(table, labels, weights, sizes)
    if found is None:
        return _components(table, sizes)
    middle = np.asarray(table.T @ sizes) / sizes.sum()
    points = np.asarray(table @ found.directions) - middle @ found.directions
    names = ["first discriminant ({} of the separation)", "second discriminant ({})"]
    named = [name.format(percent(share)) for name, share in zip(names, found.shares, strict=False)]
    if len(named) == 1:
        rest = _components(_without(table, middle, points[:, 0], sizes), sizes)
        points = np.column_stack([points[:, 0], rest.points[:, 0]])
        named.append("first component of the rest")
    return Plane(_with_signs(points), (named[0], named[1]), False, sizes)


def _without(table: Any, middle: FloatArray, along: FloatArray, sizes: Sizes) -> FloatArray:
    """Return what is left of a table, dense, when it is regressed on one direction.

    Of a wide one only the columns of largest variance are kept: they are for a picture.
    """
    if table.shape[1] > _MOST_COLUMNS:
        mean_squares = np.asarray((table * table).T @ sizes) / sizes.sum()
        table = table[:, np.sort(np.argsort(middle**2 - mean_squares)[:_MOST_COLUMNS])]
    dense = _as_dense(table)
    dense = dense - sizes @ dense / sizes.sum()
    variance = float(sizes @ along**2)
    slope = (sizes * along) @ dense / variance if variance > 0 else np.zeros(dense.shape[1])
    return np.asarray(dense - along[:, None] * slope)


def _as_dense(table: Any) -> FloatArray:
    whole: Any = table.toarray() if hasattr(table, "toarray") else table
    return np.asarray(whole, dtype=np.float64)


def _entries(X: Data | WeightedLeaves) -> Data:
    """Return counts of words: of rows, or of all rows of each leaf."""
    return X.statistics if isinstance(X, WeightedLeaves) else X


def _with_indicators(table: FloatArray, nominal: Sequence[bool]) -> FloatArray:
    """Return the columns, each that holds codes as one column for each code."""
    columns = [
        column[:, None] if not codes else _indicators(column)
        for column, codes in zip(table.T, nominal, strict=True)
    ]
    return np.concatenate(columns, axis=1)


def _indicators(column: FloatArray) -> FloatArray:
    """Return a column for each code, 1 where it is; NaN where the entry is missing."""
    codes = np.unique(column[~np.isnan(column)])
    found = np.asarray(column[:, None] == codes, dtype=np.float64)
    found[np.isnan(column)] = np.nan
    return found


def _column_means(table: FloatArray, sizes: Sizes) -> FloatArray:
    """Return the means of what is not missing, 0 where everything is."""
    there = ~np.isnan(table)
    return np.asarray(sizes @ np.where(there, table, 0.0) / np.maximum(sizes @ there, 1))


def _roots_of_shares(X: Data) -> csr_array:
    counts = csr_array(X).astype(np.float64)
    totals = np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
    counts.data = np.sqrt(counts.data / np.repeat(totals, np.diff(counts.indptr)))
    return counts


def _components(table: Any, sizes: Sizes) -> Plane:
    """Return the items along the two directions of largest variance; the table may be sparse."""
    table = table.astype(np.float64)
    means = np.asarray(table.T @ sizes) / sizes.sum()
    squares = np.asarray((table * table).sum(axis=1)).ravel()
    variance = float(sizes @ squares) - float(sizes.sum()) * float(means @ means)
    roots = np.sqrt(sizes)
    left, values = _two_largest(table, means, roots)
    points = left * values / roots[:, None]
    shares = values**2 / variance if variance > 0 else np.zeros(2)
    names = (
        f"first component ({percent(shares[0])} of variance)",
        f"second component ({percent(shares[1])})",
    )
    return Plane(_with_signs(points), names, False, sizes)


def _with_signs(points: FloatArray) -> FloatArray:
    """Return points with the furthest row at the right, and above: directions have no sign."""
    furthest = points[np.argmax(np.abs(points), axis=0), [0, 1]]
    return np.asarray(points * np.where(furthest < 0, -1, 1))


def _two_largest(table: Any, means: FloatArray, roots: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two left singular vectors of the centred table, and their values.

    Its rows are multiplied by `roots`, the roots of the numbers of rows that they stand for.
    """
    from scipy.sparse.linalg import LinearOperator, svds

    n, d = table.shape
    if min(n, d) < 4 or n * d < 10**5:
        dense = _as_dense(table)
        left, values, _ = np.linalg.svd(roots[:, None] * (dense - means), full_matrices=False)
        empty = np.zeros((n, 2))  # for a single row
        return np.hstack([left, empty])[:, :2], np.append(values, [0.0, 0.0])[:2]
    # Centred without being made dense.
    centred = LinearOperator(
        (n, d),
        matvec=lambda v: roots * (table @ v.ravel() - means @ v.ravel()),
        rmatvec=lambda v: table.T @ (roots * v.ravel()) - means * (roots @ v.ravel()),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).normal(size=min(n, d))
    left, values, _ = svds(centred, k=2, v0=start)
    return np.asarray(left[:, ::-1]), np.asarray(values[::-1], dtype=np.float64)
