"""Dates and times as tables have them."""

from __future__ import annotations

import numpy as np
import pytest

from mixwood.input.dates import are_dates_by_name, is_date


@pytest.mark.parametrize(
    "text",
    [
        "2021-03-14",
        "2021/3/14",
        "2021.03.14",
        "2021-03",
        "2021-03-14T09:26:53Z",
        "2021-03-14 09:26:53.5+01:00",
        "14.03.2021",
        "14/03/2021 08:15",
        "3/14/2021",
        "3/14/21",
        "14-Mar-21",
        "14-Mar",
        "14 March 2021",
        "14. Dec 2021",
        "March 14, 2021",
        "Mar-21",
        "Mar 2021",
        "Sunday, March 14th, 2021",
        "Sun 14 Mar 2021 9:26 pm",
        "09:26",
        "9:26 AM",
        " 2021-03-14 ",
    ],
)
def test_dates_and_times_are_recognized(text):
    assert is_date(text)


@pytest.mark.parametrize(
    "text",
    ["", "deck 12", "march", "3.14", "99-99-99", "2021-13-01", "1.2.34", "sample 3", "may", "a:30"],
)
def test_other_text_is_no_date(text):
    assert not is_date(text)


@pytest.mark.parametrize(
    ("label", "values", "expected"),
    [
        ("date", [44269, 44270], True),
        ("visit_date", [44269.5, 44270.25], True),
        ("Date of birth", [19700101, 20211231], True),
        ("timestamp", [1.6e9, 1.7e9], True),
        ("date", [20211331, 20210101], False),
        ("date", [1, 2], False),
        ("candidate", [44269, 44270], False),
        ("days", [44269, 44270], False),
        ("weight", [44269, 44270], False),
        (3, [44269, 44270], False),
    ],
)
def test_numbers_are_dates_only_under_such_a_name(label, values, expected):
    assert are_dates_by_name(label, np.array(values, dtype=float)) is expected
