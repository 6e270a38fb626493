"""Arrays on disk, as Zarr v3 has them: written chunk by chunk, read with suspicion.

The little metadata that we need is written as Zarr's specification says, so that xarray and
zarr read it. The other way round neither library is asked: Zarr reads a missing file as
zeros, decompresses whatever size a file announces, and hands metadata to whatever codecs
are installed. Here all metadata must be such as we write, every chunk must be there, with
its checksum, and have its size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.memory import available_bytes
from mixwood._support.numbers import memory
from mixwood.store.atomic_files import (
    is_plain_folder,
    read_bytes,
    read_json,
    sync_folder,
    write_json,
)
from mixwood.store.atomic_files import write_bytes as write_file

__all__ = ["Expected", "StoredArray", "make_group", "open_group", "read_group", "write_group"]

#: About how many entries of an array one file holds.
CHUNK_ENTRIES = 2**20

#: The largest chunk that is read: ours are smaller.
LARGEST_CHUNK = 2**26

METADATA = "zarr.json"
GROUP = {"attributes": {}, "zarr_format": 3, "node_type": "group"}


class Expected(NamedTuple):
    """What an array in a file must be."""

    dtypes: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class StoredArray:
    """An array in a folder of its own, cut into chunks of one shape."""

    folder: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]

    @classmethod
    def create(
        cls,
        folder: Path,
        axes: Sequence[str],
        dtype: Any,
        shape: tuple[int, ...],
        chunks: tuple[int, ...] | None = None,
    ) -> StoredArray:
        """Make an array none of whose chunks is there yet."""
        array = cls(folder, np.dtype(dtype), shape, chunks or _chunks(shape))
        folder.mkdir()
        write_json(folder / METADATA, array._metadata() | {"dimension_names": list(axes)})
        sync_folder(folder)
        return array

    @classmethod
    def open(cls, folder: Path, dtypes: Sequence[str], shape: tuple[int, ...]) -> StoredArray:
        """Return an array whose metadata is such as `create` writes, or raise a ValueError.

        Parameters
        ----------
        folder : path
            Where it is.
        dtypes : sequence of str
            The types that it may have.
        shape : tuple of int
            The shape that it must have; -1 is for any length.
        """
        if not is_plain_folder(folder):
            raise ValueError(f"{folder} is not a folder with an array")
        path = folder / METADATA
        metadata = read_json(path)
        try:
            dtype, found = metadata["data_type"], tuple(metadata["shape"])
            chunks = tuple(metadata["chunk_grid"]["configuration"]["chunk_shape"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is not the metadata of a Zarr v3 array: {error!r}") from None
        if dtype not in dtypes:
            raise ValueError(
                f"{path} must have data_type {' or '.join(dtypes)}, got {shown(dtype)}"
            )
        if not _is_shape(found, least=0) or not all(
            wanted in (-1, length) for length, wanted in itertools.zip_longest(found, shape)
        ):
            raise ValueError(f"{path} must have shape {list(shape)}, got {shown(found)}")
        if not _is_shape(chunks, least=1) or len(chunks) != len(found):
            raise ValueError(f"{path} has chunks of shape {shown(chunks)}, which do not fit")
        if math.prod(chunks) * np.dtype(dtype).itemsize > LARGEST_CHUNK:
            raise ValueError(f"{path} has chunks of shape {shown(chunks)}, which are too large")
        array = cls(folder, np.dtype(dtype), found, chunks)
        for key, value in array._metadata().items():
            if metadata.get(key) != value:
                raise ValueError(
                    f"{path} must have {key} = {value}, got {shown(metadata.get(key))}"
                )
        return array

    def _metadata(self) -> dict[str, Any]:
        order = {} if self.dtype.itemsize == 1 else {"configuration": {"endian": "little"}}
        return {
            "shape": list(self.shape),
            "data_type": self.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
            "fill_value": self.missing,
            "codecs": [
                {"name": "bytes", **order},
                {"name": "zstd", "configuration": {"level": LEVEL, "checksum": True}},
            ],
            "attributes": {},
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        }

    @property
    def missing(self) -> Any:
        """What stands for an entry that is not there, as Zarr's metadata says it."""
        return {"f": "NaN", "i": -1, "u": 0}[self.dtype.kind]

    def resize(self, shape: tuple[int, ...]) -> StoredArray:
        """Give the array another shape; chunks stay as they are."""
        changed = StoredArray(self.folder, self.dtype, shape, self.chunks)
        metadata = read_json(self.folder / METADATA)
        write_json(self.folder / METADATA, metadata | changed._metadata())
        sync_folder(self.folder)
        return changed

    def chunk_path(self, index: Sequence[int]) -> Path:
        """Return the file of a chunk."""
        return self.folder / ".".join(["c", *map(str, index)])

    def write_chunk(self, index: Sequence[int], values: NDArray[Any]) -> None:
        """Write one chunk; `values` may be smaller than a chunk, the rest is then missing."""
        from numcodecs.zstd import compress

        stored = self.dtype.newbyteorder("<")
        if values.shape == self.chunks:
            chunk = np.ascontiguousarray(values, dtype=stored)
        else:
            chunk = np.full(self.chunks, float(self.missing), dtype=stored)
            chunk[tuple(slice(length) for length in values.shape)] = values
        write_file(self.chunk_path(index), compress(chunk.reshape(-1).view(np.uint8), LEVEL, True))

    def write(self, values: NDArray[Any]) -> None:
        """Write all chunks, a part of the array at a time."""
        for index in self._indices([(0, length) for length in self.shape]):
            part = tuple(slice(k * c, (k + 1) * c) for k, c in zip(index, self.chunks, strict=True))
            self.write_chunk(index, values[part])
        sync_folder(self.folder)

    def read(self, region: Sequence[tuple[int, int]] | None = None) -> NDArray[Any]:
        """Return the entries from start to end along each axis, all of them by default.

        Raises
        ------
        ValueError
            That names the file that is missing or damaged, or the folder if its array does
            not fit into memory.
        """
        bounds = [(0, length) for length in self.shape] if region is None else list(region)
        for index in self._indices(bounds):  # before memory is asked for
            if not self.chunk_path(index).exists():
                raise ValueError(f"{self.chunk_path(index)} is missing: the array is not complete")
        shape = tuple(end - start for start, end in bounds)
        needed, available = math.prod(shape) * self.dtype.itemsize, available_bytes()
        if available is not None and needed > available:
            raise MemoryError(
                f"{self.folder} needs {memory(needed)} of memory, and {memory(available)} "
                "are available"
            )
        result = np.empty(shape, dtype=self.dtype)
        for index in self._indices(bounds):
            chunk = self._read_chunk(index)
            inside, outside = [], []
            for k, length, (start, end) in zip(index, self.chunks, bounds, strict=True):
                first, last = max(k * length, start), min((k + 1) * length, end)
                inside.append(slice(first - k * length, last - k * length))
                outside.append(slice(first - start, last - start))
            result[tuple(outside)] = chunk[tuple(inside)]
        return result

    def _indices(self, bounds: Sequence[tuple[int, int]]) -> itertools.product[tuple[int, ...]]:
        """Return the chunks that a region touches, in order."""
        return itertools.product(
            *(
                range(start // length, math.ceil(end / length) if end > start else start // length)
                for (start, end), length in zip(bounds, self.chunks, strict=True)
            )
        )

    def _read_chunk(self, index: Sequence[int]) -> NDArray[Any]:
        from numcodecs.zstd import decompress

        path = self.chunk_path(index)
        chunk = np.empty(self.chunks, dtype=self.dtype.newbyteorder("<"))
        frame = read_bytes(path, chunk.nbytes + chunk.nbytes // 64 + 1024)
        if _content_size(frame) != chunk.nbytes:
            raise ValueError(f"{path} is damaged: it does not hold a chunk of {chunk.nbytes} bytes")
        try:
            decompress(frame, chunk.reshape(-1).view(np.uint8))
        except (ValueError, RuntimeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        return chunk


#: Of the compression by zstd.
LEVEL = 3


def _is_shape(values: tuple[Any, ...], least: int) -> bool:
    return all(type(length) is int and length >= least for length in values)


def _content_size(frame: bytes) -> int | None:
    """Return how large the content of a zstd frame says it is, if it has a checksum, else None."""
    if len(frame) < 6 or frame[:4] != b"\x28\xb5\x2f\xfd":
        return None
    descriptor = frame[4]
    in_one_segment, has_checksum = descriptor & 0x20, descriptor & 0x04
    if not has_checksum or descriptor & 0x03:  # the latter: it needs a dictionary
        return None
    at = 5 if in_one_segment else 6
    width = (1 if in_one_segment else 0, 2, 4, 8)[descriptor >> 6]
    size = int.from_bytes(frame[at : at + width], "little")
    return (size + 256 if width == 2 else size) if width else None


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a chunk: last axes whole, the first ones cut where it gets large."""
    chunk = []
    room = CHUNK_ENTRIES
    for length in reversed(shape):
        chunk.append(max(1, min(length, room)))
        room = max(1, room // max(length, 1))
    return tuple(reversed(chunk))


def write_group(
    store: Path, group: str, arrays: Mapping[str, tuple[tuple[str, ...], NDArray[Any]]]
) -> None:
    """Write arrays, each given with the names of its axes, as one group of a store."""
    folder = make_group(store, group)
    for name, (axes, values) in arrays.items():
        StoredArray.create(folder / name, axes, values.dtype, values.shape).write(values)
    sync_folder(folder)


def make_group(store: Path, group: str) -> Path:
    """Return the folder of a new group."""
    for part in (store, store / group):
        if not part.exists():
            part.mkdir()
            write_json(part / METADATA, GROUP)
            sync_folder(part)
    return store / group


def open_group(store: Path, group: str, expected: Mapping[str, Expected]) -> dict[str, StoredArray]:
    """Return the arrays of a group, or raise a ValueError that names the file that is wrong.

    The group must hold the `expected` arrays and nothing else.
    """
    folder = store / group
    for part in (store, folder):
        if not is_plain_folder(part):
            raise ValueError(f"{part} is missing, or not a folder")
        metadata = read_json(part / METADATA)
        for key in ("zarr_format", "node_type"):
            if metadata.get(key) != GROUP[key]:
                raise ValueError(
                    f"{part / METADATA} must have {key} = {GROUP[key]}, "
                    f"got {shown(metadata.get(key))}"
                )
    found = {entry.name for entry in folder.iterdir()} - {METADATA}
    if found != set(expected):
        raise ValueError(
            f"{folder} must hold the arrays {', '.join(sorted(expected))}; "
            f"it holds {', '.join(sorted(found)) or 'none'}"
        )
    return {name: StoredArray.open(folder / name, *wanted) for name, wanted in expected.items()}


def read_group(
    store: Path, group: str, expected: Mapping[str, Expected]
) -> dict[str, NDArray[Any]]:
    """Return what the arrays of a group hold; see `open_group`."""
    return {name: array.read() for name, array in open_group(store, group, expected).items()}
