"""What a reader returns, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Loaded", "ReadError", "frame_of", "row_names"]


class ReadError(ValueError):
    """A file that cannot be read; the message names it."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rows of a file.

    Attributes
    ----------
    values : pandas.DataFrame or csr_array
        One row per item.
    source : str
        What to call the file.
    format : str
        One of `mixwood.readers.FORMATS`.
    words : tuple of str, optional
        The names of the columns of sparse counts.
    others : dict of str to array
        More arrays of the file with one entry per row, such as known labels or names of rows.
    """

    values: Any
    source: str
    format: str
    words: tuple[str, ...] | None = None
    others: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def sparse(self) -> bool:
        """Whether the rows are sparse."""
        return not hasattr(self.values, "columns")


def frame_of(array: NDArray[Any], name: str) -> Any:
    """Return an array of one or two dimensions, or of records, as a table.

    Examples
    --------
    >>> import numpy as np
    >>> list(frame_of(np.zeros((3, 2)), "x.npy").columns)
    ['column 0', 'column 1']
    """
    import pandas

    if array.dtype.names is not None and array.ndim == 1:
        return pandas.DataFrame({field: array[field] for field in array.dtype.names})
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ReadError(f"{name}: the array must have rows and columns, its shape is {array.shape}")
    if array.dtype.kind not in "biufUS":
        raise ReadError(f"{name}: the array must hold numbers, it holds {array.dtype}")
    return pandas.DataFrame(array, columns=[f"column {k}" for k in range(array.shape[1])])


def row_names(table: Any) -> dict[str, NDArray[Any]]:
    """Return what names the rows of a table apart from its columns: its index, unless it counts.

    Examples
    --------
    >>> import pandas
    >>> row_names(pandas.DataFrame({"x": [1, 2]}, index=["a", "b"]))
    {'index': array(['a', 'b'], dtype=object)}
    """
    import pandas

    if isinstance(table.index, pandas.RangeIndex):
        return {}
    found = {}
    for k in range(table.index.nlevels):
        level = table.index.get_level_values(k)
        name = f"index {k}" if k else "index"
        own = name if level.name is None else str(level.name)
        found[name if own in table.columns else own] = level.to_numpy(dtype=object)
    return found
