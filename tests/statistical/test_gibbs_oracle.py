"""Gibbs against the exact posterior over all partitions; and wrong Gibbs, which must fail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.reference import GibbsChain, family_of, priors
from mixwood.reference.families import Family, dense
from mixwood.testing import goodness_of_fit, long_chain_test, seed_of

PRIORS = {
    "dp": mw.DirichletProcess(alpha=1.3),
    "dp-random": mw.DirichletProcess(),
    "nggp": mw.NGGP(alpha=0.8, sigma=0.4),
    "nggp-random": mw.NGGP(),
    "nggp-fixed-alpha": mw.NGGP(alpha=1.0),
    "nig-random": mw.NormalizedInverseGaussian(),
    "py": mw.PitmanYor(theta=0.9, sigma=0.3),
    "py-random": mw.PitmanYor(),
}

# data for which many partitions are likely (else a wrong sampler may pass), with missing entries
HOLE = np.nan
CASES = {
    "gaussian": (
        mw.Gaussian(r=0.2, nu=4, mean=[1.0, 0.5], scale=[[3.0, 0.5], [0.5, 2.0]]),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    ),
    "diagonal": (
        mw.DiagonalGaussian(r=0.2, nu=3, mean=[1.0, 0.5], scale=[3.0, 2.0]),
        [[0.1, HOLE], [-0.3, 1.9], [2.1, 0.2], [HOLE, -0.8], [0.9, 1.1]],
    ),
    "spherical": (
        mw.SphericalGaussian(r=0.2, nu=3, mean=[1.0, 0.5], scale=2.5),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    ),
    "multinomial": (
        mw.Multinomial(beta=0.5),
        csr_array(np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 0], [3, 0, 0]])),
    ),
    "bernoulli": (
        mw.Bernoulli(a=0.6, b=1.2),
        [[1, 0, 1], [0, 0, HOLE], [1, 1, 1], [0, 1, 0], [1, 0, 0]],
    ),
    "categorical": (mw.Categorical(), [[0, 2], [1, 1], [0, HOLE], [2, 0], [0, 2]]),
    "poisson": (mw.Poisson(shape=2.0), [[0, 3], [4, 1], [HOLE, 2], [6, 0], [1, 5]]),
}


@pytest.fixture
def seed(request):
    return seed_of(request.node.name)


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("prior", PRIORS)
def test_gibbs_is_exact(prior, family, seed):
    likelihood, X = CASES[family]
    model = mw.Mixture(likelihood, PRIORS[prior])
    result = goodness_of_fit(model, X, "gibbs", iterations=10, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("prior", PRIORS)
def test_gibbs_on_a_subset_is_exact(prior, seed):
    likelihood, X = CASES["gaussian"]
    model = mw.Mixture(likelihood, PRIORS[prior])
    result = goodness_of_fit(model, X, mw.Gibbs(subset=2), iterations=10, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
@pytest.mark.parametrize("prior", PRIORS)
def test_a_long_chain_finds_the_posterior(prior, start, seed):
    likelihood, X = CASES["gaussian"]
    model = mw.Mixture(likelihood, PRIORS[prior])
    result = long_chain_test(model, X, "gibbs", start=start, seed=seed)
    assert result.passed(), result


class Remembered(Family[tuple[int, ...]]):
    """A family over row numbers that computes each log marginal once: fast for few rows."""

    def __init__(self, likelihood, X):
        family, rows = family_of(likelihood), dense(X)
        self.log_marginal = cache(lambda stat: family.log_marginal(family.of(rows[list(stat)])))

    def empty(self):
        return ()

    def observe(self, stat, row):
        return tuple(sorted((*stat, int(row[0]))))

    def forget(self, stat, row):
        place = stat.index(int(row[0]))
        return stat[:place] + stat[place + 1 :]

    def merge(self, a, b):
        return tuple(sorted(a + b))

    def log_marginal(self, stat):
        raise NotImplementedError  # set for each instance


def run_twin(chain_class, model, X, iterations):
    """Return a `run` for `goodness_of_fit` that runs a Python chain from each start."""
    X = model.likelihood.check(X)
    model = replace(model, likelihood=model.likelihood.resolve(X))
    family = Remembered(model.likelihood, X)
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")

    def run(starts, rng):
        chain = chain_class(model, X, starts["labels"][0], rng)
        chain.family, chain.X = family, np.arange(X.shape[0])[:, None]
        finals = {name: np.empty_like(starts[name]) for name in names}
        for i in range(len(starts["labels"])):
            chain.set_state(*(starts[name][i] for name in names))
            chain.iterate(iterations)
            for name in names:
                finals[name][i] = getattr(chain, name)
        return finals

    return run


@pytest.mark.parametrize("prior", PRIORS)
def test_the_twin_is_exact(prior, seed):
    likelihood, X = CASES["gaussian"]
    model = mw.Mixture(likelihood, PRIORS[prior])
    run = run_twin(GibbsChain, model, X[:4], 3)
    result = goodness_of_fit(model, X[:4], replicates=2000, seed=seed, run=run)
    assert result.passed(), result


class WrongSize(GibbsChain):
    """|c| for |c| - sigma."""

    def log_weights(self, i):
        weights = super().log_weights(i)
        for c, size in enumerate(self.sizes):
            if size:
                weights[c] += log(size) - log(size - self.sigma)
        return weights


class WrongNew(GibbsChain):
    """The new cluster's weight without its tau^sigma."""

    def log_weights(self, i):
        weights = super().log_weights(i)
        weights[-1] += self.log_alpha + log(self.sigma)
        weights[-1] -= priors.log_new_weight(self.model.prior, self.parameters)
        return weights


class RowLeftIn(GibbsChain):
    """The row is not taken out of its cluster before its weights are computed."""

    def log_weights(self, i):
        old = int(self.assignment[i])
        size, stat = self.sizes[old], self.stats[old]
        self.sizes[old], self.stats[old] = size + 1, self.family.observe(stat, self.X[i])
        weights = super().log_weights(i)
        self.sizes[old], self.stats[old] = size, stat
        return weights


@pytest.mark.parametrize("wrong", [WrongSize, WrongNew, RowLeftIn], ids=lambda c: c.__name__)
def test_a_wrong_weight_fails(wrong, seed):
    likelihood, X = CASES["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.6))
    run = run_twin(wrong, model, X, 5)
    result = goodness_of_fit(model, X, replicates=3000, seed=seed, run=run)
    assert result.p_value < 1e-6, result


def without_jacobian(right):
    """u^(n-1) for u^n: the density of u taken for that of log u."""
    return lambda alpha, parameters, n, clusters, stream: right(
        alpha, parameters, n - 1, clusters, stream
    )


def one_cluster_too_many(right):
    return lambda prior, law, parameters, clusters, stream: right(
        prior, law, parameters, clusters + 1, stream
    )


def one_singleton_too_many(right):
    return lambda alpha, law, parameters, sizes, stream: right(
        alpha, law, parameters, [*sizes, 1], stream
    )


@pytest.mark.parametrize(
    ("update", "mutate"),
    [
        ("slice_log_u", without_jacobian),
        ("draw_log_alpha", one_cluster_too_many),
        ("slice_sigma", one_singleton_too_many),
    ],
)
def test_a_wrong_parameter_update_fails(update, mutate, seed, monkeypatch):
    monkeypatch.setattr(priors, update, mutate(getattr(priors, update)))
    likelihood, X = CASES["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP())
    run = run_twin(GibbsChain, model, X[:4], 4)
    result = goodness_of_fit(model, X[:4], replicates=4000, seed=seed, run=run)
    assert not result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("prior", PRIORS)
def test_p_values_are_uniform_over_fresh_seeds(prior, family):
    likelihood, X = CASES[family]
    model = mw.Mixture(likelihood, PRIORS[prior])
    seeds = np.random.SeedSequence().generate_state(50, np.uint64).tolist()
    print(f"\n{prior}, {family}: seeds {seeds}")
    results = [
        goodness_of_fit(model, X, "gibbs", replicates=15_000, iterations=10, seed=seed)
        for seed in seeds
    ]
    p_values = {"partition": [r.p_value for r in results]}
    for name in results[0].parameter_p_values:
        p_values[name] = [r.parameter_p_values[name] for r in results]
    for name, values in p_values.items():
        uniformity = stats.kstest(values, "uniform").pvalue
        print(f"{prior}, {family}, {name}: smallest {min(values):.2g}, uniform {uniformity:.2g}")
        # Some 170 of these: one false alarm in 500 runs of them all.
        assert uniformity > 1e-5, name
