"""Finitely many components, ``M ~ Poisson(rate)`` given at least one, jumps Gamma(gamma, 1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, lgamma, log

from mixwood import hyper, priors
from mixwood.reference.base.laws import Law
from mixwood.reference.priors.base import Parameters, Twin, softplus
from mixwood.reference.random import Stream

__all__ = ["FiniteMixture"]

#: Where a random gamma may be.
BOUNDS = (1e-6, 1e6)


class FiniteMixture(Twin):
    """The measure and its parameters; ``alpha`` is the rate and ``sigma`` is ``-gamma``.

    ``psi(u) = rate (1 - tau^-gamma)`` and
    ``kappa(k, u) = rate Gamma(k+gamma)/Gamma(gamma) tau^-(k+gamma)``. A random rate has the density
    Gamma(a, b) times ``1 - e^-rate``, which cancels against the same factor of the partition's law;
    it is integrated out when u and gamma move.
    """

    def __init__(self, prior: priors.FiniteMixture) -> None:
        self.rate, self.gamma, self.per_group = prior.rate, prior.gamma, prior.per_group

    def psi(self, log_u: float, log_alpha: float, sigma: float) -> float:
        return exp(log_alpha) * -expm1(sigma * softplus(log_u))

    def log_kappa(self, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
        gamma = -sigma
        return log_alpha + lgamma(k + gamma) - lgamma(gamma) - (k + gamma) * softplus(log_u)

    def log_nonempty(self, log_alpha: float) -> float:
        """Return ``log(1 - e^-rate)``."""
        return log_alpha if log_alpha < -40 else log(-expm1(-exp(log_alpha)))

    def log_new_weight(self, p: Parameters) -> float:
        """Return the log of ``rate gamma tau^-gamma``."""
        return p.log_alpha + log(-p.sigma) + p.sigma * softplus(p.log_u)

    def start(self) -> Parameters:
        """Return prior means, that of a random rate under its own density."""
        rate, gamma = self.rate, self.gamma
        if isinstance(rate, hyper.Gamma):
            a, b = rate.shape, rate.rate
            empty = b / (b + 1)  # E[e^-rate] is its power a, under the Gamma alone
            rate = a / b * (1 - empty ** (a + 1)) / (1 - empty**a)
        if isinstance(gamma, hyper.LogNormal):
            gamma = gamma.median
        elif isinstance(gamma, hyper.Gamma):
            gamma = gamma.shape / gamma.rate
        return Parameters(0.0, log(rate), -gamma, theta=0.0)

    def start_log_u(self, p: Parameters, sizes: Sequence[int]) -> float:
        """Return the log of ``n / (gamma (K + rate))``, which no mode is below."""
        return log(sum(sizes)) - log(-p.sigma * (len(sizes) + exp(p.log_alpha)))

    def update_log_u(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        p.log_u = self.slice_log_u(p, sum(sizes), len(sizes), stream)

    def update(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        self.update_log_u(p, sizes, stream)
        if not isinstance(self.gamma, float):
            law = Law(self.gamma, BOUNDS)
            p.sigma = -exp(self.slice_log_gamma(law, p, sizes, stream))
        if isinstance(self.rate, hyper.Gamma):
            p.log_alpha = self.draw_log_rate(self.rate, p, len(sizes), stream)

    def slice_log_u(self, p: Parameters, n: int, clusters: int, stream: Stream) -> float:
        """Move ``v`` by one slice step on ``u^n tau^-(n + K gamma) e^-psi(u)``.

        It may have two modes, so strides do not grow; they are as long as the right tail.
        """
        gamma = -p.sigma

        def log_density(v: float) -> float:
            s = softplus(v)
            growth = -n * softplus(-v) - clusters * gamma * s
            return growth - self._mass_term(p.log_alpha, gamma * s, clusters)

        return stream.slice_line(log_density, p.log_u, 3 + 2 / (clusters * gamma))

    def slice_log_gamma(
        self, law: Law, p: Parameters, sizes: Sequence[int], stream: Stream
    ) -> float:
        """Move ``log gamma`` by one slice step; the law is that of the logarithm."""
        s, clusters = softplus(p.log_u), len(sizes)

        def log_density(log_gamma: float) -> float:
            prior, gamma = law.log_density(log_gamma), exp(log_gamma)
            growth = sum(lgamma(k + gamma) for k in sizes) - clusters * (lgamma(gamma) + gamma * s)
            return prior + growth - self._mass_term(p.log_alpha, gamma * s, clusters)

        return stream.slice_line(log_density, log(-p.sigma), 1.0)

    def draw_log_rate(
        self, law: hyper.Gamma, p: Parameters, clusters: int, stream: Stream
    ) -> float:
        """Draw ``rate ~ Gamma(a+K, b + 1 - tau^-gamma)``."""
        draw = stream.log_gamma_draw(law.shape + clusters)
        return draw - log(law.rate - expm1(p.sigma * softplus(p.log_u)))

    def _mass_term(self, log_rate: float, z: float, clusters: int) -> float:
        """Return ``rate (1 - e^-z)``, or ``(a+K) log(b + 1 - e^-z)``, the rate integrated out."""
        if isinstance(self.rate, hyper.Gamma):
            return (self.rate.shape + clusters) * log(self.rate.rate - expm1(-z))
        return exp(log_rate) * -expm1(-z)
