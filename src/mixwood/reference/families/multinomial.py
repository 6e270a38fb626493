"""Counts with a Dirichlet prior, plainly."""

from __future__ import annotations

from math import exp

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.multinomial import MultinomialBase
from mixwood.reference.families.base import Density
from mixwood.reference.families.counts import CountFamily, Counts, log_dirichlet
from mixwood.reference.random import Stream

__all__ = ["Multinomial"]


class Multinomial(CountFamily):
    """Dirichlet-multinomial.

    Over ``V`` columns, ``N_v`` their totals and ``N`` the sum::

        P(X_c) = Gamma(V beta) / Gamma(V beta + N) prod_v Gamma(beta + N_v) / Gamma(beta)

    times the multinomial coefficient ``x! / prod_v x_v!`` of each row.
    """

    has_row_totals = True

    def __init__(self, likelihood: likelihoods.Multinomial) -> None:
        assert likelihood.columns is not None
        self.columns = likelihood.columns
        if isinstance(likelihood.beta, float):
            self.beta = likelihood.beta
        else:
            self.learned = MultinomialBase(likelihood)
            self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.beta = exp(base[0])

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

    def draw_atom(self, stat: Counts, stream: Stream) -> Density:
        """Draw the words' probabilities from ``Dirichlet(beta + N_v)``."""
        logs = log_dirichlet(self.beta + stat.total, stream)
        return lambda row: float(row @ logs)
