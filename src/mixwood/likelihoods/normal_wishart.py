"""What likelihoods with a Normal-Wishart prior share: parameters, units, draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_array, real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.cost import refuse_huge_matrices
from mixwood.likelihoods.dependence import (
    KeepsColumns,
    independent_columns,
    kept_entries,
    whole_covariance,
    whole_rows,
)
from mixwood.likelihoods.far_entries import bulk_shares
from mixwood.likelihoods.fixed_scale import data_scale, paper_scale, standard_scale
from mixwood.likelihoods.learned import (
    C0,
    LearnedScale,
    base_of_clusters,
    centre_spread,
    is_learned,
)
from mixwood.likelihoods.learned_base import LearnsCovariance
from mixwood.likelihoods.learned_scale import (
    check_learned,
    check_r_and_nu,
    explicit_r_and_nu,
    laws,
    learned_covariance,
    learns,
    scalars_learned,
)
from mixwood.likelihoods.missing import refuse_empty_columns
from mixwood.likelihoods.spread import Rounding, rounding, sample_mean, shrunk_covariance

__all__ = ["NormalWishart", "vector"]


class NormalWishart(KeepsColumns, LearnsCovariance, Likelihood):
    """Clusters with a mean and a full covariance, under a Normal-Wishart prior."""

    r: Any
    nu: Any
    mean: Any
    scale: Any
    scales: ClassVar[tuple[str, ...]] = ("learn", "data", "paper")
    continuous: ClassVar[bool] = True
    #: where the weight, the mean and the scatter begin in a statistic; the size is in front
    moments_at: ClassVar[int] = 0

    def __post_init__(self) -> None:
        r, nu = check_r_and_nu(self.r, self.nu, self.scale)
        object.__setattr__(self, "r", r)
        object.__setattr__(self, "nu", nu)
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if isinstance(self.scale, str):
            if self.scale not in self.scales:
                raise ValueError(
                    f"scale must be 'learn', 'data', 'paper' or an array, got {shown(self.scale)}"
                )
        elif isinstance(self.scale, LearnedScale):
            check_learned(self.scale, 2)
            _positive_definite(self.scale.covariance)
        else:
            object.__setattr__(self, "scale", _positive_definite(self.scale))
        if self.width is not None:
            self._check_shapes(self.width)

    def _check_shapes(self, d: int) -> None:
        least = d + 1 if learns(self.scale) else d - 1
        if self.nu is not None and not is_learned(self.nu) and self.nu <= least:
            what = "d + 1" if learns(self.scale) else "d - 1"
            raise ValueError(f"nu must be above {what} = {least}, got {self.nu}")
        if self.mean is not None and self.mean.shape != (d,):
            raise ValueError(f"mean must have shape ({d},), got {self.mean.shape}")
        matrix, kept = self._matrix, self.kept
        if matrix is None:
            return
        given = np.shape(matrix) if kept is None else (len(kept.centre),) * 2
        if given != (d, d):
            raise ValueError(f"scale must have shape ({d}, {d}), got {given}")

    @property
    def _matrix(self) -> Any:
        """What the rows are measured by: `Psi`, or the covariance of the data; None while open."""
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
        return None if self._matrix is None else int(self._matrix.shape[0])

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats, NaN where missing if that is allowed."""
        wanted = width if width is not None else self.width
        matrix = real_matrix(X, name=name, width=wanted, missing=self.skips_missing)
        refuse_huge_matrices(matrix.shape[1], name)
        return matrix

    def resolve(self, X: Data) -> Self:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        d = X.shape[1]
        self._check_shapes(d)
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, d + 6.0)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                refuse_empty_columns(X)
                kept = independent_columns(X)
                own = kept_entries(X, kept)
                covariance = shrunk_covariance(own)
                bulk = bulk_shares(own, np.diag(covariance))
                scale = learned_covariance(covariance, rounding(own), kept, bulk)
            else:
                scale = paper_scale(X) if scale == "paper" else data_scale(X, nu)
        mean = sample_mean(X) if self.mean is None else self.mean
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)  # type: ignore[type-var]

    def resolve_standard(self, width: int) -> Self:
        """Return a copy whose open parameters are those of standardized data."""
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, width + 6.0)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                scale = learned_covariance(np.eye(width), Rounding.none(width))
            else:
                scale = standard_scale(nu, width)
        mean = np.zeros(width) if self.mean is None else self.mean
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)  # type: ignore[type-var]

    def _units(self) -> FloatArray:
        return np.sqrt(np.diag(self._matrix))

    def _in_units(self, matrix: FloatArray) -> FloatArray:
        units = self._units()
        return np.asarray(matrix / np.outer(units, units))

    def _standard(self, X: Data) -> FloatArray:
        assert isinstance(X, np.ndarray)
        return np.asarray((self.own_entries(X) - self.centre) / self._units())

    def _complete(self, X: Data) -> FloatArray:
        """Return the rows in these units; what is missing in them is filled in."""
        return self._standard(X)

    def _learned_arguments(self) -> dict[str, Any]:
        """Return what the core wants to know of a learned base measure."""
        spread = self._in_units(self._matrix)
        nu_law, r_law = laws(self.r, self.nu, self.scale)
        return {
            "spread": spread,
            "floor": self._in_units(self.scale.floor),
            "tie_floor": self._in_units(self.scale.tie_floor),
            "fraction": C0,
            "degrees": len(spread) + 2.0,
            "tau": centre_spread(len(spread)),
            "nu_law": nu_law,
            "r_law": r_law,
            "base": self.start_scale(),
        }

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units in which the core sees the rows.

        Densities are those of the columns that take part, and of what is observed of a row.
        """
        assert isinstance(X, np.ndarray)
        log_units = np.log(self._units())
        missing = np.isnan(self.own_entries(X))
        if missing.any():
            return np.asarray(-(~missing @ log_units))
        return np.full(X.shape[0], -float(np.sum(log_units)))

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows in units of the columns' deviations, and in those of the covariance."""
        standard = self._complete(X)
        factor = np.linalg.cholesky(self._in_units(self._matrix))
        return [standard, np.linalg.solve(factor, standard.T).T]

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``covariance`` (..., d, d), and ``nu``, ``r`` or ``tau``, if they are sampled."""
        if not learns(self.scale):
            return {}
        units, (expected, *_) = self._units(), self.unpacked(base)
        scalars = scalars_learned(self.r, self.nu, base, self.own_columns, len(self.mean) + 1)
        covariance = whole_covariance(expected * np.outer(units, units), self.kept)
        return {"covariance": covariance, **scalars}

    @property
    def statistic_size(self) -> int:
        """What is counted, then the weight, the mean and a triangle of the scatter."""
        d = len(self.centre)
        return self.moments_at + 1 + d + d * (d + 1) // 2

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The mean."""
        place = np.arange(self.statistic_size) - self.moments_at
        return (place >= 1) & (place <= len(self.centre))

    @property
    def work(self) -> int:
        """A Cholesky factor, whose cost grows with the third power of the columns."""
        return max(self.statistic_size, len(self.centre) ** 3 // 200)

    @property
    def matrix_size(self) -> int:
        """All columns that take part."""
        return len(self.centre)

    @property
    def advice_if_wide(self) -> str:
        """What to do about very many columns."""
        return "Use DiagonalGaussian, or fewer columns (such as the first principal components)"

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``mean`` (C, d) and ``covariance`` (C, d, d) from Normal-Wishart posteriors.

        Columns that take no part follow from the others: the covariance is singular then.
        """
        d, units, size = len(self.centre), self._units(), statistics[:, 0]
        moments = statistics[:, self.moments_at :]
        n, centre = moments[:, :1], moments[:, 1 : 1 + d]
        # Psi_n in units of the rows; the triangle of the scatter comes column by column
        scale, nu, r = self._prior_terms(base, len(n))
        column, row = np.triu_indices(d)
        scatter = np.zeros_like(scale)
        scatter[:, row, column] = scatter[:, column, row] = moments[:, 1 + d :]
        weight = (r * n / (r + n))[:, :, None]
        scale += scatter + weight * centre[:, :, None] * centre[:, None, :]
        factor = _inverse_wishart_factor(scale, nu + size, rng)
        noise = np.einsum("cij,cj->ci", factor, rng.standard_normal((len(n), d)))
        mean = n / (r + n) * centre + noise / np.sqrt(r + n)
        factor = units[:, None] * factor
        return {
            "mean": whole_rows(self.centre + units * mean, self.kept),
            "covariance": whole_covariance(factor @ factor.swapaxes(1, 2), self.kept),
        }

    def _prior_terms(self, base: FloatArray | None, n: int) -> tuple[FloatArray, Any, Any]:
        """Return Psi in the core's units, nu and r of each of `n` base measures."""
        if not learns(self.scale):
            return np.tile(self._in_units(self.scale), (n, 1, 1)), self.nu, self.r
        bases = base_of_clusters(base, n, self.base_size)
        expected, excess, tied = self.unpacked(self.scale_base(bases))
        d = len(self.centre)
        return excess[:, None, None] * expected, excess + d + 1, tied[:, None]

    def scale_base(self, base: FloatArray) -> FloatArray:
        """Return what of base measures (..., base_size) is about the expected covariance."""
        return base

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d)."""
        start = self.moments_at + 1
        means = self.centre + self._units() * statistics[:, start : start + len(self.centre)]
        return whole_rows(means, self.kept)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw Gaussian rows; columns that take no part follow from the others."""
        return self.rows_of_scales(parameters, labels, np.ones(len(labels)), rng)

    def rows_of_scales(
        self, parameters: Parameters, labels: IntArray, scales: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw rows whose covariance is that of their cluster over a scale of their own."""
        covariance = parameters["covariance"]
        if self.kept is not None:
            covariance = covariance[:, self.kept.columns[:, None], self.kept.columns]
        factor = np.linalg.cholesky(covariance)
        X = self.own_entries(parameters["mean"])[labels]
        noise = rng.standard_normal(X.shape) / np.sqrt(scales)[:, None]
        step = max(2**20 // X.shape[1] ** 2, 1)
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            X[part] += np.einsum("nij,nj->ni", factor[labels[part]], noise[part])
        return whole_rows(X, self.kept)


def vector(value: Any, name: str) -> FloatArray:
    """Return a vector of finite numbers, or raise an error that names it."""
    array = np.atleast_1d(real_array(value, name))
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be a vector of finite numbers, got {shown(value)}")
    return array


def _positive_definite(value: Any) -> FloatArray:
    array = real_array(value, "scale")
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.size > 0
    if not square or not np.all(np.isfinite(array)) or not np.allclose(array, array.T):
        raise ValueError(
            f"scale must be 'learn', 'data', 'paper' or a symmetric matrix, got {shown(value)}"
        )
    diagonal = np.diag(array)
    if np.any(diagonal <= 0):
        raise ValueError(f"scale must be positive definite, got {shown(value)}")
    units = np.sqrt(diagonal)
    try:
        np.linalg.cholesky(array / np.outer(units, units))
    except np.linalg.LinAlgError:
        raise ValueError(f"scale must be positive definite, got {shown(value)}") from None
    return array


def _inverse_wishart_factor(
    scale: FloatArray, nu: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return F with F F' ~ inverse Wishart(scale, nu), by Bartlett's decomposition; many at once.

    `scale` has shape (C, d, d) and `nu` (C,).
    """
    d = scale.shape[-1]
    bartlett = np.tril(rng.standard_normal(scale.shape), -1)
    diagonal = np.arange(d)
    bartlett[:, diagonal, diagonal] = np.sqrt(rng.chisquare(nu[:, None] - diagonal))
    # Lambda = C^-T B B' C^-1 with scale = C C', hence Lambda^-1 = (C B^-T)(C B^-T)'.
    chol = np.linalg.cholesky(scale)
    return np.linalg.solve(bartlett, chol.swapaxes(1, 2)).swapaxes(1, 2)
