"""From the name of a file, or standard input, to its bytes, decompressed within bounds."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

from mixwood._support.memory import available_bytes
from mixwood._support.numbers import memory
from mixwood.readers.loaded import ReadError

__all__ = ["check_size", "read_bytes", "size_limit"]

#: A compressed file may grow by this factor without being suspect: text of numbers grows 2 to 20
#: times, and deflate cannot do more than 1,032.
LARGEST_GROWTH = 500
SMALL = 100 * 2**20
_PIECE = 2**22


def size_limit() -> int:
    """Return how many bytes a file may take: half of the memory that is free.

    Examples
    --------
    >>> size_limit() > 0
    True
    """
    available = available_bytes()
    return 2**34 if available is None else available // 2


def check_size(needed: int, name: str, what: str) -> None:
    """Raise if `what` in a file would take more bytes than there is room for."""
    limit = size_limit()
    if needed > limit:
        raise ReadError(
            f"{name}: {what} would take {memory(needed)} of memory, and {memory(limit)} are "
            "free for it"
        )


def read_bytes(source: str, name: str) -> bytes:
    """Return what a file holds; ``-`` is standard input; gzip is undone.

    Parameters
    ----------
    source : str
        A path, or ``-``.
    name : str
        What to call it in messages.
    """
    raw = _read_stdin(name) if source == "-" else _read_file(Path(source).expanduser(), name)
    return _decompressed(raw, name) if raw[:2] == b"\x1f\x8b" else raw


def _read_stdin(name: str) -> bytes:
    if sys.stdin.isatty():
        raise ReadError(f"{name} is a terminal: pipe a table into it, or name a file")
    return _read_all(sys.stdin.buffer, 0, name, "the data")


def _read_file(path: Path, name: str) -> bytes:
    try:
        if path.is_dir():
            raise ReadError(f"{name} is a folder; name a file")
        if not path.exists():
            raise ReadError(f"{name} does not exist")
        size = path.stat().st_size
        check_size(size, name, "the file")
        with path.open("rb") as file:
            return _read_all(file, size, name, "the file")
    except OSError as error:
        raise ReadError(f"{name} cannot be read: {error.strerror or error}") from error


def _read_all(file: BinaryIO, expected: int, name: str, what: str) -> bytes:
    """Return what a file holds: as much as expected at once, then piece by piece, as from a pipe.

    To read as much as there is room for would be to ask for all that room.
    """
    limit = size_limit()
    pieces = [file.read(expected)] if expected else []
    total = sum(map(len, pieces))
    while piece := file.read(_PIECE):
        total += len(piece)
        check_size(min(total, limit + 1), name, what)
        pieces.append(piece)
    return b"".join(pieces)


def _decompressed(raw: bytes, name: str) -> bytes:
    limit = size_limit()
    pieces: list[bytes] = []
    total = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while piece := file.read(_PIECE):
                total += len(piece)
                if total > SMALL and total > LARGEST_GROWTH * len(raw):
                    raise ReadError(
                        f"{name}: {len(raw):,} compressed bytes become more than {total:,}, which "
                        "no table does; unpack it yourself if it is right"
                    )
                check_size(min(total, limit + 1), name, "the unpacked file")
                pieces.append(piece)
    except (EOFError, OSError, zlib.error) as error:
        raise ReadError(f"{name} is a damaged gzip file: {error}") from error
    return b"".join(pieces)
