"""The Dirichlet process."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log

from mixwood import hyper, priors
from mixwood.reference.priors.base import (
    SMALLEST_LOG,
    Parameters,
    Twin,
    draw_log_u,
    mean,
    softplus,
)
from mixwood.reference.random import Stream

__all__ = ["DirichletProcess"]


class DirichletProcess(Twin):
    """``psi(u) = alpha log tau``, ``kappa(k, u) = alpha Gamma(k) tau^-k``."""

    def __init__(self, prior: priors.DirichletProcess) -> None:
        self.alpha = prior.alpha

    def psi(self, log_u: float, log_alpha: float, sigma: float) -> float:
        return exp(log_alpha) * softplus(log_u)

    def log_kappa(self, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
        return log_alpha + lgamma(k) - k * softplus(log_u)

    def log_new_weight(self, p: Parameters) -> float:
        """Return ``log alpha``: u cancels."""
        return p.log_alpha

    def log_predictive_weights(self, sizes: Sequence[int], p: Parameters) -> list[float]:
        """Return the logs of ``|c|/(alpha + n)`` and ``alpha/(alpha + n)``, u integrated out."""
        alpha, n = exp(p.log_alpha), sum(sizes)
        return [*(log(size) - log(alpha + n) for size in sizes), log(alpha) - log(alpha + n)]

    def log_eppf(self, sizes: Sequence[int]) -> float | None:
        """Return the log of ``alpha^K Gamma(alpha)/Gamma(alpha+n) prod Gamma(|c|)``."""
        if not isinstance(self.alpha, float):
            return None
        alpha, n = self.alpha, sum(sizes)
        return len(sizes) * log(alpha) + lgamma(alpha) - lgamma(alpha + n) + sum(map(lgamma, sizes))

    def start(self) -> Parameters:
        return Parameters(0.0, log(mean(self.alpha)), sigma=0.0, theta=0.0)

    def update_log_u(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        p.log_u = draw_log_u(exp(p.log_alpha), sum(sizes), stream)

    def update(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        self.update_log_u(p, sizes, stream)
        if isinstance(self.alpha, hyper.Gamma):
            p.log_alpha = self.draw_log_alpha(self.alpha, p, len(sizes), stream)

    def draw_log_alpha(
        self, law: hyper.Gamma, p: Parameters, clusters: int, stream: Stream
    ) -> float:
        """Draw ``alpha ~ Gamma(a+K, b + log tau)``, which is needed itself, as a shape."""
        draw = stream.log_gamma_draw(law.shape + clusters)
        return max(draw - log(law.rate + softplus(p.log_u)), SMALLEST_LOG)
