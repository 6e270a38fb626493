"""Columns in which the rows have no variance of their own: constants and combinations of others.

In such a direction a learned variance runs to its floor, and one large cluster wins over any
partition. It says nothing about clusters, so these columns take no part; what is drawn is mapped
back to all columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from mixwood._support.types import FloatArray
from mixwood._support.warn import warn
from mixwood.likelihoods.far_entries import near_rows
from mixwood.likelihoods.learned import KeptColumns, LearnedScale
from mixwood.likelihoods.spread import sample_covariance

__all__ = [
    "KeepsColumns",
    "independent_columns",
    "kept_entries",
    "varying_columns",
    "warn_of_left_out",
    "whole_covariance",
    "whole_rows",
    "whole_variances",
]

#: A column is a combination of others if these leave no more of it than this share of its
#: standard deviation. The floor of learned variances is at five times that: clusters that differ
#: below are not told apart, and from half of it downwards such a direction does harm (three
#: clusters became two with 0.0001, as with 0).
NOTHING_LEFT = 2e-4
#: A column is a constant if its entries differ by less than rounding makes sums differ.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
#: How many columns a warning names.
NAMED = 8


class KeepsColumns:
    """What likelihoods have in common that may leave out columns where their scale is learned."""

    mean: Any
    scale: Any

    @property
    def kept(self) -> KeptColumns | None:
        """Which columns take part, None if all do."""
        return self.scale.kept if isinstance(self.scale, LearnedScale) else None

    @property
    def left_out(self) -> dict[Any, str]:
        """The columns in which the rows have no variance of their own, and why."""
        return {} if self.kept is None else self.kept.left_out

    @property
    def centre(self) -> FloatArray:
        """The prior mean of the columns that take part."""
        return self.own_entries(self.mean)

    def own_entries(self, rows: FloatArray) -> FloatArray:
        """Return the entries of rows (..., d) that take part."""
        return kept_entries(rows, self.kept)


# --- which columns take part


def varying_columns(X: FloatArray) -> KeptColumns | None:
    """Return which columns of `X` are no constants, or None if all take part.

    Missing entries (NaN) are passed over. If all are constants, the first takes part; of a single
    row nothing is known, and all do.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 7.0], [2.0, 7.0]])).columns
    array([0])
    """
    constant = _constant_columns(X)
    if not constant.any():
        return None
    columns = np.flatnonzero(~constant)
    return _kept(X, columns, np.zeros((X.shape[1], len(columns))))


def independent_columns(X: FloatArray) -> KeptColumns | None:
    """Return which columns of `X` are no affine combinations of earlier ones, or None if all are.

    With at most as many rows as columns every column is a combination of others, and only
    constants and copies (in any units) of one other are left out. Rows with missing entries (NaN)
    are passed over, if there are enough others.

    Examples
    --------
    >>> X = np.array([[1.0, 2, 3, 7], [2, 5, 7, 7], [4, 1, 5, 7], [0, 3, 3, 7], [2, 2, 4, 7]])
    >>> kept = independent_columns(X)
    >>> kept.columns, kept.left_out
    (array([0, 1]), {2: 'combination', 3: 'constant'})
    >>> kept.weights[2].round(9)
    array([1., 1.])
    """
    complete = ~np.isnan(X).any(axis=1)
    constant = _constant_columns(X)
    if not complete.all() and complete.sum() > 2 * X.shape[1]:
        X = X[complete]
    kept = _independent_columns(X, constant)
    near = near_rows(X) if kept is not None and "combination" in kept.left_out.values() else None
    if near is None or near.all() or near.sum() <= 2 * X.shape[1]:
        return kept
    # Columns with a far entry in the same row, and nothing else, look like combinations. Those of
    # near rows must be combinations in the others as well.
    kept = _independent_columns(X[near], constant)
    far, deviations = X[~near], X[near].std(axis=0)
    off = np.abs(whole_rows(kept_entries(far, kept), kept) - far)
    return varying_columns(X) if np.any(off > deviations + 1e-3 * np.abs(far)) else kept


def _independent_columns(X: FloatArray, constant: Any) -> KeptColumns | None:
    n, d = X.shape
    varying = np.flatnonzero(~constant)
    covariance = sample_covariance(X[:, varying])
    deviations = np.sqrt(np.diag(covariance))
    if not np.isfinite(covariance).all() or (np.any(deviations == 0) and d == len(varying)):
        return None  # a single row; or numbers too large or too small, which is said elsewhere
    deviations[deviations == 0] = 1
    correlation = covariance / np.outer(deviations, deviations)
    original = _originals(correlation) if n > 2 else np.arange(len(varying))
    own = np.unique(original)
    if n > len(own):
        own = _independent(correlation)
        inner = correlation[np.ix_(own, own)]
        shares = np.linalg.lstsq(inner, correlation[own], rcond=None)[0].T
    else:
        signs = np.sign(correlation[np.arange(len(varying)), original])
        shares = signs[:, None] * (original[:, None] == own)
    if len(own) == d:
        return None
    weights = np.zeros((d, len(own)))
    weights[varying] = shares * deviations[:, None] / deviations[own]
    return _kept(X, varying[own], weights)


def _constant_columns(X: FloatArray) -> Any:
    """Tell which columns are constants, up to the rounding of sums; none of a single row."""
    if len(X) < 2:
        return np.zeros(X.shape[1], dtype=bool)
    missing = np.isnan(X)
    largest = np.where(missing, -np.inf, X).max(axis=0)
    smallest = np.where(missing, np.inf, X).min(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        span = largest - smallest  # -inf without any entry: nothing is known
        constant = (span >= 0) & (span <= ROUNDING * np.maximum(np.abs(largest), np.abs(smallest)))
    constant[0] &= not constant.all()
    return constant


def _originals(correlation: FloatArray) -> Any:
    """Return for each column which earlier one it is a copy of, or itself."""
    found = np.arange(len(correlation))
    for j in range(1, len(found)):
        cosines = np.where(found[:j] == np.arange(j), np.abs(correlation[j, :j]), 0.0)
        nearest = int(np.argmax(cosines))
        if 1 - cosines[nearest] ** 2 <= NOTHING_LEFT**2:
            found[j] = nearest
    return found


def _independent(correlation: FloatArray) -> Any:
    """Return the columns of which the earlier ones leave something; the first always."""
    found: list[int] = []
    left = correlation.copy()  # given the columns found
    for j in range(len(left)):
        if not found or left[j, j] > NOTHING_LEFT**2:
            found.append(j)
            left -= np.outer(left[j], left[j]) / (left[j, j] or 1.0)
    return np.array(found)


def _kept(X: FloatArray, columns: Any, weights: FloatArray) -> KeptColumns:
    weights[columns] = np.eye(len(columns))
    present = np.isfinite(X)
    centre = np.where(present, X, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    value = X[np.argmax(present, axis=0), np.arange(X.shape[1])]
    centre = np.where(weights.any(axis=1), centre, value)  # the mean of a constant is rounded
    return KeptColumns(columns, centre, weights)


# --- from the columns that take part to all of them, and back


def kept_entries(rows: FloatArray, kept: KeptColumns | None) -> FloatArray:
    """Return the entries (..., k) of rows (..., d) that take part."""
    return rows if kept is None else np.ascontiguousarray(rows[..., kept.columns])


def whole_rows(rows: FloatArray, kept: KeptColumns | None) -> FloatArray:
    """Return rows (..., d) of which `rows` (..., k) take part.

    Examples
    --------
    >>> whole_rows(np.array([5.0]), KeptColumns([0], [1.0, 7.0, 2.0], [[1.0], [0.0], [2.0]]))
    array([ 5.,  7., 10.])
    """
    if kept is None:
        return rows
    away = np.nan_to_num(rows - kept.centre[kept.columns])  # constants do not mind what is missing
    whole = kept.centre + away @ kept.weights.T
    whole[..., kept.columns] = rows
    return np.asarray(whole)


def whole_covariance(covariance: FloatArray, kept: KeptColumns | None) -> FloatArray:
    """Return the covariance (..., d, d), which is singular, of rows mapped to all columns."""
    if kept is None:
        return covariance
    return np.asarray(kept.weights @ covariance @ kept.weights.T)


def whole_variances(variances: FloatArray, kept: KeptColumns | None) -> FloatArray:
    """Return the same where columns are independent: variances (..., d), 0 of a constant."""
    return variances if kept is None else np.asarray(variances @ kept.weights.T**2)


# --- what the user is told


def warn_of_left_out(left_out: Mapping[Any, str], names: Sequence[str] | None = None) -> None:
    """Warn of the columns that take no part; see `Likelihood.left_out`.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_left_out({3: "constant", 5: "combination"})
    >>> print(caught[0].message)
    column 3 is a constant and column 5 a combination of others: they say nothing more about clusters and are left out
    """  # noqa: E501
    if not left_out:
        return
    said: list[str] = []
    for kind, one, several in (
        ("constant", "a constant", "constants"),
        ("combination", "a combination of others", "combinations of others"),
    ):
        columns = [j if names is None else names[j] for j, why in left_out.items() if why == kind]
        if columns:
            verb = "" if said else " is" if len(columns) == 1 else " are"
            said.append(f"{_listed(columns)}{verb} {one if len(columns) == 1 else several}")
    alone = len(left_out) == 1
    warn(
        f"{' and '.join(said)}: {'it says' if alone else 'they say'} nothing more about clusters "
        f"and {'is' if alone else 'are'} left out",
        UserWarning,
    )


def _listed(columns: Sequence[Hashable]) -> str:
    shown = [repr(column) for column in columns[:NAMED]]
    if len(columns) > NAMED:
        shown.append(f"{len(columns) - NAMED:,} more")
    text = ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]
    return f"column{'s' if len(shown) > 1 else ''} {text}"
