"""Runs that go on until their chains agree."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixwood as mw
from mixwood.posterior.verdict import Verdict, judge
from mixwood.sampling import until_agree

X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
MODEL = mw.Mixture(mw.Gaussian(scale="data"))
SHORT = {"draws": 20, "warmup": 20, "chains": 2, "seed": 1, "progress": False}


def test_chains_go_on_until_they_agree():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        post = mw.sample(MODEL, X, until="agree", **SHORT)
    assert post.n_draws > 20
    assert judge(post).level == "good"


def test_the_draws_are_those_of_a_run_of_that_length(tmp_path):
    post = mw.sample(MODEL, X, until="agree", store=tmp_path / "run", **SHORT)
    at_once = mw.sample(MODEL, X, **(SHORT | {"draws": post.n_draws}))
    np.testing.assert_array_equal(post.labels, at_once.labels)
    np.testing.assert_array_equal(mw.load(tmp_path / "run").labels, at_once.labels)


def test_a_run_that_ends_before_says_so(monkeypatch):
    monkeypatch.setattr(until_agree, "MOST_TIMES", 2)
    with pytest.warns(RuntimeWarning, match="ended before they agreed; 40 draws of each chain"):
        post = mw.sample(MODEL, X, until="agree", **SHORT)
    assert post.n_draws == 40


def test_the_clock_ends_it(monkeypatch):
    never = Verdict("poor", "Never.", "", 2.0, "everything", 1.0, None)
    monkeypatch.setattr(until_agree, "judge", lambda _: never)
    monkeypatch.setattr(until_agree, "MOST_TIMES", 10**9)
    with pytest.warns(RuntimeWarning, match="ended before they agreed"):
        post = mw.sample(MODEL, X, until="agree", max_seconds=1.0, **SHORT)
    assert post.n_draws >= 20


@pytest.mark.parametrize("until", ["agreed", 3, True])
def test_other_ends_are_refused(until):
    with pytest.raises(ValueError, match='until must be None or "agree"'):
        mw.sample(MODEL, X, until=until, **SHORT)


def test_a_single_chain_cannot_agree():
    with pytest.raises(ValueError, match="chains must be at least 2"):
        mw.sample(MODEL, X, until="agree", **(SHORT | {"chains": 1}))
