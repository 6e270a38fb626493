"""The exact law of a learned base measure given a partition, by quadrature.

Its parameters come in blocks that are independent given the partition: the parts of a product,
and the columns of a family that has one parameter in each. A block has at most three parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mixwood import hyper
from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.learned import C0
from mixwood.reference.base.columns import ColumnsBase
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
from mixwood.reference.families import Family, Product, dense, family_of
from mixwood.testing.axes import BoundedAxis, bounded_axis

__all__ = ["BaseLaw", "base_law"]


@dataclass(frozen=True)
class Parameter:
    """One number of a base measure that is sampled."""

    name: str
    place: int  # in the vector
    axis: BoundedAxis  # of its logarithm, ...
    in_logs: bool = True  # ... which is what the vector has, or not


@dataclass(frozen=True)
class Block:
    """Parameters that depend on each other, and the marginals of all subsets of rows there."""

    parameters: tuple[Parameter, ...]
    log_marginals: FloatArray  # (2^n, points of the first, of the second, ...)

    def log_density(self, clusters: Sequence[int]) -> FloatArray:
        """Return the log density of the parameters at the grid's points, given the clusters."""
        return np.asarray(self.log_marginals[list(clusters)].sum(axis=0) + self._log_prior())

    def _log_prior(self) -> FloatArray:
        """Return the density of the hyperprior, normalized on the grid."""
        total = np.zeros(())
        for parameter in self.parameters:
            axis = parameter.axis
            own = axis.log_density - logsumexp(axis.log_density, b=axis.weights)
            total = total[..., None] + own
        return total

    def log_likelihood(self, clusters: Sequence[int]) -> float:
        """Return the log probability of the rows, given the clusters."""
        table = self.log_density(clusters)
        for parameter in reversed(self.parameters):
            table = logsumexp(table, axis=-1, b=parameter.axis.weights)
        return float(table)

    def draw(self, clusters: Sequence[int], size: int, rng: np.random.Generator) -> FloatArray:
        """Draw the parameters' logs (size, parameters), each given those before it."""
        log_table = self.log_density(clusters)
        return self._draw(np.exp(log_table - log_table.max()), self.parameters, size, rng)

    def _draw(
        self,
        table: FloatArray,
        parameters: Sequence[Parameter],
        size: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        axis = parameters[0].axis
        first = axis.draw(_marginal(table, parameters, 0), size, rng)
        if len(parameters) == 1:
            return first[:, None]
        drawn, near = np.empty((size, len(parameters))), axis.interpolate(first, rng)
        drawn[:, 0] = first
        for point in np.unique(near):
            chosen = np.flatnonzero(near == point)
            drawn[chosen, 1:] = self._draw(table[point], parameters[1:], len(chosen), rng)
        return drawn

    def transforms(self, clusters: Sequence[int], logs: FloatArray) -> dict[str, FloatArray]:
        """Return the transform of each parameter by its CDF, marginal over the others."""
        log_table = self.log_density(clusters)
        table = np.exp(log_table - log_table.max())
        return {
            parameter.name: parameter.axis.cdf(_marginal(table, self.parameters, k), logs[:, k])
            for k, parameter in enumerate(self.parameters)
        }


def _marginal(table: FloatArray, parameters: Sequence[Parameter], kept: int) -> FloatArray:
    """Return the density of one parameter, the others integrated out."""
    for k in reversed(range(len(parameters))):
        if k != kept:
            weights = parameters[k].axis.weights
            table = np.tensordot(table, weights, axes=([k], [0]))
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
        self.start = family.base
        self.blocks = _blocks(family, _subset_statistics(family, dense(X)), 0, "")

    def log_likelihood(self, labels: NDArray[Any]) -> float:
        """Return ``log P(X | Pi)``, the base measure integrated out."""
        clusters = _masks(labels)
        return sum(block.log_likelihood(clusters) for block in self.blocks)

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


def _blocks(family: Family[Any], stats: list[Any], place: int, prefix: str) -> list[Block]:
    if isinstance(family, Product):
        found: list[Block] = []
        for p, part in enumerate(family.parts):
            own = [stat[p] for stat in stats]
            found += _blocks(part, own, place, f"{prefix}part {p} ")
            place += len(part.base)
        return found
    learned = family.learned
    if learned is None:
        return []
    constants = np.array([getattr(stat, "log_constant", 0.0) for stat in stats])
    match learned:
        case GaussianBase() | DiagonalGaussianBase() if learned.d == 1:
            return [_one_column(learned, family, stats, place, prefix)]
        case SphericalGaussianBase():
            return [_spherical(learned, family, stats, place, prefix)]
        case MultinomialBase():
            axis = _axis_of(learned.law)
            table = np.array([log_dirichlet_marginals(s.total, np.exp(axis.points)) for s in stats])
            parameter = Parameter(f"{prefix}beta", place, axis)
            return [Block((parameter,), table + constants[:, None])]
        case ColumnsBase():
            return _columns(learned, stats, constants, place, prefix)
    raise TypeError(
        f"mixwood.testing cannot integrate the base measure of {type(family).__name__}: "
        "it has too many parameters; use one column"
    )


def _axis_of(law: Law) -> BoundedAxis:
    """Return the axis of a positive number's logarithm."""
    low, high = np.log(law.bounds)
    match law.distribution:
        case hyper.LogNormal(median, sd):
            low, high = max(low, np.log(median) - 8 * sd), min(high, np.log(median) + 8 * sd)
            step = min(sd, 2.0) / 20
        case hyper.Gamma(shape, rate):
            centre = np.log(shape / rate)
            low = max(low, centre - 3 - 32 / shape)
            high = min(high, centre + np.log1p(40 / shape))
            step = min(1.0, shape**-0.5) / 20
    return bounded_axis(np.vectorize(law.log_density), float(low), float(high), step)


def _width_axis(log_floor: float) -> BoundedAxis:
    """Return the axis of ``ln omega``."""
    return bounded_axis(log_width_density, max(log_floor, -14.0), np.log(30 * C0), 0.05)


def _one_column(
    learned: GaussianBase | DiagonalGaussianBase,
    family: Family[Any],
    stats: list[Any],
    place: int,
    prefix: str,
) -> Block:
    if isinstance(learned, GaussianBase):
        log_floor, in_logs = float(np.log(learned.floor[0, 0])), False
    else:
        log_floor, in_logs = float(learned.log_floor[0]), True
    mean, units = float(learned.mean[0]), float(learned.units[0])

    def log_marginal(stat: Any, log_omega: Any, log_nu: Any, r: Any) -> FloatArray:
        moments = (float(np.ravel(part)[0]) for part in stat)
        n, centre, scatter = moments
        c = Columns(n, (centre - mean) / units, scatter / units**2)  # type: ignore[arg-type]
        return np.asarray(log_column_marginals(c, log_omega, log_nu, r) - n * np.log(units))

    width = Parameter(f"{prefix}width", place, _width_axis(log_floor), in_logs)
    return _width_block(width, learned, family.base, stats, log_marginal)


def _spherical(
    learned: SphericalGaussianBase, family: Family[Any], stats: list[Any], place: int, prefix: str
) -> Block:
    entries = np.log(learned.variance) * learned.d / 2

    def log_marginal(stat: Any, log_omega: Any, log_nu: Any, r: Any) -> FloatArray:
        c = learned.balls([stat])
        values = log_ball_marginals(c, learned.d, log_omega, log_nu, r)
        return np.asarray(values - c.n * entries)

    width = Parameter(f"{prefix}width", place, _width_axis(learned.log_floor))
    return _width_block(width, learned, family.base, stats, log_marginal)


def _width_block(
    width: Parameter,
    learned: GaussianBase | DiagonalGaussianBase | SphericalGaussianBase,
    base: FloatArray,
    stats: list[Any],
    log_marginal: Callable[..., FloatArray],
) -> Block:
    """Return the block of ``omega``, ``nu'`` and ``r``, as far as these are sampled."""
    prefix, parameters = width.name.removesuffix("width"), [width]
    if learned.nu_law is not None:
        parameters.append(Parameter(f"{prefix}nu", width.place + 1, _axis_of(learned.nu_law)))
    if learned.r_law is not None:
        parameters.append(Parameter(f"{prefix}r", width.place + 2, _axis_of(learned.r_law)))
    grids = dict(
        zip(
            (p.place - width.place for p in parameters),
            np.meshgrid(*(p.axis.points for p in parameters), indexing="ij"),
            strict=True,
        )
    )
    log_nu, log_r = (grids.get(k, np.full(grids[0].shape, base[k])) for k in (1, 2))
    r = np.exp(grids[0]) / learned.tau if learned.tied else np.exp(log_r)
    tables = np.array([log_marginal(stat, grids[0], log_nu, r) for stat in stats])
    below = np.exp(grids[0] + log_nu) < np.ravel(learned.tie_floor)[0]
    tables[1:, below] = -np.inf  # of no rows, the first, it is 0 everywhere
    return Block(tuple(parameters), tables)


def _columns(
    learned: ColumnsBase, stats: list[Any], constants: FloatArray, place: int, prefix: str
) -> list[Block]:
    """Return a block for each column; the rows' constants go to the first."""
    axis, found = _axis_of(learned.law), []
    values = np.exp(axis.points)
    for j in range(learned.columns):
        table = np.array([learned.log_column(s.n[j], s.total[j], j, values) for s in stats])
        if j == 0:
            table += constants[:, None]
        found.append(Block((Parameter(f"{prefix}column {j}", place + j, axis),), table))
    return found
