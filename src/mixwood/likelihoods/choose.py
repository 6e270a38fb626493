"""Which likelihood suits a table: the one rule book, column by column, with a reason for each.

`mixwood.Product.from_frame` and the command line both use it, so one table gets one model. The
rules look at the entries that are not missing, and know nothing of what columns mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.categories import entries, is_number, learn_categories
from mixwood.input.matrices import is_table, table_columns
from mixwood.likelihoods.auto_gaussian import AutoGaussian
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.bernoulli import Bernoulli
from mixwood.likelihoods.categorical import Categorical
from mixwood.likelihoods.diagonal_gaussian import DiagonalGaussian
from mixwood.likelihoods.gaussian import Gaussian
from mixwood.likelihoods.poisson import Poisson
from mixwood.likelihoods.product import Product
from mixwood.likelihoods.table_layout import plain_label

__all__ = ["LEFT_OUT", "Choice", "ColumnChoice", "choose", "judge_columns", "product_for"]

#: Of fewer entries than this, how many values recur says nothing: numbers are taken as numbers.
FEW_ENTRIES = 20
#: Whole numbers with at most this many values are categories: there is no curve to fit to them.
FEW_VALUES = 5
#: Counts with a mean of at least this are taken as numbers: their variance is seldom the mean, as
#: a Poisson would have it, and a Gaussian fits such large counts just as well.
LARGEST_MEAN = 30.0
#: Text with more categories than this, and than half the entries, names the rows.
MANY_CATEGORIES = 20
#: Whole numbers 0, 1, 2, ... or 1, 2, 3, ..., each once and in any order, number the rows from
#: this many rows on.
FEWEST_NUMBERED = 10
#: Text is a column of numbers with slips in it from this share of numbers on.
MOSTLY_NUMBERS = 0.8
#: At most this many columns of numbers have a common covariance matrix: its entries grow with
#: the square of the columns, and a cluster has to have rows for all of them.
MOST_TOGETHER = 30

LEFT_OUT = "left out"
_DATES = "dates or times; numbers of days, or parts such as the month, could be used"
_BINARY, _CATEGORIES, _COUNTS, _NUMBERS = "yes or no", "categories", "counts", "numbers"

_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?\s*", re.DOTALL
)
_PADDED = re.compile(r"\s*[+-]?0\d")  # a code, such as a postal one: no number is written like this


#: The entries of a column that are not missing.
Present: TypeAlias = "FloatArray | list[Any]"


class ColumnChoice(NamedTuple):
    """What a column is taken for, and why."""

    column: Any
    kind: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """The likelihood for a table, what each column is taken for, and all of it in a few words."""

    likelihood: Likelihood
    columns: tuple[ColumnChoice, ...]
    why: str


def choose(
    table: Any, *, name: str = "table", leave_out: bool = True, structure: bool = True
) -> Choice:
    """Return the likelihood for a table: of one kind of columns its own, else a `Product`.

    Parameters
    ----------
    table : DataFrame
        Of pandas or polars.
    name : str
        What the caller calls it, for messages.
    leave_out : bool
        Whether columns are left out that could be used and say nothing about clusters:
        constants, names and numbers of the rows.
    structure : bool
        Whether the covariances of columns of numbers, if there are no others, are left open:
        `AutoGaussian`. They are what they would be in a `Product` otherwise.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"height": [1.62, 1.75, 1.81], "name": ["ann", "bo", "cy"]})
    >>> chosen = choose(frame)
    >>> chosen.columns[1]
    ColumnChoice(column='name', kind='categories', reason='text with 3 categories')
    >>> chosen.why
    'the table mixes categories and numbers'
    >>> choose(frame[["height"]]).likelihood
    AutoGaussian()
    """
    columns, complete = _judged(table, name, leave_out)
    parts = _parts(columns, complete, name)
    if len(parts) == 1 and not _of_kind(columns, LEFT_OUT) and not _spelled_out(table, columns):
        [likelihood] = parts.values()
        if structure and complete and _of_kind(columns, _NUMBERS):
            likelihood = AutoGaussian()
        return Choice(likelihood, columns, _why(likelihood, columns, codes=True))
    product = Product(parts, notes={one.column: one.reason for one in columns})
    return Choice(product, columns, _why(next(iter(parts.values())), columns, codes=False))


def product_for(table: Any, *, name: str = "table", leave_out: bool = True) -> Product:
    """Return the choice for a table as a `Product`, whatever its columns; see `choose`."""
    columns, complete = _judged(table, name, leave_out)
    notes = {one.column: one.reason for one in columns}
    return Product(_parts(columns, complete, name), notes=notes)


def judge_columns(
    table: Any, *, name: str = "table", leave_out: bool = True
) -> tuple[ColumnChoice, ...]:
    """Return what each column of a table is taken for, and why; see `choose`."""
    return _judged(table, name, leave_out)[0]


def _judged(table: Any, name: str, leave_out: bool) -> tuple[tuple[ColumnChoice, ...], bool]:
    """Return what each column is taken for, and whether those of numbers have all entries."""
    if not is_table(table):
        raise TypeError(f"{name} must be a pandas or polars table, got {shown(table)}")
    judged, complete = [], True
    for label, column in zip(table.columns, table_columns(table), strict=True):
        plain = plain_label(label)
        present, rows = _present(column)
        kind, reason = _judge(column, present, rows, f"column {plain!r} of {name}", leave_out)
        judged.append(ColumnChoice(plain, kind, reason))
        complete = complete and (kind != _NUMBERS or len(present) == len(column))
    return tuple(judged), complete


# --- from the columns to a likelihood


def _of_kind(columns: Sequence[ColumnChoice], kind: str) -> list[Any]:
    return [one.column for one in columns if one.kind == kind]


def _parts(columns: Sequence[ColumnChoice], complete: bool, name: str) -> dict[Any, Likelihood]:
    """Return a likelihood for each kind of column."""
    together = complete and len(_of_kind(columns, _NUMBERS)) <= MOST_TOGETHER
    likelihoods: dict[str, Likelihood] = {
        _BINARY: Bernoulli(),
        _CATEGORIES: Categorical(),
        _COUNTS: Poisson(),
        _NUMBERS: Gaussian() if together else DiagonalGaussian(),
    }
    keys = {kind: _of_kind(columns, kind) for kind in likelihoods}
    parts = {_key(keys[kind]): chosen for kind, chosen in likelihoods.items() if keys[kind]}
    if not parts:
        reasons = "; ".join(f"{one.column!r}: {one.reason}" for one in columns)
        raise ValueError(f"{name} has no column that could be used ({shown(reasons)})")
    return parts


def _key(labels: Sequence[Any]) -> Any:
    return labels[0] if len(labels) == 1 else tuple(labels)


def _spelled_out(table: Any, columns: Sequence[ColumnChoice]) -> bool:
    """Tell whether some categories are not codes, so that only a `Product` can read them."""
    if not any(one.kind in (_BINARY, _CATEGORIES) for one in columns):
        return False
    known = map(learn_categories, table_columns(table))
    return any(categories not in (None, (False, True)) for categories in known)


def _why(likelihood: Likelihood, columns: Sequence[ColumnChoice], *, codes: bool) -> str:
    """Return in a few words why a likelihood, or one for each kind of columns, was chosen."""
    order = (_CATEGORIES, _BINARY, _COUNTS, _NUMBERS)
    kinds = [kind for kind in order if _of_kind(columns, kind)]
    words = [f"{kind} columns" if kind == _BINARY else kind for kind in kinds]
    width = len(_of_kind(columns, kinds[0]))
    if len(kinds) > 1:
        return f"the table mixes {', '.join(words[:-1])} and {words[-1]}"
    if kinds == [_BINARY]:
        return "all entries are 0 or 1" if codes else "all columns are yes or no"
    if kinds != [_NUMBERS]:
        return f"all columns are {kinds[0]}"
    if width > MOST_TOGETHER and not likelihood.is_open:
        return f"there are {width:,} columns of numbers, more than {MOST_TOGETHER}"
    if likelihood.skips_missing:
        return "the columns are numbers, and entries are missing, which it integrates out"
    return "there is one column of numbers" if width == 1 else f"all {width} columns are numbers"


# --- what a column is


def _judge(
    column: Any, present: Present, rows: Sequence[int], name: str, leave_out: bool
) -> tuple[str, str]:
    """Return what a column is taken for, and why."""
    if np.asarray(column.to_numpy()).dtype.kind in "mM":
        return LEFT_OUT, _DATES
    declared = getattr(getattr(column, "cat", None), "categories", None)
    if len(present) == 0:
        return LEFT_OUT, "no entries"
    if isinstance(present, list) and declared is None and not all(map(_is_plain, present)):
        dates = all(isinstance(value, (date, time, timedelta)) for value in present)
        return LEFT_OUT, _DATES if dates else "neither numbers nor text"
    if leave_out and len(column) > 1 and _is_constant(present):
        return LEFT_OUT, "one value only"
    if declared is not None:
        return _judge_categories(len(declared), len(present), "", leave_out)
    if not isinstance(present, np.ndarray):
        if all(isinstance(value, (bool, np.bool_)) for value in present):
            return _BINARY, "truth values"
        numbers = _spelled_numbers(present, rows, name)
    else:
        numbers = present
    if numbers is not None:
        _refuse_infinite(numbers, present, rows, name)
        return _judge_numbers(numbers[~np.isnan(numbers)], leave_out)
    if not all(isinstance(value, str) for value in present):
        return LEFT_OUT, "numbers and text in one column"
    if all(map(_DATE.fullmatch, present)):
        return LEFT_OUT, _DATES
    return _judge_categories(len(set(present)), len(present), "text with ", leave_out)


def _present(column: Any) -> tuple[Present, Sequence[int]]:
    """Return the entries that are not missing, numbers as an array, and the rows they are in."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "iuf":
        floats = values.astype(np.float64)
        rows = np.flatnonzero(~np.isnan(floats))
        return floats[rows], rows  # type: ignore[return-value]
    present = [(value, row) for row, value in enumerate(entries(column)) if value is not None]
    return [value for value, _ in present], [row for _, row in present]


def _is_constant(present: Present) -> bool:
    if isinstance(present, np.ndarray):
        return bool(present.min() == present.max())
    return len(set(present)) == 1


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, bool, np.bool_)) or is_number(value)


def _spelled_numbers(present: list[Any], rows: Sequence[int], name: str) -> FloatArray | None:
    """Return entries as floats if all are, or spell, numbers; None if they are something else.

    A column that is nearly all numbers is refused: a slip must not turn it into text.
    """
    if any(isinstance(value, str) and _PADDED.match(value) for value in present):
        return None
    numbers = [_number(value) for value in present]
    wrong = [k for k, number in enumerate(numbers) if number is None]
    if not wrong:
        return np.array(numbers, dtype=np.float64)
    if len(wrong) <= (1 - MOSTLY_NUMBERS) * len(present):
        raise ValueError(
            f"{name} holds numbers, but {shown(present[wrong[0]])} in row {rows[wrong[0]]} (from "
            "0); correct it, leave it empty, or leave the column out"
        )
    return None


def _number(value: Any) -> float | None:
    """Return an entry that is or spells a number as a float, infinite where that overflows."""
    if not is_number(value) and not isinstance(value, str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return float("inf")


def _refuse_infinite(numbers: FloatArray, given: Any, rows: Sequence[int], name: str) -> None:
    bad = np.isinf(numbers)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"{name} has {given[first]!s:.40} in row {rows[first]} (from 0), which is infinite or "
            "too large for a float; rescale the column, or leave the entry empty"
        )


def _judge_categories(count: int, n_entries: int, kind: str, leave_out: bool) -> tuple[str, str]:
    if leave_out and count > max(MANY_CATEGORIES, n_entries / 2):
        return LEFT_OUT, "text of which nearly every entry differs"
    if count == 2:
        return _BINARY, "two values"
    return _CATEGORIES, f"{kind}{count:,} categories"


def _judge_numbers(values: FloatArray, leave_out: bool) -> tuple[str, str]:
    if len(values) == 0:  # text that spells nan
        return LEFT_OUT, "no entries"
    low, high = values.min(), values.max()
    if np.all((values == 0) | (values == 1)):
        return _BINARY, "two values"
    if leave_out and _numbers_the_rows(values, low, high):
        return LEFT_OUT, "it numbers the rows"
    if len(values) < FEW_ENTRIES:
        return _NUMBERS, "numbers"
    if low < high and np.all((values == low) | (values == high)):
        return _BINARY, "two values"
    if np.any(values != np.floor(values)):
        return _NUMBERS, "numbers"
    count = len(np.unique(values))
    if 1 < count <= FEW_VALUES:
        return _CATEGORIES, f"whole numbers with {count} values"
    if low >= 0 and values.mean() < LARGEST_MEAN and low < high:
        return _COUNTS, "counts"
    return _NUMBERS, "numbers"


def _numbers_the_rows(values: FloatArray, low: float, high: float) -> bool:
    return bool(
        len(values) >= FEWEST_NUMBERED
        and low in (0, 1)
        and high - low == len(values) - 1
        and len(np.unique(values)) == len(values)
        and np.all(values == np.floor(values))
    )
