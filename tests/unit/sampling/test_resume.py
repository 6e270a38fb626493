"""Stored runs: the draws of any other run, wherever they were cut and resumed."""

from __future__ import annotations

import _thread
import json
import os
import shutil
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

import mixwood as mw
from mixwood.sampling import chain as chains
from mixwood.store import atomic_files, chain_store, draw_store
from mixwood.store.checkpoint import read_checkpoint

RNG = np.random.default_rng(1)
WHICH = np.arange(40) % 3
X = RNG.normal(size=(40, 2)) + 6 * WHICH[:, None]
COUNTS = RNG.poisson(np.where(np.arange(6) % 3 == WHICH[:, None], 4, 0.5))
MODELS = {
    "Gaussian": (mw.Mixture(mw.Gaussian(scale="data")), X),
    "learned": (mw.Mixture(mw.Gaussian()), X[:18]),
    "Multinomial": (mw.Mixture(mw.Multinomial(), mw.PitmanYor()), COUNTS),
    "Poisson": (mw.Mixture(mw.Poisson(), mw.DirichletProcess(alpha=1.0)), COUNTS),
    "finite": (
        mw.Mixture(mw.Gaussian(scale="data"), mw.FiniteMixture(gamma=mw.hyper.LogNormal(1.0, 1.0))),
        X,
    ),
}
SAMPLERS = {
    "tree": mw.Tree(rebuild=3),
    "blocks": mw.Tree(max_leaves=12),
    "gibbs": mw.Gibbs(subset=9),
    "splitmerge": mw.SplitMerge(),
    "papertree": mw.PaperTree(),
    "slice": mw.Slice(),
}
FAST = {"draws": 12, "warmup": 5, "chains": 2, "seed": 3, "progress": False}


def sample(model="Gaussian", **options):
    mixture, data = MODELS[model]
    return mw.sample(mixture, data, **{**FAST, **options})


def resume(run, **options):
    return mw.resume(run, progress=False, **options)


def assert_same_draws(first, second):
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.log_joint, second.log_joint)
    np.testing.assert_array_equal(first.log_u, second.log_u)
    np.testing.assert_array_equal(first.bases, second.bases)
    assert list(first.parameters) == list(second.parameters)
    for name, values in first.parameters.items():
        np.testing.assert_array_equal(values, second.parameters[name])
    assert len(first.stats) == len(second.stats)
    for one, other in zip(first.stats, second.stats, strict=True):
        assert repr(without_seconds(one)) == repr(without_seconds(other))  # NaN equals NaN


def without_seconds(stats):
    return {m: {k: v for k, v in r.items() if k != "seconds"} for m, r in stats.items()}


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def small_files(monkeypatch):
    """Let files hold few draws, so that there are many."""
    monkeypatch.setattr(draw_store, "DRAWS_AT_ONCE", 5)
    monkeypatch.setattr(draw_store, "CHUNK_ENTRIES", 120)  # 3 draws of labels, 6 of scalars


@pytest.fixture
def end_after(monkeypatch):
    """Return a function that lets every chain end when it has made so many iterations."""
    monkeypatch.setattr(chains, "SLICE_SECONDS", 0.0)  # one iteration at a time
    right = chains.RunningChain.advance

    def set_end(iterations):
        def advance(self):
            right(self)
            if self.iterations >= iterations:
                self.end()

        monkeypatch.setattr(chains.RunningChain, "advance", advance if iterations else right)

    return set_end


# --- the same draws --------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("model", MODELS)
def test_cut_twice_and_resumed(model, sampler, tmp_path, small_files, end_after):
    options = {"model": model, "sampler": SAMPLERS[sampler]}
    whole = sample(**options)
    run = tmp_path / "run"
    end_after(4)
    with pytest.raises(RuntimeError, match=r"before every chain had its first draw; .*resume"):
        sample(store=run, **options)
    end_after(12)
    with pytest.warns(
        RuntimeWarning, match=r"stopped early: kept 7 of 12 draws of each chain; .*resume"
    ):
        half = resume(run)
    np.testing.assert_array_equal(half.labels, whole.labels[:, :7])
    end_after(None)
    assert_same_draws(resume(run), whole)
    assert_same_draws(mw.load(run), whole)


@pytest.mark.parametrize(("warmup", "thin"), [(0, 1), (3, 2)])
def test_every_iteration_is_a_place_to_go_on_from(warmup, thin, tmp_path, small_files, end_after):
    options = {"warmup": warmup, "thin": thin, "draws": 4, "chains": 1, "init": "one"}
    whole = sample(**options)
    for iterations in range(1, warmup + 4 * thin):
        run = tmp_path / str(iterations)
        end_after(iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if iterations < warmup + thin:
                with pytest.raises(RuntimeError, match="first draw"):
                    sample(store=run, **options)
            else:
                sample(store=run, **options)
        end_after(None)
        assert_same_draws(resume(run), whole)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_matter(n_jobs, tmp_path):
    assert_same_draws(sample(store=tmp_path / "run", n_jobs=n_jobs), sample())


def test_other_processes_write_their_own_chains(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib's own
        stored = sample(store=tmp_path / "run")
        longer = resume(tmp_path / "run", draws=20)
    assert_same_draws(stored, sample())
    assert_same_draws(longer, sample(draws=20))


@pytest.mark.parametrize("draws", [13, 40])
def test_extending_a_finished_run(draws, tmp_path, small_files):
    run = tmp_path / "run"
    sample(store=run)
    assert_same_draws(resume(run), sample())  # nothing to do
    longer = resume(run, draws=draws)
    assert_same_draws(longer, sample(draws=draws))
    assert longer.settings["draws"] == draws
    assert_same_draws(mw.load(run), longer)
    assert mw.load(run).settings["draws"] == draws
    with pytest.raises(ValueError, match=f"draws must be at least {draws}"):
        resume(run, draws=12)


def test_an_unfinished_run_may_be_ended_sooner(tmp_path, end_after):
    run = tmp_path / "run"
    end_after(8)
    with pytest.warns(RuntimeWarning, match="stopped early"):
        sample(store=run)
    end_after(None)
    np.testing.assert_array_equal(resume(run, draws=5).labels, sample().labels[:, :5])


@pytest.mark.parametrize(
    "seed", [np.random.SeedSequence(5, spawn_key=(3,)), np.random.default_rng(1), None], ids=str
)
def test_every_kind_of_seed_and_start(seed, tmp_path, end_after):
    run = tmp_path / "run"
    end_after(8)
    with pytest.warns(RuntimeWarning, match="stopped early"):
        sample(store=run, seed=seed, init=WHICH)
    shutil.copytree(run, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy/chains/1")  # as if it had not begun
    end_after(None)
    assert_same_draws(resume(run), resume(tmp_path / "copy"))


def test_the_data_of_a_user_who_changes_them(tmp_path):
    mine = X.copy()
    post = mw.sample(MODELS["Gaussian"][0], mine, store=tmp_path / "run", **FAST)
    mine[:] = 0
    np.testing.assert_array_equal(post.X, X)
    assert_same_draws(resume(tmp_path / "run", draws=20), sample(draws=20))


# --- whatever happens ------------------------------------------------------------------


class PowerCut(BaseException):
    """What no one catches."""


def test_a_power_cut_after_any_file(tmp_path, monkeypatch, small_files):
    """The run ends before the k-th file is renamed, for every k."""
    options = {"draws": 5, "warmup": 2, "chains": 1, "sampler": "gibbs", "init": "one"}
    whole = sample(**options)
    monkeypatch.setattr(chains, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "LARGEST_SHARE", 1e9)
    replace, left = atomic_files.Path.replace, [0]

    def replace_or_not(self, target):
        if left[0] == 0 and self.name.endswith(".unfinished"):
            raise PowerCut
        left[0] -= 1
        return replace(self, target)

    monkeypatch.setattr(atomic_files.Path, "replace", replace_or_not)
    for k in range(1000):
        run = tmp_path / str(k)
        left[0] = k
        try:
            sample(store=run, **options)
        except PowerCut:
            left[0] = -1
            if run.exists():
                assert_same_draws(resume(run), whole)
        else:
            break
    assert 30 < k < 999


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path, monkeypatch):
    run = tmp_path / "run"
    monkeypatch.setattr(chain_store, "CHECKPOINT_SECONDS", 0.05)

    def interrupt():
        while len(list(run.glob("chains/*/state"))) < 2:
            time.sleep(0.01)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.warns(RuntimeWarning) as caught:
        post = sample(draws=10**6, warmup=0, sampler="gibbs", store=run)
    thread.join()
    assert any("interrupted" in str(w.message) for w in caught)
    with pytest.warns(RuntimeWarning, match="unfinished"):
        assert_same_draws(mw.load(run), post)  # the last iteration is in the folder too
    more = resume(run, draws=max(c.draws for c in checkpoints(run)) + 5)
    np.testing.assert_array_equal(more.labels[:, : post.n_draws], post.labels)


def checkpoints(run):
    return [read_checkpoint(path) for path in sorted(run.glob("chains/*/state"))]


def test_a_time_limit(tmp_path):
    run = tmp_path / "run"
    with pytest.warns(RuntimeWarning, match="stopped early"):
        sample(draws=10**6, warmup=0, sampler="gibbs", init="one", store=run, max_seconds=1)
    made = max(c.draws for c in checkpoints(run))
    with pytest.warns(RuntimeWarning, match="stopped early"):
        post = resume(run, max_seconds=1)
    assert max(c.draws for c in checkpoints(run)) > made
    assert post.settings["seconds"] > 1
    with pytest.raises(ValueError, match="max_seconds"):
        resume(run, max_seconds=-1)


@pytest.mark.usefixtures("failing_chains")
def test_a_chain_that_fails_says_so_and_keeps_its_draws(tmp_path):
    with pytest.warns(RuntimeWarning, match="out of numbers"):
        post = sample(store=tmp_path / "run")
    assert post.n_draws == 7
    with pytest.raises(RuntimeError, match=r"chain 0 cannot continue \(out of numbers"):
        resume(tmp_path / "run")


def test_a_write_that_fails_ends_the_run_and_lets_go_of_it(tmp_path, monkeypatch):
    run = tmp_path / "run"
    monkeypatch.setattr(chains, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "LARGEST_SHARE", 1e9)
    write, count = os.write, [40]

    def fail(descriptor, content):
        count[0] -= 1
        if count[0] < 0:
            raise OSError(28, "No space left on device")
        return write(descriptor, content)

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match=r"No space left.*run") as caught:
        sample(store=run)
    assert str(run) in caught.value.filename
    monkeypatch.setattr(os, "write", write)
    assert_same_draws(resume(run), sample())


# --- what is refused, and said ---------------------------------------------------------


def test_loading_an_unfinished_run_cuts_to_the_shortest_chain(tmp_path, end_after):
    run = tmp_path / "run"
    end_after(8)
    with pytest.warns(RuntimeWarning, match="stopped early"):
        sample(store=run)
    shutil.copytree(run, tmp_path / "copy")
    end_after(10)
    with pytest.warns(RuntimeWarning, match="stopped early"):
        resume(run)
    shutil.rmtree(run / "chains/1")
    shutil.copytree(tmp_path / "copy/chains/1", run / "chains/1")
    with pytest.warns(RuntimeWarning, match=r"unfinished: it has 3 of 12 draws .*resume"):
        assert mw.load(run).n_draws == 3
    shutil.rmtree(run / "chains/1")
    with pytest.raises(ValueError, match=r"run has no draws yet .*resume"):
        mw.load(run)


def test_a_saved_posterior_cannot_be_resumed(tmp_path):
    sample().save(tmp_path / "run")
    with pytest.raises(ValueError, match=r"run cannot be resumed: .*saved.*store="):
        resume(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        resume(tmp_path / "nowhere")


def test_a_stored_run_may_be_saved_elsewhere_and_overwritten(tmp_path):
    post = sample(store=tmp_path / "run")
    post.save(tmp_path / "copy")
    assert_same_draws(mw.load(tmp_path / "copy"), post)
    post.save(tmp_path / "run", overwrite=True)
    assert not (tmp_path / "run/chains").exists()
    assert_same_draws(mw.load(tmp_path / "run"), post)


@pytest.mark.parametrize("key", ["mixwood", "instruction_set", "platform"])
def test_another_machine_is_warned_of(key, tmp_path):
    run = tmp_path / "run"
    sample(store=run)
    about = json.loads((run / "mixwood.json").read_text())
    about["settings"][key] = "another one"
    (run / "mixwood.json").write_text(json.dumps(about))
    with pytest.warns(RuntimeWarning, match=f"{key} another one, now .*number for number"):
        assert resume(run, draws=20).n_draws == 20


def test_where_a_run_may_not_be_stored(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/cat.jpg").write_text("x")
    for name in ("file", "other"):
        with pytest.raises(FileExistsError, match=name):
            sample(store=tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert_same_draws(sample(store=tmp_path / "empty"), sample())


def test_what_cannot_be_run_makes_no_folder(tmp_path):
    model = mw.Mixture(mw.Gaussian(scale=[[1.0]]))
    with pytest.raises(ValueError, match="so extreme"):
        mw.sample(model, [[0.0], [1e300]], store=tmp_path / "run", **FAST)
    assert not list(tmp_path.iterdir())


def test_xarray_opens_the_draws(tmp_path, small_files, end_after):
    xarray = pytest.importorskip("xarray")
    run = tmp_path / "run"
    end_after(10)
    with pytest.warns(RuntimeWarning, match="stopped early"):
        post = sample(store=run)

    def draws():
        return xarray.open_zarr(run / "arrays.zarr", group="draws", consolidated=False).load()

    opened = draws()
    assert opened.labels.dims == ("chain", "draw", "item")
    np.testing.assert_array_equal(opened.labels[:, :5], post.labels)
    np.testing.assert_array_equal(opened.log_joint[:, :5], post.log_joint)
    assert (opened.labels[:, 5:] == -1).all()
    assert np.isnan(opened.log_u[:, 5:]).all()
    end_after(None)
    post = resume(run, draws=25)
    np.testing.assert_array_equal(draws().labels, post.labels)
    np.testing.assert_array_equal(draws().sigma, post.sigma)


def test_killed_while_fewer_draws_were_asked_for(tmp_path):
    """The arrays were cut already, and the manifest did not know yet."""
    run = tmp_path / "run"
    post = sample(store=run)
    prior, draws, shape = post.model.prior, post.n_draws, (post.n_chains, post.n_items)
    arrays = draw_store.DrawArrays.open(run / "arrays.zarr", prior, {}, *shape)
    arrays.resize(draws - 1)
    assert_same_draws(resume(run), post)


def test_a_refused_chain_lets_go_of_its_lock(tmp_path):
    run = tmp_path / "run"
    sample(store=run)
    state = run / "chains" / "0" / "state"
    content = state.read_bytes()
    state.write_bytes(b"damaged")
    shape = (2, len(X))
    with pytest.raises(ValueError, match="damaged") as kept:  # as a notebook keeps it
        chain_store.ChainStore(run, 0, mw.NGGP(), {}, shape)
    state.write_bytes(content)
    chain_store.ChainStore(run, 0, mw.NGGP(), {}, shape).close()
    assert kept.tb is not None
