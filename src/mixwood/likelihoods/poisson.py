"""Clusters of independent counts: a Gamma prior on each column's rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal
from mixwood.input.counts import whole_number_matrix
from mixwood.input.matrices import real_array
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.learned import (
    TiedRate,
    is_learned,
    law_argument,
    log_draws,
    log_start,
    number_or_prior,
    of_clusters,
    start_or_draw,
)
from mixwood.likelihoods.normal_wishart import vector

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Poisson"]

#: The hyperprior of a learned shape.
SHAPE_PRIOR = LogNormal(1, 1.5)


@dataclass(frozen=True, eq=False)
class Poisson(Likelihood):
    """Independent Poisson columns; missing entries (NaN) are skipped.

    Parameters
    ----------
    shape : float or distribution
        Shape of the Gamma prior on each rate: large where the rates of clusters differ little. A
        number fixes it. A `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is the hyperprior of
        each column's own, and these are learned along with the clusters, by default under
        ``LogNormal(1, 1.5)``.
    rate : float or array of shape (d,), optional
        Rate of that prior; by default ``shape`` over the column's mean, so that the
        prior expects the mean that the data have, also while the shape is learned.

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

    shape: Any = SHAPE_PRIOR
    rate: Any = None
    skips_missing = True
    reads_counts = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", number_or_prior(self.shape, "shape"))
        if isinstance(self.rate, TiedRate) and not is_learned(self.shape):
            raise ValueError(f"rate is tied to a learned shape, but shape is {self.shape}")
        if self.rate is None or isinstance(self.rate, TiedRate):
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
        known = self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return len(known) if isinstance(known, np.ndarray) else None

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of whole, non-negative numbers, NaN where missing."""
        width = width if width is not None else self.width
        return whole_number_matrix(X, name=name, width=width, missing=True)

    def resolve(self, X: Data) -> Poisson:
        """Return a copy with a rate for each column."""
        assert isinstance(X, np.ndarray)
        if self.rate is not None:
            return self._with_rates(X.shape[1])
        present = np.isfinite(X)
        counts = np.maximum(present.sum(axis=0), 1)
        means = np.where(present, X, 0.0).sum(axis=0) / counts
        means = np.where(means > 0, means, 1.0)
        return replace(self, rate=TiedRate(means) if is_learned(self.shape) else self.shape / means)

    def resolve_standard(self, width: int) -> Poisson:
        """Return a copy whose open rates make the prior mean 1."""
        if self.rate is None:
            rate = TiedRate(np.ones(width)) if is_learned(self.shape) else self.shape
            return replace(self, rate=rate)._with_rates(width)
        return self._with_rates(width)

    def _with_rates(self, width: int) -> Poisson:
        """Return a copy with one given rate for each column."""
        if isinstance(self.rate, TiedRate):
            return self
        return replace(self, rate=np.broadcast_to(self.rate, width))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        assert isinstance(X, np.ndarray)
        shapes = np.full(X.shape[1], start_or_draw(self.shape, None))
        tied = isinstance(self.rate, TiedRate)
        rates = shapes / self.rate.mean if tied else np.array(self.rate)
        rows = np.ascontiguousarray(X)
        return _core.poisson(rows, shapes, rates, tied, **law_argument(self.shape))

    def row_constants(self, X: Data) -> FloatArray:
        """Return minus the sum of the log factorials of each row."""
        from scipy.special import gammaln

        return np.asarray(-np.nansum(gammaln(np.asarray(X) + 1.0), axis=1))

    @property
    def statistic_size(self) -> int:
        """For each column the size and the sum."""
        return 2 * (self.width or 0)

    @property
    def base_size(self) -> int:
        """The log of each column's `shape`, if it is learned."""
        return self.width or 0 if is_learned(self.shape) else 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the median of the hyperprior."""
        return log_start(self.shape, self.base_size)

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior."""
        return log_draws(self.shape, self.base_size, rng)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``shape`` (..., d) if it is learned."""
        return {"shape": np.exp(base)} if is_learned(self.shape) else {}

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``rate`` (C, d) from Gamma posteriors."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        shape = of_clusters(self.shape, base, *n.shape)
        rate = shape / self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return {"rate": rng.standard_gamma(shape + total) / (rate + n)}

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
