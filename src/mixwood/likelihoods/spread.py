"""How far the rows of a data set are apart: variances, covariances, rounding."""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np

from mixwood._support.types import FloatArray
from mixwood._support.warn import warn
from mixwood.likelihoods.missing import has_missing, normal_moments

__all__ = [
    "Rounding",
    "column_variances",
    "present_variances",
    "refuse_extreme_spread",
    "rounding",
    "row_copies",
    "sample_covariance",
    "sample_mean",
    "shrunk_covariance",
    "warn_of_far_rows",
    "warn_of_tiny_scale",
]

#: Rows are copies of each other if there are so many times fewer distinct ones; and how many of
#: these are compared.
COPIED, ROWS_COMPARED = 1.2, 1000
#: Values of a column that are closer than this share of its range count as one.
SAME = 1e-9


def column_variances(X: FloatArray, variances: FloatArray) -> FloatArray:
    """Return `variances` with 1 where a column of `X` is constant (or has no two entries).

    Looked for by equality: the computed variance of a constant column is not always 0.
    """
    missing = np.isnan(X)
    largest = np.where(missing, -np.inf, X).max(axis=0)
    smallest = np.where(missing, np.inf, X).min(axis=0)
    return np.where(largest > smallest, variances, 1.0)


def present_variances(X: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the variance of what is not missing in each column, 1 where that is constant."""
    present = np.isfinite(X)
    counts = np.maximum(present.sum(axis=0), 1)
    with np.errstate(over="ignore"):
        squares = np.where(present, X - centre, 0.0) ** 2
        variances = squares.sum(axis=0) / np.maximum(counts - 1, 1)
    return refuse_extreme_spread(column_variances(X, variances))


def refuse_extreme_spread(values: FloatArray) -> FloatArray:
    """Return `values`, variances, or raise where squares over- or underflow."""
    if not np.all(np.isfinite(values)) or np.any(values < 1e-290) or np.any(values > 1e290):
        raise ValueError(
            "X has columns whose variance is too large or too small for double precision; "
            "rescale X (for example, divide each column by its largest absolute value)"
        )
    return values


def warn_of_tiny_scale(standard: FloatArray) -> FloatArray:
    """Return rows in units of the prior scale, with a warning where those are far too small.

    Scatter matrices square the rows: beyond 1e6 the prior scale is lost in their rounding.
    """
    if np.nanmax(np.abs(standard), initial=0) > 1e6:
        warn(
            "scale is so small against X (rows lie more than 1e6 of its units from mean) that "
            "densities lose precision; give a larger scale, or use scale='data'",
            RuntimeWarning,
        )
    return standard


def warn_of_far_rows(standard: FloatArray) -> FloatArray:
    """Return rows in units of the data's deviations, with a warning where they are far from 0."""
    if np.nanmax(np.abs(standard), initial=0) > 1e6:
        warn(
            "rows lie more than 1e6 standard deviations from mean, so densities lose precision; "
            "look for entries of X that are wrong, or leave mean to the data",
            RuntimeWarning,
        )
    return standard


def sample_mean(X: FloatArray) -> FloatArray:
    """Return the mean; where entries are missing, that of a normal fit."""
    return normal_moments(X)[0] if has_missing(X) else np.asarray(X.mean(axis=0))


def sample_covariance(X: FloatArray) -> FloatArray:
    """Return the sample covariance (zeros for a single row), or that of a normal fit likewise."""
    n, d = X.shape
    if n < 2:
        return np.zeros((d, d))
    if has_missing(X):
        return normal_moments(X)[1]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.cov(X, rowvar=False, dtype=np.float64)).reshape(d, d)


def shrunk_covariance(X: FloatArray) -> FloatArray:
    """Return the sample covariance, shrunk a little to its diagonal so that it is invertible.

    The weight of the diagonal, ``(d+1)/(n+d+1)``, fades as rows come in. Both parts
    follow a change of units, so the result does too.
    """
    n, d = X.shape
    S = sample_covariance(X)
    variances = refuse_extreme_spread(column_variances(X, np.diag(S)))
    weight = (d + 1) / (n + d + 1)
    shrunk = np.asarray((1 - weight) * S)
    np.fill_diagonal(shrunk, variances)
    return shrunk


#: How many entries are sorted together: columns without ties need no look at each.
_ENTRIES_AT_ONCE = 10**6


class Rounding(NamedTuple):
    """What rounding has done to each column; both arrays have shape (d,).

    Attributes
    ----------
    steps : array
        To which step a column seems to be rounded: the 10% quantile of the gaps between distinct
        values. 0 where no two entries are equal, or all are.
    ties : array
        How many entries have the value of a random one, in the mean.
    """

    steps: FloatArray
    ties: FloatArray

    @classmethod
    def none(cls, d: int) -> Rounding:
        """Return that of columns without ties."""
        return cls(np.zeros(d), np.ones(d))


def rounding(X: FloatArray) -> Rounding:
    """Return to which step each column seems to be rounded, and how many entries that ties.

    Missing entries are left out.

    Examples
    --------
    >>> rounding(np.array([[1.0, 0.5, 3.0], [1.0, 0.7, 3.0], [3.0, 0.9, 3.0]]))
    Rounding(steps=array([2., 0., 0.]), ties=array([1.66666667, 1.        , 3.        ]))
    """
    found = Rounding.none(X.shape[1])
    width = max(1, _ENTRIES_AT_ONCE // max(1, len(X)))
    for first in range(0, X.shape[1], width):
        columns = np.sort(X[:, first : first + width].T, axis=1)
        gaps = np.diff(columns, axis=1)
        # False where an entry is missing, too: gaps are NaN there.
        distinct = np.all(gaps > SAME * gaps.sum(axis=1, keepdims=True), axis=1)
        for j in np.flatnonzero(~distinct):
            present = columns[j, np.isfinite(columns[j])]
            found.steps[first + j], found.ties[first + j] = _rounding(present)
    if np.all(found.ties > 1) and X.shape[1] > 1:
        _widen_for_copies(X, found)
    return found


def _widen_for_copies(X: FloatArray, found: Rounding) -> None:
    """Where whole rows are copies, take the step from how far apart the distinct rows are.

    Rows that were drawn twice, as in a bootstrap sample, are tied in all columns at once, and not
    by rounding: columns have about as many values as there are rows. Then a cluster for each
    distinct row, with as much weight as it has copies, gains nothing over a smooth density if
    the determinant of ``2 pi Omega`` is the squared volume of the ball up to the next row.
    """
    if np.isnan(X).any():
        return
    some = np.unique(X[:: max(len(X) // 4000, 1)], axis=0)
    if len(some) > 2 * len(np.unique(X[:, 0])):
        return  # many more rows than values: rounded, which is told without comparing all rows
    rows, copies = np.unique(X, axis=0, return_counts=True)
    n, d = rows.shape
    values = min(len(np.unique(column)) for column in rows.T)
    if n < 3 or n > len(X) / COPIED or values < n / 2:
        return
    units = rows.std(axis=0)
    rng = np.random.default_rng(0)
    others = ((rows - rows.mean(axis=0)) / units)[rng.permutation(n)[:ROWS_COMPARED]]
    squares = (others**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * others @ others.T
    np.fill_diagonal(distances, np.inf)
    near = float(np.sqrt(max(np.quantile(distances.min(axis=0), 0.25), 0.0)))
    near *= (len(others) / n) ** (1 / d)  # among all rows
    radius = near * float(np.exp((d / 2 * np.log(np.pi) - lgamma(d / 2 + 1)) / d))
    np.maximum(found.steps, radius * units, out=found.steps)
    np.maximum(found.ties, np.sum(copies.astype(np.float64) ** 2) / len(X), out=found.ties)


def row_copies(X: FloatArray) -> float:
    """Return how many rows are the same as a random one, in the mean.

    Examples
    --------
    >>> row_copies(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]))
    1.5
    """
    # Rows are compared only where some entries are equal in every column: that takes long.
    if any(np.all(np.diff(np.sort(column)) > 0) for column in X.T):
        return 1.0
    counts = np.unique(X, axis=0, return_counts=True)[1]
    return float(np.sum(counts.astype(np.float64) ** 2) / len(X))


def _rounding(ordered: FloatArray) -> tuple[float, float]:
    if len(ordered) == 0:
        return 0.0, 1.0
    gaps = np.diff(ordered)
    new = gaps > SAME * gaps.sum()
    counts = np.diff(np.flatnonzero(np.concatenate([[True], new, [True]])))
    ties = float(np.sum(counts.astype(np.float64) ** 2) / len(ordered))
    apart = gaps[new]
    tied = 0 < len(apart) < len(gaps)
    return float(np.quantile(apart, 0.1)) if tied else 0.0, ties
