"""Run folders: exact round trips, and a clear refusal of everything else."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from mixwood import hyper, storage
from mixwood.encoding import decode, encode
from mixwood.families import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    SphericalGaussian,
)
from mixwood.model import Mixture
from mixwood.priors import NGGP, DirichletProcess, NormalizedInverseGaussian, PitmanYor
from mixwood.samplers import Gibbs
from mixwood.storage import check_destination, load

REAL = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(1).poisson(1.0, (12, 3))
WITH_MISSING = np.where(REAL > 1, np.nan, REAL)

LIKELIHOODS = {
    "Gaussian": (Gaussian(), REAL),
    "Gaussian, paper": (Gaussian(scale="paper", nu=9.5), REAL),
    "Gaussian, explicit": (Gaussian(mean=[0.1, 1 / 3], scale=[[2, 0.3], [0.3, 1]]), REAL),
    "DiagonalGaussian": (DiagonalGaussian(r=0.2), WITH_MISSING),
    "DiagonalGaussian, explicit": (DiagonalGaussian(mean=[0, 1], scale=[1, 2]), REAL),
    "SphericalGaussian": (SphericalGaussian(), REAL),
    "SphericalGaussian, explicit": (SphericalGaussian(scale=0.7), REAL),
    "Multinomial": (Multinomial(beta=0.3), COUNTS),
    "Multinomial, all zeros": (Multinomial(), np.zeros((12, 3))),
    "Bernoulli": (Bernoulli(a=0.5), COUNTS > 0),
    "Categorical": (Categorical(), COUNTS),
    "Categorical, explicit": (Categorical(n_categories=(9, 10, 11)), COUNTS),
    "Categorical, one number": (Categorical(n_categories=20), COUNTS),
    "Poisson": (Poisson(shape=2), np.where(COUNTS > 3, np.nan, COUNTS)),
    "Poisson, explicit": (Poisson(rate=[1, 2, 3]), COUNTS),
    "Poisson, one rate": (Poisson(rate=0.1), COUNTS),
}
PRIORS = [
    DirichletProcess(),
    DirichletProcess(alpha=0.1),
    NGGP(),
    NGGP(alpha=1 / 3, sigma=hyper.Beta(0.1, 0.7)),
    NGGP(alpha=1.0, sigma=0.5),
    NormalizedInverseGaussian(),
    NormalizedInverseGaussian(alpha=2),
    PitmanYor(),
    PitmanYor(theta=hyper.Gamma(0.5, 0.25), sigma=0.3),
]


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def assert_same_array(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()  # -0.0, NaN too


def assert_same_value(a, b):
    """Compare nested values exactly, types included, NaN equal to NaN."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same_value(one, other)
    elif isinstance(a, np.ndarray):
        assert_same_array(a, b)
    elif isinstance(a, np.random.SeedSequence):
        assert a.state == b.state
    else:
        assert a == b or (a != a and b != b)


def assert_same_data(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert_same_array(a, b)
        return
    assert a.shape == b.shape
    for part in ("data", "indices", "indptr"):
        assert_same_array(getattr(a, part), getattr(b, part))


def assert_same_posterior(a, b, *, data=True):
    for name in ("labels", "log_joint", "log_u", "n_clusters"):
        assert_same_array(getattr(a, name), getattr(b, name))
    assert set(a.parameters) == set(b.parameters)
    for name, draws in a.parameters.items():
        assert_same_array(draws, b.parameters[name])
    assert a.model == b.model
    assert repr(a.model) == repr(b.model)
    assert a.resolved == b.resolved
    assert_same_value(a.stats, b.stats)
    assert_same_value(a.settings, b.settings)
    if data:
        assert_same_data(a.X, b.X)
    else:
        assert b.X is None


def files_under(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# --- round trips ---------------------------------------------------------------------


@pytest.mark.parametrize("case", LIKELIHOODS)
@pytest.mark.parametrize("include_data", [True, False])
def test_round_trip_of_every_likelihood(make_posterior, tmp_path, case, include_data):
    likelihood, X = LIKELIHOODS[case]
    posterior = make_posterior(likelihood, X=X, draws=3)
    assert posterior.save(tmp_path / "run", include_data=include_data) is None
    assert_same_posterior(posterior, load(tmp_path / "run"), data=include_data)
    assert os.listdir(tmp_path) == ["run"]
    assert sorted(os.listdir(tmp_path / "run")) == ["arrays.zarr", "mixwood.json"]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_round_trip_of_every_prior(make_posterior, tmp_path, prior):
    posterior = make_posterior(prior=prior, draws=3)
    posterior.save(tmp_path / "run")
    assert_same_posterior(posterior, load(tmp_path / "run"))


def test_round_trip_of_extreme_draws(make_posterior, tmp_path):
    posterior = make_posterior(chains=1, draws=4)
    strange = np.array([[-0.0, 5e-324, -np.inf, np.nan]])
    posterior = dataclasses.replace(posterior, log_joint=strange, log_u=[[1e300, -1e5, 0.1, 1 / 3]])
    posterior.save(tmp_path / "run")
    assert_same_posterior(posterior, load(tmp_path / "run"))


@pytest.mark.parametrize(
    ("clusters", "stored"), [(256, "uint8"), (257, "uint16"), (65536, "uint16"), (65537, "int32")]
)
def test_labels_take_the_least_room(make_posterior, tmp_path, clusters, stored):
    posterior = make_posterior(X=np.arange(clusters), chains=1, draws=1)
    posterior = dataclasses.replace(posterior, labels=np.arange(clusters)[None, None])
    posterior.save(tmp_path / "run")
    metadata = json.loads((tmp_path / "run/arrays.zarr/draws/labels/zarr.json").read_text())
    assert metadata["data_type"] == stored
    assert_same_posterior(posterior, load(tmp_path / "run"))


def test_arrays_of_several_files(make_posterior, tmp_path, monkeypatch):
    monkeypatch.setattr("mixwood.array_store.CHUNK_ENTRIES", 50)
    monkeypatch.setattr("mixwood.storage._LABELS_AT_ONCE", 30)
    posterior = make_posterior(draws=60, items=75, seed=3)
    posterior.save(tmp_path / "run")
    assert len(files_under(tmp_path / "run/arrays.zarr/draws/labels/c")) > 10
    assert_same_posterior(posterior, load(tmp_path / "run"))


def test_large_arrays_are_stored_apart_from_the_json(make_posterior, tmp_path):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 20))
    likelihood = Gaussian(scale=A @ A.T + np.eye(20))
    posterior = make_posterior(likelihood, X=rng.normal(size=(12, 20)), draws=2)
    posterior.settings["init"] = np.arange(1000)
    posterior.settings["flags"] = np.arange(300) % 2 == 0
    posterior.save(tmp_path / "run")
    assert (tmp_path / "run" / "mixwood.json").stat().st_size < 5000
    loaded = load(tmp_path / "run")
    assert_same_posterior(posterior, loaded)
    shutil.rmtree(tmp_path / "run" / "arrays.zarr" / "arrays")
    with pytest.raises(ValueError, match=r"arrays\.zarr.arrays"):
        load(tmp_path / "run")


def test_settings_of_every_kind(make_posterior, tmp_path):
    posterior = make_posterior(draws=2)
    settings = {
        "numbers": [0.1, -0.0, 1e-320, float("inf"), float("-inf"), float("nan"), 7, True, None],
        "big": 2**200 + 1,
        "seed": np.random.SeedSequence([1, 2**100], spawn_key=(3, 4)),
        "tuple": (1, (2.5, "three"), []),
        "keys": {1: "one", (2, 3): "pair", None: 0},
        "$type": {"$type": "a user's own"},
        "array": np.array([[1.5, np.nan], [-np.inf, 0.0]]),
        "scalar array": np.array(3, dtype=np.int16),
        "empty": np.empty((0, 3), dtype=np.float32),
        "sampler": Gibbs(subset=5),
        "prior": NGGP(),
        "text": 'ünï\n"quoted"\u2028',
    }
    posterior = dataclasses.replace(posterior, settings=settings, stats=[])
    posterior.save(tmp_path / "run")
    assert_same_value(posterior.settings, load(tmp_path / "run").settings)
    json.loads(  # strict JSON: other programs can read it
        (tmp_path / "run/mixwood.json").read_text("utf-8"), parse_constant=pytest.fail
    )


def test_numpy_scalars_become_plain_numbers(make_posterior, tmp_path):
    posterior = make_posterior(draws=2)
    posterior.settings.update(a=np.float64(0.1), b=np.int32(3), c=np.bool_(True), d=np.float32(0.1))
    posterior.save(tmp_path / "run")
    loaded = load(tmp_path / "run").settings
    assert [type(loaded[k]) for k in "abcd"] == [float, int, bool, float]
    assert [loaded[k] for k in "abcd"] == [0.1, 3, True, float(np.float32(0.1))]


def test_json_round_trips_whatever_is_nested():
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    keys = st.text() | st.integers() | st.sampled_from(["$type", "stored", "values"])
    values = st.recursive(
        plain,
        lambda v: st.lists(v) | st.tuples(v, v) | st.dictionaries(keys, v),
        max_leaves=20,
    )

    @hypothesis.given(values)
    @hypothesis.settings(max_examples=100, deadline=None, database=None)
    def check(value):
        text = json.dumps(encode(value, []), allow_nan=False)
        assert_same_value(value, decode(json.loads(text), []))

    check()


def test_paths(make_posterior, tmp_path, monkeypatch):
    posterior = make_posterior(draws=2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    posterior.save("a")
    posterior.save(Path("deep/er"))
    posterior.save("~/home")
    (tmp_path / "empty").mkdir()
    posterior.save(str(tmp_path / "empty"))
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    posterior.save("link")
    for path in ("a", "deep/er", "~/home", "empty", "link", "elsewhere"):
        assert_same_posterior(posterior, load(path))
    assert (tmp_path / "link").is_symlink()


# --- saving where something is ---------------------------------------------------------


def test_a_run_is_replaced_only_if_asked_and_other_files_stay(make_posterior, tmp_path):
    first, second = make_posterior(draws=2, seed=1), make_posterior(draws=3, seed=2)
    run = tmp_path / "run"
    first.save(run)
    (run / "notes.txt").write_text("mine")
    before = files_under(run)
    with pytest.raises(FileExistsError, match=r"run holds a mixwood run already.*overwrite=True"):
        second.save(run)
    assert files_under(run) == before
    second.save(run, overwrite=True)
    assert_same_posterior(second, load(run))
    assert (run / "notes.txt").read_text() == "mine"
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_ours_is_never_replaced(make_posterior, tmp_path, overwrite):
    posterior = make_posterior(draws=2)
    (tmp_path / "file").write_text("x")
    for name, content in (("other", "{}"), ("broken", "{"), ("theirs", '{"format": "other"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mixwood.json").write_text(content)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    before = files_under(tmp_path)
    for name in ("file", "other", "broken", "theirs", "photos"):
        with pytest.raises(FileExistsError, match=name):
            check_destination(tmp_path / name, overwrite=overwrite)
        with pytest.raises(FileExistsError, match=name):
            posterior.save(tmp_path / name, overwrite=overwrite)
    assert files_under(tmp_path) == before
    assert check_destination(tmp_path / "new") is False


@pytest.mark.parametrize("fault", [OSError("no space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["write_group", "_write_data", "_replace"])
def test_a_failure_leaves_what_was_there(make_posterior, tmp_path, monkeypatch, fault, step):
    first, second = make_posterior(draws=2, seed=1), make_posterior(draws=2, seed=2)
    first.save(tmp_path / "run")

    def fail(*_args, **_options):
        raise fault

    monkeypatch.setattr(storage, step, fail)
    with pytest.raises(type(fault)):
        second.save(tmp_path / "run", overwrite=True)
    if step != "_replace":
        with pytest.raises(type(fault)):
            second.save(tmp_path / "new")
    assert os.listdir(tmp_path) == ["run"]
    assert_same_posterior(first, load(tmp_path / "run"))


def test_a_failure_between_the_two_renames_puts_the_old_run_back(
    make_posterior, tmp_path, monkeypatch
):
    first, second = make_posterior(draws=2, seed=1), make_posterior(draws=2, seed=2)
    first.save(tmp_path / "run")
    rename = Path.rename

    def fail_for_the_new_one(self, target):
        if self.name.endswith(".unfinished"):
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(OSError, match="no"):
        second.save(tmp_path / "run", overwrite=True)
    assert os.listdir(tmp_path) == ["run"]
    assert_same_posterior(first, load(tmp_path / "run"))


def test_what_cannot_be_saved_says_where_it_is(make_posterior, tmp_path):
    posterior = make_posterior(draws=2)

    class OwnPrior(NGGP):
        pass

    for value, words in (
        (object(), r"settings\.odd\[1\] cannot be saved"),
        (1j, "cannot be saved"),
        (np.array(["text"]), "arrays of <U4"),
        (np.array([1j]), "arrays of complex128"),
        (np.array([None]), "arrays of object"),
        (OwnPrior(), "cannot be saved"),
        (Gaussian, "cannot be saved"),
        (len, "cannot be saved"),
    ):
        posterior.settings["odd"] = [0, value]
        with pytest.raises(TypeError, match=words):
            posterior.save(tmp_path / "run")
    assert os.listdir(tmp_path) == []


def test_a_posterior_without_data_says_so(make_posterior, tmp_path):
    make_posterior(draws=2).save(tmp_path / "run", include_data=False)
    loaded = load(tmp_path / "run")
    with pytest.raises(ValueError, match=r"needs the data X.*include_data=False"):
        loaded.to_arviz(log_likelihood=True)
    loaded.save(tmp_path / "again")  # nothing to leave out
    assert load(tmp_path / "again").X is None


# --- loading what is not ours, or broken ------------------------------------------------


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


NOT_A_LIKELIHOOD = {"$type": "NGGP", "parameters": {"alpha": 1.0, "sigma": 0.5}}
DESCRIPTIONS = {
    **{
        f"no {key}": (lambda key: lambda d: d.pop(key))(key)
        for key in ("chains", "draws", "items", "model", "resolved", "settings", "stats", "data")
    },
    "no arrays": lambda d: d.pop("arrays"),
    "chains of text": _replaced("chains", "2"),
    "no chains at all": _replaced("chains", 0),
    "more chains": _replaced("chains", 3),
    "fewer draws": _replaced("draws", 4),
    "absurd draws": _replaced("draws", 10**18),
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
        name: (LABELS, (lambda change: lambda path: change_json(path, change))(change))
        for name, change in {
            "old format": _replaced("zarr_format", 2),
            "a group": _replaced("node_type", "group"),
            "absurd shape": _replaced("shape", [10**9, 10**9, 10**9]),
            "fewer axes": _replaced("shape", [2, 5]),
            "shape of text": _replaced("shape", "2, 5, 12"),
            "wrong type": _replaced("data_type", "float64"),
            "type of another width": _replaced("data_type", "uint16"),
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
                separator="."
            ),
            "transformers": _replaced("storage_transformers", [{"name": "x"}]),
            "other names of axes": _replaced("dimension_names", ["chain", "draw", "chain"]),
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
        chunk = next(p for p in (copied / "arrays.zarr" / array / "c").rglob("*") if p.is_file())
        damage(chunk)
        with pytest.raises(ValueError, match=f"arrays.zarr.{array.split('/')[0]}"):
            load(copied)
        shutil.rmtree(copied)


def test_every_changed_byte_of_a_chunk_is_noticed_or_harmless(run):
    original = load(run)
    chunk = next(p for p in (run / "arrays.zarr/draws/log_u/c").rglob("*") if p.is_file())
    content = chunk.read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        chunk.write_bytes(bytes(damaged))
        try:
            loaded = load(run)
        except ValueError as error:
            assert "arrays.zarr" in str(error)
        else:
            assert_same_posterior(original, loaded)


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
    import xarray as xr

    store = run / "arrays.zarr"
    with xr.open_dataset(
        store, engine="zarr", group="data", consolidated=False, decode_cf=False
    ) as opened:
        data = opened.load()
    for name in data.variables:
        data[name].encoding.clear()
    data[part].values[: len(values)] = values
    shutil.rmtree(store / "data")
    from mixwood.array_store import write_group

    write_group(
        store, "data", {n: (data[n].dims, data[n].values) for n in ("entries", "columns", "starts")}
    )
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
