"""The groups of rows as users give them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixwood.input.groups import checked_groups, group_codes

LEVELS = pd.CategoricalDtype(["lo", "mid", "hi"])


@pytest.mark.parametrize(
    ("given", "names", "codes"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        ([10, 9, 10], (9, 10), [1, 0, 1]),
        (np.array([True, False, True]), (False, True), [1, 0, 1]),
        (["x", 2, "x"], (2, "x"), [1, 0, 1]),
        (pd.Series(["lo", "hi", "lo"], dtype=LEVELS), ("lo", "hi"), [0, 1, 0]),
        (pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"]), ("lo", "hi"), [0, 1, 0]),
        (pd.to_datetime(["2024-02-01", "2024-01-01", "2024-02-01"]), None, [1, 0, 1]),
        (pd.Series(["b", "a", "b"], index=[5, 6, 7]), ("a", "b"), [1, 0, 1]),
    ],
)  # fmt: skip
def test_names_and_order(given, names, codes):
    groups = checked_groups(given, 3)
    assert groups.codes.tolist() == codes
    assert names is None or groups.names == names
    assert groups.sizes.sum() == 3


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_group_is_refused(missing):
    with pytest.raises(ValueError, match=r"groups must have a group for every row, .* in row 1"):
        checked_groups(["a", missing, "b"], 3)


@pytest.mark.parametrize("wrong", [["a", "b"], "abc", [["a"], ["b"], ["c"]], 3])
def test_a_wrong_number_is_refused(wrong):
    with pytest.raises(ValueError, match="groups must be 3 names or numbers, one per row"):
        checked_groups(wrong, 3)


def test_names_must_differ_as_text():
    with pytest.raises(ValueError, match="differ as text"):
        checked_groups([1, "1", 2], 3)


def test_an_unknown_group_is_named():
    groups = checked_groups(list("abc"), 3)
    with pytest.raises(ValueError, match=r"a must be one of the groups \('a', 'b', 'c'\), got 'z'"):
        groups.index("z", "a")


def test_names_read_as_text_are_those_of_the_data():
    groups = checked_groups([10, 9, 10], 3)
    assert group_codes(["10", "9", "11"], 3, groups).tolist() == [1, 0, 2]
    assert groups.index("10") == groups.index(10) == 1
    assert group_codes([True, "False"], 2, checked_groups([True, False], 2)).tolist() == [1, 0]


def test_new_rows():
    groups = checked_groups([1, 2, 2], 3)
    assert group_codes([2, 7, 1], 3, groups).tolist() == [1, 2, 0]
    assert group_codes(np.int64(2), 2, groups).tolist() == [1, 1]
    assert groups.in_words() == "2 groups of 1 to 2 rows"
