"""Draws from the prior, against the exact law of small partitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance
from mixwood.simulation import simulate
from mixwood.testing import all_partitions, enumerate_posterior, seed_of
from mixwood.testing.goodness import chi_square
from mixwood.testing.groups import GroupLaw

LIKELIHOODS = [
    mw.Gaussian(),
    mw.DiagonalGaussian(),
    mw.SphericalGaussian(),
    mw.Multinomial(),
    mw.Bernoulli(),
    mw.Categorical(),
    mw.Poisson(),
]


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda v: type(v).__name__)
def test_every_family_gives_data_it_accepts(likelihood):
    X, labels = simulate(mw.Mixture(likelihood), 25, seed=3, width=3)
    assert X.shape == (25, 3)
    assert likelihood.check(X).shape == (25, 3)
    np.testing.assert_array_equal(labels, in_order_of_appearance(labels))


def test_same_seed_same_data():
    model = mw.Mixture(prior=mw.NGGP())
    (X, labels), (again, same) = simulate(model, 30, seed=1), simulate(model, 30, seed=1)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(labels, same)
    assert not np.array_equal(X, simulate(model, 30, seed=2)[0])


def test_a_generator_is_a_seed_too():
    rng = np.random.default_rng(1)
    first, second = (simulate(mw.Mixture(), 10, seed=rng)[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_explicit_parameters_decide_the_width():
    X, _ = simulate(mw.Mixture(mw.Gaussian(mean=np.zeros(4))), 5, seed=0)
    assert X.shape == (5, 4)


@pytest.mark.parametrize(("name", "value"), [("n", 0), ("width", 0), ("n", 2.5)])
def test_wrong_sizes_are_refused(name, value):
    arguments = {"n": 5, "width": 2} | {name: value}
    with pytest.raises((ValueError, TypeError), match=name):
        simulate(mw.Mixture(), **arguments)


@pytest.mark.parametrize("n", [2, 5])
def test_partitions_and_parameters_have_the_prior_law(prior, n, request):
    """With data that say nothing (all entries missing) the posterior is the prior."""
    exact = enumerate_posterior(
        mw.Mixture(mw.Bernoulli(a=1.0, b=1.0, columns=1), prior), np.full((n, 1), np.nan)
    )
    rng = np.random.default_rng(seed_of(request.node.name))
    draws = prior.draw(n, 4000, rng)
    counts = np.bincount(exact.index_of(draws.labels), minlength=len(all_partitions(n)))
    assert chi_square(counts.astype(float), exact.probabilities) > 1e-6
    for name, values in exact.parameter_cdf(vars(draws)).items():
        assert stats.kstest(values, "uniform").pvalue > 1e-6, name


def test_random_parameters_have_their_priors(request):
    rng = np.random.default_rng(seed_of(request.node.name))
    draws = mw.PitmanYor().draw(2, 3000, rng)
    assert stats.kstest(draws.theta, stats.gamma(2.0).cdf).pvalue > 1e-6
    assert stats.kstest(draws.sigma, stats.beta(2.0, 5.0).cdf).pvalue > 1e-6


def test_the_grid_follows_u_to_large_n(request):
    """Thousands of items and hundreds of clusters: the density of u is narrow by then."""
    prior = mw.NGGP(alpha=5.0, sigma=0.7)
    rng = np.random.default_rng(seed_of(request.node.name))
    clusters = prior.draw(2000, 60, rng).labels.max(axis=1) + 1
    error = clusters.std(ddof=1) / np.sqrt(len(clusters))
    assert abs(clusters.mean() - prior.expected_clusters(2000)) < 5 * error


def test_partitions_in_groups_have_the_law_of_the_prior():
    """Two groups of 2 and 2 items: frequencies against the sum over components."""
    prior = mw.FiniteMixture(rate=2.0, gamma=0.7)
    codes, rng = np.array([0, 0, 1, 1]), np.random.default_rng(3)
    law = GroupLaw(prior, codes)
    partitions = all_partitions(4)
    exact = np.exp([law.log_probability(labels) for labels in partitions])
    assert exact.sum() == pytest.approx(1)
    index = {tuple(labels): k for k, labels in enumerate(partitions.tolist())}
    drawn = [index[tuple(prior.draw_in_groups(codes, rng).tolist())] for _ in range(4000)]
    assert chi_square(np.bincount(drawn, minlength=15).astype(float), exact) > 1e-6


def test_rows_in_groups():
    model = mw.Mixture(mw.Poisson(), mw.FiniteMixture())
    X, labels = mw.simulate(model, 6, seed=1, groups=list("aabbcc"))
    assert X.shape == (6, 2)
    assert labels[0] == 0
    with pytest.raises(TypeError, match="groups= needs a prior"):
        mw.simulate(mw.Mixture(mw.Poisson()), 2, groups=["a", "b"])
