"""Columns of counts with Gamma priors, plainly."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.poisson import PoissonBase
from mixwood.reference.families.base import Density
from mixwood.reference.families.counts import CountFamily, Counts
from mixwood.reference.families.exposure import row_exposure, without_exposure
from mixwood.reference.random import Stream

__all__ = ["Poisson"]


class Poisson(CountFamily):
    """Independent Poisson columns.

    In each, with ``n`` present entries of sum ``N``::

        P(x) = rate^shape / Gamma(shape) Gamma(shape + N) / (rate + n)^(shape + N) / prod x!

    With exposures ``e``, ``n`` is their sum and ``prod e^x`` one more factor.
    """

    def __init__(self, likelihood: likelihoods.Poisson) -> None:
        self.exposure = likelihood.exposure
        if isinstance(likelihood.shape, float):
            self.shape, self.rate = np.full(len(likelihood.rate), likelihood.shape), likelihood.rate
        else:
            self.learned: PoissonBase | None = PoissonBase(likelihood)
            self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.shape = np.exp(base)
            self.rate = self.learned.rate(slice(None), self.shape)

    def empty(self) -> Counts:
        return Counts(np.zeros(len(self.rate)), np.zeros(len(self.rate)), 0.0)

    def row_statistic(self, row: FloatArray) -> Counts:
        e, x = row_exposure(row, self.exposure), without_exposure(row, self.exposure)
        log_constant = np.nansum(x) * np.log(e) - np.nansum(gammaln(x + 1))
        return Counts(~np.isnan(x) * e, np.nan_to_num(x), float(log_constant))

    def log_marginal(self, stat: Counts) -> float:
        shape_n, rate_n = self.shape + stat.total, self.rate + stat.n
        value = self.shape * np.log(self.rate) - gammaln(self.shape)
        value = value + gammaln(shape_n) - shape_n * np.log(rate_n)
        return float(np.sum(value) + stat.log_constant)

    def draw_atom(self, stat: Counts, stream: Stream) -> Density:
        """In each column the rate, ``Gamma(shape + N, rate + n)``."""
        draws = np.array([stream.log_gamma_draw(float(a)) for a in self.shape + stat.total])
        logs = draws - np.log(self.rate + stat.n)

        def log_density(row: FloatArray) -> float:
            x, e = without_exposure(row, self.exposure), row_exposure(row, self.exposure)
            return float(np.nansum(x * logs - e * np.exp(logs)))

        return log_density
