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
from mixwood.likelihoods.learned import C0, TAU
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
from mixwood.reference.base.spherical_gaussian import SphericalGaussianBase, log_ball_marginals
from mixwood.reference.families import Family, dense, family_of
from mixwood.testing.axes import BoundedAxis, bounded_axis

__all__ = ["BaseLaw", "TooManyParametersError", "base_law"]


@dataclass(frozen=True)
class Parameter:
    """One number of a base measure that is sampled."""

    name: str
    place: int  # in the vector
    axis: BoundedAxis  # of its logarithm, ...
    in_logs: bool = True  # ... which is what the vector has, or not


@dataclass(frozen=True)
class Block:
    """Parameters that depend on each other given the partition.

    Some are common to all columns. Given these and the partition, each column's own parameter is
    independent of the other columns'.
    """

    common: tuple[Parameter, ...]
    own: tuple[Parameter, ...]
    #: for each of `own`, log marginals (2^n, points of the common ones, points of its own)
    log_marginals: tuple[FloatArray, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All of them."""
        return self.common + self.own

    def _log_columns(self, clusters: Sequence[int]) -> list[FloatArray]:
        """Return the log of each column's density and its prior, at all points."""
        tables = zip(self.log_marginals, self.own, strict=True)
        return [
            np.asarray(table[list(clusters)].sum(axis=0) + parameter.axis.log_prior)
            for table, parameter in tables
        ]

    def _log_common(self, columns: Sequence[FloatArray]) -> FloatArray:
        """Return the log density of rows and common parameters, at the points of these."""
        total = np.zeros(())
        for parameter in self.common:
            total = total[..., None] + parameter.axis.log_prior
        for table, parameter in zip(columns, self.own, strict=True):
            total = total + logsumexp(table, axis=-1, b=parameter.axis.weights)
        return np.asarray(total)

    def log_likelihood(self, clusters: Sequence[int]) -> float:
        """Return the log probability of the rows, given the clusters."""
        table = self._log_common(self._log_columns(clusters))
        for parameter in reversed(self.common):
            table = logsumexp(table, axis=-1, b=parameter.axis.weights)
        return float(table)

    def draw(self, clusters: Sequence[int], size: int, rng: np.random.Generator) -> FloatArray:
        """Draw the parameters' logs (size, parameters), each given those before it."""
        columns = self._log_columns(clusters)
        common = _scaled(self._log_common(columns))
        drawn, near = _draw_common(common, self.common, size, rng)
        own = np.empty((size, len(self.own)))
        for point in np.unique(near, axis=0):
            chosen = np.flatnonzero((near == point).all(axis=1))
            for k, (table, parameter) in enumerate(zip(columns, self.own, strict=True)):
                density = _scaled(table[tuple(point)])
                own[chosen, k] = parameter.axis.draw(density, len(chosen), rng)
        return np.concatenate([drawn, own], axis=1)

    def transforms(self, clusters: Sequence[int], logs: FloatArray) -> dict[str, FloatArray]:
        """Return the transform of each parameter by its CDF, marginal over the others."""
        columns = self._log_columns(clusters)
        log_common = self._log_common(columns)
        densities = [_marginal(_scaled(log_common), self.common, p) for p in self.common]
        for table, parameter in zip(columns, self.own, strict=True):
            log_column = logsumexp(table, axis=-1, b=parameter.axis.weights, keepdims=True)
            both = _scaled(log_common[..., None] + table - log_column)
            densities.append(_marginal(both, (*self.common, parameter), parameter))
        own = zip(self.parameters, densities, logs.T, strict=True)
        return {p.name: p.axis.cdf(density, values) for p, density, values in own}


def _scaled(log_density: FloatArray) -> FloatArray:
    """Return a density, but for a factor."""
    return np.asarray(np.exp(log_density - log_density.max()))


def _draw_common(
    table: FloatArray, parameters: Sequence[Parameter], size: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw parameters one after the other; return their logs, and points near by."""
    drawn = np.empty((size, len(parameters)))
    near = np.zeros((size, len(parameters)), dtype=np.int64)
    if parameters:
        axis = parameters[0].axis
        drawn[:, 0] = axis.draw(_marginal(table, parameters, parameters[0]), size, rng)
        near[:, 0] = axis.interpolate(drawn[:, 0], rng)
        for point in np.unique(near[:, 0]):
            chosen = np.flatnonzero(near[:, 0] == point)
            rest = _draw_common(table[point], parameters[1:], len(chosen), rng)
            drawn[chosen, 1:], near[chosen, 1:] = rest
    return drawn, near


def _marginal(table: FloatArray, parameters: Sequence[Parameter], kept: Parameter) -> FloatArray:
    """Return the density of one parameter, the others integrated out."""
    for k in reversed(range(len(parameters))):
        if parameters[k] is not kept:
            table = np.tensordot(table, parameters[k].axis.weights, axes=([k], [0]))
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
                values = logs[:, k] if parameter.in_logs else np.exp(logs[:, k])
                base[:, parameter.place] = values
        return base

    def transforms(self, labels: NDArray[Any], base: FloatArray) -> dict[str, FloatArray]:
        """Return the probability integral transform of each parameter given a partition."""
        clusters = _masks(labels)
        result: dict[str, FloatArray] = {}
        for block in self.blocks:
            columns = [
                base[:, p.place] if p.in_logs else np.log(base[:, p.place])
                for p in block.parameters
            ]
            result |= block.transforms(clusters, np.stack(columns, axis=1))
        return result


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
            log_floor = float(np.log(learned.floor[0, 0]))
            width = Parameter(f"{prefix}width", place, _width_axis(log_floor), in_logs=False)
            columns = _standardized(stats, learned.mean, learned.units)
            table = partial(_column_table, columns)
            return [_width_block((width,), learned, family.base, place, prefix, table)]
        case DiagonalGaussianBase():
            widths = tuple(
                Parameter(f"{prefix}width {j}", place + j, _width_axis(float(learned.log_floor[j])))
                for j in range(learned.d)
            )
            table = partial(_column_table, learned.columns(stats))
            return [_width_block(widths, learned, family.base, place, prefix, table)]
        case SphericalGaussianBase():
            width = Parameter(f"{prefix}width", place, _width_axis(learned.log_floor))
            table = partial(_ball_table, learned, stats)
            return [_width_block((width,), learned, family.base, place, prefix, table)]
        case MultinomialBase():
            axis = _axis_of(learned.law)
            totals = [log_dirichlet_marginals(s.total, np.exp(axis.points)) for s in stats]
            return [Block((), (Parameter(f"{prefix}beta", place, axis),), (np.array(totals),))]
        case ColumnsBase():
            return [_column(learned, j, stats, place, prefix) for j in range(learned.columns)]
        case CustomBase() if len(learned.laws) == 1:
            axis = _axis_of(learned.laws[0])
            values = [learned.log_marginals(stats, np.array([x])) for x in axis.points]
            return [Block((), (Parameter(f"{prefix}base", place, axis),), (np.array(values).T,))]
    raise TooManyParametersError(
        f"the learned base measure of {type(family).__name__} has more parameters than can be "
        "integrated here (use one column, or fix it)"
    )


def _axis_of(law: Law) -> BoundedAxis:
    """Return the axis of a positive number's logarithm."""
    low, high = np.log(law.bounds)
    match law.distribution:
        case hyper.LogNormal(median, sd):
            low, high = max(low, np.log(median) - 8 * sd), min(high, np.log(median) + 8 * sd)
            step = min(sd, 2.0) / 20
        case hyper.Beta(a, b):
            low, high, step = -32 / a, 32 / b, 0.05
        case hyper.Gamma(shape, rate):
            centre = np.log(shape / rate)
            low = max(low, centre - 3 - 32 / shape)
            high = min(high, centre + np.log1p(40 / shape))
            step = min(1.0, shape**-0.5) / 20
    return bounded_axis(np.vectorize(law.log_density), float(low), float(high), step)


def _width_axis(log_floor: float) -> BoundedAxis:
    """Return the axis of ``ln omega``."""
    return bounded_axis(log_width_density, max(log_floor, -14.0), np.log(30 * C0), 0.05)


def _width_block(
    widths: tuple[Parameter, ...],
    learned: GaussianBase | DiagonalGaussianBase | SphericalGaussianBase,
    base: FloatArray,
    place: int,
    prefix: str,
    table: Callable[[int, Any, Any, Any], FloatArray],
) -> Block:
    """Return the block of ``omega``, ``nu'`` and ``r``, as far as these are sampled.

    `table` takes the number of a column, ``ln omega``, ``ln nu'`` and ``r``.
    """
    laws = {"nu": learned.nu_law, "r": learned.r_law}
    places = {"nu": place + len(base) - 2, "r": place + len(base) - 1}
    common = {
        name: Parameter(f"{prefix}{name}", places[name], _axis_of(law))
        for name, law in laws.items()
        if law is not None
    }
    tables = []
    for j, width in enumerate(widths):
        axes = [parameter.axis.points for parameter in (*common.values(), width)]
        *others, log_omega = np.meshgrid(*axes, indexing="ij")
        grids = dict(zip(common, others, strict=True))
        log_nu, log_r = grids.get("nu", base[-2]), grids.get("r", base[-1])
        r = np.exp(log_omega) / TAU if learned.tied else np.exp(log_r)
        tables.append(table(j, log_omega, log_nu, r))
    return Block(tuple(common.values()), widths, tuple(tables))


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
    subsets = (learned.balls([stat]) for stat in stats)
    return np.array([log_ball_marginals(own, learned.d, *parameters) for own in subsets])


def _column(learned: ColumnsBase, j: int, stats: Sequence[Any], place: int, prefix: str) -> Block:
    axis = _axis_of(learned.law)
    values = np.exp(axis.points)
    table = np.array([learned.log_column(s.n[j], s.total[j], j, values) for s in stats])
    return Block((), (Parameter(f"{prefix}column {j}", place + j, axis),), (table,))
