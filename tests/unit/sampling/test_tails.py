"""Heavy tails are taken where they predict better, and where they can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.sampling import tails
from mixwood.sampling.structure import Pilot, Structure

RNG = np.random.default_rng(0)
CENTRES = np.repeat([[0.0, 0.0], [14.0, 0.0], [0.0, 14.0]], 100, axis=0)
NOISE = RNG.normal(size=(300, 2))
HEAVY = CENTRES + NOISE / np.sqrt(RNG.gamma(1, size=(300, 1)))
LIGHT = CENTRES + NOISE
FAST = {"draws": 5, "warmup": 5, "chains": 1, "seed": 3, "progress": False}


def chosen(X, **given):
    return mw.sample(mw.Mixture(), X, **FAST, **given)


def test_heavy_tails_are_found_and_said(tmp_path):
    post = chosen(HEAVY, store=tmp_path / "run")
    assert isinstance(post.resolved, mw.StudentT)
    assert post.settings["structure"].startswith("full covariances and heavy tails predict new")
    again = mw.resume(tmp_path / "run", draws=7, progress=False)
    assert again.resolved == post.resolved
    np.testing.assert_array_equal(again.labels[:, :5], post.labels)


def test_normal_clusters_stay_what_they_are():
    assert not isinstance(chosen(LIGHT).resolved, mw.StudentT)


@pytest.mark.parametrize(
    "given",
    [
        {"weights": np.full(300, 2.0)},
        {"known": np.where(np.arange(300) < 3, 0, -1)},
        {"sampler": mw.PaperTree()},
        {"sampler": mw.Tree(max_leaves=50)},
    ],
    ids=["weights", "known", "paper", "leaves"],
)
def test_not_where_scales_of_rows_cannot_be_drawn(given):
    assert not isinstance(chosen(HEAVY, **given).resolved, mw.StudentT)


def test_nor_with_missing_entries():
    data = HEAVY.copy()
    data[4, 1] = np.nan
    assert not isinstance(chosen(data).resolved, mw.StudentT)


class TestLead:
    """By how much heavy tails must be better."""

    def decide(self, monkeypatch, leads, n=300):
        parts = iter(leads)
        nothing = Pilot(np.empty(0), np.empty(0, dtype=np.int32), np.empty(0))
        monkeypatch.setattr(tails, "first_pilot", lambda *_: nothing)
        monkeypatch.setattr(tails, "_lead", lambda *_: np.asarray(next(parts)))
        X, normal, heavier = HEAVY[:n], mw.Gaussian(), mw.StudentT()
        given = Structure(normal, "")
        seed = np.random.SeedSequence(1)
        found = tails.with_tails_if_heavy(mw.Mixture(), given, heavier, X, seed)
        assert next(parts, None) is None  # as many parts as were expected
        return found.likelihood is heavier

    def test_standard_errors_and_what_fewer_rows_are_worth(self, monkeypatch):
        noise = np.resize([1.0, -1.0], 100) * np.sqrt(5)  # an error of 0.1 with five such parts
        handicap = 0.02 * 2 / 5
        assert self.decide(monkeypatch, [noise + 0.25 + handicap + 0.01] * 5)
        assert not self.decide(monkeypatch, [noise + 0.25 + handicap - 0.01] * 5)

    def test_who_is_behind_is_not_tried_further(self, monkeypatch):
        noise = np.resize([0.1, -0.1], 100)
        assert not self.decide(monkeypatch, [noise - 0.02])
        assert not self.decide(monkeypatch, [noise - 0.005, noise - 0.005])

    def test_too_few_rows_say_nothing(self, monkeypatch):
        assert not self.decide(monkeypatch, [], n=9)
