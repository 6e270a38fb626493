"""Two coordinates for the rows of any data, so that they can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from mixwood.likelihoods import Categorical, Multinomial, Product
from mixwood.likelihoods.table_layout import labels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.likelihoods.base import Likelihood
    from mixwood.posterior.posterior import Posterior

__all__ = ["Plane", "plane_of"]


class Plane(NamedTuple):
    """Where rows are drawn, what the axes are called, and whether those are the data's own."""

    points: FloatArray
    names: tuple[str, str]
    own: bool


def plane_of(posterior: Posterior, items: IntArray) -> Plane:
    """Return two coordinates for each of the items.

    Data of one or two columns are their own; one column has zeros as the second coordinate.
    More columns are drawn by their first two principal components: of standardized columns,
    each category of `Categorical` being one; of `Multinomial` counts, of the square roots of
    each row's shares. A missing entry is drawn at its column's mean.
    """
    X = posterior.data_for("a picture of the data")[items]
    if isinstance(posterior.resolved, Multinomial):
        return _components(_roots_of_shares(X))
    table = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
    nominal = _nominal(posterior.resolved, table.shape[1])
    if table.shape[1] <= 2 and not nominal.any():
        table = np.where(np.isnan(table), _column_means(table), table)
        names = (*posterior.column_names, "")
        second = np.zeros(len(table)) if table.shape[1] == 1 else table[:, 1]
        return Plane(np.column_stack([table[:, 0], second]), (names[0], names[1]), True)
    columns = [
        column[:, None] if not codes else _indicators(column)
        for column, codes in zip(table.T, nominal, strict=True)
    ]
    wide = np.concatenate(columns, axis=1)
    wide = np.where(np.isnan(wide), _column_means(wide), wide)
    spread = wide.std(axis=0)
    return _components(wide / np.where(spread > 0, spread, 1.0))


def _nominal(likelihood: Likelihood, width: int) -> NDArray[np.bool_]:
    """Return which columns hold codes, whose order means nothing."""
    if not isinstance(likelihood, Product):
        return np.full(width, isinstance(likelihood, Categorical))
    coded = {
        label
        for key, part in likelihood.parts.items()
        if isinstance(part, Categorical)
        for label in labels_of(key)
    }
    return np.array([label in coded for label in likelihood.columns or range(width)])


def _indicators(column: FloatArray) -> FloatArray:
    """Return a column for each code, 1 where it is; NaN where the entry is missing."""
    codes = np.unique(column[~np.isnan(column)])
    found = np.asarray(column[:, None] == codes, dtype=np.float64)
    found[np.isnan(column)] = np.nan
    return found


def _column_means(table: FloatArray) -> FloatArray:
    """Return the means of what is not missing, 0 where all is."""
    there = ~np.isnan(table)
    return np.asarray(np.where(there, table, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


def _roots_of_shares(X: Data) -> csr_array:
    counts = csr_array(X).astype(np.float64)
    totals = np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
    counts.data = np.sqrt(counts.data / np.repeat(totals, np.diff(counts.indptr)))
    return counts


def _components(table: Any) -> Plane:
    """Return the rows along the two directions of largest variance; the table may be sparse."""
    table = table.astype(np.float64)
    means = np.asarray(table.mean(axis=0)).ravel()
    variance = float((table * table).sum()) - table.shape[0] * float(means @ means)
    left, values = _two_largest(table, means)
    points = left * values
    # A direction has no sign of its own: the furthest row is drawn at the right, and above.
    points = points * np.where(points[np.argmax(np.abs(points), axis=0), [0, 1]] < 0, -1, 1)
    shares = values**2 / variance if variance > 0 else np.zeros(2)
    names = (
        f"first component ({shares[0]:.0%} of variance)",
        f"second component ({shares[1]:.0%})",
    )
    return Plane(points, names, False)


def _two_largest(table: Any, means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two left singular vectors of the centred table, and their values."""
    from scipy.sparse.linalg import LinearOperator, svds

    n, d = table.shape
    if min(n, d) < 4 or n * d < 10**5:
        dense: FloatArray = table.toarray() if issparse(table) else table  # type: ignore[attr-defined]
        left, values, _ = np.linalg.svd(dense - means, full_matrices=False)
        empty = np.zeros((n, 2))  # for a single row
        return np.hstack([left, empty])[:, :2], np.append(values, [0.0, 0.0])[:2]
    # Centred without being made dense.
    centred = LinearOperator(
        (n, d),
        matvec=lambda v: table @ v.ravel() - means @ v.ravel(),
        rmatvec=lambda v: table.T @ v.ravel() - means * v.sum(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).normal(size=min(n, d))
    left, values, _ = svds(centred, k=2, v0=start)
    return np.asarray(left[:, ::-1]), np.asarray(values[::-1], dtype=np.float64)
