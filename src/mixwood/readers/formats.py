"""Which reader reads a file: told by its name, or else by how it begins."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from mixwood.readers import delimited, docword, matrix_market, numpy_files, parquet
from mixwood.readers.loaded import Loaded, ReadError
from mixwood.readers.opening import read_bytes

__all__ = ["FORMATS", "read"]

#: The formats, and the endings of their files' names.
FORMATS = {
    "csv": (".csv", ".tsv", ".tab", ".data", ".dat"),
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
        A file that names the columns of sparse counts, one per line; by default
        the ``vocab.NAME.txt`` next to a ``docword.NAME.txt``.

    Returns
    -------
    Loaded
    """
    name = "standard input" if source == "-" else source
    raw = read_bytes(source, name)
    if not raw.strip():
        raise ReadError(f"{name} is empty")
    kind = format or _format_of(source, raw)
    if kind == "csv":
        return Loaded(delimited.read(raw, name, header), name, kind)
    if kind == "parquet":
        return Loaded(parquet.read(raw, name), name, kind)
    if kind == "npy":
        return Loaded(numpy_files.read_npy(raw, name), name, kind)
    if kind == "npz":
        values, others = numpy_files.read_npz(raw, name)
        return Loaded(values, name, kind, others=others)
    vocabulary = words
    if kind == "mtx":
        values = matrix_market.read(raw, name)
    elif kind == "docword":
        values = docword.read(raw, name)
        vocabulary = words or docword.vocabulary_beside(source)
    else:
        raise ReadError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    named = docword.read_words(vocabulary, values.shape[1]) if vocabulary else None
    return Loaded(values, name, kind, named)


def _format_of(source: str, raw: bytes) -> str:
    """Return the format that a name promises; without a promise, the one the content shows."""
    path = PurePath(source)
    plain = Path(path.name.removesuffix(".gz")).suffix.lower() if source != "-" else ""
    for kind, endings in FORMATS.items():
        if plain in endings:
            return kind
    if path.name.startswith("docword."):
        return "docword"
    for beginning, kind in _BEGINNINGS.items():
        if raw.startswith(beginning):
            return kind
    return "docword" if _DOCWORD.match(raw[:1000]) else "csv"
