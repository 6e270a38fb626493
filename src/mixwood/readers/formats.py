"""Which reader reads a file: told by its name, or else by how it begins."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from mixwood.readers import delimited, docword, excel, matrix_market, numpy_files, parquet
from mixwood.readers.loaded import Loaded, ReadError
from mixwood.readers.opening import read_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FORMATS", "read"]

#: The formats, and the endings of their files' names.
FORMATS = {
    "csv": (".csv", ".tsv", ".tab", ".data", ".dat"),
    "excel": (".xlsx", ".xlsm", ".xls"),
    "parquet": (".parquet", ".pq"),
    "npy": (".npy",),
    "npz": (".npz",),
    "mtx": (".mtx",),
    "docword": (),
}
_BEGINNINGS = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"%%MatrixMarket": "mtx",
}
_DOCWORD = re.compile(rb"\s*(\d+\s*\n){3}\s*\d+[ \t]+\d+[ \t]+\d+\s*(\n|$)")


def read(
    source: str,
    format: str | None = None,  # noqa: A002 (what users call it)
    header: bool | None = None,
    words: str | None = None,
) -> Loaded:
    """Read a data file.

    Parameters
    ----------
    source : str
        A path, or ``-`` for standard input. Files compressed by gzip are unpacked.
    format : str, optional
        One of `FORMATS`; told by the name or the content by default. ``csv`` is text with any
        separator.
    header : bool, optional
        Whether the first line of a text table names the columns; by default it does unless it
        holds only numbers, and those are not 0, 1, 2, ...
    words : str, optional
        A file that names the columns of a matrix that does not name them itself, one per line;
        by default the ``vocab.NAME.txt`` next to a ``docword.NAME.txt``.

    Returns
    -------
    Loaded
    """
    name = "standard input" if source == "-" else source
    raw = read_bytes(source, name)
    if not raw.strip():
        raise ReadError(f"{name} is empty")
    kind = format or _format_of(source, raw)
    others: dict[str, NDArray[Any]] = {}
    if kind == "csv":
        values, others = delimited.read(raw, name, header)
    elif kind == "excel":
        values, others = excel.read(raw, name, header)
    elif kind == "parquet":
        values, others = parquet.read(raw, name)
    elif kind == "npy":
        values = numpy_files.read_npy(raw, name)
    elif kind == "npz":
        values, others = numpy_files.read_npz(raw, name)
    elif kind == "mtx":
        values = matrix_market.read(raw, name)
    elif kind == "docword":
        values = docword.read(raw, name)
        words = words or docword.vocabulary_beside(source)
    else:
        raise ReadError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    return _with_words(Loaded(values, name, kind, others=others), words)


def _with_words(loaded: Loaded, words: str | None) -> Loaded:
    """Return the rows with their columns named by a file."""
    if words is None:
        return loaded
    names = docword.read_words(words, loaded.values.shape[1])
    if loaded.sparse:
        return replace(loaded, words=names)
    columns = list(loaded.values.columns)
    if columns != [f"column {k}" for k in range(len(columns))]:
        raise ReadError(
            f"{words} cannot name the columns of {loaded.source}, which have names of their own: "
            f"{columns[0]!r}, ..."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError(f"{words} must name each column once; {twice!r} is there twice")
    return replace(loaded, values=loaded.values.set_axis(list(names), axis=1))


def _format_of(source: str, raw: bytes) -> str:
    """Return the format that a name promises; without a promise, the one the content shows."""
    path = PurePath(source)
    plain = Path(path.name.removesuffix(".gz")).suffix.lower() if source != "-" else ""
    for kind, endings in FORMATS.items():
        if plain in endings:
            return kind
    if path.name.startswith("docword."):
        return "docword"
    if excel.is_workbook(raw):
        return "excel"
    for beginning, kind in _BEGINNINGS.items():
        if raw.startswith(beginning):
            return kind
    return "docword" if _DOCWORD.match(raw[:1000]) else "csv"
