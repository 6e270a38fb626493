"""Clusters of binary columns: a Beta prior for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, shown, whole_number
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.counts import whole_number_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.categorical import BETA_PRIOR, bind_codes
from mixwood.likelihoods.learned import (
    is_learned,
    log_draws,
    log_start,
    number_or_prior,
    of_clusters,
    start_or_draw,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Bernoulli"]


@dataclass(frozen=True, eq=False)
class Bernoulli(Likelihood):
    """Independent columns of zeros and ones; missing entries (NaN) are skipped.

    Parameters
    ----------
    a, b : float or distribution, optional
        Pseudo-counts of ones and of zeros: small where nearly all rows of a cluster are alike.
        Numbers fix them, and one of them without the other makes that one 1. Without both they are
        equal, each column has its own, and these are learned along with the clusters, under
        ``mixwood.hyper.LogNormal(1, 1)``; a distribution as `a` is another hyperprior.
    columns : int, optional
        How many columns; the data's width by default.

    Notes
    -----
    In each column, with ``s`` ones and ``f`` zeros among the present entries of the
    cluster, ``P(x) = B(a+s, b+f) / B(a, b)``.

    Examples
    --------
    >>> Bernoulli(a=0.5, b=0.5)
    Bernoulli(a=0.5, b=0.5, columns=None)
    >>> Bernoulli().resolve_standard(3)
    Bernoulli(a=LogNormal(median=1.0, sd=1.0), b=None, columns=3)
    """

    a: Any = None
    b: Any = None
    columns: int | None = None
    skips_missing = True
    reads_categories = True
    most_categories = 2

    def __post_init__(self) -> None:
        a, b = self.a, self.b
        if is_learned(b):
            raise ValueError(
                f"b must be a number or left out, got {shown(b)}; give the distribution as a: "
                "where a and b are learned, they are equal"
            )
        if is_learned(a):
            a = number_or_prior(a, "a")
            if b is not None:
                raise ValueError(f"b must be left out where a is learned, got {shown(b)}")
        elif a is not None or b is not None:
            a = 1.0 if a is None else number_or_prior(a, "a")
            b = 1.0 if b is None else moderate_number(b, "b")
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        if self.columns is not None:
            whole_number(self.columns, "columns", at_least=1)

    @property
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while open."""
        return self.columns

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of 0 and 1, NaN where missing."""
        width = width if width is not None else self.width
        values = whole_number_matrix(X, name=name, width=width, missing=True)
        if np.any(values > 1):
            raise ValueError(f"{name} must hold only 0, 1 and NaN, got {int(np.nanmax(values))}")
        return values

    def resolve(self, X: Data) -> Bernoulli:
        """Return a copy with `a` and `columns` explicit."""
        return self.resolve_standard(int(X.shape[1]))

    def resolve_standard(self, width: int) -> Bernoulli:
        """Return a copy for `width` columns."""
        return replace(self, a=BETA_PRIOR if self.a is None else self.a, columns=width)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`: two categories per column."""
        assert isinstance(X, np.ndarray)
        ones = start_or_draw(self.a, None)
        zeros = ones if self.b is None else self.b
        return bind_codes(X, [np.array([zeros, ones])] * X.shape[1], self.a)

    def row_constants(self, X: Data) -> FloatArray:
        """Return zeros: the compiled family leaves nothing out."""
        return np.zeros(X.shape[0])

    @property
    def statistic_size(self) -> int:
        """For each column the zeros and the ones."""
        assert self.columns is not None
        return 2 * self.columns

    @property
    def base_size(self) -> int:
        """The log of each column's ``a = b``, if it is learned."""
        return self.columns or 0 if is_learned(self.a) else 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts: the median of the hyperprior."""
        return log_start(self.a, self.base_size)

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperprior."""
        return log_draws(self.a, self.base_size, rng)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return ``beta`` (..., d), what `a` and `b` are, if it is learned."""
        return {"beta": np.exp(base)} if is_learned(self.a) else {}

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``probability`` (C, d), that of a one, from Beta posteriors."""
        zeros, ones = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        a = of_clusters(self.a, base, *ones.shape)
        b = a if self.b is None else self.b
        return {"probability": rng.beta(a + ones, b + zeros)}

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the shares of ones (C, d) in what is not missing."""
        zeros, ones = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        n = zeros + ones
        return np.where(n > 0, ones / np.maximum(n, 1), np.nan)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw rows of zeros and ones."""
        probability = parameters["probability"][labels]
        return (rng.random(probability.shape) < probability).astype(np.float64)
