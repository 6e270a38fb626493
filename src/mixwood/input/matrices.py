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
import re
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.dates import is_date
from mixwood.input.refusals import (
    KIND_NAMES,
    NUMBER_KINDS,
    REMEDIES,
    refuse_empty,
    refuse_non_finite,
    refuse_wrong_width,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "as_array",
    "column_names",
    "column_numbers",
    "is_table",
    "real_array",
    "real_matrix",
    "stacked",
    "table_columns",
]

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a table's columns, or None where there are none, or not all strings.

    Examples
    --------
    >>> column_names([[1.0, 2.0]]) is None
    True
    """
    # Asked for the columns, what would only be computed (a lazy table) might begin to.
    known = hasattr(X, "to_numpy") and hasattr(X, "dtypes")
    names = getattr(X, "columns", None) if known else None
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
    ValueError: X has a missing value (NaN) in row 0, column 1; fill it in or drop its row, or use a likelihood that takes missing values (Gaussian, DiagonalGaussian)
    """  # noqa: E501
    _refuse_sparse(X, name)
    matrix = _shape_matrix(_read(X, name), name, width)
    refuse_non_finite(matrix, name, missing)
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
        hint = ""
        if isinstance(X, Mapping):
            hint = f"; pandas.DataFrame({name}) makes a table of it"
        elif isinstance(X, (str, PathLike)):
            hint = "; pandas.read_csv makes a table of a file"
        elif hasattr(X, "collect"):
            hint = f"; {name}.collect() makes a table of it"
        raise TypeError(f"{name} must be an array or table of numbers, got {shown(X)}{hint}")


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
    if all(isinstance(t, np.dtype) and t.kind in NUMBER_KINDS for t in dtypes):
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
    if array.dtype.kind in NUMBER_KINDS:
        return array
    if text and array.dtype.kind in "UT":
        array = array.astype(object)
    if array.dtype.kind != "O":
        held = KIND_NAMES.get(array.dtype.kind, f"entries of type {array.dtype}")
        remedy = REMEDIES.get(array.dtype.kind)
        hint = "" if remedy is None else f": {remedy}"
        raise TypeError(f"{name} holds {held}; it must hold real numbers{hint}")
    floats = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        try:
            floats[index] = _float(value, text)
        except (TypeError, ValueError, OverflowError) as error:
            where = ", ".join(f"{w} {i}" for w, i in zip(("row", "column"), index, strict=False))
            kind = ValueError if isinstance(value, (str, numbers.Real, Decimal)) else TypeError
            # Text where none may be is a wrong type; text that spells no number, a wrong value.
            kind = TypeError if isinstance(value, str) and not text else kind
            has = f"has {shown(value)} in {where}" if where else f"is {shown(value)}"
            raise kind(f"{name} {has}: {error}") from None
    return floats


def _float(value: Any, text: bool) -> float:
    """Return one object as a float; None and pd.NA are missing."""
    if value is None or type(value).__name__ == "NAType":
        return float("nan")
    if isinstance(value, (numbers.Real, Decimal, np.bool_)) or (text and isinstance(value, str)):
        try:
            number = float(value)
        except ValueError:
            raise ValueError(_why_no_number(str(value))) from None
        except OverflowError:
            raise OverflowError("it is too large for a float") from None
        if isinstance(value, str) and math.isinf(number) and "inf" not in value.lower():
            raise OverflowError("it is too large for a float")  # such as 1e309
        return number
    raise TypeError("entries must be real numbers")


def _why_no_number(text: str) -> str:
    """Return what a text is that spells no number, and what to do about it."""
    if is_date(text):
        return f"it is a date or time, not a number; {REMEDIES['M']}"
    if _DECIMAL_COMMA.fullmatch(text.strip()):
        return (
            "it has a decimal comma; read the file with decimal commas "
            "(pandas.read_csv(..., decimal=',')), or let mw.choose(table) read such numbers"
        )
    return (
        "it is not a number; leave columns of text out, or have a likelihood found for each "
        "column: mw.choose(table), or mixwood fit without --likelihood"
    )


# --- checks --------------------------------------------------------------------------


def _shape_matrix(array: NDArray[Any], name: str, width: int | None) -> FloatArray:
    """Return `array` as a C-contiguous float64 matrix with the right number of columns."""
    if array.ndim > 2:
        raise ValueError(
            f"{name} must have two dimensions (rows are items), got shape {array.shape}"
        )
    refuse_empty(array.shape, name)
    if array.ndim == 1:
        if width not in (None, 1):
            raise ValueError(
                f"{name} has one dimension (shape {array.shape}), which is read as one column, "
                f"but {width} columns are needed; a single row is {name}.reshape(1, -1)"
            )
        array = array.reshape(-1, 1)
    refuse_wrong_width(array.shape, name, width)
    with np.errstate(over="ignore"):  # a long double beyond float64: an infinity, found later
        return np.require(array, np.float64, ["C", "A", "E"])
