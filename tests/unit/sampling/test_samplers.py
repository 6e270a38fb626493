"""What every sampler must do, and what is said to whoever asks for a wrong one."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.samplers import as_sampler

SAMPLERS = [mw.SplitMerge(), mw.SplitMerge(scans=1, subset=5), mw.Slice(), mw.Tree(9, 9, 9, 7)]
X = np.random.default_rng(0).normal(size=(40, 2)) + 8 * (np.arange(40) % 3)[:, None]
MODEL = mw.Mixture(mw.Gaussian(scale="data"))  # nothing to be learned, which takes time
FAST = {"draws": 15, "warmup": 5, "chains": 2, "seed": 3, "progress": False}


@pytest.fixture(params=SAMPLERS, ids=str)
def sampler(request):
    return request.param


def test_samplers_by_name():
    assert as_sampler("splitmerge") == mw.SplitMerge()
    assert as_sampler("slice") == mw.Slice()
    assert as_sampler("split-merge") == mw.SplitMerge()  # as on the command line
    assert as_sampler("paper-tree") == mw.PaperTree()


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"scans": -1}, ValueError, "scans must be at least 0"),
        ({"scans": 2.5}, TypeError, "scans must be a whole number"),
        ({"scans": None}, TypeError, "scans must be a whole number"),
        ({"subset": 0}, ValueError, "subset must be at least 1"),
        ({"subset": "all"}, TypeError, "subset must be a whole number"),
    ],
)
def test_wrong_arguments_of_split_merge(arguments, error, match):
    with pytest.raises(error, match=match):
        mw.SplitMerge(**arguments)


def test_the_core_refuses_wrong_options(monkeypatch, chain_of):
    monkeypatch.setattr(mw.SplitMerge, "options", lambda *_: {"scans": -1, "subset": 0})
    with pytest.raises(ValueError, match="option"):
        chain_of(mw.Gaussian(), X, np.zeros(40), sampler=mw.SplitMerge())


def test_slice_refuses_a_likelihood_without_atoms(monkeypatch):
    class WithoutAtoms:
        has_atoms = False

    monkeypatch.setattr(mw.Gaussian, "bind", lambda *_: WithoutAtoms())
    with pytest.raises(TypeError, match="Gaussian cannot: it has no atom sampler"):
        mw.sample(MODEL, X, "slice", **FAST)


def test_books_are_right_after_many_iterations(sampler, family_case, chain_of):
    likelihood, X = family_case(60)
    chain = chain_of(likelihood, X, np.zeros(60), sampler=sampler)
    for _ in range(20):
        chain.iterate(10)
        chain.check()


def test_books_are_right_where_clusters_are_many(sampler, chain_of):
    prior = mw.NGGP(alpha=20.0, sigma=0.9)
    chain = chain_of(mw.Gaussian(scale="data"), X, np.arange(40), prior, sampler=sampler)
    for _ in range(20):
        chain.iterate(10)
        chain.check()
    assert chain.n_clusters > 3


def test_the_number_of_threads_does_not_matter(sampler):
    one, two = (mw.sample(MODEL, X, sampler, n_jobs=n, **FAST) for n in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.log_joint, two.log_joint)


def test_log_joint_means_the_same_as_for_gibbs(sampler, family_case, chain_of):
    likelihood, X = family_case(20)
    chain = chain_of(likelihood, X, np.zeros(20), sampler=sampler)
    chain.iterate(30)
    state = chain.state()
    base = state.pop("base", np.empty(0))
    gibbs = chain_of(likelihood, X, np.zeros(20), sampler=mw.Gibbs())
    gibbs.set_state(**state)
    gibbs.set_base(base)
    assert chain.log_joint() == pytest.approx(gibbs.log_joint(), abs=1e-8)


@pytest.mark.parametrize("rows", [1, 2])
def test_very_few_rows(sampler, rows):
    post = mw.sample(MODEL, X[:rows], sampler, **FAST)
    assert np.all(np.isfinite(post.log_joint))


def test_stats_of_split_merge():
    post = mw.sample(MODEL, X, mw.SplitMerge(subset=10), **FAST)
    stats = post.stats[0]
    assert list(stats) == ["split", "merge", "gibbs", "parameters"]
    assert stats["split"]["proposed"] + stats["merge"]["proposed"] == 20
    assert stats["gibbs"]["proposed"] == 200
    for move in ("split", "merge"):
        assert 0 <= stats[move]["accepted"] <= stats[move]["proposed"]
        assert np.isfinite(stats[move]["mean_log_ratio"])
        assert stats[move]["sd_log_ratio"] > 0


def test_stats_of_slice():
    post = mw.sample(MODEL, X, "slice", **FAST)
    assert list(post.stats[0]) == ["slice", "parameters"]
    report = post.stats[0]["slice"]
    assert 0 < report["accepted"] < report["proposed"] <= 20 * 40


def test_split_merge_leaves_one_cluster_where_gibbs_does_not(chain_of):
    """Two far clusters taken for one: an item alone finds no way, half of them at once does."""
    far = np.random.default_rng(0).normal(size=(60, 2)) + 40 * (np.arange(60) % 2)[:, None]
    chain = chain_of(mw.Gaussian(), far, np.zeros(60), sampler=mw.SplitMerge(subset=1))
    chain.iterate(20)
    np.testing.assert_array_equal(chain.state()["labels"], np.arange(60) % 2)


@pytest.mark.parametrize(
    "prior",
    [
        mw.NGGP(5.0, 0.99),
        mw.DirichletProcess(1e6),
        mw.NGGP(1e5, 0.5),
        mw.FiniteMixture(1e9),
        mw.FiniteMixture(1e100, 1e6),
        mw.FiniteMixture(1e9, 1e-6),
    ],
    ids=str,
)
def test_slice_draws_few_jumps_whatever_the_prior(prior, chain_of):
    """Else this would not come to an end."""
    chain = chain_of(mw.Gaussian(), X, np.zeros(40), prior, sampler=mw.Slice())
    chain.iterate(200)
    chain.check()


@pytest.mark.parametrize(
    "likelihood",
    [
        mw.Gaussian(nu=1.0 + 1e-6, scale="data"),
        mw.DiagonalGaussian(nu=1e-6, scale="data"),
        mw.SphericalGaussian(nu=1e-6, scale="data"),
    ],
)
def test_precisions_that_are_nearly_nothing(likelihood, chain_of):
    chain = chain_of(likelihood, X, np.zeros(40), sampler=mw.Slice())
    chain.iterate(100)
    chain.check()


@pytest.mark.parametrize(
    ("likelihood", "data"),
    [
        (mw.Multinomial(beta=1e-6), np.eye(4)),
        (mw.Bernoulli(a=1e-6, b=1e-6), np.eye(4)),
        (mw.Categorical(beta=1e-6), np.arange(8).reshape(4, 2)),
        (mw.Poisson(shape=1e-6), np.eye(4)),
    ],
)
def test_probabilities_that_are_nearly_nothing(likelihood, data, chain_of):
    chain = chain_of(likelihood, data, np.zeros(4), sampler=mw.Slice())
    chain.iterate(100)
    chain.check()


def test_a_state_that_is_not_a_number_is_an_error(chain_of):
    chain = chain_of(mw.Gaussian(), X, np.arange(40) % 2, sampler=mw.SplitMerge())
    chain.set_state((np.arange(40) % 2).astype(np.int32), 0.0, 0.0, np.nan, 0.0)
    with pytest.raises(RuntimeError, match="not numbers"):
        chain.iterate()
