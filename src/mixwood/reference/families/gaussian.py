"""Gaussian clusters with a Normal-Wishart prior, plainly."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import multigammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray, IntArray
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

    @property
    def weight(self) -> Any:
        """What the mean is worth: here the number of rows."""
        return self.n


class Gaussian(Family[Moments]):
    """Normal-Wishart: ``mean | Lambda ~ N(m, (r Lambda)^-1)``, ``Lambda ~ Wishart(Psi^-1, nu)``.

    With ``Psi_n = Psi + S + r n/(r+n) (xbar-m)(xbar-m)'``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                 Gamma_d((nu+n)/2) / Gamma_d(nu/2)
    """

    def __init__(self, likelihood: likelihoods.Gaussian | likelihoods.StudentT) -> None:
        self.mean, self.own = likelihood.centre, likelihood.own_entries  # what takes part
        kept, scale = likelihood.kept, likelihood.scale
        self.columns = np.arange(len(self.mean)) if kept is None else kept.columns
        self.spread = scale.covariance if isinstance(scale, LearnedScale) else scale
        if isinstance(likelihood.scale, LearnedScale):
            self.learned: GaussianBase | None = GaussianBase(likelihood)
            self.set_base(likelihood.start_scale())
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
        return self.log_marginal_of(stat.n, stat)

    def log_marginal_of(self, n: int, stat: Moments) -> float:
        """Return that of n rows, of which ``stat.n`` is the sum of their weights."""
        d, r, nu, weight = len(self.mean), self.r, self.nu, stat.n
        away = stat.mean - self.mean
        scale_n = self.scale + stat.scatter + np.outer(away, away) * (r * weight / (r + weight))
        value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + weight))
        value += nu / 2 * _log_determinant(self.scale) - (nu + n) / 2 * _log_determinant(scale_n)
        return float(value + multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d))

    def draw_atom(self, stat: Moments, stream: Stream) -> Density:
        """``Lambda ~ Wishart(Psi_n^-1, nu+n)``, ``mean ~ N(m_n, ((r+n) Lambda)^-1)``.

        With ``Psi_n = L L'`` and ``T'T ~ Wishart(I, nu+n)``, ``Lambda = M'M`` for ``M = T L^-1``.
        """
        M, mean = self.draw_normal(stat.n, stat, stream)
        base = np.log(np.diag(M)).sum() - len(self.mean) / 2 * log(2 * np.pi)
        return lambda row: float(base - np.sum((M @ (self.own(row) - mean)) ** 2) / 2)

    def draw_normal(self, n: int, stat: Moments, stream: Stream) -> tuple[FloatArray, FloatArray]:
        """Return ``M`` and a mean, given n rows of which ``stat.n`` is the sum of their weights."""
        d, r, weight = len(self.mean), self.r, stat.n
        away = stat.mean - self.mean
        scale = self.scale + stat.scatter + np.outer(away, away) * (r * weight / (r + weight))
        M = stream.wishart_root(d, self.nu + n) @ np.linalg.inv(np.linalg.cholesky(scale))
        z = np.array([stream.normal() for _ in range(d)])
        centre = self.mean + away * weight / (r + weight)
        return M, centre + np.linalg.solve(M, z) / sqrt(r + weight)

    # --- missing entries

    def latent_places(self, given: FloatArray) -> tuple[IntArray, IntArray]:
        rows, own = np.nonzero(np.isnan(self.own(given)))
        return rows, self.columns[own]

    def latent_units(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        own = np.nonzero(np.isnan(self.own(given)))[1]
        return self.mean[own], np.sqrt(np.diag(self.spread))[own]

    def lacks(self, row: FloatArray) -> bool:
        return bool(np.isnan(self.own(row)).any())

    def filled(self, row: FloatArray) -> FloatArray:
        """Fill in what the other entries let one expect, under one normal for all rows."""
        x = self.own(row)
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        slope = np.linalg.solve(self.spread[np.ix_(o, o)], self.spread[np.ix_(o, m)])
        return self._with_entries(row, m, self.mean[m] + (x[o] - self.mean[o]) @ slope)

    def log_known(self, stat: Moments, row: FloatArray) -> float:
        """``x_o ~ t(f, m_o, (kappa+1)/(kappa f) Psi_oo)``, ``f = nu + n - d + 1``."""
        x = self.own(row)
        o = np.flatnonzero(~np.isnan(x))
        kappa, f, mean, scale = self.predictive(stat)
        inner = scale[np.ix_(o, o)] * (kappa + 1) / kappa  # times 1/f: the scale of the t
        away = x[o] - mean[o]
        value = lgamma((f + len(o)) / 2) - lgamma(f / 2) - len(o) / 2 * log(pi)
        value -= _log_determinant(inner) / 2
        return value - (f + len(o)) / 2 * log1p(float(away @ np.linalg.solve(inner, away)))

    def completed(self, stat: Moments, row: FloatArray, stream: Stream) -> FloatArray:
        """Draw ``x_m = m_m + L_mo w + L_mm z sqrt(((kappa+1)/kappa + w'w)/c)``.

        ``L`` is the factor of ``Psi_n``, the observed columns first, ``w = L_oo^-1 (x_o - m_o)``
        and ``c`` a chi-square of ``f + |o|`` degrees of freedom.
        """
        x = self.own(row)
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        kappa, f, mean, scale = self.predictive(stat)
        order, k = np.concatenate([o, m]), len(o)
        L = np.linalg.cholesky(scale[np.ix_(order, order)])
        w = np.linalg.solve(L[:k, :k], x[o] - mean[o])
        chi_square = 2 * exp(stream.log_gamma_draw((f + k) / 2))
        spread = sqrt(((kappa + 1) / kappa + w @ w) / chi_square)
        z = np.array([stream.normal() for _ in m])
        return self._with_entries(row, m, mean[m] + L[k:, :k] @ w + spread * L[k:, k:] @ z)

    def predictive(self, stat: Moments) -> tuple[float, float, FloatArray, FloatArray]:
        """Return ``kappa = r + n``, ``f``, ``m_n`` and ``Psi_n``."""
        n, r = stat.n, self.r
        away = stat.mean - self.mean
        scale = self.scale + stat.scatter + np.outer(away, away) * (r * n / (r + n))
        return r + n, self.nu + n - len(self.mean) + 1, self.mean + away * n / (r + n), scale

    def _with_entries(self, row: FloatArray, own: IntArray, values: FloatArray) -> FloatArray:
        whole = row.copy()
        whole[self.columns[own]] = values
        return whole


def _log_determinant(matrix: FloatArray) -> float:
    """Return the log determinant, in units that make the diagonal 1."""
    units = np.sqrt(np.diag(matrix))
    correlation = matrix / np.outer(units, units)
    return float(np.linalg.slogdet(correlation)[1] + 2 * np.log(units).sum())
