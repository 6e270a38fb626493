"""One variance that clusters are expected to have, learned.

In units in which all rows have variance 1::

    omega ~ Gamma(3/2, 3/(2 c))  on  omega >= F
    psi = nu' omega      nu = nu' + 2      r = f omega / tau, or free

``nu'`` is within bounds that grow with how many columns have that variance.

The base is ``(ln omega, ln nu', ln r)``; ``ln f`` where r is tied.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import exp, inf, log
from typing import Any, TypeVar

from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import NU_BOUNDS, centre_spread
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.diagonal_gaussian import log_width_density
from mixwood.reference.base.laws import law_of, law_of_r, slice_entry
from mixwood.reference.random import Stream

__all__ = ["OneVarianceBase"]

S = TypeVar("S")


class OneVarianceBase(LearnedBase[S]):
    """The updates of ``(omega, nu', r)`` given the clusters.

    `likelihood` has a learned `scale` of one number, `r` and `nu`; centres have `d` columns, and
    the variance is that of `columns`.
    """

    def __init__(self, likelihood: Any, d: int, columns: int = 1) -> None:
        covariance, floor = likelihood.scale.covariance, likelihood.scale.floor
        self.variance = float(covariance)
        self.log_floor = log(floor / covariance)
        self.tie_floor = likelihood.scale.tie_floor / covariance
        self.tau = centre_spread(d)
        self.tied = likelihood.r is None
        low, high = NU_BOUNDS
        self.nu_law = law_of(likelihood.nu, (low * columns, high * columns))
        self.r_law = law_of_r(likelihood.r, likelihood.scale)

    @abstractmethod
    def prepared(self, stats: Sequence[S]) -> Any:
        """Return what `log_marginals_of` needs of the clusters, in units of all rows."""

    @abstractmethod
    def log_marginals_of(self, prepared: Any, base: FloatArray) -> FloatArray:
        """Return ``log P(X_c)`` of each cluster, in units of all rows."""

    def r(self, base: FloatArray) -> float:
        """Return how many observations the prior mean is worth."""
        return exp(base[2] + base[0]) / self.tau if self.tied else exp(base[2])

    def nu(self, base: FloatArray) -> float:
        """Return the degrees of freedom."""
        return exp(base[1]) + 2

    def psi(self, base: FloatArray) -> float:
        """Return the prior scale, in units of all rows."""
        return exp(base[0] + base[1])

    def above_floor(self, base: FloatArray) -> bool:
        """Return whether neither the variance nor ``psi`` is below its floor."""
        return bool(base[0] >= self.log_floor and self.psi(base) >= self.tie_floor)

    def log_hyperprior(self, base: FloatArray) -> float:
        if not self.above_floor(base):
            return -inf
        value = float(log_width_density(base[0]))
        if self.nu_law is not None:
            value += self.nu_law.log_density(base[1])
        if self.r_law is not None:
            value += self.r_law.log_density(base[2])
        return value

    def log_marginals(self, stats: Sequence[S], base: FloatArray) -> FloatArray:
        return self.log_marginals_of(self.prepared(stats), base)

    def update(self, stats: Sequence[S], base: FloatArray, stream: Stream) -> FloatArray:
        c = self.prepared(stats)

        def log_posterior(base: FloatArray) -> float:
            prior = self.log_hyperprior(base)
            return prior if prior == -inf else prior + float(self.log_marginals_of(c, base).sum())

        base = slice_entry(base, 0, 1.0, log_posterior, stream)
        if self.nu_law is not None:
            base = slice_entry(base, 1, 2.0, log_posterior, stream)
        if self.r_law is not None:
            base = slice_entry(base, 2, 2.0, log_posterior, stream)
        return base
