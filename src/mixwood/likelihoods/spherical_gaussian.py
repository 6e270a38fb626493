"""Gaussian clusters that are round: one variance per cluster for all columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.gaussian import (
    SCALE_FRACTION,
    refuse_extreme_spread,
    vector,
    warn_of_tiny_scale,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["SphericalGaussian"]


@dataclass(frozen=True, eq=False)
class SphericalGaussian(Likelihood):
    """Gaussian clusters with one variance for all columns.

    Parameters
    ----------
    r : float
        How many observations the prior mean is worth.
    nu : float
        Degrees of freedom of the variance, above 0; 7 by default.
    mean : array of shape (d,), optional
        Prior mean; the sample mean by default.
    scale : "data" or float
        The prior scale ``psi``, in squared units. ``"data"`` is ``c (nu-2) s^2`` with
        ``c = 0.1`` and ``s^2`` the sample variance averaged over columns.

    Notes
    -----
    With ``n = |c|`` and ``psi_n = psi + sum |x-xbar|^2 + r n/(r+n) |xbar-m|^2``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi^(nu/2) psi_n^(-(nu+nd)/2)
                 Gamma((nu+nd)/2) / Gamma(nu/2)

    Examples
    --------
    >>> SphericalGaussian(scale=2)
    SphericalGaussian(r=0.1, nu=7.0, mean=None, scale=2.0)
    """

    r: float = 0.1
    nu: float = 7.0
    mean: Any = None
    scale: Any = "data"
    continuous = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", moderate_number(self.r, "r"))
        object.__setattr__(self, "nu", moderate_number(self.nu, "nu"))
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if isinstance(self.scale, str):
            if self.scale != "data":
                raise ValueError(f"scale must be 'data' or a number, got {shown(self.scale)}")
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
        """Return a copy with `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        mean = X.mean(axis=0) if self.mean is None else self.mean
        scale = self.scale
        if isinstance(scale, str):
            varies = bool(np.any(X.max(axis=0) > X.min(axis=0)))
            with np.errstate(over="ignore", invalid="ignore"):
                variance = X.var(axis=0, ddof=1).mean() if varies else 1.0
            refuse_extreme_spread(np.array([variance]))
            scale = float(variance) * SCALE_FRACTION * max(self.nu - 2, 1.0)
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> SphericalGaussian:
        """Return a copy whose open parameters are those of standardized data."""
        mean = np.zeros(width) if self.mean is None else self.mean
        scale = self.scale
        if isinstance(scale, str):
            scale = SCALE_FRACTION * max(self.nu - 2, 1.0)
        return replace(self, mean=mean, scale=scale)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred and in units of `scale`."""
        from mixwood import _core

        standard = warn_of_tiny_scale((X - self.mean) / np.sqrt(self.scale))
        return _core.spherical_gaussian(standard, self.r, self.nu)

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units in which the core sees the rows."""
        assert isinstance(X, np.ndarray)
        return np.full(X.shape[0], -0.5 * X.shape[1] * np.log(self.scale))

    @property
    def statistic_size(self) -> int:
        """The size, the mean and the scatter about it."""
        return int(self.mean.shape[0]) + 2

    def draw_parameters(self, statistics: FloatArray, rng: np.random.Generator) -> Parameters:
        """Draw ``mean`` (C, d) and ``variance`` (C,) from Normal-Gamma posteriors."""
        d = self.mean.shape[0]
        n, centre, scatter = statistics[:, 0], statistics[:, 1 : 1 + d], statistics[:, 1 + d]
        scale = 1 + scatter + self.r * n / (self.r + n) * (centre**2).sum(axis=1)
        variance = scale / (2 * rng.standard_gamma((self.nu + n * d) / 2))
        noise = rng.standard_normal(centre.shape) * np.sqrt(variance / (self.r + n))[:, None]
        mean = (n / (self.r + n))[:, None] * centre + noise
        return {
            "mean": self.mean + np.sqrt(self.scale) * mean,
            "variance": self.scale * variance,
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d)."""
        d = self.mean.shape[0]
        return np.asarray(self.mean + np.sqrt(self.scale) * statistics[:, 1 : 1 + d])

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
