"""Finitely many components: the law of partitions, against sums and direct simulation."""

from __future__ import annotations

from collections import Counter
from math import exp, lgamma, log

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import mixwood as mw
from mixwood import hyper
from mixwood.priors import PriorValues
from mixwood.priors.components import component_points, occupied
from mixwood.priors.urns import draw_components
from mixwood.testing import all_partitions
from mixwood.testing.enumeration import cluster_sizes
from mixwood.testing.parameters import parameter_law

FIXED = [(0.05, 1.0), (1.0, 1.0), (2.5, 0.4), (8.0, 3.0), (40.0, 0.05)]


def partition_sum(prior, n):
    """Return the sum over all partitions of the integral over u, by the trapezoid rule on x."""
    start = prior.start()
    x = np.arange(-4.0, np.arcsinh(40 / prior.gamma) + 2, 0.01)
    terms = []
    sizes = Counter(cluster_sizes(labels) for labels in all_partitions(n))
    for at in x:
        p = PriorValues(2 * np.sinh(at), start.log_alpha, start.sigma, 0.0)
        common = n * p.log_u - prior.psi(p) - lgamma(n) + log(0.01 * 2 * np.cosh(at))
        kappa = [prior.log_kappa(k, p) for k in range(1, n + 1)]
        terms += [log(m) + common + sum(kappa[k - 1] for k in c) for c, m in sizes.items()]
    return exp(logsumexp(terms))


@pytest.mark.parametrize(("rate", "gamma"), FIXED)
@pytest.mark.parametrize("n", [2, 5])
def test_all_partitions_sum_to_the_probability_of_a_component(rate, gamma, n):
    prior = mw.FiniteMixture(rate, gamma)
    assert partition_sum(prior, n) == pytest.approx(1 - exp(-rate), abs=1e-10)
    assert exp(prior.log_nonempty(prior.start())) == pytest.approx(1 - exp(-rate), rel=1e-13)


def test_a_tiny_rate_loses_no_digits():
    prior = mw.FiniteMixture()
    for log_rate in (-39.9, -40.1, -2000.0):
        p = PriorValues(0.0, log_rate, -1.0, 0.0)
        assert prior.log_nonempty(p) == pytest.approx(log_rate, rel=1e-14)


# --- how many components, how many clusters


def test_by_default_the_number_of_components_is_geometric():
    counts, weights = component_points(mw.FiniteMixture().rate)
    assert weights[0] == pytest.approx(0.1, rel=1e-12)
    np.testing.assert_allclose(weights, 0.1 * 0.9 ** (counts - 1), rtol=1e-9)
    assert weights @ counts == pytest.approx(10)


@pytest.mark.parametrize("rate", [0.3, 4.0, hyper.Gamma(1, 1 / 9), hyper.Gamma(0.4, 3.0)], ids=str)
def test_components_are_drawn_as_they_should(rate, seed):
    """The rate with its density times 1 - e^-rate, then a Poisson given at least one."""
    rng, size = np.random.default_rng(seed), 40_000
    draws = mw.FiniteMixture(rate=rate).draw(1, size, rng)
    components = draw_components(np.exp(draws.log_alpha), rng)
    counts, weights = component_points(rate)
    common = weights * size > 25
    observed = np.bincount(components.astype(int), minlength=len(counts) + 1)[1:][: len(counts)]
    expected = weights * size
    observed, expected = (
        np.append(a[common], size - a[common].sum()) for a in (observed, expected)
    )
    kept = expected > 5
    assert stats.chisquare(observed[kept], expected[kept], sum_check=False).pvalue > 1e-6


def simulated_sizes(rate, gamma, n, rng):
    """Draw M ~ Poisson given M >= 1, weights ~ Dirichlet, and n items: sizes, largest first."""
    components = 0
    while components == 0:
        components = rng.poisson(rate)
    counts = rng.multinomial(n, rng.dirichlet(np.full(components, gamma)))
    return tuple(sorted(counts[counts > 0].tolist(), reverse=True))


@pytest.mark.parametrize(("rate", "gamma"), [(1.0, 1.0), (2.5, 0.4), (8.0, 3.0)])
def test_the_enumerated_law_is_that_of_a_direct_simulation(rate, gamma, seed):
    rng, size, n = np.random.default_rng(seed), 30_000, 6
    law = parameter_law(mw.FiniteMixture(rate, gamma), n)
    multiplicity = Counter(cluster_sizes(labels) for labels in all_partitions(n))
    expected = {c: m * exp(law.log_probability(c)) * size for c, m in multiplicity.items()}
    assert sum(expected.values()) == pytest.approx(size, rel=1e-10)
    seen = Counter(simulated_sizes(rate, gamma, n, rng) for _ in range(size))
    ours = mw.FiniteMixture(rate, gamma).draw(n, size, rng).labels
    drawn = Counter(cluster_sizes(labels) for labels in ours)
    for observed in (seen, drawn):
        common = [c for c in expected if expected[c] > 25]
        a = [*(observed[c] for c in common), size - sum(observed[c] for c in common)]
        b = [*(expected[c] for c in common), size - sum(expected[c] for c in common)]
        used = len(a) if b[-1] > 5 else len(a) - 1
        assert stats.chisquare(a[:used], b[:used], sum_check=False).pvalue > 1e-6


def test_the_expected_number_of_occupied_components():
    for components in (2, 3, 50):
        for gamma in (1e-6, 0.3, 7.0, 1e6):
            i = np.arange(30)
            empty = np.prod(((components - 1) * gamma + i) / (components * gamma + i))
            value = occupied(np.array([float(components)]), gamma, 30)[0]
            assert value == pytest.approx(components * (1 - empty), rel=1e-9)


@pytest.mark.parametrize("rate", [19_000.0, hyper.Gamma(0.5, 0.003)], ids=str)
def test_points_for_many_components_agree_with_all_of_them(rate, monkeypatch):
    """Just beyond and before the limit up to which each number of components counts."""
    found = []
    for limit in (10**9, 0):
        monkeypatch.setattr("mixwood.priors.components._EACH", limit)
        counts, weights = component_points(rate)
        found.append([weights @ occupied(counts, 0.3, n) for n in (2, 100, 10**5)])
    np.testing.assert_allclose(*found, 1e-6)


def test_the_number_of_clusters_stays_below_that_of_components():
    labels = mw.FiniteMixture(rate=1e-9).draw(50, 20, np.random.default_rng(0)).labels
    assert labels.max() == 0  # one component
    assert mw.FiniteMixture(rate=1e-9).expected_clusters(10**6) == pytest.approx(1)
    assert mw.FiniteMixture().expected_clusters(10**6) == pytest.approx(10, rel=1e-3)


# --- u


def test_the_highest_of_two_modes():
    """With many components expected and few found, log u has a mode for each."""
    prior, n, clusters = mw.FiniteMixture(rate=50.0, gamma=5.0), 20, 1
    v = np.linspace(-6, 8, 4001)
    s = np.logaddexp(0, v)
    density = n * v - (n + 5 * clusters) * s + 50 * np.exp(-5 * s)
    inside = (density[1:-1] > density[:-2]) & (density[1:-1] > density[2:])
    assert inside.sum() == 2
    mode = prior.log_u_mode(prior.start(), n, clusters)
    assert mode == pytest.approx(v[np.argmax(density)], abs=0.01)


# --- the rate


def test_a_random_rate_starts_at_its_mean():
    law = hyper.Gamma(1.5, 0.4)
    rate = np.linspace(1e-6, 100, 400_001)
    density = rate**0.5 * np.exp(-0.4 * rate) * (1 - np.exp(-rate))
    expected = (rate * density).sum() / density.sum()
    assert mw.FiniteMixture(rate=law).start_values()["rate"] == pytest.approx(expected, rel=1e-5)
    assert mw.FiniteMixture(gamma=hyper.LogNormal(2, 1)).start_values()["gamma"] == 2.0


def test_the_core_is_told_the_law_of_gamma():
    arguments = mw.FiniteMixture(gamma=hyper.LogNormal(1, 0.5)).core_arguments()
    assert arguments["gamma"] == ("lognormal", 1.0, 0.5, 1e-6, 1e6)
    assert arguments["alpha"] == (1.0, 1 / 9)
    assert arguments["sigma"] is None
    assert arguments["start"]["sigma"] == -1.0
    assert "gamma" not in mw.FiniteMixture(gamma=2.0).core_arguments()


# --- extremes


@pytest.mark.parametrize("rate", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_extreme_parameters_run(rate, gamma, chain_of):
    X = np.random.default_rng(0).normal(size=(20, 2))
    prior = mw.FiniteMixture(rate, gamma)
    chain = chain_of(mw.Gaussian(scale="data"), X, np.arange(20) % 3, prior)
    chain.iterate(20)
    assert np.isfinite(chain.log_joint())
    chain.check()
    assert np.isfinite(prior.log_u_mode(prior.start(), 20, 3.0))
    assert 1 <= prior.expected_clusters(20) <= 20


@pytest.mark.parametrize(
    "gamma", [hyper.LogNormal(1, 30), hyper.Gamma(0.01, 0.01), hyper.LogNormal(1e6, 50)], ids=str
)
def test_a_vague_gamma_stays_within_its_bounds(gamma, chain_of):
    X = np.random.default_rng(0).normal(size=(20, 2))
    prior = mw.FiniteMixture(rate=hyper.Gamma(0.01, 0.01), gamma=gamma)
    chain = chain_of(mw.Gaussian(scale="data"), X, np.zeros(20), prior)
    for _ in range(300):
        chain.iterate()
        state = chain.state()
        assert 0.999e-6 <= -state["sigma"] <= 1.001e6
        assert np.isfinite([state["log_u"], state["log_alpha"], chain.log_joint()]).all()


# --- trees


def test_a_tree_tells_its_parameters_by_their_names():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.FiniteMixture(gamma=0.5))
    tree = mw.ibhc(model, X, seed=1)
    assert tree.parameters == {"log_rate": pytest.approx(log(9.9)), "gamma": 0.5}
    assert np.isfinite(tree.log_evidence_bound)
    draws = tree.as_draws()
    assert draws.gamma.tolist() == [[0.5]]
    assert draws.rate[0, 0] == pytest.approx(9.9)
