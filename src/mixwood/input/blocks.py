"""Data that come in blocks: an iterator over them, and the column that names the groups of rows.

The group of a row is in a column of its block, which is taken out, or in one array for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mixwood._support.checks import shown
from mixwood.input.matrices import is_table

__all__ = ["as_table", "block_reader", "group_apart", "is_column", "with_groups"]

#: This many rows of an array are a block.
BLOCK_ROWS = 100_000


def block_reader(blocks: Any) -> tuple[Callable[[], Iterator[Any]], bool]:
    """Return what starts a pass over the blocks, and whether it can be called twice."""
    if callable(blocks):
        return lambda: iter(blocks()), True
    if getattr(blocks, "ndim", 0) == 2:
        return lambda: _cut(blocks), True
    whole = isinstance(blocks, (str, bytes)) or getattr(blocks, "ndim", 1) == 0
    if whole or not isinstance(blocks, Iterable):
        raise TypeError(
            "blocks must be an iterable of blocks, an array, or a function that returns an "
            f"iterator over blocks, got {shown(blocks)}"
        )
    return lambda: iter(blocks), iter(blocks) is not blocks


def _cut(array: Any) -> Iterator[Any]:
    rows = array.iloc if hasattr(array, "iloc") else array
    if hasattr(rows, "tocsr"):
        rows = rows.tocsr()
    for start in range(0, max(array.shape[0], 1), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]


def as_table(block: Any) -> Any:
    """Return Arrow's batches and tables as data frames, and all else as it is."""
    arrow = hasattr(block, "to_pandas") and hasattr(block, "schema") and hasattr(block, "num_rows")
    return block.to_pandas() if arrow else block


def is_column(groups: Any) -> bool:
    """Tell whether groups are a column of every block, rather than an array for all rows."""
    return isinstance(groups, (str, int, np.integer)) and not isinstance(groups, bool)


def with_groups(blocks: Iterable[Any], groups: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each block, without its column of groups, and the groups of its rows.

    Parameters
    ----------
    blocks : iterable
        The blocks.
    groups : str, int, array or None
        A column of every block; or the groups of all rows, in the order in which they come.

    Examples
    --------
    >>> blocks = [np.array([[7.0, 0.5], [8.0, 0.6]]), np.array([[7.0, 0.9]])]
    >>> [(rows.tolist(), own.tolist()) for rows, own in with_groups(blocks, 0)]
    [([[0.5], [0.6]], [7, 8]), ([[0.9]], [7])]
    """
    if groups is None or is_column(groups):
        for number, block in enumerate(blocks):
            yield group_apart(block, groups, number)
        return
    rows = groups.iloc if hasattr(groups, "iloc") else groups
    count = _length(groups)
    first = end = 0
    for number, block in enumerate(blocks):
        table = as_table(block)
        end += table.shape[0] if hasattr(table, "shape") else len(table)
        if end > count:
            raise ValueError(
                f"groups must have a name for every row of all blocks, got {count:,} names, and "
                f"block {number} goes on to row {end:,}"
            )
        yield table, rows[first:end]
        first = end
    if end < count:
        raise ValueError(
            f"groups must have a name for every row of all blocks, got {count:,} names for "
            f"{end:,} rows"
        )


def _length(groups: Any) -> int:
    """Return how many groups there are in an array, or raise."""
    shape = np.shape(groups)
    if len(shape) != 1:
        raise ValueError(
            "groups must be the name or number of a column of every block, or an array with the "
            f"group of every row, got {shown(groups)}"
        )
    return int(shape[0])


def group_apart(block: Any, column: str | int | None, number: int) -> tuple[Any, Any]:
    """Return a block without its column of groups, and that column; without one, None.

    Examples
    --------
    >>> rows, own = group_apart(np.array([[0.5, 7.0], [0.6, 7.5]]), 1, 0)
    >>> rows.tolist(), own.tolist()
    ([[0.5], [0.6]], [7.0, 7.5])
    """
    table = as_table(block)
    if column is None:
        return table, None
    if is_table(table):
        return _column_of_table(table, column, number)
    values = table if hasattr(table, "shape") else np.asarray(table)
    if not isinstance(column, (int, np.integer)) or values.ndim != 2:
        raise ValueError(
            f"groups must be the number of a column where blocks have no names, got {shown(column)}"
        )
    width = values.shape[1]
    if not 0 <= column < width:
        raise ValueError(
            f"groups must be the number of a column, 0 to {width - 1} in block {number}, got "
            f"{column}"
        )
    others = np.delete(np.arange(width), column)
    own = values[:, [column]]
    own = np.asarray(own.toarray() if hasattr(own, "toarray") else own).ravel()
    return values[:, others], _whole(own)


def _column_of_table(table: Any, column: Any, number: int) -> tuple[Any, Any]:
    names = list(table.columns)
    if names.count(column) != 1:
        some = ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f"groups must be one column of every block, got {shown(column)}; block {number} has "
            f"{some}"
        )
    return table[[name for name in names if name != column]], table[column]


def _whole(values: Any) -> Any:
    """Return numbers as whole ones where all are: groups are called 1, not 1.0."""
    if values.dtype.kind == "f" and np.all(np.isfinite(values) & (values == np.floor(values))):
        return values.astype(np.int64)
    return values
