"""Dates and times as tables have them: written out, or as the numbers of a spreadsheet."""

from __future__ import annotations

import re

import numpy as np

from mixwood._support.types import FloatArray

__all__ = ["are_dates_by_name", "is_date"]

_DAY, _MONTH = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])"
_NAMED = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?"
    r"|oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s?([ap]\.?m\.?)?\s?(z|utc|gmt|[+-]\d{2}:?\d{2})?"
_DATE = "|".join(
    (
        rf"\d{{4}}(?P<mark>[-/.]){_MONTH}(?P=mark){_DAY}",  # 2021-03-14
        rf"\d{{4}}[-/]{_MONTH}",  # 2021-03
        rf"({_DAY}[-/.]{_MONTH}|{_MONTH}[-/]{_DAY})[-/.]\d{{4}}",  # 14.03.2021, 3/14/2021
        rf"({_DAY}[-/]{_MONTH}|{_MONTH}[-/]{_DAY})[-/]\d{{2}}",  # 3/14/21
        rf"{_DAY}(st|nd|rd|th|\.)?[\s-]*{_NAMED}([\s,-]*(\d{{4}}|'?\d{{2}}))?",  # 14-Mar-21
        rf"{_NAMED}\s*{_DAY}(st|nd|rd|th)?,?\s+\d{{4}}",  # March 14, 2021
        rf"{_NAMED}[\s,-]*(\d{{4}}|'?\d{{2}})",  # Mar-21
    )
)
_WRITTEN = re.compile(
    rf"((mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?(({_DATE})(,?[t\s]\s*{_TIME})?|{_TIME})",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(.*[\W_])?(date|day|datum|time|timestamp|datetime)([\W_].*)?", re.IGNORECASE)
#: The days of a spreadsheet from 1954 to 2064, and seconds since 1970 from 2001 on.
_SPREADSHEET, _SECONDS = (20_000, 60_000), (1e9, 5e9)


def is_date(text: str) -> bool:
    """Tell whether a text is a date, a time, or both.

    Examples
    --------
    >>> [is_date(text) for text in ("2021-03-14T09:26", "14-Mar-21", "March 14, 2021", "9:26 pm")]
    [True, True, True, True]
    >>> [is_date(text) for text in ("deck 12", "3.14", "99-99-99", "sample 3")]
    [False, False, False, False]
    """
    return _WRITTEN.fullmatch(text.strip()) is not None


def are_dates_by_name(label: object, values: FloatArray) -> bool:
    """Tell whether whole numbers under the name of a date are one: 20210314, or 44269 in Excel.

    Examples
    --------
    >>> are_dates_by_name("visit date", np.array([44269.0, 44270.5]))
    True
    >>> are_dates_by_name("date of birth", np.array([20210314.0, 20210401.0]))
    True
    >>> are_dates_by_name("days", np.array([44269.0]))
    False
    """
    if not isinstance(label, str) or not _NAMES.fullmatch(label) or not len(values):
        return False
    low, high = values.min(), values.max()
    if any(least <= low and high <= most for least, most in (_SPREADSHEET, _SECONDS)):
        return True
    if low < 1900_01_01 or high > 2100_12_31 or np.any(values != np.floor(values)):
        return False
    month, day = values // 100 % 100, values % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))
