"""Every reader on bad files: a `ReadError` that names the file, and nothing else, ever."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mixwood.readers.opening
from mixwood.readers import FORMATS, ReadError, read


def npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


MTX = b"%%MatrixMarket matrix coordinate integer general\n"
HUGE = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 9)}")
BAD = {
    "empty": ("t.csv", b"", "is empty"),
    "blank": ("t.csv", b" \n\n", "is empty"),
    "header alone": ("t.csv", b"a,b\n", "no rows"),
    "long row": ("t.csv", b"a,b\n1,2\n3,4,5\n", "line 3 has 3 columns"),
    "short row": ("t.csv", b"a,b,c\n1,2,3\n4,5\n", "line 3 has 2 columns"),
    "zero bytes": ("t.csv", b"a,b\n1,\x002\n", "zero byte in line 2"),
    "garbage": ("t.csv", b"\xff\xfb\x90d\x00" * 40, "not text"),
    "latin1": ("t.csv", "name\nM\u00fcller\n".encode("latin1"), "line 2.*iconv"),
    "open quote": ("t.csv", b'a,b\n1,"2\n3,4\n', "t.csv"),
    "damaged gzip": ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 50)[:-20], "damaged gzip"),
    "no npy": ("x.npy", b"hello", "not a NumPy file"),
    "huge npy": ("x.npy", HUGE, "declares an array of shape"),
    "negative npy": (
        "x.npy",
        npy("{'descr':'<f8','fortran_order':False,'shape':(-1,-2)}"),
        "x.npy",
    ),
    "empty types": ("x.npy", npy("{'descr':'|V0','fortran_order':False,'shape':(9,9)}"), "x.npy"),
    "code in npy": ("x.npy", npy("__import__('os').abort()"), "header is damaged"),
    "pickle": ("x.npy", saved(np.array([[{}]]), allow_pickle=True), "unpickled"),
    "short npy": ("x.npy", saved(np.eye(3))[:-8], "it holds 64"),
    "complex npy": ("x.npy", saved(np.eye(2) * 1j), "must hold numbers"),
    "deep npy": ("x.npy", saved(np.zeros((2, 2, 2))), "rows and columns"),
    "no npz": ("x.npz", b"PK\x03\x04rubbish", "not a NumPy archive"),
    "two matrices": ("x.npz", npz(a=saved(np.eye(2)), b=saved(np.eye(2))), "one named X"),
    "huge npz": ("x.npz", npz(X=HUGE), "declares an array"),
    "pickle in npz": ("x.npz", npz(X=saved(np.array([{}]), allow_pickle=True)), "unpickled"),
    "sparse parts": (
        "x.npz",
        npz(
            format=saved(np.array("csr")),
            shape=saved(np.array([2, 2])),
            data=saved(np.ones(1)),
            indices=saved(np.array([7])),
            indptr=saved(np.array([0, 1, 1])),
        ),
        "sparse matrix",
    ),
    "vast sparse": (
        "x.npz",
        npz(
            format=saved(np.array("csr")),
            shape=saved(np.array([10**15, 2])),
            data=saved(np.ones(1)),
        ),
        "would take",
    ),
    "no mtx": ("x.mtx", b"1 2 3\n", "not a Matrix Market file"),
    "huge mtx": ("x.mtx", MTX + b"3 3 99999999999\n1 1 1\n", "cannot hold"),
    "tall mtx": ("x.mtx", MTX + b"999999999999999 3 1\n1 1 1\n", "would take"),
    "mtx out of range": ("x.mtx", MTX + b"2 2 1\n5 1 1\n", "x.mtx"),
    "short mtx": ("x.mtx", MTX + b"2 2 3\n1 1 1\n2 2 1 \n", "x.mtx"),
    "zero bytes in mtx": (
        "x.mtx",
        MTX + b"2 3 1\n1 2 2" + b"\0" * 8 + b"\n",
        "x.mtx",
    ),
    "long mtx": ("x.mtx", MTX + b"2 2 1\n1 1 1\n2 2 1\n", "must have 1 entries, it has 2"),
    "mtx of four columns": ("x.mtx", MTX + b"2 2 1\n1 1 1 1\n", "a line of 3 numbers"),
    "mtx without values": ("x.mtx", MTX + b"2 2 1\n1 1\n", "a line of 3 numbers"),
    "mtx from zero": ("x.mtx", MTX + b"2 2 1\n0 1 1\n", "row 0, column 1.*numbered from 1"),
    "mtx without sizes": ("x.mtx", MTX + b"%\n", "not a Matrix Market file"),
    "mtx of one size": ("x.mtx", MTX + b"2\n", "its sizes must be"),
    "mtx of a long size": ("x.mtx", MTX + b"2 2 " + b"9" * 5000, "its sizes must be"),
    "symmetric mtx, not square": (
        "x.mtx",
        MTX.replace(b"general", b"symmetric") + b"2 3 1\n1 1 1\n",
        "is symmetric and has 2 x 3",
    ),
    "dense pattern": (
        "x.mtx",
        b"%%MatrixMarket matrix array pattern general\n2 2\n",
        "dense and a pattern",
    ),
    "words mtx": ("x.mtx", MTX + b"2 2 1\n1 one 1\n", "x.mtx"),
    "no docword": ("docword.x.txt", b"hello\n", "first three lines"),
    "negative docword": ("docword.x.txt", b"-2\n3\n1\n1 1 1\n", "'-2'"),
    "huge docword": ("docword.x.txt", b"2\n3\n99999999\n1 1 1\n", "cannot hold"),
    "tall docword": ("docword.x.txt", b"999999999999999\n3\n1\n1 1 1\n", "would take"),
    "count of entries": ("docword.x.txt", b"2\n3\n1\n1 1 1\n2 2 2\n", "1 entries, it has 2"),
    "no entries": ("docword.x.txt", b"2\n3\n1\n            \n", "it has none"),
    "word out of range": ("docword.x.txt", b"2\n3\n2\n1 1 1\n2 4 2\n", "line 5 has word 4"),
    "document 0": ("docword.x.txt", b"2\n3\n1\n0 1 1\n", "line 4 has document 0"),
    "no number": ("docword.x.txt", b"2\n3\n2\n1 1 1\n2 x 2\n", "three whole numbers"),
    "ragged docword": ("docword.x.txt", b"2\n3\n2\n1 1 1\n2 2 2 2\n", "three whole numbers"),
    "no parquet": ("t.parquet", b"PAR1 and rubbish PAR1", "not a Parquet file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, case):
    name, content, message = BAD[case]
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message) as caught:
        read(str(path))
    assert name in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(ReadError, match="does not exist"):
        read(str(tmp_path / "none.csv"))
    with pytest.raises(ReadError, match="is a folder"):
        read(str(tmp_path))


def test_a_vocabulary_of_the_wrong_length(tmp_path):
    (tmp_path / "docword.x.txt").write_bytes(b"2\n3\n1\n1 1 1\n")
    (tmp_path / "vocab.x.txt").write_text("one\ntwo\n")
    with pytest.raises(ReadError, match=r"vocab\.x\.txt must name 3 words"):
        read(str(tmp_path / "docword.x.txt"))


def test_a_gzip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(mixwood.readers.opening, "SMALL", 2**20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 2**25))
    with pytest.raises(ReadError, match="which no table does"):
        read(str(path))


def test_what_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mixwood.readers.opening, "available_bytes", lambda: 2000)
    path = tmp_path / "t.csv"
    path.write_bytes(b"1,2\n" * 1000)
    with pytest.raises(ReadError, match="would take"):
        read(str(path))
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ReadError, match="the unpacked file would take"):
        read(str(packed))
    archive = tmp_path / "x.npz"
    np.savez_compressed(archive, X=np.zeros((500, 2)))
    with pytest.raises(ReadError, match="the unpacked arrays would take"):
        read(str(archive))


def test_no_more_is_read_at_once_than_the_file_holds(tmp_path, monkeypatch):
    """Room for half of the memory is not asked for: where it is limited there is none."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"1,2\n" * 1000)
    asked = []

    class File(io.FileIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    monkeypatch.setattr(mixwood.readers.opening, "available_bytes", lambda: 10**15)
    monkeypatch.setattr(Path, "open", lambda self, _mode: File(self))
    assert len(read(str(path)).values) == 1000
    with io.TextIOWrapper(File(path)) as standard:
        monkeypatch.setattr("sys.stdin", standard)
        assert len(read("-").values) == 1000
    assert max(asked) <= 2**22
    assert min(asked) >= 0


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(sorted(FORMATS)), st.binary(min_size=1, max_size=80), st.booleans())
def test_rubbish_never_raises_anything_else(tmp_path, kind, rubbish, disguised):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    beginnings = {"npy": saved(np.eye(2)), "mtx": MTX, "docword": b"2\n3\n1\n", "csv": b"a,b\n"}
    path = tmp_path / "rubbish"
    path.write_bytes((beginnings.get(kind, b"PAR1") if disguised else b"") + rubbish)
    with contextlib.suppress(ReadError):
        read(str(path), kind)
