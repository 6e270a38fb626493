"""Finitely many components.

The companion is ``v = log u``, with the rate fixed or integrated out; ``sigma`` is ``-gamma``. A
random rate has the density Gamma(a, b) times ``1 - e^-rate``, over ``1 - (b/(b+1))^a``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaln, log_expit

from mixwood import hyper, priors
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray
from mixwood.testing.axes import Axis, fixed_axis, gamma_axis, log_normal_axis, log_u_axis
from mixwood.testing.parameters.base import ParameterLaw, State

__all__ = ["FiniteMixtureLaw", "gamma_axis_of"]


class FiniteMixtureLaw(ParameterLaw):
    """The law of (u, rate, gamma)."""

    def __init__(self, prior: priors.FiniteMixture, n: int) -> None:
        self.rate = prior.rate
        gamma = gamma_axis_of(prior.gamma)
        sigma = Axis(
            gamma.coordinate,
            -gamma.value,
            gamma.log_weight,
            lambda x: -gamma.to_value(x),
            lambda sigma: gamma.to_coordinate(-sigma),
        )
        # the tail of v is e^(-K gamma v)
        companion = log_u_axis(float(40 / gamma.value.min() + np.log(n)))
        super().__init__(n, sigma, np.log1p(gamma.value), companion)

    def _log_table(self, clusters: int) -> FloatArray:
        rate, gamma = self.rate, -self.sigma.value[:, None]
        v, s = self.companion.value, np.logaddexp(0, self.companion.value)
        weights = self.sigma.log_weight[:, None] + self.companion.log_weight
        weights = weights + self.n * log_expit(v) - gammaln(self.n)
        weights = weights + clusters * (np.log(gamma) - gamma * s)
        if isinstance(rate, hyper.Gamma):
            a, b = rate.shape, rate.rate
            weights = weights + a * np.log(b) - gammaln(a) + gammaln(a + clusters)
            weights = weights - np.log(-np.expm1(-a * np.log1p(1 / b)))
            return np.asarray(weights - (a + clusters) * np.log(b - np.expm1(-gamma * s)))
        weights = weights + clusters * np.log(rate) - np.log(-np.expm1(-rate))
        return np.asarray(weights + rate * np.expm1(-gamma * s))

    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        log_u, zeros = companion, np.zeros(len(sigma))
        if isinstance(self.rate, hyper.Gamma):
            log_rate = np.log(self.rate.rate - np.expm1(sigma * np.logaddexp(0, log_u)))
            log_alpha = log_gamma_draws(zeros + self.rate.shape + clusters, rng) - log_rate
        else:
            log_alpha = np.full(len(sigma), np.log(self.rate))
        return {"log_u": log_u, "log_alpha": log_alpha, "sigma": sigma, "theta": zeros}

    def _log_u_cdf(self, companion_masses: FloatArray, log_u: FloatArray) -> FloatArray:
        return self.companion.cdf(companion_masses, log_u)

    def _other_transforms(
        self, clusters: int, companion_masses: FloatArray, state: State
    ) -> dict[str, FloatArray]:
        del companion_masses
        if not isinstance(self.rate, hyper.Gamma):
            return {}
        power = state["sigma"] * np.logaddexp(0, state["log_u"])
        scaled = np.exp(state["log_alpha"]) * (self.rate.rate - np.expm1(power))
        return {"alpha": np.asarray(gammainc(self.rate.shape + clusters, scaled), np.float64)}


def gamma_axis_of(value: float | hyper.Gamma | hyper.LogNormal) -> Axis:
    """Return the axis of gamma, one point if it is fixed."""
    if isinstance(value, hyper.Gamma):
        return gamma_axis(value)
    return log_normal_axis(value) if isinstance(value, hyper.LogNormal) else fixed_axis(value)
