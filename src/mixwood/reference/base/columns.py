"""One parameter in each column, learned: the base is the vector of its logarithms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import Law, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.counts import Counts

__all__ = ["ColumnsBase"]


class ColumnsBase(LearnedBase["Counts"]):
    """The updates of one parameter in each column, one after the other."""

    def __init__(self, distribution: Any, columns: int) -> None:
        self.law, self.columns = Law(distribution), columns

    @abstractmethod
    def log_column(
        self, n: FloatArray, total: FloatArray, column: int, parameter: FloatArray
    ) -> FloatArray:
        """Return ``log P`` of one column, but for what the parameter has no part in.

        Parameters
        ----------
        n : array
            How many entries are present in each cluster.
        total : array
            Their sums, or with one more axis the counts of their categories.
        column : int
            Which column.
        parameter : array
            Broadcast against `n`.
        """

    def log_hyperprior(self, base: FloatArray) -> float:
        return sum(self.law.log_density(float(value)) for value in base)

    def log_marginals(self, stats: Sequence[Counts], base: FloatArray) -> FloatArray:
        columns = [self._log_column_of(stats, j, base[j]) for j in range(self.columns)]
        return np.asarray(np.sum(columns, axis=0))

    def _log_column_of(self, stats: Sequence[Counts], column: int, log_x: float) -> FloatArray:
        n = np.array([stat.n[column] for stat in stats])
        total = np.array([stat.total[column] for stat in stats])
        return self.log_column(n, total, column, np.exp(log_x))

    def update(self, stats: Sequence[Counts], base: FloatArray, stream: Stream) -> FloatArray:
        for j in range(self.columns):

            def log_posterior(base: FloatArray, j: int = j) -> float:
                prior = self.law.log_density(float(base[j]))
                if prior == -inf:
                    return prior
                return prior + float(self._log_column_of(stats, j, base[j]).sum())

            base = slice_entry(base, j, 1.0, log_posterior, stream)
        return base
