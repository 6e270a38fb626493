"""Missing entries of rows that are described by one covariance: a normal fit, and what to fill in.

With ``P`` the inverse of the covariance, the missing entries ``m`` of a row ``x`` about the mean,
given the observed ones ``o``, have

    mean  -P_mm^-1 P_mo x_o        covariance  P_mm^-1

so that rows with equally many missing entries are done together, whichever those are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mixwood._support.types import FloatArray, IntArray

__all__ = ["conditional_means", "has_missing", "normal_moments", "refuse_empty_columns"]

#: Added to variances of 1: columns may be exact combinations of others.
RIDGE = 1e-10
#: The fit ends when nothing changes by more than this share of a deviation, or after a limit.
ENOUGH, MOST_STEPS = 1e-6, 100


def has_missing(X: FloatArray) -> bool:
    """Tell whether an entry is missing (NaN)."""
    return bool(np.isnan(X).any())


def refuse_empty_columns(X: FloatArray) -> None:
    """Raise if a column has no entry at all: nothing can be learned of it.

    Examples
    --------
    >>> refuse_empty_columns(np.array([[1.0, np.nan], [2.0, np.nan]]))
    Traceback (most recent call last):
    ...
    ValueError: X has no entry in column 1: all are missing (NaN); leave it out
    """
    empty = np.isnan(X).all(axis=0)
    if len(X) and empty.any():
        column = int(np.argmax(empty))
        more = int(empty.sum()) - 1
        others = f" (and in {more:,} more)" if more else ""
        raise ValueError(
            f"X has no entry in column {column}{others}: all are missing (NaN); leave it out"
        )


class _Group(NamedTuple):
    """Rows that lack equally many entries: those rows, and which columns each lacks."""

    rows: IntArray
    columns: IntArray


def _groups(X: FloatArray) -> Iterator[_Group]:
    missing = np.isnan(X)
    counts = missing.sum(axis=1)
    for count in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == count)
        yield _Group(rows, np.nonzero(missing[rows])[1].reshape(len(rows), count))


def conditional_means(X: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return rows about their mean with what is missing (NaN) filled in by its expectation.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows, minus their mean.
    covariance : array of shape (d, d)
        Of the rows, in units in which variances are about 1.

    Examples
    --------
    >>> conditional_means(np.array([[2.0, np.nan], [1.0, 1.0]]), np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[2., 1.],
           [1., 1.]])
    """
    return _filled(X, _inverse(covariance), list(_groups(X)))[0]


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.linalg.inv(matrix).astype(np.float64)


def _filled(
    X: FloatArray, precision: FloatArray, groups: list[_Group]
) -> tuple[FloatArray, FloatArray]:
    """Return the rows filled in, and the sum of the covariances of what was missing."""
    filled = np.where(np.isnan(X), 0.0, X)
    extra = np.zeros_like(precision)
    for rows, columns in groups:
        own = np.linalg.inv(precision[columns[:, :, None], columns[:, None, :]])
        pull = np.take_along_axis(filled[rows] @ precision, columns, axis=1)
        filled[rows[:, None], columns] = -np.einsum("nij,nj->ni", own, pull)
        np.add.at(extra, (columns[:, :, None], columns[:, None, :]), own)
    return filled, extra


def normal_moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and covariance of the rows, some entries of which are missing (NaN).

    Those of the normal distribution that makes the observed entries likeliest, by EM; the
    covariance times ``n/(n-1)``. They follow a change of units. A column without any entry has
    mean 0, and one that does not vary has variance 0.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 2.1], [2.0, 3.9], [3.0, np.nan]])
    >>> normal_moments(X)[0].round(1)
    array([1.5, 3. ])
    """
    present = np.isfinite(X)
    counts = present.sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(present, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
        squares = np.where(present, X - middle, 0.0) ** 2
        units = np.sqrt(squares.sum(axis=0) / np.maximum(counts, 1))
    varying = (units > 0) & np.isfinite(units)
    mean, covariance = middle.copy(), np.zeros((X.shape[1], X.shape[1]))
    if not np.isfinite(units).all():
        return mean, np.full_like(covariance, np.inf)  # too large: said elsewhere
    if len(X) < 2 or not varying.any():
        return mean, covariance
    own = (X[:, varying] - middle[varying]) / units[varying]
    shift, inner = _fit(own)
    mean[varying] += units[varying] * shift
    scale = np.outer(units[varying], units[varying]) * (len(X) / (len(X) - 1))
    covariance[np.ix_(varying, varying)] = inner * scale
    return mean, covariance


def _fit(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the covariance that make standardized rows likeliest."""
    n, d = X.shape
    groups, ridge = list(_groups(X)), RIDGE * np.eye(d)
    mean, covariance = np.zeros(d), np.eye(d)
    for _ in range(MOST_STEPS):
        away, extra = _filled(X - mean, _inverse(covariance + ridge), groups)
        step = away.mean(axis=0)
        away -= step
        new = (away.T @ away + extra) / n
        change = max(float(np.abs(step).max()), float(np.abs(new - covariance).max()))
        mean, covariance = mean + step, new
        if change < ENOUGH:
            break
    return mean, covariance
