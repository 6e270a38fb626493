"""Slice against the exact posterior over all partitions; and wrong ones, which must fail."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.reference import SliceChain
from mixwood.reference.slice import arrivals, below_one, jumps_above
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test


def test_slice_is_exact(some_pair, seed):
    result = goodness_of_fit(*some_pair, "slice", replicates=20_000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("sigma", [0.5, 0.9])
def test_heavy_tails_are_exact(sigma, cases, seed):
    """Without a floor the expected number of jumps would be infinite here."""
    likelihood, X = cases["spherical"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=sigma))
    result = goodness_of_fit(model, X, "slice", replicates=20_000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("alpha", [0.001, 1000.0])
def test_few_and_many_jumps_are_exact(alpha, cases, seed):
    """The floor far below 1, and above it: many jumps, of which only the large ones are drawn."""
    likelihood, X = cases["spherical"]
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=alpha))
    result = goodness_of_fit(model, X, "slice", replicates=20_000, iterations=12, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_long_chain_finds_the_posterior(start, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP())
    result = long_chain_test(model, X, "slice", start=start, thin=2, seed=seed)
    assert result.passed(), result


def test_the_joint_distribution_stays(seed):
    model = mw.Mixture(mw.DiagonalGaussian().resolve_standard(1), mw.NGGP())
    result = joint_distribution_test(model, 12, "slice", replicates=400, rounds=2, seed=seed)
    assert result.passed(), result


class WithoutDiscount(SliceChain):
    """The jump of a cluster Gamma(|c|) for Gamma(|c| - sigma)."""

    def cluster_jump(self, size):
        return exp(self.stream.log_gamma_draw(size))


class FloorOfLabels(SliceChain):
    """A floor that looks at the partition."""

    def floor(self):
        return 0.4 * (len(self.sizes) - 1)


class JumpsNotThinned(SliceChain):
    """The factor e^-x of the intensity dropped below 1."""

    def free_jumps(self, least):
        rate, sigma = self.jump_rate(), self.sigma
        end = rate * (min(least, 1.0) ** -sigma - 1) / sigma
        small = [below_one(time, rate, sigma) for time in arrivals(end, self.stream)]
        return small + list(jumps_above(max(least, 1.0), rate, sigma, self.stream))


@pytest.mark.parametrize(
    ("wrong", "replicates"),
    [(WithoutDiscount, 1000), (FloorOfLabels, 1000), (JumpsNotThinned, 2000)],
)
def test_a_wrong_step_fails(wrong, replicates, run_twin, seed):
    model = mw.Mixture(mw.Multinomial(beta=2.0), mw.NGGP(alpha=1.0, sigma=0.4))
    X = csr_array(np.array([[1, 0], [0, 1], [1, 0]]))
    run = run_twin(wrong, model, X, 4, remember=False)
    result = goodness_of_fit(model, X, replicates=replicates, seed=seed, run=run)
    assert result.p_value < 1e-6, result


@pytest.mark.long
def test_every_prior_and_family(small_prior, small_case, fresh_seed):
    likelihood, X = small_case
    model = mw.Mixture(likelihood, small_prior)
    result = goodness_of_fit(model, X, "slice", iterations=8, seed=fresh_seed)
    assert result.passed(), result
