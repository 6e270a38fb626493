"""`WeightedLeaves`: data that are too many to keep, as the statistics of small blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood.input.matrices import stacked
from mixwood.likelihoods.weighted_leaves import SUMS, Leaves

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.likelihoods.base import Likelihood

__all__ = ["WeightedLeaves", "joined", "leaf_matrix", "read_data"]


@dataclass(frozen=True, eq=False, repr=False)
class WeightedLeaves:
    """Blocks of rows of which only sizes, sums and sufficient statistics are kept.

    Made by `mixwood.stream_leaves` and `mixwood.distributed.build_leaves`, and given to
    `mixwood.sample` in place of the rows: the draws are then partitions of the leaves, from
    the posterior given that each leaf stays together. Clusters count the rows.

    Parameters
    ----------
    likelihood : Likelihood
        That of the rows, with every parameter explicit.
    matrix : array or csr_array of shape (m, s)
        One row a leaf, as `mixwood.likelihoods.weighted_leaves.Leaves` reads it.
    leaf_of_row : int32 array of shape (n,), optional
        The leaf of each row, in the order in which the rows came; None where it is not here.

    Examples
    --------
    >>> import mixwood as mw
    >>> leaves = mw.stream_leaves(mw.Mixture(), [[[0.0], [9.0]], [[9.1], [0.1]]], max_leaves=2)
    >>> leaves.sizes
    array([2, 2])
    >>> post = mw.sample(mw.Mixture(), leaves, draws=5, chains=1, seed=1, progress=False)
    >>> post.labels[0, -1].shape, post.labels[0, -1][leaves.leaf_of_row].shape
    ((2,), (4,))
    """

    likelihood: Likelihood
    matrix: Data
    leaf_of_row: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        values = self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.data
        values.flags.writeable = False

    @property
    def n_leaves(self) -> int:
        """How many leaves."""
        return int(self.matrix.shape[0])

    @property
    def n_items(self) -> int:
        """How many rows they stand for."""
        return int(self.sizes.sum())

    @property
    def sizes(self) -> IntArray:
        """How many rows each leaf stands for."""
        first = self.matrix[:, [0]]
        column = first if isinstance(first, np.ndarray) else first.toarray()
        return column.ravel().astype(np.int64)

    def __repr__(self) -> str:
        return (
            f"<mixwood.WeightedLeaves: {self.n_items} rows in {self.n_leaves} leaves; "
            f"{type(self.likelihood).__name__}>"
        )


def joined(parts: Sequence[WeightedLeaves]) -> WeightedLeaves:
    """Return the leaves of several parts of the data, which have one likelihood, as one.

    Examples
    --------
    >>> import mixwood as mw
    >>> model = mw.Mixture(mw.Poisson(rate=[1.0]))
    >>> part = mw.stream_leaves(model, [[[3], [4]]], max_leaves=2)
    >>> joined([part, part]).n_leaves
    4
    """
    return WeightedLeaves(parts[0].likelihood, stacked([part.matrix for part in parts]))


def read_data(likelihood: Likelihood, X: Any) -> tuple[Likelihood, Data]:
    """Return the likelihood with every parameter explicit, and the data as the core reads them."""
    if isinstance(X, WeightedLeaves):
        if type(X.likelihood) is not type(likelihood):
            raise ValueError(
                f"X holds leaves of {type(X.likelihood).__name__} rows and the model's likelihood "
                f"is {type(likelihood).__name__}; make the leaves with the model they are for"
            )
        return Leaves(X.likelihood), X.matrix
    return likelihood.fitted_to(X)


def leaf_matrix(sums: FloatArray, statistics: Data) -> Data:
    """Return the matrix of leaves from their sums, in the order of `SUMS`, and statistics."""
    assert sums.shape[1] == len(SUMS)
    if isinstance(statistics, np.ndarray):
        return np.hstack([sums, statistics])
    from scipy.sparse import csr_array, hstack

    parts: Any = [csr_array(sums), statistics]
    return csr_array(hstack(parts, format="csr"))
