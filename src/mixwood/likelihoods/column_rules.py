"""What a column of a table is, by its entries and its name: the rules of `mixwood.choose`.

Each column is looked at alone, by the entries that are not missing, so that none changes what
another is taken for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.categories import entries, is_number
from mixwood.input.dates import are_dates_by_name, is_date
from mixwood.input.written import learn_notation, notation_in_words, plain_number, read_number
from mixwood.likelihoods.overdispersion import varies_more

__all__ = [
    "BINARY",
    "CATEGORIES",
    "COUNTS",
    "FEW_ENTRIES",
    "LEFT_OUT",
    "NUMBERS",
    "SPREAD_COUNTS",
    "Judgement",
    "judge",
]

#: Of fewer entries than this, how many values recur says nothing: numbers are taken as numbers.
FEW_ENTRIES = 20
#: Whole numbers with at most this many values are categories: there is no curve to fit to them.
FEW_VALUES = 5
#: Counts with a mean of at least this are taken as numbers: their variance is seldom the mean, as
#: a Poisson would have it, and a Gaussian fits such large counts just as well.
LARGEST_MEAN = 30.0
#: Text with more categories than this, and than half the entries, names the rows.
MANY_CATEGORIES = 20
#: Text of which every entry differs names the rows from this many on.
FEWEST_NAMED = 6
#: Whole numbers that rise by the same step from row to row, or 1, 2, 3, ... in any order, number
#: the rows from this many rows on.
FEWEST_NUMBERED = 10
#: Under the name of an identifier, this share of different entries makes one.
NEARLY_ALL = 0.9
#: Text is a column of numbers, or of dates, with slips in it from this share of them on.
MOSTLY = 0.8

LEFT_OUT = "left out"
BINARY, CATEGORIES, COUNTS, NUMBERS = "yes or no", "categories", "counts", "numbers"
SPREAD_COUNTS = "overdispersed counts"

_DATES = "dates or times; numbers of days, or parts such as the month, could be used"
_IDENTIFIER = re.compile(
    r"(?i:(.*[\W_])?(id|ids|identifier|uuid|guid|barcode|name)|sample|index|key|row|rownames?"
    r"|unnamed: \d+)?|.*[a-z](Id|ID)"
)

#: The entries of a column that are not missing.
Present: TypeAlias = "FloatArray | list[Any]"


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a column is taken for, why, and its numbers, NaN where missing, if it holds some."""

    kind: str
    reason: str
    numbers: FloatArray | None = field(default=None, repr=False)
    notation: str | None = None

    @property
    def complete(self) -> bool:
        """Whether no number is missing."""
        return self.numbers is None or not np.isnan(self.numbers).any()


def judge(column: Any, label: Any, name: str, *, leave_out: bool) -> Judgement:
    """Return what a column is taken for.

    Parameters
    ----------
    column : Series
        Of pandas or polars.
    label : str or int
        Its label, which may say that it holds identifiers or dates.
    name : str
        What to call it in messages.
    leave_out : bool
        Whether columns are left out that could be used and say nothing about clusters.

    Examples
    --------
    >>> import pandas as pd
    >>> judge(pd.Series(["12%", "7%", "30%"]), "share", "column 'share'", leave_out=True)
    Judgement(kind='numbers', reason='numbers written with %', notation='.%')
    """
    present, rows = _present(column)
    if np.asarray(column.to_numpy()).dtype.kind in "mM":
        return Judgement(LEFT_OUT, _DATES)
    declared = getattr(getattr(column, "cat", None), "categories", None)
    if len(present) == 0:
        return Judgement(LEFT_OUT, "no entries")
    if isinstance(present, list) and declared is None and not all(map(_is_plain, present)):
        dates = all(isinstance(value, (date, time, timedelta)) for value in present)
        return Judgement(LEFT_OUT, _DATES if dates else "neither numbers nor text")
    if leave_out and len(column) > 1 and _is_constant(present):
        return Judgement(LEFT_OUT, "one value only")
    if declared is not None:
        return _judge_categories(len(declared), len(present), "", label, leave_out)
    if not isinstance(present, np.ndarray) and all(map(_is_truth, present)):
        return Judgement(BINARY, "truth values")
    found, notation = _numbers_of(present, rows, name)
    if found is not None:
        _refuse_infinite(found, present, rows, name)
        return _judge_numbers(found, notation, rows, len(column), label, leave_out)
    return _judge_text(list(present), label, leave_out)


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


def _is_truth(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str) or _is_truth(value) or is_number(value)


# --- text


def _judge_text(present: list[Any], label: Any, leave_out: bool) -> Judgement:
    if not all(isinstance(value, str) for value in present):
        return Judgement(LEFT_OUT, "numbers and text in one column")
    if sum(map(is_date, present)) >= MOSTLY * len(present):
        return Judgement(LEFT_OUT, _DATES)
    return _judge_categories(len(set(present)), len(present), "text with ", label, leave_out)


def _judge_categories(
    count: int, n_entries: int, kind: str, label: Any, leave_out: bool
) -> Judgement:
    if leave_out and count > max(MANY_CATEGORIES, n_entries / 2):
        return Judgement(LEFT_OUT, "an identifier: text of which nearly every entry differs")
    if leave_out and count == n_entries >= FEWEST_NAMED:
        return Judgement(LEFT_OUT, "an identifier: text of which every entry differs")
    if leave_out and _is_identifier(label, count, n_entries):
        return Judgement(LEFT_OUT, "an identifier, by its name and entries that differ")
    if count == 2:
        return Judgement(BINARY, "two values")
    return Judgement(CATEGORIES, f"{kind}{count:,} categories")


def _is_identifier(label: Any, count: int, n_entries: int) -> bool:
    """Tell whether a name says so, and nearly all entries differ."""
    if not isinstance(label, str) or not _IDENTIFIER.fullmatch(label.strip()):
        return False
    return count >= NEARLY_ALL * n_entries and n_entries > 1


# --- numbers


def _numbers_of(
    present: Present, rows: Sequence[int], name: str
) -> tuple[FloatArray | None, str | None]:
    """Return entries as floats, and how they are written, if all are numbers; else None.

    A column that is nearly all numbers is refused: a slip must not turn it into text.
    """
    if isinstance(present, np.ndarray):
        return present, None
    read = [plain_number(value) for value in present]
    notation = None
    if None in read:
        notation = learn_notation(present, MOSTLY)
        if notation is not None:
            read = [read_number(value, notation) for value in present]
    wrong = [k for k, number in enumerate(read) if number is None]
    if not wrong:
        return np.array(read, dtype=np.float64), notation
    if any(isinstance(value, str) and re.match(r"\s*[+-]?0\d", value) for value in present):
        return None, None  # codes, such as postal ones
    if len(wrong) <= (1 - MOSTLY) * len(present):
        written = "" if notation is None else f" {notation_in_words(notation)}"
        raise ValueError(
            f"{name} holds numbers{written}, but {shown(present[wrong[0]])} in row "
            f"{rows[wrong[0]]} (from 0); correct it, leave it empty, or leave the column out"
        )
    return None, None


def _refuse_infinite(numbers: FloatArray, given: Any, rows: Sequence[int], name: str) -> None:
    bad = np.isinf(numbers)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"{name} has {given[first]!s:.40} in row {rows[first]} (from 0), which is infinite or "
            "too large for a float; rescale the column, or leave the entry empty"
        )


def _judge_numbers(
    found: FloatArray,
    notation: str | None,
    rows: Sequence[int],
    n_rows: int,
    label: Any,
    leave_out: bool,
) -> Judgement:
    spelled = ~np.isnan(found)  # text may spell nan
    values, at = found[spelled], np.asarray(rows)[spelled]
    if len(values) == 0:
        return Judgement(LEFT_OUT, "no entries")
    if are_dates_by_name(label, values):
        return Judgement(LEFT_OUT, _DATES)
    if leave_out and n_rows > 1 and values.min() == values.max():  # such as "1" and "1.0"
        return Judgement(LEFT_OUT, "one value only")
    kind, reason = _kind_of_numbers(values, at, label, leave_out)
    if notation is not None and kind != LEFT_OUT:
        reason = f"{reason} {notation_in_words(notation)}"
    if kind == NUMBERS and len(values) < n_rows:
        reason = f"{reason}, {n_rows - len(values):,} missing"
    everywhere = np.full(n_rows, np.nan)
    everywhere[at] = values
    return Judgement(kind, reason, everywhere, notation)


def _kind_of_numbers(values: FloatArray, rows: Any, label: Any, leave_out: bool) -> tuple[str, str]:
    low, high = values.min(), values.max()
    whole = bool(np.all(values == np.floor(values)))
    if np.all((values == 0) | (values == 1)):
        return BINARY, "two values"
    if leave_out and whole and _numbers_the_rows(values, rows):
        return LEFT_OUT, "it numbers the rows"
    if leave_out and whole and _is_identifier(label, len(np.unique(values)), len(values)):
        return LEFT_OUT, "an identifier, by its name and entries that differ"
    if len(values) < FEW_ENTRIES:
        return NUMBERS, "numbers"
    if low < high and np.all((values == low) | (values == high)):
        return BINARY, "two values"
    if not whole:
        return NUMBERS, "numbers"
    count = len(np.unique(values))
    if 1 < count <= FEW_VALUES:
        return CATEGORIES, f"whole numbers with {count} values"
    if low >= 0 and values.mean() < LARGEST_MEAN and low < high:
        if varies_more(values):
            return SPREAD_COUNTS, "counts that vary more than a few Poisson distributions do"
        return COUNTS, "counts"
    return NUMBERS, "numbers"


def _numbers_the_rows(values: FloatArray, rows: Any) -> bool:
    """Tell whether whole numbers rise or fall evenly, or are 1, 2, 3, ... in any order."""
    if len(values) < FEWEST_NUMBERED:
        return False
    steps = np.diff(values) / np.diff(rows)
    if steps[0] != 0 and np.all(steps == steps[0]):
        return True
    low, high = values.min(), values.max()
    return bool(
        low in (0, 1) and high - low == len(values) - 1 and len(np.unique(values)) == len(values)
    )
