"""Files of NumPy: ``.npy``, and ``.npz`` with one matrix, dense or sparse. No pickle."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.readers.loaded import ReadError, frame_of
from mixwood.readers.opening import check_size

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["read_npy", "read_npz"]

#: Under these names the matrix of an archive of several arrays is looked for.
_MATRIX_NAMES = ("X", "x", "data", "arr_0")
_SPARSE_PARTS = {"format", "shape", "data"}


def read_npy(raw: bytes, name: str) -> Any:
    """Return the array in a ``.npy`` file as a table."""
    return frame_of(_array(raw, name), name)


def read_npz(raw: bytes, name: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the matrix in a ``.npz`` file, and the other arrays that have one entry per row.

    What ``scipy.sparse.save_npz`` writes is read as a sparse matrix.
    """
    arrays = _members(raw, name)
    if set(arrays) >= _SPARSE_PARTS:
        return _sparse(arrays, name), {}
    matrices = {key: array for key, array in arrays.items() if array.ndim == 2}
    if len(matrices) != 1:
        named = [key for key in _MATRIX_NAMES if key in (matrices or arrays)]
        if not named:
            found = ", ".join(f"{key} {array.shape}" for key, array in arrays.items()) or "none"
            raise ReadError(
                f"{name} must hold one matrix, or one named X; the arrays in it: {found}"
            )
        matrices = {named[0]: arrays[named[0]]}
    chosen, matrix = next(iter(matrices.items()))
    others = {
        key: array
        for key, array in arrays.items()
        if key != chosen and array.ndim == 1 and len(array) == len(matrix)
    }
    return frame_of(matrix, f"{name} ({chosen})"), others


def _members(raw: bytes, name: str) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            check_size(sum(entry.file_size for entry in entries), name, "the unpacked arrays")
            return {
                entry.filename.removesuffix(".npy"): _array(
                    archive.read(entry), f"{name} ({entry.filename})"
                )
                for entry in entries
            }
    except ReadError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ReadError(f"{name} is not a NumPy archive, or is damaged: {error}") from error


def _array(raw: bytes, name: str) -> NDArray[Any]:
    """Return the array of a ``.npy`` file whose header agrees with its length."""
    file = io.BytesIO(raw)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(file)
        if version not in readers:
            raise ReadError(f"{name} has version {version} of NumPy's format, which is not read")
        shape, fortran, dtype = readers[version](file)
    except ReadError:
        raise
    except Exception as error:  # the header is a literal of Python, parsed in many ways
        raise ReadError(f"{name} is not a NumPy file, or its header is damaged: {error}") from error
    if dtype.hasobject:
        raise ReadError(
            f"{name} holds Python objects, which would have to be unpickled; save numbers instead"
        )
    count, held = math.prod(shape), len(raw) - file.tell()
    if any(length < 0 for length in shape) or count * dtype.itemsize != held:
        raise ReadError(
            f"{name} declares an array of shape {shape} and type {dtype}, which takes "
            f"{count * dtype.itemsize:,} bytes; it holds {held:,}"
        )
    if not dtype.itemsize:
        raise ReadError(f"{name} holds an array of type {dtype}, whose entries are empty")
    array = np.frombuffer(raw, dtype=dtype, count=count, offset=file.tell())
    return array.reshape(shape, order="F" if fortran else "C")


def _sparse(arrays: dict[str, NDArray[Any]], name: str) -> csr_array:
    """Return the matrix that ``scipy.sparse.save_npz`` wrote."""
    from scipy import sparse

    matrix: Any
    try:
        kind = arrays["format"].item()
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        rows, columns = (int(length) for length in arrays["shape"])
        check_size(8 * max(rows, columns, 0), name, f"a matrix of {rows:,} x {columns:,}")
        if kind == "coo":
            places = (arrays["row"], arrays["col"])
            matrix = sparse.coo_array((arrays["data"], places), shape=(rows, columns))
        elif kind in ("csr", "csc"):
            make: Any = sparse.csr_array if kind == "csr" else sparse.csc_array
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            matrix = make(parts, shape=(rows, columns))
            matrix.check_format(full_check=True)
        else:
            raise ReadError(
                f"{name} holds a sparse matrix of format {kind!r}; csr, csc and coo are read"
            )
    except ReadError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ReadError(
            f"{name} does not hold a sparse matrix as scipy writes it: {error}"
        ) from error
    return sparse.csr_array(matrix)
