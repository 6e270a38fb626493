"""The generalized gamma measure: what `NGGP`, its special case and `PitmanYor` share."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf, lgamma, log, log1p

import numpy as np

from mixwood._support.numerics import softplus
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.base import Prior
from mixwood.priors.values import PredictiveWeights, PriorValues

__all__ = ["GeneralizedGamma"]


@dataclass(frozen=True)
class GeneralizedGamma(Prior):
    """A prior whose random measure given (alpha, sigma) is a generalized gamma process."""

    def psi(self, values: PriorValues[float]) -> float:
        """Return ``alpha (tau^sigma - 1)``, where either factor may leave the range of a float."""
        power = values.sigma * softplus(values.log_u)
        if power <= 0:
            return 0.0
        log_rise = power + log1p(-exp(-power)) if power > 1 else log(expm1(power))
        exponent = values.log_alpha + log_rise
        return exp(exponent) if exponent < 700 else inf

    def log_kappa(self, k: int, values: PriorValues[float]) -> float:
        """Return the log of ``alpha sigma Gamma(k-sigma) / Gamma(1-sigma) tau^(sigma-k)``."""
        sigma = values.sigma
        log_levy = values.log_alpha + log(sigma) + lgamma(k - sigma) - lgamma(1 - sigma)
        return log_levy + (sigma - k) * softplus(values.log_u)

    def log_u_mode(self, values: PriorValues[float], n: int, clusters: float) -> float:
        """Return the mode of ``n v + (K sigma - n) s - alpha (tau^sigma - 1)``, ``s = log tau``.

        It is concave in ``v = log u``; the slope has one zero, found between bounds.
        """
        from mixwood.priors.roots import falling_zero  # pulls in scipy: only when asked

        log_alpha, sigma = values.log_alpha, values.sigma

        def slope(v: float) -> float:
            """Slope times tau/u, no differences of large numbers: n/u + sigma (K - alpha ...)."""
            exponent = log_alpha + sigma * softplus(v)
            mass = exp(exponent) if exponent < 700 else inf
            pull = n * exp(-v) if v > -700 else inf
            return pull + sigma * (clusters - mass)

        return falling_zero(slope)

    def predictive_weights(
        self, values: PriorValues[FloatArray], n: int, clusters: IntArray
    ) -> PredictiveWeights:
        """Return ``(u/n) (|c| - sigma) / tau`` and ``(u/n) alpha sigma tau^(sigma-1)``."""
        log_u, sigma = values.log_u, values.sigma
        log_tau = np.logaddexp(0, log_u)
        log_factor = -np.logaddexp(0, -log_u) - np.log(n)
        log_new = log_factor + values.log_alpha + np.log(sigma) + sigma * log_tau
        with np.errstate(divide="ignore"):  # sigma may round to 1
            log_old = log_factor + np.log(n - clusters * sigma)
        return PredictiveWeights(log_factor, sigma, log_new, np.logaddexp(log_new, log_old))
