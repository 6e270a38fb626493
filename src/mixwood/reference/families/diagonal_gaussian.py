"""Gaussian clusters with independent columns, plainly."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import LearnedScale
from mixwood.reference.base.diagonal_gaussian import DiagonalGaussianBase
from mixwood.reference.families.base import Density, Family
from mixwood.reference.families.gaussian import Moments
from mixwood.reference.random import Stream

__all__ = ["DiagonalGaussian", "normal_density"]


class DiagonalGaussian(Family[Moments]):
    """Normal-Gamma in each column, over its present entries.

    With ``psi_n = psi + scatter + r n/(r+n) (xbar-m)^2``::

        P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
               Gamma((nu+n)/2) / Gamma(nu/2)
    """

    def __init__(self, likelihood: likelihoods.DiagonalGaussian) -> None:
        self.mean, self.own = likelihood.centre, likelihood.own_entries  # what takes part
        if isinstance(likelihood.scale, LearnedScale):
            self.learned: DiagonalGaussianBase | None = DiagonalGaussianBase(likelihood)
            self.set_base(likelihood.start_base())
        else:
            self.r, self.nu = np.full(len(self.mean), likelihood.r), likelihood.nu
            self.scale = likelihood.scale

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.r, self.nu = self.learned.r(base), self.learned.nu(base)
            self.scale = self.learned.psi(base) * self.learned.units**2

    def empty(self) -> Moments:
        zeros = np.zeros(len(self.mean))
        return Moments(zeros, zeros, zeros)

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        return self.merge(stat, _present_moments(self.own(row)))

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        row = self.own(row)
        present = ~np.isnan(row)
        n = stat.n - present
        divisor = np.maximum(n, 1)
        step = np.where(present, row - stat.mean, 0.0)
        mean = np.where(n > 0, stat.mean - step / divisor, 0.0)
        scatter = stat.scatter - step**2 * (n + 1) / divisor
        return Moments(n, mean, np.where(n > 1, scatter, 0.0))

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        divisor = np.maximum(n, 1)
        step = b.mean - a.mean
        mean = a.mean + step * b.n / divisor
        return Moments(n, mean, a.scatter + b.scatter + step**2 * a.n * b.n / divisor)

    def log_marginal(self, stat: Moments) -> float:
        n, r, nu = stat.n, self.r, self.nu
        scale_n = self.scale + stat.scatter + r * n / (r + n) * (stat.mean - self.mean) ** 2
        value = -n / 2 * np.log(np.pi) + np.log(r / (r + n)) / 2
        value += nu / 2 * np.log(self.scale) - (nu + n) / 2 * np.log(scale_n)
        return float(np.sum(value + gammaln((nu + n) / 2) - gammaln(nu / 2)))

    def draw_atom(self, stat: Moments, stream: Stream) -> Density:
        """In each column a precision ``Gamma((nu+n)/2, psi_n/2)`` and the mean given it."""
        n, r, d = stat.n, self.r, len(self.mean)
        away = stat.mean - self.mean
        scale = self.scale + stat.scatter + r * n / (r + n) * away**2
        centre = self.mean + away * n / (r + n)
        precision, mean = np.empty(d), np.empty(d)
        for j in range(d):
            precision[j] = exp(stream.log_gamma_draw((self.nu + n[j]) / 2)) * 2 / scale[j]
            mean[j] = centre[j] + stream.normal() / sqrt((r[j] + n[j]) * precision[j])
        density = normal_density(mean, precision)
        return lambda row: density(self.own(row))


def normal_density(mean: FloatArray, precision: FloatArray) -> Density:
    """Return the log density of independent normal columns; missing entries are skipped."""
    base = np.log(precision / (2 * np.pi)) / 2
    return lambda row: float(np.nansum(base - precision * (row - mean) ** 2 / 2))


def _present_moments(row: FloatArray) -> Moments:
    """Return the statistic of one row: its present entries, with no scatter."""
    present = ~np.isnan(row)
    return Moments(present.astype(float), np.where(present, row, 0.0), np.zeros(len(row)))
