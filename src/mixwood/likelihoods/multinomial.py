"""Clusters of counts, such as documents: the Dirichlet-multinomial family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import whole_number
from mixwood._support.gamma_draws import dirichlet_draws
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal
from mixwood.input.counts import count_matrix
from mixwood.likelihoods.base import Likelihood, Parameters, RowsOfLeaves
from mixwood.likelihoods.learned import (
    is_learned,
    law_argument,
    log_draws,
    log_start,
    number_or_prior,
    of_clusters,
    start_or_draw,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mixwood import _core

__all__ = ["Multinomial"]

#: The hyperprior of a learned beta.
BETA_PRIOR = LogNormal(0.1, 1.5)


@dataclass(frozen=True, eq=False)
class Multinomial(Likelihood):
    """Rows of counts, each multinomial given its total, under a symmetric Dirichlet prior.

    Parameters
    ----------
    beta : float or distribution
        Pseudo-count of each column: small where a cluster has few of the words. A number fixes
        it. A `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is its hyperprior, and it is
        learned along with the clusters, by default under ``LogNormal(0.1, 1.5)``.
    columns : int, optional
        How many columns (words); the data's width by default.

    Notes
    -----
    ``X`` may be dense or ``scipy.sparse``; it is stored sparse. With ``V`` columns,
    column totals ``N_v`` and grand total ``N`` of a cluster::

        P(X_c) = Gamma(V beta) / Gamma(V beta + N) prod_v Gamma(beta + N_v) / Gamma(beta)

    times the multinomial coefficient of each row, which is kept: it makes joints
    comparable with those of the paper.

    Examples
    --------
    >>> Multinomial(beta=0.1)
    Multinomial(beta=0.1, columns=None)
    >>> Multinomial().beta
    LogNormal(median=0.1, sd=1.5)
    """

    beta: Any = BETA_PRIOR
    columns: int | None = None
    reads_sparse = True
    reads_counts = True
    has_row_totals = True
    sparse_statistics = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", number_or_prior(self.beta, "beta"))
        if self.columns is not None:
            whole_number(self.columns, "columns", at_least=1)

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while open."""
        return self.columns

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> csr_array:
        """Return `X` as a canonical sparse matrix of whole, non-negative counts."""
        return count_matrix(X, name=name, width=width if width is not None else self.width)

    def no_rows(self, width: int) -> csr_array:
        """Return counts without a row."""
        from scipy.sparse import csr_array

        return csr_array((0, width))

    def resolve(self, X: Data) -> Multinomial:
        """Return a copy with `columns` explicit."""
        return replace(self, columns=int(X.shape[1]))

    def resolve_standard(self, width: int) -> Multinomial:
        """Return a copy for `width` columns."""
        return replace(self, columns=width)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        assert not isinstance(X, np.ndarray)
        return _core.multinomial(
            X.indptr.astype(np.int64),
            X.indices.astype(np.int32),
            X.data.astype(np.int32),
            X.shape[1],
            start_or_draw(self.beta, None),
            **law_argument(self.beta),
        )

    def bind_leaves(
        self,
        statistics: Data,
        sizes: FloatArray,
        log_apart: FloatArray,
        weights: FloatArray,
        marks: NDArray[np.uint8] | None = None,
        known: RowsOfLeaves | None = None,
    ) -> _core.Family:
        """Return the compiled family over weighted leaves, of which the word totals are given."""
        from mixwood import _core

        assert not isinstance(statistics, np.ndarray)
        return _core.multinomial_leaves(
            statistics.indptr.astype(np.int64),
            statistics.indices.astype(np.int32),
            statistics.data.astype(np.int32),
            statistics.shape[1],
            start_or_draw(self.beta, None),
            sizes,
            log_apart,
            weights,
            **law_argument(self.beta),
            marks=marks,
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log multinomial coefficient of each row."""
        from scipy.special import gammaln

        assert not isinstance(X, np.ndarray)
        totals = np.asarray(X.sum(axis=1)).ravel()
        entries = X.copy()
        entries.data = gammaln(X.data + 1.0)
        return np.asarray(gammaln(totals + 1.0) - np.asarray(entries.sum(axis=1)).ravel())

    @property
    def statistic_size(self) -> int:
        """The total of each column, and of all."""
        assert self.columns is not None
        return self.columns + 1

    @property
    def base_size(self) -> int:
        """The log of `beta`, if it is learned."""
        return 1 if is_learned(self.beta) else 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the median of the hyperprior."""
        return log_start(self.beta, self.base_size)

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior."""
        return log_draws(self.beta, self.base_size, rng)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``beta`` (...) if it is learned."""
        return {"beta": np.exp(base[..., 0])} if is_learned(self.beta) else {}

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``probabilities`` (C, V) from Dirichlet posteriors."""
        beta = of_clusters(self.beta, base, len(statistics), 1)
        return {"probabilities": dirichlet_draws(beta + statistics[:, :-1], rng)}

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return each word's share of all words (C, V)."""
        return np.asarray(statistics[:, :-1] / np.maximum(statistics[:, -1:], 1.0))

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> csr_array:
        """Draw rows of counts; each total is that of a random row of `like`, or 20."""
        totals = np.full(len(labels), 20, dtype=np.int64)
        if like is not None:
            given = np.asarray(like.sum(axis=1)).ravel().astype(np.int64)
            totals = given[rng.integers(len(given), size=len(labels))]
        return self._counts(parameters["probabilities"], labels, totals, rng)

    def _counts(
        self,
        probabilities: FloatArray,
        labels: IntArray,
        totals: IntArray,
        rng: np.random.Generator,
    ) -> csr_array:
        from scipy.sparse import csr_array, vstack

        step = max(2**22 // probabilities.shape[1], 1)
        parts: Any = []
        for start in range(0, len(labels), step):
            part = slice(start, start + step)
            counts = rng.multinomial(totals[part], probabilities[labels[part]])
            parts.append(csr_array(counts.astype(np.float64)))
        return csr_array(vstack(parts, format="csr"))

    def simulate(
        self,
        labels: IntArray,
        rng: np.random.Generator,
        base: FloatArray | None = None,
        totals: int | IntArray = 20,
    ) -> csr_array:
        """Draw each cluster's probabilities from the prior, then one row per label.

        A learned `beta` is drawn from its hyperprior unless `base` is given. `totals` is how many
        counts a row has, one number or one for each row.
        """
        empty = np.zeros((int(labels.max()) + 1, self.statistic_size))
        if base is None:
            base = self.draw_base(rng)
        probabilities = self.draw_parameters(empty, rng, base)["probabilities"]
        totals = np.broadcast_to(np.asarray(totals, dtype=np.int64), labels.shape)
        return self._counts(probabilities, labels, totals, rng)

    def simulate_with_latent(
        self, labels: IntArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> tuple[csr_array, FloatArray]:
        """Draw rows as `simulate` does; nothing else is drawn for them."""
        return self.simulate(labels, rng, base), np.empty(0)
