"""Atoms: a cluster's parameters, drawn from their posterior given its statistic.

An atom is what is done with it, a function from a row to its log density. The statistic of no
rows gives a draw from the prior. Variables are drawn in the order of the compiled core.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.reference.families import (
    Bernoulli,
    Categorical,
    Counts,
    DiagonalGaussian,
    Family,
    Gaussian,
    Moments,
    Multinomial,
    Poisson,
    Product,
    SphericalGaussian,
)
from mixwood.reference.random import Stream

__all__ = ["draw_atom"]

Density: TypeAlias = Callable[[FloatArray], float]


def gaussian(family: Gaussian, stat: Moments, stream: Stream) -> Density:
    """``Lambda ~ Wishart(Psi_n^-1, nu+n)``, ``mean ~ N(m_n, ((r+n) Lambda)^-1)``.

    With ``Psi_n = L L'`` and ``T'T ~ Wishart(I, nu+n)``, ``Lambda = M'M`` for ``M = T L^-1``.
    """
    n, d, r = stat.n, len(family.mean), family.r
    away = stat.mean - family.mean
    scale = family.scale + stat.scatter + np.outer(away, away) * (r * n / (r + n))
    M = wishart_root(d, family.nu + n, stream) @ np.linalg.inv(np.linalg.cholesky(scale))
    z = np.array([stream.normal() for _ in range(d)])
    mean = family.mean + away * n / (r + n) + np.linalg.solve(M, z) / sqrt(r + n)
    base = np.log(np.diag(M)).sum() - d / 2 * log(2 * np.pi)
    return lambda row: float(base - np.sum((M @ (row - mean)) ** 2) / 2)


def wishart_root(d: int, nu: float, stream: Stream) -> FloatArray:
    """Draw a lower triangular ``T`` with ``T'T ~ Wishart(I, nu)``, by Bartlett, in reverse."""
    root = np.zeros((d, d))
    for j in range(d):
        root[j, j] = sqrt(2 * exp(stream.log_gamma_draw((nu - (d - 1 - j)) / 2)))
        for i in range(j + 1, d):
            root[i, j] = stream.normal()
    return root


def diagonal_gaussian(family: DiagonalGaussian, stat: Moments, stream: Stream) -> Density:
    """In each column a precision ``Gamma((nu+n)/2, psi_n/2)`` and the mean given it."""
    n, r, d = stat.n, family.r, len(family.mean)
    away = stat.mean - family.mean
    scale = family.scale + stat.scatter + r * n / (r + n) * away**2
    centre = family.mean + away * n / (r + n)
    precision, mean = np.empty(d), np.empty(d)
    for j in range(d):
        precision[j] = exp(stream.log_gamma_draw((family.nu + n[j]) / 2)) * 2 / scale[j]
        mean[j] = centre[j] + stream.normal() / sqrt((r + n[j]) * precision[j])
    return _normal(mean, precision)


def spherical_gaussian(family: SphericalGaussian, stat: Moments, stream: Stream) -> Density:
    """One precision ``Gamma((nu+nd)/2, psi_n/2)`` for all columns, and the mean given it."""
    n, r, d = stat.n, family.r, len(family.mean)
    away = stat.mean - family.mean
    scale = family.scale + stat.scatter + r * n / (r + n) * (away @ away)
    precision = exp(stream.log_gamma_draw((family.nu + n * d) / 2)) * 2 / scale
    z = np.array([stream.normal() for _ in range(d)])
    mean = family.mean + away * n / (r + n) + z / sqrt((r + n) * precision)
    return _normal(mean, np.full(d, precision))


def _normal(mean: FloatArray, precision: FloatArray) -> Density:
    base = np.log(precision / (2 * np.pi)) / 2
    return lambda row: float(np.nansum(base - precision * (row - mean) ** 2 / 2))


def log_dirichlet(pseudo_counts: FloatArray, stream: Stream) -> FloatArray:
    """Draw the logs of Dirichlet probabilities: Gamma variables over their sum."""
    logs = np.array([stream.log_gamma_draw(float(a)) for a in pseudo_counts])
    return np.asarray(logs - np.logaddexp.reduce(logs))


def multinomial(family: Multinomial, stat: Counts, stream: Stream) -> Density:
    """Draw the words' probabilities from ``Dirichlet(beta + N_v)``."""
    logs = log_dirichlet(family.beta + stat.total, stream)
    return lambda row: float(row @ logs)


def bernoulli(family: Bernoulli, stat: Counts, stream: Stream) -> Density:
    """In each column the probabilities of 0 and 1, ``Dirichlet(b + zeros, a + ones)``."""
    after = np.stack([family.b + stat.n - stat.total, family.a + stat.total], axis=1)
    logs = np.array([log_dirichlet(column, stream) for column in after])
    return lambda row: float(np.nansum(np.where(row == 1, logs[:, 1], logs[:, 0]) + 0 * row))


def categorical(family: Categorical, stat: Counts, stream: Stream) -> Density:
    """In each column the categories' probabilities, ``Dirichlet(beta + N_l)``."""
    columns = zip(stat.total, family.levels, strict=True)
    logs = [log_dirichlet(family.beta + counts[:levels], stream) for counts, levels in columns]

    def log_density(row: FloatArray) -> float:
        present = zip(logs, row, strict=True)
        return float(sum(column[int(x)] for column, x in present if not np.isnan(x)))

    return log_density


def poisson(family: Poisson, stat: Counts, stream: Stream) -> Density:
    """In each column the rate, ``Gamma(shape + N, rate + n)``."""
    draws = np.array([stream.log_gamma_draw(family.shape + float(N)) for N in stat.total])
    logs = draws - np.log(family.rate + stat.n)
    return lambda row: float(np.nansum(row * logs - np.exp(logs)))


def product(family: Product, stat: tuple[Any, ...], stream: Stream) -> Density:
    """Draw the atoms of the parts, one after the other."""
    atoms = [draw_atom(part, s, stream) for part, s in zip(family.parts, stat, strict=True)]

    def log_density(row: FloatArray) -> float:
        own = zip(atoms, family.entries(row), strict=True)
        return float(sum(atom(x) for atom, x in own if x is not None))

    return log_density


_ATOMS: dict[type[Any], Callable[[Any, Any, Stream], Density]] = {
    Gaussian: gaussian,
    DiagonalGaussian: diagonal_gaussian,
    SphericalGaussian: spherical_gaussian,
    Multinomial: multinomial,
    Bernoulli: bernoulli,
    Categorical: categorical,
    Poisson: poisson,
    Product: product,
}


def draw_atom(family: Family[Any], stat: Any, stream: Stream) -> Density:
    """Draw a cluster's parameters; return the log density of a row given them.

    Constants that depend on the row alone are left out.

    Examples
    --------
    >>> from mixwood.likelihoods import Bernoulli as Coins
    >>> from mixwood.reference import family_of
    >>> coins = family_of(Coins(columns=1))
    >>> log_density = draw_atom(coins, coins.empty(), Stream(np.random.default_rng(1)))
    >>> round(exp(log_density(np.zeros(1))) + exp(log_density(np.ones(1))), 12)
    1.0
    """
    try:
        return _ATOMS[type(family)](family, stat, stream)
    except KeyError:
        raise TypeError(
            f"family must be one whose atoms mixwood.reference can draw, got {shown(family)}"
        ) from None
