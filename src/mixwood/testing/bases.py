"""The exact law of a learned base measure given a partition, by quadrature.

Its parameters come in blocks that are independent given the partition: the parts of a product,
and the columns of a family that has one parameter in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mixwood import hyper
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.learned import C0
from mixwood.reference.base.columns import ColumnsBase
from mixwood.reference.base.custom import CustomBase
from mixwood.reference.base.diagonal_gaussian import (
    Columns,
    DiagonalGaussianBase,
    log_column_marginals,
    log_width_density,
)
from mixwood.reference.base.gaussian import GaussianBase
from mixwood.reference.base.laws import Law
from mixwood.reference.base.multinomial import MultinomialBase, log_dirichlet_marginals
from mixwood.reference.base.negative_binomial import NegativeBinomialBase
from mixwood.reference.base.regression import RegressionBase, log_relation_marginal
from mixwood.reference.base.spherical_gaussian import SphericalGaussianBase, log_ball_marginals
from mixwood.reference.families import Family, dense, family_of
from mixwood.testing.axes import BoundedAxis, bounded_axis

__all__ = ["BaseLaw", "TooManyParametersError", "base_law"]


@dataclass(frozen=True)
class Common:
    """A parameter that all columns share."""

    name: str
    place: int  # in the vector
    axis: BoundedAxis  # of its logarithm


@dataclass(frozen=True)
class Own:
    """A parameter of one column.

    Its logarithm is ``low + t (high - low)``: where ends depend on the common parameters, the
    grid over ``t``, from 0 to 1, does not.
    """

    name: str
    place: int  # in the vector
    axis: BoundedAxis  # of t
    span: Callable[[Any], tuple[Any, Any]]  # from ln nu' to both ends
    log_density: Callable[[FloatArray], FloatArray]  # of the logarithm, but for a constant
    in_logs: bool = True  # whether the vector has the logarithm

    def logs(self, t: Any, log_nu: Any) -> FloatArray:
        """Return logarithms."""
        low, high = self.span(log_nu)
        return np.asarray(low + t * (high - low))

    def positions(self, logs: Any, log_nu: Any) -> FloatArray:
        """Return the ``t`` of logarithms, within 0 and 1."""
        low, high = self.span(log_nu)
        return np.asarray(np.clip((logs - low) / (high - low), 0.0, 1.0))


@dataclass(frozen=True)
class Block:
    """Parameters that depend on each other given the partition.

    Given the common ones and the partition, those of different columns are independent.
    """

    common: tuple[Common, ...]
    own: tuple[Own, ...]
    #: for each of `own`, log marginals (2^n, points of the common ones, points of its own)
    log_marginals: tuple[FloatArray, ...]
    #: where ``ln nu'`` is; None if it is the first of the common ones
    log_nu: float | None = 0.0

    @property
    def parameters(self) -> list[Common | Own]:
        """All of them, the common ones first."""
        return [*self.common, *self.own]

    def _log_columns(self, clusters: Sequence[int]) -> list[FloatArray]:
        """Return the log of each column's density and its hyperprior, at all points."""
        log_nu: Any = self.log_nu
        if log_nu is None:
            log_nu = self.common[0].axis.points.reshape(-1, *(1 for _ in self.common))
        tables = []
        for table, own in zip(self.log_marginals, self.own, strict=True):
            low, high = own.span(log_nu)
            prior = own.log_density(own.logs(own.axis.points, log_nu)) + np.log(high - low)
            tables.append(np.asarray(table[list(clusters)].sum(axis=0) + prior))
        return tables

    def _log_common(self, columns: Sequence[FloatArray]) -> FloatArray:
        """Return the log density of rows and common parameters, at the points of these."""
        total = np.zeros(())
        for parameter in self.common:
            total = total[..., None] + parameter.axis.log_density
        for table, own in zip(columns, self.own, strict=True):
            total = total + logsumexp(table, axis=-1, b=own.axis.weights)
        return np.asarray(total)

    def _log_total(self, clusters: Sequence[int]) -> float:
        table = self._log_common(self._log_columns(clusters))
        for parameter in reversed(self.common):
            table = logsumexp(table, axis=-1, b=parameter.axis.weights)
        return float(table)

    def log_likelihood(self, clusters: Sequence[int]) -> float:
        """Return the log probability of the rows, given the clusters."""
        return self._log_total(clusters) - self._log_total(())

    def draw(self, clusters: Sequence[int], size: int, rng: np.random.Generator) -> FloatArray:
        """Draw the parameters' logs (size, parameters), each given those before it."""
        columns = self._log_columns(clusters)
        axes = [parameter.axis for parameter in self.common]
        common, near = _draw_on_grid(_scaled(self._log_common(columns)), axes, size, rng)
        t = np.empty((size, len(self.own)))
        for point in np.unique(near, axis=0):
            chosen = np.flatnonzero((near == point).all(axis=1))
            for k, (table, own) in enumerate(zip(columns, self.own, strict=True)):
                t[chosen, k] = own.axis.draw(_scaled(table[tuple(point)]), len(chosen), rng)
        log_nu = common[:, 0] if self.log_nu is None else self.log_nu
        logs = [own.logs(t[:, k], log_nu) for k, own in enumerate(self.own)]
        return np.column_stack([common, *logs])

    def transforms(self, clusters: Sequence[int], logs: FloatArray) -> dict[str, FloatArray]:
        """Return the transform of each parameter by its CDF, marginal over the others."""
        columns = self._log_columns(clusters)
        log_common = self._log_common(columns)
        axes = [parameter.axis for parameter in self.common]
        result = {
            parameter.name: parameter.axis.cdf(_marginal(_scaled(log_common), axes, k), logs[:, k])
            for k, parameter in enumerate(self.common)
        }
        for k, (table, own) in enumerate(zip(columns, self.own, strict=True)):
            log_column = logsumexp(table, axis=-1, b=own.axis.weights)
            both = _scaled((log_common - log_column)[..., None] + table)
            for axis in reversed(axes[1:] if self.log_nu is None else axes):
                both = np.tensordot(both, axis.weights, axes=([-2], [0]))
            result[own.name] = self._own_cdf(own, both, logs[:, len(axes) + k])
        return result

    def _own_cdf(self, own: Own, density: FloatArray, logs: FloatArray) -> FloatArray:
        """Return the CDF of one column's parameter; `density` is over ``t``, and ``ln nu'``."""
        if self.log_nu is not None:
            return own.axis.cdf(density, own.positions(logs, self.log_nu))
        axis = self.common[0].axis
        if np.ptp(own.span(axis.points)[0]) == 0:  # the same ends wherever nu' is
            return own.axis.cdf(axis.weights @ density, own.positions(logs, axis.points[0]))
        masses = (density @ own.axis.weights) * axis.weights
        kept = np.flatnonzero(masses > 1e-9 * masses.max())
        parts = [
            masses[k] * own.axis.cdf(density[k], own.positions(logs, axis.points[k])) for k in kept
        ]
        return np.asarray(np.sum(parts, axis=0) / masses[kept].sum())


def _scaled(log_density: FloatArray) -> FloatArray:
    """Return a density, but for a factor."""
    return np.asarray(np.exp(log_density - log_density.max()))


def _draw_on_grid(
    table: FloatArray, axes: Sequence[BoundedAxis], size: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw one coordinate after the other; return them, and points near by."""
    drawn, near = np.empty((size, len(axes))), np.zeros((size, len(axes)), dtype=np.int64)
    if axes:
        drawn[:, 0] = axes[0].draw(_marginal(table, axes, 0), size, rng)
        near[:, 0] = axes[0].interpolate(drawn[:, 0], rng)
        for point in np.unique(near[:, 0]):
            chosen = np.flatnonzero(near[:, 0] == point)
            rest = _draw_on_grid(table[point], axes[1:], len(chosen), rng)
            drawn[chosen, 1:], near[chosen, 1:] = rest
    return drawn, near


def _marginal(table: FloatArray, axes: Sequence[BoundedAxis], kept: int) -> FloatArray:
    """Return the density of one coordinate, the others integrated out."""
    for k in reversed(range(len(axes))):
        if k != kept:
            table = np.tensordot(table, axes[k].weights, axes=([k], [0]))
    return np.asarray(table)


class BaseLaw:
    """The base measure of a likelihood given which rows are together.

    Parameters
    ----------
    likelihood : Likelihood
        With every parameter explicit, some of its base measure learned.
    X : array
        Checked data, a few rows.
    """

    def __init__(self, likelihood: Likelihood, X: Data) -> None:
        family = family_of(likelihood)
        stats = _subset_statistics(family, dense(X))
        self.start, self.blocks = family.base, list[Block]()
        self.log_rest = np.zeros(len(stats))  # of every subset, what no parameter has a part in
        place, parts = 0, family.learned_parts(stats)
        for p, (part, own) in enumerate(parts):
            prefix = f"part {p} " if len(parts) > 1 else ""
            self.blocks += _blocks(part, own, place, prefix)
            self.log_rest += _log_rest(part, own)
            place += len(part.base)

    def log_likelihood(self, labels: NDArray[Any]) -> float:
        """Return ``log P(X | Pi)``, the base measure integrated out."""
        clusters = _masks(labels)
        total = sum(block.log_likelihood(clusters) for block in self.blocks)
        return total + float(self.log_rest[clusters].sum())

    def draw(self, labels: NDArray[Any], size: int, rng: np.random.Generator) -> FloatArray:
        """Draw base measures (size, base_size) given a partition."""
        clusters, base = _masks(labels), np.tile(self.start, (size, 1))
        for block in self.blocks:
            logs = block.draw(clusters, size, rng)
            for k, parameter in enumerate(block.parameters):
                base[:, parameter.place] = np.exp(logs[:, k]) if _plain(parameter) else logs[:, k]
        return base

    def transforms(self, labels: NDArray[Any], base: FloatArray) -> dict[str, FloatArray]:
        """Return the probability integral transform of each parameter given a partition."""
        clusters = _masks(labels)
        result: dict[str, FloatArray] = {}
        for block in self.blocks:
            columns = [
                np.log(base[:, parameter.place]) if _plain(parameter) else base[:, parameter.place]
                for parameter in block.parameters
            ]
            result |= block.transforms(clusters, np.stack(columns, axis=1))
        return result


def _plain(parameter: Common | Own) -> bool:
    """Return whether the vector has the number itself, not its logarithm."""
    return isinstance(parameter, Own) and not parameter.in_logs


def base_law(likelihood: Likelihood, X: Data) -> BaseLaw | None:
    """Return the law of a learned base measure, None where nothing is learned."""
    return BaseLaw(likelihood, X) if likelihood.base_size else None


def _masks(labels: NDArray[Any]) -> list[int]:
    """Return each cluster as a number whose bit i says if row i is in it."""
    bits = 2 ** np.arange(len(labels))
    return [int(bits[labels == c].sum()) for c in np.unique(labels)]


def _subset_statistics(family: Family[Any], rows: FloatArray) -> list[Any]:
    """Return the statistic of every subset of rows; bit i of the index says if i is in it."""
    stats = [family.empty()]
    for mask in range(1, 2 ** len(rows)):
        last = mask.bit_length() - 1
        stats.append(family.observe(stats[mask - 2**last], rows[last]))
    return stats


# --- the blocks of each family


class TooManyParametersError(TypeError):
    """Said of a base measure that has more parameters than a grid can hold."""


def _log_rest(family: Family[Any], stats: Sequence[Any]) -> FloatArray:
    """Return ``log P`` of every subset, but for what a learned base measure has a part in."""
    values = np.array([family.log_marginal(stat) for stat in stats])
    if family.learned is not None:
        own = [family.learned.log_marginals([stat], family.base).sum() for stat in stats]
        values -= own
    return values


def _blocks(family: Family[Any], stats: Sequence[Any], place: int, prefix: str) -> list[Block]:
    learned = family.learned
    match learned:
        case None:
            return []
        case GaussianBase() if learned.d == 1:
            floors = float(learned.floor[0, 0]), float(learned.tie_floor[0, 0])
            width = _width(f"{prefix}width", place, *floors, in_logs=False)
            columns = _standardized(stats, learned.mean, learned.units)
            table = partial(_column_table, columns)
            return [_width_block((width,), learned, family.base, place, prefix, table)]
        case DiagonalGaussianBase():
            floors_of = zip(np.exp(learned.log_floor), learned.tie_floor, strict=True)
            widths = tuple(
                _width(f"{prefix}width {j}", place + j, *floors)
                for j, floors in enumerate(floors_of)
            )
            table = partial(_column_table, learned.columns(stats))
            return [_width_block(widths, learned, family.base, place, prefix, table)]
        case SphericalGaussianBase():
            floors = float(np.exp(learned.log_floor)), float(learned.tie_floor)
            width = _width(f"{prefix}width", place, *floors)
            table = partial(_ball_table, learned, stats)
            return [_width_block((width,), learned, family.base, place, prefix, table)]
        case RegressionBase():
            floors = float(np.exp(learned.log_floor)), float(learned.tie_floor)
            width = _width(f"{prefix}width", place, *floors)
            table = partial(_relation_table, learned, stats)
            return [_width_block((width,), learned, family.base, place, prefix, table)]
        case MultinomialBase():

            def log_marginals(values: FloatArray) -> FloatArray:
                return np.array([log_dirichlet_marginals(s.total, np.exp(values)) for s in stats])

            return [_single(f"{prefix}beta", place, learned.law, log_marginals)]
        case ColumnsBase():
            return [_column(learned, j, stats, place, prefix) for j in range(learned.columns)]
        case NegativeBinomialBase():
            return [
                _size_and_shape(learned, j, stats, place, prefix) for j in range(len(learned.mean))
            ]
        case CustomBase() if len(learned.laws) == 1:

            def log_marginals(values: FloatArray) -> FloatArray:
                return np.array([learned.log_marginals(stats, x[None]) for x in values]).T

            return [_single(f"{prefix}base", place, learned.laws[0], log_marginals)]
    raise TooManyParametersError(
        f"the learned base measure of {type(family).__name__} has more parameters than can be "
        "integrated here (use one column, or fix it)"
    )


def _single(
    name: str, place: int, law: Law, log_marginals: Callable[[FloatArray], FloatArray]
) -> Block:
    """Return the block of a parameter that depends on no other."""
    own = _own(name, place, law)
    return Block((), (own,), (log_marginals(own.logs(own.axis.points, 0.0)),))


def _own(name: str, place: int, law: Law) -> Own:
    """Return a parameter that has this law wherever the others are."""
    points, step = _axis_of(law).points, np.vectorize(law.log_density)
    low, high = points[0], points[-1]
    axis = bounded_axis(np.zeros_like, 0.0, 1.0, 1 / (len(points) - 1))
    return Own(name, place, axis, lambda _: (low, high), step)


def _axis_of(law: Law) -> BoundedAxis:
    """Return the axis of a positive number's logarithm."""
    low, high = np.log(law.bounds)
    match law.distribution:
        case hyper.LogNormal(median, sd):
            # A narrow one leaves the density nearly normal: few points are enough.
            deviations, parts = (8, 10) if sd > 0.2 else (6, 2)
            low = max(low, np.log(median) - deviations * sd)
            high = min(high, np.log(median) + deviations * sd)
            step = min(sd, 2.0) / parts
        case hyper.Beta(a, b):
            low, high, step = -32 / a, 32 / b, 0.05
        case hyper.Gamma(shape, rate):
            centre = np.log(shape / rate)
            low = max(low, centre - 3 - 32 / shape)
            high = min(high, centre + np.log1p(40 / shape))
            step = min(1.0, shape**-0.5) / 20
    return bounded_axis(np.vectorize(law.log_density), float(low), float(high), step)


def _width(name: str, place: int, floor: float, tie_floor: float, in_logs: bool = True) -> Own:
    """Return ``omega``: not below its floor, nor ``nu' omega`` below that of ties."""

    def span(log_nu: Any) -> tuple[Any, Any]:
        low = np.maximum(max(floor, 1e-6), tie_floor * np.exp(-log_nu))
        return np.log(low), np.log(low + 30 * C0)

    axis = bounded_axis(np.zeros_like, 0.0, 1.0, 1 / 160)
    return Own(name, place, axis, span, log_width_density, in_logs)


def _width_block(
    widths: tuple[Own, ...],
    learned: GaussianBase | DiagonalGaussianBase | SphericalGaussianBase | RegressionBase,
    base: FloatArray,
    place: int,
    prefix: str,
    table: Callable[[int, Any, Any, Any], FloatArray],
) -> Block:
    """Return the block of ``omega``, ``nu'`` and ``r``, as far as these are sampled.

    `table` takes the number of a column, ``ln omega``, ``ln nu'`` and ``r``.
    """
    common = []
    if learned.nu_law is not None:
        common.append(Common(f"{prefix}nu", place + len(base) - 2, _axis_of(learned.nu_law)))
    if learned.r_law is not None:
        common.append(Common(f"{prefix}r", place + len(base) - 1, _axis_of(learned.r_law)))
    tables = []
    for j, width in enumerate(widths):
        axes = [parameter.axis.points for parameter in common]
        *others, t = np.meshgrid(*axes, width.axis.points, indexing="ij")
        log_nu = others[0] if learned.nu_law is not None else np.array(base[-2])
        log_r = others[-1] if learned.r_law is not None else np.array(base[-1])
        log_omega = width.logs(t, log_nu)
        r = np.exp(log_r + log_omega) / learned.tau if learned.tied else np.exp(log_r)
        tables.append(table(j, log_omega, log_nu, r))
    fixed = None if learned.nu_law is not None else float(base[-2])
    return Block(tuple(common), widths, tuple(tables), fixed)


def _standardized(stats: Sequence[Any], mean: FloatArray, units: FloatArray) -> Columns:
    """Return the statistics of one full-covariance column, as those of a diagonal one."""
    n = np.array([[float(s.n)] for s in stats])
    centre = np.array([(s.mean - mean) / units for s in stats])
    scatter = np.array([s.scatter[0] / units**2 for s in stats])
    return Columns(n, centre, scatter)


def _column_table(c: Columns, j: int, log_omega: Any, log_nu: Any, r: Any) -> FloatArray:
    subsets = (Columns(n[j], mean[j], scatter[j]) for n, mean, scatter in zip(*c, strict=True))
    return np.array([log_column_marginals(own, log_omega, log_nu, r) for own in subsets])


def _ball_table(
    learned: SphericalGaussianBase, stats: Sequence[Any], _: int, *parameters: Any
) -> FloatArray:
    subsets = (learned.prepared([stat]) for stat in stats)
    return np.array([log_ball_marginals(own, learned.d, *parameters) for own in subsets])


def _relation_table(
    learned: RegressionBase, stats: Sequence[Any], _: int, log_omega: Any, log_nu: Any, r: Any
) -> FloatArray:
    omega, excess = np.exp(log_omega), np.exp(log_nu)
    prior = r, omega / learned.slopes, excess + 2, excess * omega
    return np.array([log_relation_marginal(stat, *prior) for stat in stats])


def _column(learned: ColumnsBase, j: int, stats: Sequence[Any], place: int, prefix: str) -> Block:
    def log_marginals(values: FloatArray) -> FloatArray:
        table = [learned.log_column(s.n[j], s.total[j], j, np.exp(values)) for s in stats]
        return np.array(table)

    return _single(f"{prefix}column {j}", place + j, learned.law, log_marginals)


def _size_and_shape(
    learned: NegativeBinomialBase, j: int, stats: Sequence[Any], place: int, prefix: str
) -> Block:
    """Return the block of one column's size and shape, as far as these are sampled."""
    d, names = len(learned.mean), list(learned.laws)
    places = {name: place + k * d + j for k, name in enumerate(names)}

    def log_marginals(size: Any, shape: Any) -> FloatArray:
        return np.array([learned.log_column(s, j, size, shape) for s in stats])

    if len(names) == 1:
        fixed = dict(zip(("size", "shape"), learned.fixed, strict=True))

        def of_one(values: FloatArray) -> FloatArray:
            given = {**fixed, names[0]: np.exp(values)}
            return log_marginals(given["size"], given["shape"])

        return _single(f"{prefix}{names[0]} {j}", places[names[0]], learned.laws[names[0]], of_one)
    shape = Common(f"{prefix}shape {j}", places["shape"], _axis_of(learned.laws["shape"]))
    size = _own(f"{prefix}size {j}", places["size"], learned.laws["size"])
    log_size = size.logs(size.axis.points, 0.0)
    table = log_marginals(np.exp(log_size), np.exp(shape.axis.points)[:, None])
    return Block((shape,), (size,), (table,))
