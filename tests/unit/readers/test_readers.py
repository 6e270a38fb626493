"""Every reader on good files: what comes out is what was written."""

from __future__ import annotations

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

from mixwood.readers import ReadError, read
from mixwood.readers.loaded import row_names

TABLE = pd.DataFrame({"a": [1.5, 2.5, -3.0], "b": [4, 5, 6], "c": ["x", "y", "x"]})


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "separator"),
    [("t.csv", ","), ("t.tsv", "\t"), ("t.csv", ";"), ("t.txt", "|"), ("t.dat", "\t")],
)
def test_text_tables(tmp_path, name, separator):
    loaded = read(written(tmp_path / name, TABLE.to_csv(sep=separator, index=False)))
    pd.testing.assert_frame_equal(loaded.values, TABLE, check_dtype=False)
    assert loaded.format == "csv"
    assert loaded.source.endswith(name)
    assert not loaded.sparse


def test_blanks_separate_columns_too(tmp_path):
    loaded = read(written(tmp_path / "t.txt", "1.0  2.0\n 3.0  4.5\n"))
    np.testing.assert_array_equal(loaded.values, [[1.0, 2.0], [3.0, 4.5]])
    assert list(loaded.values.columns) == ["column 0", "column 1"]


def test_a_first_line_of_numbers_is_no_header_unless_one_says_so(tmp_path):
    path = written(tmp_path / "t.csv", "2001,2002\n1,2\n3,4\n")
    assert read(path).values.shape == (3, 2)
    assert list(read(path, header=True).values.columns) == ["2001", "2002"]
    numbered = written(tmp_path / "n.csv", ",0,1\nr,1.5,2\n")
    assert list(read(numbered).values.columns) == ["Unnamed: 0", "0", "1"]
    letters = written(tmp_path / "u.csv", "a,b\nc,d\n")
    assert read(letters).values.shape == (1, 2)
    assert read(letters, header=False).values.shape == (2, 2)


def test_decimal_commas_byte_order_marks_and_quotes(tmp_path):
    text = '\ufeff"weight, kg";height\n1,5;2,25\n3,0;4,5\n'
    loaded = read(written(tmp_path / "t.csv", text))
    assert list(loaded.values.columns) == ["weight, kg", "height"]
    np.testing.assert_array_equal(loaded.values, [[1.5, 2.25], [3.0, 4.5]])
    (tmp_path / "wide.csv").write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert list(read(str(tmp_path / "wide.csv")).values.columns) == ["a", "b"]


def test_missing_entries(tmp_path):
    loaded = read(written(tmp_path / "t.csv", "a,b\n1,\n?,2\nNA,3\n"))
    np.testing.assert_array_equal(loaded.values, [[1, np.nan], [np.nan, 2], [np.nan, 3]])


def test_one_column(tmp_path):
    np.testing.assert_array_equal(
        read(written(tmp_path / "t.csv", "9\n8\n7\n")).values, [[9], [8], [7]]
    )


def test_row_names_without_a_column_name(tmp_path):
    loaded = read(written(tmp_path / "r.txt", "a\tb\nfirst\t1\t2\nsecond\t3\t4\n"))
    np.testing.assert_array_equal(loaded.values, [[1, 2], [3, 4]])


def test_gzip_is_undone(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TABLE.to_csv(index=False).encode()))
    pd.testing.assert_frame_equal(read(str(path)).values, TABLE, check_dtype=False)


def test_standard_input(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"a\tb\n1\t2\n"), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    loaded = read("-")
    np.testing.assert_array_equal(loaded.values, [[1, 2]])
    assert loaded.source == "standard input"


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    TABLE.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read(str(tmp_path / "t.parquet")).values, TABLE)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"mixwood\[parquet\]"):
        read(str(tmp_path / "t.parquet"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, order):
    X = np.asarray(np.arange(6.0).reshape(3, 2), order=order)
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(read(str(tmp_path / "x.npy")).values, X)


def test_npy_of_one_dimension_and_of_records(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    assert read(str(tmp_path / "x.npy")).values.shape == (3, 1)
    np.save(tmp_path / "r.npy", np.array([(1, 2.5)], dtype=[("n", "i4"), ("v", "f8")]))
    assert list(read(str(tmp_path / "r.npy")).values.columns) == ["n", "v"]


def test_npz_dense_with_labels(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(3), y=[0, 1, 2], note=[1])
    loaded = read(str(tmp_path / "x.npz"))
    np.testing.assert_array_equal(loaded.values, np.eye(3))
    assert list(loaded.others) == ["y"]


COUNTS = sparse.csr_array([[0, 3, 0], [1, 0, 0], [0, 0, 0], [2, 0, 7]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz_sparse(tmp_path, kind):
    sparse.save_npz(tmp_path / "x.npz", COUNTS.asformat(kind))
    loaded = read(str(tmp_path / "x.npz"))
    assert loaded.sparse
    np.testing.assert_array_equal(loaded.values.toarray(), COUNTS.toarray())


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(tmp_path, packed):
    path = tmp_path / "x.mtx"
    scipy_io.mmwrite(path, COUNTS)
    if packed:
        path = path.with_suffix(".mtx.gz")
        path.write_bytes(gzip.compress((tmp_path / "x.mtx").read_bytes()))
    loaded = read(str(path))
    np.testing.assert_array_equal(loaded.values.toarray(), COUNTS.toarray())
    scipy_io.mmwrite(tmp_path / "dense.mtx", np.eye(2) + 0.5)
    np.testing.assert_array_equal(read(str(tmp_path / "dense.mtx")).values, np.eye(2) + 0.5)


SQUARE = np.array([[1.5, 1e300, 0.0], [1e300, 0.0, -2.0], [0.0, -2.0, 1 / 3]])
MATRICES = {
    "general": sparse.coo_array(np.array([[1e-300, 0.0], [2.0, 0.1], [0.0, 0.0]])),
    "integer": sparse.coo_array(np.array([[1, 0, 2**40], [0, -3, 0]])),
    "no entries": sparse.coo_array((2, 3)),
    "symmetric": sparse.coo_array(SQUARE),
    "skew-symmetric": sparse.coo_array(np.triu(SQUARE, 1) - np.tril(SQUARE, -1)),
    "dense": np.array([[1.5, 2.0], [1 / 3, np.inf], [0.0, np.nan]]),
    "dense symmetric": SQUARE,
    "dense skew-symmetric": np.triu(SQUARE, 1) - np.tril(SQUARE, -1),
}


@pytest.mark.parametrize("case", MATRICES)
def test_matrix_market_as_scipy_writes_it(tmp_path, case):
    path = tmp_path / "x.mtx"
    scipy_io.mmwrite(path, MATRICES[case], precision=17, comment="a comment\nin two lines")
    loaded = read(str(path)).values
    expected = MATRICES[case]
    if sparse.issparse(expected):
        loaded, expected = loaded.toarray(), expected.toarray()
    np.testing.assert_allclose(loaded, expected, rtol=1e-15)


def test_matrix_market_written_by_others(tmp_path):
    """Capitals, blanks, ends of lines of Windows, entries twice, no end of the last line."""
    path = tmp_path / "x.mtx"
    path.write_bytes(b"%%matrixmarket MATRIX coordinate Integer general\r\n%\r\n\r\n"
                     b" 2 3  4\r\n1 2 2\r\n 1  3 1\r\n2 1 5\r\n2\t1  1 ")  # fmt: skip
    np.testing.assert_array_equal(read(str(path)).values.toarray(), [[0, 2, 1], [6, 0, 0]])
    path.write_bytes(b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n")
    np.testing.assert_array_equal(read(str(path)).values.toarray(), [[0, 0], [1, 0]])


def docword(folder, name="docword.small.txt"):
    lines = ["4", "3", "4", "1 2 3", "2 1 1", "4 1 2", "4 3 7"]
    return written(folder / name, "\n".join(lines) + "\n")


def test_docword_and_its_vocabulary(tmp_path):
    loaded = read(docword(tmp_path))
    np.testing.assert_array_equal(loaded.values.toarray(), COUNTS.toarray())
    assert loaded.words is None
    written(tmp_path / "vocab.small.txt", "ash\nbirch\nfir\n")
    assert read(docword(tmp_path)).words == ("ash", "birch", "fir")
    packed = tmp_path / "docword.small.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "docword.small.txt").read_bytes()))
    assert read(str(packed)).words == ("ash", "birch", "fir")
    other = written(tmp_path / "words.txt", "A\nB\nC\n")
    assert read(str(packed), words=other).words == ("A", "B", "C")


def test_the_content_tells_the_format_where_the_name_does_not(tmp_path):
    assert read(docword(tmp_path, "bag.txt")).format == "docword"
    np.save(tmp_path / "x.npy", np.eye(2))
    (tmp_path / "x.npy").rename(tmp_path / "x")
    assert read(str(tmp_path / "x")).format == "npy"


@pytest.mark.parametrize(
    "rows",
    [
        "3,14,2,71\n1,41,1,73\n",
        "1,5,7\n2,5,8\n9,5,6\n",
        "3,14,2,71\n1,41,2\n",
        "3,14,2\n1,41,1,73\n",
    ],
)
def test_decimal_commas_between_commas_are_told(tmp_path, rows):
    """Pandas would take the first fields of such rows for an index."""
    path = written(tmp_path / "t.csv", f"x,y\n{rows}")
    with pytest.raises(ReadError, match=r"t\.csv: .*decimal commas, .* semicolons"):
        read(path)


def test_rows_may_have_names_that_the_first_line_does_not_name(tmp_path):
    """As R writes them."""
    for rows in ("1,5,7\n2,5,8\n3,5,6\n", "a,5,7\nb,5,8\n"):
        loaded = read(written(tmp_path / "t.csv", f"x,y\n{rows}"))
        assert list(loaded.values.columns) == ["x", "y"]
        assert loaded.values["x"].tolist() == [5] * len(loaded.values)


def test_rows_with_many_more_fields_than_names_are_refused(tmp_path):
    path = written(tmp_path / "t.csv", "x,y\na,b,1.5,2\nc,d,2.5,3\n")
    with pytest.raises(
        ReadError, match=r"t\.csv: the first line names 2 columns, and rows have 4$"
    ):
        read(path)


def test_decimal_commas_are_told_beside_text_too(tmp_path):
    path = written(tmp_path / "t.csv", "name,x,y\nash,3,14,2,71\nfir,1,41,1,73\n")
    with pytest.raises(ReadError, match=r"names 3 columns, and rows have 5; .*decimal commas"):
        read(path)


def test_leading_zeros_are_kept(tmp_path):
    """A code is not a number: 007 is not 7."""
    path = written(tmp_path / "t.csv", "id,x,n,day\n007,0.5,10,01\n,1.5,0,2\n012,2.5,20,3\n")
    table = read(path).values
    assert table["id"].dropna().tolist() == ["007", "012"]
    assert table["id"].isna().tolist() == [False, True, False]
    assert table["day"].tolist() == ["01", "2", "3"]
    assert table["n"].tolist() == [10, 0, 20]
    assert table["x"].tolist() == [0.5, 1.5, 2.5]


def test_quoted_decimal_commas_stay_as_they_are_written(tmp_path):
    loaded = read(written(tmp_path / "t.csv", 'x,y\n"3,14",1\n"2,71",2\n'))
    assert loaded.values["x"].tolist() == ["3,14", "2,71"]


def test_words_name_the_columns_of_every_matrix(tmp_path):
    words = written(tmp_path / "words.txt", "ash\nbirch\nfir\n")
    counts = sparse.csr_array(np.array([[0, 2, 1], [3, 0, 0]]))
    sparse.save_npz(tmp_path / "s.npz", counts)
    assert read(str(tmp_path / "s.npz"), words=words).words == ("ash", "birch", "fir")
    np.savez(tmp_path / "d.npz", X=counts.toarray(), y=np.arange(2))
    np.save(tmp_path / "d.npy", counts.toarray())
    scipy_io.mmwrite(tmp_path / "d.mtx", counts.toarray())
    plain = written(tmp_path / "d.csv", "0,2,1\n3,0,0\n")
    for path in (tmp_path / "d.npz", tmp_path / "d.npy", tmp_path / "d.mtx", plain):
        loaded = read(str(path), words=words)
        assert list(loaded.values.columns) == ["ash", "birch", "fir"]
        assert loaded.words is None
        np.testing.assert_array_equal(loaded.values, counts.toarray())


def test_words_that_cannot_be_used_are_an_error(tmp_path):
    np.save(tmp_path / "d.npy", np.eye(2))
    table = written(tmp_path / "t.csv", "a,b\n1,2\n")
    for path in (tmp_path / "d.npy", table):
        with pytest.raises(ReadError, match=r"nowhere\.txt does not exist"):
            read(str(path), words=str(tmp_path / "nowhere.txt"))
    words = written(tmp_path / "words.txt", "ash\nbirch\n")
    with pytest.raises(ReadError, match=r"words\.txt cannot name the columns of .*t\.csv.*'a'"):
        read(table, words=words)
    twice = written(tmp_path / "twice.txt", "ash\nash\n")
    with pytest.raises(ReadError, match=r"twice\.txt must name each column once; 'ash'"):
        read(str(tmp_path / "d.npy"), words=twice)


def test_names_of_rows_are_kept_beside_the_table(tmp_path):
    pytest.importorskip("pyarrow")
    table = TABLE.set_axis(["r", "s", "t"], axis=0)
    table.rename_axis("who").to_parquet(tmp_path / "t.parquet")
    loaded = read(str(tmp_path / "t.parquet"))
    assert loaded.others["who"].tolist() == ["r", "s", "t"]
    assert list(loaded.values.columns) == ["a", "b", "c"]
    TABLE.to_parquet(tmp_path / "plain.parquet")
    assert read(str(tmp_path / "plain.parquet")).others == {}
    twice = table.set_axis(pd.Index(["r", "s", "t"], name="a"), axis=0)
    assert set(row_names(twice)) == {"index"}  # the column has that name
    levels = pd.MultiIndex.from_product([["p"], [1, 2, 3]], names=["site", None])
    assert set(row_names(TABLE.set_axis(levels, axis=0))) == {"site", "index 1"}
