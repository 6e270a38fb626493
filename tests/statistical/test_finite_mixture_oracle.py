"""What only a finite mixture has: its parameters' updates and free jumps, and wrong ones.

That every sampler is exact under it, the other oracles say.
"""

from __future__ import annotations

from math import exp, expm1, lgamma, log

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammainc, gammaincc

import mixwood as mw
from mixwood import hyper
from mixwood.core import make_chain
from mixwood.priors import finite_mixture
from mixwood.reference import GibbsChain, SliceChain
from mixwood.reference.priors import softplus, twin_of
from mixwood.reference.priors.finite_mixture import FiniteMixture
from mixwood.reference.random import Stream
from mixwood.reference.slice import finite_floor, finite_jumps_above
from mixwood.testing import goodness_of_fit, joint_distribution_test
from tests.statistical.conftest import CASES, LEARNED

SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split_merge": mw.SplitMerge(scans=2),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2),
}
PRIORS = {
    "fixed": mw.FiniteMixture(rate=6.0, gamma=3.0),
    "random": mw.FiniteMixture(rate=hyper.Gamma(3, 0.5), gamma=hyper.Gamma(4, 2)),
    "log-normal": mw.FiniteMixture(rate=6.0, gamma=hyper.LogNormal(1, 0.7)),
}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_log_normal_gamma_is_exact(sampler, cases, seed):
    """Beside a rate that is fixed: gamma then moves given the rate."""
    likelihood, X = cases["spherical"]
    model = mw.Mixture(likelihood, PRIORS["log-normal"])
    result = goodness_of_fit(
        model, X, SAMPLERS[sampler], replicates=12_000, iterations=3, seed=seed
    )
    assert result.passed(), result


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_it_is_exact_with_a_learned_base(sampler, seed):
    likelihood, X = LEARNED["gaussian"]
    model = mw.Mixture(likelihood, PRIORS["random"])
    result = goodness_of_fit(model, X, SAMPLERS[sampler], replicates=6000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.in_turn("prior")
@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("prior", PRIORS)
def test_every_family_and_sampler(prior, family, sampler, fresh_seed):
    likelihood, X = CASES[family]
    model = mw.Mixture(likelihood, PRIORS[prior])
    result = goodness_of_fit(model, X, SAMPLERS[sampler], iterations=6, seed=fresh_seed)
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.in_turn("prior")
@pytest.mark.parametrize("family", LEARNED)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("prior", PRIORS)
def test_every_learned_family_and_sampler(prior, family, sampler, fresh_seed):
    likelihood, X = LEARNED[family]
    model = mw.Mixture(likelihood, PRIORS[prior])
    result = goodness_of_fit(model, X, SAMPLERS[sampler], iterations=6, seed=fresh_seed)
    assert result.passed(), result


# --- core and twin


@pytest.mark.parametrize(
    "prior",
    [
        mw.FiniteMixture(),
        PRIORS["log-normal"],
        mw.FiniteMixture(rate=hyper.Gamma(2, 1), gamma=hyper.LogNormal(1, 0.7)),
        mw.FiniteMixture(rate=500.0, gamma=0.2),  # free jumps above a floor
        mw.FiniteMixture(rate=500.0, gamma=30.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("chain", [GibbsChain, SliceChain])
def test_same_draws(assert_same_draws, prior, chain, seed):
    X = np.random.default_rng(seed).normal(size=(18, 2)) + 3 * (np.arange(18) % 2)[:, None]
    likelihood = mw.Gaussian()
    model = mw.Mixture(likelihood.resolve(X), prior)
    labels = (np.arange(18) // 4).astype(np.int32)
    sampler = mw.Slice() if chain is SliceChain else mw.Gibbs()
    core = make_chain(model, X, labels, np.random.PCG64(seed), sampler)
    twin = chain(model, X, labels, np.random.Generator(np.random.PCG64(seed)))
    assert_same_draws(core, twin, model.likelihood.row_constants(X).sum(), 12)


# --- the jumps that no row is in


@pytest.mark.parametrize(
    ("total", "gamma", "least"),
    [(3.0, 0.4, 0.01), (3.0, 2.5, 0.5), (90.0, 0.4, 1.5), (90.0, 1.0, 2.0), (90.0, 6.0, 9.0)],
)
def test_finite_jumps_are_a_poisson_process(total, gamma, least, seed):
    """Their number, and each of them, by the tail of a Gamma(gamma)."""
    stream, rounds = Stream(np.random.default_rng(seed)), 3000
    drawn = [list(finite_jumps_above(least, total, gamma, stream)) for _ in range(rounds)]
    expected = total * gammaincc(gamma, least)
    numbers = np.array([len(jumps) for jumps in drawn])
    assert abs(numbers.mean() - expected) < 5 * np.sqrt(expected / rounds)
    assert numbers.var() == pytest.approx(expected, rel=0.25)
    jumps = np.concatenate(drawn)
    assert jumps.min() > least
    uniform = (gammainc(gamma, jumps) - gammainc(gamma, least)) / gammaincc(gamma, least)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("gamma", [0.01, 1.0, 50.0])
def test_few_jumps_are_above_the_floor(gamma):
    assert finite_floor(80.0, gamma, n=10) == 0.0
    floor = finite_floor(1e6, gamma, n=10)
    assert 1e6 * gammaincc(gamma, floor) < 64 + 4 * 10


def test_slice_is_exact_above_the_floor(cases, seed):
    """Far more components than rows, all of about one size: most rows stay in most sweeps."""
    likelihood, X = cases["spherical"]
    model = mw.Mixture(likelihood, mw.FiniteMixture(rate=200.0, gamma=0.5))
    result = goodness_of_fit(model, X, "slice", replicates=20_000, iterations=12, seed=seed)
    assert result.passed(), result


class JumpsOfSizeOne(SliceChain):
    """Free jumps Gamma(gamma + 1), as if each had an item."""

    def free_jumps(self, least):
        total, gamma = self.finite_measure()
        return list(finite_jumps_above(least, total, gamma + 1, self.stream))


def test_wrong_jumps_fail(cases, run_twin, seed):
    likelihood, X = cases["spherical"]
    model = mw.Mixture(likelihood, mw.FiniteMixture(rate=2.0, gamma=0.5))
    run = run_twin(JumpsOfSizeOne, model, X[:3], 4, remember=False)
    result = goodness_of_fit(model, X[:3], replicates=2000, seed=seed, run=run)
    assert result.p_value < 1e-6, result


# --- wrong updates of the parameters. Few components, so that there may well be none.

RANDOM = mw.FiniteMixture(rate=hyper.Gamma(1, 1), gamma=hyper.Gamma(2, 1))


def factor_dropped(twin, law, p, clusters, stream):
    """The prior's 1 - e^-rate kept, but not the 1/(1 - e^-rate) against which it cancels."""
    while True:
        draw = FiniteMixture.draw_log_rate(twin, law, p, clusters, stream)
        if stream.uniform() < -expm1(-exp(draw)):
            return draw


def without_jacobian_of_u(twin, p, n, clusters, stream):
    return FiniteMixture.slice_log_u(twin, p, n - 1, clusters, stream)


def without_jacobian_of_gamma(twin, law, p, sizes, stream):
    """The density of gamma taken for that of its logarithm: a power of gamma is missing."""
    s, clusters = softplus(p.log_u), len(sizes)

    def log_density(log_gamma):
        gamma = exp(log_gamma)
        growth = sum(lgamma(k + gamma) for k in sizes) - clusters * (lgamma(gamma) + gamma * s)
        growth -= twin._mass_term(p.log_alpha, gamma * s, clusters)
        return law.log_density(log_gamma) - log_gamma + growth

    return stream.slice_line(log_density, log(-p.sigma), 1.0)


MUTATIONS = {
    "factor": {"draw_log_rate": factor_dropped},
    "jacobian of u": {"slice_log_u": without_jacobian_of_u},
    "jacobian of gamma": {"slice_log_gamma": without_jacobian_of_gamma},
}


def fit_of_twin(cases, run_twin, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, RANDOM)
    run = run_twin(GibbsChain, model, X[:4], 4)
    return goodness_of_fit(model, X[:4], replicates=4000, seed=seed, run=run)


def test_the_twin_is_exact(cases, run_twin, seed):
    result = fit_of_twin(cases, run_twin, seed)
    assert result.passed(), result


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_parameter_update_fails(mutation, cases, run_twin, seed, monkeypatch):
    wrong = type("Wrong", (FiniteMixture,), MUTATIONS[mutation])
    monkeypatch.setattr("mixwood.reference.priors._TWINS", {mw.FiniteMixture: wrong})
    assert isinstance(twin_of(RANDOM), wrong)
    result = fit_of_twin(cases, run_twin, seed)
    assert not result.passed(), result


def test_a_rate_that_is_not_tilted_fails(seed, monkeypatch):
    """Drawn from the Gamma alone: then the conjugate draw drops 1/(1 - e^-rate)."""
    model = mw.Mixture(mw.Bernoulli(a=1, b=1, columns=1), mw.FiniteMixture(hyper.Gamma(1, 1)))
    options = {"replicates": 2000, "rounds": 3}
    right = joint_distribution_test(model, 6, "gibbs", seed=seed, **options)
    assert right.passed(), right

    def untilted(law, size, rng):
        return np.log(rng.gamma(law.shape, 1 / law.rate, size))

    monkeypatch.setattr(finite_mixture, "_draw_log_rate", untilted)
    wrong = joint_distribution_test(model, 6, "gibbs", seed=seed, **options)
    assert not wrong.passed(), wrong
