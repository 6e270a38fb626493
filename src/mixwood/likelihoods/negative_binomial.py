"""Clusters of counts that vary more than Poisson counts do: a Beta prior on each probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal, draw, law
from mixwood.input.matrices import real_array
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.exposure import Exposed
from mixwood.likelihoods.learned import (
    BOUNDS,
    base_of_clusters,
    is_learned,
    log_start,
    number_or_prior,
    start_or_draw,
)
from mixwood.likelihoods.normal_wishart import vector
from mixwood.likelihoods.poisson import SHAPE_PRIOR, column_rates

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["NegativeBinomial"]

#: The hyperprior of a learned size, and what any size lies within: beyond, counts are Poisson's.
SIZE_PRIOR = LogNormal(5, 1.5)
SIZE_BOUNDS = (1e-6, 1e6)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Exposed):
    """Independent columns of counts that vary more than `Poisson` counts of the same mean.

    Missing entries (NaN) are skipped.

    Parameters
    ----------
    size : float or distribution
        How much counts vary within a cluster: of mean ``m``, their variance is ``m + m^2/size``.
        Large: as Poisson counts. A number fixes it for all columns. A `mixwood.hyper.LogNormal`
        or `mixwood.hyper.Gamma` is the hyperprior of each column's own, and these are learned
        along with the clusters, by default under ``LogNormal(5, 1.5)``; between 1e-6 and 1e6.
    shape : float or distribution
        How alike the means of clusters are, as for `Poisson`: large where they differ little.
        Learned for each column by default, under ``LogNormal(0.1, 0.8)``.
    mean : float or array of shape (d,), optional
        What the prior expects the mean of a cluster to be, by default the column's; per unit of
        exposure.
    exposure : int, str or array of shape (n,), optional
        The column that holds the exposure of each row, such as the library size of a cell, by its
        number or its name; or the exposures themselves, which are then the data's last column.

    Notes
    -----
    Given the ``size`` and the probability ``p`` of its cluster, a count is negative binomial, and
    ``p`` has a Beta prior::

        P(x | p) = Gamma(x + size) / (Gamma(size) x!) p^size (1-p)^x
        p ~ Beta(a, b),    a = 1 + size shape/mean,    b = shape

    so that the mean of a cluster, ``size (1-p)/p``, has the expectation ``mean`` whatever size and
    shape are; as the size grows, it becomes the Gamma(shape, shape/mean) of `Poisson`. In each
    column, with ``n`` present entries in the cluster and ``N`` their sum::

        P(x) = B(a + n size, b + N) / B(a, b) prod Gamma(x + size) / (Gamma(size) x!)

    An exposure ``e`` multiplies the size: ``e size`` stands for ``size`` of that row, and the sum
    of ``e`` for ``n``. The mean of a count is then ``e`` times that of its cluster, and its
    variance over its mean is ``1/p``, the same for all rows of a cluster: as if a row of exposure 2
    were the sum of two rows. That is what is conjugate, hence exact here. It is another model than
    one in which the size stays as it is whatever the exposure, and the variance of rows of large
    exposure grows with the square of it.

    Where the sizes are learned, all rows have to be at hand: weighted leaves, ``weights=`` and
    ``known=`` need a number.

    Examples
    --------
    >>> NegativeBinomial(size=2, shape=1)
    NegativeBinomial(size=2.0, shape=1.0, mean=None, exposure=None)
    """

    size: Any = SIZE_PRIOR
    shape: Any = SHAPE_PRIOR
    mean: Any = None
    exposure: Any = None

    def __post_init__(self) -> None:
        size = number_or_prior(self.size, "size", SIZE_BOUNDS)
        if not is_learned(size) and not SIZE_BOUNDS[0] <= size <= SIZE_BOUNDS[1]:  # type: ignore[operator]
            raise ValueError(
                f"size must lie between {SIZE_BOUNDS[0]:g} and {SIZE_BOUNDS[1]:g}, got "
                f"{shown(self.size)}; counts that vary as little as the largest are Poisson counts"
            )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "shape", number_or_prior(self.shape, "shape"))
        self._check_exposure()
        if self.mean is None:
            return
        if real_array(self.mean, "mean").ndim == 0:
            object.__setattr__(self, "mean", positive_number(self.mean, "mean"))
        else:
            mean = vector(self.mean, "mean")
            if np.any(mean <= 0):
                raise ValueError(f"mean must be positive, got {shown(self.mean)}")
            object.__setattr__(self, "mean", mean)

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, the exposures included; None while open."""
        return self._width(len(self.mean) if isinstance(self.mean, np.ndarray) else None)

    @property
    def learns_from_rows(self) -> bool:
        """Whether the sizes are learned, which sums over rows do not tell."""
        return is_learned(self.size)

    def resolve(self, X: Data) -> NegativeBinomial:
        """Return a copy with a mean for each column."""
        counts, exposures = self._split(X)
        mean = column_rates(counts, exposures) if self.mean is None else self.mean
        mean = np.broadcast_to(mean, counts.shape[1])
        return replace(self, mean=mean, **self._explicit_exposure(X))

    def resolve_standard(self, width: int) -> NegativeBinomial:
        """Return a copy whose open means are 1."""
        mean = np.broadcast_to(1.0 if self.mean is None else self.mean, self._counted(width))
        place = {} if self.exposure is None else {"exposure": self._place(width)}
        return replace(self, mean=mean, **place)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        counts, exposures = self._split(X)
        d = counts.shape[1]
        return _core.negative_binomial(
            counts,
            np.full(d, start_or_draw(self.size, None, SIZE_BOUNDS)),
            np.full(d, start_or_draw(self.shape, None)),
            np.array(self.mean),
            law(self.size, SIZE_BOUNDS) if is_learned(self.size) else None,
            law(self.shape) if is_learned(self.shape) else None,
            exposures,
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log coefficients of each row, at the sizes where a chain starts."""
        from scipy.special import gammaln

        counts, exposures = self._split(X)
        size = start_or_draw(self.size, None, SIZE_BOUNDS)
        sizes = size * (np.ones(len(counts)) if exposures is None else exposures)[:, None]
        terms = gammaln(counts + sizes) - gammaln(sizes) - gammaln(counts + 1.0)
        return np.asarray(np.nansum(terms, axis=1))

    @property
    def statistic_size(self) -> int:
        """For each column of counts the sum of the exposures, and of the counts."""
        return 2 * len(self.mean)

    # --- the base measure: logs of the sizes, then of the shapes, those that are learned

    @property
    def _laws(self) -> list[tuple[str, Any, Any]]:
        """The name, the hyperprior and the bounds of what is learned."""
        both = [("size", self.size, SIZE_BOUNDS), ("shape", self.shape, BOUNDS)]
        return [one for one in both if is_learned(one[1])]

    @property
    def base_size(self) -> int:
        """The logs of each column's `size` and `shape`, as far as they are learned."""
        return len(self._laws) * (len(self.mean) if self.mean is not None else 0)

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the medians of the hyperpriors."""
        starts = [log_start(prior, len(self.mean)) for _, prior, _ in self._laws]
        return np.concatenate([np.empty(0), *starts])

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperpriors."""
        d = len(self.mean)
        draws = [np.log(draw(prior, bounds, rng, d)) for _, prior, bounds in self._laws]
        return np.concatenate([np.empty(0), *draws])

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``size`` and ``shape`` (..., d), those that are learned."""
        d = len(self.mean)
        return {
            name: np.exp(base[..., k * d : (k + 1) * d]) for k, (name, *_) in enumerate(self._laws)
        }

    def _sizes_and_shapes(self, base: FloatArray | None, clusters: int) -> tuple[Any, Any]:
        """Return both for each cluster and column, or numbers where they are fixed."""
        found = self.base_draws(base_of_clusters(base, clusters, self.base_size))
        return found.get("size", self.size), found.get("shape", self.shape)

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``rate`` (C, d), the mean per unit of exposure, and ``size`` (C, d)."""
        n, total = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        size, shape = self._sizes_and_shapes(base, len(statistics))
        a = 1 + size * shape / self.mean + size * n
        odds = rng.standard_gamma(shape + total) / rng.standard_gamma(a)  # of 1 - p
        return {"rate": size * odds, "size": np.broadcast_to(size, odds.shape)}

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
        rate, size = parameters["rate"][labels], parameters["size"][labels]
        rates = rng.standard_gamma(size * exposures[:, None]) * (rate / size)
        return self._joined(rng.poisson(rates).astype(np.float64), exposures)
