"""The statistic of the families whose rows simply add up."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.reference.families.base import Family
from mixwood.reference.random import Stream

__all__ = ["CountFamily", "Counts", "log_dirichlet"]


class Counts(NamedTuple):
    """Totals that simply add up, and the log constants of the rows."""

    n: FloatArray
    total: FloatArray
    log_constant: float


class CountFamily(Family[Counts]):
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


def log_dirichlet(pseudo_counts: FloatArray, stream: Stream) -> FloatArray:
    """Draw the logs of Dirichlet probabilities: Gamma variables over their sum."""
    logs = np.array([stream.log_gamma_draw(float(a)) for a in pseudo_counts])
    return np.asarray(logs - np.logaddexp.reduce(logs))
