"""Clusters of categorical columns: a Dirichlet prior for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.gamma_draws import dirichlet_draws
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import LogNormal
from mixwood.input.counts import whole_number_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
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
    from mixwood import _core

__all__ = ["BETA_PRIOR", "Categorical", "bind_codes"]

#: The hyperprior of a learned beta.
BETA_PRIOR = LogNormal(1, 1)


def bind_codes(
    X: FloatArray, pseudo_counts: list[FloatArray], beta: Any, *, for_these_rows: bool = False
) -> _core.Family:
    """Return the compiled family over codes `X` (NaN missing), with each column's pseudo-counts.

    Where `beta` is a hyperprior they are where a chain starts, one number per column.
    `for_these_rows` keeps the categories that none of them has as one, if these are many.
    """
    from mixwood import _core

    codes = np.where(np.isnan(X), -1, X).astype(np.int32)
    offsets = np.cumsum([0, *(len(p) for p in pseudo_counts)]).astype(np.int32)
    return _core.categorical(
        codes,
        offsets,
        np.concatenate(pseudo_counts),
        **law_argument(beta),
        for_these_rows=for_these_rows,
    )


#: Every cluster keeps a count of each category.
MOST_CATEGORIES = 2**24


def _categories(value: Any) -> int:
    return whole_number(value, "n_categories", at_least=1, at_most=MOST_CATEGORIES)


@dataclass(frozen=True, eq=False)
class Categorical(Likelihood):
    """Independent categorical columns; missing entries (NaN) are skipped.

    Parameters
    ----------
    beta : float or distribution
        Pseudo-count of each category: small where nearly all rows of a cluster have the same. A
        number fixes it. A `mixwood.hyper.LogNormal` or `mixwood.hyper.Gamma` is the hyperprior of
        each column's own, and these are learned along with the clusters, by default under
        ``LogNormal(1, 1)``.
    n_categories : int or sequence of int, optional
        How many categories each column has; the largest code plus 1 by default.

    Notes
    -----
    Entries are codes ``0, 1, ..., L-1``. In each column, with counts ``N_l`` of the
    present entries of the cluster and ``N`` their sum::

        P(x) = Gamma(L beta) / Gamma(L beta + N) prod_l Gamma(beta + N_l) / Gamma(beta)

    Examples
    --------
    >>> Categorical(beta=1, n_categories=(2, 3))
    Categorical(beta=1.0, n_categories=(2, 3))
    >>> Categorical().beta
    LogNormal(median=1.0, sd=1.0)
    """

    beta: Any = BETA_PRIOR
    n_categories: Any = None
    skips_missing = True
    reads_categories = True
    nominal = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", number_or_prior(self.beta, "beta"))
        if self.n_categories is None or isinstance(self.n_categories, (int, np.integer)):
            if self.n_categories is not None:
                _categories(self.n_categories)
            return
        try:
            counts = tuple(_categories(v) for v in self.n_categories)
        except TypeError:
            raise TypeError(
                "n_categories must be a whole number or a sequence of them, "
                f"got {shown(self.n_categories)}"
            ) from None
        if not counts:
            raise ValueError("n_categories must have a number for each column, got none")
        object.__setattr__(self, "n_categories", counts)

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while open."""
        return len(self.n_categories) if isinstance(self.n_categories, tuple) else None

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of codes, NaN where missing."""
        width = width if width is not None else self.width
        codes = whole_number_matrix(X, name=name, width=width, missing=True)
        if self.n_categories is not None:
            counts = np.broadcast_to(self.n_categories, codes.shape[1])
            too_large = np.flatnonzero((codes >= counts).any(axis=0))
            if too_large.size:
                j = int(too_large[0])
                raise ValueError(
                    f"{name} has code {int(np.nanmax(codes[:, j]))} in column {j}, "
                    f"which has {counts[j]} categories (codes 0 to {counts[j] - 1})"
                )
        elif codes.size and np.nanmax(codes, initial=0) >= MOST_CATEGORIES:
            raise ValueError(
                f"{name} has code {int(np.nanmax(codes))}; codes must be 0, 1, 2, ... "
                "without large gaps"
            )
        return codes

    @property
    def learns_categories(self) -> bool:
        """Whether a table tells the categories; where their number is given, entries are codes."""
        return self.n_categories is None

    def with_categories(self, counts: Sequence[int | None], X: Data) -> Categorical:
        """Return a copy with as many categories as the table has, also those not in `X`."""
        if not self.learns_categories:
            return self
        seen = self.resolve(X).n_categories
        known = (n if count is None else count for n, count in zip(seen, counts, strict=True))
        return replace(self, n_categories=tuple(known))

    def resolve(self, X: Data) -> Categorical:
        """Return a copy with the number of categories of each column explicit."""
        assert isinstance(X, np.ndarray)
        if self.n_categories is None:
            largest = np.nanmax(X, axis=0, initial=0)
            counts = tuple(int(v) + 1 for v in largest)
        else:
            counts = tuple(int(v) for v in np.broadcast_to(self.n_categories, X.shape[1]))
        return replace(self, n_categories=counts)

    def resolve_standard(self, width: int) -> Categorical:
        """Return a copy with three categories per column where open."""
        open_counts = 3 if self.n_categories is None else self.n_categories
        counts = tuple(int(v) for v in np.broadcast_to(open_counts, width))
        return replace(self, n_categories=counts)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        return self._bind(X, for_these_rows=False)

    def bind_for_chains(self, X: Data) -> _core.Family:
        """Return the same, with the categories that no row has kept as one."""
        return self._bind(X, for_these_rows=True)

    def _bind(self, X: Data, *, for_these_rows: bool) -> _core.Family:
        assert isinstance(X, np.ndarray)
        beta = start_or_draw(self.beta, None)
        pseudo_counts = [np.full(counts, beta) for counts in self.n_categories]
        return bind_codes(X, pseudo_counts, self.beta, for_these_rows=for_these_rows)

    def row_constants(self, X: Data) -> FloatArray:
        """Return zeros: the compiled family leaves nothing out."""
        return np.zeros(X.shape[0])

    @property
    def statistic_size(self) -> int:
        """The counts of all categories, column after column."""
        return int(sum(self.n_categories))

    @property
    def advice_if_wide(self) -> str:
        """What to do about very many categories."""
        column = int(np.argmax(self.n_categories))
        return (
            f"Column {column} alone has {self.n_categories[column]:,} categories: put rare ones "
            "together, or leave it out if it names the rows"
        )

    @property
    def base_size(self) -> int:
        """The log of each column's `beta`, if it is learned."""
        return len(self.n_categories) if is_learned(self.beta) else 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the median of the hyperprior."""
        return log_start(self.beta, self.base_size)

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior."""
        return log_draws(self.beta, self.base_size, rng)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``beta`` (..., d) if it is learned."""
        return {"beta": np.exp(base)} if is_learned(self.beta) else {}

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``probabilities`` (C, d, L) from Dirichlet posteriors.

        ``L`` is the largest number of categories; those that a column does not have get 0.
        """
        shape = (len(statistics), len(self.n_categories), max(self.n_categories))
        probabilities = np.zeros(shape)
        beta = np.broadcast_to(of_clusters(self.beta, base, *shape[:2]), shape[:2])
        end = 0
        for j, counts in enumerate(self.n_categories):
            start, end = end, end + counts
            drawn = dirichlet_draws(beta[:, [j]] + statistics[:, start:end], rng)
            probabilities[:, j, :counts] = drawn
        return {"probabilities": probabilities}

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the share of each category, column after column, in what is not missing."""
        starts = np.cumsum([0, *self.n_categories])[:-1]
        n = np.repeat(np.add.reduceat(statistics, starts, axis=1), self.n_categories, axis=1)
        return np.where(n > 0, statistics / np.maximum(n, 1), np.nan)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw rows of codes."""
        steps = np.cumsum(parameters["probabilities"], axis=2)
        X = np.empty((len(labels), len(self.n_categories)))
        for j, counts in enumerate(self.n_categories):
            above = rng.random((len(labels), 1)) > steps[:, j, : counts - 1][labels]
            X[:, j] = above.sum(axis=1)
        return X
