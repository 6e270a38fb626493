"""Columns of categories with Dirichlet priors, plainly."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.categorical import CategoricalBase
from mixwood.reference.families.base import Density
from mixwood.reference.families.counts import CountFamily, Counts, log_dirichlet
from mixwood.reference.random import Stream

__all__ = ["Categorical"]


class Categorical(CountFamily):
    """Independent categorical columns.

    In each, with ``L`` categories whose present counts ``N_l`` sum to ``N``::

        P(x) = Gamma(L beta) / Gamma(L beta + N) prod_l Gamma(beta + N_l) / Gamma(beta)
    """

    def __init__(self, likelihood: likelihoods.Categorical) -> None:
        self.n_categories = np.array(likelihood.n_categories)
        if isinstance(likelihood.beta, float):
            self.beta = np.full(len(self.n_categories), likelihood.beta)
        else:
            self.learned = CategoricalBase(likelihood)
            self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        if self.learned is not None:
            self.beta = np.exp(base)

    def empty(self) -> Counts:
        return Counts(
            np.zeros(len(self.n_categories)),
            np.zeros((len(self.n_categories), self.n_categories.max())),
            0.0,
        )

    def row_statistic(self, row: FloatArray) -> Counts:
        codes = np.arange(self.n_categories.max())
        return Counts(~np.isnan(row) * 1.0, (row[:, None] == codes) * 1.0, 0.0)

    def log_marginal(self, stat: Counts) -> float:
        mass = self.n_categories * self.beta
        value = np.sum(gammaln(mass) - gammaln(mass + stat.n))
        # a category beyond a column's last has count 0, hence contributes 0
        beta = self.beta[:, None]
        return float(value + np.sum(gammaln(beta + stat.total) - gammaln(beta)))

    def draw_atom(self, stat: Counts, stream: Stream) -> Density:
        """In each column the categories' probabilities, ``Dirichlet(beta + N_l)``."""
        columns = zip(self.beta, stat.total, self.n_categories, strict=True)
        logs = [log_dirichlet(beta + counts[:n], stream) for beta, counts, n in columns]

        def log_density(row: FloatArray) -> float:
            present = zip(logs, row, strict=True)
            return float(sum(column[int(x)] for column, x in present if not np.isnan(x)))

        return log_density
