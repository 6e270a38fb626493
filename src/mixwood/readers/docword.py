"""Bags of words as the UCI repository keeps them: ``docword.NAME.txt``, ``vocab.NAME.txt``.

Three lines (documents, words, entries), then in each line a document, a word and how often it is
there, both numbered from 1.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixwood.readers.loaded import ReadError
from mixwood.readers.opening import check_size, read_bytes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["read", "read_words", "vocabulary_beside"]

_HEADER = ("documents", "words", "entries")


def read(raw: bytes, name: str) -> csr_array:
    """Return the counts, one row per document."""
    import pandas
    from scipy.sparse import csr_array

    file = io.BytesIO(raw)
    documents, words, entries = (_declared(file.readline(), what, name) for what in _HEADER)
    if documents < 1 or words < 1 or 6 * entries > len(raw):  # "1 1 1" and the end of the line
        raise ReadError(
            f"{name} declares {documents:,} documents, {words:,} words and {entries:,} entries, "
            f"which {len(raw):,} bytes cannot hold"
        )
    check_size(8 * max(documents, words), name, f"a matrix of {documents:,} x {words:,}")
    try:
        table = pandas.read_csv(file, sep=r"\s+", header=None, dtype=np.int64)
    except pandas.errors.EmptyDataError:
        raise ReadError(f"{name} must have {entries:,} entries, it has none") from None
    except (ValueError, OverflowError) as error:
        raise ReadError(
            f"{name}: after line 3 each line is three whole numbers: {error}"
        ) from error
    if table.shape[1] != 3:
        raise ReadError(
            f"{name}: line 4 must be three whole numbers, it has {table.shape[1]} fields"
        )
    if len(table) != entries:
        raise ReadError(f"{name} must have {entries:,} entries, it has {len(table):,}")
    values = table.to_numpy()
    _refuse_outside(values[:, 0], documents, "document", name)
    _refuse_outside(values[:, 1], words, "word", name)
    places = (values[:, 0] - 1, values[:, 1] - 1)
    return csr_array((values[:, 2].astype(np.float64), places), shape=(documents, words))


def _declared(line: bytes, what: str, name: str) -> int:
    text = line.strip()
    if not text.isdigit() or len(text) > 18:
        raise ReadError(
            f"{name} is not a bag of words: its first three lines are the numbers of documents, "
            f"words and entries, and that of {what} is {text[:30].decode(errors='replace')!r}"
        )
    return int(text)


def _refuse_outside(numbers: np.ndarray, most: int, what: str, name: str) -> None:
    wrong = (numbers < 1) | (numbers > most)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ReadError(f"{name}: line {k + 4} has {what} {numbers[k]}; it must be 1 to {most:,}")


def vocabulary_beside(source: str) -> str | None:
    """Return the vocabulary next to ``docword.NAME.txt``, if there is one."""
    path = Path(source).expanduser()
    if not path.name.startswith("docword."):
        return None
    beside = path.with_name("vocab." + path.name.removeprefix("docword.").removesuffix(".gz"))
    return str(beside) if beside.is_file() else None


def read_words(source: str, width: int) -> tuple[str, ...]:
    """Return the words of a vocabulary, one per line, as many as there are columns."""
    try:
        lines = read_bytes(source, source).decode().splitlines()
    except UnicodeDecodeError as error:
        raise ReadError(f"{source} is not text in UTF-8: {error}") from error
    words = tuple(line.strip() for line in lines if line.strip())
    if len(words) != width:
        raise ReadError(f"{source} must name {width:,} words, one per line, it has {len(words):,}")
    return words
