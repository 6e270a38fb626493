"""Rows with a column of exposures among their counts."""

from __future__ import annotations

import numpy as np

from mixwood._support.types import FloatArray

__all__ = ["row_exposure", "without_exposure"]


def row_exposure(row: FloatArray, place: int | None) -> float:
    """Return the exposure of a row, 1 where there is no column of it.

    Examples
    --------
    >>> row_exposure(np.array([3.0, 0.5]), 1), row_exposure(np.array([3.0]), None)
    (0.5, 1.0)
    """
    return 1.0 if place is None else float(row[place])


def without_exposure(row: FloatArray, place: int | None) -> FloatArray:
    """Return the counts of a row.

    Examples
    --------
    >>> without_exposure(np.array([3.0, 0.5, 4.0]), 1)
    array([3., 4.])
    """
    return row if place is None else np.delete(row, place)
