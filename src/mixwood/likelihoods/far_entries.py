"""Entries very far from all others: errors, codes for what is missing, tails of many magnitudes.

A single one can make up nearly all of a column's variance. What is judged by that variance, how
tight clusters may be and which columns are combinations of others, must not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixwood._support.numbers import count
from mixwood._support.types import FloatArray
from mixwood._support.warn import warn

__all__ = ["bulk_share_of_all", "bulk_shares", "near_rows", "warn_of_far_entries"]

#: Quartiles are those of at most this many rows, chosen at random: rows may come in a period.
ROWS = 10_000
#: Of a normal distribution, the distance between the quartiles in standard deviations.
QUARTILES_APART = 1.349
#: An entry is far if it is this many deviations of the bulk from the median.
FAR = 1e4
#: The bulk counts only where its variance is less than one in so many of the column's.
USUAL = 100.0


def _medians_and_deviations(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return of each column the median and the deviation of its bulk, NaN if there is none."""
    some = X
    if len(X) > ROWS:
        some = X[np.random.default_rng(0).choice(len(X), ROWS, replace=False)]
    low, middle, high = np.full((3, X.shape[1]), np.nan)
    known = np.isfinite(some).any(axis=0)
    low[known], middle[known], high[known] = np.nanquantile(
        some[:, known], [0.25, 0.5, 0.75], axis=0
    )
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = (high - low) / QUARTILES_APART
    return middle, np.where(deviations > 0, deviations, np.nan)


def bulk_shares(X: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the shares of the columns' variances by which the width of clusters is judged.

    That is 1, but where the bulk, the half of the entries between the quartiles, has the variance
    of a normal distribution a hundred times smaller or less: then a hundred times its share.

    Examples
    --------
    >>> X = np.arange(9.0)[:, None]
    >>> bulk_shares(X, X.var(axis=0))
    array([1.])
    >>> X[8] = 1e6
    >>> float(bulk_shares(X, X.var(axis=0))[0].round(12))
    8.902e-09
    """
    deviations = _medians_and_deviations(X)[1]
    with np.errstate(over="ignore", under="ignore"):
        shares = USUAL * (deviations / np.sqrt(variances)) ** 2
    return np.minimum(np.nan_to_num(shares, nan=1.0), 1.0)


def bulk_share_of_all(X: FloatArray, variance: float) -> float:
    """Return the same of the mean `variance` of all columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        own = X.var(axis=0)
    shares = bulk_shares(X, own)
    return 1.0 if np.all(shares == 1) else float(min(np.mean(shares * own) / variance, 1.0))


def _far(X: FloatArray) -> Any:
    """Yield for each column which of its entries are far."""
    medians, deviations = _medians_and_deviations(X)
    for column, median, deviation in zip(X.T, medians, deviations, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            yield np.abs(column - median) > FAR * deviation


def near_rows(X: FloatArray) -> Any:
    """Tell which rows have no entry that is far.

    Examples
    --------
    >>> near_rows(np.array([[1.0], [2.0], [3.0], [4.0], [1e6]]))
    array([ True,  True,  True,  True, False])
    """
    near = np.ones(len(X), dtype=bool)
    for far in _far(X):
        near &= ~far
    return near


def warn_of_far_entries(X: FloatArray, names: Sequence[str] | None = None) -> None:
    """Warn of the first column with entries that are far.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_far_entries(np.array([[1.0], [2.0], [3.0], [4.0], [1e6]]))
    >>> print(caught[0].message)
    column 0 has 1 entry more than 10,000 times as far from the median as usual, 1e+06 in row 4; such rows are clusters of their own. If this stands for a missing value, make it NaN; if values span orders of magnitude, take logarithms
    """  # noqa: E501
    if len(X) < 4:
        return
    for number, far in enumerate(_far(X)):
        if not far.any():
            continue
        row = int(np.argmax(far))
        what = repr(number) if names is None else repr(names[number])
        entries = count("entry", int(far.sum()), plural="entries")
        warn(
            f"column {what} has {entries} more than {FAR:,.0f} times as far from the median as "
            f"usual, {X[row, number]:g} in row {row}; such rows are clusters of their own. If "
            "this stands for a missing value, make it NaN; if values span orders of magnitude, "
            "take logarithms",
            UserWarning,
        )
        return
