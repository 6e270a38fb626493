"""Gaussian clusters with a Normal-Wishart prior, plainly."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import multigammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import LearnedScale
from mixwood.reference.base.gaussian import GaussianBase
from mixwood.reference.families.base import Density, Family
from mixwood.reference.random import Stream

__all__ = ["Gaussian", "Moments"]


class Moments(NamedTuple):
    """How many, their mean, and the scatter about it: raw second moments would cancel."""

    n: Any
    mean: FloatArray
    scatter: Any


class Gaussian(Family[Moments]):
    """Normal-Wishart: ``mean | Lambda ~ N(m, (r Lambda)^-1)``, ``Lambda ~ Wishart(Psi^-1, nu)``.

    With ``Psi_n = Psi + S + r n/(r+n) (xbar-m)(xbar-m)'``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                 Gamma_d((nu+n)/2) / Gamma_d(nu/2)
    """

    def __init__(self, likelihood: likelihoods.Gaussian) -> None:
        self.mean, self.own = likelihood.centre, likelihood.own_entries  # what takes part
        if isinstance(likelihood.scale, LearnedScale):
            self.learned: GaussianBase | None = GaussianBase(likelihood)
            self.set_base(likelihood.start_base())
        else:
            self.r, self.nu, self.scale = likelihood.r, likelihood.nu, likelihood.scale

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            units, scale = self.learned.units, self.learned.unpacked(base)
            self.r, self.nu = self.learned.r(scale), self.learned.nu(scale)
            self.scale = self.learned.psi(scale) * np.outer(units, units)

    def empty(self) -> Moments:
        d = len(self.mean)
        return Moments(0, np.zeros(d), np.zeros((d, d)))

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n + 1
        step = self.own(row) - stat.mean
        mean = stat.mean + step / n
        return Moments(n, mean, stat.scatter + np.outer(step, step) * (n - 1) / n)

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n - 1
        if n == 0:
            return self.empty()
        step = self.own(row) - stat.mean
        return Moments(n, stat.mean - step / n, stat.scatter - np.outer(step, step) * (n + 1) / n)

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        if n == 0:
            return a
        step = b.mean - a.mean
        mean = a.mean + step * b.n / n
        return Moments(n, mean, a.scatter + b.scatter + np.outer(step, step) * a.n * b.n / n)

    def log_marginal(self, stat: Moments) -> float:
        n, d, r, nu = stat.n, len(self.mean), self.r, self.nu
        away = stat.mean - self.mean
        scale_n = self.scale + stat.scatter + np.outer(away, away) * (r * n / (r + n))
        value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + n))
        value += nu / 2 * _log_determinant(self.scale) - (nu + n) / 2 * _log_determinant(scale_n)
        return float(value + multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d))

    def draw_atom(self, stat: Moments, stream: Stream) -> Density:
        """``Lambda ~ Wishart(Psi_n^-1, nu+n)``, ``mean ~ N(m_n, ((r+n) Lambda)^-1)``.

        With ``Psi_n = L L'`` and ``T'T ~ Wishart(I, nu+n)``, ``Lambda = M'M`` for ``M = T L^-1``.
        """
        n, d, r = stat.n, len(self.mean), self.r
        away = stat.mean - self.mean
        scale = self.scale + stat.scatter + np.outer(away, away) * (r * n / (r + n))
        M = stream.wishart_root(d, self.nu + n) @ np.linalg.inv(np.linalg.cholesky(scale))
        z = np.array([stream.normal() for _ in range(d)])
        mean = self.mean + away * n / (r + n) + np.linalg.solve(M, z) / sqrt(r + n)
        base = np.log(np.diag(M)).sum() - d / 2 * log(2 * np.pi)
        return lambda row: float(base - np.sum((M @ (self.own(row) - mean)) ** 2) / 2)


def _log_determinant(matrix: FloatArray) -> float:
    """Return the log determinant, in units that make the diagonal 1."""
    units = np.sqrt(np.diag(matrix))
    correlation = matrix / np.outer(units, units)
    return float(np.linalg.slogdet(correlation)[1] + 2 * np.log(units).sum())
