"""Clusters of counts that vary more than Poisson counts do: a Beta prior on each probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal, law
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.counted_columns import SHAPE_PRIOR, CountedColumns, Learnable
from mixwood.likelihoods.learned import BOUNDS, is_learned, number_or_prior, start_or_draw

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["NegativeBinomial"]

#: The hyperprior of a learned size, and what any size lies within: beyond, counts are Poisson's.
SIZE_PRIOR = LogNormal(5, 1.5)
SIZE_BOUNDS = (1e-6, 1e6)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(CountedColumns):
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

    Where the sizes are learned, all rows have to be at hand, since their sums do not tell the last
    factor: leaves of streams need a number. A row of weight ``w`` has that factor ``w`` times.

    Examples
    --------
    >>> NegativeBinomial(size=2, shape=1)
    NegativeBinomial(size=2.0, shape=1.0, mean=None, exposure=None)
    """

    size: Any = SIZE_PRIOR
    shape: Any = SHAPE_PRIOR
    mean: Any = None
    exposure: Any = None
    learnable = (Learnable("size", SIZE_BOUNDS), Learnable("shape", BOUNDS))

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
        if self.mean is not None:
            self._check_positive("mean")

    @property
    def _columns(self) -> int | None:
        """How many columns of counts the parameters are for, or None while open."""
        return len(self.mean) if isinstance(self.mean, np.ndarray) else None

    @property
    def learns_from_rows(self) -> bool:
        """Whether the sizes are learned, which sums over rows do not tell."""
        return is_learned(self.size)

    def resolve(self, X: Data) -> NegativeBinomial:
        """Return a copy with a mean for each column."""
        mean = self._means(X) if self.mean is None else self.mean
        mean = np.broadcast_to(mean, self._counted(int(X.shape[1])))
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

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``rate`` (C, d), the mean per unit of exposure, and ``size`` (C, d)."""
        n, total = self._sums(statistics)
        found = self._of_clusters(base, len(statistics))
        size, shape = found["size"], found["shape"]
        a = 1 + size * shape / self.mean + size * n
        odds = rng.standard_gamma(shape + total) / rng.standard_gamma(a)  # of 1 - p
        return {"rate": size * odds, "size": np.broadcast_to(size, odds.shape)}

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
