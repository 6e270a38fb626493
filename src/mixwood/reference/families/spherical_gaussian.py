"""Gaussian clusters with one variance for all columns, plainly."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import LearnedScale
from mixwood.reference.base.spherical_gaussian import SphericalGaussianBase
from mixwood.reference.families.base import Density, Family
from mixwood.reference.families.diagonal_gaussian import normal_density
from mixwood.reference.families.gaussian import Moments
from mixwood.reference.random import Stream

__all__ = ["SphericalGaussian"]


class SphericalGaussian(Family[Moments]):
    """One variance for all columns; the scatter is ``sum |x - xbar|^2``.

    With ``psi_n = psi + scatter + r n/(r+n) |xbar-m|^2``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi^(nu/2) psi_n^(-(nu+nd)/2)
                 Gamma((nu+nd)/2) / Gamma(nu/2)
    """

    def __init__(self, likelihood: likelihoods.SphericalGaussian) -> None:
        self.mean = likelihood.mean
        if isinstance(likelihood.scale, LearnedScale):
            self.learned: SphericalGaussianBase | None = SphericalGaussianBase(likelihood)
            self.set_base(likelihood.start_base())
        else:
            self.r, self.nu, self.scale = likelihood.r, likelihood.nu, likelihood.scale

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.r, self.nu = self.learned.r(base), self.learned.nu(base)
            self.scale = self.learned.psi(base) * self.learned.variance

    def empty(self) -> Moments:
        return Moments(0, np.zeros(len(self.mean)), 0.0)

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        return self.merge(stat, Moments(1, row, 0.0))

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n - 1
        if n == 0:
            return self.empty()
        step = row - stat.mean
        return Moments(n, stat.mean - step / n, stat.scatter - step @ step * (n + 1) / n)

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        if n == 0:
            return a
        step = b.mean - a.mean
        mean = a.mean + step * b.n / n
        return Moments(n, mean, a.scatter + b.scatter + step @ step * a.n * b.n / n)

    def log_marginal(self, stat: Moments) -> float:
        n, d, r, nu = stat.n, len(self.mean), self.r, self.nu
        away = stat.mean - self.mean
        scale_n = self.scale + stat.scatter + r * n / (r + n) * (away @ away)
        value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + n))
        value += nu / 2 * np.log(self.scale) - (nu + n * d) / 2 * np.log(scale_n)
        return float(value + gammaln((nu + n * d) / 2) - gammaln(nu / 2))

    def draw_atom(self, stat: Moments, stream: Stream) -> Density:
        """One precision ``Gamma((nu+nd)/2, psi_n/2)`` for all columns, and the mean given it."""
        n, r, d = stat.n, self.r, len(self.mean)
        away = stat.mean - self.mean
        scale = self.scale + stat.scatter + r * n / (r + n) * (away @ away)
        precision = exp(stream.log_gamma_draw((self.nu + n * d) / 2)) * 2 / scale
        z = np.array([stream.normal() for _ in range(d)])
        mean = self.mean + away * n / (r + n) + z / sqrt((r + n) * precision)
        return normal_density(mean, np.full(d, precision))
