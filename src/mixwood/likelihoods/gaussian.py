"""Gaussian clusters with full covariances: the Normal-Wishart family."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.learned_scale import learns
from mixwood.likelihoods.missing import conditional_means
from mixwood.likelihoods.normal_wishart import NormalWishart
from mixwood.likelihoods.row_errors import (
    checked_errors,
    error_covariances,
    log_t_with_errors,
    lower_factors,
)
from mixwood.likelihoods.spread import warn_of_far_rows, warn_of_tiny_scale

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Gaussian"]


@dataclass(frozen=True, eq=False)
class Gaussian(NormalWishart):
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
    errors : array of shape (n,), (n, d) or (n, d, d), optional
        The known error of each row of the data: one variance for all columns, a variance for each,
        or a covariance. Clusters are then those of the true positions.

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
    about 200, ``ln tau ~ N(ln 200, 0.02/d)``, 2,292 in one
    column. ``F = (D^-1 + 20 S^-1)^-1`` is a floor that matters where values are rounded: ``D`` is
    diagonal, for each column ``1/pi`` of its squared rounding step, at least a millionth of its
    variance (of that of most entries where a few far ones make it more than a hundred times
    larger). A second floor, of ``Psi``, matters where many values are tied.

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

    With `errors` the true position ``y_i`` of a row is part of a chain's state,
    ``x_i ~ N(y_i, E_i)``, and the formulas above are those of positions. Once per iteration a mean
    and a covariance are drawn for every cluster, and then forgotten; given these, rows draw their
    cluster by ``x_i ~ N(mean, Sigma + E_i)`` and their position. `Posterior.imputed` has the draws
    of positions, ``log_joint`` is that given these. A row may have no error in some or all columns.
    New rows are positions without error, unless `errors` of theirs are given, too. Rows must be
    complete then, and cannot be joined in leaves. In a `Product`, `errors` has an entry for each
    row of the table; what other parts know of a row counts as it does without errors.

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
    errors: Any = field(default=None, repr=False)
    skips_missing = True
    draws_missing = True
    takes_errors = True
    in_words = "full covariances"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.errors is not None:
            object.__setattr__(self, "errors", checked_errors(self.errors))

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats, NaN where missing if there are no errors."""
        if self.errors is not None:
            given = real_matrix(X, name=name, width=width or self.width, missing=True)
            holes = np.argwhere(np.isnan(given))
            if len(holes):
                raise ValueError(
                    f"{name} has a missing value (NaN) in row {holes[0, 0]}, column "
                    f"{holes[0, 1]}, and errors=...; give such an entry any value and a very "
                    "large variance"
                )
        return super().check(X, name=name, width=width)

    def resolve(self, X: Data) -> Self:
        """Return a copy with `nu`, `mean` and `scale` explicit, from `X` where open."""
        if self.errors is not None:
            error_covariances(self.errors, *X.shape)
        return super().resolve(X)

    def _complete(self, X: Data) -> FloatArray:
        """Return rows with what is missing filled in, from each row itself: where chains begin."""
        standard = self._standard(X)
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
        if self.errors is not None and len(X):
            return self._bind_with_errors(X, standard)
        missing = np.isnan(standard)
        fill = self._complete(X)[missing] if missing.any() else np.empty(0)
        if not learns(self.scale):
            spread = self._in_units(self._matrix)
            return _core.gaussian(warn_of_tiny_scale(standard), self.r, self.nu, spread, fill)
        known = self._learned_arguments()
        return _core.gaussian_learned(warn_of_far_rows(standard), fill=fill, **known)

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return those of the columns that take part, row by row."""
        rows, columns = np.nonzero(self._drawn(X))
        return rows, columns if self.kept is None else self.kept.columns[columns]

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return them in the units of the data."""
        columns = np.nonzero(self._drawn(X))[1]
        return np.asarray(self.centre[columns] + self._units()[columns] * latent)

    def _drawn(self, X: Data) -> NDArray[np.bool_]:
        """Return which entries of the columns that take part are drawn."""
        assert isinstance(X, np.ndarray)
        own = self.own_entries(X)
        return np.isnan(own) if self.errors is None else np.ones(own.shape, dtype=np.bool_)

    # --- errors of rows

    def own_covariances(self, errors: FloatArray, n: int) -> FloatArray:
        """Return the covariances of checked errors of `n` rows, of the columns that take part."""
        covariances = error_covariances(errors, n, len(self.mean))
        if self.kept is not None:
            covariances = covariances[:, self.kept.columns[:, None], self.kept.columns]
        return covariances

    def _bind_with_errors(self, X: Data, standard: FloatArray) -> _core.Family:
        """Return the compiled family over rows with errors; positions begin at the rows."""
        from mixwood import _core

        units = self._units()
        covariances = self.own_covariances(self.errors, X.shape[0])
        factors = lower_factors(covariances / np.outer(units, units))
        hidden = np.full_like(standard, np.nan)
        if not learns(self.scale):
            spread = self._in_units(self._matrix)
            rows = warn_of_tiny_scale(standard)
            return _core.noisy_gaussian(rows, hidden, factors, self.r, self.nu, spread)
        rows, known = warn_of_far_rows(standard), self._learned_arguments()
        return _core.noisy_gaussian_learned(rows, hidden, factors, **known)

    @property
    def has_errors(self) -> bool:
        """Whether rows have errors."""
        return self.errors is not None

    def for_new_rows(self) -> Self:
        """Return the same without errors, which are those of the data."""
        return self if self.errors is None else replace(self, errors=None)

    def with_errors(self, errors: Any, n: int, *, name: str = "errors") -> Self:
        """Return the same for `n` new rows with these errors."""
        checked = checked_errors(errors, name)
        error_covariances(checked, n, len(self.mean), name)
        return replace(self, errors=checked)

    def of_rows(self, rows: IntArray, n: int, *, name: str = "errors") -> Self:
        """Return the same for some of the `n` rows that it is for."""
        if self.errors is None:
            return self
        if len(self.errors) != n:
            raise ValueError(
                f"{name} must have one entry for each of the {n:,} rows of X, also for those "
                f"without anything there, got shape {self.errors.shape}"
            )
        return self if len(rows) == n else replace(self, errors=self.errors[rows])

    def with_rows_of(self, other: Self) -> Self:
        """Return the same with the errors of `other`."""
        return replace(self, errors=other.errors)

    def without_errors(self, X: Data) -> Data | None:
        """Return the rows, or None: all columns have errors, or none has."""
        return X if self.errors is None else None

    def log_densities_with_errors(
        self,
        statistics: FloatArray,
        X: Data,
        rng: np.random.Generator,
        base: FloatArray | None,
    ) -> FloatArray:
        """Return ``log N(x; mean, Sigma + E)`` of rows in clusters, an array (m, C)."""
        assert isinstance(X, np.ndarray)
        parameters = self.draw_parameters(statistics, rng, base)
        mean, covariance = self.own_entries(parameters["mean"]), parameters["covariance"]
        rows, errors = self.own_entries(X), self.own_covariances(self.errors, len(X))
        if self.kept is not None:
            covariance = covariance[:, self.kept.columns[:, None], self.kept.columns]
        table = np.empty((len(rows), len(mean)))
        for c in range(len(mean)):
            factor = np.linalg.cholesky(covariance[c] + errors)
            solved = np.linalg.solve(factor, (rows - mean[c])[:, :, None])[:, :, 0]
            log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
            table[:, c] = -(solved**2).sum(axis=1) / 2 - log_root
        return np.asarray(table - rows.shape[1] / 2 * np.log(2 * np.pi))

    def log_alone_with_errors(self, X: Data, base: FloatArray | None) -> FloatArray:
        """Return the log density of each row in a new cluster, given one base measure."""
        assert isinstance(X, np.ndarray)
        d, units = len(self.centre), self._units()
        psi, nu, r = (np.ravel(one) for one in self._prior_terms(base, 1))
        f = float(nu[0]) - d + 1
        wide = psi.reshape(d, d) * (float(r[0]) + 1) / (float(r[0]) * f)
        away = self.own_entries(X) - self.centre
        covariances = self.own_covariances(self.errors, len(X))
        return log_t_with_errors(away, wide * np.outer(units, units), covariances, f)

    def over_part(self, share: float) -> Self:
        """Return the same for pilots, which take no notice of errors."""
        return super().over_part(share).for_new_rows()

    @property
    def why_no_leaves(self) -> str | None:
        """Why rows with errors cannot be joined in leaves."""
        return None if self.errors is None else "draws the true position of each row with an error"

    def draw_rows_with_latent(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Draw rows; where they have errors, positions first: told in the core's units."""
        positions = self.draw_rows(parameters, labels, rng, like)
        if self.errors is None:
            return positions, np.empty(0)
        factors = lower_factors(error_covariances(self.errors, *positions.shape))
        noise = np.einsum("nij,nj->ni", factors, rng.standard_normal(positions.shape))
        latent = (self.own_entries(positions) - self.centre) / self._units()
        return positions + noise, latent.ravel()
