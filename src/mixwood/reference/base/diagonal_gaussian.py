"""The variance that clusters are expected to have in each column, learned.

In units in which all rows have variance 1 in every column::

    omega_j ~ Gamma(3/2, 3/(2 c))  on  omega_j >= F_j
    psi_j = nu' omega_j      nu = nu' + 2      r_j = f omega_j / tau, or free

The base is ``(ln omega_1, ..., ln omega_d, ln nu', ln r)``; ``ln f`` where r is tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import C0, NU_BOUNDS, centre_spread
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import LogDensity, law_of, law_of_r, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.gaussian import Moments

__all__ = ["Columns", "DiagonalGaussianBase", "log_column_marginals", "log_width_density"]


class Columns(NamedTuple):
    """Present entries of K clusters, their mean and scatter, in units of all rows: (K, d)."""

    n: FloatArray
    mean: FloatArray
    scatter: FloatArray


def log_width_density(log_omega: FloatArray) -> FloatArray:
    """Return the log density of each ``ln omega``, but for a constant."""
    return np.asarray(1.5 * (log_omega - np.exp(log_omega) / C0))


def log_column_marginals(c: Columns, log_omega: Any, log_nu: Any, r: Any) -> FloatArray:
    """Return ``log P`` of each column of each cluster; `log_nu` is the log of ``nu'``."""
    n, nu, log_psi = c.n, np.exp(log_nu) + 2, log_nu + log_omega
    scale = np.exp(log_psi) + c.scatter + r * n / (r + n) * c.mean**2
    value = np.log(r / (r + n)) / 2 - n / 2 * log(np.pi)
    value = value + nu / 2 * log_psi - (nu + n) / 2 * np.log(scale)
    return np.asarray(value + gammaln((nu + n) / 2) - gammaln(nu / 2))


class DiagonalGaussianBase(LearnedBase["Moments"]):
    """The updates of ``(omega_1..d, nu', r)`` given the clusters."""

    def __init__(self, likelihood: likelihoods.DiagonalGaussian) -> None:
        covariance, floor = likelihood.scale.covariance, likelihood.scale.floor
        self.mean, self.units = likelihood.centre, np.sqrt(covariance)
        self.d = len(self.mean)
        self.log_floor = np.log(floor / covariance)
        self.tie_floor = likelihood.scale.tie_floor / covariance
        self.tau = centre_spread(self.d)
        self.tied = likelihood.r is None
        self.nu_law = law_of(likelihood.nu, NU_BOUNDS)
        self.r_law = law_of_r(likelihood.r, likelihood.scale)

    def r(self, base: FloatArray) -> FloatArray:
        """Return how many observations the prior mean of each column is worth."""
        log_r = base[-1] + (base[:-2] - log(self.tau) if self.tied else np.zeros(self.d))
        return np.asarray(np.exp(log_r))

    def nu(self, base: FloatArray) -> float:
        """Return the degrees of freedom."""
        return float(np.exp(base[-2])) + 2

    def psi(self, base: FloatArray) -> FloatArray:
        """Return the prior scales, in units of all rows."""
        return np.asarray(np.exp(base[-2] + base[:-2]))

    def above_floor(self, base: FloatArray) -> bool:
        """Return whether no variance, and no ``psi``, is below its floor."""
        high = base[:-2] >= self.log_floor
        return bool(np.all(high & (self.psi(base) >= self.tie_floor)))

    def log_hyperprior(self, base: FloatArray) -> float:
        if not self.above_floor(base):
            return -inf
        value = float(log_width_density(base[:-2]).sum())
        if self.nu_law is not None:
            value += self.nu_law.log_density(base[-2])
        if self.r_law is not None:
            value += self.r_law.log_density(base[-1])
        return value

    def columns(self, stats: Sequence[Moments]) -> Columns:
        """Return the statistics of the clusters, in units of all rows."""
        n = [stat.n for stat in stats]
        mean = [(stat.mean - self.mean) / self.units for stat in stats]
        scatter = [stat.scatter / self.units**2 for stat in stats]
        return Columns(*(np.reshape(part, (-1, self.d)) for part in (n, mean, scatter)))

    def log_marginals(self, stats: Sequence[Moments], base: FloatArray) -> FloatArray:
        return np.asarray(self.log_marginals_of(self.columns(stats), base).sum(axis=1))

    def log_marginals_of(self, c: Columns, base: FloatArray) -> FloatArray:
        """Return ``log P`` of each column of each cluster."""
        return log_column_marginals(c, base[:-2], base[-2], self.r(base))

    def update(self, stats: Sequence[Moments], base: FloatArray, stream: Stream) -> FloatArray:
        c = self.columns(stats)

        def log_posterior(base: FloatArray) -> float:
            prior = self.log_hyperprior(base)
            return prior if prior == -inf else prior + float(self.log_marginals_of(c, base).sum())

        for j in range(self.d):
            base = slice_entry(base, j, 1.0, log_posterior, stream)
        if self.d > 1:
            base = self._resize(base, log_posterior, stream)
        if self.nu_law is not None:
            base = slice_entry(base, self.d, 2.0, log_posterior, stream)
        if self.r_law is not None:
            base = slice_entry(base, self.d + 1, 2.0, log_posterior, stream)
        return base

    def _resize(self, base: FloatArray, log_posterior: LogDensity, stream: Stream) -> FloatArray:
        """Move all the ``ln omega_j`` by the same."""
        ones = np.append(np.ones(self.d), [0.0, 0.0])
        size = stream.slice_line(lambda size: log_posterior(base + size * ones), 0.0, 1.0)
        return np.asarray(base + size * ones)
