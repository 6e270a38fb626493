"""Columns of zeros and ones with Beta priors, plainly."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.bernoulli import BernoulliBase
from mixwood.reference.families.base import Density
from mixwood.reference.families.counts import CountFamily, Counts, log_dirichlet
from mixwood.reference.random import Stream

__all__ = ["Bernoulli"]


class Bernoulli(CountFamily):
    """In each column, ``s`` ones and ``f`` zeros present: ``P(x) = B(a+s, b+f) / B(a, b)``."""

    def __init__(self, likelihood: likelihoods.Bernoulli) -> None:
        assert likelihood.columns is not None
        self.columns = likelihood.columns
        if isinstance(likelihood.a, float):
            self.a = np.full(self.columns, likelihood.a)
            self.b = np.full(self.columns, likelihood.b)
        else:
            self.learned = BernoulliBase(likelihood)
            self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.a = self.b = np.exp(base)

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

    def draw_atom(self, stat: Counts, stream: Stream) -> Density:
        """In each column the probabilities of 0 and 1, ``Dirichlet(b + zeros, a + ones)``."""
        after = np.stack([self.b + stat.n - stat.total, self.a + stat.total], axis=1)
        logs = np.array([log_dirichlet(column, stream) for column in after])
        return lambda row: float(np.nansum(np.where(row == 1, logs[:, 1], logs[:, 0]) + 0 * row))
