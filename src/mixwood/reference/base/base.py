"""What a learned base measure can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from mixwood._support.types import FloatArray
from mixwood.reference.random import Stream

__all__ = ["LearnedBase"]

S = TypeVar("S")


class LearnedBase(ABC, Generic[S]):
    """The hyperprior of a family's parameters, and their updates given the clusters.

    The parameters are a flat vector, the `base`, as the compiled core has it.
    """

    @abstractmethod
    def log_hyperprior(self, base: FloatArray) -> float:
        """Return the log density of the base, but for a constant; -inf where it cannot be.

        Of a positive number it is the density of its logarithm, of a matrix that of its entries.
        """

    @abstractmethod
    def log_marginals(self, stats: Sequence[S], base: FloatArray) -> FloatArray:
        """Return ``log P(X_c)`` of each cluster, but for what the base has no part in."""

    @abstractmethod
    def update(self, stats: Sequence[S], base: FloatArray, stream: Stream) -> FloatArray:
        """Return the base after each of its parts was moved once, given the clusters."""

    def log_posterior(self, stats: Sequence[S], base: FloatArray) -> float:
        """Return the log density of the base given the clusters, but for a constant."""
        prior = self.log_hyperprior(base)
        if prior == float("-inf"):
            return prior
        return prior + float(self.log_marginals(stats, base).sum())
