"""Which columns are clustered, and which likelihood is chosen for them."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.cli.choosing import chosen, named
from mixwood.cli.columns import select
from mixwood.cli.messages import InputError
from mixwood.readers import Loaded

RNG = np.random.default_rng(3)
NUMBERS = pd.DataFrame(RNG.normal(size=(20, 3)), columns=["a", "b", "c"])
BITS = pd.DataFrame(RNG.integers(0, 2, (20, 3)), columns=["a", "b", "c"])
WITH_HOLES = NUMBERS.mask(RNG.random((20, 3)) < 0.1)
WIDE = pd.DataFrame(RNG.normal(size=(20, 31)))


@pytest.mark.parametrize(
    ("values", "likelihood", "reason"),
    [
        (NUMBERS, mw.AutoGaussian, "all 3 columns are numbers"),
        (NUMBERS[["a"]], mw.AutoGaussian, "one column"),
        (WIDE, mw.AutoGaussian, "all 31 columns are numbers"),
        (WITH_HOLES, mw.AutoGaussian, "it takes missing entries"),
        (BITS, mw.Bernoulli, "0 or 1"),
        (BITS.astype(bool), mw.Bernoulli, "0 or 1"),
        (csr_array([[0, 3], [1, 0]]), mw.Multinomial, "sparse counts"),
        (csr_array([[0, 3.5], [2, 0]]), mw.AutoGaussian, "all 2 columns"),
    ],
)
def test_the_likelihood_fits_the_data(values, likelihood, reason):
    taken, found, why = chosen(values, "x", leave_out=True)
    assert type(found) is likelihood
    assert reason in why
    found.check(taken)


@pytest.mark.parametrize(
    ("values", "scale", "expected", "reason"),
    [
        (NUMBERS, "learn", mw.AutoGaussian(), "all 3 columns are numbers"),
        (NUMBERS, "data", mw.Gaussian(scale="data"), "all 3 columns are numbers"),
        (NUMBERS, "paper", mw.Gaussian(scale="paper"), "all 3 columns are numbers"),
        (WIDE, "data", mw.DiagonalGaussian(scale="data"), "31 columns of numbers, more than 30"),
        (WITH_HOLES, "learn", mw.AutoGaussian(), "missing"),
        (WITH_HOLES, "data", mw.Gaussian(scale="data"), "missing"),
    ],
)
def test_a_scale_goes_to_the_likelihood_that_is_chosen(values, scale, expected, reason):
    _, found, why = chosen(values, "x", leave_out=True, scale=scale)
    assert found == expected
    assert reason in why


def test_a_scale_goes_to_the_parts_that_have_one():
    table = NUMBERS.assign(d=["x", "y", "z", "z"] * 5)
    _, found, _ = chosen(table, "x", leave_out=True, scale="data")
    assert found.parts[("a", "b", "c")] == mw.Gaussian(scale="data")
    assert found.parts["d"] == mw.Categorical()


@pytest.mark.parametrize(
    ("name", "values", "scale", "message"),
    [
        (None, BITS, "data", "--scale data: Bernoulli has no scale"),
        (None, BITS.assign(d=["x", "y", "z", "z"] * 5), "data", "Product has no scale"),
        (None, WIDE, "paper", "DiagonalGaussian takes scale 'learn' or 'data', got 'paper'"),
        (None, csr_array([[0, 3], [1, 0]]), "learn", "Multinomial has no scale"),
        ("SphericalGaussian", NUMBERS, "paper", "SphericalGaussian takes scale 'learn' or 'data'"),
        ("AutoGaussian", NUMBERS, "data", "AutoGaussian takes scale 'learn', got 'data'"),
        ("Product", BITS, "data", "Product has no scale"),
    ],
)
def test_a_scale_that_is_not_taken_is_refused(name, values, scale, message):
    find = chosen if name is None else partial(named, name)
    with pytest.raises(InputError, match=re.escape(message)):
        find(values, "x", leave_out=True, scale=scale)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"d": ["x", "y", "z", "z"] * 5}, "categories and numbers"),
        ({"d": ["x", "y"] * 10}, "yes or no columns and numbers"),
        ({"d": [0, 1] * 10}, "yes or no columns and numbers"),
        ({"d": [True, False] * 10}, "yes or no columns and numbers"),
        ({"d": [0, 3] * 5 + [1, 2, 7, 8, 9] * 2}, "counts and numbers"),
    ],
)
def test_mixed_tables_become_products(more, reason):
    _, found, why = chosen(NUMBERS.assign(**more), "x", leave_out=True)
    assert type(found) is mw.Product
    assert reason in why


def test_large_sparse_numbers_are_refused():
    large = csr_array((np.array([0.5]), ([0], [0])), shape=(10**4, 10**4))
    with pytest.raises(InputError, match="must be counts"):
        chosen(large, "x", leave_out=True)


def selected(table, columns=(), exclude=(), label=None, **more):
    return select(Loaded(table, "t.csv", "csv", **more), list(columns), list(exclude), label)


def test_columns_by_name_pattern_and_number():
    table = NUMBERS.assign(**{"a,b": 1.5 * NUMBERS["a"], "width 1": 2.0, "width 2": 3.0})
    names = lambda *args: list(selected(table, *args).values.columns)  # noqa: E731
    assert names(["c,a"]) == ["a", "c"]
    assert names(["a,b"]) == ["a,b"]
    assert names(["width*", "0"]) == ["a", "width 1", "width 2"]
    assert names([], ["b", "width*", "a,b"]) == ["a", "c"]


def test_labels_are_known_and_not_clustered():
    table = NUMBERS.assign(kind=["x", "y"] * 10)
    selection = selected(table, label="kind")
    assert list(selection.values.columns) == ["a", "b", "c"]
    assert selection.known.levels == ["x", "y"]
    assert selection.known.codes == [0, 1] * 10
    beside = selected(NUMBERS, label="y", others={"y": np.arange(20)})
    assert len(beside.known.levels) == 20


def test_a_column_that_looks_like_labels_is_hinted_at():
    table = NUMBERS.assign(Class=np.arange(20) // 5)
    assert "--label Class" in selected(table).hint
    assert selected(table, label="Class").hint is None
    assert selected(NUMBERS).hint is None


def test_useless_columns_are_left_out_unless_asked_for():
    table = NUMBERS.assign(
        id=np.arange(1, 21),
        flat=7,
        none=np.nan,
        when=pd.date_range("2020-01-01", periods=20),
        who=[f"person {k}" for k in range(20)],
        longer=[f"person {k}" for k in range(20)],
    )
    table = pd.concat([table, table.assign(id=table["id"] + 20, longer=table["longer"] + "b")])
    selection = selected(table)
    assert list(selection.values.columns) == ["a", "b", "c", "who"]
    assert list(selection.left_out) == ["id", "flat", "none", "when", "longer"]
    assert list(selected(table, ["id,flat"]).values.columns) == ["id", "flat"]


def test_sparse_rows_have_no_columns_to_choose():
    loaded = Loaded(csr_array([[1, 0], [0, 2]]), "x.mtx", "mtx", words=("a", "b"))
    assert select(loaded, [], [], None).words == ("a", "b")
    with pytest.raises(InputError, match="for tables"):
        select(loaded, ["a"], [], None)
    with pytest.raises(InputError, match="labels"):
        select(loaded, [], [], "y")
