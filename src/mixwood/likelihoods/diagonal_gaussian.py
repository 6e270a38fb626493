"""Gaussian clusters with independent columns: a Normal-Gamma prior for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.gaussian import (
    SCALE_FRACTION,
    column_variances,
    refuse_extreme_spread,
    vector,
    warn_of_tiny_scale,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["DiagonalGaussian"]


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(Likelihood):
    """Gaussian clusters with independent columns; missing entries (NaN) are skipped.

    Parameters
    ----------
    r : float
        How many observations the prior mean is worth.
    nu : float
        Degrees of freedom of each column's variance, above 0; 7 by default
        (`Gaussian`'s ``d + 6`` for one column).
    mean : array of shape (d,), optional
        Prior mean; the mean of the present entries by default.
    scale : "data" or array of shape (d,)
        The prior scale ``psi`` of each column, in squared units. ``"data"`` is
        ``c (nu-2) s^2`` with ``c = 0.1`` and ``s^2`` the column's sample variance.

    Notes
    -----
    In each column, over the ``n`` present entries of the cluster, with
    ``psi_n = psi + sum (x-xbar)^2 + r n/(r+n) (xbar-m)^2``::

        P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
               Gamma((nu+n)/2) / Gamma(nu/2)

    A missing entry is integrated out, which leaves its column's product without it.

    Examples
    --------
    >>> DiagonalGaussian(r=1)
    DiagonalGaussian(r=1.0, nu=7.0, mean=None, scale='data')
    """

    r: float = 0.1
    nu: float = 7.0
    mean: Any = None
    scale: Any = "data"
    skips_missing = True
    continuous = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", moderate_number(self.r, "r"))
        object.__setattr__(self, "nu", moderate_number(self.nu, "nu"))
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if isinstance(self.scale, str):
            if self.scale != "data":
                raise ValueError(f"scale must be 'data' or an array, got {shown(self.scale)}")
        else:
            scale = vector(self.scale, "scale")
            if np.any(scale <= 0):
                raise ValueError(f"scale must be positive, got {shown(self.scale)}")
            object.__setattr__(self, "scale", scale)
        if self.width is not None:
            self._check_shapes(self.width)

    def _check_shapes(self, d: int) -> None:
        for name in ("mean", "scale"):
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.shape != (d,):
                raise ValueError(f"{name} must have shape ({d},), got {value.shape}")

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""
        if self.mean is not None:
            return int(self.mean.shape[0])
        return None if isinstance(self.scale, str) else int(self.scale.shape[0])

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of floats, NaN where missing."""
        width = width if width is not None else self.width
        return real_matrix(X, name=name, width=width, missing=True)

    def resolve(self, X: Data) -> DiagonalGaussian:
        """Return a copy with `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        self._check_shapes(X.shape[1])
        present = np.isfinite(X)
        counts = np.maximum(present.sum(axis=0), 1)
        centre = np.where(present, X, 0.0).sum(axis=0) / counts
        mean = centre if self.mean is None else self.mean
        scale = self.scale
        if isinstance(scale, str):
            with np.errstate(over="ignore"):
                squares = np.where(present, X - centre, 0.0) ** 2
                variances = squares.sum(axis=0) / np.maximum(counts - 1, 1)
            variances = refuse_extreme_spread(column_variances(X, variances))
            scale = variances * SCALE_FRACTION * max(self.nu - 2, 1.0)
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> DiagonalGaussian:
        """Return a copy whose open parameters are those of standardized data."""
        mean = np.zeros(width) if self.mean is None else self.mean
        scale = self.scale
        if isinstance(scale, str):
            scale = np.full(width, SCALE_FRACTION * max(self.nu - 2, 1.0))
        return replace(self, mean=mean, scale=scale)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred and in units of `scale`."""
        from mixwood import _core

        standard = warn_of_tiny_scale((X - self.mean) / np.sqrt(self.scale))
        return _core.diagonal_gaussian(standard, self.r, self.nu)

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units, over each row's present entries."""
        assert isinstance(X, np.ndarray)
        return np.asarray(-0.5 * np.isfinite(X) @ np.log(self.scale))

    @property
    def statistic_size(self) -> int:
        """For each column the size, the mean and the scatter."""
        return int(3 * self.mean.shape[0])

    def draw_parameters(self, statistics: FloatArray, rng: np.random.Generator) -> Parameters:
        """Draw ``mean`` and ``variance``, both (C, d), from Normal-Gamma posteriors."""
        n, centre, scatter = np.moveaxis(statistics.reshape(len(statistics), -1, 3), 2, 0)
        scale = 1 + scatter + self.r * n / (self.r + n) * centre**2
        variance = scale / (2 * rng.standard_gamma((self.nu + n) / 2))
        noise = rng.standard_normal(n.shape) * np.sqrt(variance / (self.r + n))
        mean = n / (self.r + n) * centre + noise
        return {
            "mean": self.mean + np.sqrt(self.scale) * mean,
            "variance": self.scale * variance,
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d) of what is not missing."""
        n, centre, _ = np.moveaxis(statistics.reshape(len(statistics), -1, 3), 2, 0)
        return np.where(n > 0, self.mean + np.sqrt(self.scale) * centre, np.nan)

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
