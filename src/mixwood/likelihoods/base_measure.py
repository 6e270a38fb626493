"""What a likelihood says of its base measure, where that is learned."""

from __future__ import annotations

from typing import Self

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods.cluster_draws import Parameters

__all__ = ["MayLearn"]


class MayLearn:
    """A likelihood whose base measure may be learned; as it stands, it is fixed."""

    @property
    def base_size(self) -> int:
        """How many numbers the learned base measure has, 0 if it is fixed; parameters explicit."""
        return 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts, an array of `base_size` numbers in the core's units."""
        return np.empty(0)

    def start_bases(self) -> FloatArray:
        """Return base measures that a chain may start from, one a row: the best fit is taken."""
        return self.start_base()[None]

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows of `X` as points whose distances make sense, in one way or in several.

        Chains may start from groups of near ones. Empty where there are no such points.
        """
        return []

    def over_part(self, share: float) -> Self:
        """Return this likelihood for pilots over a share of the rows.

        A strong hyperprior counts as much against these as it does against all of them.
        """
        return self

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return about the log volume that the posterior of the base measure has around `base`.

        So that partitions are compared with the base measure integrated out, and not at its
        best: `n` rows in this many clusters say more or less about it.
        """
        return 0.0

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw a base measure from its hyperprior: `base_size` numbers in the core's units."""
        return np.empty(0)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what is learned of base measures (..., base_size) by name, in data units."""
        return {}

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance within clusters, or None if that is not learned.

        `base` has shape (..., base_size), what is returned (...).
        """
        return None

    def base_excess(self, base: FloatArray) -> FloatArray | None:
        """Return ``nu'``, how firmly clusters hold to one covariance; None if that is fixed.

        The variances of clusters differ by about ``sqrt(2/nu')`` of the expected ones.
        """
        return None
