"""What users hand over, right and wrong, as strategies of hypothesis."""

from __future__ import annotations

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

import mixwood as mw

#: Numbers that are somewhere at an edge; those in between take time and show nothing.
LARGE = (2**31 - 1, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, 10**400, 10**5000)
WHOLE = st.integers(-3, 6) | st.sampled_from(LARGE).flatmap(lambda n: st.sampled_from((n, -n)))
FLOATS = st.floats() | st.floats(-10, 10) | st.sampled_from((1e-320, 1e-160, 1e150, 1e300, 1e308))


class Hostile:
    """What raises whenever it is looked at as an array."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    def __len__(self):
        raise RuntimeError("no length")


def _odd_ones():
    return (
        None,
        True,
        np.bool_(False),
        "",
        "data",
        "ibhc",
        "x" * 100,
        b"bytes",
        1j,
        ...,
        (),
        [],
        {},
        {"a": 1},
        {1, 2},
        [[1.0], [2.0, 3.0]],
        [["a"]],
        [None],
        object(),
        Hostile(),
        int,
        len,
        mw.Gaussian,
        mw.Gaussian(),
        mw.NGGP(),
        mw.NGGP,
        mw.Mixture(),
        mw.Tree(),
        mw.hyper.Gamma(1, 1),
        mw.hyper.Beta(1, 1),
        np.float64("nan"),
        np.float32(0.5),
        np.int8(3),
        np.uint64(2**64 - 1),
        np.array(1.0),
        np.array([1.0, np.nan]),
        np.zeros((0, 2)),
        np.zeros((2, 2, 2)),
        np.array(["a", "b"]),
        np.array([1, None, "x"], dtype=object),
        np.datetime64("2020-01-01"),
        datetime.date(2020, 1, 1),
        decimal.Decimal("1.5"),
        decimal.Decimal("sNaN"),
        fractions.Fraction(1, 3),
        fractions.Fraction(10**400, 3),
        range(3),
        iter([1]),
        slice(3),
        pd.NA,
        pd.NaT,
        pd.Series([1, 2]),
        sparse.eye_array(2),
        np.random.default_rng(1),
        np.random.SeedSequence(1),
        np.random.RandomState(1),
    )


def _laws():
    positive = st.floats(0, 1e308, exclude_min=True) | st.floats(0.1, 20)
    laws = (mw.hyper.Gamma, mw.hyper.Beta, mw.hyper.LogNormal)
    return st.one_of([st.builds(_law, st.just(law), positive, positive) for law in laws])


def _law(law, a, b):
    try:
        return law(a, b)
    except ValueError:
        return law(1.0, 1.0)


#: Distributions of hyperparameters, wide and narrow ones too.
HYPER = _laws()
#: Anything, mostly wrong wherever it is put.
ODD = st.builds(_odd_ones).flatmap(st.sampled_from) | WHOLE | FLOATS | st.text(max_size=5)

ENTRIES = {
    "small": st.integers(0, 3),
    "unit": st.floats(-3, 3),
    "holes": st.floats(-3, 3) | st.just(float("nan")),
    "any": FLOATS,
    "counts": st.integers(0, 2**31 + 5) | st.integers(0, 9),
    "objects": st.one_of(
        st.none(), FLOATS, WHOLE, st.text(max_size=2), st.booleans(), st.just(pd.NA)
    ),
    "numbers as text": st.integers(0, 9).map(str),
    "text": st.sampled_from(("a", "b", "", "nan", " 1", "1e999", "ü")),
}
DTYPES = (
    *("?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", "c16", "O"),
    *("U3", "S3", "M8[s]", "m8[s]", "V4", "f8,i4"),
)
SPARSE = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
COLUMNS = (
    lambda v: pd.Series(v, dtype="float64"),
    lambda v: pd.Series(v, dtype="Float64"),
    lambda v: pd.Series([None if x != x else int(x) for x in v], dtype="Int64"),
    lambda v: pd.Series([None if x != x else x > 1 for x in v], dtype="boolean"),
    lambda v: pd.Series(["abc"[int(x) % 3] if x == x else None for x in v]),
    lambda v: pd.Series(["abc"[int(x) % 3] if x == x else None for x in v], dtype="category"),
    lambda v: pd.Series([str(x) for x in v]),
    lambda v: pd.Series(pd.arrays.SparseArray(v)),
    lambda v: pd.to_datetime(pd.Series(v), unit="s"),
    lambda v: pd.Series(v, dtype=object),
    lambda v: pd.Series(np.asarray(v) + 1j),
    lambda v: pd.Series([[x] for x in v], dtype=object),
)


@st.composite
def arrays(draw):
    """Arrays of any type and shape, laid out in memory in any way."""
    shape = draw(
        st.tuples(st.integers(1, 9), st.integers(1, 4))
        | st.lists(st.integers(0, 4), max_size=3).map(tuple)
    )
    size = int(np.prod(shape))
    kind = draw(st.sampled_from(tuple(ENTRIES)))
    values = np.empty(size, dtype=object)
    values[:] = draw(st.lists(ENTRIES[kind], min_size=size, max_size=size))
    values = values.reshape(shape)
    dtype = draw(st.sampled_from(DTYPES) | st.just("f8"))
    try:
        with np.errstate(all="ignore"):
            array = values.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        array = values
    layout = draw(st.integers(0, 6))
    if layout == 1:
        array = np.asfortranarray(array)
    elif layout == 2:
        array = np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    elif layout == 3:
        array = array[::-1] if array.ndim else array
    elif layout == 4:
        array.flags.writeable = False
    elif layout == 5:
        array = np.broadcast_to(array, (3, *array.shape)) if array.ndim == 1 else array
    elif layout == 6 and array.dtype.kind in "biuf":
        mask = draw(st.lists(st.booleans(), min_size=array.size, max_size=array.size))
        array = np.ma.array(array, mask=np.reshape(np.array(mask, dtype=bool), array.shape))
    return array


@st.composite
def sparse_matrices(draw):
    """Sparse matrices of every format, some of them broken."""
    n, d = draw(st.integers(0, 7)), draw(st.integers(0, 5))
    kind = draw(st.sampled_from(("small", "counts", "unit", "any")))
    values = draw(st.lists(ENTRIES[kind], max_size=9))
    rows = draw(st.lists(st.integers(0, max(n - 1, 0)), min_size=9, max_size=9))
    columns = draw(st.lists(st.integers(0, max(d - 1, 0)), min_size=9, max_size=9))
    count = len(values) if n and d else 0
    make = draw(st.sampled_from((sparse.coo_array, sparse.coo_matrix)))
    places = (np.array(rows[:count], dtype=int), np.array(columns[:count], dtype=int))
    dtype = draw(st.sampled_from(("f8", "f4", "i8", "?", "c16")))
    with np.errstate(all="ignore"):
        entries = np.array(values[:count], dtype=float)
        if dtype == "i8":
            entries = np.nan_to_num(entries, posinf=0, neginf=0).clip(-1e18, 1e18)
        matrix = make((entries.astype(dtype), places), shape=(n, d))
        matrix = matrix.asformat(draw(st.sampled_from(SPARSE)))
    if matrix.format in ("csr", "csc") and matrix.nnz and draw(st.booleans()):
        array = draw(st.sampled_from((matrix.indices, matrix.indptr)))
        array[draw(st.integers(0, len(array) - 1))] = draw(st.integers(-2, 20))
    return matrix


@st.composite
def tables(draw):
    """Data frames of pandas with columns of every type."""
    n, d = draw(st.integers(0, 8)), draw(st.integers(0, 4))
    frame = {}
    for j in range(d):
        entries = draw(st.lists(ENTRIES["holes"], min_size=n, max_size=n))
        frame[j] = draw(st.sampled_from(COLUMNS))(entries)
    table = pd.DataFrame(frame)
    names = draw(st.sampled_from(("letters", "numbers", "twice", "levels")))
    if names == "letters":
        table.columns = list("abcd"[:d])
    elif names == "twice":
        table.columns = ["a"] * d
    elif names == "levels" and d:
        table.columns = pd.MultiIndex.from_product([["x"], range(d)])
    if draw(st.booleans()):
        table.index = draw(st.permutations(range(n)))
    return table


def _polars(table):
    import polars

    try:
        return polars.from_pandas(table)
    except Exception:
        return table


#: Whatever may be meant to be rows of data.
DATA = (
    arrays()
    | sparse_matrices()
    | tables()
    | tables().map(_polars)
    | arrays().map(lambda a: a.tolist())
    | ODD
)

#: A number, or something else, for each of some rows.
EACH_ROW = st.integers(1, 9).flatmap(
    lambda n: st.one_of([st.lists(entries, min_size=n, max_size=n) for entries in ENTRIES.values()])
)

LABELS = st.lists(st.integers(-2, 6), max_size=8) | arrays() | ODD
