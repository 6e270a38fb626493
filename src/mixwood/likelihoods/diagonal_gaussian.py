"""Gaussian clusters with independent columns: a Normal-Gamma prior for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.dependence import (
    KeepsColumns,
    kept_entries,
    varying_columns,
    whole_rows,
    whole_variances,
)
from mixwood.likelihoods.far_entries import bulk_shares
from mixwood.likelihoods.fixed_scale import variance_factor
from mixwood.likelihoods.learned import (
    C0,
    LearnedScale,
    base_of_clusters,
    centre_spread,
)
from mixwood.likelihoods.learned_base import LearnsVariances
from mixwood.likelihoods.learned_scale import (
    check_learned,
    check_nu_of_variances,
    check_r_and_nu,
    explicit_r_and_nu,
    laws,
    learned_variances,
    learns,
    scalars_learned,
)
from mixwood.likelihoods.missing import refuse_empty_columns
from mixwood.likelihoods.normal_wishart import vector
from mixwood.likelihoods.spread import (
    Rounding,
    present_variances,
    rounding,
    warn_of_far_rows,
    warn_of_tiny_scale,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["DiagonalGaussian"]


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(KeepsColumns, LearnsVariances, Likelihood):
    """Gaussian clusters with independent columns; missing entries (NaN) are skipped.

    The variances that clusters are expected to have in each column are learned along with the
    clusters by default. A column whose learned variance is nearly that of the data does not
    separate anything.

    Parameters
    ----------
    r : float or distribution, optional
        How many observations the prior mean is worth: the variance of a cluster over that of the
        centres of clusters. None, the default, ties it to the learned variance of each column, so
        that centres have 200 times the data's variance, or more. A number fixes it, a
        `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is its hyperprior. 0.1 where `scale`
        is fixed.
    nu : float or distribution, optional
        Degrees of freedom of each column's variance. Large: all clusters have nearly the same
        variances; small: each its own. A number fixes it, above 2 (0 where `scale` is fixed).
        A distribution is the hyperprior of ``nu - 2``, kept within 1 and 20,000;
        ``mixwood.hyper.LogNormal(10, 2)`` by default. 7 where `scale` is fixed.
    mean : array of shape (d,), optional
        Prior mean; the mean of the present entries by default.
    scale : {"learn", "data"} or array of shape (d,)
        ``"learn"`` samples the variances that clusters are expected to have; they start at a fifth
        of the data's. All else fixes the prior scale ``psi`` of each column, in squared units:
        ``"data"`` is ``c (nu-2) s^2`` with ``c = 0.1`` and ``s^2`` the column's sample variance.

    Notes
    -----
    In each column, over the ``n`` present entries of the cluster, with
    ``psi_n = psi + sum (x-xbar)^2 + r n/(r+n) (xbar-m)^2``::

        P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
               Gamma((nu+n)/2) / Gamma(nu/2)

    A missing entry is integrated out, which leaves its column's product without it.

    With ``scale="learn"`` and ``nu' = nu - 2``, so that ``omega`` is the expected variance in a
    column, over that of the data::

        psi = nu' omega s^2,    omega ~ Gamma(3/2, rate 3/(2 0.2)) on omega >= F
        ln nu' ~ N(ln 10, 2^2) on 1 <= nu' <= 20000, one for all columns
        r = omega / tau

    ``tau``, the variance of the centres of clusters over that of the data, has a narrow law
    about 200, ``ln tau ~ N(ln 200, 0.02/d)``, 2,292 in one
    column. ``F = 1/(1/D + 20)`` is a floor that matters where values are rounded: ``D`` is
    ``1/pi`` of the squared rounding step over ``s^2``, at least a millionth.

    Columns that are constants take no part in that, and no part in densities; a warning says which.

    Examples
    --------
    >>> DiagonalGaussian(r=1)
    DiagonalGaussian(r=1.0, nu=None, mean=None, scale='learn')
    """

    r: Any = None
    nu: Any = None
    mean: Any = None
    scale: Any = "learn"
    scales = ("learn", "data")
    skips_missing = True
    continuous = True
    in_words = "diagonal covariances"
    tied_to_columns = 1

    def __post_init__(self) -> None:
        r, nu = check_r_and_nu(self.r, self.nu, self.scale)
        check_nu_of_variances(nu, self.scale)
        object.__setattr__(self, "r", r)
        object.__setattr__(self, "nu", nu)
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if isinstance(self.scale, str):
            if self.scale not in self.scales:
                raise ValueError(
                    f"scale must be 'learn', 'data' or an array, got {shown(self.scale)}"
                )
        elif isinstance(self.scale, LearnedScale):
            check_learned(self.scale, 1)
        else:
            scale = vector(self.scale, "scale")
            if np.any(scale <= 0):
                raise ValueError(f"scale must be positive, got {shown(self.scale)}")
            object.__setattr__(self, "scale", scale)
        if self.width is not None:
            self._check_shapes(self.width)

    def _check_shapes(self, d: int) -> None:
        scale = self._squares if self.kept is None else self.kept.centre
        for name, value in (("mean", self.mean), ("scale", scale)):
            if value is not None and np.shape(value) != (d,):
                raise ValueError(f"{name} must have shape ({d},), got {np.shape(value)}")

    @property
    def _squares(self) -> Any:
        """The squared units of the rows: `scale`, or the data's variances; None while open."""
        if isinstance(self.scale, LearnedScale):
            return self.scale.covariance
        return None if isinstance(self.scale, str) else self.scale

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""
        if self.mean is not None:
            return int(self.mean.shape[0])
        if self.kept is not None:
            return len(self.kept.centre)
        return None if self._squares is None else int(self._squares.shape[0])

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of floats, NaN where missing."""
        width = width if width is not None else self.width
        return real_matrix(X, name=name, width=width, missing=True)

    def resolve(self, X: Data) -> DiagonalGaussian:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        self._check_shapes(X.shape[1])
        present = np.isfinite(X)
        counts = np.maximum(present.sum(axis=0), 1)
        centre = np.where(present, X, 0.0).sum(axis=0) / counts
        mean = centre if self.mean is None else self.mean
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, 7.0)
        scale = self.scale
        if isinstance(scale, str):
            variances = present_variances(X, centre)
            if scale == "learn":
                refuse_empty_columns(X)
                kept = varying_columns(X)
                own, entries = kept_entries(variances, kept), kept_entries(X, kept)
                bulk = bulk_shares(entries, own)
                scale = learned_variances(own, rounding(entries), kept, bulk)
            else:
                scale = variances * variance_factor(nu)
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> DiagonalGaussian:
        """Return a copy whose open parameters are those of standardized data."""
        mean = np.zeros(width) if self.mean is None else self.mean
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, 7.0)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                scale = learned_variances(np.ones(width), Rounding.none(width))
            else:
                scale = np.full(width, variance_factor(nu))
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    def _standard(self, X: Data) -> FloatArray:
        assert isinstance(X, np.ndarray)
        return np.asarray((self.own_entries(X) - self.centre) / np.sqrt(self._squares))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred and in units of `scale`.

        Where that is learned, over the columns that take part, in units of their deviations.
        """
        from mixwood import _core

        standard = self._standard(X)
        if not learns(self.scale):
            return _core.diagonal_gaussian(warn_of_tiny_scale(standard), self.r, self.nu)
        return _core.diagonal_gaussian_learned(
            warn_of_far_rows(standard),
            self.scale.floor / self._squares,
            self.scale.tie_floor / self._squares,
            C0,
            centre_spread(self.own_columns),
            *laws(self.r, self.nu, self.scale),
            self.start_base(),
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units, over each row's present entries.

        Densities are those of the columns that take part.
        """
        assert isinstance(X, np.ndarray)
        present = np.isfinite(self.own_entries(X))
        return np.asarray(-0.5 * present @ np.log(self._squares))

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows in units of the data's deviations."""
        return [np.nan_to_num(self._standard(X))]

    def _unpacked(self, base: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the expected variances (..., d), in units, ``nu - 2`` and `r`, (..., d or 1)."""
        shares, scalars = np.exp(base[..., :-2]), np.exp(base[..., -2:])
        r = scalars[..., 1:]
        if self.r is None:
            r = r * shares / centre_spread(self.own_columns)
        return shares, scalars[..., :1], r

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return the expected ``variance`` (..., d), ``nu``, and ``r`` or ``tau``, if sampled."""
        if not learns(self.scale):
            return {}
        shares, *_ = self._unpacked(base)
        scalars = scalars_learned(self.r, self.nu, base, self.own_columns, 2)
        return {"variance": whole_variances(shares * self._squares, self.kept), **scalars}

    @property
    def own_columns(self) -> int:
        """How many columns take part."""
        return len(self.centre)

    @property
    def statistic_size(self) -> int:
        """For each column the size, the mean and the scatter."""
        return 3 * len(self.centre)

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The mean of each column."""
        return np.asarray(np.arange(self.statistic_size) % 3 == 1)

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``mean`` and ``variance``, both (C, d), from Normal-Gamma posteriors.

        Columns that take no part are constants, with a variance of 0.
        """
        n, centre, scatter = np.moveaxis(statistics.reshape(len(statistics), -1, 3), 2, 0)
        psi: Any = 1
        nu, r = self.nu, self.r
        if learns(self.scale):
            of_each = base_of_clusters(base, len(n), self.base_size)
            shares, excess, r = self._unpacked(of_each)
            psi, nu = excess * shares, excess + 2
        scale = psi + scatter + r * n / (r + n) * centre**2
        variance = scale / (2 * rng.standard_gamma((nu + n) / 2))
        noise = rng.standard_normal(n.shape) * np.sqrt(variance / (r + n))
        mean = n / (r + n) * centre + noise
        return {
            "mean": whole_rows(self.centre + np.sqrt(self._squares) * mean, self.kept),
            "variance": whole_variances(self._squares * variance, self.kept),
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d) of what is not missing."""
        n, centre, _ = np.moveaxis(statistics.reshape(len(statistics), -1, 3), 2, 0)
        means = np.where(n > 0, self.centre + np.sqrt(self._squares) * centre, np.nan)
        return whole_rows(means, self.kept)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw Gaussian rows of independent columns."""
        deviation = np.sqrt(parameters["variance"][labels])
        return rng.normal(parameters["mean"][labels], deviation)
