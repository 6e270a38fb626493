"""The conjugate families of model.md: additive statistics and log marginals.

A statistic is a small tuple. `observe` and `forget` return a new one, `merge` joins the
statistics of two disjoint sets, and `log_marginal` is ``log P(X_c)`` with every constant in
it. Rows are dense vectors in the user's units; a missing entry is NaN.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln, multigammaln

from mixwood import families
from mixwood.checks import shown
from mixwood.families.base import Data, FloatArray
from mixwood.families.compiled import plain_function

__all__ = ["Family", "dense", "family_of"]

S = TypeVar("S")


def dense(X: Data) -> FloatArray:
    """Return checked data as a dense array of floats."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


class Family(ABC, Generic[S]):
    """What a conjugate family can do with its statistics."""

    @abstractmethod
    def empty(self) -> S:
        """Return the statistic of no rows."""

    @abstractmethod
    def observe(self, stat: S, row: FloatArray) -> S:
        """Return the statistic with `row` added."""

    @abstractmethod
    def forget(self, stat: S, row: FloatArray) -> S:
        """Return the statistic without `row`, which must be in it."""

    @abstractmethod
    def merge(self, a: S, b: S) -> S:
        """Return the statistic of two disjoint sets together."""

    @abstractmethod
    def log_marginal(self, stat: S) -> float:
        """Return ``log P(X_c)``."""

    def of(self, rows: Iterable[FloatArray]) -> S:
        """Return the statistic of some rows."""
        stat = self.empty()
        for row in rows:
            stat = self.observe(stat, row)
        return stat


class Moments(NamedTuple):
    """How many, their mean, and the scatter about it: raw second moments would cancel."""

    n: Any
    mean: FloatArray
    scatter: Any


class Gaussian(Family[Moments]):
    """Normal-Wishart: ``mean | Lambda ~ N(m, (r Lambda)^-1)``, ``Lambda ~ Wishart(Psi^-1, nu)``.

    With ``Psi_n = Psi + S + r n/(r+n) (xbar-m)(xbar-m)'``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                 Gamma_d((nu+n)/2) / Gamma_d(nu/2)
    """

    def __init__(self, likelihood: families.Gaussian) -> None:
        assert likelihood.nu is not None
        self.r, self.nu = likelihood.r, likelihood.nu
        self.mean, self.scale = likelihood.mean, likelihood.scale

    def empty(self) -> Moments:
        d = len(self.mean)
        return Moments(0, np.zeros(d), np.zeros((d, d)))

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n + 1
        step = row - stat.mean
        mean = stat.mean + step / n
        return Moments(n, mean, stat.scatter + np.outer(step, step) * (n - 1) / n)

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n - 1
        if n == 0:
            return self.empty()
        step = row - stat.mean
        return Moments(n, stat.mean - step / n, stat.scatter - np.outer(step, step) * (n + 1) / n)

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        if n == 0:
            return a
        step = b.mean - a.mean
        mean = a.mean + step * b.n / n
        return Moments(n, mean, a.scatter + b.scatter + np.outer(step, step) * a.n * b.n / n)

    def log_marginal(self, stat: Moments) -> float:
        n, d, r, nu = stat.n, len(self.mean), self.r, self.nu
        away = stat.mean - self.mean
        scale_n = self.scale + stat.scatter + np.outer(away, away) * (r * n / (r + n))
        value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + n))
        value += nu / 2 * _log_determinant(self.scale) - (nu + n) / 2 * _log_determinant(scale_n)
        return float(value + multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d))


def _log_determinant(matrix: FloatArray) -> float:
    """Return the log determinant, in units that make the diagonal 1."""
    units = np.sqrt(np.diag(matrix))
    correlation = matrix / np.outer(units, units)
    return float(np.linalg.slogdet(correlation)[1] + 2 * np.log(units).sum())


class DiagonalGaussian(Family[Moments]):
    """Normal-Gamma in each column, over its present entries.

    With ``psi_n = psi + scatter + r n/(r+n) (xbar-m)^2``::

        P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
               Gamma((nu+n)/2) / Gamma(nu/2)
    """

    def __init__(self, likelihood: families.DiagonalGaussian) -> None:
        self.r, self.nu = likelihood.r, likelihood.nu
        self.mean, self.scale = likelihood.mean, likelihood.scale

    def empty(self) -> Moments:
        zeros = np.zeros(len(self.mean))
        return Moments(zeros, zeros, zeros)

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        return self.merge(stat, _present_moments(row))

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        present = ~np.isnan(row)
        n = stat.n - present
        divisor = np.maximum(n, 1)
        step = np.where(present, row - stat.mean, 0.0)
        mean = np.where(n > 0, stat.mean - step / divisor, 0.0)
        scatter = stat.scatter - step**2 * (n + 1) / divisor
        return Moments(n, mean, np.where(n > 1, scatter, 0.0))

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        divisor = np.maximum(n, 1)
        step = b.mean - a.mean
        mean = a.mean + step * b.n / divisor
        return Moments(n, mean, a.scatter + b.scatter + step**2 * a.n * b.n / divisor)

    def log_marginal(self, stat: Moments) -> float:
        n, r, nu = stat.n, self.r, self.nu
        scale_n = self.scale + stat.scatter + r * n / (r + n) * (stat.mean - self.mean) ** 2
        value = -n / 2 * np.log(np.pi) + np.log(r / (r + n)) / 2
        value += nu / 2 * np.log(self.scale) - (nu + n) / 2 * np.log(scale_n)
        return float(np.sum(value + gammaln((nu + n) / 2) - gammaln(nu / 2)))


def _present_moments(row: FloatArray) -> Moments:
    """Return the statistic of one row: its present entries, with no scatter."""
    present = ~np.isnan(row)
    return Moments(present.astype(float), np.where(present, row, 0.0), np.zeros(len(row)))


class SphericalGaussian(Family[Moments]):
    """One variance for all columns; the scatter is ``sum |x - xbar|^2``.

    With ``psi_n = psi + scatter + r n/(r+n) |xbar-m|^2``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi^(nu/2) psi_n^(-(nu+nd)/2)
                 Gamma((nu+nd)/2) / Gamma(nu/2)
    """

    def __init__(self, likelihood: families.SphericalGaussian) -> None:
        self.r, self.nu = likelihood.r, likelihood.nu
        self.mean, self.scale = likelihood.mean, likelihood.scale

    def empty(self) -> Moments:
        return Moments(0, np.zeros(len(self.mean)), 0.0)

    def observe(self, stat: Moments, row: FloatArray) -> Moments:
        return self.merge(stat, Moments(1, row, 0.0))

    def forget(self, stat: Moments, row: FloatArray) -> Moments:
        n = stat.n - 1
        if n == 0:
            return self.empty()
        step = row - stat.mean
        return Moments(n, stat.mean - step / n, stat.scatter - step @ step * (n + 1) / n)

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        if n == 0:
            return a
        step = b.mean - a.mean
        mean = a.mean + step * b.n / n
        return Moments(n, mean, a.scatter + b.scatter + step @ step * a.n * b.n / n)

    def log_marginal(self, stat: Moments) -> float:
        n, d, r, nu = stat.n, len(self.mean), self.r, self.nu
        away = stat.mean - self.mean
        scale_n = self.scale + stat.scatter + r * n / (r + n) * (away @ away)
        value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + n))
        value += nu / 2 * np.log(self.scale) - (nu + n * d) / 2 * np.log(scale_n)
        return float(value + gammaln((nu + n * d) / 2) - gammaln(nu / 2))


class Counts(NamedTuple):
    """Totals that simply add up, and the log constants of the rows."""

    n: FloatArray
    total: FloatArray
    log_constant: float


class _CountFamily(Family[Counts]):
    """The families whose statistic is a sum over rows."""

    @abstractmethod
    def row_statistic(self, row: FloatArray) -> Counts:
        """Return the statistic of one row."""

    def observe(self, stat: Counts, row: FloatArray) -> Counts:
        return self.merge(stat, self.row_statistic(row))

    def forget(self, stat: Counts, row: FloatArray) -> Counts:
        one = self.row_statistic(row)
        return Counts(stat.n - one.n, stat.total - one.total, stat.log_constant - one.log_constant)

    def merge(self, a: Counts, b: Counts) -> Counts:
        return Counts(a.n + b.n, a.total + b.total, a.log_constant + b.log_constant)


class Multinomial(_CountFamily):
    """Dirichlet-multinomial.

    Over ``V`` columns, ``N_v`` their totals and ``N`` the sum::

        P(X_c) = Gamma(V beta) / Gamma(V beta + N) prod_v Gamma(beta + N_v) / Gamma(beta)

    times the multinomial coefficient ``x! / prod_v x_v!`` of each row.
    """

    def __init__(self, likelihood: families.Multinomial) -> None:
        assert likelihood.columns is not None
        self.beta, self.columns = likelihood.beta, likelihood.columns

    def empty(self) -> Counts:
        return Counts(np.zeros(1), np.zeros(self.columns), 0.0)

    def row_statistic(self, row: FloatArray) -> Counts:
        coefficient = gammaln(row.sum() + 1) - gammaln(row + 1).sum()
        return Counts(np.ones(1), row, float(coefficient))

    def log_marginal(self, stat: Counts) -> float:
        mass = self.columns * self.beta
        value = gammaln(mass) - gammaln(mass + stat.total.sum())
        value += np.sum(gammaln(self.beta + stat.total) - gammaln(self.beta))
        return float(value + stat.log_constant)


class Bernoulli(_CountFamily):
    """In each column, ``s`` ones and ``f`` zeros present: ``P(x) = B(a+s, b+f) / B(a, b)``."""

    def __init__(self, likelihood: families.Bernoulli) -> None:
        assert likelihood.columns is not None
        self.a, self.b, self.columns = likelihood.a, likelihood.b, likelihood.columns

    def empty(self) -> Counts:
        return Counts(np.zeros(self.columns), np.zeros(self.columns), 0.0)

    def row_statistic(self, row: FloatArray) -> Counts:
        return Counts(~np.isnan(row) * 1.0, np.nan_to_num(row), 0.0)

    def log_marginal(self, stat: Counts) -> float:
        ones, zeros = stat.total, stat.n - stat.total
        after = gammaln(self.a + ones) + gammaln(self.b + zeros)
        after = after - gammaln(self.a + self.b + stat.n)
        before = gammaln(self.a) + gammaln(self.b) - gammaln(self.a + self.b)
        return float(np.sum(after - before))


class Categorical(_CountFamily):
    """Independent categorical columns.

    In each, with ``L`` categories whose present counts ``N_l`` sum to ``N``::

        P(x) = Gamma(L beta) / Gamma(L beta + N) prod_l Gamma(beta + N_l) / Gamma(beta)
    """

    def __init__(self, likelihood: families.Categorical) -> None:
        self.beta = likelihood.beta
        self.levels = np.array(likelihood.n_categories)

    def empty(self) -> Counts:
        return Counts(
            np.zeros(len(self.levels)), np.zeros((len(self.levels), self.levels.max())), 0.0
        )

    def row_statistic(self, row: FloatArray) -> Counts:
        codes = np.arange(self.levels.max())
        return Counts(~np.isnan(row) * 1.0, (row[:, None] == codes) * 1.0, 0.0)

    def log_marginal(self, stat: Counts) -> float:
        mass = self.levels * self.beta
        value = np.sum(gammaln(mass) - gammaln(mass + stat.n))
        # a category beyond a column's last has count 0, hence contributes 0
        return float(value + np.sum(gammaln(self.beta + stat.total) - gammaln(self.beta)))


class Poisson(_CountFamily):
    """Independent Poisson columns.

    In each, with ``n`` present entries of sum ``N``::

        P(x) = rate^shape / Gamma(shape) Gamma(shape + N) / (rate + n)^(shape + N) / prod x!
    """

    def __init__(self, likelihood: families.Poisson) -> None:
        self.shape, self.rate = likelihood.shape, likelihood.rate

    def empty(self) -> Counts:
        return Counts(np.zeros(len(self.rate)), np.zeros(len(self.rate)), 0.0)

    def row_statistic(self, row: FloatArray) -> Counts:
        log_factorials = np.nansum(gammaln(row + 1))
        return Counts(~np.isnan(row) * 1.0, np.nan_to_num(row), float(-log_factorials))

    def log_marginal(self, stat: Counts) -> float:
        shape_n, rate_n = self.shape + stat.total, self.rate + stat.n
        value = self.shape * np.log(self.rate) - gammaln(self.shape)
        value = value + gammaln(shape_n) - shape_n * np.log(rate_n)
        return float(np.sum(value) + stat.log_constant)


class Custom(Family[Counts]):
    """A user's own family, by the plain functions: a statistic that rows are added to."""

    def __init__(self, likelihood: families.CustomFamily) -> None:
        self.likelihood = likelihood
        self.accumulate = plain_function(likelihood.accumulate)
        self.plain_log_marginal = plain_function(likelihood.log_marginal)
        self.row_constant = plain_function(likelihood.row_constant)

    def empty(self) -> Counts:
        return Counts(np.zeros(1), np.zeros(self.likelihood.stat_dim), 0.0)

    def observe(self, stat: Counts, row: FloatArray) -> Counts:
        total = stat.total.copy()
        self.accumulate(row, total)
        constant = 0.0 if self.row_constant is None else self.row_constant(row)
        return Counts(stat.n + 1, total, stat.log_constant + constant)

    def forget(self, stat: Counts, row: FloatArray) -> Counts:
        one = self.observe(self.empty(), row)
        return Counts(stat.n - 1, stat.total - one.total, stat.log_constant - one.log_constant)

    def merge(self, a: Counts, b: Counts) -> Counts:
        return Counts(a.n + b.n, a.total + b.total, a.log_constant + b.log_constant)

    def log_marginal(self, stat: Counts) -> float:
        if stat.n[0] == 0:
            return 0.0
        given = self.likelihood.parameters
        return float(self.plain_log_marginal(stat.n[0], stat.total, given)) + stat.log_constant


class Product(Family[tuple[Any, ...]]):
    """Parts side by side, independent in a cluster.

    A part sees the rows that have some of its columns::

        P(X_c) = prod_p P_p(X_c[:, columns of p])
    """

    def __init__(self, likelihood: families.Product) -> None:
        assert likelihood.columns is not None
        self.parts: list[Family[Any]] = []
        self.columns: list[list[int]] = []
        for key, part in likelihood.parts.items():
            labels = key if isinstance(key, tuple) else (key,)
            self.parts.append(family_of(part))
            self.columns.append([likelihood.columns.index(label) for label in labels])

    def entries(self, row: FloatArray) -> list[FloatArray | None]:
        """Return each part's columns of a row, None where all of them are missing."""
        own = [row[columns] for columns in self.columns]
        return [None if np.isnan(x).all() else x for x in own]

    def empty(self) -> tuple[Any, ...]:
        return tuple(part.empty() for part in self.parts)

    def observe(self, stat: tuple[Any, ...], row: FloatArray) -> tuple[Any, ...]:
        own = zip(self.parts, stat, self.entries(row), strict=True)
        return tuple(s if x is None else part.observe(s, x) for part, s, x in own)

    def forget(self, stat: tuple[Any, ...], row: FloatArray) -> tuple[Any, ...]:
        own = zip(self.parts, stat, self.entries(row), strict=True)
        return tuple(s if x is None else part.forget(s, x) for part, s, x in own)

    def merge(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        own = zip(self.parts, a, b, strict=True)
        return tuple(part.merge(mine, theirs) for part, mine, theirs in own)

    def log_marginal(self, stat: tuple[Any, ...]) -> float:
        own = zip(self.parts, stat, strict=True)
        return float(sum(part.log_marginal(s) for part, s in own))


_TWINS: dict[type[families.Likelihood], Callable[[Any], Family[Any]]] = {
    families.Gaussian: Gaussian,
    families.DiagonalGaussian: DiagonalGaussian,
    families.SphericalGaussian: SphericalGaussian,
    families.Multinomial: Multinomial,
    families.Bernoulli: Bernoulli,
    families.Categorical: Categorical,
    families.Poisson: Poisson,
    families.Product: Product,
    families.CustomFamily: Custom,
}


def family_of(likelihood: families.Likelihood) -> Family[Any]:
    """Return the plain family of a likelihood whose parameters are all explicit.

    Examples
    --------
    >>> from mixwood.families import Bernoulli as Coins
    >>> coins = family_of(Coins(columns=1))
    >>> round(coins.log_marginal(coins.of([np.array([1.0])])), 6)
    -0.693147
    """
    try:
        return _TWINS[type(likelihood)](likelihood)
    except KeyError:
        raise TypeError(
            f"likelihood must be one that mixwood.reference knows "
            f"({', '.join(known.__name__ for known in _TWINS)}), got {shown(likelihood)}"
        ) from None
