"""Which covariances the default takes, and what it keeps of that."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.sampling.structure import best_structure

RNG = np.random.default_rng(0)
WHICH = np.arange(60) % 3
X = RNG.normal(size=(60, 2)) @ [[3.0, 2.8], [0.0, 0.4]] + 9 * WHICH[:, None] * [1, -1]
FAST = {"draws": 5, "warmup": 5, "chains": 1, "seed": 3, "progress": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A stored run of the default."""
    path = tmp_path_factory.mktemp("default") / "run"
    return path, mw.sample(mw.Mixture(), X, store=path, **FAST)


def test_thin_correlated_clusters_have_full_covariances(run):
    _, post = run
    assert isinstance(post.resolved, mw.Gaussian)
    assert post.settings["structure"].startswith("full covariances predict rows best")
    assert "round clusters" in post.settings["structure"]
    assert post.model == mw.Mixture("auto") == mw.Mixture(likelihood="auto")


def test_round_ones_do_not():
    data = RNG.normal(size=(40, 8)) + 8 * (np.arange(40) % 2)[:, None]
    post = mw.sample(mw.Mixture(likelihood="auto"), data, **FAST)
    assert not isinstance(post.resolved, mw.Gaussian)


def test_the_choice_is_kept(run, tmp_path):
    path, post = run
    loaded = mw.load(path)
    longer = mw.resume(path, draws=9, progress=False)
    post.save(tmp_path / "saved")
    for other in (loaded, longer, mw.load(tmp_path / "saved")):
        assert other.resolved == post.resolved
        assert other.settings["structure"] == post.settings["structure"]
    np.testing.assert_array_equal(longer.labels[:, :5], post.labels)
    whole = mw.sample(mw.Mixture(), X, **{**FAST, "draws": 9})
    np.testing.assert_array_equal(longer.labels, whole.labels)
    np.testing.assert_array_equal(longer.bases, whole.bases)


def test_the_draws_are_those_of_what_was_chosen(run):
    _, post = run
    asked = mw.sample(mw.Mixture(mw.Gaussian()), X, **FAST)
    np.testing.assert_array_equal(asked.labels, post.labels)
    np.testing.assert_array_equal(asked.bases, post.bases)
    assert "structure" not in asked.settings


def test_what_says_nothing_is_named_by_the_default_too():
    data = np.column_stack([X, np.ones(60)])
    with pytest.warns(UserWarning, match="column 2 is a constant"):
        mw.sample(mw.Mixture(), data, **FAST)


def test_there_may_be_nothing_to_choose():
    found = best_structure(mw.Mixture(), [mw.Poisson()], np.ones((3, 1)), np.random.SeedSequence(1))
    assert found.likelihood == mw.Poisson()
    assert "nothing to choose" in found.reason
    assert "nothing to choose" in mw.sample(mw.Mixture(), X[:, :1], **FAST).settings["structure"]
