"""The oracle of learned base measures, against quadrature by other means and itself."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import mixwood as mw
from mixwood.likelihoods.learned import SPREAD_SD
from mixwood.reference import family_of
from mixwood.testing import base_update_test, enumerate_posterior, seed_of
from mixwood.testing.axes import bounded_axis
from mixwood.testing.bases import BaseLaw, TooManyParametersError
from tests.statistical.conftest import LEARNED


def test_an_axis_that_ends_abruptly():
    axis = bounded_axis(lambda x: -(x**2) / 2, 0.0, 6.0, 0.1)
    density = np.exp(axis.log_density)
    assert density @ axis.weights == pytest.approx(np.sqrt(np.pi / 2), abs=1e-7)
    values = np.array([-1.0, 0.0, 0.05, 1.0, 3.0, 9.0])
    expected = np.clip(2 * stats.norm.cdf(values) - 1, 0, 1)
    np.testing.assert_allclose(axis.cdf(density, values), expected, atol=1e-6)
    draws = axis.draw(density, 5000, np.random.default_rng(0))
    assert stats.kstest(draws, stats.halfnorm.cdf).pvalue > 1e-4


def legendre(low, high, points):
    """Return the points and weights of Gauss and Legendre's quadrature."""
    x, weights = np.polynomial.legendre.leggauss(points)
    return low + (high - low) * (x + 1) / 2, weights * (high - low) / 2


@pytest.mark.parametrize("family", [mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()])
def test_one_real_column_by_another_quadrature(family):
    X = np.array([[0.1], [0.5], [2.1], [-0.9]])
    likelihood, labels = family.resolve(X), np.array([0, 0, 1, 0])
    twin = family_of(likelihood)
    stats_ = [twin.of(X[labels == c]) for c in (0, 1)]
    entry = exp if isinstance(family, mw.Gaussian) else float
    width, nu = stats.loggamma(1.5, log(0.2 / 1.5)), stats.norm(log(10), 2)
    log_nus = list(zip(*legendre(0.0, log(2e4), 24), strict=True))
    # The factor of tau has a normal law of sd SPREAD_SD in logs: Hermite's rule, 5 points.
    points, shares = np.polynomial.hermite_e.hermegauss(5)
    factors = list(zip(SPREAD_SD * points, shares / shares.sum(), strict=True))
    value = 0.0
    for log_omega, weight in zip(*legendre(-10, 1.5, 48), strict=True):
        weight *= width.pdf(log_omega)
        for (log_nu, other), (log_factor, share) in product(log_nus, factors):
            twin.set_base(np.array([entry(log_omega), log_nu, log_factor]))
            density = exp(sum(map(twin.log_marginal, stats_)))
            value += weight * other * share * density * nu.pdf(log_nu)
    value /= nu.cdf(log(2e4)) - nu.cdf(0.0)
    found = BaseLaw(likelihood, X).log_likelihood(labels)
    assert found == pytest.approx(log(value), abs=2e-5)


def test_one_parameter_by_another_quadrature():
    likelihood, X = mw.Multinomial().fitted_to(np.array([[3, 0, 1], [0, 2, 0], [1, 1, 1]]))
    twin, rows = family_of(likelihood), X.toarray().astype(float)

    def density(log_beta):
        twin.set_base(np.array([log_beta]))
        parts = twin.log_marginal(twin.of(rows[:2])) + twin.log_marginal(twin.of(rows[2:]))
        return exp(parts) * stats.norm(log(0.1), 1.5).pdf(log_beta)

    value, _ = quad(density, log(0.1) - 12, log(0.1) + 12, epsabs=1e-12)
    found = BaseLaw(likelihood, X).log_likelihood(np.array([0, 0, 1]))
    assert found == pytest.approx(log(value), abs=1e-6)


@pytest.mark.parametrize("case", LEARNED)
def test_draws_have_the_law_they_claim(case):
    """Transforms of draws are uniform; so are those of each parameter alone."""
    likelihood, X = LEARNED[case]
    exact = enumerate_posterior(mw.Mixture(likelihood), X[:4])
    draws = exact.draw(3000, np.random.default_rng(seed_of(case)))
    assert draws["base"].shape == (3000, exact.model.likelihood.base_size)
    transforms = exact.parameter_cdf(draws)
    assert len(transforms) > 3
    for name, values in transforms.items():
        assert stats.kstest(values, "uniform").pvalue > 1e-5, name


@pytest.mark.parametrize("case", ["diagonal", "multinomial", "poisson", "product"])
def test_other_draws_do_not(case):
    """Draws from the hyperprior are not from the posterior."""
    likelihood, X = LEARNED[case]
    exact = enumerate_posterior(mw.Mixture(likelihood), X)
    rng = np.random.default_rng(0)
    draws = exact.draw(2000, rng)
    draws["base"] = np.array([exact.model.likelihood.draw_base(rng) for _ in range(2000)])
    p_values = [
        stats.kstest(values, "uniform").pvalue
        for name, values in exact.parameter_cdf(draws).items()
        if name not in ("log_u", "alpha", "sigma")
    ]
    assert min(p_values) < 1e-6


def test_too_many_parameters_are_refused():
    with pytest.raises(TooManyParametersError, match="of Gaussian has more parameters"):
        enumerate_posterior(mw.Mixture(mw.Gaussian()), np.eye(3))


def test_an_update_that_does_nothing_passes_and_one_that_shrinks_fails():
    likelihood, labels = mw.SphericalGaussian().resolve_standard(2), [0, 0, 1]
    options = {"replicates": 300, "applications": 1, "seed": 1}
    stay = base_update_test(likelihood, labels, update=lambda *a: a[3], **options)
    assert stay.passed(1e-4), stay

    def shrink(likelihood, X, labels, base, rng):
        return base - [0.7, 0.0, 0.0]

    assert not base_update_test(likelihood, labels, update=shrink, **options).passed()
