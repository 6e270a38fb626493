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
from mixwood.likelihoods.learned import KeptColumns

__all__ = [
    "independent_columns",
    "kept_entries",
    "varying_columns",
    "warn_of_left_out",
    "whole_covariance",
    "whole_rows",
    "whole_variances",
]

#: A column is a combination of others if what these leave of it is below this share of its
#: standard deviation, or what the rounding of doubles leaves.
NOTHING_LEFT = 1e-9
#: The error of an entry that is a sum of a few others, over their largest.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
#: That is never more than this: rows that are far from 0 have some precision left.
MOST_LEFT = 1e-3
#: How many columns a warning names.
NAMED = 8


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
    constants and copies (in any units) of one other are left out.

    Examples
    --------
    >>> X = np.array([[1.0, 2, 3, 7], [2, 5, 7, 7], [4, 1, 5, 7], [0, 3, 3, 7], [2, 2, 4, 7]])
    >>> kept = independent_columns(X)
    >>> kept.columns, kept.left_out
    (array([0, 1]), {2: 'combination', 3: 'constant'})
    >>> kept.weights[2].round(9)
    array([1., 1.])
    """
    n, d = X.shape
    if n < 2:
        return None
    varying = np.flatnonzero(~_constant_columns(X))
    geometry, lengths = _geometry(X[:, varying])
    if not np.isfinite(geometry).all():
        return None  # too large, which is said elsewhere
    limits = _limits(X[:, varying], lengths)
    original = _originals(geometry, limits) if n > 2 else np.arange(len(varying))
    own = np.unique(original)
    if n > len(own):
        own = _independent(geometry, limits)
        shares = np.linalg.lstsq(geometry[:, own], geometry, rcond=None)[0].T
    else:
        signs = np.sign(np.sum(geometry * geometry[:, original], axis=0))
        shares = signs[:, None] * (original[:, None] == own)
    if len(own) == d:
        return None
    weights = np.zeros((d, len(own)))
    weights[varying] = shares * lengths[:, None] / lengths[own]
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


def _geometry(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a small matrix whose columns have the angles of those of `X`, and their lengths.

    That of the columns about their means, and each of length 1; a few rows at a time.
    """
    n, d = X.shape
    with np.errstate(all="ignore"):
        centre, units = X.mean(axis=0), X.max(axis=0) - X.min(axis=0)
        units[units == 0] = 1
        root = np.empty((0, d))
        step = max(4 * d, 2**18 // d)
        for start in range(0, n, step):
            rows = (X[start : start + step] - centre) / units
            if not np.isfinite(rows).all():
                return np.full((1, d), np.nan), units
            root = np.linalg.qr(np.vstack([root, rows]), mode="r")
        norms = np.linalg.norm(root, axis=0)
    norms[norms == 0] = 1
    return np.asarray(root / norms), norms * units


def _limits(X: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return for each column, over its length, what counts as nothing."""
    deviations = lengths / np.sqrt(len(X))
    return np.minimum(NOTHING_LEFT + ROUNDING * np.abs(X).max(axis=0) / deviations, MOST_LEFT)


def _originals(geometry: FloatArray, limits: FloatArray) -> Any:
    """Return for each column which earlier one it is a copy of, or itself."""
    found = np.arange(len(limits))
    for j in range(1, len(found)):
        column, earlier = geometry[:, j], np.unique(found[:j])
        cosines = column @ geometry[:, earlier]
        nearest = int(np.argmax(np.abs(cosines)))
        i = earlier[nearest]
        left = column - np.sign(cosines[nearest]) * geometry[:, i]
        if np.linalg.norm(left) <= max(limits[i], limits[j]):
            found[j] = i
    return found


def _independent(geometry: FloatArray, limits: FloatArray) -> Any:
    """Return the columns of which the earlier ones leave something; the first always."""
    found: list[int] = []
    basis = np.empty_like(geometry)
    for j, column in enumerate(geometry.T):
        own = basis[:, : len(found)]
        left = column - own @ (own.T @ column)
        left -= own @ (own.T @ left)  # once more, against rounding
        length = float(np.linalg.norm(left))
        if not found or length > limits[[*found, j]].max():
            basis[:, len(found)] = left / (length or 1.0)
            found.append(j)
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
    return rows if kept is None else rows[..., kept.columns]


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
    said = []
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
