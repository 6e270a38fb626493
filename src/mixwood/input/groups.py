"""Rows that come in groups (patients, batches, sites, time windows): their names, as codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.numbers import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import FloatArray, IntArray, Sizes

__all__ = ["Groups", "MovedGroups", "checked_groups", "group_codes", "moved_groups"]

Name = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of the rows.

    Parameters
    ----------
    names : tuple
        What the groups are called, in their order.
    codes : int array of shape (n,)
        The place of each row's group among the names; every group has a row.

    Examples
    --------
    >>> groups = checked_groups(["b", "a", "b"], 3)
    >>> groups.names, groups.codes.tolist(), groups.sizes.tolist()
    (('a', 'b'), [1, 0, 1], [1, 2])
    """

    names: tuple[Name, ...]
    codes: IntArray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """How many rows each group has."""
        return np.bincount(self.codes, minlength=len(self.names))

    def index(self, name: Any, argument: str = "group") -> int:
        """Return the place of a group, or raise if there is none of this name."""
        found = _plain(name)
        if found not in self.names:
            some = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
            raise ValueError(f"{argument} must be one of the groups ({some}), got {shown(name)}")
        return self.names.index(found)

    def in_words(self) -> str:
        """Return how many there are, and of what sizes."""
        sizes = self.sizes
        few, many = int(sizes.min()), int(sizes.max())
        size = f"{count('row', few)} each" if few == many else f"{few:,} to {many:,} rows"
        return f"{count('group', len(self))} of {size}"


class MovedGroups(NamedTuple):
    """The groups of what a chain moves: of each item one, or of leaves several.

    Attributes
    ----------
    groups : int32 array
        Of all leaves, one after another.
    counts : float array
        How many rows of each.
    ends : int64 array
        Where those of each leaf end.
    """

    groups: NDArray[np.int32]
    counts: FloatArray
    ends: NDArray[np.int64]


def moved_groups(codes: IntArray, leaf_of_item: IntArray, sizes: Sizes) -> MovedGroups:
    """Return the groups of leaves, given those of the items in them and what these count as.

    Examples
    --------
    >>> moved = moved_groups(np.array([1, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1, 2, 1, 3]))
    >>> moved.groups.tolist(), moved.counts.tolist(), moved.ends.tolist()
    ([1, 0, 1], [2.0, 2.0, 3.0], [1, 3])
    """
    groups = int(codes.max()) + 1
    pairs, place = np.unique(leaf_of_item.astype(np.int64) * groups + codes, return_inverse=True)
    ends = np.searchsorted(pairs, (np.arange(int(leaf_of_item.max()) + 1) + 1) * groups)
    counts = np.bincount(place, sizes).astype(np.float64)
    return MovedGroups((pairs % groups).astype(np.int32), counts, ends.astype(np.int64))


def _plain(value: Any) -> Any:
    """Return a name as a plain Python value; other things (dates, periods) as text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, int, float)) else str(value)


def _entries(groups: Any, n: int, argument: str) -> list[Any]:
    """Return one name per row, or raise if there are not `n`, or one is missing."""
    values = np.asarray(groups, dtype=object)
    if values.shape != (n,):
        raise ValueError(
            f"{argument} must be {n} names or numbers, one per row of X, got shape {values.shape}"
        )
    for row, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
            raise ValueError(
                f"{argument} must have a group for every row, got {shown(value)} in row {row}: "
                "give rows of an unknown group a group of their own, or leave them out"
            )
    return [_plain(value) for value in values]


def checked_groups(groups: Any, n: int, *, argument: str = "groups") -> Groups:
    """Return the groups of `n` rows.

    Parameters
    ----------
    groups : array of shape (n,)
        Names or numbers; those of a pandas Categorical keep its order, others are sorted.
    n : int
        How many rows there are.
    argument : str
        What the user calls them.
    """
    entries = _entries(groups, n, argument)
    found = set(entries)
    categories = getattr(getattr(groups, "cat", groups), "categories", None)
    if categories is not None:
        names = [name for name in map(_plain, categories) if name in found]
    elif all(isinstance(name, (int, float)) for name in found):
        names = sorted(found)
    else:
        names = sorted(found, key=lambda name: (isinstance(name, str), str(name)))
    if len({str(name) for name in names}) < len(names):
        raise ValueError(f"{argument} must have names that differ as text, got {shown(names)}")
    place = {name: code for code, name in enumerate(names)}
    return Groups(tuple(names), np.array([place[name] for name in entries], dtype=np.int64))


def group_codes(groups: Any, n: int, known: Groups, *, argument: str = "groups") -> IntArray:
    """Return the places of new rows' groups; one past the last for a group not seen before.

    Examples
    --------
    >>> group_codes(["a", "z"], 2, checked_groups(["a", "b"], 2)).tolist()
    [0, 2]
    """
    if isinstance(groups, (str, int, float, np.generic)):
        groups = [groups] * n
    place = {name: code for code, name in enumerate(known.names)}
    entries = _entries(groups, n, argument)
    return np.array([place.get(name, len(known)) for name in entries], dtype=np.int64)
