"""`mw.sample` as a user meets it."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

import mixwood as mw
import mixwood._support.memory

X = np.random.default_rng(0).normal(size=(40, 2)) + 8 * (np.arange(40) % 3)[:, None]
#: Fixed, and so without the search for a base measure: most of what is tested has no need of it.
MODEL = mw.Mixture(mw.Gaussian(scale="data"))
FAST = {"draws": 15, "warmup": 5, "chains": 2, "seed": 3, "progress": False}


def sample(data=X, model=None, **options):
    return mw.sample(model or MODEL, data, **{**FAST, **options})


def assert_same_draws(first, second):
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.log_joint, second.log_joint)
    np.testing.assert_array_equal(first.log_u, second.log_u)


def test_shapes_and_contents(prior):
    post = sample(model=mw.Mixture(mw.Gaussian(), prior))
    assert post.labels.shape == (2, 15, 40)
    assert post.labels.dtype == np.int8
    for name in ("n_clusters", "log_joint", "u", *prior.parameters):
        values = getattr(post, name)
        assert values.shape == (2, 15)
        assert np.all(np.isfinite(values))
    assert np.all(post.u > 0)
    assert post.settings["sampler"] == repr(mw.Tree())
    assert post.stats[0]["subtree"]["proposed"] == 20 * 20
    assert sample(sampler="gibbs").stats[0]["gibbs"]["proposed"] == 40 * 20


def test_labels_are_in_order_of_appearance():
    post = sample()
    for labels in post.labels.reshape(-1, 40):
        firsts = [int(np.flatnonzero(labels == k)[0]) for k in range(labels.max() + 1)]
        assert firsts == sorted(firsts)
        assert labels[0] == 0


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_the_number_of_threads_does_not_matter(n_jobs):
    assert_same_draws(sample(), sample(n_jobs=n_jobs))


@pytest.mark.parametrize("chains", [1, 2])
def test_the_joblib_backend_does_not_matter(chains):
    with joblib.parallel_config("loky", n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the pool of processes says is not ours
        elsewhere = sample(chains=chains)
    assert_same_draws(sample(chains=chains), elsewhere)


def test_seeds():
    assert_same_draws(sample(seed=5), sample(seed=np.random.SeedSequence(5)))
    sequence = np.random.SeedSequence(5)
    assert_same_draws(sample(seed=sequence), sample(seed=sequence))
    assert_same_draws(sample(seed=np.random.default_rng(1)), sample(seed=np.random.default_rng(1)))
    assert not np.array_equal(sample(seed=5).log_joint, sample(seed=6).log_joint)
    assert not np.array_equal(sample(seed=None).log_joint, sample(seed=None).log_joint)


def test_the_posterior_keeps_its_own_data():
    mine = X.copy()
    for given in (mine, mine[:], mine[:, 0]):
        post = sample(given)
        assert not np.shares_memory(post.X, mine)


def test_chains_differ():
    post = sample()
    assert not np.array_equal(post.log_joint[0], post.log_joint[1])


def test_thinning_keeps_every_kth_draw():
    all_draws = sample(draws=30)
    thinned = sample(draws=10, thin=3)
    np.testing.assert_array_equal(thinned.labels, all_draws.labels[:, 2::3])


def test_warmup_is_left_out():
    """With a sampler that learns nothing, so that its warm-up is like the rest."""
    short = sample(draws=10, warmup=20, sampler="gibbs").log_joint
    np.testing.assert_array_equal(
        short, sample(draws=30, warmup=0, sampler="gibbs").log_joint[:, 20:]
    )


def test_starts():
    still = mw.Gibbs(subset=1)
    first = {"draws": 1, "warmup": 0, "chains": 1, "sampler": still}
    assert sample(init="one", **first).n_clusters[0, 0] <= 2
    assert sample(init="singletons", **first).n_clusters[0, 0] >= 39
    labels = np.arange(40) % 7 * 100 - 5
    assert 6 <= sample(init=labels, **first).n_clusters[0, 0] <= 8


@pytest.mark.parametrize("init", ["ibhc", "on-top"])
def test_tree_starts_differ_from_chain_to_chain_and_not_from_run_to_run(init):
    assert_same_draws(sample(init=init), sample(init=init, n_jobs=1))
    data, _ = mw.datasets.toy()
    still = {"draws": 1, "warmup": 0, "chains": 2, "sampler": mw.Gibbs(subset=1), "init": init}
    post = sample(data, **still)
    assert not np.array_equal(post.labels[0], post.labels[1])


def test_trees_are_the_default_start_and_a_good_one():
    data, _ = mw.datasets.toy()
    still = {"draws": 1, "warmup": 0, "chains": 2, "sampler": mw.Gibbs(subset=1)}
    default, one, bad = (sample(data, **still, **other).log_joint.mean()
                         for other in ({}, {"init": "one"}, {"init": "on-top"}))  # fmt: skip
    assert default > max(one, bad) + 500


def test_finds_separated_clusters():
    post = sample(draws=50, warmup=100, init="singletons")
    best = post.labels[np.unravel_index(np.argmax(post.log_joint), post.log_joint.shape)]
    np.testing.assert_array_equal(best, np.arange(40) % 3)


def test_log_joint_is_that_of_the_twin(family_case, prior):
    likelihood, data = family_case(12)
    post = sample(data, mw.Mixture(likelihood, prior), draws=3, chains=1)
    model = mw.Mixture(post.resolved, prior)
    twin = mw.reference.GibbsChain(model, post.X, post.labels[0, -1], np.random.default_rng(0))
    drawn = post.core_values()
    values = {name: float(getattr(drawn, name)[0, -1]) for name in ("log_alpha", "sigma", "theta")}
    twin.family.set_base(post.bases[0, -1])
    twin.set_state(post.labels[0, -1], float(post.log_u[0, -1]), **values)
    assert twin.log_joint() == pytest.approx(post.log_joint[0, -1], rel=1e-10, abs=1e-8)


def test_units_do_not_matter(prior):
    """Posteriors of X and of 1000 X + b agree under a Gaussian that is fixed by the data."""
    one = sample(model=mw.Mixture(MODEL.likelihood, prior), draws=40)
    other = sample(1000 * X + 77, mw.Mixture(MODEL.likelihood, prior), draws=40)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.log_joint, other.log_joint + X.size * np.log(1000), rtol=1e-9)


def test_units_of_each_column_do_not_matter():
    other = sample(X * [1e-6, 1e8] + [1e3, -5])
    np.testing.assert_array_equal(sample().labels, other.labels)


def test_a_time_limit_cuts_all_chains_to_the_shortest():
    with pytest.warns(RuntimeWarning, match="stopped early"):
        post = sample(
            draws=10**6, warmup=0, max_seconds=0.5, chains=3, thin=20, n_jobs=1, init="one"
        )
    assert post.labels.shape[0] == 3
    assert 1 <= post.n_draws < 10**6
    assert np.all(np.isfinite(post.log_joint))


def test_no_draw_at_all_is_an_error():
    with pytest.raises(RuntimeError, match="first draw"):
        sample(warmup=10**8, max_seconds=0.05)


def chain_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("mixwood")]


def while_chains_run(act):
    """Start a thread that waits until chains run, and some draws more, and then acts."""

    def wait_and_act():
        while not chain_threads():
            time.sleep(0.01)
        time.sleep(0.4)
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


@pytest.mark.usefixtures("interruptible")
def test_interrupting_keeps_what_was_drawn():
    thread = while_chains_run(_thread.interrupt_main)
    with pytest.warns(RuntimeWarning) as caught:
        post = sample(draws=10**6, warmup=0, thin=100, max_seconds=60)
    thread.join()
    assert any("interrupted" in str(w.message) for w in caught)
    assert 1 <= post.n_draws < 10**6


def test_labels_beyond_memory_go_to_a_file(monkeypatch, tmp_path):
    post = sample()
    monkeypatch.setattr("mixwood._support.memory.available_bytes", lambda: 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.warns(RuntimeWarning, match=f"temporary file in {tmp_path}"):
        other = sample()
    assert_same_draws(post, other)
    assert other.labels.base is not None
    assert not isinstance(other.labels.base, bytes)
    assert list(tmp_path.iterdir()) == []  # it goes with the array


def test_missing_entries_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr("mixwood.sampling.sample.available_bytes", lambda: 1000)
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[::3, 0] = np.nan
    with pytest.raises(MemoryError, match=r"of memory, and 0\.0 MiB are available; .*thin"):
        mw.sample(mw.Mixture(mw.Gaussian(scale="data")), X, progress=False)


def test_a_store_is_a_saved_posterior(tmp_path):
    post = sample(store=tmp_path / "run")
    assert_same_draws(post, mw.load(tmp_path / "run"))


def test_a_store_that_holds_a_run_is_refused_before_any_work(tmp_path, monkeypatch):
    sample(store=tmp_path / "run")
    monkeypatch.setattr("mixwood.sampling.sample._fitted", None)
    with pytest.raises(FileExistsError, match=r"holds a mixwood run already.*mixwood\.resume$"):
        sample(store=tmp_path / "run")
    with pytest.raises(TypeError, match=r"^store must be the name of a folder, got 3"):
        sample(store=3)


BAD = {
    "model": ({"model": "gaussian"}, TypeError, "model"),
    "draws zero": ({"draws": 0}, ValueError, "draws"),
    "draws float": ({"draws": 1.5}, TypeError, "draws"),
    "draws bool": ({"draws": True}, TypeError, "draws"),
    "chains": ({"chains": 0}, ValueError, "chains"),
    "thin": ({"thin": 0}, ValueError, "thin"),
    "warmup": ({"warmup": -1}, ValueError, "warmup"),
    "max_seconds": ({"max_seconds": 0}, ValueError, "max_seconds"),
    "max_seconds nan": ({"max_seconds": np.nan}, ValueError, "max_seconds"),
    "n_jobs": ({"n_jobs": 0}, ValueError, "n_jobs"),
    "seed text": ({"seed": "x"}, TypeError, "seed"),
    "seed negative": ({"seed": -1}, ValueError, "seed"),
    "init length": ({"init": [0, 1]}, ValueError, "init"),
    "init name": ({"init": "two"}, ValueError, "init must be one of 'ibhc'"),
    "init fractions": ({"init": np.full(40, 0.5)}, TypeError, "init"),
    "init text": ({"init": ["a"] * 40}, TypeError, "init"),
    "sampler name": ({"sampler": "nuts"}, ValueError, "sampler"),
    "sampler type": ({"sampler": 3}, TypeError, "sampler"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    options, error, match = BAD[case]
    with pytest.raises(error, match=match):
        mw.sample(**{"model": MODEL, "X": X, **FAST, **options})


def test_wrong_kinds_of_model_parts():
    with pytest.raises(TypeError, match="likelihood"):
        mw.Mixture("gaussian")
    with pytest.raises(TypeError, match="prior"):
        mw.Mixture(prior=mw.NGGP)


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((10, 2)),
        np.ones((1, 3)),
        np.arange(12.0),
        np.repeat(X[:3], 5, axis=0),
        np.random.default_rng(0).normal(size=(5, 9)),
        1e9 + np.random.default_rng(0).normal(size=(20, 2)),
        np.column_stack([np.arange(20.0), np.full(20, 7.0)]),
        np.column_stack([np.arange(20.0), np.arange(20.0)]),
        np.arange(40).reshape(20, 2),
        X.astype(np.float32),
    ],
    ids=["zeros", "one row", "one column", "duplicates", "n < d", "offset", "constant column",
         "collinear", "integers", "float32"],
)  # fmt: skip
@pytest.mark.parametrize(
    "likelihood", [mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()]
)
@pytest.mark.filterwarnings("ignore:column 1 is a .* left out:UserWarning")
def test_odd_but_right_data(data, likelihood):
    post = sample(data, mw.Mixture(likelihood))
    assert np.all(np.isfinite(post.log_joint))


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 1e160, 5e-324])
@pytest.mark.parametrize(
    "likelihood", [mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()]
)
@pytest.mark.parametrize("where", ["all", "one entry"])
def test_extreme_values_give_numbers_or_an_error(value, likelihood, where):
    data = X * value if where == "all" else np.where(np.arange(80).reshape(40, 2) == 5, value, X)
    try:
        with np.errstate(all="ignore"):
            post = sample(data, mw.Mixture(likelihood))
    except ValueError as error:
        assert "rescale" in str(error)  # noqa: PT017
    else:
        assert np.all(np.isfinite(post.log_joint))


def test_fixed_parameters_that_do_not_fit_the_data():
    with pytest.raises(ValueError, match="nu"):
        sample(model=mw.Mixture(mw.Gaussian(nu=0.5)))
    with pytest.raises(ValueError, match="3"):
        sample(model=mw.Mixture(mw.Gaussian(mean=[0.0, 0.0, 0.0])))


def test_progress_is_silent_where_nobody_looks(capsys):
    sample(progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


VAGUE = mw.hyper.Gamma(0.001, 0.001)


@pytest.mark.parametrize(
    "prior",
    [
        mw.DirichletProcess(VAGUE),
        mw.NGGP(VAGUE, mw.hyper.Beta(0.1, 1)),
        mw.PitmanYor(VAGUE, 0.5),
        mw.NGGP(1e90, 0.3),
        mw.NGGP(1.0, 1e-9),
        mw.NGGP(1.0, 1 - 1e-12),
    ],
    ids=repr,
)
def test_vague_and_extreme_priors_give_numbers(prior):
    post = sample(np.zeros((5, 1)), mw.Mixture(mw.Gaussian(scale="data"), prior), draws=2000)
    for name in ("log_joint", "log_u", *prior.parameters):
        assert np.all(np.isfinite(getattr(post, name)))


def test_no_thread_is_left_behind_by_other_interruptions():
    """A signal handler may raise anything; the chains are stopped and it goes on its way."""

    def too_late(*_):
        raise TimeoutError("too late")

    old = signal.signal(signal.SIGALRM, too_late)
    thread = while_chains_run(lambda: os.kill(os.getpid(), signal.SIGALRM))
    try:
        with pytest.raises(TimeoutError, match="too late"):
            sample(draws=10**6, warmup=0, thin=100)
    finally:
        thread.join()
        signal.signal(signal.SIGALRM, old)
    assert not chain_threads()


def test_a_scale_far_too_small_is_warned_of():
    with pytest.warns(RuntimeWarning, match="scale"):
        sample(1e8 * X, mw.Mixture(mw.Gaussian(scale="paper")))


@pytest.mark.usefixtures("failing_chains")
def test_a_chain_that_fails_keeps_its_draws():
    """What was drawn before an error is returned, with a warning that tells it."""
    with pytest.warns(RuntimeWarning, match="out of numbers"):
        post = sample(draws=15, warmup=5)
    assert post.n_draws == 7
