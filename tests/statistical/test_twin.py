"""The compiled chain and its plain twin: same seed, same draws."""

from __future__ import annotations

from dataclasses import asdict
from math import lgamma, log

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import GibbsChain, SliceChain, SplitMergeChain
from tests.conftest import FAMILIES

TWINS = {mw.Gibbs: GibbsChain, mw.SplitMerge: SplitMergeChain, mw.Slice: SliceChain}


def both_chains(likelihood, X, prior, seed, labels, sampler=None):
    sampler = sampler or mw.Gibbs()
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    labels = np.asarray(labels, dtype=np.int32)
    core = make_chain(model, X, labels, np.random.PCG64(seed), sampler)
    rng = np.random.Generator(np.random.PCG64(seed))
    twin = TWINS[type(sampler)](model, X, labels, rng, **asdict(sampler))
    return core, twin, model.likelihood.row_constants(X).sum()


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_same_draws(assert_same_draws, family_case, prior, seed, start):
    likelihood, X = family_case(18)
    labels = np.zeros(18) if start == "one" else np.arange(18)
    assert_same_draws(*both_chains(likelihood, X, prior, seed, labels), 12)


def test_same_splits_and_merges(assert_same_draws, family_case, prior, seed):
    likelihood, X = family_case(18)
    labels = np.arange(18) // 6
    sampler = mw.SplitMerge(scans=2, subset=3)
    assert_same_draws(*both_chains(likelihood, X, prior, seed, labels, sampler), 12)


def test_same_slices(assert_same_draws, family_case, prior, seed):
    likelihood, X = family_case(18)
    labels = np.arange(18) // 2
    assert_same_draws(*both_chains(likelihood, X, prior, seed, labels, mw.Slice()), 8)


LOGNORMAL, GAMMA = mw.hyper.LogNormal, mw.hyper.Gamma
# beside the defaults: all fixed, or learned in another way
OTHERS = {
    "gaussian": [
        mw.Gaussian(scale="data"),
        mw.Gaussian(r=GAMMA(2, 20), nu=9.0),
        mw.Gaussian(r=0.1, nu=GAMMA(2, 0.1)),
    ],
    "diagonal-missing": [
        mw.DiagonalGaussian(scale="data"),
        mw.DiagonalGaussian(r=LOGNORMAL(0.1, 1), nu=6.0),
    ],
    "spherical": [mw.SphericalGaussian(scale="data"), mw.SphericalGaussian(r=GAMMA(2, 20))],
    "multinomial": [mw.Multinomial(beta=0.3), mw.Multinomial(beta=GAMMA(1, 1))],
    "bernoulli": [mw.Bernoulli(), mw.Bernoulli(a=GAMMA(2, 1))],
    "categorical": [mw.Categorical(beta=0.7), mw.Categorical(beta=GAMMA(2, 1))],
    "poisson": [
        mw.Poisson(shape=1.5),
        mw.Poisson(shape=GAMMA(2, 1), rate=[1.0, 0.5, 2.0]),
        mw.Poisson(exposure=np.linspace(0.5, 2.0, 18)),
    ],
    "regression": [
        mw.Regression(1, on=[0], scale=1.0),
        mw.Regression(1, r=GAMMA(2, 20), nu=6.0, slopes=1.0),
    ],
    "negative_binomial": [
        mw.NegativeBinomial(size=3.0, shape=1.5, exposure=3),
        mw.NegativeBinomial(exposure=3),
        mw.NegativeBinomial(size=GAMMA(2, 1), shape=1.0, mean=2.0, exposure=-1),
    ],
}


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(scans=2), mw.Slice()], ids=str)
@pytest.mark.parametrize(
    ("name", "likelihood"), [(name, other) for name, those in OTHERS.items() for other in those]
)
def test_same_draws_of_other_base_measures(assert_same_draws, name, likelihood, sampler, seed):
    X = FAMILIES[name](np.random.default_rng(7), 18)[1]
    chains = both_chains(likelihood, X, mw.NGGP(), seed, np.arange(18) // 4, sampler)
    assert_same_draws(*chains, 6)


def test_same_draws_of_a_family_of_ones_own(assert_same_draws, seed):
    def accumulate(x, statistic):
        statistic[0] += x[0]

    def log_marginal(n, statistic, parameters):
        a, b = parameters[0], parameters[1] / (1 - parameters[1])
        return a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + statistic[0])

    learned = {"shape": LOGNORMAL(2, 1), "share": mw.hyper.Beta(2, 3)}

    def draw_parameters(n, statistic, parameters, rng):
        a, b = parameters[0], parameters[1] / (1 - parameters[1])
        return rng.gamma(a + n, 1 / (b + statistic[0]))

    def log_density(x, drawn, parameters):
        return log(drawn[0]) - drawn[0] * x[0]

    family = mw.conjugate_family(
        1,
        accumulate,
        log_marginal,
        parameters=learned,
        columns=1,
        draw_parameters=draw_parameters,
        log_density=log_density,
    )
    X = np.random.default_rng(seed).exponential(size=(18, 1))
    for sampler in (mw.Gibbs(), mw.Slice()):
        chains = both_chains(family, X, mw.NGGP(), seed, np.arange(18) // 4, sampler)
        assert_same_draws(*chains, 12)


@pytest.mark.parametrize("d", [1, 2, 5, 8, 17])
@pytest.mark.parametrize(
    "likelihood",
    [
        mw.Gaussian(),
        mw.DiagonalGaussian(),
        mw.SphericalGaussian(),
        mw.Poisson(),
        mw.NegativeBinomial(),
    ],
)
def test_same_slices_at_every_width(assert_same_draws, likelihood, d, seed):
    X = np.random.default_rng(seed).poisson(4.0, (40, d))
    chains = both_chains(likelihood, X, mw.NGGP(), seed, np.arange(40) % 5, mw.Slice())
    assert_same_draws(*chains, 2)


@pytest.mark.parametrize("sampler", [mw.Gibbs(subset=6), mw.SplitMerge(subset=6)])
def test_same_draws_of_a_subset(assert_same_draws, sampler, prior, seed):
    X = np.random.default_rng(seed).normal(size=(20, 2))
    chains = both_chains(mw.Gaussian(scale="data"), X, prior, seed, np.arange(20) // 3, sampler)
    assert_same_draws(*chains, 30)


def test_same_draws_after_the_core_rebuilds_its_statistics(assert_same_draws, seed):
    X = np.random.default_rng(seed).normal(size=(12, 1))
    chains = both_chains(mw.Gaussian(), X, mw.NGGP(), seed, np.zeros(12))
    assert_same_draws(*chains, 150)


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.Slice()])
@pytest.mark.parametrize("likelihood", [mw.Gaussian(), mw.DiagonalGaussian()])
def test_same_draws_beside_columns_that_take_no_part(assert_same_draws, likelihood, sampler, seed):
    X = np.random.default_rng(seed).normal(size=(24, 2))
    X = np.column_stack([np.ones(24), X[:, 0], X[:, 0] - 2 * X[:, 1], X[:, 1]])
    assert likelihood.resolve(X).left_out
    chains = both_chains(likelihood, X, mw.NGGP(), seed, np.arange(24) % 4, sampler)
    assert_same_draws(*chains, 8)


def test_same_weights(family_case, seed):
    likelihood, X = family_case(10)
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1, 3])
    core, twin, _ = both_chains(likelihood, X, mw.NGGP(), seed, labels)
    for row in range(10):
        old = int(twin.assignment[row])
        twin.sizes[old] -= 1
        stat = twin.stats[old]
        twin.stats[old] = twin.family.forget(stat, twin.X[row])
        weights, expected = core.log_weights(row), twin.log_weights(row)
        twin.sizes[old] += 1
        twin.stats[old] = stat
        # the same but for the constant of the row, which is common to all
        np.testing.assert_allclose(weights - weights[-1], expected - expected[-1], atol=1e-8)
