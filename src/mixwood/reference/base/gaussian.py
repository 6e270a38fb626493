"""The covariance that Gaussian clusters are expected to have, learned.

In units in which all rows have variance 1 in every column::

    Omega ~ Wishart_d(eta, c R / eta)  on  Omega >= F,  nu' Omega >= M      eta = d + 2
    Psi = nu' Omega      nu = nu' + d + 1      r = f tr(R^-1 Omega) / (d tau), or free

``R`` is the correlation of all rows. The base is ``(Omega, ln nu', ln r)``, of ``Omega`` the lower
triangle column by column; where r is tied to Omega, ``ln f`` stands for ``ln r``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import C0, NU_BOUNDS, centre_spread
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import LogDensity, law_of, law_of_r
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.gaussian import Moments

__all__ = ["Clusters", "GaussianBase", "Scale"]

#: How many rows of Omega move at most in an update.
MOST_ROWS = 32


class Clusters(NamedTuple):
    """Statistics of K clusters, about the prior mean and in units of all rows."""

    n: FloatArray  # (K,)
    weight: FloatArray  # (K,), what a mean is worth: n, or the sum of the rows' weights
    mean: FloatArray  # (K, d)
    scatter: FloatArray  # (K, d, d)


class Scale(NamedTuple):
    """What a base says; where r is tied, ``log_r`` is the log of its factor f."""

    omega: FloatArray
    log_nu: float  # of nu'
    log_r: float


class GaussianBase(LearnedBase["Moments"]):
    """The updates of ``(Omega, nu', r)`` given the clusters."""

    def __init__(self, likelihood: likelihoods.Gaussian | likelihoods.StudentT) -> None:
        covariance = likelihood.scale.covariance
        self.mean, self.units = likelihood.centre, np.sqrt(np.diag(covariance))
        self.d = len(self.mean)
        self.floor = likelihood.scale.floor / np.outer(self.units, self.units)  # F
        self.tie_floor = likelihood.scale.tie_floor / np.outer(self.units, self.units)  # M
        self.tau = centre_spread(self.d)
        self.precision = np.linalg.inv(covariance / np.outer(self.units, self.units))  # R^-1
        self.eta = self.d + 2.0
        self.tied = likelihood.r is None
        self.nu_law = law_of(likelihood.nu, NU_BOUNDS)
        self.r_law = law_of_r(likelihood.r, likelihood.scale)

    # --- what the vector says

    def unpacked(self, base: FloatArray) -> Scale:
        """Return the parameters that a base says."""
        omega = np.empty((self.d, self.d))
        column, row = np.triu_indices(self.d)
        omega[row, column] = omega[column, row] = base[:-2]
        return Scale(omega, float(base[-2]), float(base[-1]))

    def packed(self, scale: Scale) -> FloatArray:
        """Return the base that says these parameters."""
        column, row = np.triu_indices(self.d)
        return np.array([*scale.omega[row, column], scale.log_nu, scale.log_r])

    def r(self, scale: Scale) -> float:
        """Return how many observations the prior mean is worth."""
        width = float((self.precision * scale.omega).sum()) / self.d
        return exp(scale.log_r) * (width / self.tau if self.tied else 1.0)

    def nu(self, scale: Scale) -> float:
        """Return the degrees of freedom."""
        return exp(scale.log_nu) + self.d + 1

    def psi(self, scale: Scale) -> FloatArray:
        """Return the prior scale matrix, in units of all rows."""
        return exp(scale.log_nu) * scale.omega

    # --- densities

    def floors(self, scale: Scale) -> list[FloatArray]:
        """Return what ``Omega`` is at least: ``F``, and ``M/nu'``."""
        return [self.floor, self.tie_floor / exp(scale.log_nu)]

    def above_floor(self, scale: Scale) -> bool:
        """Return whether ``Omega - F`` and ``nu' Omega - M`` are positive definite."""
        return all(is_positive_definite(scale.omega - floor) for floor in self.floors(scale))

    def log_hyperprior(self, base: FloatArray) -> float:
        return self._log_hyperprior(self.unpacked(base))

    def _log_hyperprior(self, scale: Scale) -> float:
        omega = scale.omega
        if not self.above_floor(scale):
            return -inf
        value = (self.eta - self.d - 1) / 2 * float(np.linalg.slogdet(omega)[1])
        value -= self.eta / (2 * C0) * float((self.precision * omega).sum())
        if self.nu_law is not None:
            value += self.nu_law.log_density(scale.log_nu)
        if self.r_law is not None:
            value += self.r_law.log_density(scale.log_r)
        return value

    def clusters(self, stats: Sequence[Moments]) -> Clusters:
        """Return the statistics of the clusters that have rows, in units of all rows."""
        d, own = self.d, [stat for stat in stats if stat.n > 0]
        mean = np.array([(stat.mean - self.mean) / self.units for stat in own])
        scatter = np.array([stat.scatter / np.outer(self.units, self.units) for stat in own])
        n = np.array([float(stat.n) for stat in own])
        weight = np.array([float(stat.weight) for stat in own])
        return Clusters(n, weight, mean.reshape(-1, d), scatter.reshape(-1, d, d))

    def posterior_scales(self, c: Clusters, scale: Scale) -> FloatArray:
        """Return ``Psi_k = Psi + S_k + r n/(r+n) xbar xbar'`` of each cluster."""
        r = self.r(scale)
        away = c.mean[:, :, None] * c.mean[:, None, :]
        weight = (r * c.weight / (r + c.weight))[:, None, None]
        return np.asarray(self.psi(scale) + c.scatter + weight * away)

    def log_marginals(self, stats: Sequence[Moments], base: FloatArray) -> FloatArray:
        return self._log_marginals(self.clusters(stats), self.unpacked(base))

    def _log_marginals(self, c: Clusters, scale: Scale) -> FloatArray:
        """Return ``log P(X_c)`` of each cluster, in units of all rows."""
        d, n, r, nu = self.d, c.n, self.r(scale), self.nu(scale)
        value = d / 2 * np.log(r / (r + c.weight)) - n * d / 2 * log(np.pi)
        value += nu / 2 * np.linalg.slogdet(self.psi(scale))[1]
        value -= (nu + n) / 2 * np.linalg.slogdet(self.posterior_scales(c, scale))[1]
        before = (nu - np.arange(d)) / 2
        return np.asarray(value + (gammaln(before + n[:, None] / 2) - gammaln(before)).sum(axis=1))

    # --- updates

    def update(self, stats: Sequence[Moments], base: FloatArray, stream: Stream) -> FloatArray:
        c, scale = self.clusters(stats), self.unpacked(base)
        if self.nu_law is not None:
            scale = self.slice_nu(c, scale, stream)
        if self.r_law is not None:
            scale = self.slice_r(c, scale, stream)
        scale = self.slice_size(c, scale, stream)
        return self.packed(scale if self.d == 1 else self.move_shape(c, scale, stream))

    def _log_posterior(self, c: Clusters, scale: Scale) -> float:
        prior = self._log_hyperprior(scale)
        return prior if prior == -inf else prior + float(self._log_marginals(c, scale).sum())

    def slice_nu(self, c: Clusters, scale: Scale, stream: Stream) -> Scale:
        """Move ``ln nu'``."""

        def moved(log_nu: float) -> Scale:
            return scale._replace(log_nu=log_nu)

        def log_density(log_nu: float) -> float:
            return self._log_posterior(c, moved(log_nu))

        return moved(stream.slice_line(log_density, scale.log_nu, 2.0))

    def slice_r(self, c: Clusters, scale: Scale, stream: Stream) -> Scale:
        """Move ``ln r``, or where r is tied ``ln f``."""

        def moved(log_r: float) -> Scale:
            return scale._replace(log_r=log_r)

        def log_density(log_r: float) -> float:
            return self._log_posterior(c, moved(log_r))

        return moved(stream.slice_line(log_density, scale.log_r, 2.0))

    def slice_size(self, c: Clusters, scale: Scale, stream: Stream) -> Scale:
        """Move ``l`` in ``e^l Omega``."""

        def moved(size: float) -> Scale:
            return scale._replace(omega=exp(size) * scale.omega)

        def log_density(size: float) -> float:
            return self._log_posterior(c, moved(size)) + self.log_jacobian(size)

        return moved(stream.slice_line(log_density, 0.0, 1.0))

    def log_jacobian(self, size: float) -> float:
        """Return that of ``Omega -> e^size Omega``, a matrix of ``d(d+1)/2`` numbers."""
        return size * self.d * (self.d + 1) / 2

    def power(self, clusters: int, nu: float) -> float:
        """Return the power of ``|Omega|`` given the precisions of the clusters."""
        return (self.eta + clusters * nu - self.d - 1) / 2

    def log_centres(self, r: float, weight: FloatArray, q: FloatArray) -> float:
        """Return the log density of the clusters' centres, given their precisions."""
        terms = self.d / 2 * np.log(r / (r + weight)) - r * weight / (r + weight) * q / 2
        return float(terms.sum())

    def move_shape(self, c: Clusters, scale: Scale, stream: Stream) -> Scale:
        """Move ``Omega`` row by row, given a precision for each cluster that is then forgotten.

        Given ``Lambda_k ~ Wishart(nu + n_k, Psi_k^-1)``, ``Omega`` has a density proportional to
        ``|Omega|^a exp(-tr(G Omega)/2)`` above the floors, times that of the centres where r
        moves with it. At most `MOST_ROWS` rows move, from one drawn at random. In row j,
        ``s = Omega_jj - w' B^-1 w`` and ``w`` are Gamma and normal.
        """
        precisions = self._draw_precisions(c, scale, stream)
        q = np.einsum("ki,kij,kj->k", c.mean, precisions, c.mean)
        G = self.eta / C0 * self.precision + exp(scale.log_nu) * precisions.sum(axis=0)
        a = self.power(len(c.n), self.nu(scale))

        def log_centres(omega: FloatArray) -> float:
            if not self.tied:
                return 0.0
            return self.log_centres(self.r(scale._replace(omega=omega)), c.weight, q)

        omega = scale.omega
        rows = min(self.d, MOST_ROWS)
        first = stream.below(self.d) if rows < self.d else 0
        for j in ((first + k) % self.d for k in range(rows)):
            omega = self._move_row(j, omega, G, a, self.floors(scale), log_centres, stream)
        return scale._replace(omega=omega)

    def _draw_precisions(self, c: Clusters, scale: Scale, stream: Stream) -> FloatArray:
        drawn = np.empty((len(c.n), self.d, self.d))
        for k, posterior in enumerate(self.posterior_scales(c, scale)):
            root = stream.wishart_root(self.d, self.nu(scale) + c.n[k])
            M = root @ np.linalg.inv(np.linalg.cholesky(posterior))
            drawn[k] = M.T @ M
        return drawn

    def _move_row(
        self,
        j: int,
        omega: FloatArray,
        G: FloatArray,
        a: float,
        floors: list[FloatArray],
        log_centres: LogDensity,
        stream: Stream,
    ) -> FloatArray:
        others = [i for i in range(self.d) if i != j]
        B = omega[np.ix_(others, others)]
        rooms = [(omega - floor)[np.ix_(others, others)] for floor in floors]
        if not all(map(is_positive_definite, [B, *rooms])):
            return omega  # rounding: this row waits
        w, g = omega[others, j], G[others, j]
        s = float(omega[j, j] - w @ np.linalg.solve(B, w))

        def with_row(w: FloatArray, s: float) -> FloatArray:
            other = omega.copy()
            other[others, j] = other[j, others] = w
            other[j, j] = s + w @ np.linalg.solve(B, w)
            return other

        def least(w: FloatArray) -> float:
            return max(0.0, *(self.least_schur(j, w, B, floor) for floor in floors))

        z = np.array([stream.normal() for _ in others])
        proposal = -B @ g / G[j, j] + np.linalg.cholesky(B) @ z / sqrt(G[j, j])
        moved = with_row(proposal, s)
        threshold = log(stream.positive_uniform())
        if s >= least(proposal) and threshold <= log_centres(moved) - log_centres(omega):
            w, omega = proposal, moved
        moved = with_row(w, stream.gamma_above(a + 1, G[j, j] / 2, least(w)))
        threshold = log(stream.positive_uniform())
        return moved if threshold <= log_centres(moved) - log_centres(omega) else omega

    def least_schur(self, j: int, w: FloatArray, B: FloatArray, floor: FloatArray) -> float:
        """Return the least ``s`` of row j for which ``Omega - floor`` is positive semidefinite."""
        others = [i for i in range(self.d) if i != j]
        away, room = w - floor[others, j], B - floor[np.ix_(others, others)]
        above = away @ np.linalg.solve(room, away) - w @ np.linalg.solve(B, w)
        return float(floor[j, j] + above)


def is_positive_definite(matrix: FloatArray) -> bool:
    """Return whether a matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
