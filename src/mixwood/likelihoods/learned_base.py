"""The learned base measures of Gaussian clusters as vectors of numbers, as the core has them.

Each ends with the logs of ``nu'`` and of `r`; before them stands what clusters are expected to be
like, in units of the data's standard deviations: logs of variances, or a triangle of a covariance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import C0, LearnedScale, centre_spread, is_learned
from mixwood.likelihoods.learned_scale import (
    Start,
    above_ties,
    draw_expected_covariance,
    draw_expected_variances,
    effective_rows,
    learns,
    log_tail,
    start_grid,
)

__all__ = ["LearnsCovariance", "LearnsVariances"]

#: How often a draw is tried anew until ``Psi`` is above its floor.
TRIES = 1000


class _LearnsScale(ABC):
    """What both have in common: starts and draws, above the floors."""

    r: Any
    nu: Any
    scale: Any

    def start_scale(self) -> FloatArray:
        """Return where a chain starts: a fifth of the data's variances."""
        return self._above_ties(self._packed(None)) if learns(self.scale) else np.empty(0)

    def start_base(self) -> FloatArray:
        """Return where a chain starts; nothing but the scale is learned."""
        return self.start_scale()

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior.

        Where hardly any draw is above the floor of ``Psi``, one is moved there.
        """
        if not learns(self.scale):
            return np.empty(0)
        for _ in range(TRIES):
            base = self._packed(rng)
            if self._lacking(base) <= 1:
                return base
        return self._above_ties(base)

    def _starts(self, start: FloatArray) -> list[Start]:
        tail = float(start[-2]), float(start[-1])
        return start_grid(self.r, self.nu, self.own_columns, tail, self.columns_sharing)

    def over_part(self, share: float) -> Self:
        """Return the same with a tie of r that is looser, as there are fewer rows against it."""
        if not isinstance(self.scale, LearnedScale):
            return self
        looser = replace(self.scale, spread_sd=self.scale.spread_sd / share**0.5)
        return replace(self, scale=looser)  # type: ignore[type-var]

    def base_excess(self, base: FloatArray) -> FloatArray | None:
        """Return ``nu'`` where it is sampled."""
        return np.exp(base[..., -2]) if is_learned(self.nu) else None

    def _above_ties(self, base: FloatArray) -> FloatArray:
        """Return a base measure, moved if need be so that ``Psi`` is above its floor."""
        return above_ties(base, self._lacking(base), self.nu, self._grown, self.columns_sharing)

    @property
    def columns_sharing(self) -> int:
        """How many columns have one variance."""
        return 1

    @property
    @abstractmethod
    def own_columns(self) -> int:
        """How many columns take part."""

    @abstractmethod
    def _packed(self, rng: np.random.Generator | None) -> FloatArray:
        """Return a draw from the hyperprior without the floor of ``Psi``, or where chains start."""

    @abstractmethod
    def _lacking(self, base: FloatArray) -> float:
        """Return the factor by which ``Psi`` is below its floor; at most 1 if it is not."""

    @abstractmethod
    def _grown(self, base: FloatArray, by: float) -> FloatArray:
        """Return the base measure of clusters that are wider by a factor."""


class LearnsVariances(_LearnsScale):
    """One variance for each column, or for all: ``ln omega`` of each, ``ln nu'``, ``ln r``."""

    def _floors(self) -> FloatArray:
        return np.atleast_1d(self.scale.floor / self.scale.covariance)

    @property
    def base_size(self) -> int:
        """The logs of the expected variances, of ``nu - 2`` and of `r`."""
        if not learns(self.scale):
            return 0
        return np.size(self.scale.covariance) + 2

    def start_bases(self) -> FloatArray:
        """Return starts of several widths, at a small and a large `nu`, all above the floor."""
        start = self.start_scale()
        if not len(start):
            return start[None]
        least = np.log(self._floors()) + 0.01
        found = []
        for share, tail in self._starts(start):
            base = np.array([*np.maximum(start[:-2] + np.log(share), least), *tail])
            found.append(self._above_ties(base))
        return np.array(found)

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return that of the logs of Gamma variables."""
        entries = n * self.columns_sharing
        rows = effective_rows(entries, clusters, float(np.exp(base[-2])) + 2) + 3
        return -(len(base) - 2) / 2 * float(np.log(rows / 2))

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance that is within clusters, the mean over columns."""
        return np.exp(base[..., :-2]).mean(axis=-1) if learns(self.scale) else None

    def _packed(self, rng: np.random.Generator | None) -> FloatArray:
        floors = self._floors()
        shares = np.full(len(floors), C0) if rng is None else draw_expected_variances(floors, rng)
        tail = log_tail(self.r, self.nu, self.scale, 2, rng, self.columns_sharing)
        return np.array([*np.log(shares), *tail])

    def _lacking(self, base: FloatArray) -> float:
        floors = np.atleast_1d(self.scale.tie_floor / self.scale.covariance)
        return float(np.max(floors / np.exp(base[:-2] + base[-2])))

    def _grown(self, base: FloatArray, by: float) -> FloatArray:
        return np.concatenate([base[:-2] + np.log(by), base[-2:]])


class LearnsCovariance(_LearnsScale):
    """A covariance: its lower triangle column by column, ``ln nu'``, ``ln r``.

    In units of the columns' deviations, of those columns that take part.
    """

    mean: Any

    @abstractmethod
    def _in_units(self, matrix: FloatArray) -> FloatArray:
        """Return a covariance in units of the columns' deviations."""

    @property
    def own_columns(self) -> int:
        """How many columns take part."""
        return len(self.scale.covariance)

    @property
    def base_size(self) -> int:
        """A triangle of the expected covariance, the logs of ``nu - d - 1`` and of `r`."""
        if not learns(self.scale):
            return 0
        d = len(self.scale.covariance)
        return d * (d + 1) // 2 + 2

    def start_bases(self) -> FloatArray:
        """Return starts of several widths, at a small and a large `nu`, all above the floor."""
        start = self.start_scale()
        if not len(start):
            return start[None]
        spread, floor = self._in_units(self.scale.covariance), self._in_units(self.scale.floor)
        found = []
        for share, tail in self._starts(start):
            if np.linalg.eigvalsh(share * C0 * spread - floor)[0] > 0:
                base = np.array([*(share * start[:-2]), *tail])
                found.append(self._above_ties(base))
        return np.array(found)

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return that of a Wishart distribution of as many degrees as there is information."""
        expected = self._expected(base)
        d = len(expected)
        rows = effective_rows(n, clusters, float(np.exp(base[-2])) + d + 1) + d + 2
        determinant = float(np.linalg.slogdet(expected)[1])
        return (d + 1) / 2 * determinant - d * (d + 1) / 4 * float(np.log(rows / 2))

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return ``tr(S^-1 Omega)/d``: the share of the variance that is within clusters."""
        return self._share(base) if learns(self.scale) else None

    def unpacked(self, base: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the expected covariance (..., d, d), in units, ``nu - d - 1`` and `r`."""
        expected = self._expected(base)
        r = np.exp(base[..., -1])
        if self.r is None:
            r = r * self._share(base) / centre_spread(self.own_columns)
        return expected, np.exp(base[..., -2]), r

    def _expected(self, base: FloatArray) -> FloatArray:
        d = len(self.scale.covariance)
        expected = np.zeros((*base.shape[:-1], d, d))
        column, row = np.triu_indices(d)
        expected[..., row, column] = expected[..., column, row] = base[..., :-2]
        return expected

    def _share(self, base: FloatArray) -> FloatArray:
        d = len(self.scale.covariance)
        column, row = np.triu_indices(d)
        weights = np.linalg.inv(self._in_units(self.scale.covariance))[row, column]
        weights[row != column] *= 2
        return np.asarray(base[..., :-2] @ weights / d)

    def _packed(self, rng: np.random.Generator | None) -> FloatArray:
        spread, floor = self._in_units(self.scale.covariance), self._in_units(self.scale.floor)
        expected = C0 * spread if rng is None else draw_expected_covariance(spread, floor, rng)
        column, row = np.triu_indices(len(spread))  # the lower triangle, column by column
        offset = len(self.mean) + 1  # nu is that of all columns
        tail = log_tail(self.r, self.nu, self.scale, offset, rng)
        return np.array([*expected[row, column], *tail])

    def _lacking(self, base: FloatArray) -> float:
        floor = self._in_units(self.scale.tie_floor)
        if not floor.any():
            return 0.0
        expected, excess, _ = self.unpacked(base)
        factor = np.linalg.cholesky(excess * expected)
        inner = np.linalg.solve(factor, np.linalg.solve(factor, floor).T)
        return float(np.linalg.eigvalsh((inner + inner.T) / 2)[-1])

    def _grown(self, base: FloatArray, by: float) -> FloatArray:
        return np.concatenate([base[:-2] * by, base[-2:]])
