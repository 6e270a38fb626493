"""Clusters of binary columns: a Beta prior for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import moderate_number, whole_number
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.counts import whole_number_matrix
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.categorical import bind_codes

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Bernoulli"]


@dataclass(frozen=True, eq=False)
class Bernoulli(Likelihood):
    """Independent columns of zeros and ones; missing entries (NaN) are skipped.

    Parameters
    ----------
    a, b : float
        Pseudo-counts of ones and of zeros.
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
    """

    a: float = 1.0
    b: float = 1.0
    columns: int | None = None
    skips_missing = True
    reads_categories = True
    most_categories = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", moderate_number(self.a, "a"))
        object.__setattr__(self, "b", moderate_number(self.b, "b"))
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
        """Return a copy with `columns` explicit."""
        return replace(self, columns=int(X.shape[1]))

    def resolve_standard(self, width: int) -> Bernoulli:
        """Return a copy for `width` columns."""
        return replace(self, columns=width)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`: two categories per column."""
        assert isinstance(X, np.ndarray)
        return bind_codes(X, [np.array([self.b, self.a])] * X.shape[1])

    def row_constants(self, X: Data) -> FloatArray:
        """Return zeros: the compiled family leaves nothing out."""
        return np.zeros(X.shape[0])

    @property
    def statistic_size(self) -> int:
        """For each column the zeros and the ones."""
        assert self.columns is not None
        return 2 * self.columns

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``probability`` (C, d), that of a one, from Beta posteriors."""
        zeros, ones = np.moveaxis(statistics.reshape(len(statistics), -1, 2), 2, 0)
        return {"probability": rng.beta(self.a + ones, self.b + zeros)}

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
