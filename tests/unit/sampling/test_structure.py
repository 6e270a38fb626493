"""Which covariances the default takes, and what it keeps of that."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import bind_family, make_chain
from mixwood.sampling.structure import _Contest, _log_prediction, best_structure

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
    assert post.settings["structure"].startswith("full covariances predict new rows best")
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


def test_from_the_same_start_the_draws_are_those_of_what_was_chosen():
    chosen, asked = (
        mw.sample(mw.Mixture(*given), X, init="one", **FAST) for given in ([], [mw.Gaussian()])
    )
    np.testing.assert_array_equal(asked.labels, chosen.labels)
    np.testing.assert_array_equal(asked.bases, chosen.bases)
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


@pytest.mark.parametrize("kept", [{"known": WHICH - 1}, {"weights": np.full(60, 2.0)}])
def test_rows_that_are_kept_together_take_what_skips_missing_entries(kept):
    data = X.copy()
    data[4, 1] = np.nan
    assert isinstance(mw.sample(mw.Mixture(), data, **FAST).resolved, mw.Gaussian)
    assert isinstance(mw.sample(mw.Mixture(), data, **FAST, **kept).resolved, mw.DiagonalGaussian)


def test_too_few_rows_are_not_compared():
    settings = mw.sample(mw.Mixture(), X[:9], **FAST).settings
    assert settings["structure"] == "full covariances: too few rows to compare"


def test_a_pilot_predicts_with_the_weights_of_the_prior():
    likelihood = mw.Gaussian(mean=[0.0], scale=[[2.0]], nu=5.0, r=0.5)
    model = mw.Mixture(likelihood, prior=mw.DirichletProcess(1.5))
    rows, new = X[:6, :1], X[6:9, :1]
    family, new_family = bind_family(model, rows), bind_family(model, new)
    labels = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    chain = make_chain(model, rows, labels, np.random.PCG64(1), mw.Gibbs(), family)
    table = new_family.log_predictive_table(family.cluster_statistics(labels), 0, 3)
    terms = np.exp(np.column_stack([table, new_family.log_alone()]))
    expected = np.log(terms @ [4 / 7.5, 2 / 7.5, 1.5 / 7.5])
    np.testing.assert_allclose(_log_prediction(model, chain, family, new_family), expected)


class TestContest:
    """Who drops out, and when it is decided."""

    def contest(self, *scores, handicaps=None):
        contest = _Contest(np.zeros(len(scores)) if handicaps is None else np.array(handicaps))
        for k, one in enumerate(scores):
            contest.scores[k].append(np.asarray(one))
        return contest

    def test_who_is_clearly_behind_drops_out(self):
        noise = np.resize([0.1, -0.1], 100)
        contest = self.contest(noise, noise - 1, noise[::-1] + 0.01)
        assert not contest.is_decided(precise=0.0)
        assert contest.left == [0, 2]
        assert contest.best() == 2

    def test_a_handicap_decides_between_equals_but_drops_nobody(self):
        same = np.resize([0.1, -0.1], 100)
        contest = self.contest(same, same + 0.01, handicaps=[0.0, 0.5])
        assert not contest.is_decided(precise=1.0)  # one part alone does not tell how fits vary
        assert contest.best() == 0
        for scores in contest.scores:
            scores.append(same)
        assert contest.is_decided(precise=1.0)
        assert contest.in_words(["full", "diagonal"]).endswith(
            "full 0.00; diagonal 0.01 (better, but not enough for what depends on axes)"
        )

    def test_one_that_dropped_out_is_compared_on_the_rows_that_it_had(self):
        contest = self.contest([-1.0, -1.0, -1.0], [-2.0, -2.0, -2.1])
        assert contest.is_decided(precise=0.0)
        contest.scores[0].append(np.array([-9.0, -9.0, -9.0]))  # harder rows
        assert contest.best() == 0
        assert contest.in_words(["full", "diagonal"]).endswith("full -5.00; diagonal -6.03")
