"""Split-merge against the exact posterior over all partitions; and wrong ones, which must fail.

The Gibbs sweep after a proposal visits one row only: a full one would heal what a wrong proposal
has done.
"""

from __future__ import annotations

from math import lgamma

import pytest

import mixwood as mw
from mixwood.reference import SplitMergeChain
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test

SAMPLER = mw.SplitMerge(scans=2, subset=1)


def test_split_merge_is_exact(some_pair, seed):
    result = goodness_of_fit(*some_pair, SAMPLER, replicates=20_000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("scans", [0, 5])
def test_any_number_of_scans_is_exact(scans, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=0.8, sigma=0.4))
    sampler = mw.SplitMerge(scans=scans, subset=1)
    result = goodness_of_fit(model, X, sampler, replicates=20_000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_long_chain_finds_the_posterior(start, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP())
    result = long_chain_test(model, X, SAMPLER, start=start, thin=2, seed=seed)
    assert result.passed(), result


def test_the_joint_distribution_stays(seed):
    model = mw.Mixture(mw.Gaussian().resolve_standard(1), mw.NGGP())
    sampler = mw.SplitMerge(subset=2)
    result = joint_distribution_test(model, 12, sampler, replicates=400, rounds=2, seed=seed)
    assert result.passed(), result


class WithoutQ(SplitMergeChain):
    """The probability of the proposal left out of the ratio."""

    def log_split_ratio(self, two, log_q):
        return super().log_split_ratio(two, 0 * log_q)


class WithoutDiscount(SplitMergeChain):
    """Gamma(k) for Gamma(k - sigma) in the ratio: right for the Dirichlet process alone."""

    def log_split_ratio(self, two, log_q):
        a, b = two.sizes
        right = lgamma(a - self.sigma) + lgamma(b - self.sigma) - lgamma(a + b - self.sigma)
        wrong = lgamma(a) + lgamma(b) - lgamma(a + b)
        return super().log_split_ratio(two, log_q) - right + wrong


class AnchorsScored(SplitMergeChain):
    """q of one choice too many, as if a coin had placed an anchor, too."""

    def log_split_ratio(self, two, log_q):
        return super().log_split_ratio(two, log_q - 0.7)


@pytest.mark.parametrize("wrong", [WithoutQ, WithoutDiscount, AnchorsScored])
def test_a_wrong_ratio_fails(wrong, cases, run_twin, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.6))
    run = run_twin(wrong, model, X, 5, subset=1, scans=1)
    result = goodness_of_fit(model, X, replicates=1000, seed=seed, run=run)
    assert result.p_value < 1e-6, result


@pytest.mark.long
def test_every_prior_and_family(small_prior, small_case, fresh_seed):
    likelihood, X = small_case
    model = mw.Mixture(likelihood, small_prior)
    result = goodness_of_fit(model, X, SAMPLER, iterations=8, seed=fresh_seed)
    assert result.passed(), result
