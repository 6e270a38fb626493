"""Clusters of independent counts: a Gamma prior on each column's rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal
from mixwood.input.matrices import real_array
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.exposure import Exposed
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

__all__ = ["Poisson", "column_rates"]

#: The hyperprior of a learned shape: the means of clusters are spread far wider than the counts. A
#: large shape would judge a row on its own by a distribution that is nearly that of the data, and a
#: lone row must cost something (docs/theory/defaults.md).
SHAPE_PRIOR = LogNormal(0.1, 0.8)


@dataclass(frozen=True, eq=False)
class Poisson(Exposed):
    """Independent Poisson columns; missing entries (NaN) are skipped.

    Parameters
    ----------
    shape : float or distribution
        Shape of the Gamma prior on each rate: large where the rates of clusters differ little. A
        number fixes it. A `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is the hyperprior of
        each column's own, and these are learned along with the clusters, by default under
        ``LogNormal(0.1, 0.8)``.
    rate : float or array of shape (d,), optional
        Rate of that prior; by default ``shape`` over the column's mean, so that the
        prior expects the mean that the data have, also while the shape is learned.
    exposure : int, str or array of shape (n,), optional
        The column that holds the exposure of each row, such as the time that events were counted
        for, by its number or its name; or the exposures themselves, which are then the data's last
        column. Rates and means are per unit of exposure.

    Notes
    -----
    In each column, with ``n`` present entries in the cluster and ``N`` their sum::

        P(x) = rate^shape / Gamma(shape) Gamma(shape + N) / (rate + n)^(shape + N)
               / prod x!

    A count of exposure ``e`` has ``e`` times the mean; ``n`` is then the sum of the exposures, and
    ``P(x)`` has one more factor, ``prod e^x``.

    Examples
    --------
    >>> Poisson(shape=2)
    Poisson(shape=2.0, rate=None, exposure=None)
    """

    shape: Any = SHAPE_PRIOR
    rate: Any = None
    exposure: Any = None

    def __post_init__(self) -> None:
        self._check_exposure()
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
        """How many columns the parameters are for, the exposures included; None while open."""
        return self._width(self._columns)

    @property
    def _columns(self) -> int | None:
        """How many columns of counts the parameters are for, or None while open."""
        known = self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return len(known) if isinstance(known, np.ndarray) else None

    def resolve(self, X: Data) -> Poisson:
        """Return a copy with a rate for each column."""
        counts, exposures = self._split(X)
        located = replace(self, **self._explicit_exposure(X))
        if self.rate is not None:
            return located._with_rates(counts.shape[1])
        means = column_rates(counts, exposures)
        rate = TiedRate(means) if is_learned(self.shape) else self.shape / means
        return replace(located, rate=rate)

    def resolve_standard(self, width: int) -> Poisson:
        """Return a copy whose open rates make the prior mean 1."""
        place = {} if self.exposure is None else {"exposure": self._place(width)}
        located, width = replace(self, **place), self._counted(width)
        if self.rate is None:
            rate = TiedRate(np.ones(width)) if is_learned(self.shape) else self.shape
            located = replace(located, rate=rate)
        return located._with_rates(width)

    def _with_rates(self, width: int) -> Poisson:
        """Return a copy with one given rate for each column."""
        if isinstance(self.rate, TiedRate):
            return self
        return replace(self, rate=np.broadcast_to(self.rate, width))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        counts, exposures = self._split(X)
        shapes = np.full(counts.shape[1], start_or_draw(self.shape, None))
        tied = isinstance(self.rate, TiedRate)
        rates = shapes / self.rate.mean if tied else np.array(self.rate)
        laws = law_argument(self.shape)
        return _core.poisson(counts, shapes, rates, tied, **laws, exposures=exposures)

    def row_constants(self, X: Data) -> FloatArray:
        """Return minus the sum of the log factorials of each row, and what its exposure adds."""
        from scipy.special import gammaln

        counts, exposures = self._split(X)
        constants = -np.nansum(gammaln(counts + 1.0), axis=1)
        if exposures is not None:
            constants = constants + np.nansum(counts, axis=1) * np.log(exposures)
        return np.asarray(constants)

    @property
    def statistic_size(self) -> int:
        """For each column of counts the size, or the sum of the exposures, and the sum."""
        return 2 * (self._columns or 0)

    @property
    def base_size(self) -> int:
        """The log of each column's `shape`, if it is learned."""
        return self._columns or 0 if is_learned(self.shape) else 0

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
        """Draw ``rate`` (C, d), per unit of exposure, from Gamma posteriors."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        shape = of_clusters(self.shape, base, *n.shape)
        rate = shape / self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return {"rate": rng.standard_gamma(shape + total) / (rate + n)}

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d) of what is not missing, at an exposure of 1."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        means = np.where(n > 0, total / np.where(n > 0, n, 1.0), np.nan)
        return self._joined(means, np.ones(len(means)))

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw rows of counts; their exposures are those of random rows of `like`, or 1."""
        exposures = self._drawn_exposures(len(labels), rng, like)
        counts = rng.poisson(parameters["rate"][labels] * exposures[:, None])
        return self._joined(counts.astype(np.float64), exposures)


def column_rates(counts: FloatArray, exposures: FloatArray | None) -> FloatArray:
    """Return the mean of each column, per unit of exposure; 1 where it is 0.

    Examples
    --------
    >>> column_rates(np.array([[0.0, 6.0], [0.0, np.nan]]), np.array([2.0, 1.0]))
    array([1., 3.])
    """
    weights = np.ones(len(counts)) if exposures is None else exposures
    present = np.isfinite(counts)
    total = (present * weights[:, None]).sum(axis=0)
    sums = np.where(present, counts, 0.0).sum(axis=0)
    return np.where(sums > 0, sums / np.where(total > 0, total, 1.0), 1.0)
