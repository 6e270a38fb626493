"""What is no run, or says of itself what cannot be: refused with the name of the file."""

from __future__ import annotations

import json
import pickle

import pytest

from mixwood.model import Mixture
from mixwood.store.json_codec import decode, encode
from mixwood.store.load import load


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


def test_a_newer_format_asks_for_a_newer_mixwood(saved, change_json):
    change_json(saved / "mixwood.json", lambda d: d.update(format_version=2, mixwood_version="9.9"))
    with pytest.raises(ValueError, match=r"format version 2, written by mixwood '9\.9'.*newer"):
        load(saved)


def _replaced(key, value):
    return lambda d: d.__setitem__(key, value)


def _without(key):
    return lambda d: d.pop(key)


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
def test_descriptions_that_do_not_fit(saved, case, change_json):
    change_json(saved / "mixwood.json", DESCRIPTIONS[case])
    with pytest.raises(ValueError, match=r"mixwood\.json|arrays\.zarr"):
        load(saved)


def test_reading_imports_nothing_that_a_file_names(saved, monkeypatch, change_json):
    import importlib

    imported = []
    original = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda name, *a: imported.append(name) or original(name, *a)
    )
    change_json(
        saved / "mixwood.json", lambda d: d["resolved"].update({"$type": "subprocess.Popen"})
    )
    with pytest.raises(ValueError, match="not a type that mixwood writes"):
        load(saved)
    assert imported  # our own modules
    assert not any("subprocess" in name or "Popen" in name for name in imported)


def test_mixture_in_settings_and_elsewhere_is_checked_like_a_users():
    with pytest.raises(TypeError, match="prior must be"):
        decode({"$type": "Mixture", "parameters": {"prior": 5}}, [])
    assert decode(json.loads(json.dumps(encode(Mixture(), []))), []) == Mixture()


def test_a_chain_number_is_not_a_path(run, change_json, assert_refused):
    """Nothing in a file says where another file is."""
    change_json(run / "mixwood.json", lambda d: d.update(chains="../../x"))
    assert_refused(run, r"mixwood\.json is not valid: chains")


@pytest.mark.parametrize("ways", [5, [[]], [[True, 0]], [[1, 0, 0]], [[True, -1, 0]]])
def test_ways_to_start_that_are_none(run, change_json, assert_refused, ways):
    change_json(run / "mixwood.json", lambda d: d["plan"].update(ways=ways))
    assert_refused(run, r"mixwood\.json is not valid")


def test_whatever_the_core_says_the_folder_is_named(run, monkeypatch, resume):
    def fail(*_arguments, **_options):
        raise RuntimeError("X has rows so far apart that ...")

    monkeypatch.setattr("mixwood.core.make_chain", fail)
    with pytest.raises(ValueError, match=r"run.* cannot be resumed: X has rows so far apart"):
        resume(run)


def test_a_start_that_is_none_is_said_to_be_of_the_manifest(run, change_json, resume):
    change_json(run / "mixwood.json", lambda d: d["plan"].update(init="elsewhere"))
    with pytest.raises(ValueError, match=r"run cannot be resumed, as mixwood\.json or .*: init"):
        resume(run)
