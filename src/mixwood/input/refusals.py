"""What no matrix of a user's may be: empty, of another width, infinite. Messages say where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.types import FloatArray

__all__ = [
    "KIND_NAMES",
    "NUMBER_KINDS",
    "refuse_empty",
    "refuse_non_finite",
    "refuse_non_finite_entries",
    "refuse_wrong_width",
]

BoolArray: TypeAlias = NDArray[np.bool_]

NUMBER_KINDS = "biuf"  # numpy's kinds: bool, integers, unsigned integers, floats
KIND_NAMES = {
    "c": "complex numbers",
    "S": "bytes",
    "U": "strings",
    "T": "strings",
    "M": "dates",
    "m": "time differences",
    "V": "records",
}


def refuse_empty(shape: tuple[int, ...], name: str) -> None:
    """Raise if there are no rows or no columns."""
    if 0 in shape:
        raise ValueError(
            f"{name} is empty (shape {shape}); it needs at least one row and one column"
        )


def refuse_wrong_width(shape: tuple[int, ...], name: str, width: int | None) -> None:
    """Raise if there are not as many columns as there must be."""
    if width is not None and shape[1] != width:
        raise ValueError(
            f"{name} has the wrong number of columns: {shape[1]}, but {width} "
            f"{'is' if width == 1 else 'are'} needed"
        )


def refuse_non_finite(matrix: FloatArray, name: str, missing: bool) -> None:
    """Raise at the first infinite entry, or missing one unless those are allowed."""
    columns = matrix.shape[1]
    bad = np.isinf(matrix) if missing else ~np.isfinite(matrix)
    refuse_non_finite_entries(
        bad.ravel(), matrix.ravel(), name, lambda k: divmod(k, columns), missing=missing
    )


def refuse_non_finite_entries(
    bad: BoolArray,
    values: FloatArray,
    name: str,
    locate: Callable[[int], tuple[int, int]],
    *,
    missing: bool,
) -> None:
    """Raise at the first entry that is `bad`; `locate` tells its row and column."""
    if not bad.any():
        return
    first = int(np.argmax(bad))
    row, column = locate(first)
    others = int(bad.sum()) - 1
    more = f" (and {others} more such {'entry' if others == 1 else 'entries'})" if others else ""
    if np.isnan(values[first]):
        raise ValueError(
            f"{name} has a missing value (NaN) in row {row}, column {column}{more}; fill it in "
            "or drop its row, or use a likelihood that takes missing values (Gaussian, "
            "DiagonalGaussian)"
        )
    allowed = "finite or NaN (missing)" if missing else "finite"
    raise ValueError(
        f"{name} has {values[first]} in row {row}, column {column}{more}; entries must be {allowed}"
    )
