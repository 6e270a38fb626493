"""Gaussian clusters with full covariances: the Normal-Wishart family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.learned_scale import learns
from mixwood.likelihoods.missing import conditional_means
from mixwood.likelihoods.normal_wishart import NormalWishart
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
    skips_missing = True
    draws_missing = True
    in_words = "full covariances"

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
        fill = self._complete(X)[np.isnan(standard)]
        if not learns(self.scale):
            spread = self._in_units(self._matrix)
            return _core.gaussian(warn_of_tiny_scale(standard), self.r, self.nu, spread, fill)
        known = self._learned_arguments()
        return _core.gaussian_learned(warn_of_far_rows(standard), fill=fill, **known)

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
