"""The normalized generalized gamma process.

The companion is ``v = log u``, with ``alpha`` fixed or integrated out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaln, log_expit

from mixwood import hyper, priors
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray
from mixwood.priors.expected import log_shifted
from mixwood.testing.axes import log_u_axis
from mixwood.testing.parameters.base import ParameterLaw, State, discount_axis

__all__ = ["GeneralizedGammaLaw"]


class GeneralizedGammaLaw(ParameterLaw):
    """The law of (u, alpha, sigma)."""

    def __init__(self, prior: priors.NGGP | priors.NormalizedInverseGaussian, n: int) -> None:
        self.alpha = prior.alpha
        sigma, log_complement = discount_axis(prior.sigma)
        companion = log_u_axis(_end_of_log_u(prior.alpha, sigma.value[0], n))
        super().__init__(n, sigma, log_complement, companion)

    def _log_table(self, clusters: int) -> FloatArray:
        alpha, sigma = self.alpha, self.sigma.value[:, None]
        v, s = self.companion.value, np.logaddexp(0, self.companion.value)
        weights = self.sigma.log_weight[:, None] + self.companion.log_weight
        # u^n tau^-n is expit(v)^n: the difference n v - n s would lose its digits far out
        weights = weights + self.n * log_expit(v) - gammaln(self.n)
        weights = weights + clusters * (np.log(sigma) + sigma * s)
        if isinstance(alpha, hyper.Gamma):
            a, b = alpha.shape, alpha.rate
            weights = weights + a * np.log(b) - gammaln(a) + gammaln(a + clusters)
            return np.asarray(weights - (a + clusters) * log_shifted(b, sigma * s))
        with np.errstate(over="ignore"):
            return np.asarray(weights + clusters * np.log(alpha) - alpha * np.expm1(sigma * s))

    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        log_u, zeros = companion, np.zeros(len(sigma))
        if isinstance(self.alpha, hyper.Gamma):
            log_rate = log_shifted(self.alpha.rate, sigma * np.logaddexp(0, log_u))
            log_alpha = log_gamma_draws(zeros + self.alpha.shape + clusters, rng) - log_rate
        else:
            log_alpha = np.full(len(sigma), np.log(self.alpha))
        return {"log_u": log_u, "log_alpha": log_alpha, "sigma": sigma, "theta": zeros}

    def _log_u_cdf(self, companion_masses: FloatArray, log_u: FloatArray) -> FloatArray:
        return self.companion.cdf(companion_masses, log_u)

    def _other_transforms(
        self, clusters: int, companion_masses: FloatArray, state: State
    ) -> dict[str, FloatArray]:
        del companion_masses
        if not isinstance(self.alpha, hyper.Gamma):
            return {}
        power = state["sigma"] * np.logaddexp(0, state["log_u"])
        log_rate = log_shifted(self.alpha.rate, power)
        shape = self.alpha.shape + clusters
        scaled = np.exp(state["log_alpha"] + log_rate)
        return {"alpha": np.asarray(gammainc(shape, scaled), np.float64)}


def _end_of_log_u(alpha: float | hyper.Gamma, smallest_sigma: float, n: int) -> float:
    """Return how far ``v`` reaches: ``e^(-a sigma v)`` or ``exp(-alpha e^(sigma v))`` is gone."""
    if isinstance(alpha, hyper.Gamma):
        return float((40 / alpha.shape + abs(np.log(alpha.rate))) / smallest_sigma)
    return float(np.log1p((40 + 10 * n) / alpha) / smallest_sigma)
