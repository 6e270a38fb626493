"""Columns of counts that vary more than Poisson counts, with Beta priors, plainly."""

from __future__ import annotations

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.negative_binomial import NegativeBinomialBase, Rows
from mixwood.reference.families.base import Density, Family
from mixwood.reference.families.exposure import row_exposure, without_exposure
from mixwood.reference.random import Stream

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Family[Rows]):
    """Independent negative binomial columns.

    In each, with present entries of sum ``N``, their exposures ``e`` (1 if not given) of sum ``E``
    and ``s`` the size::

        P(x) = B(a + s E, b + N) / B(a, b) prod Gamma(x + s e) / (Gamma(s e) x!)
        a = 1 + s shape / mean,  b = shape
    """

    def __init__(self, likelihood: likelihoods.NegativeBinomial) -> None:
        self.mean = np.asarray(likelihood.mean)
        self.exposure = likelihood.exposure
        base = NegativeBinomialBase(likelihood)
        self._base = base
        if base.laws:
            self.learned: NegativeBinomialBase | None = base
        self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        self.size, self.shape = self._base.sizes_and_shapes(base)

    def empty(self) -> Rows:
        return ()

    def observe(self, stat: Rows, row: FloatArray) -> Rows:
        return (*stat, row)

    def forget(self, stat: Rows, row: FloatArray) -> Rows:
        at = next(k for k, own in enumerate(stat) if np.array_equal(own, row, equal_nan=True))
        return stat[:at] + stat[at + 1 :]

    def merge(self, a: Rows, b: Rows) -> Rows:
        return a + b

    def log_marginal(self, stat: Rows) -> float:
        columns = range(len(self.mean))
        return float(
            sum(self._base.log_column(stat, j, self.size[j], self.shape[j]) for j in columns)
        )

    def draw_atom(self, stat: Rows, stream: Stream) -> Density:
        """In each column the probability, ``Beta(a + s E, b + N)``."""
        log_odds = np.empty(len(self.mean))
        for j in range(len(self.mean)):
            x, e = self._base.entries(stat, j)
            first = 1 + self.size[j] * self.shape[j] / self.mean[j] + self.size[j] * e.sum()
            log_first = stream.log_gamma_draw(float(first))
            log_odds[j] = stream.log_gamma_draw(float(self.shape[j] + x.sum())) - log_first
        log_p, log_rest = -np.logaddexp(0, log_odds), -np.logaddexp(0, -log_odds)

        def log_density(row: FloatArray) -> float:
            x = without_exposure(row, self.exposure)
            size = self.size * row_exposure(row, self.exposure)
            return float(np.nansum(x * log_rest + np.where(np.isnan(x), 0, size * log_p)))

        return log_density
