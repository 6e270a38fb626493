"""Counts: whole numbers from 0 on, dense or as canonical sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.input.matrices import real_matrix
from mixwood.input.refusals import (
    KIND_NAMES,
    NUMBER_KINDS,
    refuse_empty,
    refuse_non_finite_entries,
    refuse_wrong_width,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LARGEST_COUNT", "count_matrix", "whole_number_matrix"]

#: The largest count of one entry, and of one row in all: the core keeps counts in 32 bits.
LARGEST_COUNT = 2**31 - 1


def whole_number_matrix(
    X: Any, *, name: str = "X", width: int | None = None, missing: bool = False
) -> FloatArray:
    """Return `X` as `real_matrix` does, all entries 0, 1, 2, ... (or NaN, if `missing`).

    Examples
    --------
    >>> whole_number_matrix([[0, 2]])
    array([[0., 2.]])
    >>> whole_number_matrix([[0, 2.5]])
    Traceback (most recent call last):
    ...
    ValueError: X has 2.5 in row 0, column 1; entries must be whole numbers
    """
    matrix = real_matrix(X, name=name, width=width, missing=missing)
    columns = matrix.shape[1]
    _refuse_bad_counts(matrix.ravel(), name, lambda k: divmod(k, columns))
    return matrix


def count_matrix(X: Any, *, name: str = "X", width: int | None = None) -> csr_array:
    """Return `X` as canonical sparse rows of counts 0, 1, 2, ...

    Canonical: float64 entries, sorted columns in each row, no duplicates (they are
    added up), no zeros stored.

    Parameters
    ----------
    X : array_like, table or scipy.sparse
        Counts, dense (whatever `real_matrix` reads) or sparse in any format. A
        sparse `X` is never changed.
    name : str
        What the caller names it, for messages.
    width : int, optional
        How many columns there must be.

    Examples
    --------
    >>> count_matrix([[0, 2], [1, 0]]).indices.tolist()
    [1, 0]
    """
    from scipy import sparse  # not needed for dense data

    if not sparse.issparse(X):
        return sparse.csr_array(
            _refuse_large_totals(whole_number_matrix(X, name=name, width=width), name)
        )
    rows = _canonical_rows(X, name, width)

    def locate(k: int) -> tuple[int, int]:
        return int(np.searchsorted(rows.indptr, k, side="right")) - 1, int(rows.indices[k])

    refuse_non_finite_entries(~np.isfinite(rows.data), rows.data, name, locate, missing=False)
    _refuse_bad_counts(rows.data, name, locate)
    _refuse_large_totals(rows, name)
    if np.any(rows.data == 0):
        rows = rows.copy()  # it may share memory with the user's X
        rows.eliminate_zeros()
    return rows


def _refuse_bad_counts(
    values: FloatArray, name: str, locate: Callable[[int], tuple[int, int]]
) -> None:
    """Raise at the first entry that is negative, fractional or too large; NaN passes."""
    rules = (
        (values < 0, "entries must not be negative"),
        ((values != np.floor(values)) & ~np.isnan(values), "entries must be whole numbers"),
        (values > LARGEST_COUNT, f"the largest count that can be kept is {LARGEST_COUNT}"),
    )
    for bad, rule in rules:
        if bad.any():
            first = int(np.argmax(bad))
            row, column = locate(first)
            raise ValueError(
                f"{name} has {values[first]:.17g} in row {row}, column {column}; {rule}"
            )


def _refuse_large_totals(counts: Any, name: str) -> Any:
    """Return `counts`, dense or sparse, or raise if a row's total cannot be kept."""
    totals = np.asarray(counts.sum(axis=1)).ravel()
    if np.any(totals > LARGEST_COUNT):
        row = int(np.argmax(totals > LARGEST_COUNT))
        raise ValueError(
            f"{name} has a total of {totals[row]:.17g} in row {row}; "
            f"the largest total that can be kept is {LARGEST_COUNT}"
        )
    return counts


def _canonical_rows(X: Any, name: str, width: int | None) -> csr_array:
    """Return sparse `X` as float64 rows, sorted, duplicates added; explicit zeros stay."""
    from scipy.sparse import csr_array

    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows are items), got shape {X.shape}")
    if X.dtype.kind not in NUMBER_KINDS:
        held = KIND_NAMES.get(X.dtype.kind, f"entries of type {X.dtype}")
        raise TypeError(f"{name} holds {held}; it must hold whole, non-negative numbers")
    refuse_empty(X.shape, name)
    refuse_wrong_width(X.shape, name, width)
    if X.shape[1] > LARGEST_COUNT:
        raise ValueError(f"{name} has {X.shape[1]} columns; at most {LARGEST_COUNT} can be kept")
    try:
        if hasattr(X, "check_format"):  # compiled code trusts the indices: look at them first
            X.check_format(full_check=True)
        compressed = X.tocsr()
    except ValueError as error:
        raise ValueError(f"{name} is not a valid sparse matrix: {error}") from error
    index = np.int32 if compressed.nnz <= LARGEST_COUNT else np.int64
    # A new object on the same memory: what scipy remembers about X's order may be out of date.
    rows = csr_array(
        (
            compressed.data.astype(np.float64, copy=False),
            compressed.indices.astype(index, copy=False),
            compressed.indptr.astype(index, copy=False),
        ),
        shape=compressed.shape,
    )
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
