"""Numbers as people write them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixwood.input.written import (
    learn_notation,
    notation_in_words,
    read_number,
    written_numbers,
)


@pytest.mark.parametrize(
    ("texts", "notation", "numbers"),
    [
        (["12%", "7.5 %", "-3%"], ".%", [12, 7.5, -3]),
        (["12,5%", "7 %"], ",%", [12.5, 7]),
        (["1,234,567", "1,024", "12"], ".", [1234567, 1024, 12]),
        (["1,234.5", "12.25"], ".", [1234.5, 12.25]),
        (["1 234", "22\u00a0000\u202f111", "5"], None, None),  # parted in two ways
        (["1 234", "22 000 111", "5"], ".", [1234, 22000111, 5]),
        (["1'234", "5"], ".", [1234, 5]),
        (["$1,200.50", "-$3", "$-4", "($5.00)"], ".$", [1200.5, -3, -4, -5]),
        (["EUR 12", "EUR 1.200,5"], ",EUR", [12, 1200.5]),
        (["12 €", "1.200 €", "0,5 €"], ",€", [12, 1200, 0.5]),
        (["£5", "£1,000"], ".£", [5, 1000]),
        (["3,14", "2", "-0,5", "1,234"], ",", [3.14, 2, -0.5, 1.234]),
        (["0,123", "0,456"], ",", [0.123, 0.456]),
        (["1.234.567,89", "3"], ",", [1234567.89, 3]),
        (["3,14", 2, 2.5], ",", [3.14, 2, 2.5]),
    ],
)
def test_each_notation_is_learned_and_read(texts, notation, numbers):
    assert learn_notation(texts) == notation
    if notation is not None:
        assert [read_number(text, notation) for text in texts] == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["3.14", "2"],  # plain
        ["$5", "€5"],
        ["12%", "5"],
        ["12%", 0.12],
        ["3,14", "2.5"],
        ["1,2,3", "4"],
        ["01067", "3,4"],
        ["192.168.0.1", "1"],
        ["5-6", "7"],
        ["(5", "6)"],
        ["$5€", "$6€"],
        ["a", "b"],
        [],
    ],
)
def test_what_is_not_written_in_one_way_has_no_notation(texts):
    assert learn_notation(texts) is None


def test_a_share_of_the_entries_may_be_enough():
    texts = ["12%"] * 9 + ["?"]
    assert learn_notation(texts) is None
    assert learn_notation(texts, 0.8) == ".%"


def test_columns_are_read_alike_and_others_refused():
    column = pd.Series(["$1,000", None, "$3.5"])
    np.testing.assert_array_equal(written_numbers(column, ".$", "c"), [1000, np.nan, 3.5])
    np.testing.assert_array_equal(written_numbers(pd.Series([4, 5]), ".$", "c"), [4, 5])
    with pytest.raises(ValueError, match=r"c has '€3' in row 1, .* written with \$"):
        written_numbers(pd.Series(["$1", "€3"]), ".$", "c")


def test_notations_have_words():
    words = [notation_in_words(one) for one in (".", ",", ".%", ",EUR")]
    assert words == [
        "written with thousands separators",
        "written with decimal commas",
        "written with %",
        "written with EUR and decimal commas",
    ]
