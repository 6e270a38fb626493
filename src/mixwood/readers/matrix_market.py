"""Matrix Market files (``.mtx``), dense or sparse: rows are items.

Not read by scipy, whose parser reads beyond the end of damaged files.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood.readers.loaded import ReadError, frame_of
from mixwood.readers.opening import check_size

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["read"]

_BANNER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+"
    rb"(real|double|integer|unsigned-integer|pattern|complex)\s+"
    rb"(general|symmetric|skew-symmetric|hermitian)[ \t\r]*(?:\n|$)",
    re.IGNORECASE,
)
_SIZES = re.compile(rb"(?:[ \t\r]*(?:%[^\n]*)?\n)*([0-9 \t\r]+)(?:\n|$)")


class _Header(NamedTuple):
    layout: str
    field: str
    symmetry: str
    rows: int
    columns: int
    entries: int  # that are written, of a symmetric matrix those of one half
    body: bytes

    @property
    def sign(self) -> float:
        """What an entry is times, below the diagonal, to be the one above it; 0 for neither."""
        return {"general": 0.0, "skew-symmetric": -1.0}.get(self.symmetry, 1.0)


def read(raw: bytes, name: str) -> Any:
    """Return the matrix of a Matrix Market file: sparse rows, or a table if it is dense."""
    header = _header(raw, name)
    if header.field == "complex":
        raise ReadError(f"{name} holds complex numbers; entries must be real")
    sparse = header.layout == "coordinate"
    # An entry takes at least four characters ("1 1" and the end of the line), a dense one two.
    fewest = (4 if sparse else 2) * header.entries
    rows, columns = header.rows, header.columns
    if rows < 1 or columns < 1 or fewest > len(raw) + 1:
        raise ReadError(
            f"{name} declares {rows:,} x {columns:,} with {header.entries:,} entries, which "
            f"{len(raw):,} bytes cannot hold"
        )
    if header.sign and rows != columns:
        raise ReadError(f"{name} is {header.symmetry} and has {rows:,} x {columns:,} entries")
    check_size(8 * max(rows, columns), name, f"a matrix of {rows:,} x {columns:,}")
    return _sparse(header, name) if sparse else frame_of(_dense(header, name), name)


def _header(raw: bytes, name: str) -> _Header:
    banner = _BANNER.match(raw)
    sizes = banner and _SIZES.match(raw, banner.end())
    if not banner or not sizes:
        raise ReadError(
            f"{name} is not a Matrix Market file: it must begin with a line such as "
            "'%%MatrixMarket matrix coordinate real general', then the numbers of rows, columns "
            "and, if it is sparse, entries"
        )
    layout, field, symmetry = (word.decode().lower() for word in banner.groups())
    texts = sizes[1].split()
    if len(texts) != (3 if layout == "coordinate" else 2) or max(map(len, texts)) > 18:
        raise ReadError(
            f"{name}: its sizes must be rows and columns, and if it is sparse the number of "
            f"entries, got {sizes[1][:60].decode()!r}"
        )
    if layout == "array" and field == "pattern":
        raise ReadError(f"{name} is dense and a pattern, so it would have no entries")
    rows, columns, *rest = map(int, texts)
    half = {"general": rows * columns, "skew-symmetric": rows * (rows - 1) // 2}
    entries = rest[0] if rest else half.get(symmetry, rows * (rows + 1) // 2)
    return _Header(layout, field, symmetry, rows, columns, entries, raw[sizes.end() :])


def _lines(header: _Header, width: int, name: str) -> NDArray[np.float64]:
    """Return the numbers of the body, which has `width` of them in each line."""
    import pandas

    each = "one number" if width == 1 else f"{width} numbers, the first two whole"
    try:
        table = pandas.read_csv(
            io.BytesIO(header.body),
            sep=r"\s+",
            header=None,
            comment="%",
            quoting=csv.QUOTE_NONE,
            dtype={0: np.int64, 1: np.int64, 2: np.float64} if width > 1 else np.float64,
        )
    except pandas.errors.EmptyDataError:
        table = pandas.DataFrame(np.empty((0, width)))
    except (ValueError, OverflowError) as error:
        raise ReadError(f"{name}: each entry is a line of {each}: {error}") from error
    if len(table) != header.entries:
        raise ReadError(f"{name} must have {header.entries:,} entries, it has {len(table):,}")
    if table.shape[1] != width or (width > 1 and table.isna().to_numpy().any()):
        raise ReadError(f"{name}: each entry is a line of {each}")
    return np.asarray(table, dtype=np.float64)


def _sparse(header: _Header, name: str) -> csr_array:
    from scipy.sparse import coo_array, csr_array

    lines = _lines(header, 2 if header.field == "pattern" else 3, name)
    places = lines[:, :2]
    wrong = ((places < 1) | (places > (header.rows, header.columns))).any(axis=1)
    if wrong.any():
        row, column = places[np.argmax(wrong)]
        raise ReadError(
            f"{name} has an entry in row {row:.0f}, column {column:.0f}; it declares "
            f"{header.rows:,} x {header.columns:,}, numbered from 1"
        )
    values = lines[:, 2] if lines.shape[1] == 3 else np.ones(len(lines))
    row, column = places.astype(np.int64).T - 1
    if header.sign:
        beside = row != column
        row, column = np.append(row, column[beside]), np.append(column, row[beside])
        values = np.append(values, header.sign * values[beside])
    return csr_array(coo_array((values, (row, column)), shape=(header.rows, header.columns)))


def _dense(header: _Header, name: str) -> NDArray[np.float64]:
    values = _lines(header, 1, name)[:, 0]
    if not header.sign:
        return values.reshape((header.rows, header.columns), order="F")
    matrix = np.zeros((header.rows, header.columns))
    # Column by column, what is on and below the diagonal.
    column, row = np.triu_indices(header.rows, k=0 if header.sign > 0 else 1)
    matrix[column, row] = header.sign * values
    matrix[row, column] = values
    return matrix
