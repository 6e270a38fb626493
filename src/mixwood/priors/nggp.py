"""The normalized generalized gamma process, and the normalized inverse Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mixwood import hyper
from mixwood.priors.base import checked_discount, checked_mass, mean
from mixwood.priors.generalized_gamma import GeneralizedGamma
from mixwood.priors.urns import NormalizedMeasure, draw_discount, draw_log_mass, draw_partitions
from mixwood.priors.values import PriorDraws

__all__ = ["NGGP", "NormalizedInverseGaussian"]


@dataclass(frozen=True)
class NGGP(GeneralizedGamma):
    """The normalized generalized gamma process: many small clusters besides a few large ones.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default.
    sigma : float or hyper.Beta
        Discount in (0, 1), ``hyper.Beta(2, 4)`` by default. The number of clusters grows
        like ``n**sigma``.

    Notes
    -----
    Levy intensity ``alpha sigma / Gamma(1-sigma) w^(-1-sigma) e^-w``:
    ``psi(u) = alpha ((1+u)^sigma - 1)`` and
    ``kappa(k, u) = alpha sigma Gamma(k-sigma) / Gamma(1-sigma) (1+u)^(sigma-k)``.

    Examples
    --------
    >>> NGGP(alpha=1.0, sigma=0.5)
    NGGP(alpha=1.0, sigma=0.5)
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: float | hyper.Beta = field(default_factory=lambda: hyper.Beta(2, 4))
    kernel: ClassVar[str] = "generalized_gamma"
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma")

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_mass(self.alpha, "alpha"))
        object.__setattr__(self, "sigma", checked_discount(self.sigma, "sigma"))

    def start_values(self) -> dict[str, float]:
        """Return where a chain starts: fixed values, and means of hyperpriors.

        Examples
        --------
        >>> NGGP(alpha=1.0).start_values()
        {'alpha': 1.0, 'sigma': 0.3333333333333333}
        """
        return {"alpha": mean(self.alpha), "sigma": mean(self.sigma)}

    def _expected_clusters(self, n: int) -> float:
        from mixwood.priors.expected import nggp_clusters  # pulls in scipy: only when asked

        return nggp_clusters(self.alpha, self.sigma, n)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw parameters, a partition and u, the last two by a grid over u."""
        return _draw(self.alpha, self.sigma, n, size, rng)


@dataclass(frozen=True)
class NormalizedInverseGaussian(GeneralizedGamma):
    """The normalized inverse Gaussian process: `NGGP` with ``sigma = 1/2``.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default.

    Examples
    --------
    >>> NormalizedInverseGaussian(alpha=2.0).sigma
    0.5
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: ClassVar[float] = 0.5
    kernel: ClassVar[str] = "generalized_gamma"
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma")
    aliases: ClassVar[tuple[str, ...]] = ("nig",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_mass(self.alpha, "alpha"))

    def start_values(self) -> dict[str, float]:
        """Return where a chain starts: a fixed alpha, or the mean of its hyperprior."""
        return {"alpha": mean(self.alpha), "sigma": self.sigma}

    def _expected_clusters(self, n: int) -> float:
        from mixwood.priors.expected import nggp_clusters  # pulls in scipy: only when asked

        return nggp_clusters(self.alpha, self.sigma, n)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw parameters, a partition and u, the last two by a grid over u."""
        return _draw(self.alpha, self.sigma, n, size, rng)


def _draw(
    alpha: float | hyper.Gamma,
    sigma: float | hyper.Beta,
    n: int,
    size: int,
    rng: np.random.Generator,
) -> PriorDraws:
    sigmas = draw_discount(sigma, size, rng)
    log_alpha = draw_log_mass(alpha, size, rng)
    measure = NormalizedMeasure(log_alpha, sigmas)
    labels = draw_partitions(measure, n, sigmas, rng)
    log_u = measure.draw_log_u(n, labels.max(axis=1) + 1.0, rng)
    return PriorDraws(labels, log_u, log_alpha, sigmas, np.zeros(size))
