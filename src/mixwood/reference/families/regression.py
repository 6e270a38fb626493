"""Clusters of linear relations, plainly."""

from __future__ import annotations

from math import exp, log, pi, sqrt

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import LearnedScale
from mixwood.reference.base.regression import RegressionBase, Sums, log_relation_marginal
from mixwood.reference.families.base import Density, Family
from mixwood.reference.random import Stream

__all__ = ["Regression"]


class Regression(Family[Sums]):
    """A target ``y`` that is linear in predictors ``x``, with a normal-inverse-gamma prior.

    With predictors centred and whitened, the target centred and in units of its deviation, and
    ``Z = (1, x)``: see `log_relation_marginal`. A row without a target adds nothing.
    """

    def __init__(self, likelihood: likelihoods.Regression) -> None:
        self.on, self.target = list(likelihood.on), likelihood.target
        self.mean, self.root = likelihood.mean, np.linalg.cholesky(likelihood.covariance)
        scale = likelihood.scale
        if isinstance(scale, LearnedScale):
            self.unit = sqrt(scale.covariance)
            self.learned: RegressionBase | None = RegressionBase(likelihood)
            self.set_base(likelihood.start_base())
        else:
            self.unit = sqrt(scale)
            self.prior = likelihood.r, 1 / likelihood.slopes, likelihood.nu, 1.0

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            g = exp(base[0]) / self.learned.slopes
            self.prior = self.learned.r(base), g, self.learned.nu(base), self.learned.psi(base)

    def empty(self) -> Sums:
        p = len(self.on)
        return Sums(0, np.zeros((p + 1, p + 1)), np.zeros(p + 1), 0.0)

    def _standard(self, row: FloatArray) -> tuple[FloatArray, float]:
        """Return 1 and the whitened predictors, and the target in units."""
        x = np.linalg.solve(self.root, row[self.on] - self.mean[:-1])
        return np.append(1.0, x), float((row[self.target] - self.mean[-1]) / self.unit)

    def _one(self, row: FloatArray) -> Sums:
        z, y = self._standard(row)
        return self.empty() if np.isnan(y) else Sums(1, np.outer(z, z), y * z, y * y)

    def observe(self, stat: Sums, row: FloatArray) -> Sums:
        return self.merge(stat, self._one(row))

    def forget(self, stat: Sums, row: FloatArray) -> Sums:
        one = self._one(row)
        if stat.n == one.n:
            return self.empty()
        return Sums(stat.n - one.n, stat.zz - one.zz, stat.zy - one.zy, stat.yy - one.yy)

    def merge(self, a: Sums, b: Sums) -> Sums:
        return Sums(a.n + b.n, a.zz + b.zz, a.zy + b.zy, a.yy + b.yy)

    def log_marginal(self, stat: Sums) -> float:
        return float(log_relation_marginal(stat, *self.prior)) - stat.n * log(self.unit)

    def draw_atom(self, stat: Sums, stream: Stream) -> Density:
        """Draw the precision of the noise, the slopes, and the target at the mean predictors."""
        r, g, nu, psi = self.prior
        kappa = r + stat.n
        mean_x, mean_y = stat.zz[0, 1:] / kappa, stat.zy[0] / kappa
        inside = stat.zz[1:, 1:] + g * np.eye(len(self.on)) - kappa * np.outer(mean_x, mean_x)
        root = np.linalg.cholesky(inside)
        towards = np.linalg.solve(root, stat.zy[1:] - kappa * mean_x * mean_y)
        psi_n = psi + stat.yy - kappa * mean_y**2 - towards @ towards
        precision = exp(stream.log_gamma_draw((nu + stat.n) / 2)) * 2 / psi_n
        deviation = 1 / sqrt(precision)
        noise = np.array([stream.normal() for _ in self.on])
        slopes = np.linalg.solve(root.T, towards + deviation * noise)
        middle = mean_y + deviation * stream.normal() / sqrt(kappa)
        coefficients = np.append(middle - slopes @ mean_x, slopes)

        def log_density(row: FloatArray) -> float:
            z, y = self._standard(row)
            if np.isnan(y):
                return 0.0
            squared = precision * (y - z @ coefficients) ** 2
            return float(log(precision / (2 * pi)) - squared) / 2 - log(self.unit)

        return log_density
