"""Gaussian clusters that are round: one variance per cluster for all columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.far_entries import bulk_share_of_all
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
    learned_variance,
    learns,
    scalars_learned,
)
from mixwood.likelihoods.normal_wishart import vector
from mixwood.likelihoods.spread import (
    refuse_extreme_spread,
    rounding,
    row_copies,
    warn_of_far_rows,
    warn_of_tiny_scale,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["SphericalGaussian"]


@dataclass(frozen=True, eq=False)
class SphericalGaussian(LearnsVariances, Likelihood):
    """Gaussian clusters with one variance for all columns.

    The variance that clusters are expected to have is learned along with the clusters by default.

    Parameters
    ----------
    r : float or distribution, optional
        How many observations the prior mean is worth: the variance of a cluster over that of the
        centres of clusters. None, the default, ties it to the learned variance, so that centres
        have 200 times the data's variance, or more. A number fixes it, a
        `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is its hyperprior. 0.1
        where `scale` is fixed.
    nu : float or distribution, optional
        Degrees of freedom of the variance. Large: all clusters have nearly the same variance;
        small: each its own. A number fixes it, above 2 (0 where `scale` is fixed). A distribution
        is the hyperprior of ``nu - 2``, kept within ``d`` and ``20,000 d``;
        ``mixwood.hyper.LogNormal(10 d, 2)`` by default. 7 where `scale` is fixed.
    mean : array of shape (d,), optional
        Prior mean; the sample mean by default.
    scale : {"learn", "data"} or float
        ``"learn"`` samples the variance that clusters are expected to have; it starts at a fifth of
        the data's. All else fixes the prior scale ``psi``, in squared units: ``"data"`` is
        ``c (nu-2) s^2`` with ``c = 0.1`` and ``s^2`` the sample variance averaged over columns.

    Notes
    -----
    With ``n = |c|`` and ``psi_n = psi + sum |x-xbar|^2 + r n/(r+n) |xbar-m|^2``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi^(nu/2) psi_n^(-(nu+nd)/2)
                 Gamma((nu+nd)/2) / Gamma(nu/2)

    With ``scale="learn"`` and ``nu' = nu - 2``, so that ``omega`` is the expected variance of a
    cluster, over that of the data::

        psi = nu' omega s^2,    omega ~ Gamma(3/2, rate 3/(2 0.2)) on omega >= F
        ln nu' ~ N(ln(10 d), 2^2) on d <= nu' <= 20000 d
        r = omega / tau

    (A row has ``d`` entries that tell about the variance, so ``nu'`` is worth ``nu'/d`` rows.)
    ``tau``, the variance of the centres of clusters over that of the data, has a narrow law
    about 200, ``ln tau ~ N(ln 200, 0.02/d)``, 2,292 in one
    column. ``F = 1/(1/D + 20)`` is a floor that matters where values are rounded: ``D`` is
    ``1/pi`` of the squared rounding steps over ``s^2``, averaged over columns, at least a
    millionth.

    Examples
    --------
    >>> SphericalGaussian(scale=2)
    SphericalGaussian(r=None, nu=None, mean=None, scale=2.0)
    """

    r: Any = None
    nu: Any = None
    mean: Any = None
    scale: Any = "learn"
    scales = ("learn", "data")
    continuous = True
    in_words = "round clusters"
    tied_to_columns = 2

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
                    f"scale must be 'learn', 'data' or a number, got {shown(self.scale)}"
                )
        elif isinstance(self.scale, LearnedScale):
            check_learned(self.scale, 0)
        else:
            object.__setattr__(self, "scale", positive_number(self.scale, "scale"))

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""
        return None if self.mean is None else int(self.mean.shape[0])

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats."""
        return real_matrix(X, name=name, width=width if width is not None else self.width)

    def resolve(self, X: Data) -> SphericalGaussian:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        mean = X.mean(axis=0) if self.mean is None else self.mean
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, 7.0, X.shape[1])
        scale = self.scale
        if isinstance(scale, str):
            varies = bool(np.any(X.max(axis=0) > X.min(axis=0)))
            with np.errstate(over="ignore", invalid="ignore"):
                variance = X.var(axis=0, ddof=1).mean() if varies else 1.0
            refuse_extreme_spread(np.array([variance]))
            if scale == "learn":
                bulk = bulk_share_of_all(X, float(variance))
                steps = rounding(X).steps
                scale = learned_variance(float(variance), steps, row_copies(X), bulk)
            else:
                scale = float(variance) * variance_factor(nu)
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> SphericalGaussian:
        """Return a copy whose open parameters are those of standardized data."""
        mean = np.zeros(width) if self.mean is None else self.mean
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, 7.0, width)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                scale = learned_variance(1.0, np.zeros(width))
            else:
                scale = variance_factor(nu)
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    @property
    def _square(self) -> Any:
        """The squared unit of the rows: `scale`, or the data's variance."""
        return self.scale.covariance if isinstance(self.scale, LearnedScale) else self.scale

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred and in units of `scale`.

        Where that is learned, in units of the data's deviation.
        """
        from mixwood import _core

        standard = (X - self.mean) / np.sqrt(self._square)
        if not learns(self.scale):
            return _core.spherical_gaussian(warn_of_tiny_scale(standard), self.r, self.nu)
        return _core.spherical_gaussian_learned(
            warn_of_far_rows(standard),
            self.scale.floor / self._square,
            self.scale.tie_floor / self._square,
            C0,
            centre_spread(self.own_columns),
            *laws(self.r, self.nu, self.scale, self.columns_sharing),
            self.start_base(),
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units in which the core sees the rows."""
        assert isinstance(X, np.ndarray)
        return np.full(X.shape[0], -0.5 * X.shape[1] * np.log(self._square))

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows in units of the data's deviations."""
        return [np.asarray((X - self.mean) / np.sqrt(self._square))]

    def _unpacked(self, base: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the expected variance, in units, ``nu - 2`` and `r`."""
        share, excess, r = np.moveaxis(np.exp(base), -1, 0)
        return share, excess, r * share / centre_spread(self.own_columns) if self.r is None else r

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return the expected ``variance``, ``nu``, and ``r`` or ``tau``, if they are sampled."""
        if not learns(self.scale):
            return {}
        share, *_ = self._unpacked(base)
        scalars = scalars_learned(self.r, self.nu, base, self.own_columns, 2)
        return {"variance": share * self._square, **scalars}

    @property
    def own_columns(self) -> int:
        """How many columns take part."""
        return len(self.mean)

    @property
    def columns_sharing(self) -> int:
        """All of them."""
        return self.own_columns

    @property
    def statistic_size(self) -> int:
        """The size, the mean and the scatter about it."""
        return int(self.mean.shape[0]) + 2

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The mean."""
        place = np.arange(self.statistic_size)
        return (place >= 1) & (place < self.statistic_size - 1)

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``mean`` (C, d) and ``variance`` (C,) from Normal-Gamma posteriors."""
        d = self.mean.shape[0]
        n, centre, scatter = statistics[:, 0], statistics[:, 1 : 1 + d], statistics[:, 1 + d]
        psi: Any = 1
        nu, r = self.nu, self.r
        if learns(self.scale):
            share, excess, r = self._unpacked(base_of_clusters(base, len(n), self.base_size))
            psi, nu = excess * share, excess + 2
        scale = psi + scatter + r * n / (r + n) * (centre**2).sum(axis=1)
        variance = scale / (2 * rng.standard_gamma((nu + n * d) / 2))
        noise = rng.standard_normal(centre.shape) * np.sqrt(variance / (r + n))[:, None]
        mean = (n / (r + n))[:, None] * centre + noise
        return {
            "mean": self.mean + np.sqrt(self._square) * mean,
            "variance": self._square * variance,
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d)."""
        d = self.mean.shape[0]
        return np.asarray(self.mean + np.sqrt(self._square) * statistics[:, 1 : 1 + d])

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw Gaussian rows, all columns with one variance."""
        deviation = np.sqrt(parameters["variance"][labels])
        return rng.normal(parameters["mean"][labels], deviation[:, None])
