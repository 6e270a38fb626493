"""Matrix Market files (``.mtx``), dense or sparse: rows are items."""

from __future__ import annotations

import io
from typing import Any

from mixwood.readers.loaded import ReadError, frame_of
from mixwood.readers.opening import check_size

__all__ = ["read"]


def read(raw: bytes, name: str) -> Any:
    """Return the matrix of a Matrix Market file: sparse rows, or a table if it is dense."""
    from scipy import io as scipy_io
    from scipy import sparse

    try:
        rows, columns, entries, layout, field, _ = scipy_io.mminfo(io.BytesIO(raw))
    except Exception as error:  # whatever the parser raises
        raise ReadError(f"{name} is not a Matrix Market file: {error}") from error
    if field == "complex":
        raise ReadError(f"{name} holds complex numbers; entries must be real")
    # An entry takes at least four characters ("1 1" and the end of the line), a dense one two;
    # of a symmetric matrix half of the entries are written.
    fewest = 4 * entries if layout == "coordinate" else rows * columns
    if rows < 1 or columns < 1 or fewest > len(raw) + 1:
        raise ReadError(
            f"{name} declares {rows:,} x {columns:,} with {entries:,} entries, which "
            f"{len(raw):,} bytes cannot hold"
        )
    check_size(8 * max(rows, columns), name, f"a matrix of {rows:,} x {columns:,}")
    try:
        matrix = scipy_io.mmread(io.BytesIO(raw))
    except Exception as error:  # the same
        raise ReadError(f"{name}: {error}") from error
    if sparse.issparse(matrix):
        return sparse.csr_array(matrix)
    return frame_of(matrix, name)
