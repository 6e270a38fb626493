"""Grids over one parameter: where densities are integrated, drawn from and turned into CDFs.

Each axis has a coordinate with equally spaced points, on which every density met here is
smooth and dies out at both ends. There the trapezoid rule converges exponentially fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import betaln, expit, log_expit, logit

from mixwood import hyper
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.expected import gamma_points

__all__ = [
    "Axis",
    "BoundedAxis",
    "bounded_axis",
    "fixed_axis",
    "gamma_axis",
    "log_normal_axis",
    "log_u_axis",
    "sigma_axis",
]

#: how far down, in logs, a density is followed
_DEPTH = 32.0


@dataclass(frozen=True)
class Axis:
    """Points of one parameter.

    Attributes
    ----------
    coordinate : array
        Equally spaced; one point if the parameter is fixed.
    value : array
        The parameter at those points.
    log_weight : array
        Log of the mass that a point carries: the prior's density, where the axis has one,
        times the spacing.
    """

    coordinate: FloatArray
    value: FloatArray
    log_weight: FloatArray
    to_value: Callable[[FloatArray], FloatArray]
    to_coordinate: Callable[[FloatArray], FloatArray]

    @property
    def fixed(self) -> bool:
        """Whether the parameter is a known number."""
        return len(self.coordinate) == 1

    def draw(self, masses: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw values from the density whose masses at the points are given."""
        if self.fixed:
            return np.full(size, self.value[0])
        padded = np.concatenate([[0.0], masses, [0.0]])
        # the mass of each cell, by the rule that is exact for cubics
        cells = 13 * (masses[:-1] + masses[1:]) - padded[:-3] - padded[3:]
        cumulative = np.concatenate([[0.0], np.cumsum(np.maximum(cells, 0.0))])
        target = rng.random(size) * cumulative[-1]
        cell = np.clip(np.searchsorted(cumulative, target, side="right") - 1, 0, len(cells) - 1)
        part = (target - cumulative[cell]) / (cumulative[cell + 1] - cumulative[cell])
        # inside a cell the density is taken as linear: solve a quadratic for the position
        left, right = masses[cell], masses[cell + 1]
        root = np.sqrt(left**2 + part * (right**2 - left**2))
        position = part * (left + right) / (left + root)
        step = self.coordinate[1] - self.coordinate[0]
        return np.asarray(self.to_value(self.coordinate[cell] + step * position))

    def cdf(self, masses: FloatArray, values: FloatArray) -> FloatArray:
        """Return the probability below `values` under the density with these masses."""
        integral = CubicSpline(self.coordinate, masses / masses.sum()).antiderivative()
        ends = integral(self.coordinate[0]), integral(self.coordinate[-1])
        where = np.clip(self.to_coordinate(values), self.coordinate[0], self.coordinate[-1])
        return np.asarray((integral(where) - ends[0]) / (ends[1] - ends[0]))

    def interpolate(self, values: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return for each value one of its two neighbouring points, the nearer more often.

        Averaged over that choice, a function of the point is interpolated linearly.
        """
        if self.fixed:
            return np.zeros(len(values), dtype=np.int64)
        step = self.coordinate[1] - self.coordinate[0]
        position = (self.to_coordinate(values) - self.coordinate[0]) / step
        index = np.floor(position + rng.random(len(values))).astype(np.int64)
        return np.asarray(np.clip(index, 0, len(self.coordinate) - 1))


def fixed_axis(value: float) -> Axis:
    """Return the axis of a known number."""
    one = np.zeros(1)
    return Axis(one, np.array([value]), one, lambda x: x, lambda x: x)


def sigma_axis(law: hyper.Beta, step: float = 0.05) -> Axis:
    """Return the axis of ``sigma ~ Beta(a, b)``, on its logit."""
    y = np.arange(-_DEPTH / law.a, _DEPTH / law.b + step, step)
    log_density = law.a * log_expit(y) + law.b * log_expit(-y) - betaln(law.a, law.b)

    def to_value(y: FloatArray) -> FloatArray:
        # stays inside (0, 1) when a tail is so long that it would round to an end
        return np.asarray(np.clip(expit(y), 1e-300, 1 - 1e-16))

    return Axis(y, to_value(y), log_density + np.log(step), to_value, logit)


def gamma_axis(law: hyper.Gamma, step: float = 0.05) -> Axis:
    """Return the axis of ``theta ~ Gamma(shape, rate)``, on its logarithm."""
    t, log_mass = gamma_points(law, min(step, 0.1 / np.sqrt(law.shape)))
    return Axis(t, np.exp(t), log_mass, np.exp, np.log)


def log_normal_axis(law: hyper.LogNormal, step: float = 0.05) -> Axis:
    """Return the axis of ``x ~ LogNormal(median, sd)``, on its logarithm."""
    z = np.arange(-np.sqrt(2 * _DEPTH), np.sqrt(2 * _DEPTH), min(step, step / law.sd))
    log_mass = -(z**2) / 2 - np.log(2 * np.pi) / 2 + np.log(z[1] - z[0])
    t = np.log(law.median) + law.sd * z
    return Axis(t, np.exp(t), log_mass, np.exp, np.log)


def log_u_axis(end: float, step: float = 0.02) -> Axis:
    """Return the axis of ``v = log u`` up to `end`, on ``x`` with ``v = 2 sinh(x)``.

    Densities of v bend within a few units of 0 and have tails as long as ``1/sigma``.
    """
    x = np.arange(-np.arcsinh(_DEPTH / 2), np.arcsinh(end / 2) + step, step)
    log_weight = np.log(2 * np.cosh(x)) + np.log(step)
    return Axis(
        x, 2 * np.sinh(x), log_weight, lambda x: 2 * np.sinh(x), lambda v: np.arcsinh(v / 2)
    )


@dataclass(frozen=True)
class BoundedAxis:
    """Points of one coordinate whose densities may end abruptly: there Simpson's rule is used.

    Attributes
    ----------
    points : array
        Equally spaced, an odd number of them.
    log_density : array
        That of the coordinate under its prior, but for a constant.
    """

    points: FloatArray
    log_density: FloatArray

    @property
    def weights(self) -> FloatArray:
        """What the points count for in an integral."""
        weights = np.where(np.arange(len(self.points)) % 2, 4.0, 2.0)
        weights[[0, -1]] = 1.0
        return np.asarray(weights * (self.points[1] - self.points[0]) / 3)

    def cdf(self, density: FloatArray, values: FloatArray) -> FloatArray:
        """Return the probability below `values` under a density that is known at the points."""
        integral = CubicSpline(self.points, density).antiderivative()
        where = np.clip(values, self.points[0], self.points[-1])
        return np.asarray(integral(where) / integral(self.points[-1]))

    def draw(self, density: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw from a density that is known at the points."""
        fine = np.linspace(self.points[0], self.points[-1], 4 * len(self.points))
        return np.interp(rng.random(size), np.maximum.accumulate(self.cdf(density, fine)), fine)

    def interpolate(self, values: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return for each value one of its two neighbouring points, the nearer more often."""
        position = (values - self.points[0]) / (self.points[1] - self.points[0])
        index = np.floor(position + rng.random(len(values))).astype(np.int64)
        return np.asarray(np.clip(index, 0, len(self.points) - 1))


def bounded_axis(
    log_density: Callable[[FloatArray], FloatArray], low: float, high: float, step: float
) -> BoundedAxis:
    """Return an axis from `low` to `high` with steps of at most `step`."""
    points = np.linspace(low, high, 2 * int(np.ceil((high - low) / (2 * step))) + 1)
    return BoundedAxis(points, log_density(points))
