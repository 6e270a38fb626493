"""Clusters of independent counts: a Gamma prior on each column's rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.counted_columns import SHAPE_PRIOR, CountedColumns, Learnable
from mixwood.likelihoods.learned import (
    BOUNDS,
    TiedRate,
    is_learned,
    law_argument,
    number_or_prior,
    start_or_draw,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Poisson"]


@dataclass(frozen=True, eq=False)
class Poisson(CountedColumns):
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
    learnable = (Learnable("shape", BOUNDS),)

    def __post_init__(self) -> None:
        self._check_exposure()
        object.__setattr__(self, "shape", number_or_prior(self.shape, "shape"))
        if isinstance(self.rate, TiedRate) and not is_learned(self.shape):
            raise ValueError(f"rate is tied to a learned shape, but shape is {self.shape}")
        if self.rate is None or isinstance(self.rate, TiedRate):
            return
        self._check_positive("rate")

    @property
    def _columns(self) -> int | None:
        """How many columns of counts the parameters are for, or None while open."""
        known = self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return len(known) if isinstance(known, np.ndarray) else None

    def resolve(self, X: Data) -> Poisson:
        """Return a copy with a rate for each column."""
        located = replace(self, **self._explicit_exposure(X))
        if self.rate is not None:
            return located._with_rates(self._counted(int(X.shape[1])))
        means = self._means(X)
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

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``rate`` (C, d), per unit of exposure, from Gamma posteriors."""
        n, total = self._sums(statistics)
        shape = self._of_clusters(base, len(statistics))["shape"]
        rate = shape / self.rate.mean if isinstance(self.rate, TiedRate) else self.rate
        return {"rate": rng.standard_gamma(shape + total) / (rate + n)}

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
