"""Reading tables: pandas and polars, neither of which mixwood needs."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mixwood as mw
from mixwood.input.counts import count_matrix, whole_number_matrix
from mixwood.input.matrices import real_matrix

READERS = [real_matrix, whole_number_matrix, count_matrix]
EXPECTED = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0], [0.0, 0.0, 0.0], [3.0, 0.0, 5.0]])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "dtype", ["int64", "float64", "float32", "Int64", "UInt8", "Float64", "object", "str", "string"]
)
def test_pandas_tables(reader, dtype):
    values = EXPECTED.astype(int) if dtype in ("object", "str", "string") else EXPECTED
    table = pd.DataFrame(values, columns=["a", "a", "b"]).astype(dtype)
    X = reader(table, width=3)
    X = X.toarray() if reader is count_matrix else X
    assert X.flags.c_contiguous
    np.testing.assert_array_equal(X, EXPECTED)


def test_pandas_columns_of_several_types():
    table = pd.DataFrame(
        {
            "integers": pd.array([1, 2, pd.NA], dtype="Int64"),
            "floats": pd.array([1.5, pd.NA, 2.5], dtype="Float64"),
            "flags": pd.array([True, pd.NA, False], dtype="boolean"),
            "text": ["1", " 2.5 ", None],
            "nullable text": pd.array(["1e3", pd.NA, "-4"], dtype="string"),
            "categories": pd.Categorical([3, 1, 3]),
            "sparse": pd.arrays.SparseArray([0, 0, 7]),
            "plain": [1, 2, 3],
        },
        index=["x", "y", "x"],
    )
    nan = np.nan
    expected = [
        [1, 1.5, 1, 1, 1000, 3, 0, 1],
        [2, nan, nan, 2.5, nan, 1, 0, 2],
        [nan, 2.5, 0, nan, -4, 3, 7, 3],
    ]
    np.testing.assert_array_equal(real_matrix(table, missing=True), expected)
    with pytest.raises(ValueError, match=r"NaN.*row 1, column 1"):
        real_matrix(table)
    np.testing.assert_array_equal(real_matrix(table.iloc[[0], :]), expected[:1])


def test_pandas_series():
    for series in (
        pd.Series([1, 2]),
        pd.Series(["1", "2"]),
        pd.Series([1, 2], dtype="Int64"),
        pd.Index([1, 2]),
        pd.array([1, 2], dtype="Int64"),
    ):
        np.testing.assert_array_equal(real_matrix(series), [[1], [2]])


def test_bad_pandas_tables():
    with pytest.raises(ValueError, match=r"column 1 \('job'\) of X has 'cook' in row 1: .*choose"):
        real_matrix(pd.DataFrame({"pay": [1, 2], "job": ["3", "cook"]}))
    for column in ([1j, 2], pd.to_datetime(["2020-01-01"] * 2), [b"1", b"2"], [[1], [2]]):
        with pytest.raises(TypeError, match=r"column 1 .*X"):
            real_matrix(pd.DataFrame({"a": ["1", "2"], "b": column}))
    for table in (pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame(index=[1, 2])):
        with pytest.raises(ValueError, match="empty"):
            real_matrix(table)
    with pytest.raises(ValueError, match="1, but 2 are needed"):
        real_matrix(pd.DataFrame({"a": [1]}), width=2)
    with pytest.raises(ValueError, match=r"0\.5 in row 0, column 0"):
        count_matrix(pd.DataFrame({"a": ["0.5"]}))


@pytest.mark.parametrize("reader", READERS)
def test_polars_tables(reader):
    for table in (
        pl.DataFrame(EXPECTED),
        pl.DataFrame(EXPECTED.astype(int)),
        pl.DataFrame(EXPECTED.astype(int).astype(str)),
        pl.DataFrame(EXPECTED.astype(np.float32)),
    ):
        X = reader(table, width=3)
        X = X.toarray() if reader is count_matrix else X
        np.testing.assert_array_equal(X, EXPECTED)


def test_polars_columns_of_several_types():
    table = pl.DataFrame(
        {
            "integers": [1, None],
            "floats": [1.5, None],
            "flags": [True, None],
            "text": ["2.5", None],
            "decimals": [decimal.Decimal("0.25"), None],
        }
    )
    X = real_matrix(table, missing=True)
    np.testing.assert_array_equal(X, [[1, 1.5, 1, 2.5, 0.25], [np.nan] * 5])
    np.testing.assert_array_equal(real_matrix(pl.Series(["1", "2"])), [[1], [2]])
    with pytest.raises(ValueError, match=r"column 0 \('a'\) of X has 'x' in row 0"):
        real_matrix(pl.DataFrame({"a": ["x"]}))
    with pytest.raises(ValueError, match="empty"):
        real_matrix(pl.DataFrame())
    with pytest.raises(ValueError, match=r"leave columns of text out, or .*mw\.choose\(table\)"):
        mw.sample(mw.Mixture(), pl.DataFrame({"a": ["x"]}), progress=False)


@pytest.mark.parametrize(
    ("X", "remedy"),
    [
        (pl.DataFrame({"a": [1.0]}).lazy(), r"X\.collect\(\)"),
        ({"a": [1.0, 2.0]}, r"pandas\.DataFrame\(X\)"),
        ("table.csv", r"pandas\.read_csv"),
    ],
    ids=["lazy", "dict", "file"],
)
def test_what_is_not_a_table_yet_says_how_it_becomes_one(X, remedy):
    with pytest.raises(TypeError, match=rf"^X must be an array or table.*; {remedy} makes a table"):
        mw.sample(mw.Mixture(), X, progress=False)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_a_posterior_keeps_the_names_of_the_columns(table, tmp_path):
    X = table({"length": [0.0, 0.1, 5.0, 5.1], "width": [1.0, 1.2, 9.0, 9.1]})
    posterior = mw.sample(mw.Mixture(), X, draws=3, warmup=1, chains=1, seed=1, progress=False)
    assert posterior.columns == posterior.column_names == ("length", "width")
    posterior.save(tmp_path / "run")
    assert mw.load(tmp_path / "run").columns == ("length", "width")


def test_without_names_columns_are_numbered():
    posterior = mw.sample(
        mw.Mixture(), [[0.0, 1.0], [2.0, 3.0]], draws=2, warmup=1, chains=1, seed=1, progress=False
    )
    assert posterior.columns is None
    assert posterior.column_names == ("column 0", "column 1")
