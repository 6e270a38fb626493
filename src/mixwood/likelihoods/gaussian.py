"""Gaussian clusters with full covariances: the Normal-Wishart family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
from mixwood.likelihoods.missing import conditional_means
from mixwood.likelihoods.spread import (
    Rounding,
    rounding,
    sample_mean,
    shrunk_covariance,
    warn_of_far_rows,
    warn_of_tiny_scale,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Gaussian"]


@dataclass(frozen=True, eq=False)
class Gaussian(KeepsColumns, LearnsCovariance, Likelihood):
    """Gaussian clusters with full covariances, under a Normal-Wishart prior.

    What a cluster's mean and covariance are expected to be (the base measure) is learned along
    with the clusters by default: how wide clusters are and in which directions, and how alike.

    Parameters
    ----------
    r : float or distribution, optional
        How many observations the prior mean is worth: the variance of a cluster over that of the
        centres of clusters. None, the default, ties it to the learned covariance, so that
        centres have 200 times the data's variance, or more. A number fixes it, a
        `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is its hyperprior. 0.1
        where `scale` is fixed.
    nu : float or distribution, optional
        Degrees of freedom. Large: all clusters have nearly one covariance; small: each its own.
        A number fixes it, above ``d + 1`` (``d - 1`` where `scale` is fixed). A distribution is
        the hyperprior of ``nu - d - 1``, kept within 1 and 20,000;
        ``mixwood.hyper.LogNormal(10, 2)`` by default. ``d + 6`` where `scale` is fixed.
    mean : array of shape (d,), optional
        Prior mean; the sample mean by default.
    scale : {"learn", "data", "paper"} or array of shape (d, d)
        ``"learn"`` samples the covariance that clusters are expected to have; it starts at a fifth
        of the data's. All else fixes the prior scale matrix ``Psi``. ``"data"`` is
        ``c (nu-d-1) S`` with ``c`` the larger of 0.1 and ``20^(-2/d)``, and ``S`` the sample
        covariance shrunk a little to its diagonal. ``"paper"`` is
        the published ``Sigma / (10 det Sigma)^(1/d)``, whose determinant is 1/10 in any units.
        With ``"learn"`` and ``"data"`` the posterior does not depend on the units.

    Notes
    -----
    ``mean | Lambda ~ N(m, (r Lambda)^-1)``, ``Lambda ~ Wishart(Psi^-1, nu)``, and with
    ``n = |c|`` and ``Psi_n = Psi + S_c + r n/(r+n) (xbar-m)(xbar-m)'``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                 Gamma_d((nu+n)/2) / Gamma_d(nu/2)

    With ``scale="learn"`` and ``nu' = nu - d - 1``, so that ``Omega`` is the expected covariance
    of a cluster::

        Psi = nu' Omega,    Omega ~ Wishart(d+2, 0.2 S/(d+2)) on Omega >= F
        ln nu' ~ N(ln 10, 2^2) on 1 <= nu' <= 20000
        r = tr(S^-1 Omega) / (tau d)

    ``tau``, the variance of the centres of clusters over that of the data, has a narrow law
    about 200, ``ln tau ~ N(ln 200, 0.1^2)``, 2,292 in one
    column. ``F = (D^-1 + 20 S^-1)^-1`` is a floor that matters where values are rounded: ``D`` is
    diagonal, for each column ``1/pi`` of its squared rounding step, at least a millionth of its
    variance. A second floor, of ``Psi``, matters where many values are tied.

    With ``scale="learn"`` columns in which the rows have no variance of their own take no part:
    constants, and combinations of earlier columns (what those leave is less than 0.0002 of the
    column's deviation). A warning says which. They are described and drawn as the combinations
    that they are; densities are those of the others, and new rows are judged by the others alone.

    A missing entry (NaN) is part of a chain's state. With ``f = nu + n - d + 1`` and the observed
    entries ``o`` of a row, its cluster is drawn by the t density of these, and then the others::

        x_o | X_c ~ t(f, m_o, (r+n+1)/((r+n) f) Psi_n,oo)        m = (r m + n xbar)/(r+n)
        x_m | x_o, X_c  from the conditional t, of f + |o| degrees of freedom

    All other moves take the entries as they are then. `Posterior.imputed` has the draws; `mean`,
    ``S`` and floors are those of the observed entries (a normal fit), and densities of rows those
    of what is observed of them. Entries are taken to be missing whatever they would have been.

    Examples
    --------
    >>> Gaussian(nu=8)
    Gaussian(r=None, nu=8.0, mean=None, scale='learn')
    >>> Gaussian(scale="data").resolve(np.array([[0.0], [2.0]])).scale
    array([[1.]])
    """

    r: Any = None
    nu: Any = None
    mean: Any = None
    scale: Any = "learn"
    scales = ("learn", "data", "paper")
    continuous = True
    skips_missing = True
    draws_missing = True
    in_words = "full covariances"

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
        """Return `X` as a matrix of finite floats, NaN where missing."""
        wanted = width if width is not None else self.width
        matrix = real_matrix(X, name=name, width=wanted, missing=True)
        refuse_huge_matrices(matrix.shape[1], name)
        return matrix

    def resolve(self, X: Data) -> Gaussian:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        d = X.shape[1]
        self._check_shapes(d)
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, d + 6.0)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                kept = independent_columns(X)
                own = kept_entries(X, kept)
                scale = learned_covariance(shrunk_covariance(own), rounding(own), kept)
            else:
                scale = paper_scale(X) if scale == "paper" else data_scale(X, nu)
        mean = sample_mean(X) if self.mean is None else self.mean
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> Gaussian:
        """Return a copy whose open parameters are those of standardized data."""
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, width + 6.0)
        scale = self.scale
        if isinstance(scale, str):
            if scale == "learn":
                scale = learned_covariance(np.eye(width), Rounding.none(width))
            else:
                scale = standard_scale(nu, width)
        mean = np.zeros(width) if self.mean is None else self.mean
        return replace(self, r=r, nu=nu, mean=mean, scale=scale)

    def _units(self) -> FloatArray:
        return np.sqrt(np.diag(self._matrix))

    def _in_units(self, matrix: FloatArray) -> FloatArray:
        units = self._units()
        return np.asarray(matrix / np.outer(units, units))

    def _standard(self, X: Data) -> FloatArray:
        assert isinstance(X, np.ndarray)
        return np.asarray((self.own_entries(X) - self.centre) / self._units())

    def _filled(self, standard: FloatArray) -> FloatArray:
        """Return rows with what is missing filled in, from each row itself: where chains begin."""
        if not np.isnan(standard).any():
            return standard
        return conditional_means(standard, self._in_units(self._matrix))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred on the prior mean and in units of `Psi`.

        Where that is learned, over the columns that take part, in units of their deviations.
        Missing entries begin at what the others say about them, under one normal for all rows.
        """
        from mixwood import _core

        standard = self._standard(X)
        spread = self._in_units(self._matrix)
        fill = self._filled(standard)[np.isnan(standard)]
        if not learns(self.scale):
            return _core.gaussian(warn_of_tiny_scale(standard), self.r, self.nu, spread, fill)
        return _core.gaussian_learned(
            warn_of_far_rows(standard),
            spread,
            self._in_units(self.scale.floor),
            self._in_units(self.scale.tie_floor),
            C0,
            len(spread) + 2.0,
            centre_spread(len(spread)),
            *laws(self.r, self.nu, self.scale),
            self.start_base(),
            fill,
        )

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

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return those of the columns that take part, row by row."""
        assert isinstance(X, np.ndarray)
        rows, columns = np.nonzero(np.isnan(self.own_entries(X)))
        return rows, columns if self.kept is None else self.kept.columns[columns]

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return them in the units of the data."""
        assert isinstance(X, np.ndarray)
        columns = np.nonzero(np.isnan(self.own_entries(X)))[1]
        return np.asarray(self.centre[columns] + self._units()[columns] * latent)

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows in units of the columns' deviations, and in those of the covariance."""
        standard = self._filled(self._standard(X))
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
        """The size, the mean and a triangle of the scatter."""
        d = len(self.centre)
        return 1 + d + d * (d + 1) // 2

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The mean."""
        place = np.arange(self.statistic_size)
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
        d, units = len(self.centre), self._units()
        n, centre = statistics[:, :1], statistics[:, 1 : 1 + d]
        # Psi_n in units of the rows; the triangle of the scatter comes column by column
        if learns(self.scale):
            expected, excess, tied = self.unpacked(base_of_clusters(base, len(n), self.base_size))
            scale, nu, r = excess[:, None, None] * expected, excess + d + 1, tied[:, None]
        else:
            scale = np.tile(self._in_units(self.scale), (len(n), 1, 1))
            nu, r = self.nu, self.r
        column, row = np.triu_indices(d)
        scatter = np.zeros_like(scale)
        scatter[:, row, column] = scatter[:, column, row] = statistics[:, 1 + d :]
        weight = (r * n / (r + n))[:, :, None]
        scale += scatter + weight * centre[:, :, None] * centre[:, None, :]
        factor = _inverse_wishart_factor(scale, nu + n[:, 0], rng)
        noise = np.einsum("cij,cj->ci", factor, rng.standard_normal((len(n), d)))
        mean = n / (r + n) * centre + noise / np.sqrt(r + n)
        factor = units[:, None] * factor
        return {
            "mean": whole_rows(self.centre + units * mean, self.kept),
            "covariance": whole_covariance(factor @ factor.swapaxes(1, 2), self.kept),
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d)."""
        means = self.centre + self._units() * statistics[:, 1 : 1 + len(self.centre)]
        return whole_rows(means, self.kept)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw Gaussian rows; columns that take no part follow from the others."""
        covariance = parameters["covariance"]
        if self.kept is not None:
            covariance = covariance[:, self.kept.columns[:, None], self.kept.columns]
        factor = np.linalg.cholesky(covariance)
        X = self.own_entries(parameters["mean"])[labels]
        noise = rng.standard_normal(X.shape)
        step = max(2**20 // X.shape[1] ** 2, 1)
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            X[part] += np.einsum("nij,nj->ni", factor[labels[part]], noise[part])
        return whole_rows(X, self.kept)


def vector(value: Any, name: str) -> FloatArray:
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
        raise ValueError("scale must be positive definite")
    units = np.sqrt(diagonal)
    try:
        np.linalg.cholesky(array / np.outer(units, units))
    except np.linalg.LinAlgError:
        raise ValueError("scale must be positive definite") from None
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
