"""Which likelihood suits which column of a table: the rules of `Product.from_frame`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.warn import warn
from mixwood.input.categories import entries, is_number
from mixwood.input.matrices import is_table, table_columns
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.bernoulli import Bernoulli
from mixwood.likelihoods.categorical import Categorical
from mixwood.likelihoods.diagonal_gaussian import DiagonalGaussian
from mixwood.likelihoods.gaussian import Gaussian
from mixwood.likelihoods.poisson import Poisson

__all__ = ["choose_parts"]

#: Whole numbers with at most so many values are categories.
FEW_VALUES = 5
#: Counts with a mean of at least this are taken for numbers: a Poisson would be too narrow.
LARGEST_MEAN = 30.0
#: So many columns of numbers may have a common covariance matrix.
MOST_TOGETHER = 10
#: Text with more levels than this, and than half the rows, names the rows.
MANY_LEVELS = 20

_OUT, _BINARY, _LEVELS, _COUNTS, _NUMBERS = "left out", "binary", "levels", "counts", "numbers"
Choice: TypeAlias = tuple[str, str]


def choose_parts(frame: Any) -> tuple[dict[Any, Likelihood], dict[Any, str]]:
    """Return the parts for a table's columns, and the reason for each column.

    Examples
    --------
    >>> import pandas as pd
    >>> choose_parts(pd.DataFrame({"visits": [0, 3, 1, 7, 4, 9, 2]}))
    ({'visits': Poisson(shape=1.0, rate=None)}, {'visits': 'counts'})
    """
    if not is_table(frame):
        raise TypeError(f"frame must be a pandas or polars table, got {shown(frame)}")
    kinds: dict[str, list[Any]] = {kind: [] for kind in (_BINARY, _LEVELS, _COUNTS, _NUMBERS, _OUT)}
    notes: dict[Any, str] = {}
    complete = True
    for label, column in zip(frame.columns, table_columns(frame), strict=True):
        name = label.item() if isinstance(label, np.generic) else label
        kind, notes[name] = _choose(column)
        kinds[kind].append(name)
        if kind == _NUMBERS:
            complete = complete and None not in entries(column)
    if kinds[_OUT]:
        reasons = ", ".join(f"{name!r} ({notes[name]})" for name in kinds[_OUT])
        warn(f"columns left out: {reasons}", UserWarning)
    together = complete and len(kinds[_NUMBERS]) <= MOST_TOGETHER
    likelihoods: dict[str, Likelihood] = {
        _BINARY: Bernoulli(),
        _LEVELS: Categorical(),
        _COUNTS: Poisson(),
        _NUMBERS: Gaussian() if together else DiagonalGaussian(),
    }
    parts = {_key(kinds[kind]): chosen for kind, chosen in likelihoods.items() if kinds[kind]}
    if not parts:
        raise ValueError("frame has no column that could be used; see the warning for why")
    return parts, notes


def _key(labels: Sequence[Any]) -> Any:
    return labels[0] if len(labels) == 1 else tuple(labels)


def _choose(column: Any) -> Choice:
    """Return what kind of column it is, and why."""
    if np.asarray(column.to_numpy()).dtype.kind in "mM":
        return _OUT, "dates or times"
    present = [value for value in entries(column) if value is not None]
    distinct = set(present)
    if len(distinct) <= 1:
        return _OUT, "one value only" if distinct else "no entries"
    if all(isinstance(value, (bool, np.bool_)) for value in distinct):
        return _BINARY, "truth values"
    if all(is_number(value) for value in distinct):
        return _choose_number(np.array(present, dtype=np.float64))
    if not all(isinstance(value, str) for value in distinct):
        return _OUT, "neither numbers nor text"
    if len(distinct) > max(MANY_LEVELS, len(present) / 2):
        return _OUT, "text of which nearly every entry differs"
    if len(distinct) == 2:
        return _BINARY, "two values"
    return _LEVELS, f"text with {len(distinct)} levels"


def _choose_number(values: Any) -> Choice:
    distinct = np.unique(values)
    if len(distinct) == 2:
        return _BINARY, "two values"
    if not np.all(np.isfinite(values)) or np.any(values != np.floor(values)):
        return _NUMBERS, "numbers"
    counts_rows = len(distinct) == len(values) and distinct[-1] - distinct[0] == len(values) - 1
    if counts_rows and len(values) > FEW_VALUES and distinct[0] in (0, 1):
        return _OUT, "it numbers the rows"
    if len(distinct) <= FEW_VALUES:
        return _LEVELS, f"whole numbers with {len(distinct)} values"
    if distinct[0] >= 0 and values.mean() < LARGEST_MEAN:
        return _COUNTS, "counts"
    return _NUMBERS, "numbers"
