"""Groups of arrays on disk: Zarr v3, written through xarray, read with suspicion.

Zarr reads a missing file as zeros, and hands metadata to whatever codecs are installed.
So every chunk is written, with a checksum, and before anything is opened the metadata
are compared with the few things that `write_group` writes.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood.checks import shown

__all__ = ["Expected", "read_group", "read_json", "write_group"]

#: About how many entries of an array one file holds.
CHUNK_ENTRIES = 2**20


class Expected(NamedTuple):
    """What an array in a file must be."""

    dtypes: tuple[str, ...]
    shape: tuple[int, ...]


def write_group(
    store: Path, group: str, arrays: Mapping[str, tuple[tuple[str, ...], NDArray[Any]]]
) -> None:
    """Write arrays, each given with the names of its axes, as one group of a Zarr v3 store."""
    import xarray as xr
    from zarr.codecs import ZstdCodec

    encoding = {
        name: {
            "chunks": _chunks(array.shape),
            "compressors": [ZstdCodec(level=3, checksum=True)],
            "_FillValue": None,
        }
        for name, (_, array) in arrays.items()
    }
    xr.Dataset(dict(arrays)).to_zarr(
        store,
        group=group,
        mode="a",
        zarr_format=3,
        consolidated=False,
        encoding=encoding,
        write_empty_chunks=True,
    )


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a chunk: last axes whole, the first ones cut where it gets large."""
    chunk = []
    room = CHUNK_ENTRIES
    for length in reversed(shape):
        chunk.append(max(1, min(length, room)))
        room = max(1, room // max(length, 1))
    return tuple(reversed(chunk))


def read_group(
    store: Path, group: str, expected: Mapping[str, Expected]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a group, or raise a ValueError that names the file that is wrong.

    The group must hold the `expected` arrays and nothing else, each of an expected type
    and of the expected shape.
    """
    import xarray as xr

    folder = store / group
    for part in (store, folder):
        _check_metadata(part / "zarr.json", {"zarr_format": 3, "node_type": "group"})
    found = {entry.name for entry in folder.iterdir()} - {"zarr.json"}
    if found != set(expected):
        raise ValueError(
            f"{folder} must hold the arrays {', '.join(sorted(expected))}; "
            f"it holds {', '.join(sorted(found)) or 'none'}"
        )
    for name, wanted in expected.items():
        _check_array(folder / name, wanted)
    try:
        with xr.open_dataset(
            store, engine="zarr", group=group, consolidated=False, decode_cf=False, zarr_format=3
        ) as dataset:
            arrays = {name: np.asarray(dataset[name].values) for name in expected}
    except Exception as error:
        raise ValueError(f"{folder} cannot be read: {error}") from error
    for name, wanted in expected.items():
        if arrays[name].dtype.name not in wanted.dtypes or arrays[name].shape != wanted.shape:
            raise ValueError(f"{folder / name} does not hold the array that it describes")
    return arrays


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or raise a ValueError that names the file."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold a JSON object, got {shown(content)}")
    return content


def _check_metadata(path: Path, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a Zarr node if they are as `wanted`."""
    metadata = read_json(path)
    for key, value in wanted.items():
        if metadata.get(key) != value:
            raise ValueError(f"{path} must have {key} = {value}, got {shown(metadata.get(key))}")
    return metadata


def _check_array(folder: Path, expected: Expected) -> None:
    """Raise unless an array's metadata are such as `write_group` writes, with all its files."""
    path = folder / "zarr.json"
    metadata = _check_metadata(
        path,
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(expected.shape),
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        },
    )
    if metadata.get("data_type") not in expected.dtypes:
        raise ValueError(
            f"{path} must have data_type {' or '.join(expected.dtypes)}, "
            f"got {shown(metadata.get('data_type'))}"
        )
    try:
        codecs = [codec["name"] for codec in metadata["codecs"]]
        grid = metadata["chunk_grid"]["configuration"]["chunk_shape"]
        regular = metadata["chunk_grid"]["name"] == "regular" and len(grid) == len(expected.shape)
        fits = regular and all(
            type(step) is int and 1 <= step <= max(length, 1)
            for step, length in zip(grid, expected.shape, strict=True)
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is not the metadata of a Zarr v3 array: {error!r}") from None
    if codecs != ["bytes", "zstd"] or metadata.get("storage_transformers"):
        raise ValueError(f"{path} must have the codecs bytes, zstd, got {shown(codecs)}")
    if not fits:
        raise ValueError(f"{path} has chunks of shape {shown(grid)}, which do not fit the array")
    steps = (range(math.ceil(a / b)) for a, b in zip(expected.shape, grid, strict=True))
    for index in itertools.product(*steps):
        chunk = folder.joinpath("c", *map(str, index))
        if not chunk.is_file():
            raise ValueError(f"{chunk} is missing: the array is not complete")
