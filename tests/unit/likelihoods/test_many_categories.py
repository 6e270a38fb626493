"""Categories that no row has are one for chains: nothing else changes, and time does not grow."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood import hyper
from mixwood.core import make_chain
from mixwood.testing import seed_of

SAMPLERS = [mw.Gibbs(), mw.Tree(), mw.SplitMerge()]


@pytest.fixture
def codes(request):
    """Twenty-four rows of three columns, some entries missing, in few of many categories."""
    rng = np.random.default_rng(seed_of(request.node.name))
    X = rng.integers(3, size=(24, 1)) * 1000 + rng.integers(4, size=(24, 3)) * 7.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0, 0], X[1, 1] = 2999, 0
    return X


def _families(X, beta, n_categories=3000):
    likelihood = mw.Categorical(beta, n_categories=n_categories).resolve(X)
    return likelihood, likelihood.bind(X), likelihood.bind_for_chains(X)


@pytest.mark.parametrize("beta", [0.5, hyper.LogNormal(0.3, 1)])
def test_rows_have_the_same_probabilities(codes, beta):
    _, plain, short = _families(codes, beta)
    assert short.statistic_size <= codes.size + 3 < plain.statistic_size
    np.testing.assert_allclose(short.log_alone(), plain.log_alone())
    members = np.arange(1, 17, dtype=np.int64)
    np.testing.assert_allclose(short.log_marginal(members), plain.log_marginal(members))
    labels = np.where(np.arange(24) % 3 == 2, -1, np.arange(24) % 3).astype(np.int32)
    expected = plain.log_predictive_table(plain.cluster_statistics(labels), 0, 24)
    own = short.log_predictive_table(short.cluster_statistics(labels), 0, 24)
    np.testing.assert_allclose(own, expected)


def test_clusters_of_other_rows_may_have_categories_that_these_do_not(codes):
    _, plain, _ = _families(codes, 0.5)
    statistics = plain.cluster_statistics((np.arange(24) % 2).astype(np.int32))
    few = codes[:5]
    likelihood, of_few, short = _families(few, 0.5)
    assert likelihood.statistic_size == statistics.shape[1] > short.statistic_size
    np.testing.assert_allclose(
        short.log_predictive_table(statistics, 0, 5), of_few.log_predictive_table(statistics, 0, 5)
    )


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.name)
@pytest.mark.parametrize("beta", [0.5, hyper.LogNormal(0.3, 1)])
def test_chains_go_the_same_way(codes, beta, sampler):
    likelihood, *families = _families(codes, beta)
    model = mw.Mixture(likelihood, mw.NGGP(1.0, 0.5))
    start = (np.arange(24) % 4).astype(np.int32)
    chains = [
        make_chain(model, codes, start, np.random.PCG64(3), sampler, family) for family in families
    ]
    for chain in chains:
        chain.iterate(40)
        chain.check()
    plain, short = chains
    np.testing.assert_array_equal(plain.state()["labels"], short.state()["labels"])
    np.testing.assert_allclose(plain.base, short.base)
    np.testing.assert_allclose(plain.log_joint(), short.log_joint())


def test_few_categories_stay_as_they_are(codes):
    X = np.where(np.isnan(codes), np.nan, codes % 4)
    _, plain, short = _families(X, 0.5, n_categories=4)
    assert short.statistic_size == plain.statistic_size == 12


def test_a_column_without_any_entry(codes):
    codes[:, 1] = np.nan
    _, plain, short = _families(codes, hyper.LogNormal(0.3, 1))
    np.testing.assert_allclose(short.log_alone(), plain.log_alone())


def test_what_is_known_of_a_cluster_has_all_categories(codes):
    model = mw.Mixture(mw.Categorical(n_categories=3000), mw.NGGP(1.0, 0.5))
    post = mw.sample(model, codes, draws=5, warmup=5, chains=1, seed=0, progress=False)
    assert post.log_density(np.array([[5.0, 17.0, 2998.0]])).shape == (1,)
    resumed = post.cluster_parameters()
    assert resumed is not None
