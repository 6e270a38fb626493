"""Numbers as people write them: 12%, $1,200.50, EUR 12, 1,234,567, 3,14.

How a column is written is learned once, from the table that a model is fitted to, and later tables
are read in the same way. A notation is a short string that can be saved: the decimal mark, then the
unit if there is one, such as ``".%"``, ``",EUR"`` or ``","``. Numbers that Python reads have none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.categories import entries, is_number

__all__ = ["learn_notation", "notation_in_words", "plain_number", "read_number", "written_numbers"]

_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD"
_MONEY = rf"[$€£¥₹]|{_CODES}"
_BLANK = "[ \u00a0\u202f]"  # also those that do not break a line
_WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>[+\-\u2212]?){_BLANK}?(?P<before>{_MONEY})?{_BLANK}?"
    rf"(?P<inner>[+\-\u2212]?)(?P<digits>[\d.,](?:[\d.,']|{_BLANK}(?=\d))*)"
    rf"{_BLANK}?(?P<after>%|{_MONEY})?(?P<close>\))?"
)
#: Digits by their decimal mark: groups of three, all parted alike, or none.
_DIGITS = {
    mark: re.compile(
        rf"[1-9]\d{{0,2}}(?P<between>[{other}']|{_BLANK})\d{{3}}((?P=between)\d{{3}})*([{mark}]\d+)?"
        rf"|\d+([{mark}]\d*)?|[{mark}]\d+"
    )
    for mark, other in ((".", ","), (",", "."))
}
_PADDED = re.compile(r"\s*[+-]?0\d")  # a code, such as a postal one: no number is written like this


def plain_number(value: Any) -> float | None:
    """Return an entry that is a number, or that Python reads as one; infinite where it overflows.

    Examples
    --------
    >>> plain_number("1e3"), plain_number("12%"), plain_number("01067")
    (1000.0, None, None)
    """
    if isinstance(value, str):
        if _PADDED.match(value):
            return None
    elif not is_number(value):
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return float("inf")


def learn_notation(present: Sequence[Any], least: float = 1.0) -> str | None:
    """Return how the numbers of a column are written, or None if they are plain or no numbers.

    Parameters
    ----------
    present : sequence
        The entries that are not missing.
    least : float
        The share of them that must be written in this way.

    Examples
    --------
    >>> learn_notation(["$1,200.50", "$3"]), learn_notation(["12%", "7.5 %"])
    ('.$', '.%')
    >>> learn_notation(["3,14", "2"]), learn_notation(["1,234,567", "1,024"])
    (',', '.')
    >>> learn_notation(["3.14", "2"]) is None
    True
    """
    texts = [value for value in present if isinstance(value, str)]
    if not texts or all(plain_number(text) is not None for text in texts):
        return None
    units = Counter(unit for text in texts if (unit := _unit(text)) is not None)
    if not units:
        return None
    unit = units.most_common(1)[0][0]
    for notation in (f".{unit}", f",{unit}"):
        read = [read_number(value, notation) is not None for value in present]
        new = any(good and plain_number(v) is None for good, v in zip(read, present, strict=True))
        if new and sum(read) >= least * len(present):
            return notation
    return None


def read_number(value: Any, notation: str) -> float | None:
    """Return an entry in a notation as a float, or None if it is not written so.

    Examples
    --------
    >>> read_number("12.5%", ".%"), read_number("(1.200,50 €)", ",€"), read_number("$5", ".€")
    (12.5, -1200.5, None)
    """
    if not isinstance(value, str):  # 0.12 among percentages may be 12 or 0.12 of them
        return plain_number(value) if not notation.endswith("%") else None
    if _PADDED.match(value):
        return None
    found = _WRITTEN.fullmatch(value.strip())
    mark, unit = notation[0], notation[1:]
    if found is None or (found["before"] or found["after"] or "") != unit:
        return plain_number(value) if not unit and mark == "." else None
    signs = found["sign"] + found["inner"]
    brackets = bool(found["open"])
    if len(signs) + brackets > 1 or brackets != bool(found["close"]):
        return None
    if (found["before"] and found["after"]) or not _DIGITS[mark].fullmatch(found["digits"]):
        return None
    digits = re.sub(rf"[^\d{mark}]", "", found["digits"]).replace(mark, ".")
    return -float(digits) if brackets or signs in ("-", "\u2212") else float(digits)


def written_numbers(column: Any, notation: str, name: str) -> FloatArray:
    """Return a column of a table as floats, NaN where missing; other notations are refused.

    A column of numbers is taken as it is.
    """
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    numbers = np.empty(len(column))
    for row, value in enumerate(entries(column)):
        number = np.nan if value is None else read_number(value, notation)
        if number is None:
            raise ValueError(
                f"{name} has {shown(value)} in row {row}, but its numbers are "
                f"{notation_in_words(notation)}"
            )
        numbers[row] = number
    return numbers


def notation_in_words(notation: str) -> str:
    """Return how numbers are written.

    Examples
    --------
    >>> notation_in_words(".%"), notation_in_words(",")
    ('written with %', 'written with decimal commas')
    """
    mark, unit = notation[0], notation[1:]
    if not unit:
        return f"written with {'thousands separators' if mark == '.' else 'decimal commas'}"
    return f"written with {unit}{' and decimal commas' if mark == ',' else ''}"


def _unit(text: str) -> str | None:
    """Return the unit of a number, "" without one, or None where there is no number."""
    found = _WRITTEN.fullmatch(text.strip())
    return None if found is None else found["before"] or found["after"] or ""
