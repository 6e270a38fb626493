"""psi, kappa and the partition laws of model.md, against numerical integration."""

from __future__ import annotations

from math import exp, expm1, inf, lgamma, log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma, logsumexp

import mixwood as mw
from mixwood.reference import Stream, log_eppf, log_kappa, psi
from mixwood.reference.priors import (
    Parameters,
    log_new_weight,
    log_shifted,
    softplus,
    start_parameters,
    update_parameters,
)

FIXED = {
    "dp": (mw.DirichletProcess(alpha=1.7), 1.7, 0.0),
    "nggp": (mw.NGGP(alpha=0.6, sigma=0.35), 0.6, 0.35),
    "nig": (mw.NormalizedInverseGaussian(alpha=2.0), 2.0, 0.5),
}


def levy_intensity(prior, alpha, sigma, w):
    if isinstance(prior, mw.DirichletProcess):
        return alpha / w * exp(-w)
    return alpha * sigma / gamma(1 - sigma) * w ** (-1 - sigma) * exp(-w)


def integrate(f):
    """Integrate over (0, inf) on a log scale: the integrands are singular at 0."""
    value, _ = quad(lambda y: f(exp(y)) * exp(y), -80, 6, limit=400, epsabs=1e-13)
    return value


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("u", [0.2, 3.0, 50.0])
def test_psi_is_the_laplace_exponent(name, u):
    prior, alpha, sigma = FIXED[name]
    expected = integrate(lambda w: -expm1(-u * w) * levy_intensity(prior, alpha, sigma, w))
    assert psi(prior, log(u), log(alpha), sigma) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_kappa_is_the_moment_of_tilted_jumps(name, k):
    prior, alpha, sigma = FIXED[name]
    u = 2.5
    expected = integrate(lambda w: w**k * exp(-u * w) * levy_intensity(prior, alpha, sigma, w))
    assert exp(log_kappa(prior, k, log(u), log(alpha), sigma)) == pytest.approx(expected, rel=1e-8)


def log_integral_over_u(prior, sizes, log_alpha, sigma):
    """Return log of the integral over u of the joint with P(X_c) = 1, on v = log u."""
    n, grid = sum(sizes), np.arange(-40.0, 120.0, 0.05)
    terms = [
        n * v
        - psi(prior, v, log_alpha, sigma)
        - lgamma(n)
        + sum(log_kappa(prior, k, v, log_alpha, sigma) for k in sizes)
        for v in grid
    ]
    return logsumexp(terms) + log(0.05)


@pytest.mark.parametrize("sizes", [[1], [2], [3, 1, 1], [4, 3]])
def test_dirichlet_process_integrates_to_the_chinese_restaurant(sizes):
    prior = mw.DirichletProcess(alpha=1.7)
    value = log_integral_over_u(prior, sizes, log(1.7), 0.0)
    assert value == pytest.approx(log_eppf(prior, sizes), abs=1e-9)


@pytest.mark.parametrize("sizes", [[2], [3, 1, 1], [4, 3]])
def test_pitman_yor_is_an_nggp_with_a_random_mass(sizes):
    theta, sigma, step = 1.2, 0.4, 0.15
    prior = mw.PitmanYor(theta=theta, sigma=sigma)
    shape = theta / sigma
    grid = np.arange(-14.0, 4.5, step)
    terms = [
        shape * y - exp(y) - lgamma(shape) + log_integral_over_u(prior, sizes, y, sigma)
        for y in grid
    ]
    assert logsumexp(terms) + log(step) == pytest.approx(log_eppf(prior, sizes), abs=1e-8)


def test_log_eppf_refuses_what_has_no_closed_form():
    with pytest.raises(ValueError, match="closed form"):
        log_eppf(mw.NGGP(alpha=1.0, sigma=0.5), [2, 1])
    with pytest.raises(ValueError, match="closed form"):
        log_eppf(mw.DirichletProcess(), [2, 1])


@pytest.mark.parametrize("name", FIXED)
def test_new_cluster_weight_is_tau_times_kappa_of_one(name):
    prior, alpha, sigma = FIXED[name]
    parameters = Parameters(log_u=1.3, log_alpha=log(alpha), sigma=sigma, theta=0.0)
    expected = softplus(1.3) + log_kappa(prior, 1, 1.3, log(alpha), sigma)
    assert log_new_weight(prior, parameters) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("v", [-800.0, -1.0, 0.0, 1.0, 800.0, 1e12])
def test_softplus(v):
    assert softplus(v) == pytest.approx(np.logaddexp(0, v), rel=1e-15)


@pytest.mark.parametrize("b", [1e-8, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("z", [0.0, 1e-10, 2.0, 29.999, 30.001, 1e5])
def test_log_shifted(b, z):
    expected = log(b + expm1(z)) if z < 100 else z
    assert log_shifted(b, z) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_psi_where_either_factor_leaves_the_range_of_a_float():
    prior = mw.NGGP()
    assert psi(prior, 4000.0, log(3.0) - 2000.0, 0.5) == pytest.approx(3.0, rel=1e-10)
    assert psi(prior, 4000.0, 0.0, 0.5) == inf
    assert psi(prior, -800.0, 0.0, 0.5) == 0.0


def test_a_chain_starts_at_prior_means(prior):
    stream = Stream(np.random.default_rng(1))
    parameters = start_parameters(prior, [3, 2], stream)
    start = prior.start()
    assert parameters.sigma == start.sigma
    assert parameters.theta == start.theta
    if not isinstance(prior, mw.PitmanYor):  # its latent alpha is drawn with u
        assert parameters.log_alpha == pytest.approx(start.log_alpha)


def test_only_random_parameters_move(prior):
    stream = Stream(np.random.default_rng(2))
    parameters = start_parameters(prior, [3, 2], stream)
    before = Parameters(**vars(parameters))
    update_parameters(prior, parameters, [3, 2], stream)
    assert parameters.log_u != before.log_u
    random = [prior.core_name(name) for name in prior.random_parameters]
    for name in ("log_alpha", "sigma", "theta"):
        moved = getattr(parameters, name) != getattr(before, name)
        assert moved == (name in random)
