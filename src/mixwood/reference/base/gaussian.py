"""The covariance that Gaussian clusters are expected to have, learned.

In units in which all rows have variance 1 in every column::

    Omega ~ Wishart_d(eta, c R / eta)  on  Omega >= F      eta = d + 2
    Psi = nu' Omega      nu = nu' + d + 1      r = tr(R^-1 Omega) / (d tau), unless it is free

``R`` is the correlation of all rows. The base is ``(Omega, ln nu', ln r)``, of ``Omega`` the lower
triangle column by column; ``ln r`` is 0 where r is tied to Omega.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import multigammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import C0, NU_BOUNDS, TAU
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import LogDensity, law_of, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.gaussian import Moments

__all__ = ["Clusters", "GaussianBase"]


class Clusters(NamedTuple):
    """Statistics of K clusters, about the prior mean and in units of all rows."""

    n: FloatArray  # (K,)
    mean: FloatArray  # (K, d)
    scatter: FloatArray  # (K, d, d)


class GaussianBase(LearnedBase["Moments"]):
    """The updates of ``(Omega, nu', r)`` given the clusters."""

    def __init__(self, likelihood: likelihoods.Gaussian) -> None:
        covariance, floor = likelihood.scale.covariance, likelihood.scale.floor
        self.mean, self.units = likelihood.mean, np.sqrt(np.diag(covariance))
        self.d = len(self.mean)
        self.floor = floor / np.outer(self.units, self.units)
        self.precision = np.linalg.inv(covariance / np.outer(self.units, self.units))  # R^-1
        self.eta = self.d + 2.0
        self.tied = likelihood.r is None
        self.nu_law = law_of(likelihood.nu, NU_BOUNDS)
        self.r_law = law_of(likelihood.r)

    # --- what the vector says

    def omega(self, base: FloatArray) -> FloatArray:
        """Return the covariance that a cluster is expected to have."""
        matrix = np.empty((self.d, self.d))
        column, row = np.triu_indices(self.d)
        matrix[row, column] = matrix[column, row] = base[:-2]
        return matrix

    def with_omega(self, base: FloatArray, omega: FloatArray) -> FloatArray:
        """Return the base with another covariance."""
        column, row = np.triu_indices(self.d)
        return np.concatenate([omega[row, column], base[-2:]])

    def r(self, base: FloatArray) -> float:
        """Return how many observations the prior mean is worth."""
        if not self.tied:
            return exp(base[-1])
        return float(np.sum(self.precision * self.omega(base))) / (self.d * TAU)

    def nu(self, base: FloatArray) -> float:
        """Return the degrees of freedom."""
        return exp(base[-2]) + self.d + 1

    def psi(self, base: FloatArray) -> FloatArray:
        """Return the prior scale matrix, in units of all rows."""
        return exp(base[-2]) * self.omega(base)

    # --- densities

    def above_floor(self, omega: FloatArray) -> bool:
        """Return whether ``Omega - F`` is positive definite."""
        return is_positive_definite(omega - self.floor)

    def log_hyperprior(self, base: FloatArray) -> float:
        omega = self.omega(base)
        if not (self.above_floor(omega) and is_positive_definite(omega)):
            return -inf
        value = (self.eta - self.d - 1) / 2 * float(np.linalg.slogdet(omega)[1])
        value -= self.eta / (2 * C0) * float(np.sum(self.precision * omega))
        if self.nu_law is not None:
            value += self.nu_law.log_density(base[-2])
        if self.r_law is not None:
            value += self.r_law.log_density(base[-1])
        return value

    def clusters(self, stats: Sequence[Moments]) -> Clusters:
        """Return the statistics of the clusters that have rows, in units of all rows."""
        d, own = self.d, [stat for stat in stats if stat.n > 0]
        mean = np.array([(stat.mean - self.mean) / self.units for stat in own])
        scatter = np.array([stat.scatter / np.outer(self.units, self.units) for stat in own])
        n = np.array([float(stat.n) for stat in own])
        return Clusters(n, mean.reshape(-1, d), scatter.reshape(-1, d, d))

    def posterior_scales(self, c: Clusters, base: FloatArray) -> FloatArray:
        """Return ``Psi_k = Psi + S_k + r n/(r+n) xbar xbar'`` of each cluster."""
        weight = self.r(base) * c.n / (self.r(base) + c.n)
        away = c.mean[:, :, None] * c.mean[:, None, :]
        return np.asarray(self.psi(base) + c.scatter + weight[:, None, None] * away)

    def log_marginals(self, stats: Sequence[Moments], base: FloatArray) -> FloatArray:
        return self.log_marginals_of(self.clusters(stats), base)

    def log_marginals_of(self, c: Clusters, base: FloatArray) -> FloatArray:
        """Return ``log P(X_c)`` of each cluster, in units of all rows."""
        d, n, r, nu = self.d, c.n, self.r(base), self.nu(base)
        value = d / 2 * np.log(r / (r + n)) - n * d / 2 * log(np.pi)
        value += nu / 2 * np.linalg.slogdet(self.psi(base))[1]
        value -= (nu + n) / 2 * np.linalg.slogdet(self.posterior_scales(c, base))[1]
        return np.asarray(value + multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d))

    # --- updates

    def update(self, stats: Sequence[Moments], base: FloatArray, stream: Stream) -> FloatArray:
        c = self.clusters(stats)

        def log_posterior(base: FloatArray) -> float:
            prior = self.log_hyperprior(base)
            return prior if prior == -inf else prior + float(self.log_marginals_of(c, base).sum())

        if self.nu_law is not None:
            base = slice_entry(base, -2, 2.0, log_posterior, stream)
        if self.r_law is not None:
            base = slice_entry(base, -1, 2.0, log_posterior, stream)
        omega = self.omega(base)

        def resized(size: float) -> FloatArray:
            return self.with_omega(base, exp(size) * omega)

        size = stream.slice_line(
            lambda size: log_posterior(resized(size)) + self.log_jacobian(size), 0.0, 1.0
        )
        base = resized(size)
        return base if self.d == 1 else self.move_shape(c, base, stream)

    def log_jacobian(self, size: float) -> float:
        """Return that of ``Omega -> e^size Omega``, a matrix of ``d(d+1)/2`` numbers."""
        return size * self.d * (self.d + 1) / 2

    def power(self, clusters: int, nu: float) -> float:
        """Return the power of ``|Omega|`` given the precisions of the clusters."""
        return (self.eta + clusters * nu - self.d - 1) / 2

    def log_centres(self, r: float, n: FloatArray, q: FloatArray) -> float:
        """Return the log density of the clusters' centres, given their precisions."""
        terms = self.d / 2 * np.log(r / (r + n)) - r * n / (r + n) * q / 2
        return float(terms.sum())

    def move_shape(self, c: Clusters, base: FloatArray, stream: Stream) -> FloatArray:
        """Move ``Omega`` row by row, given a precision for each cluster that is then forgotten.

        Given ``Lambda_k ~ Wishart(nu + n_k, Psi_k^-1)``, ``Omega`` has a density proportional to
        ``|Omega|^a exp(-tr(G Omega)/2)`` on ``Omega >= F``, times that of the centres where r
        moves with it. In row j, ``s = Omega_jj - w' B^-1 w`` and ``w`` are Gamma and normal.
        """
        precisions = self._draw_precisions(c, base, stream)
        q = np.einsum("ki,kij,kj->k", c.mean, precisions, c.mean)
        G = self.eta / C0 * self.precision + exp(base[-2]) * precisions.sum(axis=0)
        a = self.power(len(c.n), self.nu(base))

        def log_centres(omega: FloatArray) -> float:
            if not self.tied:
                return 0.0
            return self.log_centres(self.r(self.with_omega(base, omega)), c.n, q)

        omega = self.omega(base)
        for j in range(self.d):
            omega = self._move_row(j, omega, G, a, log_centres, stream)
        return self.with_omega(base, omega)

    def _draw_precisions(self, c: Clusters, base: FloatArray, stream: Stream) -> FloatArray:
        drawn = np.empty((len(c.n), self.d, self.d))
        for k, scale in enumerate(self.posterior_scales(c, base)):
            root = stream.wishart_root(self.d, self.nu(base) + c.n[k])
            M = root @ np.linalg.inv(np.linalg.cholesky(scale))
            drawn[k] = M.T @ M
        return drawn

    def _move_row(
        self,
        j: int,
        omega: FloatArray,
        G: FloatArray,
        a: float,
        log_centres: LogDensity,
        stream: Stream,
    ) -> FloatArray:
        others = [i for i in range(self.d) if i != j]
        B, room = omega[np.ix_(others, others)], (omega - self.floor)[np.ix_(others, others)]
        if not (is_positive_definite(B) and is_positive_definite(room)):
            return omega  # rounding: this row waits
        w, g = omega[others, j], G[others, j]
        s = float(omega[j, j] - w @ np.linalg.solve(B, w))

        def with_row(w: FloatArray, s: float) -> FloatArray:
            other = omega.copy()
            other[others, j] = other[j, others] = w
            other[j, j] = s + w @ np.linalg.solve(B, w)
            return other

        def least(w: FloatArray) -> float:
            return self.least_schur(j, w, B, room)

        z = np.array([stream.normal() for _ in others])
        proposal = -B @ g / G[j, j] + np.linalg.cholesky(B) @ z / sqrt(G[j, j])
        moved = with_row(proposal, s)
        threshold = log(stream.positive_uniform())
        if s >= least(proposal) and threshold <= log_centres(moved) - log_centres(omega):
            w, omega = proposal, moved
        moved = with_row(w, stream.gamma_above(a + 1, G[j, j] / 2, max(least(w), 0.0)))
        threshold = log(stream.positive_uniform())
        return moved if threshold <= log_centres(moved) - log_centres(omega) else omega

    def least_schur(self, j: int, w: FloatArray, B: FloatArray, room: FloatArray) -> float:
        """Return the least ``s`` of row j for which ``Omega - F`` is positive semidefinite.

        `room` is ``B - F_B``.
        """
        others = [i for i in range(self.d) if i != j]
        away = w - self.floor[others, j]
        above = away @ np.linalg.solve(room, away) - w @ np.linalg.solve(B, w)
        return float(self.floor[j, j] + above)


def is_positive_definite(matrix: FloatArray) -> bool:
    """Return whether a matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
