"""Columns that say what an earlier one has said: copies, in other units or in other words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.types import FloatArray
from mixwood.input.categories import entries
from mixwood.likelihoods.column_rules import BINARY, CATEGORIES, FEW_ENTRIES, LEFT_OUT, Judgement
from mixwood.likelihoods.dependence import NOTHING_LEFT

__all__ = ["duplicates"]

#: In fewer rows than this columns may agree by chance.
FEWEST_ROWS = 5
#: Of more columns of numbers than this only exact copies are looked for: pairs take time.
MOST_PAIRED = 1000


def duplicates(columns: Sequence[Any], judged: Sequence[Judgement]) -> dict[int, tuple[int, str]]:
    """Return for each column that repeats an earlier one which that is, and how.

    Categories may be called otherwise, and numbers have other units.

    Examples
    --------
    >>> import pandas as pd
    >>> from mixwood.likelihoods.column_rules import judge
    >>> table = pd.DataFrame({"a": [1.5, 2, 2, 7, 3], "b": [1, 2, 3, 4, 9], "c": [1.5, 2, 2, 7, 3]})
    >>> columns = [table[name] for name in table]
    >>> duplicates(columns, [judge(one, "", "", leave_out=True) for one in columns])
    {2: (0, 'a copy of')}
    """
    found: dict[int, tuple[int, str]] = {}
    if not columns or len(columns[0]) < FEWEST_ROWS:
        return found
    seen: dict[Hashable, int] = {}
    for k, (column, one) in enumerate(zip(columns, judged, strict=True)):
        for key, how in _keys(column, one):
            first = seen.setdefault(key, k)
            if first != k:
                found.setdefault(k, (first, how))
    for k, first in _linear(judged, found):
        found[k] = (first, "an exact linear function of")
    return found


def _keys(column: Any, one: Judgement) -> Iterator[tuple[Hashable, str]]:
    """Yield what is the same in two columns that say the same, and how they do it."""
    if one.kind == LEFT_OUT:
        return
    if one.numbers is not None:
        yield ("numbers", _digest(one.numbers)), "a copy of"
    else:
        yield ("text", tuple(entries(column))), "a copy of"
    if one.kind in (BINARY, CATEGORIES) and len(column) >= FEW_ENTRIES:
        codes: dict[Any, int] = {None: -1}
        told = [codes.setdefault(value, len(codes)) for value in entries(column)]
        yield ("codes", _digest(np.array(told))), "in other words"


def _digest(values: NDArray[Any]) -> bytes:
    """Return a few bytes that are the same only for the same entries."""
    return blake2b(values.tobytes()).digest()


def _linear(judged: Sequence[Judgement], known: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Yield columns of numbers and the earlier ones that they are linear functions of."""
    by_holes: dict[bytes, list[int]] = {}
    for k, one in enumerate(judged):
        if one.numbers is None or one.kind in (LEFT_OUT, BINARY, CATEGORIES) or k in known:
            continue
        by_holes.setdefault(np.isnan(one.numbers).tobytes(), []).append(k)
    for group in by_holes.values():
        if not 1 < len(group) <= MOST_PAIRED:
            continue
        columns = [found for k in group if (found := judged[k].numbers) is not None]
        rows = ~np.isnan(columns[0])
        if rows.sum() < FEW_ENTRIES:
            continue
        cosines = _cosines(np.array([column[rows] for column in columns]))
        earlier: list[int] = []
        for j, k in enumerate(group):
            same = [i for i in earlier if 1 - cosines[i, j] ** 2 <= NOTHING_LEFT**2]
            if same:
                yield k, group[same[0]]
            else:
                earlier.append(j)


def _cosines(columns: FloatArray) -> FloatArray:
    """Return the correlations of rows of numbers, none of them constant."""
    scaled = columns / np.abs(columns).max(axis=1, keepdims=True)
    away = scaled - scaled.mean(axis=1, keepdims=True)
    lengths = np.sqrt((away**2).sum(axis=1, keepdims=True))
    away /= np.where(lengths > 0, lengths, 1.0)
    return np.asarray(away @ away.T)
