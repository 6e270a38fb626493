"""Two coordinates for the rows, or weighted leaves, of any data, so that they can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from mixwood._support.numbers import percent
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items, item_sizes

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray, IntArray, Sizes
    from mixwood.posterior.posterior import Posterior

__all__ = ["Plane", "plane_of"]


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


def plane_of(posterior: Posterior, items: IntArray) -> Plane:
    """Return two coordinates for each of the items.

    Data of one or two columns are their own; one column has zeros as the second coordinate.
    More columns are drawn by their first two principal components: of standardized columns,
    each category of `Categorical` being one; of `Multinomial` counts, of the square roots of
    each row's shares. A missing entry is drawn at its column's mean. A weighted leaf is drawn at
    the mean of its rows, and counts as many.

    Raises
    ------
    TypeError
        If the items are leaves, and the likelihood does not tell the means of their rows.
    """
    likelihood = posterior.resolved
    X = chosen_items(posterior.data_for("a picture of the data"), items)
    sizes = item_sizes(X)
    if likelihood.has_row_totals:
        return _components(_roots_of_shares(_entries(X)), sizes)
    nominal = likelihood.nominal_columns(X.shape[1])
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
    return _components(table / np.where(spread > 0, spread, 1.0), sizes)


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
    # A direction has no sign of its own: the furthest row is drawn at the right, and above.
    points = points * np.where(points[np.argmax(np.abs(points), axis=0), [0, 1]] < 0, -1, 1)
    shares = values**2 / variance if variance > 0 else np.zeros(2)
    names = (
        f"first component ({percent(shares[0])} of variance)",
        f"second component ({percent(shares[1])})",
    )
    return Plane(points, names, False, sizes)


def _two_largest(table: Any, means: FloatArray, roots: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two left singular vectors of the centred table, and their values.

    Its rows are multiplied by `roots`, the roots of the numbers of rows that they stand for.
    """
    from scipy.sparse.linalg import LinearOperator, svds

    n, d = table.shape
    if min(n, d) < 4 or n * d < 10**5:
        dense: FloatArray = table.toarray() if issparse(table) else table  # type: ignore[attr-defined]
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
