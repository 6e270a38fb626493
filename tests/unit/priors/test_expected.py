"""Expected numbers of clusters, against enumeration and simulation."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.special import hyp2f1

import mixwood as mw
from mixwood.priors.expected import _gauss_beta, _log_hypergeometric
from mixwood.testing import all_partitions, seed_of
from mixwood.testing.enumeration import cluster_sizes
from mixwood.testing.parameters import parameter_law

AWKWARD = [
    mw.NGGP(alpha=0.01, sigma=0.7),
    mw.NGGP(alpha=300.0, sigma=0.05),
    mw.NGGP(alpha=2.0, sigma=0.97),
    mw.NGGP(alpha=mw.hyper.Gamma(0.5, 20.0), sigma=mw.hyper.Beta(1, 3)),
    mw.PitmanYor(theta=mw.hyper.Gamma(0.2, 0.01), sigma=0.5),
    mw.PitmanYor(theta=1e-6, sigma=0.999),
    mw.DirichletProcess(alpha=mw.hyper.Gamma(0.3, 0.01)),
    mw.FiniteMixture(rate=0.01, gamma=20.0),
    mw.FiniteMixture(rate=300.0, gamma=0.05),
    mw.FiniteMixture(rate=mw.hyper.Gamma(0.5, 2.0), gamma=mw.hyper.Gamma(1, 3)),
    mw.FiniteMixture(rate=mw.hyper.Gamma(5, 20.0), gamma=mw.hyper.LogNormal(1, 1)),
]


def by_enumeration(prior, n):
    law = parameter_law(prior, n)
    sizes = [cluster_sizes(labels) for labels in all_partitions(n)]
    of_shape = {shape: exp(law.log_probability(shape)) for shape in sorted(set(sizes), key=len)}
    return sum(of_shape[shape] * len(shape) for shape in sizes)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_enumeration_agrees(prior, n):
    assert prior.expected_clusters(n) == pytest.approx(by_enumeration(prior, n), rel=1e-8)


@pytest.mark.parametrize("prior", AWKWARD, ids=str)
def test_enumeration_agrees_for_awkward_priors(prior):
    assert prior.expected_clusters(5) == pytest.approx(by_enumeration(prior, 5), rel=1e-7)


@pytest.mark.parametrize(
    "prior",
    [
        mw.NGGP(alpha=1.0, sigma=0.5),
        mw.NGGP(),
        mw.PitmanYor(),
        mw.DirichletProcess(),
        mw.FiniteMixture(),
        mw.FiniteMixture(rate=mw.hyper.Gamma(0.3, 1e-4), gamma=mw.hyper.Gamma(2, 1)),
    ],
    ids=str,
)
def test_simulation_agrees(prior, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    clusters = prior.draw(200, 150, rng).labels.max(axis=1) + 1
    error = clusters.std(ddof=1) / np.sqrt(len(clusters))
    assert abs(clusters.mean() - prior.expected_clusters(200)) < 5 * error


def test_limits():
    """A tiny sigma is the Dirichlet process; a tiny mass leaves the stable law's n^sigma."""
    for n in (2, 50, 1000):
        dp = mw.DirichletProcess(alpha=1.0).expected_clusters(n)
        assert mw.PitmanYor(theta=1.0, sigma=1e-9).expected_clusters(n) == pytest.approx(dp)
        nggp = mw.NGGP(alpha=1e9, sigma=1e-9)
        assert nggp.expected_clusters(n) == pytest.approx(dp, rel=1e-6)
        stable = mw.PitmanYor(theta=1e-12, sigma=0.5).expected_clusters(n)
        tiny = mw.NGGP(alpha=1e-9, sigma=0.5).expected_clusters(n)
        assert tiny == pytest.approx(stable, rel=1e-5)


def test_dirichlet_process_is_a_harmonic_sum():
    expected = sum(2.5 / (2.5 + i) for i in range(1000))
    assert mw.DirichletProcess(alpha=2.5).expected_clusters(1000) == pytest.approx(expected)


def test_pitman_yor_recursion():
    """E[K_(i+1)] = E[K_i] + (theta + sigma E[K_i]) / (theta + i)."""
    theta, sigma, expected = 0.8, 0.35, 1.0
    for i in range(1, 400):
        expected += (theta + sigma * expected) / (theta + i)
    value = mw.PitmanYor(theta=theta, sigma=sigma).expected_clusters(400)
    assert value == pytest.approx(expected, rel=1e-12)


def test_grows_with_n_up_to_a_million(prior):
    values = [prior.expected_clusters(n) for n in (1, 10, 1000, 10**6)]
    assert values[0] == 1.0
    assert np.all(np.diff(values) > 0)
    assert np.isfinite(values[-1])


@pytest.mark.parametrize("sigma", [0.01, 0.5, 0.95])
def test_hypergeometric_function(sigma):
    x = np.array([1e-6, 0.1, 1.0, 20.0])
    value = _log_hypergeometric(np.log(x), sigma, 7)
    np.testing.assert_allclose(value, np.log(hyp2f1(1 - sigma, 8, 2, -x)), atol=1e-10)


@pytest.mark.parametrize(("a", "b"), [(2.0, 4.0), (0.5, 0.5), (1.0, 1.0), (30.0, 0.2)])
def test_gauss_rule_of_the_beta_law(a, b):
    nodes, weights = _gauss_beta(a, b)
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ nodes == pytest.approx(a / (a + b))
    assert weights @ nodes**2 == pytest.approx(a * (a + 1) / ((a + b) * (a + b + 1)))


@pytest.mark.parametrize("mass", [1e15, 1e30, 1e100])
def test_with_a_huge_mass_every_item_is_a_cluster(mass):
    for prior in (
        mw.NGGP(alpha=mass, sigma=0.3),
        mw.NGGP(alpha=mw.hyper.Gamma(2, 1 / mass), sigma=0.3),
        mw.NormalizedInverseGaussian(alpha=mass),
        mw.DirichletProcess(alpha=mass),
        mw.PitmanYor(theta=mass, sigma=0.3),
        mw.FiniteMixture(rate=mass),
        mw.FiniteMixture(rate=mw.hyper.Gamma(2, 1 / mass)),
    ):
        assert prior.expected_clusters(1000) == pytest.approx(1000, rel=1e-6)
