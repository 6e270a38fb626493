"""Weighted leaves as data: each row of a matrix stands for many rows of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.base import Likelihood, Parameters
from mixwood.likelihoods.multinomial import Multinomial

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["SUMS", "Leaves"]

#: The first columns of the matrix: of the rows that a leaf stands for, how many there are, the sums
#: of their row constants and of their ``log P(x)``, and their weight in a tree. The rest is the
#: statistic.
SUMS = ("size", "log_constant", "log_apart", "weight")


@dataclass(frozen=True, eq=False)
class Leaves(Likelihood):
    """The likelihood of rows of which only the statistics of blocks, weighted leaves, are kept.

    A matrix of leaves has the columns `SUMS` and then the statistic of the leaf's rows. For
    `Multinomial` it is sparse, and the statistic is the word totals. Data of the likelihood's
    own width are rows, as ever: so new rows can be compared with the leaves.

    Parameters
    ----------
    of : Likelihood
        That of the rows, with every parameter explicit.

    Examples
    --------
    >>> from mixwood.likelihoods import Poisson
    >>> Leaves(Poisson(rate=[1.0])).leaf_width > 1
    True
    """

    of: Likelihood

    def __post_init__(self) -> None:
        if not isinstance(self.of, Likelihood) or self.of.width is None:
            raise ValueError(f"of must be a likelihood with explicit parameters, got {self.of}")

    @property
    def width(self) -> int | None:
        """How many columns the rows have."""
        return self.of.width

    @cached_property
    def _unbound(self) -> _core.Family:
        """The family of the rows, over none of them."""
        if isinstance(self.of, Multinomial):
            from scipy.sparse import csr_array

            return self.of.bind(csr_array((0, self.of.columns or 0)))
        return self.of.bind(np.empty((0, self.width or 0)))

    def __getstate__(self) -> dict[str, Any]:
        return {"of": self.of}  # what is compiled is made anew

    @property
    def leaf_width(self) -> int:
        """How many columns a matrix of leaves has: more than the rows have."""
        words = isinstance(self.of, Multinomial)  # the statistic without the grand total
        return len(SUMS) + self._unbound.statistic_size - int(words)

    def holds_leaves(self, X: Data) -> bool:
        """Tell whether the rows of `X` are leaves."""
        return bool(X.shape[1] == self.leaf_width)

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> Data:
        """Return leaves as they are, and rows as the likelihood of the rows does."""
        if getattr(X, "ndim", 0) == 2 and self.holds_leaves(X):
            leaves: Data = X
            return leaves
        return self.of.check(X, name=name)

    def resolve(self, X: Data) -> Leaves:
        """Return itself."""
        return self

    def resolve_standard(self, width: int) -> Leaves:
        """Return itself."""
        return self

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`, leaves or not."""
        if not self.holds_leaves(X):
            return self.of.bind(X)
        sums = self._sums(X)
        arguments = (
            np.ascontiguousarray(sums[:, 0], dtype=np.int64),
            np.ascontiguousarray(sums[:, 2]),
            np.ascontiguousarray(sums[:, 3]),
        )
        if isinstance(X, np.ndarray):
            statistics = np.ascontiguousarray(X[:, len(SUMS) :])
            return self._unbound.leaves(statistics, *arguments)
        from mixwood import _core

        assert isinstance(self.of, Multinomial)
        counts = X[:, len(SUMS) :].tocsr()
        return _core.multinomial_leaves(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            counts.data.astype(np.int32),
            counts.shape[1],
            self.of.beta,
            *arguments,
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return what the compiled family leaves out of each row's, or leaf's, log density."""
        return self._sums(X)[:, 1] if self.holds_leaves(X) else self.of.row_constants(X)

    def row_sizes(self, X: Data) -> IntArray:
        """Return how many rows each leaf stands for; 1 for what is a row."""
        if self.holds_leaves(X):
            return self._sums(X)[:, 0].astype(np.int64)
        return super().row_sizes(X)

    @property
    def statistic_size(self) -> int:
        """How many numbers the statistic of a cluster has."""
        return int(self._unbound.statistic_size)

    def draw_parameters(self, statistics: FloatArray, rng: np.random.Generator) -> Parameters:
        """Draw parameters of clusters, as the likelihood of the rows does."""
        return self.of.draw_parameters(statistics, rng)

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> Data:
        """Draw rows, as the likelihood of the rows does; leaves are not like rows."""
        rows = None if like is None or self.holds_leaves(like) else like
        return self.of.draw_rows(parameters, labels, rng, rows)

    @staticmethod
    def _sums(X: Data) -> FloatArray:
        sums = X[:, : len(SUMS)]
        return sums if isinstance(sums, np.ndarray) else sums.toarray()
