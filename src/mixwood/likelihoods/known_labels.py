"""Rows whose groups are known: those of one label stay together, those of different labels apart.

The posterior given this is the one of the model restricted to the partitions that keep it. Two
steps make it exact, whatever the sampler that moves weighted leaves:

**Together.** The rows of a label become one weighted leaf, whose statistic is the sum of theirs
(`mixwood.reference.leaves`). A partition of the leaves is a partition of the rows that keeps every
label together, of the same joint density; so a chain over leaves has the restricted posterior.

**Apart.** A cluster then may have at most one of these leaves: they are marked, and a partition is
allowed if no cluster has two marks. What is allowed stays so when clusters are split. Therefore

- a Gibbs step of a row, a leaf or a block gives weight 0 to a cluster with a mark if the block has
  one: the conditional of the restricted posterior. Its own cluster without it, and a new cluster,
  are always allowed;
- a split divides one allowed cluster, so every division that can be proposed is allowed, and its
  probability q is what it was. A merge that would join two marks is rejected: its reverse is never
  proposed, since no allowed cluster has two. For every other pair, both ways of going, and hence
  the ratio of acceptance, are those of the unrestricted move;
- ``u``, the prior's parameters and a learned base measure are drawn given the partition, and the
  restriction does not depend on them.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.labels import in_order_of_appearance
from mixwood._support.types import Data, IntArray
from mixwood.input.matrices import as_array
from mixwood.likelihoods.row_weights import weighted_rows
from mixwood.likelihoods.weighted_leaves import Members, WeightedLeaves

if TYPE_CHECKING:
    from mixwood.likelihoods.base import Likelihood

__all__ = [
    "Collapsed",
    "allowed_labels",
    "checked_known",
    "collapsed",
    "in_words",
    "kept_by",
    "known_of",
    "leaves_of",
]


def _check_shape(labels: NDArray[Any], n: int, name: str) -> None:
    if labels.shape != (n,):
        raise ValueError(
            f"{name} must be {n} labels, one per row of X and -1 where it is unknown, "
            f"got shape {labels.shape}"
        )


def checked_known(known: Any, n: int, *, name: str = "known") -> IntArray | None:
    """Return known labels as codes from 0 on, -1 where unknown; None if none is known.

    Parameters
    ----------
    known : array of shape (n,)
        Whole numbers, -1 for unknown.
    n : int
        How many rows there are.
    name : str
        What the user calls them.

    Examples
    --------
    >>> checked_known([7, -1, 3, 7], 4)
    array([ 0, -1,  1,  0])
    """
    given = as_array(known, name)
    _check_shape(given, n, name)
    whole = given.dtype.kind == "f" and bool(np.all(given == np.floor(given)))
    if given.dtype.kind not in "iu" and not whole:
        raise TypeError(
            f"{name} must hold whole numbers, -1 where the label is unknown, got dtype "
            f"{given.dtype}"
        )
    wrong = np.flatnonzero(given < -1)
    if len(wrong):
        raise ValueError(
            f"{name} must be labels from 0 on, or -1 where unknown, got {given[wrong[0]]} "
            f"in row {wrong[0]}"
        )
    codes = np.full(n, -1, dtype=np.int64)
    has_one = given >= 0
    if not has_one.any():
        return None
    codes[has_one] = in_order_of_appearance(np.unique(given[has_one], return_inverse=True)[1])
    return codes


def known_of(y: Any, n: int, *, name: str = "y") -> IntArray:
    """Return labels of any kind as `checked_known` takes them: codes, and -1 where unknown.

    Parameters
    ----------
    y : array of shape (n,)
        Whole numbers or text; -1, None and NaN (and what pandas has for it) mean unknown.
    n : int
        How many rows there are.
    name : str
        What the user calls them.

    Examples
    --------
    >>> known_of(["red", None, "blue", "red"], 4)
    array([ 0, -1,  1,  0])
    """
    entries = np.asarray(y, dtype=object)
    if entries.shape == (n, 1):
        entries = entries[:, 0]
    _check_shape(entries, n, name)
    codes = np.full(n, -1, dtype=np.int64)
    numbers: dict[Any, int] = {}
    for row, value in enumerate(entries):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
            continue
        if not isinstance(value, (str, bytes, bool, np.bool_, Real)) or (
            isinstance(value, Real) and not float(value).is_integer()
        ):
            raise ValueError(
                f"{name} must hold labels, whole numbers or text, and -1, None or NaN where the "
                f"label is unknown, got {shown(value)} in row {row}"
            )
        if isinstance(value, Real) and value < 0:
            if value == -1:
                continue
            raise ValueError(
                f"{name} must hold labels from 0 on, or -1 where unknown, got {shown(value)} in "
                f"row {row}"
            )
        codes[row] = numbers.setdefault(value, len(numbers))
    return codes


def leaves_of(known: IntArray) -> NDArray[np.int32]:
    """Return the leaf of each row, one for each label and each row without one.

    Examples
    --------
    >>> leaves_of(np.array([-1, 0, -1, 0]))
    array([0, 1, 2, 1], dtype=int32)
    """
    place = np.where(known < 0, len(known) + np.arange(len(known)), known)
    return in_order_of_appearance(place).astype(np.int32)


class Collapsed(NamedTuple):
    """What a chain moves: leaves, and the leaf of each row, numbered in order of appearance."""

    leaves: WeightedLeaves
    leaf_of_row: NDArray[np.int32]

    @property
    def first_rows(self) -> IntArray:
        """The first row of each leaf."""
        return np.unique(self.leaf_of_row, return_index=True)[1].astype(np.int64)


def collapsed(likelihood: Likelihood, X: Data | WeightedLeaves, known: IntArray) -> Collapsed:
    """Return one leaf for each label and each row without a label; those of labels stay apart.

    Parameters
    ----------
    likelihood : Likelihood
        With every parameter explicit.
    X : array, csr_array or WeightedLeaves
        Checked rows, which may be weighted.
    known : array of shape (n,)
        Checked labels.

    Examples
    --------
    >>> from mixwood.likelihoods import Poisson
    >>> X, known = np.array([[3.0], [4.0], [5.0]]), np.array([0, -1, 0])
    >>> leaves, leaf_of_row = collapsed(Poisson(rate=[1.0]), X, known)
    >>> leaves.sizes, leaves.apart, leaf_of_row
    (array([2, 1]), array([ True, False]), array([0, 1, 0], dtype=int32))
    """
    n, rows = len(known), X
    if not isinstance(rows, WeightedLeaves):
        rows = weighted_rows(likelihood, rows, np.ones(n))
    leaf_of_row = leaves_of(known)
    leaves = int(leaf_of_row.max()) + 1
    apart = np.zeros(leaves, dtype=np.bool_)
    apart[leaf_of_row[known >= 0]] = True

    def summed(values: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(leaf_of_row, values, minlength=leaves)

    statistics: Any
    if likelihood.sparse_statistics:
        from scipy.sparse import csr_array

        members = csr_array((np.ones(n), (leaf_of_row, np.arange(n))), shape=(leaves, n))
        statistics = csr_array(members @ rows.statistics)
    else:
        statistics = rows.bind().cluster_statistics(leaf_of_row)
    home = rows.members
    if home is not None:
        home = Members(leaf_of_row[home.leaf_of_row], home.weights)
    alone = None
    if not isinstance(X, WeightedLeaves):
        first = np.unique(leaf_of_row, return_index=True)[1].astype(np.int32)
        alone = np.where(apart, np.int32(-1), first)
    united = WeightedLeaves(
        likelihood,
        summed(rows.sizes),
        summed(rows.log_constants),
        summed(rows.log_apart),
        summed(rows.weights),
        statistics,
        apart=apart,
        rows=rows.rows if isinstance(X, WeightedLeaves) else X,
        row_of_leaf=alone,
        members=home,
    )
    return Collapsed(united, leaf_of_row)


def kept_by(labels: NDArray[Any], known: IntArray) -> str | None:
    """Return how labels break what is known, in a sentence; None if they keep it.

    Examples
    --------
    >>> kept_by(np.array([0, 0, 1]), np.array([0, -1, 0]))
    'rows 0 and 2 have one known label and are in different clusters'
    """
    rows = np.flatnonzero(known >= 0)
    pairs = np.unique(np.column_stack([known[rows], labels[rows]]), axis=0)
    for column, told in (
        (0, "have one known label and are in different clusters"),
        (1, "have different known labels and are in one cluster"),
    ):
        values, counts = np.unique(pairs[:, column], return_counts=True)
        if counts.max() > 1:
            first, second = pairs[pairs[:, column] == values[counts.argmax()]][:2]
            a, b = (
                int(rows[(known[rows] == one[0]) & (labels[rows] == one[1])][0])
                for one in (first, second)
            )
            return f"rows {min(a, b)} and {max(a, b)} {told}"
    return None


def allowed_labels(labels: NDArray[Any], known: IntArray) -> IntArray:
    """Return labels that keep what is known, not far from those given.

    The rows of a known label go where most of them are. Where several labels are in one cluster,
    the one with most rows stays, and each of the others gets a cluster of its own.

    Examples
    --------
    >>> allowed_labels(np.array([0, 0, 0, 1]), np.array([0, 1, 0, -1]))
    array([0, 1, 0, 2])
    """
    moved = np.asarray(labels, dtype=np.int64).copy()
    taken: dict[int, int] = {}
    counts = np.bincount(known[known >= 0])
    fresh = int(moved.max()) + 1
    for label in np.argsort(-counts, kind="stable"):
        rows = np.flatnonzero(known == label)
        values, times = np.unique(moved[rows], return_counts=True)
        home = int(values[times.argmax()])
        if home in taken:
            home, fresh = fresh, fresh + 1
        taken[home] = int(label)
        moved[rows] = home
    return in_order_of_appearance(moved)


def in_words(known: IntArray) -> str:
    """Return what is known in a line.

    Examples
    --------
    >>> in_words(np.array([0, 0, 1, -1]))
    '3 of 4 rows in 2 groups that stay together, and apart from each other'
    """
    rows, groups = int(np.count_nonzero(known >= 0)), int(known.max()) + 1
    told = "1 group that stays together"
    if groups > 1:
        told = f"{groups:,} groups that stay together, and apart from each other"
    return f"{rows:,} of {len(known):,} rows in {told}"
