"""The parts of a `Product`: which columns each has, which rows, and what they are together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.table_layout import Label, labels_of, plain_label

__all__ = [
    "Parts",
    "Slice",
    "checked_key",
    "explained",
    "modelled",
    "name_of",
    "refuse_given_errors",
    "slices",
]


class Slice(NamedTuple):
    """One part of a product over checked data."""

    key: Any
    likelihood: Likelihood
    columns: list[int]  # of the checked matrix
    rows: IntArray  # those that have something for it
    data: Data  # as the likelihood's own `check` returns them


class Parts(Likelihood):
    """Likelihoods side by side: what is the sum over them, or that of one of them.

    A `Product` is this and, by subject, `product_rows`, `product_errors`, `product_base` and
    `product_draws`.
    """

    parts: Mapping[Any, Likelihood]

    @property
    @abstractmethod
    def columns(self) -> tuple[Label, ...] | None:
        """The columns that are used, in the order of the checked matrix; None while open."""

    @abstractmethod
    def _slices(self, matrix: FloatArray) -> Iterator[Slice]:
        """Yield each part with its columns, its rows and its data."""

    def _bases(self, base: FloatArray) -> Iterator[tuple[Any, Likelihood, FloatArray]]:
        """Yield each part with its own columns of base measures (..., base_size)."""
        end = 0
        for key, part in self.parts.items():
            start, end = end, end + part.base_size
            yield key, part, base[..., start:end]

    def _slices_with(
        self, matrix: FloatArray, statistics: FloatArray, base: FloatArray | None
    ) -> Iterator[tuple[Slice, FloatArray, FloatArray | None]]:
        """Yield the same as `_slices`, and the part's own statistics and base measure, if any."""
        bases: dict[Any, FloatArray] = {}
        if base is not None:
            bases = {key: own for key, _, own in self._bases(base)}
        end = 0
        for part in self._slices(matrix):
            start, end = end, end + part.likelihood.statistic_size
            yield part, statistics[:, start:end], bases.get(part.key)

    @property
    def statistic_size(self) -> int:
        """The parts' statistics, one after the other."""
        return sum(part.statistic_size for part in self.parts.values())

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The parts' means."""
        return np.concatenate([part.means_in_statistic for part in self.parts.values()])

    @property
    def counts_whole_rows(self) -> bool:
        """Whether one of the parts does."""
        return any(part.counts_whole_rows for part in self.parts.values())

    @property
    def learns_from_rows(self) -> bool:
        """Whether one of the parts does."""
        return any(part.learns_from_rows for part in self.parts.values())

    @property
    def work(self) -> int:
        """That of all parts."""
        return sum(part.work for part in self.parts.values())

    @property
    def matrix_size(self) -> int:
        """That of the widest part."""
        return max(part.matrix_size for part in self.parts.values())

    @property
    def advice_if_wide(self) -> str:
        """What to do about the part that costs most."""
        key, widest = max(self.parts.items(), key=lambda item: item[1].work)
        return f"Most of it is parts[{shown(key)}]. {widest.advice_if_wide}"

    @property
    def why_no_leaves(self) -> str | None:
        """The reason of the first part that has one."""
        return next(filter(None, (part.why_no_leaves for part in self.parts.values())), None)

    @property
    def why_no_atoms(self) -> str | None:
        """The reason of the first part that has one."""
        for key, part in self.parts.items():
            if part.why_no_atoms is not None:
                return f"has parts[{key!r}], which {part.why_no_atoms}"
        return None


def slices(
    parts: Mapping[Any, Likelihood], columns: Sequence[Label], matrix: FloatArray, name: str
) -> Iterator[Slice]:
    """Yield each part over a checked matrix with these columns; `name` is the user's for it."""
    place_of = {label: place for place, label in enumerate(columns)}
    for key, likelihood in parts.items():
        places = [place_of[label] for label in labels_of(key)]
        entries = np.ascontiguousarray(matrix[:, places])
        own = f"{name}[{key!r}]"
        rows = _rows_with_entries(entries, likelihood, labels_of(key), own)
        if len(rows) < len(entries):
            entries, own = entries[rows], f"{own} (rows without it left out)"
        data: Data
        if len(rows):
            data = likelihood.check(entries, name=own, width=len(places))
        else:
            data = likelihood.no_rows(len(places))
        yield Slice(key, likelihood, places, rows, data)


def explained(parts: Mapping[Any, Likelihood], reasons: Mapping[Any, str]) -> list[str]:
    """Return a line per column: its likelihood and why, or why it is left out.

    Examples
    --------
    >>> import mixwood as mw
    >>> explained({"x": mw.Gaussian()}, {"x": "numbers", "id": "it numbers the rows"})
    ['x: Gaussian (numbers)', 'id: left out (it numbers the rows)']
    """
    unused = dict(reasons)
    lines = []
    for key, likelihood in parts.items():
        labels = labels_of(key)
        with_others = f" with {len(labels) - 1} more" if len(labels) > 1 else ""
        for label in labels:
            reason = unused.pop(label, None)
            why = f" ({reason})" if reason else ""
            lines.append(f"{label}: {type(likelihood).__name__}{with_others}{why}")
    return lines + [f"{label}: left out ({reason})" for label, reason in unused.items()]


def name_of(key: Any) -> str:
    """Return the names of a part's columns."""
    return ", ".join(map(str, labels_of(key)))


def checked_key(key: Hashable) -> Any:
    """Return a key with plain labels, or raise if it is not made of names and numbers."""
    labels = tuple(plain_label(label) for label in (key if isinstance(key, tuple) else (key,)))
    for label in labels:
        number = isinstance(label, int) and not isinstance(label, bool) and label >= 0
        if not isinstance(label, str) and not number:
            raise TypeError(
                "parts must have columns as keys: a name, a number from 0 on, or a tuple of "
                f"those, got {shown(key)}"
            )
    if not labels:
        raise ValueError("parts must have columns as keys, got an empty tuple")
    return labels if isinstance(key, tuple) else labels[0]


def _rows_with_entries(
    entries: FloatArray, likelihood: Likelihood, labels: tuple[Label, ...], name: str
) -> IntArray:
    """Return the rows that have something for a part, or raise at one with only some of it."""
    if likelihood.skips_missing and not likelihood.draws_missing:
        return np.arange(len(entries))
    missing = np.isnan(entries)
    everything = missing.all(axis=1)
    if likelihood.draws_missing:
        return np.flatnonzero(~everything)
    some = missing.any(axis=1) & ~everything
    if some.any():
        row = int(np.argmax(some))
        column = labels[int(np.argmax(missing[row]))]
        raise ValueError(
            f"{name} has a missing value in row {row}, column {column!r}, and others in that "
            f"row; {type(likelihood).__name__} needs all of them or none. Fill it in, or use "
            "a likelihood that takes single entries (Gaussian, DiagonalGaussian)"
        )
    return np.flatnonzero(~everything)


def modelled(parts: Mapping[Any, Likelihood]) -> list[Label]:
    """Return the columns that parts model, as often as one does; not those that they are given."""
    found: list[Label] = []
    for key, part in parts.items():
        labels = labels_of(key)
        given = part.given_columns(len(labels))
        found += [label for j, label in enumerate(labels) if j not in given]
    return found


def refuse_given_errors(parts: Mapping[Any, Likelihood]) -> None:
    """Raise if a part is given a column that is a measurement with errors: it would be theirs."""
    noisy = {label for key, part in parts.items() if part.has_errors for label in labels_of(key)}
    for key, part in parts.items():
        labels = labels_of(key)
        for j in part.given_columns(len(labels)):
            if labels[j] in noisy:
                raise ValueError(
                    f"parts[{key!r}], {type(part).__name__}, is given column {labels[j]!r}, which "
                    "is measured with errors in another part: it would be given measurements, not "
                    "true positions. Leave out errors, or one of the two parts"
                )
