"""Arrays that are damaged, absurd or not ours: refused by name, and nothing is run."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw
from mixwood.store.load import load
from mixwood.store.zarr_array import StoredArray, write_group

LABELS = "draws/labels/zarr.json"


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        (LABELS, lambda path: path.unlink()),
        (LABELS, lambda path: path.write_bytes(b"")),
        (LABELS, lambda path: path.write_text("[]")),
        ("zarr.json", lambda path: path.unlink()),
        ("draws/zarr.json", lambda path: path.unlink()),
    ],
    ids=["no file", "empty file", "not an object", "store without", "group without"],
)
def test_metadata_that_are_missing_or_empty(saved, place, damage):
    damage(saved / "arrays.zarr" / place)
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(saved)


def _replaced(key, value):
    return lambda d: d.__setitem__(key, value)


METADATA = {
    "old format": _replaced("zarr_format", 2),
    "a group": _replaced("node_type", "group"),
    "absurd shape": _replaced("shape", [10**9, 10**9, 10**9]),
    "fewer axes": _replaced("shape", [2, 5]),
    "shape of text": _replaced("shape", "2, 5, 12"),
    "wrong type": _replaced("data_type", "float64"),
    "type of another width": _replaced("data_type", "int16"),
    "objects": _replaced("data_type", "object"),
    "type a dict": _replaced("data_type", {"name": "r8"}),
    "no codecs": lambda d: d.pop("codecs"),
    "codecs null": _replaced("codecs", None),
    "pickle as codec": _replaced("codecs", [{"name": "numcodecs.pickle"}]),
    "one more codec": lambda d: d["codecs"].insert(0, {"name": "transpose"}),
    "codecs not dicts": _replaced("codecs", ["bytes", "zstd"]),
    "no chunks": lambda d: d.pop("chunk_grid"),
    "chunks of zero": lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=[0, 0, 0]),
    "absurd chunks": lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=[10**9] * 3),
    "smaller chunks": lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=[1, 1, 1]),
    "chunks of fewer axes": lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=[2, 5]),
    "irregular chunks": lambda d: d["chunk_grid"].update(name="rectangular"),
    "another separator": lambda d: d["chunk_key_encoding"]["configuration"].update(separator="/"),
    "transformers": _replaced("storage_transformers", [{"name": "x"}]),
}


@pytest.mark.parametrize("case", METADATA)
def test_metadata_of_arrays_that_do_not_fit(saved, case, change_json):
    change_json(saved / "arrays.zarr" / LABELS, METADATA[case])
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(saved)


def test_a_group_that_is_an_array(saved, change_json):
    change_json(saved / "arrays.zarr/draws/zarr.json", _replaced("node_type", "array"))
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(saved)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: path.write_bytes(path.read_bytes() + b"123"),
        lambda path: path.write_bytes(b"\0" * 100),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["missing", "empty", "truncated", "longer", "zeros", "a folder"],
)
def test_damaged_arrays(saved, damage):
    for array in ("draws/labels", "draws/log_u", "draws/theta", "data/entries", "arrays/array0"):
        copied = saved.with_name("copy")
        shutil.copytree(saved, copied)
        chunk = next(p for p in (copied / "arrays.zarr" / array).glob("c.*"))
        damage(chunk)
        with pytest.raises(ValueError, match=f"arrays.zarr.{array.split('/')[0]}"):
            load(copied)
        shutil.rmtree(copied)


def test_every_changed_byte_of_a_chunk_is_noticed_or_harmless(saved):
    original = load(saved)
    chunk = next(p for p in (saved / "arrays.zarr/draws/log_u").glob("c.*"))
    content = chunk.read_bytes()
    noticed = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        chunk.write_bytes(bytes(damaged))
        try:
            loaded = load(saved)
        except ValueError:
            noticed += 1
        else:
            np.testing.assert_array_equal(original.log_u, loaded.log_u)
    assert noticed > 0.9 * len(content)


def test_arrays_missing_or_too_many(saved):
    shutil.copytree(saved / "arrays.zarr/draws/log_u", saved / "arrays.zarr/draws/extra")
    with pytest.raises(ValueError, match="draws must hold the arrays"):
        load(saved)
    shutil.rmtree(saved / "arrays.zarr/draws/extra")
    shutil.rmtree(saved / "arrays.zarr/draws/log_u")
    with pytest.raises(ValueError, match="draws must hold the arrays"):
        load(saved)
    shutil.rmtree(saved / "arrays.zarr")
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(saved)


@pytest.mark.parametrize(
    "draw",
    [
        [1, 0, 0, 0],
        [0, 2, 1, 0],
        [0, 0, 0, 2],
        [0, -1, 0, 0],
        [0, 1, 2, 2**31 - 1],
        [1, 1, 1, 1],
    ],
)
def test_labels_that_are_not_in_order_of_appearance(make_posterior, tmp_path, draw):
    posterior = make_posterior(X=np.eye(4), draws=3)
    labels = np.zeros((2, 3, 4), dtype=np.int32)
    labels[1, 2] = draw
    bad = dataclasses.replace(posterior, labels=labels)
    vars(bad)["n_clusters"] = np.full((2, 3), 2**17)  # so that it is stored as it is
    bad.save(tmp_path / "run")
    with pytest.raises(ValueError, match=r"labels: chain 1, draw 2 .*order of appearance"):
        load(tmp_path / "run")


PARTS = ("entries", "columns", "starts")


@pytest.mark.parametrize(
    ("part", "values", "words"),
    [
        ("entries", [0.5], "whole"),
        ("entries", [-1.0], "negative"),
        ("entries", [math.nan], "NaN"),
        ("columns", [3], "sparse matrix"),
        ("columns", [-1], "sparse matrix"),
        ("columns", [2**40], "sparse matrix"),
        ("starts", [5], "sparse matrix"),
    ],
)
def test_data_that_no_user_could_have_given(saved, part, values, words):
    store = saved / "arrays.zarr"
    data = {}
    for name in PARTS:
        metadata = json.loads((store / "data" / name / "zarr.json").read_text())
        shape = tuple(metadata["shape"])
        data[name] = StoredArray.open(store / "data" / name, ("float64", "int64"), shape).read()
    data[part][: len(values)] = values
    shutil.rmtree(store / "data")
    write_group(store, "data", {name: (("entry",), values) for name, values in data.items()})
    with pytest.raises(ValueError, match=rf"arrays\.zarr.data.*{words}"):
        load(saved)


def test_a_zarr_v2_store_with_pickled_objects_is_not_opened(saved, tmp_path):
    """Zarr's older format can name pickle as a filter: reading such a file would run it."""
    marker = tmp_path / "executed"

    class Payload:
        def __reduce__(self):
            return (Path.touch, (marker,))

    labels = saved / "arrays.zarr/draws/labels"
    shutil.rmtree(labels)
    labels.mkdir()
    (labels / "0.0.0").write_bytes(pickle.dumps([Payload(), "|O", [1]]))
    (labels / ".zattrs").write_text('{"_ARRAY_DIMENSIONS": ["chain", "draw", "item"]}')
    (labels / ".zarray").write_text(
        json.dumps(
            {
                "zarr_format": 2, "shape": [2, 5, 12], "chunks": [2, 5, 12], "dtype": "|O",
                "compressor": None, "fill_value": 0, "order": "C", "filters": [{"id": "pickle"}],
            }
        )
    )  # fmt: skip
    with pytest.raises(ValueError, match="labels"):
        load(saved)
    assert not marker.exists()


def test_a_chunk_that_would_be_huge_is_not_decompressed(run, assert_refused):
    from numcodecs.zstd import compress

    chunk = run / "arrays.zarr/draws/log_u/c.0.0"
    good = chunk.read_bytes()
    bombs = [compress(np.zeros(2**27, dtype=np.uint8), 3, True), compress(b"", 3, True), b"\0" * 50]
    frame = bytearray(good)
    frame[4] |= 0xC0  # the size takes eight bytes
    bombs.append(bytes(frame[:5]) + (2**62).to_bytes(8, "little") + bytes(frame[5:]))
    frame = bytearray(good)
    frame[4] &= ~0x04  # no checksum
    bombs.append(bytes(frame))
    for bomb in bombs:
        chunk.write_bytes(bomb)
        assert_refused(run, r"log_u.c\.0\.0 is damaged")


@pytest.mark.parametrize("entries", [[1, 10**6, 10**6], [1, 2**40, 30], [1, 0, 30], [1, "a", 30]])
def test_absurd_chunks(run, entries, change_json, assert_refused):
    change_json(
        run / "arrays.zarr/draws/labels/zarr.json",
        lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=entries),
    )
    assert_refused(run, r"labels.zarr\.json has chunks")


def test_more_draws_than_memory(run, monkeypatch):
    labels = mw.load(run).labels
    assert labels.dtype == np.int8
    monkeypatch.setattr("mixwood._support.labels.fits", lambda needed: needed <= labels.nbytes)
    np.testing.assert_array_equal(mw.load(run).labels, labels)
    monkeypatch.setattr("mixwood._support.labels.fits", lambda needed: needed < labels.nbytes)
    with pytest.warns(RuntimeWarning, match=r"the labels of all draws .* temporary file"):
        np.testing.assert_array_equal(mw.load(run).labels, labels)

    def no_room(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("mixwood._support.labels.array_in_file", no_room)
    with (
        pytest.warns(RuntimeWarning, match="temporary file"),
        pytest.raises(
            ValueError, match=r"labels: the labels of all draws need .*No space.* xarray"
        ),
    ):
        mw.load(run)
