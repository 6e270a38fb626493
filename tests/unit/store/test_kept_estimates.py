"""Point estimates that stay with a run: searched for once, never taken for those of other draws."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import warnings

import numpy as np
import pytest

import mixwood as mw
from mixwood.posterior.estimated_draws import FoundEstimate
from mixwood.store import kept_estimates
from mixwood.store.folders import ESTIMATES, is_ours
from mixwood.store.lock import locked_folder


@pytest.fixture
def no_search(monkeypatch):
    """Return a function after whose call a search is an error."""

    def forbid():
        monkeypatch.setattr("mixwood.estimates.point_estimate", None)
        monkeypatch.setattr("mixwood.posterior.membership.certainty", None)

    return forbid


def found_in(run):
    posterior = mw.load(run)
    return posterior, posterior.found_estimates


def test_a_run_is_searched_once(run, no_search):
    first = mw.load(run)
    wanted = [
        first.point_estimate(),
        first.point_estimate("binder", seed=3),
        first.point_estimate(min_size=2),
        first.point_estimate(max_clusters=1),
        first.certainty(),
    ]
    no_search()
    again = mw.load(run)
    assert len(again.found_estimates) == 4
    kept = [
        again.point_estimate(),
        again.point_estimate("binder", seed=3),
        again.point_estimate(min_size=2),
        again.point_estimate(max_clusters=1),
        again.certainty(),
    ]
    for one, other in zip(wanted, kept, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    with pytest.raises(TypeError):  # the search, which is not there
        again.point_estimate("binder")
    same = mw.resume(run, progress=False)  # which draws nothing
    np.testing.assert_array_equal(same.point_estimate(), wanted[0])


def test_a_run_keeps_what_its_first_posterior_finds(tmp_path, no_search):
    options = {"draws": 6, "warmup": 2, "chains": 2, "seed": 1, "progress": False}
    X = [[0.0], [0.1], [9.0], [9.1]]
    post = mw.sample(mw.Mixture(), X, store=tmp_path / "run", **options)
    labels = post.point_estimate()
    no_search()
    np.testing.assert_array_equal(mw.load(tmp_path / "run").point_estimate(), labels)


def test_more_draws_are_searched_again(run, resume, no_search):
    mw.load(run).point_estimate()
    before = (run / ESTIMATES).read_bytes()
    longer = resume(run)
    assert longer.n_draws > 8
    assert longer.found_estimates == {}
    longer.point_estimate()
    assert (run / ESTIMATES).read_bytes() != before
    no_search()
    mw.load(run).point_estimate()


def test_estimates_of_other_draws_are_not_used(run):
    """Also where the numbers of chains and draws are the same."""
    posterior = mw.load(run)
    posterior.point_estimate()
    other = mw.load(run)
    labels = other.labels.copy()
    labels[0, 0] = 0
    object.__setattr__(other, "labels", labels)
    other.found_estimates.clear()
    kept_estimates.attach(other, run)
    assert other.found_estimates == {}
    kept_estimates.attach(posterior, run)
    assert list(posterior.found_estimates) == [("vi", 1, 0, None)]


@pytest.mark.parametrize("include_data", [True, False])
def test_save_keeps_estimates(make_posterior, tmp_path, no_search, include_data):
    posterior = make_posterior(draws=5)
    posterior.save(tmp_path / "none")
    assert not (tmp_path / "none" / ESTIMATES).exists()
    labels, sure = posterior.point_estimate(seed=2**70), posterior.certainty()
    posterior.save(tmp_path / "run", include_data=include_data)
    no_search()
    loaded, found = found_in(tmp_path / "run")
    assert set(found) == {("vi", 1, 2**70, None), ("vi", 1, 0, None)}
    np.testing.assert_array_equal(loaded.point_estimate(seed=2**70), labels)
    np.testing.assert_array_equal(loaded.certainty(), sure)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / ESTIMATES).read_bytes() == (
        tmp_path / "run" / ESTIMATES
    ).read_bytes()


def test_a_run_that_is_replaced_takes_its_estimates_along(make_posterior, tmp_path):
    posterior = make_posterior(draws=5)
    posterior.point_estimate()
    posterior.save(tmp_path / "run")
    make_posterior(draws=4).save(tmp_path / "run", overwrite=True)
    assert not (tmp_path / "run" / ESTIMATES).exists()
    assert is_ours(ESTIMATES)
    assert is_ours(f".{ESTIMATES}.unfinished")


def test_pickles_keep_estimates_and_leave_the_folder_alone(run, no_search):
    posterior = mw.load(run)
    labels = posterior.point_estimate()
    no_search()
    copied = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copied.point_estimate(), labels)
    assert posterior.run_folder == run
    assert copied.run_folder is None
    assert posterior.thinned(3).run_folder is None
    assert posterior.thinned(3).found_estimates == {}


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other", "newer", "link", "folder"])
def test_a_damaged_file_is_named_and_not_used(run, tmp_path, damage):
    before = mw.load(run)
    labels = before.point_estimate()
    file = run / ESTIMATES
    content = file.read_bytes()
    file.unlink()
    if damage == "link":
        (tmp_path / "elsewhere").write_bytes(content)
        file.symlink_to(tmp_path / "elsewhere")
    elif damage == "folder":
        file.mkdir()
    else:
        changed = {
            "cut": content[:-5],
            "flipped": content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
            "empty": b"",
            "other": b"something else",
            "newer": content,
        }[damage]
        file.write_bytes(changed)
    if damage == "newer":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kept_estimates, "VERSION", 2)
            kept_estimates.write_estimates(before, run, {})
    with pytest.warns(RuntimeWarning, match=rf"{ESTIMATES} is damaged, or not what mixwood writes"):
        posterior = mw.load(run)
    assert posterior.found_estimates == {}
    np.testing.assert_array_equal(posterior.point_estimate(), labels)
    if damage != "folder":  # which nothing can be written over
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert list(mw.load(run).found_estimates) == [("vi", 1, 0, None)]


@pytest.mark.parametrize(
    "wrong",
    [
        {("vi", 1, 0, None): FoundEstimate(np.full(30, 1))},
        {("vi", 1, 0, None): FoundEstimate(np.full(30, -1))},
        {("vi", 1, 0, None): FoundEstimate(np.full(30, 30))},
        {("vi", 1, 0, None): FoundEstimate(np.zeros(30, int), np.full(30, 1.5))},
        {("vi", 1, 0, None): FoundEstimate(np.zeros(30, int), np.full(30, np.nan))},
        {("vi", 1, 0, None): FoundEstimate(np.zeros(29, int))},
        {("vi", 1, 0, None): FoundEstimate(np.zeros(31, int))},
        {("l2", 1, 0, None): FoundEstimate(np.zeros(30, int))},
        {("vi", 0, 0, None): FoundEstimate(np.zeros(30, int))},
        {("vi", 1, -1, None): FoundEstimate(np.zeros(30, int))},
        {("vi", 1, "0", None): FoundEstimate(np.zeros(30, int))},
        {("vi", 1, 0, 0): FoundEstimate(np.zeros(30, int))},
    ],
)
def test_what_mixwood_does_not_write_is_not_used(run, wrong):
    kept_estimates.write_estimates(mw.load(run), run, wrong)
    with pytest.warns(RuntimeWarning, match=ESTIMATES):
        assert mw.load(run).found_estimates == {}


def test_two_processes_add_to_one_file(run):
    one, other = mw.load(run), mw.load(run)
    one.point_estimate()
    one.certainty()
    other.point_estimate("binder")
    found = mw.load(run).found_estimates
    assert set(found) == {("vi", 1, 0, None), ("binder", 1, 0, None)}
    assert found["vi", 1, 0, None].certainty is not None


def test_nothing_is_written_while_another_process_writes(run):
    posterior = mw.load(run)
    with locked_folder(run):
        posterior.point_estimate()
    assert not (run / ESTIMATES).exists()
    posterior.point_estimate("binder")
    assert len(mw.load(run).found_estimates) == 2


@pytest.mark.parametrize("obstacle", ["gone", "full", "read-only"])
def test_estimates_are_found_where_they_cannot_be_kept(run, monkeypatch, obstacle):
    posterior = mw.load(run)
    if obstacle == "gone":
        shutil.rmtree(run)
    elif obstacle == "read-only":
        run.chmod(stat.S_IRUSR | stat.S_IXUSR)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    if obstacle != "gone":  # root may write to every folder
        monkeypatch.setattr(os, "write", refuse)
    assert posterior.point_estimate().shape == (30,)
    assert posterior.certainty().shape == (30,)
    assert not (run / ESTIMATES).exists()
    if obstacle != "gone":
        run.chmod(stat.S_IRWXU)
        assert not [entry for entry in run.iterdir() if "unfinished" in entry.name]
