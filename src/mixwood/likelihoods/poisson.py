"""Clusters of independent counts: a Gamma prior on each column's rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.counts import whole_number_matrix
from mixwood.input.matrices import real_array
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.gaussian import vector

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Poisson"]


@dataclass(frozen=True, eq=False)
class Poisson(Likelihood):
    """Independent Poisson columns; missing entries (NaN) are skipped.

    Parameters
    ----------
    shape : float
        Shape of the Gamma prior on each rate.
    rate : float or array of shape (d,), optional
        Rate of that prior; by default ``shape`` over the column's mean, so that the
        prior expects the mean that the data have.

    Notes
    -----
    In each column, with ``n`` present entries in the cluster and ``N`` their sum::

        P(x) = rate^shape / Gamma(shape) Gamma(shape + N) / (rate + n)^(shape + N)
               / prod x!

    Examples
    --------
    >>> Poisson(shape=2)
    Poisson(shape=2.0, rate=None)
    """

    shape: float = 1.0
    rate: Any = None
    skips_missing = True
    reads_counts = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", moderate_number(self.shape, "shape"))
        if self.rate is None:
            return
        if real_array(self.rate, "rate").ndim == 0:
            object.__setattr__(self, "rate", positive_number(self.rate, "rate"))
        else:
            rate = vector(self.rate, "rate")
            if np.any(rate <= 0):
                raise ValueError(f"rate must be positive, got {shown(self.rate)}")
            object.__setattr__(self, "rate", rate)

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while open."""
        return len(self.rate) if isinstance(self.rate, np.ndarray) else None

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of whole, non-negative numbers, NaN where missing."""
        width = width if width is not None else self.width
        return whole_number_matrix(X, name=name, width=width, missing=True)

    def resolve(self, X: Data) -> Poisson:
        """Return a copy with a rate for each column."""
        assert isinstance(X, np.ndarray)
        if self.rate is not None:
            return replace(self, rate=np.broadcast_to(self.rate, X.shape[1]))
        present = np.isfinite(X)
        counts = np.maximum(present.sum(axis=0), 1)
        means = np.where(present, X, 0.0).sum(axis=0) / counts
        return replace(self, rate=self.shape / np.where(means > 0, means, 1.0))

    def resolve_standard(self, width: int) -> Poisson:
        """Return a copy whose open rates make the prior mean 1."""
        rate = self.shape if self.rate is None else self.rate
        return replace(self, rate=np.broadcast_to(rate, width))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        assert isinstance(X, np.ndarray)
        return _core.poisson(np.ascontiguousarray(X), self.shape, np.array(self.rate))

    def row_constants(self, X: Data) -> FloatArray:
        """Return minus the sum of the log factorials of each row."""
        from scipy.special import gammaln

        return np.asarray(-np.nansum(gammaln(np.asarray(X) + 1.0), axis=1))

    @property
    def statistic_size(self) -> int:
        """For each column the size and the sum."""
        return 2 * len(self.rate)

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``rate`` (C, d) from Gamma posteriors."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        return {"rate": rng.standard_gamma(self.shape + total) / (self.rate + n)}

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d) of what is not missing."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        return np.where(n > 0, total / np.maximum(n, 1), np.nan)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw rows of Poisson counts."""
        return rng.poisson(parameters["rate"][labels]).astype(np.float64)
