"""Gaussian clusters with full covariances: the Normal-Wishart family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood._support.warn import warn
from mixwood.input.matrices import real_array, real_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.cost import refuse_huge_matrices

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["SCALE_FRACTION", "Gaussian"]

#: ``scale="data"`` expects a cluster to have this fraction of the data's variance; with a full
#: covariance more, if that is needed to fill one of this many cells of equal volume. Chosen by the
#: study in benchmarks/study_defaults.py.
SCALE_FRACTION = 0.1
SCALE_CELLS = 20


def cell_fraction(d: int) -> float:
    """Return which fraction of the data's variance a cluster with a full covariance has.

    A cell of ``1/20`` of the data's volume is ``20^(-1/d)`` as wide as the data. With many
    columns that is nearly as wide: clusters differ a little in each of them. A prior that
    expects less takes such clusters apart, row by row.

    Examples
    --------
    >>> [round(cell_fraction(d), 2) for d in (1, 2, 3, 5, 20)]
    [0.1, 0.1, 0.14, 0.3, 0.74]
    """
    return max(SCALE_FRACTION, float(SCALE_CELLS ** (-2 / d)))


def column_variances(X: FloatArray, variances: FloatArray) -> FloatArray:
    """Return `variances` with 1 where a column of `X` is constant (or has no two entries).

    Looked for by equality: the computed variance of a constant column is not always 0.
    """
    missing = np.isnan(X)
    largest = np.where(missing, -np.inf, X).max(axis=0)
    smallest = np.where(missing, np.inf, X).min(axis=0)
    return np.where(largest > smallest, variances, 1.0)


def refuse_extreme_spread(values: FloatArray) -> FloatArray:
    """Return `values`, variances, or raise where squares over- or underflow."""
    if not np.all(np.isfinite(values)) or np.any(values < 1e-290) or np.any(values > 1e290):
        raise ValueError(
            "X has columns whose variance is too large or too small for double precision; "
            "rescale X (for example, divide each column by its largest absolute value)"
        )
    return values


def warn_of_tiny_scale(standard: FloatArray) -> FloatArray:
    """Return rows in units of the prior scale, with a warning where those are far too small.

    Scatter matrices square the rows: beyond 1e6 the prior scale is lost in their rounding.
    """
    if np.nanmax(np.abs(standard), initial=0) > 1e6:
        warn(
            "scale is so small against X (rows lie more than 1e6 of its units from mean) that "
            "densities lose precision; give a larger scale, or use scale='data'",
            RuntimeWarning,
        )
    return standard


def sample_covariance(X: FloatArray) -> FloatArray:
    """Return the sample covariance (zeros for a single row)."""
    n, d = X.shape
    if n < 2:
        return np.zeros((d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.cov(X, rowvar=False, dtype=np.float64)).reshape(d, d)


def shrunk_covariance(X: FloatArray) -> FloatArray:
    """Return the sample covariance, shrunk a little to its diagonal so that it is invertible.

    The weight of the diagonal, ``(d+1)/(n+d+1)``, fades as rows come in. Both parts
    follow a change of units, so the result does too.
    """
    n, d = X.shape
    S = sample_covariance(X)
    variances = refuse_extreme_spread(column_variances(X, np.diag(S)))
    weight = (d + 1) / (n + d + 1)
    shrunk = np.asarray((1 - weight) * S)
    np.fill_diagonal(shrunk, variances)
    return shrunk


@dataclass(frozen=True, eq=False)
class Gaussian(Likelihood):
    """Gaussian clusters with full covariances, under a Normal-Wishart prior.

    Parameters
    ----------
    r : float
        How many observations the prior mean is worth.
    nu : float, optional
        Degrees of freedom, above ``d - 1``; ``d + 6`` by default.
    mean : array of shape (d,), optional
        Prior mean; the sample mean by default.
    scale : {"data", "paper"} or array of shape (d, d)
        The prior scale matrix ``Psi``. ``"data"`` is equivariant: ``c (nu-d-1) S`` with
        ``c`` the larger of 0.1 and ``20^(-2/d)``, and ``S`` the sample covariance shrunk a little
        to its diagonal, so the posterior does not depend on the units. ``"paper"`` is
        the published ``Sigma / (10 det Sigma)^(1/d)``, whose determinant is 1/10 in any units.

    Notes
    -----
    ``mean | Lambda ~ N(m, (r Lambda)^-1)``, ``Lambda ~ Wishart(Psi^-1, nu)``, and with
    ``n = |c|`` and ``Psi_n = Psi + S_c + r n/(r+n) (xbar-m)(xbar-m)'``::

        P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                 Gamma_d((nu+n)/2) / Gamma_d(nu/2)

    Examples
    --------
    >>> Gaussian(nu=8)
    Gaussian(r=0.1, nu=8.0, mean=None, scale='data')
    """

    r: float = 0.1
    nu: float | None = None
    mean: Any = None
    scale: Any = "data"
    continuous = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", moderate_number(self.r, "r"))
        if self.nu is not None:
            object.__setattr__(self, "nu", moderate_number(self.nu, "nu"))
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if isinstance(self.scale, str):
            if self.scale not in ("data", "paper"):
                raise ValueError(
                    f"scale must be 'data', 'paper' or an array, got {shown(self.scale)}"
                )
        else:
            object.__setattr__(self, "scale", _positive_definite(self.scale))
        if self.width is not None:
            self._check_shapes(self.width)

    def _check_shapes(self, d: int) -> None:
        if self.nu is not None and self.nu <= d - 1:
            raise ValueError(f"nu must be above d - 1 = {d - 1}, got {self.nu}")
        if self.mean is not None and self.mean.shape != (d,):
            raise ValueError(f"mean must have shape ({d},), got {self.mean.shape}")
        if not isinstance(self.scale, str) and self.scale.shape != (d, d):
            raise ValueError(f"scale must have shape ({d}, {d}), got {self.scale.shape}")

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""
        if self.mean is not None:
            return int(self.mean.shape[0])
        return None if isinstance(self.scale, str) else int(self.scale.shape[0])

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats."""
        matrix = real_matrix(X, name=name, width=width if width is not None else self.width)
        refuse_huge_matrices(matrix.shape[1], name)
        return matrix

    def resolve(self, X: Data) -> Gaussian:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        d = X.shape[1]
        self._check_shapes(d)
        nu = d + 6.0 if self.nu is None else self.nu
        scale = self.scale
        if isinstance(scale, str):
            scale = _paper_scale(X) if scale == "paper" else _data_scale(X, nu)
        mean = X.mean(axis=0) if self.mean is None else self.mean
        if not np.all(np.isfinite(mean)):
            raise ValueError("X is too large: its column means overflow; rescale X")
        return replace(self, nu=nu, mean=mean, scale=scale)

    def resolve_standard(self, width: int) -> Gaussian:
        """Return a copy whose open parameters are those of standardized data."""
        nu = width + 6.0 if self.nu is None else self.nu
        scale = self.scale
        if isinstance(scale, str):
            scale = np.eye(width) * _expected_covariance_factor(nu, width)
        mean = np.zeros(width) if self.mean is None else self.mean
        return replace(self, nu=nu, mean=mean, scale=scale)

    def _units(self) -> FloatArray:
        return np.sqrt(np.diag(self.scale))

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred on the prior mean and in units of `Psi`."""
        from mixwood import _core

        units = self._units()
        standard = warn_of_tiny_scale((X - self.mean) / units)
        assert self.nu is not None
        return _core.gaussian(standard, self.r, self.nu, self.scale / np.outer(units, units))

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the units in which the core sees the rows."""
        assert isinstance(X, np.ndarray)
        return np.full(X.shape[0], -float(np.sum(np.log(self._units()))))

    @property
    def statistic_size(self) -> int:
        """The size, the mean and a triangle of the scatter."""
        d = self.mean.shape[0]
        return int(1 + d + d * (d + 1) // 2)

    @property
    def work(self) -> int:
        """A Cholesky factor, whose cost grows with the third power of the columns."""
        return int(max(self.statistic_size, self.mean.shape[0] ** 3 // 200))

    @property
    def advice_if_wide(self) -> str:
        """What to do about very many columns."""
        return "Use DiagonalGaussian, or fewer columns (such as the first principal components)"

    def draw_parameters(self, statistics: FloatArray, rng: np.random.Generator) -> Parameters:
        """Draw ``mean`` (C, d) and ``covariance`` (C, d, d) from Normal-Wishart posteriors."""
        d, units = self.mean.shape[0], self._units()
        n, centre = statistics[:, :1], statistics[:, 1 : 1 + d]
        # Psi_n in units of Psi; the triangle of the scatter comes column by column
        scale = np.tile(self.scale / np.outer(units, units), (len(n), 1, 1))
        column, row = np.triu_indices(d)
        scatter = np.zeros_like(scale)
        scatter[:, row, column] = scatter[:, column, row] = statistics[:, 1 + d :]
        weight = (self.r * n / (self.r + n))[:, :, None]
        scale += scatter + weight * centre[:, :, None] * centre[:, None, :]
        factor = _inverse_wishart_factor(scale, float(self.nu or 0) + n[:, 0], rng)
        noise = np.einsum("cij,cj->ci", factor, rng.standard_normal((len(n), d)))
        mean = n / (self.r + n) * centre + noise / np.sqrt(self.r + n)
        factor = units[:, None] * factor
        return {
            "mean": self.mean + units * mean,
            "covariance": factor @ factor.swapaxes(1, 2),
        }

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, d)."""
        d = self.mean.shape[0]
        return np.asarray(self.mean + self._units() * statistics[:, 1 : 1 + d])

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw Gaussian rows."""
        d = self.mean.shape[0]
        factor = np.linalg.cholesky(parameters["covariance"])
        X = parameters["mean"][labels]
        noise = rng.standard_normal(X.shape)
        step = max(2**20 // d**2, 1)
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            X[part] += np.einsum("nij,nj->ni", factor[labels[part]], noise[part])
        return X


def vector(value: Any, name: str) -> FloatArray:
    array = np.atleast_1d(real_array(value, name))
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be a vector of finite numbers, got {shown(value)}")
    return array


def _positive_definite(value: Any) -> FloatArray:
    array = real_array(value, "scale")
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.size > 0
    if not square or not np.all(np.isfinite(array)) or not np.allclose(array, array.T):
        raise ValueError(f"scale must be 'data', 'paper' or a symmetric matrix, got {shown(value)}")
    diagonal = np.diag(array)
    if np.any(diagonal <= 0):
        raise ValueError("scale must be positive definite")
    units = np.sqrt(diagonal)
    try:
        np.linalg.cholesky(array / np.outer(units, units))
    except np.linalg.LinAlgError:
        raise ValueError("scale must be positive definite") from None
    return array


def _expected_covariance_factor(nu: float, d: int) -> float:
    """Return the factor of S in Psi; where nu is too small for an expectation, as if at d + 2."""
    return cell_fraction(d) * max(nu - d - 1, 1.0)


def _data_scale(X: FloatArray, nu: float) -> FloatArray:
    return shrunk_covariance(X) * _expected_covariance_factor(nu, X.shape[1])


def _paper_scale(X: FloatArray) -> FloatArray:
    d = X.shape[1]
    S = sample_covariance(X)
    sign, log_determinant = np.linalg.slogdet(S)
    if sign <= 0 or not np.isfinite(log_determinant):
        raise ValueError(
            "scale='paper' needs an invertible sample covariance; "
            "use scale='data', or drop constant and redundant columns of X"
        )
    return np.asarray(S / np.exp((np.log(10) + log_determinant) / d))


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
