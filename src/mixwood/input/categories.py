"""Columns of categories: text, truth values and the like of a table, as codes 0, 1, 2, ...

Categories are learned once, from the data that a model is fitted to; new data are coded alike.
"""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.matrices import column_numbers

__all__ = [
    "Categories",
    "Category",
    "codes_of",
    "entries",
    "is_number",
    "learn_categories",
    "listed",
]

Category: TypeAlias = str | bool | int | float
Categories: TypeAlias = tuple[Category, ...]


def entries(column: Any) -> list[Any]:
    """Return the entries of a table's column as Python objects, None where missing."""
    return [None if _is_missing(value) else value for value in column.to_numpy().tolist()]


def _is_missing(value: Any) -> bool:
    """Tell whether an entry is None, pd.NA, pd.NaT or NaN."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _plain(value: Any) -> Category:
    """Return a category as it is kept and saved: text, a truth value or a number, else its text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, bool, int, float)) else str(value)


def learn_categories(column: Any) -> Categories | None:
    """Return the categories of a table's column in order, or None if its entries are codes already.

    Categories of pandas keep their order, also those that do not occur; truth values are
    False, True; everything else is sorted. Whole numbers 0, 1, ..., L-1 that all occur (or
    only 0 or 1) are codes.

    Examples
    --------
    >>> import pandas as pd
    >>> learn_categories(pd.Series(["low", "high", None, "low"]))
    ('high', 'low')
    >>> learn_categories(pd.Series([0, 2, 1])) is None
    True
    >>> learn_categories(pd.Series([1990, 2000]))
    (1990, 2000)
    """
    declared = getattr(getattr(column, "cat", None), "categories", None)
    if declared is not None:
        return tuple(_plain(value) for value in declared)
    present = {_plain(value) for value in entries(column) if value is not None}
    if present and all(isinstance(value, bool) for value in present):
        return (False, True)
    if all(isinstance(value, (bool, int, float)) for value in present):
        ordered = sorted(present)
        codes = ordered == list(range(len(ordered))) or ordered in ([0], [1])
        return None if codes else tuple(ordered)
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


def codes_of(column: Any, categories: Categories | None, name: str) -> FloatArray:
    """Return a table's column as codes, NaN where missing; a category never seen is refused.

    Parameters
    ----------
    column : Series
        Of pandas or polars.
    categories : tuple, optional
        What `learn_categories` returned; None where entries are codes.
    name : str
        What the column is called, for messages.
    """
    if categories is None:
        return column_numbers(column, name)
    code_of = {value: float(code) for code, value in enumerate(categories)}
    codes = np.empty(len(column))
    for row, value in enumerate(entries(column)):
        try:
            codes[row] = np.nan if value is None else code_of[_plain(value)]
        except KeyError:
            raise ValueError(
                f"{name} has {shown(value)} in row {row}, which is not one of its categories: "
                f"{listed(categories)}"
            ) from None
    return codes


def listed(categories: Categories, most: int = 8) -> str:
    """Return the first few categories, for messages."""
    names = [repr(value) for value in categories[:most]]
    more = f" and {len(categories) - most} more" if len(categories) > most else ""
    return ", ".join(names) + more


def is_number(value: Any) -> bool:
    """Tell whether an entry is a real number (a truth value is not)."""
    return isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, (bool, np.bool_))
