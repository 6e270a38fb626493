"""The Pitman-Yor process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mixwood import hyper
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.base import checked_discount, checked_mass, mean
from mixwood.priors.generalized_gamma import GeneralizedGamma
from mixwood.priors.urns import Urn, draw_discount, draw_log_mass, draw_partitions
from mixwood.priors.values import PredictiveWeights, PriorDraws, PriorValues

__all__ = ["PitmanYor"]


@dataclass(frozen=True)
class PitmanYor(GeneralizedGamma):
    """The Pitman-Yor process with positive strength.

    Parameters
    ----------
    theta : float or hyper.Gamma
        Strength, ``hyper.Gamma(2, 1)`` by default.
    sigma : float or hyper.Beta
        Discount in (0, 1), ``hyper.Beta(2, 5)`` by default.

    Notes
    -----
    It is an `NGGP` whose mass is random, ``alpha ~ Gamma(theta/sigma, 1)``:
    integrating ``alpha`` and ``u`` gives the Pitman-Yor partition law. The chain
    keeps that latent ``alpha``, and a posterior reports it.

    Examples
    --------
    >>> round(PitmanYor(theta=1.0, sigma=0.5).expected_clusters(100), 2)
    20.65
    """

    theta: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: float | hyper.Beta = field(default_factory=lambda: hyper.Beta(2, 5))
    kernel: ClassVar[str] = "pitman_yor"
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma", "theta")
    aliases: ClassVar[tuple[str, ...]] = ("py",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", checked_mass(self.theta, "theta"))
        object.__setattr__(self, "sigma", checked_discount(self.sigma, "sigma"))

    def start_values(self) -> dict[str, float]:
        """Return where a chain starts; the latent ``alpha`` at its mean given the others.

        Examples
        --------
        >>> PitmanYor(theta=2.0, sigma=0.5).start_values()
        {'alpha': 4.0, 'sigma': 0.5, 'theta': 2.0}
        """
        theta, sigma = mean(self.theta), mean(self.sigma)
        return {"alpha": theta / sigma, "sigma": sigma, "theta": theta}

    def predictive_weights(
        self, values: PriorValues[FloatArray], n: int, clusters: IntArray
    ) -> PredictiveWeights:
        """Return ``(|c| - sigma) / (theta + n)`` and ``(theta + K sigma) / (theta + n)``."""
        theta, sigma = values.theta, values.sigma
        log_factor = -np.log(theta + n)
        log_new = log_factor + np.log(theta + clusters * sigma)
        return PredictiveWeights(log_factor, sigma, log_new, np.zeros(clusters.shape))

    def _expected_clusters(self, n: int) -> float:
        """Return the mean of ``theta/sigma ((theta+sigma)_n / (theta)_n - 1)``."""
        from mixwood.priors.expected import nodes  # pulls in scipy: only when asked

        theta, weights = nodes(self.theta)
        sigma, sigma_weights = nodes(self.sigma)
        return float(weights @ _expected(theta[:, None], sigma, n) @ sigma_weights)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw parameters, a partition, u and the latent alpha.

        ``u/(1+u) ~ Beta(n, theta)`` and ``alpha ~ Gamma(theta/sigma + K, tau^sigma)``.
        """
        zeros = np.zeros(size)
        sigma = draw_discount(self.sigma, size, rng)
        theta = np.exp(draw_log_mass(self.theta, size, rng))
        labels = draw_partitions(Urn(theta, sigma), n, sigma, rng)
        log_u = log_gamma_draws(zeros + n, rng) - log_gamma_draws(theta, rng)
        shape = theta / sigma + labels.max(axis=1) + 1
        log_alpha = log_gamma_draws(shape, rng) - sigma * np.logaddexp(0, log_u)
        return PriorDraws(labels, log_u, log_alpha, sigma, theta)


def _expected(theta: FloatArray, sigma: FloatArray, n: int) -> FloatArray:
    """Return ``theta/sigma ((theta+sigma)_n / (theta)_n - 1)``, also for tiny sigma or theta."""
    from mixwood.priors.expected import digamma_rise

    theta = np.maximum(theta, 1e-290)  # quadrature of a vague hyperprior may underflow
    # log Gamma(x + sigma) - log Gamma(x) is the integral of digamma; here the difference of two.
    nodes, weights = np.polynomial.legendre.leggauss(10)
    points = 1 + theta[..., None] + sigma[..., None] * (nodes + 1) / 2
    rise = sigma * (digamma_rise(points, n - 1) @ (weights / 2))
    return np.asarray(theta / sigma * np.expm1(np.log1p(sigma / theta) + rise))
