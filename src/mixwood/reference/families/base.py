"""What a conjugate family of the reference can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np

from mixwood._support.types import Data, FloatArray

__all__ = ["Family", "S", "dense"]

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
