"""Whether a predictive sums to 1, and whether a family's own draws follow it.

What rows can be is a *support*: it integrates a density over parts of itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, log
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods.base import Likelihood
from mixwood.reference.families import Family, dense, family_of
from mixwood.reference.random import Stream

__all__ = ["check_atoms", "check_predictives", "support_of"]

#: From a row to its density.
Density: TypeAlias = Callable[[FloatArray], float]

#: How many parameters are drawn, and how far the mean of their densities may be from what it
#: estimates, in standard errors: once in a million.
ATOMS, ERRORS = 4000, 4.9
#: How often the row of which the density is asked is in the cluster, too.
COPIES = 10
#: How far from 1 a total may be: what is beyond a tail that is cut, and of quadrature.
TOLERANCE = 1e-6


class Support(ABC):
    """What a row can be."""

    @abstractmethod
    def bins(self, rows: FloatArray) -> list[Any]:
        """Return a division of the support into a few parts that are likely for such rows."""

    @abstractmethod
    def mass(self, density: Density, part: Any) -> float:
        """Return the integral of a density over one of the parts."""

    @abstractmethod
    def members(self, rows: FloatArray, part: Any) -> int:
        """Return how many of the rows are in a part."""


@dataclass(frozen=True)
class Line(Support):
    """An interval, perhaps infinite; parts are intervals (low, high]."""

    low: float
    high: float

    def bins(self, rows: FloatArray) -> list[Any]:
        inner = np.unique(np.quantile(rows[:, 0], [0.02, 0.2, 0.4, 0.6, 0.8, 0.98]))
        edges = [self.low, *(float(x) for x in inner if self.low < x < self.high), self.high]
        return list(pairwise(edges))

    def mass(self, density: Density, part: tuple[float, float]) -> float:
        from scipy.integrate import quad

        def integrand(x: float) -> float:
            return density(np.array([x]))

        low, high = part
        if low == 0 and high < inf:  # a density may be infinite at 0
            value, _ = quad(lambda t: integrand(exp(t)) * exp(t), -inf, log(high), limit=500)
        else:
            value, _ = quad(integrand, low, high, limit=500, epsabs=1e-11)
        return float(value)

    def members(self, rows: FloatArray, part: tuple[float, float]) -> int:
        return int(np.sum((rows[:, 0] > part[0]) & (rows[:, 0] <= part[1])))


@dataclass(frozen=True)
class Counts(Support):
    """0, 1, 2, ...; parts are from one number to before another."""

    most: int = 1_000_000

    def bins(self, rows: FloatArray) -> list[Any]:
        inner = np.unique(np.quantile(rows[:, 0], [0.2, 0.4, 0.6, 0.8]).astype(int)) + 1
        edges = [0.0, *(float(x) for x in inner), inf]
        return list(pairwise(edges))

    def mass(self, density: Density, part: tuple[float, float]) -> float:
        start, end = part
        total, k = 0.0, start
        while k < min(end, self.most):
            term = density(np.array([k]))
            total += term
            k += 1
            if end == inf and k > start + 50 and term * k < 1e-10:  # the tail beyond is below it
                break
        return total

    def members(self, rows: FloatArray, part: tuple[float, float]) -> int:
        return int(np.sum((rows[:, 0] >= part[0]) & (rows[:, 0] < part[1])))


@dataclass(frozen=True, eq=False)
class Rows(Support):
    """A list of all rows; each is a part."""

    every: FloatArray

    def bins(self, rows: FloatArray) -> list[Any]:  # noqa: ARG002
        return list(range(len(self.every)))

    def mass(self, density: Density, part: int) -> float:
        return density(self.every[part])

    def members(self, rows: FloatArray, part: int) -> int:
        return int(np.sum((rows == self.every[part]).all(axis=1)))


def support_of(support: Any, width: int) -> Support:
    """Return the support that a user names.

    Parameters
    ----------
    support : "real", "positive", "counts", (low, high), or array of shape (m, width)
        Of one column; or a list of all rows that there can be.
    width : int
        How many columns the data have.

    Examples
    --------
    >>> support_of("positive", 1)
    Line(low=0.0, high=inf)
    """
    named = {"real": Line(-inf, inf), "positive": Line(0.0, inf), "counts": Counts()}
    interval = isinstance(support, tuple) and len(support) == 2 and width == 1
    if isinstance(support, str) or interval:
        if isinstance(support, str) and support not in named:
            raise ValueError(
                f"support must be {', '.join(map(repr, named))}, an interval (low, high), or an "
                f"array of all rows, got {shown(support)}"
            )
        if width != 1:
            raise ValueError(
                f"support {support!r} is of one column and X has {width}; give an array of all "
                "rows that there can be, or data of one column"
            )
        return named[support] if isinstance(support, str) else Line(*map(float, support))
    every = np.asarray(support, dtype=np.float64)
    if every.ndim != 2 or every.shape[1] != width:
        raise ValueError(
            f"support must have shape (m, {width}) as a list of all rows, got {every.shape}"
        )
    return Rows(every)


def check_predictives(
    resolved: Likelihood,
    X: Data,
    support: Any,
    rng: np.random.Generator,
    passed: list[str],
    untried: list[str],
) -> None:
    """Check that predictives of clusters of 0, 1 and more rows sum to 1, and draws follow them."""
    total, draws = "predictives sum to 1 over the support", "rows drawn from clusters follow them"
    if support is None:
        untried += [f"{total}: give support=", f"{draws}: give support="]
        return
    space, family, rows = support_of(support, int(X.shape[1])), family_of(resolved), dense(X)
    for members in (rows[:0], rows[:1], rows[: max(3, len(rows) // 2)]):
        stat = family.of(members)
        density = _predictive(family, stat)
        bins = space.bins(rows)
        masses = np.array([space.mass(density, part) for part in bins])
        if not abs(masses.sum() - 1) <= TOLERANCE:
            raise AssertionError(
                f"{total}: fails given the first {len(members)} rows, {masses.sum()!r}; the log "
                "marginal, or the constant of a row, is wrong (or the support)"
            )
    passed.append(total)
    try:
        drawn = _rows_from_posterior(resolved, X, len(members), rng)
    except TypeError as error:
        untried.append(f"{draws}: {error}")
        return
    _check_draws(drawn, space, density, draws)
    passed.append("rows drawn from clusters follow the predictives")


def check_atoms(resolved: Likelihood, X: Data, rng: np.random.Generator) -> None:
    """Check that the density of a row, given drawn parameters, is in the mean its predictive.

    Up to a constant that is the same for all rows, which no sampler sees: two rows are compared.
    Given the rows of a cluster ``E[f(x | drawn)]`` is ``P(x | X_c)``, whatever the parameters are.
    Each row is one of many copies in the cluster: the mean density of a row far from it would be
    that of few draws, and its error unknown.
    """
    family, rows = family_of(resolved), dense(X)
    constants, stream = resolved.row_constants(X), Stream(rng)
    means, errors = [], []
    for row in (0, len(rows) - 1):
        stat = family.of(np.concatenate([rows, np.repeat(rows[[row]], COPIES, axis=0)]))
        expected = log(_predictive(family, stat)(rows[row])) - constants[row]
        found = [family.draw_atom(stat, stream)(rows[row]) for _ in range(ATOMS)]
        ratios = np.exp(np.array(found) - expected)
        means.append(float(ratios.mean()))
        errors.append(max(float(ratios.std()) / np.sqrt(ATOMS), 1e-9) / means[-1])
    ratio, error = means[1] / means[0], float(np.hypot(*errors))
    if not abs(ratio - 1) <= ERRORS * error:
        raise AssertionError(
            "densities given drawn parameters average to the predictives: fails, relative to row "
            f"0 they are {ratio:.4g} times it for row {len(rows) - 1}, standard error {error:.2g}; "
            "the density, or how parameters are drawn, is wrong"
        )


def _predictive(family: Family[Any], stat: Any) -> Density:
    before = family.log_marginal(stat)
    return lambda row: exp(family.log_marginal(family.observe(stat, row)) - before)


def _rows_from_posterior(
    resolved: Likelihood, X: Data, members: int, rng: np.random.Generator, size: int = 3000
) -> FloatArray:
    """Return independent rows, each from the cluster of the first rows with its own parameters."""
    statistic = resolved.bind(X).statistics(np.arange(members))
    base = {"base": resolved.start_base()} if resolved.base_size else {}  # where the twin is, too
    parameters = resolved.draw_parameters(np.tile(statistic, (size, 1)), rng, **base)
    return dense(resolved.draw_rows(parameters, np.arange(size), rng, like=X))


def _check_draws(drawn: FloatArray, space: Support, density: Density, what: str) -> None:
    """Compare draws with a density by a chi-square test; some of them choose the bins."""
    from scipy.stats import chi2

    choosing, rest = drawn[:500], drawn[500:]
    bins = space.bins(choosing)
    expected = np.array([space.mass(density, part) for part in bins]) * len(rest)
    observed = np.array([space.members(rest, part) for part in bins])
    if observed.sum() < len(rest):
        raise AssertionError(f"{what}: fails, some lie outside the support")
    likely = expected >= 5
    statistic = np.sum((observed - expected)[likely] ** 2 / expected[likely])
    p_value = float(chi2.sf(statistic, max(int(likely.sum()) - 1, 1)))
    if p_value < 1e-6:
        raise AssertionError(
            f"{what}: fails, p = {p_value:.2g}; {observed.tolist()} draws in bins where "
            f"{expected.round(1).tolist()} are expected"
        )
