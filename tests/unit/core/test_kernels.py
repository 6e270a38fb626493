"""The blocked kernels at odd widths and extreme values; `make test` runs this on each set."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood import _core
from mixwood.core import bind_family, make_chain


def assert_weights_are_marginal_ratios(likelihood, X, clusters, rtol=1e-9, atol=1e-7):
    X = likelihood.check(X)
    n = X.shape[0]
    model = mw.Mixture(likelihood.resolve(X), mw.DirichletProcess(1.0))
    labels = (np.arange(n) % clusters).astype(np.int32)
    chain = make_chain(model, X, labels, np.random.PCG64(0), mw.Gibbs())
    family = bind_family(model, X)
    for row in range(0, n, max(n // 12, 1)):
        expected = np.empty(clusters)
        for k in range(clusters):
            others = np.array([i for i in np.flatnonzero(labels == k) if i != row])
            ratio = family.log_marginal(np.append(others, row)) - family.log_marginal(others)
            expected[k] = np.log(len(others)) + ratio
        np.testing.assert_allclose(chain.log_weights(row)[:-1], expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize(
    "likelihood", [mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()]
)
def test_every_width(likelihood, d):
    X = np.random.default_rng(d).normal(size=(45, d)) * np.arange(1, d + 1)
    assert_weights_are_marginal_ratios(likelihood, X, clusters=3)


@pytest.mark.parametrize("clusters", [1, 2, 7, 8, 15, 16, 17, 33])
def test_every_number_of_clusters_of_counts(clusters):
    X = np.random.default_rng(clusters).poisson(0.5, (70, 30))
    assert_weights_are_marginal_ratios(mw.Multinomial(), csr_array(X), clusters)


@pytest.mark.parametrize("beta", [1e-12, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 1000, 10**6])
def test_large_counts_and_extreme_pseudo_counts(beta, size):
    """Products are renormalized before they overflow, and large counts go through log Gamma."""
    rng = np.random.default_rng(size)
    X = rng.integers(0, 2, (12, 40)) * rng.integers(1, size + 1, (12, 40))
    assert_weights_are_marginal_ratios(mw.Multinomial(beta), csr_array(X), clusters=2, atol=1e-6)


@pytest.mark.parametrize("mean", [0.01, 5.0, 1e6, 1e8])
def test_poisson_means_of_all_sizes(mean):
    X = np.floor(np.random.default_rng(0).gamma(2.0, mean, (30, 3)))
    assert_weights_are_marginal_ratios(mw.Poisson(), X, clusters=2, rtol=1e-7, atol=1e-6)


def test_an_outlier_that_rules_its_cluster():
    """Taking it out cancels nearly all of the scatter: the shortcut steps aside."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[3] = [1e5, -3e4]
    model = mw.Gaussian(mean=[0.0, 0.0], scale=np.eye(2))
    assert_weights_are_marginal_ratios(model, X, clusters=2, rtol=1e-5)


def test_a_tight_cluster_far_away():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), 1e9 + 1e-3 * rng.normal(size=(20, 2))])
    likelihood = mw.Gaussian()
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), mw.DirichletProcess(1.0))
    labels = np.repeat([0, 1], 20).astype(np.int32)
    chain = make_chain(model, X, labels, np.random.PCG64(0), mw.Gibbs())
    chain.iterate(50)
    chain.check()
    assert chain.n_clusters >= 2


def test_the_variable_chooses_the_instruction_set():
    command = "from mixwood import _core; print(_core.instruction_set())"

    def name(value):
        done = subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, "MIXWOOD_ISA": value},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() or done.stderr.splitlines()[-1]

    assert name("baseline") == "baseline"
    assert "MIXWOOD_ISA must be" in name("nonsense")
    assert _core.instruction_set() in ("baseline", "v3")
