"""Run folders: exact round trips, and a clear refusal of everything else."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import warnings
from pathlib import Path

import hypothesis
import hypothesis.strategies
import numpy as np
import pytest

from mixwood import hyper
from mixwood.likelihoods import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Regression,
    SphericalGaussian,
)
from mixwood.priors import (
    NGGP,
    DirichletProcess,
    FiniteMixture,
    NormalizedInverseGaussian,
    PitmanYor,
)
from mixwood.samplers import Gibbs
from mixwood.store import folders, save
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import check_destination
from mixwood.store.json_codec import decode, encode
from mixwood.store.load import load

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
    "Poisson, exposed": (Poisson(exposure=np.linspace(0.5, 2.0, 12)), COUNTS),
    "Regression": (Regression(2, on=[0]), np.random.default_rng(2).normal(size=(12, 3))),
    "NegativeBinomial": (NegativeBinomial(), COUNTS),
    "Poisson, explicit": (Poisson(rate=[1, 2, 3]), COUNTS),
    "Poisson, one rate": (Poisson(rate=0.1), COUNTS),
}
# with numbers that decimals cannot hold, and distributions as parameters
WRITTEN_PRIORS = [
    DirichletProcess(),
    DirichletProcess(alpha=0.1),
    NGGP(),
    NGGP(alpha=1 / 3, sigma=hyper.Beta(0.1, 0.7)),
    NGGP(alpha=1.0, sigma=0.5),
    NormalizedInverseGaussian(),
    NormalizedInverseGaussian(alpha=2),
    PitmanYor(),
    PitmanYor(theta=hyper.Gamma(0.5, 0.25), sigma=0.3),
    FiniteMixture(),
    FiniteMixture(rate=1 / 3, gamma=hyper.Gamma(0.1, 0.7)),
    FiniteMixture(rate=hyper.Gamma(0.1, 1 / 3), gamma=hyper.LogNormal(1 / 3, 0.1)),
    FiniteMixture(rate=0.1, gamma=0.7),
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


@pytest.mark.parametrize("prior", WRITTEN_PRIORS, ids=repr)
def test_round_trip_of_every_prior(make_posterior, tmp_path, prior):
    posterior = make_posterior(prior=prior, draws=3)
    posterior.save(tmp_path / "run")
    assert_same_posterior(posterior, load(tmp_path / "run"))


def test_parameters_are_stored_under_the_names_of_the_prior(make_posterior, tmp_path):
    prior = FiniteMixture(gamma=hyper.Gamma(2, 1))
    posterior = make_posterior(prior=prior)
    posterior.save(tmp_path / "run")
    found = os.listdir(tmp_path / "run/arrays.zarr/draws")
    assert {"log_rate", "gamma"} < set(found)
    assert not {"log_alpha", "sigma"} & set(found)
    size = posterior.resolved.base_size
    arrays = DrawArrays.open(tmp_path / "run/arrays.zarr", prior, {"base": size}, 2, 12).scalars
    everything = [(0, 2), (0, 10)]
    np.testing.assert_array_equal(arrays["gamma"].read(everything), posterior.gamma)
    np.testing.assert_allclose(np.exp(arrays["log_rate"].read(everything)), posterior.rate)


def test_round_trip_of_extreme_draws(make_posterior, tmp_path):
    posterior = make_posterior(chains=1, draws=4)
    strange = np.array([[-0.0, 5e-324, -np.inf, np.nan]])
    posterior = dataclasses.replace(posterior, log_joint=strange, log_u=[[1e300, -1e5, 0.1, 1 / 3]])
    posterior.save(tmp_path / "run")
    assert_same_posterior(posterior, load(tmp_path / "run"))


@pytest.mark.parametrize(
    ("clusters", "stored"), [(128, "int8"), (129, "int16"), (32768, "int16"), (32769, "int32")]
)
def test_labels_take_the_least_room(make_posterior, tmp_path, monkeypatch, clusters, stored):
    posterior = make_posterior(X=np.arange(clusters), chains=1, draws=1)
    posterior = dataclasses.replace(posterior, labels=np.arange(clusters)[None, None])
    posterior.save(tmp_path / "run")
    metadata = json.loads((tmp_path / "run/arrays.zarr/draws/labels/zarr.json").read_text())
    assert metadata["data_type"] == stored
    room = posterior.labels.nbytes
    monkeypatch.setattr("mixwood._support.labels.fits", lambda needed: needed <= room)
    assert_same_posterior(posterior, load(tmp_path / "run"))
    room -= 1
    with pytest.warns(RuntimeWarning, match="temporary file"):
        assert_same_posterior(posterior, load(tmp_path / "run"))


def test_arrays_of_several_files(make_posterior, tmp_path, monkeypatch):
    monkeypatch.setattr("mixwood.store.zarr_array.CHUNK_ENTRIES", 50)
    monkeypatch.setattr("mixwood.store.draw_store.CHUNK_ENTRIES", 50)
    monkeypatch.setattr("mixwood.store.draw_store.DRAWS_AT_ONCE", 7)
    monkeypatch.setattr("mixwood.store.load._LABELS_AT_ONCE", 30)
    posterior = make_posterior(draws=60, items=75, seed=3)
    posterior.save(tmp_path / "run")
    assert len(files_under(tmp_path / "run/arrays.zarr/draws/labels")) > 10
    assert_same_posterior(posterior, load(tmp_path / "run"))
    shutil.rmtree(tmp_path / "run")
    monkeypatch.setattr("mixwood.store.draw_store.CHUNK_ENTRIES", 500)
    posterior.save(tmp_path / "run")
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
@pytest.mark.parametrize("step", ["write_manifest", "_replace"])
def test_a_failure_leaves_what_was_there(make_posterior, tmp_path, monkeypatch, fault, step):
    first, second = make_posterior(draws=2, seed=1), make_posterior(draws=2, seed=2)
    first.save(tmp_path / "run")

    def fail(*_args, **_options):
        raise fault

    monkeypatch.setattr(folders if step == "_replace" else save, step, fail)
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
    monkeypatch.setattr(folders, "exchange", lambda *_: False)  # as where there is no such call
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


def test_what_commands_wrote_of_the_run_before_goes_with_it(make_posterior, tmp_path):
    run = tmp_path / "run"
    make_posterior().save(run)
    (run / "report.html").write_text("of the run before")
    (run / "notes.txt").write_text("the user's")
    make_posterior(seed=1).save(run, overwrite=True)
    assert not (run / "report.html").exists()
    assert (run / "notes.txt").read_text() == "the user's"
