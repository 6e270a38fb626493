"""The one variance that clusters are expected to have in all columns, learned."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.one_variance import OneVarianceBase

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


class SphericalGaussianBase(OneVarianceBase["Moments"]):
    """The updates of ``(omega, nu', r)``, the variance being that of all columns."""

    def __init__(self, likelihood: likelihoods.SphericalGaussian) -> None:
        self.mean, self.d = likelihood.mean, len(likelihood.mean)
        super().__init__(likelihood, self.d, columns=self.d)

    def prepared(self, stats: Sequence[Moments]) -> Balls:
        """Return the statistics of the clusters, in units of all rows."""
        away = [float(np.sum((stat.mean - self.mean) ** 2)) / self.variance for stat in stats]
        scatter = [float(stat.scatter) / self.variance for stat in stats]
        n = np.array([float(stat.n) for stat in stats])
        return Balls(n, np.array(away), np.array(scatter))

    def log_marginals_of(self, prepared: Balls, base: FloatArray) -> FloatArray:
        return log_ball_marginals(prepared, self.d, base[0], base[1], self.r(base))
