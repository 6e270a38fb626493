"""Where the columns of a product are in a table, and how their entries are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.types import FloatArray
from mixwood.input.categories import Categories, codes_of, entries, learn_categories, listed
from mixwood.input.matrices import (
    column_names,
    column_numbers,
    is_table,
    real_matrix,
    table_columns,
)
from mixwood.input.refusals import NUMBER_KINDS
from mixwood.input.written import learn_notation, written_numbers
from mixwood.likelihoods.base import Likelihood

__all__ = ["Label", "TableLayout", "labels_of", "plain_label"]

Label: TypeAlias = "str | int"


def labels_of(key: Any) -> tuple[Label, ...]:
    """Return the columns that a key names."""
    return key if isinstance(key, tuple) else (key,)


def plain_label(label: Any) -> Any:
    """Return a column's label without numpy's types."""
    return label.item() if isinstance(label, np.generic) else label


@dataclass(frozen=True)
class TableLayout:
    """What is learned of the table that a product is fitted to.

    Parameters
    ----------
    columns : tuple of str or int
        The columns that are used, in the order that they have in the table. This is their
        order in the checked matrix, too.
    positions : tuple of int
        Where they are in the table.
    width : int
        How many columns the table has.
    levels : tuple
        For each the categories of its codes, or None where entries are numbers. (Saved runs
        have this name for it.)
    written : tuple, optional
        For each the notation of its numbers where they are written as 12% or $1,200 (see
        `mixwood.input.written`), or None; none at all in older runs.

    Examples
    --------
    >>> layout = TableLayout.numbered((0, 2))
    >>> layout.read([[1.0, 5.0]], "X")
    array([[1., 5.]])
    """

    columns: tuple[Label, ...]
    positions: tuple[int, ...]
    width: int
    levels: tuple[Categories | None, ...]
    written: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        whole_number(self.width, "width", at_least=1)
        for place in self.positions:
            whole_number(place, "positions", at_least=0)
        lengths = {len(self.columns), len(self.positions), len(self.levels), len(self.notations)}
        if len(lengths) != 1 or not len(set(self.columns)) == len(self.columns) <= self.width:
            raise ValueError("a layout needs a position and categories for each of its columns")
        if self.positions != tuple(sorted(set(self.positions))) or self.positions[-1] >= self.width:
            raise ValueError(f"positions must rise below {self.width}, got {self.positions}")

    @property
    def notations(self) -> tuple[str | None, ...]:
        """For each column how its numbers are written, None where that is plain."""
        return (None,) * len(self.columns) if self.written is None else self.written

    @classmethod
    def numbered(cls, columns: Sequence[Label]) -> TableLayout:
        """Return the layout of a matrix that has just these columns, all of them numbers."""
        count = len(columns)
        return cls(tuple(columns), tuple(range(count)), count, (None,) * count)

    @classmethod
    def of(cls, parts: Mapping[Any, Likelihood], X: Any, name: str) -> TableLayout:
        """Return where the columns of `parts` are in a table or array, and their categories."""
        owner = {label: part for key, part in parts.items() for label in labels_of(key)}
        width = len(X.columns) if is_table(X) else real_matrix(X, name=name, missing=True).shape[1]
        places = _places(list(owner), X, width, name)
        if len(set(places)) < len(places):
            raise ValueError(f"parts name a column of {name} both by its name and by its number")
        ordered = sorted(zip(places, owner, strict=True))
        known: list[Categories | None] = [None] * len(ordered)
        written: list[str | None] = [None] * len(ordered)
        if is_table(X):
            columns = table_columns(X)
            for k, (place, label) in enumerate(ordered):
                if owner[label].learns_categories:
                    known[k] = learn_categories(columns[place])
                    _refuse_too_many(owner[label], known[k], f"column {label!r} of {name}")
                else:
                    written[k] = _notation_of(columns[place])
        return cls(
            columns=tuple(label for _, label in ordered),
            positions=tuple(sorted(places)),
            width=int(width),
            levels=tuple(known),
            written=tuple(written) if any(written) else None,
        )

    def names_in(self, X: Any) -> tuple[str, ...] | None:
        """Return the names of the columns that are used, or None without names."""
        names = column_names(X)
        if names is None:
            return None
        return tuple(names[place] for place in _places(self.columns, X, len(names), "X"))

    def read(self, X: Any, name: str) -> FloatArray:
        """Return the columns that are used as a matrix of numbers and codes, NaN where missing."""
        if is_table(X):
            return self._read_table(X, name)
        matrix = real_matrix(X, name=name, missing=True)
        used = len(self.columns)
        if matrix.shape[1] == self.width and self.width != used:
            return np.ascontiguousarray(matrix[:, list(self.positions)])
        if matrix.shape[1] != used:
            raise ValueError(
                f"{name} has the wrong number of columns: {matrix.shape[1]}, but {self.width} are "
                "needed, as in the table that was fitted"
                + ("" if used == self.width else f", or the {used} that are used")
            )
        return matrix

    def _read_table(self, X: Any, name: str) -> FloatArray:
        if len(X) == 0:
            raise ValueError(f"{name} is empty; it needs at least one row")
        columns = table_columns(X)
        places = _places(self.columns, X, len(columns), name)
        matrix = np.empty((len(X), len(places)))
        for k, (place, label, categories, notation) in enumerate(
            zip(places, self.columns, self.levels, self.notations, strict=True)
        ):
            own = f"column {label!r} of {name}"
            column = columns[place]
            if categories is not None:
                matrix[:, k] = codes_of(column, categories, own)
            elif notation is not None:
                matrix[:, k] = written_numbers(column, notation, own)
            else:
                matrix[:, k] = column_numbers(column, own)
        return real_matrix(matrix, name=name, missing=True)


def _places(wanted: Sequence[Label], X: Any, width: int, name: str) -> list[int]:
    """Return where columns are in `X`, by name in a table and else by number; or raise."""
    labels = [plain_label(label) for label in X.columns] if is_table(X) else None
    places_of: dict[Any, list[int]] = {}
    for place, label in enumerate(labels or ()):
        places_of.setdefault(label, []).append(place)
    places = []
    for label in wanted:
        if label in places_of:
            if len(places_of[label]) > 1:
                raise ValueError(f"{name} has several columns named {label!r}")
            places += places_of[label]
        elif isinstance(label, int) and label < width:
            places.append(label)
        elif labels is not None:
            raise ValueError(
                f"{name} has no column {label!r}, which parts name; it has "
                f"{shown(', '.join(map(repr, labels)))}"
            )
        elif isinstance(label, str):
            raise ValueError(
                f"parts name the column {label!r}, but {name} is an array without names; "
                "give a table, or number the columns"
            )
        else:
            raise ValueError(
                f"{name} has no column {label}, which parts name; it has {width} columns"
            )
    return places


def _notation_of(column: Any) -> str | None:
    """Return how the numbers of a column are written, None where Python reads them."""
    if np.asarray(column.to_numpy()).dtype.kind in NUMBER_KINDS:
        return None
    return learn_notation([value for value in entries(column) if value is not None])


def _refuse_too_many(likelihood: Likelihood, known: Categories | None, name: str) -> None:
    most = likelihood.most_categories
    if most is not None and known is not None and len(known) > most:
        raise ValueError(
            f"{name} has {len(known)} categories, {listed(known)}, and "
            f"{type(likelihood).__name__} takes at most {most}; use Categorical"
        )
