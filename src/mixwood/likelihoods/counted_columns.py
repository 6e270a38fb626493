"""What columns of counts have in common, whatever law they follow."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray
from mixwood.hyper import Bounds, LogNormal, draw
from mixwood.input.matrices import real_array
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.exposure import Exposed
from mixwood.likelihoods.learned import (
    base_of_clusters,
    is_learned,
    log_start,
)
from mixwood.likelihoods.normal_wishart import vector

__all__ = ["SHAPE_PRIOR", "CountedColumns", "Learnable"]

#: The hyperprior of a learned shape: the means of clusters are spread far wider than the counts. A
#: large shape would judge a row on its own by a distribution that is nearly that of the data, and a
#: lone row must cost something (docs/theory/defaults.md).
SHAPE_PRIOR = LogNormal(0.1, 0.8)


class Learnable(NamedTuple):
    """A parameter that each column may have learned, by its name, and what it lies within."""

    name: str
    bounds: Bounds


class CountedColumns(Exposed):
    """Independent columns of counts, each under a conjugate prior.

    The statistic of a cluster is, for each column, how many present entries there are, or the sum
    of their exposures, and their sum. The base measure has the logs of the `learnable` parameters
    that are learned, one after the other, each for all columns.
    """

    #: what may be learned, in the order of the core
    learnable: ClassVar[tuple[Learnable, ...]]

    def _check_positive(self, name: str) -> None:
        """Check a parameter that may be a positive number, or one for each column."""
        given = getattr(self, name)
        if real_array(given, name).ndim == 0:
            object.__setattr__(self, name, positive_number(given, name))
            return
        values = vector(given, name)
        if np.any(values <= 0):
            raise ValueError(f"{name} must be positive, got {shown(given)}")
        object.__setattr__(self, name, values)

    @property
    @abstractmethod
    def _columns(self) -> int | None:
        """How many columns of counts the parameters are for, or None while open."""

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, the exposures included; None while open."""
        return self._width(self._columns)

    def _means(self, X: Data) -> FloatArray:
        """Return the mean of each column of checked `X`, per unit of exposure; 1 where it is 0."""
        counts, exposures = self._split(X)
        weights = np.ones(len(counts)) if exposures is None else exposures
        present = np.isfinite(counts)
        total = (present * weights[:, None]).sum(axis=0)
        sums = np.where(present, counts, 0.0).sum(axis=0)
        return np.where(sums > 0, sums / np.where(total > 0, total, 1.0), 1.0)

    # --- statistics

    @property
    def statistic_size(self) -> int:
        """For each column of counts the size, or the sum of the exposures, and the sum."""
        return 2 * (self._columns or 0)

    @staticmethod
    def _sums(statistics: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both (C, d)."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        return n, total

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d) of what is not missing, at an exposure of 1."""
        n, total = self._sums(statistics)
        means = np.where(n > 0, total / np.where(n > 0, n, 1.0), np.nan)
        return self._joined(means, np.ones(len(means)))

    # --- the base measure

    @property
    def _learned(self) -> list[tuple[Learnable, Any]]:
        """What is learned, and its hyperprior."""
        both = [(one, getattr(self, one.name)) for one in self.learnable]
        return [(one, prior) for one, prior in both if is_learned(prior)]

    @property
    def base_size(self) -> int:
        """The logs of the learned parameters of each column."""
        return len(self._learned) * (self._columns or 0)

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the medians of the hyperpriors."""
        starts = [log_start(prior, self._columns or 0) for _, prior in self._learned]
        return np.concatenate([np.empty(0), *starts])

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperpriors."""
        d = self._columns or 0
        draws = [np.log(draw(prior, one.bounds, rng, d)) for one, prior in self._learned]
        return np.concatenate([np.empty(0), *draws])

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what is learned, by its name, each (..., d)."""
        d = self._columns or 0
        return {
            one.name: np.exp(base[..., k * d : (k + 1) * d])
            for k, (one, _) in enumerate(self._learned)
        }

    def _of_clusters(self, base: FloatArray | None, clusters: int) -> dict[str, Any]:
        """Return what may be learned, of each cluster and column, or the given number."""
        found = self.base_draws(base_of_clusters(base, clusters, self.base_size))
        return {one.name: found.get(one.name, getattr(self, one.name)) for one in self.learnable}
