"""Reading users' data: whatever holds numbers becomes one of two plain forms.

Dense data become C-contiguous float64 matrices (without a copy if they are that
already), counts become canonical sparse rows. What cannot be read right is
refused with an error that says where the first bad entry is and what is right.

Tables (pandas, polars) are recognized by what they can do, not by their type:
neither library is needed, and neither is imported.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "LARGEST_COUNT",
    "as_array",
    "column_names",
    "column_numbers",
    "count_matrix",
    "is_table",
    "real_array",
    "real_matrix",
    "stacked",
    "table_columns",
    "whole_number_matrix",
]

BoolArray: TypeAlias = NDArray[np.bool_]

#: The largest count of one entry, and of one row in all: the core keeps counts in 32 bits.
LARGEST_COUNT = 2**31 - 1

_NUMBER_KINDS = "biuf"  # numpy's kinds: bool, integers, unsigned integers, floats
_KIND_NAMES = {
    "c": "complex numbers",
    "S": "bytes",
    "U": "strings",
    "T": "strings",
    "M": "dates",
    "m": "time differences",
    "V": "records",
}


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a table's columns, or None where there are none, or not all strings.

    Examples
    --------
    >>> column_names([[1.0, 2.0]]) is None
    True
    """
    names = getattr(X, "columns", None) if hasattr(X, "dtypes") else None
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def stacked(parts: Sequence[FloatArray | csr_array]) -> FloatArray | csr_array:
    """Return the rows of all parts, checked data of one kind, one part after the other."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.asarray(part) for part in parts])
    from scipy.sparse import csr_array, vstack

    blocks: Any = parts
    return csr_array(vstack(blocks, format="csr"))


def real_matrix(
    X: Any, *, name: str = "X", width: int | None = None, missing: bool = False
) -> FloatArray:
    """Return `X` as a C-contiguous float64 matrix of shape (n, d).

    Parameters
    ----------
    X : array_like or table
        Numbers in an array, nested lists, a masked array, or a pandas or polars
        table (there, text that spells numbers is read too). One dimension is one
        column.
    name : str
        What the caller names it, for messages.
    width : int, optional
        How many columns there must be.
    missing : bool
        Whether missing entries (NaN, None, masked, pd.NA) are allowed; they come back as
        NaN.

    Returns
    -------
    ndarray
        `X` itself, without a copy, if it is C-contiguous float64 already.

    Examples
    --------
    >>> real_matrix([1, 2, 3]).shape
    (3, 1)
    >>> real_matrix([[1.0, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: X has a missing value (NaN) in row 0, column 1; fill it in or drop its row, or use a likelihood that skips missing values (such as DiagonalGaussian)
    """  # noqa: E501
    _refuse_sparse(X, name)
    matrix = _shape_matrix(_read(X, name), name, width)
    _refuse_non_finite(matrix, name, missing)
    return matrix


def real_array(value: Any, name: str) -> FloatArray:
    """Return a parameter, a number or an array of any shape, as a read-only copy of floats.

    Examples
    --------
    >>> real_array([1, 2], "mean")
    array([1., 2.])
    >>> real_array("x", "mean")
    Traceback (most recent call last):
    ...
    TypeError: mean holds strings; it must hold real numbers
    """
    array = np.array(_numbers(as_array(value, name), name), dtype=np.float64)
    array.flags.writeable = False
    return array


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

    _refuse_non_finite_entries(~np.isfinite(rows.data), rows.data, name, locate, missing=False)
    _refuse_bad_counts(rows.data, name, locate)
    _refuse_large_totals(rows, name)
    if np.any(rows.data == 0):
        rows = rows.copy()  # it may share memory with the user's X
        rows.eliminate_zeros()
    return rows


# --- from whatever the user has to an array of floats ---------------------------------


def _refuse_sparse(X: Any, name: str) -> None:
    """Raise if `X` is sparse. If scipy.sparse is not loaded yet, nothing can be."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        raise TypeError(
            f"{name} is sparse ({type(X).__name__}), but this likelihood reads dense arrays: "
            f"use {name}.toarray(), or Multinomial() for sparse counts"
        )


def _read(X: Any, name: str) -> NDArray[Any]:
    """Return the numbers in `X` as an array of bools, integers or floats, NaN where missing."""
    if isinstance(X, np.ma.MaskedArray):
        _refuse_single(X, X, name)
        mask = np.ma.getmaskarray(X)
        values = X.filled(0) if mask.any() else X.data  # what lies under a mask may be anything
        numbers_ = _numbers(np.asarray(values), name)
        return np.where(mask, np.nan, numbers_) if mask.any() else numbers_
    if is_table(X):
        return _read_table(X, name)
    if hasattr(X, "to_numpy") and getattr(X, "ndim", 1) == 1:
        return _numbers(np.asarray(X.to_numpy()), name, text=True)
    array = as_array(X, name)
    _refuse_single(array, X, name)
    return _numbers(array, name)


def _refuse_single(array: NDArray[Any], X: Any, name: str) -> None:
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array or table of numbers, got {shown(X)}")


def as_array(X: Any, name: str) -> NDArray[Any]:
    """Return `X` as numpy reads it, or raise an error that names it.

    Examples
    --------
    >>> as_array([0, 1], "labels")
    array([0, 1])
    """
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a rectangular array of numbers; its rows differ in length ({error})"
        ) from None
    except Exception as error:
        raise TypeError(f"{name} cannot be read as an array of numbers: {error}") from error


def _read_table(table: Any, name: str) -> NDArray[Any]:
    """Return a pandas or polars table as an array, column by column unless all are plain."""
    dtypes = list(table.dtypes)
    if all(isinstance(t, np.dtype) and t.kind in _NUMBER_KINDS for t in dtypes):
        return np.asarray(table.to_numpy())
    matrix = np.empty((len(table), len(dtypes)))
    for j, (label, column) in enumerate(zip(table.columns, table_columns(table), strict=True)):
        matrix[:, j] = column_numbers(column, f"column {j} ({label!r}) of {name}")
    return matrix


def is_table(X: Any) -> bool:
    """Tell whether `X` is a table with columns of their own types (pandas, polars).

    Examples
    --------
    >>> is_table([[1.0]])
    False
    """
    return hasattr(X, "to_numpy") and hasattr(X, "columns")


def column_numbers(column: Any, name: str) -> FloatArray:
    """Return one column of a table as floats, NaN where missing; text that spells them is read."""
    return np.asarray(_numbers(np.asarray(column.to_numpy()), name, text=True), dtype=np.float64)


def table_columns(table: Any) -> list[Any]:
    """Return the columns of a table by position: pandas allows two of one name."""
    if hasattr(table, "iloc"):
        return [column for _, column in table.items()]
    return list(table.get_columns())


def _numbers(array: NDArray[Any], name: str, *, text: bool = False) -> NDArray[Any]:
    """Return `array` if it is numeric, or its objects (with `text`, also strings) as floats."""
    if array.dtype.kind in _NUMBER_KINDS:
        return array
    if text and array.dtype.kind in "UT":
        array = array.astype(object)
    if array.dtype.kind != "O":
        held = _KIND_NAMES.get(array.dtype.kind, f"entries of type {array.dtype}")
        raise TypeError(f"{name} holds {held}; it must hold real numbers")
    floats = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        try:
            floats[index] = _float(value, text)
        except (TypeError, ValueError, OverflowError) as error:
            where = ", ".join(f"{w} {i}" for w, i in zip(("row", "column"), index, strict=False))
            kind = ValueError if isinstance(value, (str, numbers.Real, Decimal)) else TypeError
            # Text where none may be is a wrong type; text that spells no number, a wrong value.
            kind = TypeError if isinstance(value, str) and not text else kind
            raise kind(f"{name} has {shown(value)} in {where}: {error}") from None
    return floats


def _float(value: Any, text: bool) -> float:
    """Return one object as a float; None and pd.NA are missing."""
    if value is None or type(value).__name__ == "NAType":
        return float("nan")
    if isinstance(value, (numbers.Real, Decimal, np.bool_)) or (text and isinstance(value, str)):
        try:
            number = float(value)
        except ValueError:
            raise ValueError(
                "it is not a number; leave columns of text out, or use Product, which takes them"
            ) from None
        except OverflowError:
            raise OverflowError("it is too large for a float") from None
        if isinstance(value, str) and math.isinf(number) and "inf" not in value.lower():
            raise OverflowError("it is too large for a float")  # such as 1e309
        return number
    raise TypeError("entries must be real numbers")


# --- checks --------------------------------------------------------------------------


def _shape_matrix(array: NDArray[Any], name: str, width: int | None) -> FloatArray:
    """Return `array` as a C-contiguous float64 matrix with the right number of columns."""
    if array.ndim > 2:
        raise ValueError(
            f"{name} must have two dimensions (rows are items), got shape {array.shape}"
        )
    _refuse_empty(array.shape, name)
    if array.ndim == 1:
        if width not in (None, 1):
            raise ValueError(
                f"{name} has one dimension (shape {array.shape}), which is read as one column, "
                f"but {width} columns are needed; a single row is {name}.reshape(1, -1)"
            )
        array = array.reshape(-1, 1)
    _refuse_wrong_width(array.shape, name, width)
    with np.errstate(over="ignore"):  # a long double beyond float64: an infinity, found later
        return np.require(array, np.float64, ["C", "A", "E"])


def _refuse_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(
            f"{name} is empty (shape {shape}); it needs at least one row and one column"
        )


def _refuse_wrong_width(shape: tuple[int, ...], name: str, width: int | None) -> None:
    if width is not None and shape[1] != width:
        raise ValueError(
            f"{name} has the wrong number of columns: {shape[1]}, but {width} "
            f"{'is' if width == 1 else 'are'} needed"
        )


def _refuse_non_finite(matrix: FloatArray, name: str, missing: bool) -> None:
    columns = matrix.shape[1]
    bad = np.isinf(matrix) if missing else ~np.isfinite(matrix)
    _refuse_non_finite_entries(
        bad.ravel(), matrix.ravel(), name, lambda k: divmod(k, columns), missing=missing
    )


def _refuse_non_finite_entries(
    bad: BoolArray,
    values: FloatArray,
    name: str,
    locate: Callable[[int], tuple[int, int]],
    *,
    missing: bool,
) -> None:
    if not bad.any():
        return
    first = int(np.argmax(bad))
    row, column = locate(first)
    others = int(bad.sum()) - 1
    more = f" (and {others} more such {'entry' if others == 1 else 'entries'})" if others else ""
    if np.isnan(values[first]):
        raise ValueError(
            f"{name} has a missing value (NaN) in row {row}, column {column}{more}; fill it in "
            "or drop its row, or use a likelihood that skips missing values (such as "
            "DiagonalGaussian)"
        )
    allowed = "finite or NaN (missing)" if missing else "finite"
    raise ValueError(
        f"{name} has {values[first]} in row {row}, column {column}{more}; entries must be {allowed}"
    )


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
    if X.dtype.kind not in _NUMBER_KINDS:
        held = _KIND_NAMES.get(X.dtype.kind, f"entries of type {X.dtype}")
        raise TypeError(f"{name} holds {held}; it must hold whole, non-negative numbers")
    _refuse_empty(X.shape, name)
    _refuse_wrong_width(X.shape, name, width)
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
