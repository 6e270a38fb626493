"""Run folders that are not ours, or broken: refused with the name of the file, running nothing."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from mixwood.likelihoods import Multinomial
from mixwood.model import Mixture
from mixwood.priors import PitmanYor
from mixwood.store.json_codec import decode, encode
from mixwood.store.load import load
from mixwood.store.zarr_array import StoredArray, write_group

COUNTS = np.random.default_rng(1).poisson(1.0, (12, 3))
PARTS = ("entries", "columns", "starts")


@pytest.fixture
def run(make_posterior, tmp_path):
    """Return the folder of a good run with sparse data and a large array in its settings."""
    posterior = make_posterior(Multinomial(), PitmanYor(), X=COUNTS, draws=5)
    posterior.settings["init"] = np.arange(500)
    posterior.save(tmp_path / "run")
    return tmp_path / "run"


def change_json(path, change):
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere")


def test_not_a_run_at_all(tmp_path):
    (tmp_path / "file").write_bytes(b"\x80\x04")
    with pytest.raises(ValueError, match=r"file is a file.*folder"):
        load(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty is not a mixwood run.*mixwood\.json"):
        load(tmp_path / "empty")
    (tmp_path / "folder" / "mixwood.json").mkdir(parents=True)
    with pytest.raises(ValueError, match="not a mixwood run"):
        load(tmp_path / "folder")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1, 2]",
        b"null",
        b"not json",
        b"\xff\xfe\x00",
        b'{"format": NaN}',
        b"[" * 100_000,
        b"{}",
        b'{"format": "netCDF", "format_version": 1}',
        b'{"format": "mixwood run"}',
        b'{"format": "mixwood run", "format_version": "1"}',
        b'{"format": "mixwood run", "format_version": true}',
        b'{"format": "mixwood run", "format_version": 0}',
        b'{"format": "mixwood run", "format_version": 1}',
        pickle.dumps({"format": "mixwood run"}),
    ],
)
def test_a_description_that_is_not_one(tmp_path, content):
    (tmp_path / "mixwood.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"mixwood\.json"):
        load(tmp_path)


def test_a_newer_format_asks_for_a_newer_mixwood(run):
    change_json(run / "mixwood.json", lambda d: d.update(format_version=2, mixwood_version="9.9"))
    with pytest.raises(ValueError, match=r"format version 2, written by mixwood '9\.9'.*newer"):
        load(run)


def _replaced(key, value):
    return lambda d: d.__setitem__(key, value)


def _without(key):
    return lambda d: d.pop(key)


def _changing(change):
    return lambda path: change_json(path, change)


KEYS = (
    "chains",
    "draws",
    "items",
    "model",
    "resolved",
    "settings",
    "stats",
    "data",
    "arrays",
    "plan",
)
NOT_A_LIKELIHOOD = {"$type": "NGGP", "parameters": {"alpha": 1.0, "sigma": 0.5}}
DESCRIPTIONS = {
    **{f"no {key}": _without(key) for key in KEYS},
    "chains of text": _replaced("chains", "2"),
    "no chains at all": _replaced("chains", 0),
    "more chains": _replaced("chains", 3),
    "absurd draws": _replaced("draws", 10**18),
    "absurd chains": _replaced("chains", 10**18),
    "plan a number": _replaced("plan", 5),
    "plan of nothing": _replaced("plan", {}),
    "more items": _replaced("items", 13),
    "model a number": _replaced("model", 3),
    "model null": _replaced("model", None),
    "model a prior": _replaced("model", NOT_A_LIKELIHOOD),
    "resolved a prior": _replaced("resolved", NOT_A_LIKELIHOOD),
    "resolved of another class": _replaced(
        "resolved", {"$type": "Bernoulli", "parameters": {"columns": 3}}
    ),
    "resolved of another width": lambda d: d["resolved"]["parameters"].update(columns=4),
    "another prior": lambda d: d["model"]["parameters"].update(prior=NOT_A_LIKELIHOOD),
    "negative parameter": lambda d: d["resolved"]["parameters"].update(beta=-1),
    "unknown parameter": lambda d: d["resolved"]["parameters"].update(gamma=1),
    "parameters a list": lambda d: d["resolved"].update(parameters=[1]),
    "no parameters": lambda d: d["resolved"].pop("parameters"),
    "unknown class": lambda d: d["resolved"].update({"$type": "os.system"}),
    "class of another module": lambda d: d["resolved"].update({"$type": "Path"}),
    "class a number": lambda d: d["resolved"].update({"$type": 5}),
    "class a list": lambda d: d["resolved"].update({"$type": ["Gaussian"]}),
    "settings a list": _replaced("settings", []),
    "stats a dict": _replaced("stats", {}),
    "float that is none": _replaced("settings", {"a": {"$type": "float", "value": "x"}}),
    "float without value": _replaced("settings", {"a": {"$type": "float"}}),
    "tuple of nothing": _replaced("settings", {"a": {"$type": "tuple", "items": 5}}),
    "dict of triples": _replaced("settings", {"a": {"$type": "dict", "pairs": [[1, 2, 3]]}}),
    "dict of list keys": _replaced("settings", {"a": {"$type": "dict", "pairs": [[[1], 2]]}}),
    "array of objects": _replaced(
        "settings", {"a": {"$type": "array", "dtype": "object", "shape": [1], "values": [1]}}
    ),
    "array of wrong length": _replaced(
        "settings", {"a": {"$type": "array", "dtype": "int8", "shape": [10**12], "values": [1]}}
    ),
    "array of negative shape": _replaced(
        "settings", {"a": {"$type": "array", "dtype": "int8", "shape": [-1], "values": [1]}}
    ),
    "array out of range": _replaced(
        "settings", {"a": {"$type": "array", "dtype": "int8", "shape": [1], "values": [1000]}}
    ),
    "array of text": _replaced(
        "settings", {"a": {"$type": "array", "dtype": "float64", "shape": [1], "values": ["x"]}}
    ),
    "array that is not stored": lambda d: d["settings"]["init"].update(stored=1),
    "array stored before the first": lambda d: d["settings"]["init"].update(stored=-1),
    "array stored under a name": lambda d: d["settings"]["init"].update(stored="../../x"),
    "array of another shape": lambda d: d["settings"]["init"].update(shape=[499]),
    "stored array of another shape": lambda d: d["arrays"][0].update(shape=[499]),
    "stored array of another type": lambda d: d["arrays"][0].update(dtype="float64"),
    "stored array of objects": lambda d: d["arrays"][0].update(dtype="object"),
    "stored array too many": lambda d: d["arrays"].append({"dtype": "int8", "shape": [1]}),
    "seed of an absurd pool": _replaced(
        "settings",
        {"a": {"$type": "SeedSequence", "state": {"entropy": 1, "pool_size": 10**9}}},
    ),
    "seed of unknown state": _replaced(
        "settings", {"a": {"$type": "SeedSequence", "state": {"pool_size": 4, "x": 1}}}
    ),
    "data a number": _replaced("data", 5),
    "data of no kind": lambda d: d["data"].pop("kind"),
    "data of another kind": lambda d: d["data"].update(kind="pickle"),
    "data dense": lambda d: d["data"].update(kind="dense"),
    "data of other columns": lambda d: d["data"].update(columns=4),
    "data of other entries": lambda d: d["data"].update(entries=1),
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_descriptions_that_do_not_fit(run, case):
    change_json(run / "mixwood.json", DESCRIPTIONS[case])
    with pytest.raises(ValueError, match=r"mixwood\.json|arrays\.zarr"):
        load(run)


LABELS = "draws/labels/zarr.json"
METADATA = {
    "no file": (LABELS, lambda path: path.unlink()),
    "empty file": (LABELS, lambda path: path.write_bytes(b"")),
    "not an object": (LABELS, lambda path: path.write_text("[]")),
    "store without metadata": ("zarr.json", lambda path: path.unlink()),
    "group without metadata": ("draws/zarr.json", lambda path: path.unlink()),
    "group is an array": (
        "draws/zarr.json",
        lambda p: change_json(p, _replaced("node_type", "array")),
    ),
    **{
        name: (LABELS, _changing(change))
        for name, change in {
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
            "chunks of zero": lambda d: d["chunk_grid"]["configuration"].update(
                chunk_shape=[0, 0, 0]
            ),
            "absurd chunks": lambda d: d["chunk_grid"]["configuration"].update(
                chunk_shape=[10**9] * 3
            ),
            "smaller chunks": lambda d: d["chunk_grid"]["configuration"].update(
                chunk_shape=[1, 1, 1]
            ),
            "chunks of fewer axes": lambda d: d["chunk_grid"]["configuration"].update(
                chunk_shape=[2, 5]
            ),
            "irregular chunks": lambda d: d["chunk_grid"].update(name="rectangular"),
            "another separator": lambda d: d["chunk_key_encoding"]["configuration"].update(
                separator="/"
            ),
            "transformers": _replaced("storage_transformers", [{"name": "x"}]),
        }.items()
    },
}


@pytest.mark.parametrize("case", METADATA)
def test_metadata_of_arrays_that_do_not_fit(run, case):
    place, damage = METADATA[case]
    damage(run / "arrays.zarr" / place)
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(run)


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
def test_damaged_arrays(run, damage):
    for array in ("draws/labels", "draws/log_u", "draws/theta", "data/entries", "arrays/array0"):
        copied = run.with_name("copy")
        shutil.copytree(run, copied)
        chunk = next(p for p in (copied / "arrays.zarr" / array).glob("c.*"))
        damage(chunk)
        with pytest.raises(ValueError, match=f"arrays.zarr.{array.split('/')[0]}"):
            load(copied)
        shutil.rmtree(copied)


def test_every_changed_byte_of_a_chunk_is_noticed_or_harmless(run):
    original = load(run)
    chunk = next(p for p in (run / "arrays.zarr/draws/log_u").glob("c.*"))
    content = chunk.read_bytes()
    noticed = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        chunk.write_bytes(bytes(damaged))
        try:
            loaded = load(run)
        except ValueError:
            noticed += 1
        else:
            np.testing.assert_array_equal(original.log_u, loaded.log_u)
    assert noticed > 0.9 * len(content)


def test_arrays_missing_or_too_many(run):
    shutil.copytree(run / "arrays.zarr/draws/log_u", run / "arrays.zarr/draws/extra")
    with pytest.raises(ValueError, match="draws must hold the arrays"):
        load(run)
    shutil.rmtree(run / "arrays.zarr/draws/extra")
    shutil.rmtree(run / "arrays.zarr/draws/log_u")
    with pytest.raises(ValueError, match="draws must hold the arrays"):
        load(run)
    shutil.rmtree(run / "arrays.zarr")
    with pytest.raises(ValueError, match=r"arrays\.zarr"):
        load(run)


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
def test_data_that_no_user_could_have_given(run, part, values, words):
    store = run / "arrays.zarr"
    data = {}
    for name in PARTS:
        metadata = json.loads((store / "data" / name / "zarr.json").read_text())
        shape = tuple(metadata["shape"])
        data[name] = StoredArray.open(store / "data" / name, ("float64", "int64"), shape).read()
    data[part][: len(values)] = values
    shutil.rmtree(store / "data")
    write_group(store, "data", {name: (("entry",), values) for name, values in data.items()})
    with pytest.raises(ValueError, match=rf"arrays\.zarr.data.*{words}"):
        load(run)


def test_a_zarr_v2_store_with_pickled_objects_is_not_opened(run, tmp_path):
    """Zarr's older format can name pickle as a filter: reading such a file would run it."""
    marker = tmp_path / "executed"

    class Payload:
        def __reduce__(self):
            return (Path.touch, (marker,))

    labels = run / "arrays.zarr/draws/labels"
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
        load(run)
    assert not marker.exists()


def test_reading_imports_nothing_that_a_file_names(run, monkeypatch):
    import importlib

    imported = []
    original = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda name, *a: imported.append(name) or original(name, *a)
    )
    change_json(run / "mixwood.json", lambda d: d["resolved"].update({"$type": "subprocess.Popen"}))
    with pytest.raises(ValueError, match="not a type that mixwood writes"):
        load(run)
    assert imported  # our own modules
    assert not any("subprocess" in name or "Popen" in name for name in imported)


def test_mixture_in_settings_and_elsewhere_is_checked_like_a_users():
    with pytest.raises(TypeError, match="prior must be"):
        decode({"$type": "Mixture", "parameters": {"prior": 5}}, [])
    assert decode(json.loads(json.dumps(encode(Mixture(), []))), []) == Mixture()
