"""A user's own family, plainly."""

from __future__ import annotations

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.compiled import plain_function
from mixwood.reference.base.custom import CustomBase
from mixwood.reference.families.base import Density, Family
from mixwood.reference.families.counts import Counts
from mixwood.reference.random import Stream

__all__ = ["Custom"]


class Custom(Family[Counts]):
    """A user's own family, by the plain functions: a statistic that rows are added to."""

    def __init__(self, likelihood: likelihoods.CustomFamily) -> None:
        self.likelihood = likelihood
        self.accumulate = plain_function(likelihood.accumulate)
        self.plain_log_marginal = plain_function(likelihood.log_marginal)
        self.row_constant = plain_function(likelihood.row_constant)
        if likelihood.base_size:
            self.learned = CustomBase(likelihood, self._log_marginal)
        self.set_base(likelihood.start_base())

    def set_base(self, base: FloatArray) -> None:
        super().set_base(base)
        self.parameters = self.likelihood.values(base)

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
        return self._log_marginal(stat, self.parameters)

    def draw_atom(self, stat: Counts, stream: Stream) -> Density:
        """Draw by the user's function; the density is the user's, too."""
        if self.likelihood.why_no_atoms is not None:
            raise TypeError(f"the family {self.likelihood.name!r} {self.likelihood.why_no_atoms}")
        drawn = self.likelihood.drawn(
            float(stat.n[0]), stat.total, self.parameters, stream.generator
        )
        log_density = plain_function(self.likelihood.log_density)
        return lambda row: float(log_density(row, drawn, self.parameters))

    def _log_marginal(self, stat: Counts, parameters: FloatArray) -> float:
        if stat.n[0] == 0:
            return 0.0
        value = float(self.plain_log_marginal(stat.n[0], stat.total, parameters))
        return value + stat.log_constant
