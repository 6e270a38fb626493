"""Gibbs against the exact posterior over all partitions; and wrong Gibbs, which must fail."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood.reference import GibbsChain, priors
from mixwood.testing import goodness_of_fit, long_chain_test


def test_gibbs_is_exact(some_pair, seed):
    model, X = some_pair
    result = goodness_of_fit(model, X, "gibbs", iterations=10, seed=seed)
    assert result.passed(), result


@pytest.mark.long
def test_gibbs_is_exact_for_every_pair(small_prior, small_case, seed):
    likelihood, X = small_case
    model = mw.Mixture(likelihood, small_prior)
    result = goodness_of_fit(model, X, "gibbs", iterations=10, seed=seed)
    assert result.passed(), result


def test_gibbs_on_a_subset_is_exact(small_prior, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, small_prior)
    result = goodness_of_fit(model, X, mw.Gibbs(subset=2), iterations=10, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_long_chain_finds_the_posterior(small_prior, start, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, small_prior)
    result = long_chain_test(model, X, "gibbs", start=start, seed=seed)
    assert result.passed(), result


def test_the_twin_is_exact(small_prior, cases, run_twin, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, small_prior)
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
def test_a_wrong_weight_fails(wrong, cases, run_twin, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.6))
    run = run_twin(wrong, model, X, 5)
    result = goodness_of_fit(model, X, replicates=3000, seed=seed, run=run)
    assert result.p_value < 1e-6, result


def without_jacobian(right):
    """u^(n-1) for u^n: the density of u taken for that of log u."""
    return lambda twin, p, n, clusters, stream: right(twin, p, n - 1, clusters, stream)


def one_cluster_too_many(right):
    return lambda twin, law, p, clusters, stream: right(twin, law, p, clusters + 1, stream)


def one_singleton_too_many(right):
    return lambda twin, law, p, sizes, stream: right(twin, law, p, [*sizes, 1], stream)


def one_factor_too_many(right):
    """One factor of the partition's law too many."""
    return lambda twin, law, p, n, clusters, stream: right(twin, law, p, n, clusters + 1, stream)


@pytest.mark.parametrize(
    ("update", "mutate", "prior"),
    [
        ("slice_log_u", without_jacobian, mw.NGGP()),
        ("draw_log_alpha", one_cluster_too_many, mw.NGGP()),
        ("slice_sigma", one_singleton_too_many, mw.NGGP()),
        ("draw_theta", one_factor_too_many, mw.PitmanYor()),
    ],
)
def test_a_wrong_parameter_update_fails(update, mutate, prior, cases, run_twin, seed, monkeypatch):
    twin = type(priors.twin_of(prior))
    monkeypatch.setattr(twin, update, mutate(getattr(twin, update)))
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, prior)
    run = run_twin(GibbsChain, model, X[:4], 4)
    result = goodness_of_fit(model, X[:4], replicates=4000, seed=seed, run=run)
    assert not result.passed(), result


@pytest.mark.long
def test_p_values_are_uniform_over_fresh_seeds(some_pair):
    model, X = some_pair
    seeds = np.random.SeedSequence().generate_state(50, np.uint64).tolist()
    print(f"\n{model}: seeds {seeds}")
    results = [
        goodness_of_fit(model, X, "gibbs", replicates=15_000, iterations=4, seed=seed)
        for seed in seeds
    ]
    p_values = {"partition": [r.p_value for r in results]}
    for name in results[0].parameter_p_values:
        p_values[name] = [r.parameter_p_values[name] for r in results]
    for name, values in p_values.items():
        uniformity = stats.kstest(values, "uniform").pvalue
        print(f"{name}: smallest {min(values):.2g}, uniform {uniformity:.2g}")
        # Some 40 of these: one false alarm in 2,000 runs of them all.
        assert uniformity > 1e-5, name
