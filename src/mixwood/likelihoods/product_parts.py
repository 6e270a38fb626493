"""The parts of a `Product`: which columns each has, which rows of a matrix, and how it is told."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.table_layout import Label, labels_of, plain_label

__all__ = ["Slice", "checked_key", "explained", "name_of", "slices"]


class Slice(NamedTuple):
    """One part of a product over checked data."""

    key: Any
    likelihood: Likelihood
    columns: list[int]  # of the checked matrix
    rows: IntArray  # those that have something for it
    data: Data  # as the likelihood's own `check` returns them


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
