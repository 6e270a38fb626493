"""Reading users' data: every case of bad and of good input."""

from __future__ import annotations

import decimal
import fractions
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mixwood.input.counts import LARGEST_COUNT, count_matrix, whole_number_matrix
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    SphericalGaussian,
)

READERS = [real_matrix, whole_number_matrix, count_matrix]
SPARSE_FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]

# --- bad input -----------------------------------------------------------------------

BAD_SHAPES = {
    "no rows": (np.empty((0, 3)), "empty"),
    "no columns": (np.empty((3, 0)), "empty"),
    "empty list": ([], "empty"),
    "list of an empty list": ([[]], "empty"),
    "three dimensions": (np.zeros((2, 2, 2)), "two dimensions"),
    "ragged": ([[1, 2], [3]], "rectangular"),
}
BAD_TYPES = {
    "strings": np.array([["1", "2"]]),
    "list of strings": [["a", "b"], ["c", "d"]],
    "numbers and strings": [[1, "a"]],
    "bytes": np.array([[b"1"]]),
    "complex": np.array([[1 + 2j]]),
    "complex, no imaginary part": np.array([[1 + 0j]]),
    "dates": np.array([["2020-01-01"]], dtype="datetime64[D]"),
    "time differences": np.array([[5]], dtype="timedelta64[s]"),
    "records": np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    "objects": np.array([[object(), 1]], dtype=object),
    "strings as objects": np.array([["1", 1]], dtype=object),
    "complex as objects": np.array([[1j, 1]], dtype=object),
    "lists as objects": np.array([[1], [2, 3], None], dtype=object),
    "a number": 3.0,
    "None": None,
    "a string": "data.csv",
    "a dict": {"a": [1, 2]},
    "a set": {1, 2},
    "a generator": (i for i in range(3)),
    "masked strings": np.ma.array(["a", "b"], mask=[False, True]),
}
NON_FINITE = {
    "NaN": np.array([[1.0, 2.0], [3.0, np.nan]]),
    "infinity": np.array([[1.0, 2.0], [3.0, np.inf]]),
    "minus infinity": np.array([[1.0, 2.0], [3.0, -np.inf]]),
    "float32 NaN": np.array([[1.0, 2.0], [3.0, np.nan]], dtype=np.float32),
    "None among objects": np.array([[1, 2], [3, None]], dtype=object),
    "a list with None": [[1, 2], [3, None]],
    "a masked entry": np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]),
}
if np.finfo(np.longdouble).max > np.finfo(np.float64).max:  # not so on every platform
    NON_FINITE["beyond float64"] = np.array([[1, 2], [3, np.finfo(np.longdouble).max]])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", BAD_SHAPES)
def test_bad_shapes_are_refused(reader, case):
    X, words = BAD_SHAPES[case]
    with pytest.raises(ValueError, match=f"my_data.*{words}"):
        reader(X, name="my_data")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", BAD_TYPES)
def test_bad_types_are_refused(reader, case):
    with pytest.raises(TypeError, match="my_data"):
        reader(BAD_TYPES[case], name="my_data")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", NON_FINITE)
def test_non_finite_entries_are_refused_and_located(reader, case):
    with pytest.raises(ValueError, match=r"my_data has .* in row 1, column 1"):
        reader(NON_FINITE[case], name="my_data")


def test_all_non_finite_entries_are_counted():
    with pytest.raises(ValueError, match=r"row 0, column 1 \(and 2 more such entries\)"):
        real_matrix([[1, np.nan], [np.inf, np.nan]])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("X", [np.ones((4, 2)), np.ones((4, 4))])
def test_wrong_width_is_refused(reader, X):
    with pytest.raises(ValueError, match=rf"my_data .* {X.shape[1]}, but 3 are needed"):
        reader(X, name="my_data", width=3)


@pytest.mark.parametrize("reader", READERS)
def test_one_dimension_is_refused_where_several_columns_are_needed(reader):
    with pytest.raises(ValueError, match=r"my_data\.reshape\(1, -1\)"):
        reader(np.ones(3), name="my_data", width=3)


@pytest.mark.parametrize("reader", [real_matrix, whole_number_matrix])
@pytest.mark.parametrize("made", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_is_refused_where_dense_is_meant(reader, made):
    with pytest.raises(TypeError, match=r"my_data\.toarray\(\), or Multinomial"):
        reader(made(np.eye(3)), name="my_data")


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1, "-1 in row 1, column 2; entries must not be negative"),
        (0.5, "0.5 in row 1, column 2; entries must be whole"),
        (1 + 2**-40, "entries must be whole"),
        (-0.5, "must not be negative"),
        (LARGEST_COUNT + 1, "2147483648 in row 1, column 2; the largest count"),
        (1e300, "the largest count"),
        (np.nan, "NaN.* in row 1, column 2"),
        (np.inf, "inf in row 1, column 2"),
    ],
)
def test_bad_counts_are_refused_and_located(made, value, words):
    X = np.zeros((3, 4))
    X[1, 2] = value
    with pytest.raises(ValueError, match=words):
        count_matrix(made(X))
    if made is np.asarray:
        with pytest.raises(ValueError, match=words):
            whole_number_matrix(X)


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_a_row_total_that_is_too_large_is_refused(made):
    X = np.array([[1, 1], [LARGEST_COUNT, 1]])
    with pytest.raises(ValueError, match="total of 2147483648 in row 1"):
        count_matrix(made(X))
    assert count_matrix(made(X - [0, 1])).sum() == LARGEST_COUNT + 1


def test_bad_sparse_matrices_are_refused():
    with pytest.raises(TypeError, match="complex"):
        count_matrix(sparse.csr_array(np.array([[1j]])))
    with pytest.raises(ValueError, match="empty"):
        count_matrix(sparse.csr_array((0, 3)))
    with pytest.raises(ValueError, match="2, but 3 are needed"):
        count_matrix(sparse.csr_array((2, 2)), width=3)
    with pytest.raises(ValueError, match="two dimensions"):
        count_matrix(sparse.coo_array(np.ones(3)))
    with pytest.raises(ValueError, match="at most"):
        count_matrix(sparse.csr_array((1, 2**40)))


def test_indices_out_of_range_do_not_reach_compiled_code():
    X = sparse.csr_array(np.eye(3))
    X.indices = X.indices + 10**6
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        count_matrix(X)


@pytest.mark.parametrize(
    "likelihood", [SphericalGaussian(), Multinomial()], ids=lambda v: type(v).__name__
)
def test_likelihoods_that_refuse_missing_values(likelihood):
    with pytest.raises(ValueError, match="NaN"):
        likelihood.check([[1.0, np.nan]])


@pytest.mark.parametrize(
    "likelihood",
    [Gaussian(), DiagonalGaussian(), Bernoulli(), Categorical(), Poisson()],
    ids=lambda v: type(v).__name__,
)
def test_likelihoods_that_skip_missing_values(likelihood):
    X = np.ma.array([[1, 0], [1, 1]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(likelihood.check(X), [[1, np.nan], [1, 1]])
    with pytest.raises(ValueError, match=r"inf.*finite or NaN"):
        likelihood.check([[1.0, np.inf]])


# --- good input ----------------------------------------------------------------------

EXPECTED = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0], [0.0, 0.0, 0.0], [3.0, 0.0, 5.0]])
READ_ONLY = EXPECTED.copy()
READ_ONLY.flags.writeable = False
UNALIGNED = np.frombuffer(b"\0" + EXPECTED.tobytes(), dtype=np.uint8)[1:].view(np.float64)
GOOD = {
    "float64": EXPECTED,
    "lists": EXPECTED.tolist(),
    "tuples": tuple(map(tuple, EXPECTED.tolist())),
    "list of arrays": list(EXPECTED),
    **{
        name: EXPECTED.astype(name)
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32")
    },
    "long double": EXPECTED.astype(np.longdouble),
    "big-endian": EXPECTED.astype(">f8"),
    "Fortran order": np.asfortranarray(EXPECTED),
    "strided": np.repeat(np.repeat(EXPECTED, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": EXPECTED[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": EXPECTED.T.copy().T,
    "read-only": READ_ONLY,
    "unaligned": UNALIGNED.reshape(4, 3),
    "numpy matrix": EXPECTED.view(np.matrix),
    "masked, none masked": np.ma.array(EXPECTED, mask=False),
    "masked array without a mask": np.ma.array(EXPECTED),
    "masked integers": np.ma.array(EXPECTED.astype(int), mask=np.zeros((4, 3), bool)),
    "integers as objects": EXPECTED.astype(int).astype(object),
    "decimals": [[decimal.Decimal(int(v)) for v in row] for row in EXPECTED],
    "fractions": [[fractions.Fraction(int(v)) for v in row] for row in EXPECTED],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("width", [None, 3])
def test_good_input_is_read_alike(reader, case, width):
    X = reader(GOOD[case], width=width)
    if reader is count_matrix:
        assert_canonical(X)
        X = X.toarray()
    assert type(X) is np.ndarray
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert X.flags.aligned
    np.testing.assert_array_equal(X, EXPECTED)


def assert_canonical(X):
    assert type(X) is sparse.csr_array
    assert X.data.dtype == np.float64
    assert X.indices.dtype == X.indptr.dtype == np.int32
    fresh = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    assert fresh.has_canonical_format  # sorted, no duplicates
    assert np.all(X.data != 0)


@pytest.mark.parametrize("case", ["float64", "read-only", "masked array without a mask"])
def test_contiguous_floats_are_not_copied(case):
    assert np.shares_memory(real_matrix(GOOD[case]), GOOD[case])
    assert np.shares_memory(whole_number_matrix(GOOD[case]), GOOD[case])


def test_memory_mapped_arrays_are_not_copied(tmp_path):
    np.save(tmp_path / "X.npy", EXPECTED)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    X = real_matrix(mapped)
    assert type(X) is np.ndarray
    assert np.shares_memory(X, mapped)
    np.testing.assert_array_equal(count_matrix(mapped).toarray(), EXPECTED)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 2)),
        np.zeros((5, 2)),
        np.ones((2, 7)),
        np.ones((1, 4)),
        np.ones((4, 1)),
        np.ones((1, 1)),
        np.ones((3, 2), dtype=bool),
    ],
    ids=["duplicates", "zeros", "n < d", "one row", "one column", "one entry", "bool"],
)
def test_degenerate_shapes_work(reader, X):
    read = reader(X)
    assert read.shape == X.shape
    assert read.sum() == X.sum()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("width", [None, 1])
def test_one_dimension_is_one_column(reader, width):
    assert reader([1, 2, 3], width=width).shape == (3, 1)
    assert reader(range(3), width=width).shape == (3, 1)


@pytest.mark.parametrize("X", [[[1e300, 1e-300]], [[1e9 + 1e-3, 1e9]], [[-0.0, 5e-324]]])
def test_extreme_numbers_are_read_exactly(X):
    np.testing.assert_array_equal(real_matrix(X), X)


def test_missing_entries_are_nan_where_allowed():
    expected = [[1, np.nan], [np.nan, 4]]
    for X in (
        expected,
        [[1, None], [None, 4]],
        np.array([[1, None], [float("nan"), 4]], dtype=object),
        np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [1, 0]]),
        np.ma.array([[1, np.inf], [-1, 4]], mask=[[0, 1], [1, 0]]),
    ):
        np.testing.assert_array_equal(real_matrix(X, missing=True), expected)
        np.testing.assert_array_equal(whole_number_matrix(X, missing=True), expected)


def test_all_missing_is_allowed_where_missing_is():
    assert np.isnan(real_matrix([[np.nan], [np.nan]], missing=True)).all()


@pytest.mark.parametrize("made", ["array", "matrix"])
@pytest.mark.parametrize("form", SPARSE_FORMATS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64", "bool"])
def test_every_sparse_format_is_read(form, made, dtype):
    dense = EXPECTED.astype(dtype)
    X = getattr(sparse, f"{form}_{made}")(dense)
    counts = count_matrix(X, width=3)
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), dense.astype(float))


def test_csr_that_is_not_canonical_is_put_in_order_and_left_alone():
    data, indices, indptr = [2, 0, 1, 3, 4], [2, 0, 2, 1, 0], [0, 3, 5, 5]
    X = sparse.csr_matrix((data, indices, indptr), shape=(3, 3))
    before = pickle.dumps((X.data, X.indices, X.indptr))
    counts = count_matrix(X)
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), [[0, 0, 3], [4, 3, 0], [0, 0, 0]])
    assert pickle.dumps((X.data, X.indices, X.indptr)) == before


def test_what_scipy_remembers_about_the_order_is_not_trusted():
    X = sparse.csr_array(np.array([[0.0, 1.0, 2.0]]))
    assert X.has_canonical_format
    X.indices[:] = [2, 1]  # behind scipy's back
    counts = count_matrix(X)
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), [[0, 2, 1]])
    assert X.indices.tolist() == [2, 1]


def test_duplicates_are_added_before_counts_are_judged():
    X = sparse.csr_array(([0.5, 0.5, 1, -1], [0, 0, 1, 1], [0, 4]), shape=(1, 2))
    counts = count_matrix(X)
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), [[1, 0]])
    assert X.nnz == 4


def test_explicit_zeros_go_and_stay_in_the_users_matrix():
    X = sparse.csr_array((np.array([0.0, 1.0, -0.0]), [0, 1, 2], [0, 3]), shape=(1, 3))
    counts = count_matrix(X)
    assert counts.nnz == 1
    assert X.nnz == 3


def test_wide_indices_are_read():
    X = sparse.csr_array(EXPECTED)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    counts = count_matrix(X)
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), EXPECTED)


def test_rows_and_columns_of_zeros_are_kept():
    assert count_matrix(np.zeros((3, 2))).shape == (3, 2)
    assert count_matrix(sparse.csr_array((3, 2), dtype=int)).nnz == 0


def test_dates_and_decimal_commas_have_remedies():
    days = np.arange(4).astype("datetime64[D]")
    with pytest.raises(TypeError, match=r"X holds dates; .*np\.timedelta64\(1, 'D'\)"):
        real_matrix(days[:, None])
    with pytest.raises(ValueError, match=r"row 0: it is a date or time, .*leave dates out"):
        real_matrix(pd.DataFrame({"day": days.astype(str)}))
    with pytest.raises(ValueError, match=r"'1,5' in row 1: it has a decimal comma.*mw\.choose"):
        real_matrix(pd.DataFrame({"x": ["2", "1,5"]}))
