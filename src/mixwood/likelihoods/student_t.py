"""Gaussian clusters with heavy tails: Student t, by a scale of each row's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.learned import (
    base_of_clusters,
    centre,
    is_learned,
    law,
    number_or_prior,
    start_or_draw,
)
from mixwood.likelihoods.learned_scale import learns
from mixwood.likelihoods.normal_wishart import NormalWishart
from mixwood.likelihoods.spread import warn_of_far_rows, warn_of_tiny_scale

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["DF_BOUNDS", "DF_PRIOR", "StudentT"]

#: Of the degrees of freedom, within bounds. Large: clusters are Gaussian.
DF_PRIOR = LogNormal(10, 1)
DF_BOUNDS = (1.0, 1e3)


@dataclass(frozen=True, eq=False)
class StudentT(NormalWishart):
    """Clusters with heavy tails: multivariate t, each with a mean and a full covariance of its own.

    For data in which clusters have stray rows. Gaussian clusters make small clusters of these, or
    become wide; here they stay with their cluster, and count for little in its mean and
    covariance. `Posterior.outliers` ranks them.

    Parameters
    ----------
    df : float or distribution
        Degrees of freedom, of all clusters: 1 is a Cauchy distribution, 4 has a good many stray
        rows, from about 30 on clusters are Gaussian. A number fixes them; a distribution
        (`mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma`) is their hyperprior, kept within 1 and
        1,000: ``LogNormal(10, 1)`` by default.
    r, nu, mean, scale
        As for `Gaussian`; ``scale="learn"`` by default. The covariance that is meant is that of
        rows of scale 1, which is the covariance of the bulk of a cluster.

    Notes
    -----
    A row's scale ``q_i`` is part of a chain's state::

        q_i ~ Gamma(a/2, a/2),   x_i ~ N(mean_c, Sigma_c / q_i)      a = df

    so that ``x_i`` is t distributed about its cluster. With ``Q = sum q_i`` over a cluster, and
    ``xbar`` and ``S`` weighted by the scales::

        Psi_n = Psi + S + r Q/(r+Q) (xbar-m)(xbar-m)'
        P(X_c | q) = pi^(-nd/2) prod q_i^(d/2) (r/(r+Q))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
                     Gamma_d((nu+n)/2) / Gamma_d(nu/2)

    Once per iteration all scales are drawn, with means and precisions of the clusters that are
    drawn for it and then forgotten: first ``a`` by a slice step with the scales integrated out,
    then ``q_i ~ Gamma((a+d)/2, (a + D_i)/2)`` with ``D_i = (x_i-mean)' Sigma^-1 (x_i-mean)``. Some
    rows in turn draw their scale and their cluster together.

    ``log_joint`` is that given the scales. Densities of new rows have theirs integrated out, by a
    quadrature whose relative error is ``3e-5`` for 1 degree of freedom, ``1e-6`` from 4 on.
    Rows must be complete: fill in missing entries, or use `Gaussian`, which draws them. Leaves
    that keep sums of rows alone (`weights`, `known`, streams) cannot have scales of rows drawn,
    and are refused.

    Examples
    --------
    >>> StudentT(df=4)
    StudentT(df=4.0, r=None, nu=None, mean=None, scale='learn')
    >>> StudentT().df
    LogNormal(median=10.0, sd=1.0)
    """

    df: Any = DF_PRIOR
    r: Any = None
    nu: Any = None
    mean: Any = None
    scale: Any = "learn"
    moments_at = 2
    in_words = "full covariances and heavy tails"

    def __post_init__(self) -> None:
        object.__setattr__(self, "df", number_or_prior(self.df, "df", DF_BOUNDS))
        super().__post_init__()

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, as `Gaussian.bind` does; all scales are 1."""
        from mixwood import _core

        standard = self._standard(X)
        freedom = (centre(self.df) if is_learned(self.df) else self.df, law(self.df, DF_BOUNDS))
        if not learns(self.scale):
            spread = self._in_units(self._matrix)
            return _core.student_t(warn_of_tiny_scale(standard), *freedom, self.r, self.nu, spread)
        return _core.student_t_learned(
            warn_of_far_rows(standard), *freedom, **self._learned_arguments()
        )

    # --- the scales of rows

    def latent_size(self, X: Data) -> int:
        """Return how many scales there are: one for each row."""
        return int(X.shape[0])

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return none: what is drawn are scales."""
        return latent[..., :0]

    def row_scales(self, X: Data, latent: FloatArray) -> FloatArray | None:
        """Return the scales, drawn (..., n)."""
        return latent

    @property
    def why_no_leaves(self) -> str | None:
        """Why rows cannot be joined in leaves."""
        return "draws a scale for each row"

    # --- the base measure: that of Gaussian clusters, then the log of df if it is learned

    @property
    def _freedoms(self) -> int:
        return 1 if is_learned(self.df) else 0

    def scale_base(self, base: FloatArray) -> FloatArray:
        """Return all but the degrees of freedom."""
        return base[..., : base.shape[-1] - self._freedoms]

    @property
    def base_size(self) -> int:
        """Those of `Gaussian`, and the log of the degrees of freedom."""
        return super().base_size + self._freedoms

    def start_base(self) -> FloatArray:
        """Return where a chain starts."""
        return self._with_freedom(self.start_scale(), None)

    def start_bases(self) -> FloatArray:
        """Return those of `Gaussian`, all with the same degrees of freedom."""
        return np.array([self._with_freedom(base, None) for base in super().start_bases()])

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior."""
        return self._with_freedom(super().draw_base(rng), rng)

    def _with_freedom(self, base: FloatArray, rng: np.random.Generator | None) -> FloatArray:
        if not self._freedoms:
            return base
        return np.append(base, np.log(start_or_draw(self.df, rng, DF_BOUNDS)))

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return that of the covariance."""
        if not learns(self.scale):
            return 0.0
        return super().log_base_volume(self.scale_base(base), n, clusters)

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance that is within clusters."""
        return super().base_width(self.scale_base(base))

    def base_excess(self, base: FloatArray) -> FloatArray | None:
        """Return ``nu'`` where it is sampled."""
        return super().base_excess(self.scale_base(base))

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what `Gaussian` has, and ``df`` if it is sampled."""
        found = super().base_draws(self.scale_base(base))
        return {**found, "df": np.exp(base[..., -1])} if self._freedoms else found

    # --- draws

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``mean`` (C, d), ``covariance`` (C, d, d), and tell ``df`` (C,)."""
        found = super().draw_parameters(statistics, rng, base)
        if not self._freedoms:
            return {**found, "df": np.full(len(statistics), self.df)}
        bases = base_of_clusters(base, len(statistics), self.base_size)
        return {**found, "df": np.exp(bases[:, -1])}

    def draw_scales(
        self, parameters: Parameters, labels: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw a scale for each row from its prior."""
        half = parameters["df"][labels] / 2
        return np.asarray(np.maximum(rng.standard_gamma(half) / half, 1e-100))

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw t rows; columns that take no part follow from the others."""
        return self.draw_rows_with_latent(parameters, labels, rng)[0]

    def draw_rows_with_latent(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Draw rows and their scales."""
        scales = self.draw_scales(parameters, labels, rng)
        return self.rows_of_scales(parameters, labels, scales, rng), scales
