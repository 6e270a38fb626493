"""Student t clusters with a Normal-Wishart prior, plainly: Gaussian ones with weighted rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, floor, lgamma, log, log1p, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from mixwood import likelihoods
from mixwood._support.types import FloatArray, IntArray
from mixwood.likelihoods.learned import LearnedScale, centre, is_learned
from mixwood.likelihoods.student_t import DF_BOUNDS
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import law_of
from mixwood.reference.base.student_t import StudentTBase
from mixwood.reference.families.base import Density, Family
from mixwood.reference.families.gaussian import Gaussian, Moments
from mixwood.reference.random import Stream

__all__ = ["Lattice", "Scaled", "StudentT"]

#: How many points a lattice of scales has.
POINTS = 48


class Scaled(NamedTuple):
    """How many rows, the sum of ``ln q``, and their moments weighted by q."""

    n: int
    log_scales: float
    moments: Moments

    @property
    def mean(self) -> FloatArray:
        """The weighted mean."""
        return self.moments.mean

    @property
    def scatter(self) -> Any:
        """The weighted scatter."""
        return self.moments.scatter

    @property
    def weight(self) -> Any:
        """The sum of the weights, ``Q``."""
        return self.moments.n


class Lattice(NamedTuple):
    """Scales ``ln q + k step`` within a window, and ``log(Gamma(q; a/2, a/2) q step)`` of each.

    One scale alone where that is outside of the window.
    """

    scales: FloatArray
    log_densities: FloatArray

    @classmethod
    def of(cls, q: float, a: float, d: int) -> Lattice:
        """Return the lattice that `q` is on, for degrees of freedom `a` and `d` columns."""
        step = 0.8 * sqrt(2 / (a + d))
        low = log1p(2 * sqrt(16 / a) + 32 / a) - POINTS * step
        place = floor((log(q) - low) / step)
        inside = 0 <= place < POINTS
        log_scales = log(q) + step * (np.arange(POINTS) - place if inside else np.zeros(1))
        constant = a / 2 * log(a / 2) - lgamma(a / 2) + log(step)
        scales = np.exp(log_scales)
        return cls(scales, np.asarray(constant + a / 2 * (log_scales - scales)))


class StudentT(Family[Scaled]):
    """``q_i ~ Gamma(a/2, a/2)``, ``x_i ~ N(mean, Sigma/q_i)``, Normal-Wishart prior as `Gaussian`.

    A row ends with its scale ``q``; one without has a scale of 1. With ``Q = sum q`` and mean and
    scatter weighted by ``q``::

        P(X_c | q) = pi^(-nd/2) prod q_i^(d/2) (r/(r+Q))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                     Gamma_d((nu+n)/2) / Gamma_d(nu/2)
        Psi_n = Psi + S + r Q/(r+Q) (xbar-m)(xbar-m)'
    """

    learned: LearnedBase[Any] | None = None
    extra = 1
    redraws_at_once = True

    def __init__(self, likelihood: likelihoods.StudentT) -> None:
        self.width = len(likelihood.mean)
        self.law = law_of(likelihood.df, DF_BOUNDS)
        self.a = centre(likelihood.df) if is_learned(likelihood.df) else likelihood.df
        self.normal = Gaussian(likelihood)
        if isinstance(likelihood.scale, LearnedScale):
            self.learned = StudentTBase(likelihood)
        self.set_base(likelihood.start_base())

    @property
    def d(self) -> int:
        """How many columns take part."""
        return len(self.normal.mean)

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.law is not None:
            self.a = exp(self.base[-1])
            base = self.base[:-1]
        if self.learned is not None:
            self.normal.set_base(base)

    def _split(self, row: FloatArray) -> tuple[FloatArray, float]:
        if len(row) == self.width:
            return row, 1.0
        return row[:-1], float(row[-1])

    # --- statistics

    def empty(self) -> Scaled:
        return Scaled(0, 0.0, self.normal.empty())

    def observe(self, stat: Scaled, row: FloatArray) -> Scaled:
        x, q = self._split(row)
        one = Moments(q, self.normal.own(x), np.zeros((self.d, self.d)))
        return self.merge(stat, Scaled(1, log(q), one))

    def forget(self, stat: Scaled, row: FloatArray) -> Scaled:
        if stat.n == 1:
            return self.empty()
        x, q = self._split(row)
        left = stat.weight - q
        step = self.normal.own(x) - stat.mean
        scatter = stat.scatter - np.outer(step, step) * q * stat.weight / left
        moments = Moments(left, stat.mean - step * q / left, scatter)
        return Scaled(stat.n - 1, stat.log_scales - log(q), moments)

    def merge(self, a: Scaled, b: Scaled) -> Scaled:
        moments = self.normal.merge(a.moments, b.moments)
        return Scaled(a.n + b.n, a.log_scales + b.log_scales, moments)

    def log_marginal(self, stat: Scaled) -> float:
        return self.normal.log_marginal_of(stat.n, stat.moments) + self.d / 2 * stat.log_scales

    def draw_atom(self, stat: Scaled, stream: Stream) -> Density:
        """Draw as `Gaussian` does; a row's precision is that of the cluster times its scale."""
        M, mean = self.normal.draw_normal(stat.n, stat.moments, stream)
        base = np.log(np.diag(M)).sum() - self.d / 2 * log(2 * pi)

        def log_density(row: FloatArray) -> float:
            x, q = self._split(row)
            squared = np.sum((M @ (self.normal.own(x) - mean)) ** 2)
            return float(base + self.d / 2 * log(q) - q * squared / 2)

        return log_density

    # --- the scales

    def lacks(self, row: FloatArray) -> bool:  # noqa: ARG002
        return True

    def filled(self, row: FloatArray) -> FloatArray:
        return np.append(row[:-1], 1.0)

    def known_part(self, given: FloatArray, row: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the row: of its scale it is known on which lattice that is."""
        return row

    def latent_places(self, given: FloatArray) -> tuple[IntArray, IntArray]:
        return np.arange(len(given)), np.full(len(given), self.width)

    def latent_units(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.zeros(len(given)), np.ones(len(given))

    def lattice_scores(self, stat: Scaled, row: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scales, and ``log(Gamma(q; a/2, a/2) q step P(x | q, X_c))`` of each."""
        x, q = self._split(row)
        lattice = Lattice.of(q, self.a, self.d)
        return lattice.scales, lattice.log_densities + self.log_predictive(stat, x, lattice.scales)

    def log_predictive(self, stat: Scaled, x: FloatArray, q: FloatArray) -> FloatArray:
        """Return ``log P(x | q, X_c)`` for many scales, a t density in ``f = kappa q/(kappa+q)``.

        With ``kappa = r + Q``, ``m`` the posterior mean and ``s = (x-m)' Psi_n^-1 (x-m)``, it is
        ``f^(d/2) (1 + f s)^(-(nu+n+1)/2)`` but for what does not depend on q.
        """
        d, (kappa, _, mean, scale) = self.d, self.normal.predictive(stat.moments)
        half = (self.normal.nu + stat.n + 1) / 2
        away = self.normal.own(x) - mean
        squared = float(away @ np.linalg.solve(scale, away))
        f = kappa * q / (kappa + q)
        constant = lgamma(half) - lgamma(half - d / 2) - d / 2 * log(pi)
        constant -= float(np.linalg.slogdet(scale)[1]) / 2
        return np.asarray(constant + d / 2 * np.log(f) - half * np.log1p(f * squared))

    def log_known(self, stat: Scaled, row: FloatArray) -> float:
        """Return the log of the sum over the lattice, nearly that of the integral over q."""
        return float(logsumexp(self.lattice_scores(stat, row)[1]))

    def completed(self, stat: Scaled, row: FloatArray, stream: Stream) -> FloatArray:
        """Draw a scale from the lattice; where it has one point alone, that is kept."""
        scales, scores = self.lattice_scores(stat, row)
        return np.append(self._split(row)[0], scales[stream.pick(scores)])

    def redrawn(
        self, X: FloatArray, labels: IntArray, stats: Sequence[Scaled], stream: Stream
    ) -> FloatArray:
        """Draw all scales, and before them their degrees of freedom, given atoms for the clusters.

        ``a`` moves with the scales integrated out, by the t densities of the rows; then
        ``q_i ~ Gamma((a+d)/2, (a + D_i)/2)``, ``D_i = |M (x_i - mean)|^2``.
        """
        atoms = [self.normal.draw_normal(stat.n, stat.moments, stream) for stat in stats]
        squared = np.empty(len(X))
        for i, row in enumerate(X):
            M, mean = atoms[labels[i]]
            squared[i] = np.sum((M @ (self.normal.own(self._split(row)[0]) - mean)) ** 2)
        if self.law is not None:
            self._slice_freedom(squared, stream)
        drawn = X.copy()
        for i, distance in enumerate(squared):
            draw = exp(stream.log_gamma_draw(self.scale_shape))
            drawn[i, -1] = 2 * draw / (self.a + distance)
        return drawn

    @property
    def scale_shape(self) -> float:
        """The shape of the Gamma distribution of a scale, given its row."""
        return (self.a + self.d) / 2

    def _slice_freedom(self, squared: FloatArray, stream: Stream) -> None:
        law, d, n = self.law, self.d, len(squared)
        assert law is not None

        def log_density(log_a: float) -> float:
            prior = law.log_density(log_a)
            if prior == -np.inf:
                return prior
            a = exp(log_a)
            value = n * (lgamma((a + d) / 2) - lgamma(a / 2) - d / 2 * log_a)
            return float(prior + value - (a + d) / 2 * np.log1p(squared / a).sum())

        log_a = stream.slice_line(log_density, log(self.a), 1.0)
        self.set_base(np.append(self.base[:-1], log_a))
