"""The normalized generalized gamma process; with ``sigma = 1/2``, inverse Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, lgamma, log, log1p

from mixwood import hyper, priors
from mixwood.reference.priors.base import (
    SMALLEST_SIGMA,
    Parameters,
    Twin,
    log_beta,
    log_shifted,
    log_sizes,
    mean,
    softplus,
)
from mixwood.reference.random import Stream

__all__ = ["GeneralizedGamma", "Measure"]


class Measure(Twin):
    """The measure given (alpha, sigma).

    ``psi(u) = alpha (tau^sigma - 1)`` and
    ``kappa(k, u) = alpha sigma Gamma(k-sigma)/Gamma(1-sigma) tau^(sigma-k)``.
    """

    def psi(self, log_u: float, log_alpha: float, sigma: float) -> float:
        return mass_times_expm1(log_alpha, sigma * softplus(log_u))

    def log_kappa(self, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
        s = softplus(log_u)
        return log_alpha + log(sigma) + lgamma(k - sigma) - lgamma(1 - sigma) + (sigma - k) * s

    def log_new_weight(self, p: Parameters) -> float:
        """Return the log of ``alpha sigma tau^sigma``."""
        return p.log_alpha + log(p.sigma) + p.sigma * softplus(p.log_u)


class GeneralizedGamma(Measure):
    """The process with fixed or random (alpha, sigma); alpha is integrated out if random.

    That lets u and sigma move without dragging it along.
    """

    def __init__(self, prior: priors.NGGP | priors.NormalizedInverseGaussian) -> None:
        self.alpha, self.sigma = prior.alpha, prior.sigma

    def start(self) -> Parameters:
        return Parameters(0.0, log(mean(self.alpha)), mean(self.sigma), theta=0.0)

    def update_log_u(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        p.log_u = self.slice_log_u(p, sum(sizes), len(sizes), stream)

    def update(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        self.update_log_u(p, sizes, stream)
        if isinstance(self.sigma, hyper.Beta):
            p.sigma = self.slice_sigma(self.sigma, p, sizes, stream)
        if isinstance(self.alpha, hyper.Gamma):
            p.log_alpha = self.draw_log_alpha(self.alpha, p, len(sizes), stream)

    def slice_log_u(self, p: Parameters, n: int, clusters: int, stream: Stream) -> float:
        """Move ``v`` by one slice step on ``u^n tau^(K sigma - n) e^-psi(u)``."""
        sigma = p.sigma

        def log_density(v: float) -> float:
            s = softplus(v)
            growth = n * v + (clusters * sigma - n) * s
            return growth - self._mass_term(p.log_alpha, sigma * s, clusters)

        return stream.slice_line(log_density, p.log_u, 3.0, growth=2.0)

    def slice_sigma(
        self, law: hyper.Beta, p: Parameters, sizes: Sequence[int], stream: Stream
    ) -> float:
        """Move ``sigma`` by one slice step."""
        s, clusters = softplus(p.log_u), len(sizes)

        def log_density(sigma: float) -> float:
            growth = log_beta(law, sigma) + clusters * log(sigma) + log_sizes(sizes, sigma)
            growth += clusters * sigma * s
            return growth - self._mass_term(p.log_alpha, sigma * s, clusters)

        return max(stream.slice_unit(log_density, p.sigma), SMALLEST_SIGMA)

    def draw_log_alpha(
        self, law: hyper.Gamma, p: Parameters, clusters: int, stream: Stream
    ) -> float:
        """Draw ``alpha ~ Gamma(a+K, b + tau^sigma - 1)``."""
        draw = stream.log_gamma_draw(law.shape + clusters)
        return draw - log_shifted(law.rate, p.sigma * softplus(p.log_u))

    def _mass_term(self, log_alpha: float, z: float, clusters: int) -> float:
        """Return ``alpha (e^z - 1)``, or ``(a+K) log(b + e^z - 1)`` with alpha integrated out."""
        if isinstance(self.alpha, hyper.Gamma):
            return (self.alpha.shape + clusters) * log_shifted(self.alpha.rate, z)
        return mass_times_expm1(log_alpha, z)


def mass_times_expm1(log_alpha: float, z: float) -> float:
    """Return ``alpha (e^z - 1)`` where either factor alone may leave the range of a float."""
    if z <= 0:
        return 0.0
    exponent = log_alpha + (z + log1p(-exp(-z)) if z > 1 else log(expm1(z)))
    return exp(exponent) if exponent < 700 else inf
