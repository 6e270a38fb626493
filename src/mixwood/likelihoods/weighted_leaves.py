"""`WeightedLeaves`: data that are too large to keep, as the statistics of small blocks of rows.

They stand where rows stand in `mixwood.sample` and in a posterior. What works with both asks the
functions below, which look at the type of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.numbers import count
from mixwood._support.types import Data, FloatArray, IntArray, Sizes
from mixwood.input.groups import Groups, joined_groups
from mixwood.input.matrices import stacked
from mixwood.likelihoods.base import Likelihood, RowsOfLeaves

if TYPE_CHECKING:
    from mixwood import _core

__all__ = [
    "Members",
    "WeightedLeaves",
    "chosen_items",
    "item_sizes",
    "joined",
    "log_constants",
    "n_points",
    "names_in",
    "read_data",
    "refuse_drawn_entries",
]


def refuse_drawn_entries(likelihood: Likelihood, data: Data, name: str) -> None:
    """Raise where something of rows would be drawn, as missing entries: leaves keep sums alone.

    Parameters
    ----------
    likelihood : Likelihood
        With explicit parameters.
    data : array or csr_array
        Checked rows.
    name : str
        What the rows are called.
    """
    why_not = likelihood.why_no_leaves
    if why_not is not None:
        raise ValueError(
            f"{name} would be joined in leaves, which keep sums of rows alone, and the likelihood "
            f"{type(likelihood).__name__} {why_not}, on which the sums depend; leave out weights, "
            "known labels and max_leaves, or use a likelihood that draws nothing of rows, such as "
            "mw.Gaussian() without errors"
        )
    entries = len(likelihood.missing_entries(data)[0])
    if entries:
        raise ValueError(
            f"{name} has {count('missing value', entries)} (NaN), and weighted leaves keep sums "
            f"of rows alone, in which {type(likelihood).__name__} cannot draw them again; use "
            "mw.DiagonalGaussian(), which skips them, or fill them in"
        )


class Members(NamedTuple):
    """What rows are to leaves, where something is learned from the rows themselves.

    Attributes
    ----------
    leaf_of_row : int32 array of shape (n,)
        The leaf of each.
    weights : array of shape (n,)
        What each counts as in it.
    """

    leaf_of_row: NDArray[np.int32]
    weights: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class WeightedLeaves:
    """Blocks of rows of which only sizes, sums and sufficient statistics are kept.

    Made by `mixwood.stream_leaves` and `mixwood.distributed.build_leaves`, and given to
    `mixwood.sample` instead of the rows: the draws are then partitions of the leaves, from
    the posterior given that each leaf stays together. Clusters count the rows.

    Parameters
    ----------
    likelihood : Likelihood
        That of the rows, with every parameter explicit.
    sizes : array of shape (m,)
        How many rows each leaf stands for: whole numbers, or weights of rows that need not be
        whole, which are then rounded to multiples of ``2**-20``, so that sums of them are exact.
    log_constants : array of shape (m,)
        The sums of the rows' constants, which the compiled family leaves out of densities.
    log_apart : array of shape (m,)
        The sums of the rows' ``log P(x)``, those constants left out; trees compare them with
        the leaf's own.
    weights : array of shape (m,)
        What the rows weigh when trees are to have similar leaves.
    statistics : array of shape (m, s), or csr_array of shape (m, V) for `Multinomial`
        The sufficient statistics of the rows; of `Multinomial` the totals of the words.
    apart : bool array of shape (m,), optional
        Leaves that are to be in clusters of their own: no two of them are ever in one.
    rows : array or csr_array, optional
        Rows that leaves of size 1 are, as the likelihood reads them: chains score them faster.
    row_of_leaf : int32 array of shape (m,), optional
        Which of `rows` a leaf is, -1 for one that is not a single row.
    members : Members, optional
        Where the likelihood learns from rows, as `NegativeBinomial` does sizes: in which leaf
        each of `rows` is, which are then all there are, and what it counts as.
    leaf_of_row : int32 array of shape (n,), optional
        The leaf of each row, in the order in which the rows came; None where it is not here.
        A posterior keeps the leaves without it.
    groups : Groups, optional
        The groups of the rows: how many of each a leaf has, kept sparse. A posterior has them
        as its own.

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
    sizes: Sizes
    log_constants: FloatArray
    log_apart: FloatArray
    weights: FloatArray
    statistics: Data
    leaf_of_row: NDArray[np.int32] | None = None
    apart: NDArray[np.bool_] | None = None
    rows: Data | None = None
    row_of_leaf: NDArray[np.int32] | None = None
    groups: Groups | None = None
    members: Members | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.likelihood, Likelihood) or self.likelihood.width is None:
            raise ValueError(
                f"likelihood must be one with explicit parameters, got {self.likelihood}"
            )
        if self.likelihood.learns_from_rows and (self.rows is None or self.members is None):
            raise ValueError(
                f"leaves keep sums of rows alone, from which {type(self.likelihood).__name__} "
                "cannot learn all that it does; give it numbers, such as "
                "mw.NegativeBinomial(size=5), or sample the rows themselves"
            )
        if self.members is not None:
            self._freeze_members(self.members)
        object.__setattr__(self, "sizes", _frozen_sizes(self.sizes))
        if self.apart is not None:
            object.__setattr__(self, "apart", _frozen(self.apart, np.bool_))
            if self.apart.shape != (self.n_leaves,):
                raise ValueError(f"apart must be {self.n_leaves} yes or no, one per leaf")
        for name in ("log_constants", "log_apart", "weights"):
            values = _frozen(getattr(self, name), np.float64)
            if values.shape != (self.n_leaves,) or not np.all(np.isfinite(values)):
                raise ValueError(f"{name} must be {self.n_leaves} finite numbers, one per leaf")
            object.__setattr__(self, name, values)
        if self.groups is not None and self.groups.n_items != self.n_leaves:
            raise ValueError(f"groups must be those of {self.n_leaves} leaves")
        self._freeze_statistics()

    def _freeze_members(self, members: Members) -> None:
        """Check them, and make them read-only and contiguous: the core keeps where they are."""
        leaf_of_row = _frozen(members.leaf_of_row, np.int32)
        weights = _frozen(members.weights, np.float64)
        n = -1 if self.rows is None else self.rows.shape[0]
        if leaf_of_row.shape != (n,) or weights.shape != (n,):
            raise ValueError("members must have a leaf and a weight for each of rows")
        object.__setattr__(self, "members", Members(leaf_of_row, weights))

    def _freeze_statistics(self) -> None:
        """Check the statistics, and make them read-only."""
        words = self.likelihood.sparse_statistics
        shape = (self.n_leaves, self.likelihood.statistic_size - int(words))  # no grand total
        given = self.statistics
        if given.shape != shape or isinstance(given, np.ndarray) is words:
            kind = "a csr_array" if words else "an array"
            raise ValueError(f"statistics must be {kind} of shape {shape}, got {given.shape}")
        if isinstance(given, np.ndarray):
            given = _frozen(given, np.float64)
        elif given.data.flags.writeable:
            given = given.copy()
            given.data.flags.writeable = False
        object.__setattr__(self, "statistics", given)
        values = given if isinstance(given, np.ndarray) else given.data
        if not np.all(np.isfinite(values)) or (words and np.any(values < 0)):
            raise ValueError(f"statistics must be finite{' counts' if words else ' numbers'}")

    @property
    def n_leaves(self) -> int:
        """How many leaves."""
        return len(self.sizes)

    @property
    def n_items(self) -> int:
        """How many rows they stand for, rounded."""
        return round(float(self.sizes.sum()))

    @property
    def shape(self) -> tuple[int, int]:
        """How many leaves, and how many columns their rows have."""
        return self.n_leaves, self.likelihood.width or 0

    @property
    def nbytes(self) -> int:
        """The memory of the statistics."""
        found = self.statistics
        if isinstance(found, np.ndarray):
            return int(found.nbytes)
        return int(found.data.nbytes + found.indices.nbytes)

    def bind(self) -> _core.Family:
        """Return the compiled family over the leaves."""
        sums = (self.sizes.astype(np.float64), self.log_apart, self.weights)
        marks = None if self.apart is None else self.apart.astype(np.uint8)
        known = None
        if self.rows is not None:
            single = self.row_of_leaf
            single = None if single is None else np.ascontiguousarray(single, np.int32)
            known = RowsOfLeaves(self.rows, single, *(self.members or ()))
        return self.likelihood.bind_leaves(self.statistics, *sums, marks, known)

    def __repr__(self) -> str:
        return (
            f"<mixwood.WeightedLeaves: {count('row', self.n_items)} in "
            f"{count('leaf', self.n_leaves, plural='leaves')}; "
            f"{'' if self.groups is None else count('group', len(self.groups)) + '; '}"
            f"{type(self.likelihood).__name__}>"
        )


def _frozen(values: Any, dtype: type) -> NDArray[Any]:
    """Return `values` as an array that nobody can write to: a copy, unless it is such a one."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.flags.writeable = False
    return array


#: Sizes that are not whole are multiples of one over this.
PARTS_OF_ONE = 2**20


def _frozen_sizes(given: Any) -> NDArray[Any]:
    """Return sizes, checked: whole numbers where all are, else multiples of ``2**-20``."""
    sizes = np.asarray(given)
    if sizes.ndim != 1 or len(sizes) == 0 or sizes.dtype.kind not in "iuf":
        raise ValueError("sizes must be numbers, one per leaf, at least one")
    if not (np.all(np.isfinite(sizes)) and sizes.min() * PARTS_OF_ONE >= 1):
        raise ValueError("sizes must be positive, at least a millionth")
    if np.all(sizes == np.floor(sizes)):
        return _frozen(sizes, np.int64)
    return _frozen(np.rint(sizes * PARTS_OF_ONE) / PARTS_OF_ONE, np.float64)


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
    groups = [part.groups for part in parts if part.groups is not None]
    return WeightedLeaves(
        parts[0].likelihood,
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.log_constants for part in parts]),
        np.concatenate([part.log_apart for part in parts]),
        np.concatenate([part.weights for part in parts]),
        stacked([part.statistics for part in parts]),
        groups=joined_groups(groups) if groups else None,
    )


# --- rows or leaves


def read_data(likelihood: Likelihood, X: Any) -> tuple[Likelihood, Data | WeightedLeaves]:
    """Return the likelihood with every parameter explicit, and the data as the core reads them."""
    if not isinstance(X, WeightedLeaves):
        return likelihood.fitted_to(X)
    if not likelihood.stands_for(X.likelihood):
        raise ValueError(
            f"X holds leaves of {type(X.likelihood).__name__} rows and the model's likelihood "
            f"is {type(likelihood).__name__}; make the leaves with the model they are for"
        )
    # The leaf of each row may be larger than all the rest; groups are the run's.
    return X.likelihood, replace(X, leaf_of_row=None, groups=None)


def names_in(likelihood: Likelihood, X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of data as the user has them, or None without names."""
    if not isinstance(X, WeightedLeaves):
        return likelihood.names_in(X)
    return likelihood.own_names()


def item_sizes(X: Data | WeightedLeaves) -> Sizes:
    """Return how many rows each item stands for: 1, but for leaves; real where one is.

    Examples
    --------
    >>> item_sizes(np.array([[0.5], [0.7]]))
    array([1, 1])
    """
    return X.sizes if isinstance(X, WeightedLeaves) else np.ones(X.shape[0], dtype=np.int64)


def n_points(X: Data | WeightedLeaves) -> int:
    """Return how many rows all items stand for, rounded, at least 1."""
    return max(1, round(float(item_sizes(X).sum())))


def log_constants(likelihood: Likelihood, X: Data | WeightedLeaves) -> FloatArray:
    """Return what the compiled family leaves out of each item's log density."""
    return X.log_constants if isinstance(X, WeightedLeaves) else likelihood.row_constants(X)


def chosen_items(X: Data | WeightedLeaves, items: IntArray) -> Data | WeightedLeaves:
    """Return some of the rows, or leaves."""
    if not isinstance(X, WeightedLeaves):
        return X[items]
    rows, members = X.rows, X.members
    single = None if X.row_of_leaf is None else X.row_of_leaf[items]
    if rows is not None and members is not None:
        place = np.full(X.n_leaves, -1, dtype=np.int32)
        place[items] = np.arange(len(items))
        kept = np.flatnonzero(place[members.leaf_of_row] >= 0)
        if single is not None:
            now = np.full(rows.shape[0] + 1, -1, dtype=np.int32)  # the last for -1
            now[kept] = np.arange(len(kept))
            single = now[single]
        members = Members(place[members.leaf_of_row[kept]], members.weights[kept])
        rows = rows[kept]
    return WeightedLeaves(
        X.likelihood,
        X.sizes[items],
        X.log_constants[items],
        X.log_apart[items],
        X.weights[items],
        X.statistics[items],
        apart=None if X.apart is None else X.apart[items],
        rows=rows,
        row_of_leaf=single,
        members=members,
    )
