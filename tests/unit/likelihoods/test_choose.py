"""The rule book: what columns are taken for and why, for Python and the command line alike."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mixwood as mw
from mixwood.cli.choosing import chosen
from mixwood.cli.columns import select
from mixwood.likelihoods.choose import LEFT_OUT, choose
from mixwood.likelihoods.table_layout import labels_of
from mixwood.readers import Loaded
from mixwood.reference import family_of

RNG = np.random.default_rng(5)
N = 40
DAYS = pd.date_range("2020-01-01", periods=N)
COLUMNS = {
    # what it is taken for, a word of the reason, the entries
    "real": ("numbers", "numbers", RNG.normal(size=N)),
    "holes": ("numbers", "numbers", np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(size=N))),
    "large": ("numbers", "numbers", RNG.integers(1000, 9000, N)),
    "negative": ("numbers", "numbers", RNG.integers(-9, 10, N)),
    "decimals": ("numbers", "numbers", [decimal.Decimal(k) / 7 for k in range(N)]),
    "spelled": ("numbers", "numbers", [f"{x:.3f}" for x in RNG.normal(size=N)]),
    "counts": ("counts", "counts", RNG.poisson(4, N)),
    "bits": ("yes or no", "two values", RNG.integers(0, 2, N)),
    "one two": ("yes or no", "two values", 1 + RNG.integers(0, 2, N)),
    "truth": ("yes or no", "truth", RNG.random(N) < 0.5),
    "sex": ("yes or no", "two values", RNG.choice(["f", "m"], N)),
    "stars": ("categories", "whole numbers with 4", 1 + np.arange(N) % 4),
    "city": ("categories", "text with 3 categories", RNG.choice(["ulm", "bonn", "köln"], N)),
    "postal": ("categories", "text with 3 categories", RNG.choice(["01067", "89073", "5"], N)),
    "declared": ("categories", "3 categories", pd.Categorical([1, 2] * 20, categories=[1, 2, 3])),
    "id": (LEFT_OUT, "numbers the rows", RNG.permutation(N) + 1),
    "flat": (LEFT_OUT, "one value", np.full(N, 7)),
    "flat with holes": (LEFT_OUT, "one value", [7.0, np.nan] * (N // 2)),
    "name": (LEFT_OUT, "nearly every entry differs", [f"person {k}" for k in range(N)]),
    "day": (LEFT_OUT, "dates", DAYS),
    "day with zone": (LEFT_OUT, "dates", DAYS.tz_localize("UTC")),
    "day as text": (LEFT_OUT, "dates", DAYS.strftime("%Y-%m-%d")),
    "german day": (LEFT_OUT, "dates", [f"{1 + k % 5}.3.2021" for k in range(N)]),
    "clock": (LEFT_OUT, "dates", [datetime.time(k % 24) for k in range(N)]),
    "nothing": (LEFT_OUT, "no entries", np.full(N, np.nan)),
    "lists": (LEFT_OUT, "neither", [[k] for k in range(N)]),
    "mixed": (LEFT_OUT, "numbers and text", [1.5, "x"] * (N // 2)),
}
FRAME = pd.DataFrame({name: values for name, (_, _, values) in COLUMNS.items()})


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_is_taken_for_what_it_is(name):
    kind, reason, _ = COLUMNS[name]
    [_, judged] = choose(FRAME[["real", name]].set_axis(["real", "other"], axis=1)).columns
    assert judged.column == "other"
    assert judged.kind == kind
    assert reason in judged.reason


def test_polars_columns_are_judged_alike():
    usable = [c for c in FRAME if c not in ("declared", "lists", "mixed", "clock", "decimals")]
    ours = choose(FRAME[usable])
    assert choose(pl.DataFrame(FRAME[usable].to_dict("list"))).columns == ours.columns


@pytest.mark.parametrize(
    "names",
    [
        ["real", "large"],
        ["real", "holes"],
        ["bits"],
        ["counts"],
        ["stars"],
        ["sex", "city"],
        ["real", "stars", "counts", "bits", "city"],
        ["real", "large", "id", "flat", "name", "day"],
        ["id", "sex", "holes"],
    ],
)
def test_one_table_gets_one_model(names):
    """The command line, with what it leaves out dropped first, and `from_frame`."""
    table = FRAME[names]
    selection = select(Loaded(table, "t.csv", "csv"), [], [], None)
    values, typed, _ = chosen(selection.values, "t.csv", leave_out=True)
    product, whole = mw.Product.from_frame(values), choose(table)
    for other in (typed, whole.likelihood):
        parts = list(other.parts.items()) if other.reads_tables else [(tuple(values), other)]
        for (_, part), own in zip(parts, product.parts.values(), strict=True):
            assert part == own or (part.is_open and part.stands_for(own))
        assert [labels_of(key) for key, _ in parts] == [labels_of(key) for key in product.parts]
    resolved, X = typed.fitted_to(values)
    ours, same = product.fitted_to(values)
    np.testing.assert_array_equal(X, same)
    labels = np.arange(N) % 3
    assert _log_joint(resolved, X, labels) == pytest.approx(_log_joint(ours, same, labels))
    assert set(selection.left_out) == {c.column for c in whole.columns if c.kind == LEFT_OUT}


def _log_joint(likelihood, X, labels):
    family = family_of(likelihood)
    return sum(family.log_marginal(family.of(X[labels == k])) for k in np.unique(labels))


@pytest.mark.parametrize(
    ("names", "likelihood"),
    [
        (["real"], mw.AutoGaussian()),
        (["real", "large", "negative"], mw.AutoGaussian()),
        (["real", "holes"], mw.DiagonalGaussian()),
        (["counts"], mw.Poisson()),
        (["bits", "truth"], mw.Bernoulli()),
        (["real", "id"], mw.Product({"real": mw.Gaussian()})),
        (["one two"], mw.Product({"one two": mw.Bernoulli()})),
        (["city"], mw.Product({"city": mw.Categorical()})),
        (["real", "counts"], mw.Product({"counts": mw.Poisson(), "real": mw.Gaussian()})),
    ],
)
def test_columns_of_one_kind_need_no_product(names, likelihood):
    found = choose(FRAME[names]).likelihood
    assert found == likelihood
    found.fitted_to(FRAME[names])


def test_many_columns_of_numbers_are_kept_apart():
    wide = pd.DataFrame(RNG.normal(size=(N, 31)))
    assert choose(wide).likelihood == mw.AutoGaussian()
    assert choose(wide, structure=False).likelihood == mw.DiagonalGaussian()
    assert choose(wide.iloc[:, :30], structure=False).likelihood == mw.Gaussian()


def test_a_few_numbers_are_just_numbers():
    """Three rows of two values do not make a column of yes and no; zeros and ones do."""
    few = pd.DataFrame({"x": [1.5, 2.5, 1.5], "y": [2, 2, 4], "z": [0, 1, 1]})
    assert [c.kind for c in choose(few).columns] == ["numbers", "numbers", "yes or no"]
    one = choose(pd.DataFrame({"x": [3.0], "y": [4.0]}))
    assert one.likelihood == mw.AutoGaussian()  # a single row has no constants


def test_asked_for_nothing_useful_is_left_out():
    asked = choose(FRAME[["id", "flat", "name", "day"]], leave_out=False)
    assert [c.kind for c in asked.columns] == ["counts", "numbers", "categories", LEFT_OUT]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_slips_do_not_turn_numbers_into_text(make):
    values = [f"{k}.5" for k in range(N)]
    values[13] = "l4.5"
    with pytest.raises(ValueError, match=r"'a' of frame holds numbers, but 'l4\.5' in row 13"):
        mw.Product.from_frame(make({"a": values}))


@pytest.mark.parametrize("entry", [10**309, "1e309", float("inf"), decimal.Decimal("1e400")])
def test_numbers_beyond_a_float_are_named(entry):
    values = [10**k for k in range(N)]
    values[7] = entry
    table = pd.DataFrame({"b": RNG.normal(size=N), "a": pd.Series(values, dtype=object)})
    with pytest.raises(ValueError, match=r"column 'a' of frame has .* in row 7 .*too large"):
        mw.Product.from_frame(table)
    with pytest.raises(ValueError, match=r"row 7"):
        mw.Gaussian().check(table)
    with pytest.raises(ValueError, match=r"column 'a' of t\.csv has .* in row 7"):
        select(Loaded(table, "t.csv", "csv"), [], [], None)


def test_text_beyond_a_float_is_named_wherever_it_is_read():
    table = pd.DataFrame({"b": ["1", "2"], "a": ["1e0", "1e309"]})
    with pytest.raises(ValueError, match=r"\('a'\) of X has '1e309' in row 1: .*too large"):
        mw.Gaussian().check(table)
    with pytest.raises(ValueError, match=r"column 'a' of X has '1e309' in row 1: .*too large"):
        mw.Product({"a": mw.Gaussian()}).fitted_to(table)
