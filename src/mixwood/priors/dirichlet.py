"""The Dirichlet process."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, lgamma, log
from typing import ClassVar

import numpy as np

from mixwood import hyper
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.numerics import softplus
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.base import Prior, checked_mass, mean
from mixwood.priors.urns import Urn, draw_log_mass, draw_partitions
from mixwood.priors.values import PredictiveWeights, PriorDraws, PriorValues

__all__ = ["DirichletProcess"]


@dataclass(frozen=True)
class DirichletProcess(Prior):
    """The Dirichlet process: clusters grow in proportion to their size.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default. The expected number of clusters grows like
        ``alpha * log(n)``.

    Notes
    -----
    As a normalized random measure, with Levy intensity ``alpha w^-1 e^-w``:
    ``psi(u) = alpha log(1+u)`` and ``kappa(k, u) = alpha Gamma(k) (1+u)^-k``.

    Examples
    --------
    >>> DirichletProcess(alpha=1.0)
    DirichletProcess(alpha=1.0)
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    kernel: ClassVar[str] = "dirichlet_process"
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)
    aliases: ClassVar[tuple[str, ...]] = ("dp",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_mass(self.alpha, "alpha"))

    def start_values(self) -> dict[str, float]:
        """Return where a chain starts: a fixed alpha, or the mean of its hyperprior."""
        return {"alpha": mean(self.alpha)}

    def psi(self, values: PriorValues[float]) -> float:
        """Return ``alpha log tau``."""
        return exp(values.log_alpha) * softplus(values.log_u)

    def log_kappa(self, k: int, values: PriorValues[float]) -> float:
        """Return ``log alpha Gamma(k) tau^-k``."""
        return values.log_alpha + lgamma(k) - k * softplus(values.log_u)

    def log_u_mode(self, values: PriorValues[float], n: int, clusters: float) -> float:
        """Return the log of ``n / alpha``, the mode of ``n v - (n + alpha) log tau``."""
        return log(n) - values.log_alpha

    def predictive_weights(
        self, values: PriorValues[FloatArray], n: int, clusters: IntArray
    ) -> PredictiveWeights:
        """Return ``|c| / (alpha + n)`` and ``alpha / (alpha + n)``, u integrated out."""
        zeros = np.zeros(clusters.shape)
        log_factor = -np.logaddexp(values.log_alpha, np.log(n))
        return PredictiveWeights(log_factor, zeros, log_factor + values.log_alpha, zeros)

    def _expected_clusters(self, n: int) -> float:
        """Return the mean over alpha of ``alpha (digamma(alpha+n) - digamma(alpha))``."""
        from mixwood.priors.expected import digamma_rise, nodes  # scipy: only when asked

        alpha, weights = nodes(self.alpha)
        return float(weights @ (1 + alpha * digamma_rise(alpha + 1, n - 1)))

    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw parameters, a partition and u; ``u/(1+u) ~ Beta(n, alpha)``."""
        zeros = np.zeros(size)
        log_alpha = draw_log_mass(self.alpha, size, rng)
        labels = draw_partitions(Urn(np.exp(log_alpha), zeros), n, zeros, rng)
        log_u = log_gamma_draws(zeros + n, rng) - log_gamma_draws(np.exp(log_alpha), rng)
        return PriorDraws(labels, log_u, log_alpha, zeros, zeros)
