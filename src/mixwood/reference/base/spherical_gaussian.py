"""The one variance that clusters are expected to have in all columns, learned.

In units in which the columns of all rows have mean variance 1::

    omega ~ Gamma(3/2, 3/(2 c))  on  omega >= F
    psi = nu' omega      nu = nu' + 2      r = f omega / tau, or free

The base is ``(ln omega, ln nu', ln r)``; ``ln f`` where r is tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import NU_BOUNDS, centre_spread
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.diagonal_gaussian import log_width_density
from mixwood.reference.base.laws import law_of, law_of_r, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.gaussian import Moments

__all__ = ["Balls", "SphericalGaussianBase", "log_ball_marginals"]


class Balls(NamedTuple):
    """Sizes, squared distances of the means and scatters of K clusters, in units of all rows."""

    n: FloatArray
    away: FloatArray
    scatter: FloatArray


def log_ball_marginals(c: Balls, d: int, log_omega: Any, log_nu: Any, r: Any) -> FloatArray:
    """Return ``log P(X_c)``; `log_nu` is the log of ``nu'``."""
    n, nu, log_psi, entries = c.n, np.exp(log_nu) + 2, log_nu + log_omega, c.n * d
    scale = np.exp(log_psi) + c.scatter + r * n / (r + n) * c.away
    value = d / 2 * np.log(r / (r + n)) - entries / 2 * log(np.pi)
    value = value + nu / 2 * log_psi - (nu + entries) / 2 * np.log(scale)
    return np.asarray(value + gammaln((nu + entries) / 2) - gammaln(nu / 2))


class SphericalGaussianBase(LearnedBase["Moments"]):
    """The updates of ``(omega, nu', r)`` given the clusters."""

    def __init__(self, likelihood: likelihoods.SphericalGaussian) -> None:
        covariance, floor = likelihood.scale.covariance, likelihood.scale.floor
        self.mean, self.variance, self.d = likelihood.mean, float(covariance), len(likelihood.mean)
        self.log_floor = log(floor / covariance)
        self.tie_floor = likelihood.scale.tie_floor / covariance
        self.tau = centre_spread(self.d)
        self.tied = likelihood.r is None
        self.nu_law = law_of(likelihood.nu, NU_BOUNDS)
        self.r_law = law_of_r(likelihood.r, likelihood.scale)

    def r(self, base: FloatArray) -> float:
        """Return how many observations the prior mean is worth."""
        return exp(base[2] + base[0]) / self.tau if self.tied else exp(base[2])

    def nu(self, base: FloatArray) -> float:
        """Return the degrees of freedom."""
        return exp(base[1]) + 2

    def psi(self, base: FloatArray) -> float:
        """Return the prior scale, in units of all rows."""
        return exp(base[0] + base[1])

    def above_floor(self, base: FloatArray) -> bool:
        """Return whether neither the variance nor ``psi`` is below its floor."""
        return bool(base[0] >= self.log_floor and self.psi(base) >= self.tie_floor)

    def log_hyperprior(self, base: FloatArray) -> float:
        if not self.above_floor(base):
            return -inf
        value = float(log_width_density(base[0]))
        if self.nu_law is not None:
            value += self.nu_law.log_density(base[1])
        if self.r_law is not None:
            value += self.r_law.log_density(base[2])
        return value

    def balls(self, stats: Sequence[Moments]) -> Balls:
        """Return the statistics of the clusters, in units of all rows."""
        away = [float(np.sum((stat.mean - self.mean) ** 2)) / self.variance for stat in stats]
        scatter = [float(stat.scatter) / self.variance for stat in stats]
        n = np.array([float(stat.n) for stat in stats])
        return Balls(n, np.array(away), np.array(scatter))

    def log_marginals(self, stats: Sequence[Moments], base: FloatArray) -> FloatArray:
        return self.log_marginals_of(self.balls(stats), base)

    def log_marginals_of(self, c: Balls, base: FloatArray) -> FloatArray:
        """Return ``log P(X_c)`` of each cluster, in units of all rows."""
        return log_ball_marginals(c, self.d, base[0], base[1], self.r(base))

    def update(self, stats: Sequence[Moments], base: FloatArray, stream: Stream) -> FloatArray:
        c = self.balls(stats)

        def log_posterior(base: FloatArray) -> float:
            prior = self.log_hyperprior(base)
            return prior if prior == -inf else prior + float(self.log_marginals_of(c, base).sum())

        base = slice_entry(base, 0, 1.0, log_posterior, stream)
        if self.nu_law is not None:
            base = slice_entry(base, 1, 2.0, log_posterior, stream)
        if self.r_law is not None:
            base = slice_entry(base, 2, 2.0, log_posterior, stream)
        return base
