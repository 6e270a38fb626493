"""Rows that come in groups (patients, batches, sites, time windows): their names, as codes.

Items are rows, of one group each, or leaves of several rows, which can be of several groups. How
many rows of each group a leaf has is kept sparse: only for the groups that it has rows of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.numbers import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import FloatArray, IntArray, Sizes

__all__ = [
    "GroupNames",
    "Groups",
    "Members",
    "MovedGroups",
    "checked_groups",
    "group_codes",
    "joined_groups",
    "moved_groups",
]

Name = str | int | float | bool


class Members(NamedTuple):
    """Who is in which group: for every item and every group that it has rows of, how many.

    Attributes
    ----------
    items : array of m integers
        The items.
    codes : array of m integers
        The places of the groups among their names.
    counts : array of m numbers
        How many rows of the group the item stands for.
    """

    items: IntArray
    codes: IntArray
    counts: Sizes

    @classmethod
    def together(cls, parts: Sequence[Members]) -> Members:
        """Return those of several parts, one after another."""
        return cls(
            np.concatenate([part.items for part in parts]),
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    def into(self, leaves: IntArray) -> Members:
        """Return the same of leaves, given that of each item: one count per leaf and group.

        Examples
        --------
        >>> members = Members(np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([1, 1, 4]))
        >>> [part.tolist() for part in members.into(np.array([0, 1, 0]))]
        [[0, 1], [1, 0], [5, 1]]
        """
        groups = int(self.codes.max()) + 1
        pairs, place = np.unique(
            leaves[self.items].astype(np.int64) * groups + self.codes, return_inverse=True
        )
        return Members(pairs // groups, pairs % groups, _counted(place, self.counts))


def _counted(place: IntArray, counts: Sizes) -> Sizes:
    """Return the sums of counts at each place, whole if all are."""
    sums = np.bincount(place, counts)
    return sums.astype(np.int64) if counts.dtype.kind == "i" else sums


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of the items.

    Parameters
    ----------
    names : tuple
        What the groups are called, in their order.
    codes : int array of shape (n,), or (m,)
        The place of each item's group among the names; every group has a row. Of leaves one after
        another, those of the groups that each has rows of.
    counts : array of shape (m,), optional
        Of leaves, how many rows of each such group they have.
    ends : int array of shape (n,), optional
        Of leaves, where those of each end.

    Examples
    --------
    >>> groups = checked_groups(["b", "a", "b"], 3)
    >>> groups.names, groups.codes.tolist(), groups.sizes.tolist()
    (('a', 'b'), [1, 0, 1], [1, 2])
    >>> members = groups.members(np.ones(3, int)).into(np.array([0, 0, 1]))
    >>> leaves = Groups.of_members(groups.names, members)  # the first row and the second are one
    >>> leaves.codes.tolist(), leaves.counts.tolist(), leaves.ends.tolist()
    ([0, 1, 1], [1, 1, 1], [2, 3])
    """

    names: tuple[Name, ...]
    codes: IntArray
    counts: Sizes | None = None
    ends: IntArray | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(name, (str, int, float)) for name in self.names):
            raise ValueError(f"groups must have plain names, got {shown(self.names)}")
        codes = np.asarray(self.codes)
        object.__setattr__(self, "codes", codes.astype(np.int64, copy=False))
        whole = codes.ndim == 1 and codes.dtype.kind == "i"
        if not whole or not np.array_equal(np.unique(codes), np.arange(len(self.names))):
            raise ValueError(f"groups must have codes of all {len(self.names)} groups")
        if (self.counts is None) != (self.ends is None):
            raise ValueError("groups of leaves must have both counts and ends")
        if self.counts is None or self.ends is None:
            return
        counts, ends = np.asarray(self.counts), np.asarray(self.ends, dtype=np.int64)
        whole = counts.shape == self.codes.shape and bool(np.all(counts > 0))
        if not whole or ends.ndim != 1 or len(ends) == 0 or ends[-1] != len(counts):
            raise ValueError("groups must have positive counts, one per code, up to the last end")
        if np.any(np.diff(ends, prepend=0) < 1):
            raise ValueError("groups must have an increasing end for each leaf")
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "ends", ends)

    @classmethod
    def of_members(cls, names: Sequence[Name], members: Members) -> Groups:
        """Return the groups of leaves, numbered from 0 on, each of which has a member."""
        ends = np.cumsum(np.bincount(members.items))
        return cls(tuple(names), members.codes, members.counts, ends)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.codes if self.ends is None else self.ends)

    def members(self, sizes: Sizes) -> Members:
        """Return who is in which group, given how many rows each item stands for."""
        if self.counts is None or self.ends is None:
            return Members(np.arange(len(self.codes)), self.codes, sizes)
        items = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        return Members(items, self.codes, self.counts)

    def in_order(self, categories: Any = None) -> Groups:
        """Return the same with the names sorted, or as they are in categories."""
        names = _ordered(self.names, categories)
        place = {name: code for code, name in enumerate(names)}
        new = np.array([place[name] for name in self.names], dtype=np.int64)
        return replace(self, names=tuple(names), codes=new[self.codes])

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """How many rows each group has, where items are rows; rounded."""
        counts = np.ones(len(self.codes)) if self.counts is None else self.counts
        return np.rint(np.bincount(self.codes, counts)).astype(np.int64)

    def index(self, name: Any, argument: str = "group") -> int:
        """Return the place of a group, or raise if there is none of this name."""
        code = self.places.get(_plain(name), self.places.get(str(name)))
        if code is None:
            some = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
            raise ValueError(f"{argument} must be one of the groups ({some}), got {shown(name)}")
        return code

    @property
    def places(self) -> dict[Name, int]:
        """The place of each group by its name, and by its name as text, as a file has it."""
        as_text: dict[Name, int] = {str(name): code for code, name in enumerate(self.names)}
        return as_text | {name: code for code, name in enumerate(self.names)}

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


def moved_groups(members: Members, leaf_of_item: IntArray) -> MovedGroups:
    """Return the groups of leaves, given the members of the items in them.

    Examples
    --------
    >>> rows = Members(np.arange(4), np.array([1, 0, 1, 1]), np.array([1, 2, 1, 3]))
    >>> moved = moved_groups(rows, np.array([0, 1, 0, 1]))
    >>> moved.groups.tolist(), moved.counts.tolist(), moved.ends.tolist()
    ([1, 0, 1], [2.0, 2.0, 3.0], [1, 3])
    """
    leaves = members.into(leaf_of_item)
    ends = np.cumsum(np.bincount(leaves.items))
    counts = leaves.counts.astype(np.float64)
    return MovedGroups(leaves.codes.astype(np.int32), counts, ends.astype(np.int64))


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
    names = GroupNames()
    codes = names.codes(groups, n, argument)
    return names.groups(codes, argument)


class GroupNames:
    """Names of groups that are met block by block.

    Examples
    --------
    >>> names = GroupNames()
    >>> names.codes(["b", "c"], 2), names.codes(["c", "a"], 2)
    (array([0, 1]), array([1, 2]))
    >>> names.groups(np.array([0, 1, 1, 2])).names
    ('a', 'b', 'c')
    """

    def __init__(self) -> None:
        self._place: dict[Name, int] = {}
        self._categories: dict[Name, None] = {}

    def codes(self, groups: Any, n: int, argument: str = "groups") -> IntArray:
        """Return the places of the groups of `n` rows, in the order in which names were met."""
        entries, place = _entries(groups, n, argument), self._place
        categories = getattr(getattr(groups, "cat", groups), "categories", None)
        if categories is not None:
            self._categories.update(dict.fromkeys(map(_plain, categories)))
        return np.array([place.setdefault(name, len(place)) for name in entries], dtype=np.int64)

    def groups(self, met: IntArray | Members, argument: str = "groups") -> Groups:
        """Return the groups of rows, or of leaves, in their order: sorted, or that of categories.

        `met` has places in the order in which names were met.
        """
        names = tuple(self._place)
        if len({str(name) for name in names}) < len(names):
            raise ValueError(f"{argument} must have names that differ as text, got {shown(names)}")
        found = Groups.of_members(names, met) if isinstance(met, Members) else Groups(names, met)
        return found.in_order(self._categories or None)


def _ordered(names: Iterable[Name], categories: Any = None) -> list[Name]:
    """Return names as they are in categories, and others sorted: numbers come first."""
    found = dict.fromkeys(names)
    first = (
        [] if categories is None else [name for name in map(_plain, categories) if name in found]
    )
    rest = [name for name in found if name not in first]
    if all(isinstance(name, (int, float)) for name in rest):
        return first + sorted(rest)
    return first + sorted(rest, key=lambda name: (isinstance(name, str), str(name)))


def joined_groups(parts: Sequence[Groups]) -> Groups:
    """Return the groups of the leaves of several parts, one after another; names are sorted.

    Examples
    --------
    >>> part = Groups(("b", "c"), [0, 1], counts=[5, 2], ends=[1, 2])
    >>> other = Groups(("a", "c"), [1, 0], counts=[3, 1], ends=[2])
    >>> joined = joined_groups([part, other])
    >>> joined.names, joined.codes.tolist(), joined.sizes.tolist()
    (('a', 'b', 'c'), [1, 2, 2, 0], [1, 5, 5])
    """
    place: dict[Name, int] = {}
    members, first = [], 0
    for part in parts:
        own = part.members(np.ones(part.n_items, dtype=np.int64))
        met = np.array([place.setdefault(name, len(place)) for name in part.names])
        members.append(Members(first + own.items, met[own.codes], own.counts))
        first += part.n_items
    return Groups.of_members(tuple(place), Members.together(members)).in_order()


def group_codes(groups: Any, n: int, known: Groups, *, argument: str = "groups") -> IntArray:
    """Return the places of new rows' groups; one past the last for a group not seen before.

    Examples
    --------
    >>> group_codes(["a", "z"], 2, checked_groups(["a", "b"], 2)).tolist()
    [0, 2]
    >>> group_codes(["2", 1], 2, checked_groups([1, 2], 2)).tolist()  # numbers read as text
    [1, 0]
    """
    if isinstance(groups, (str, int, float, np.generic)):
        groups = [groups] * n
    place, new = known.places, len(known)
    entries = _entries(groups, n, argument)
    found = [place.get(name, place.get(str(name), new)) for name in entries]
    return np.array(found, dtype=np.int64)
