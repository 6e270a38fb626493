"""What names the rows of a file, and where their labels are written."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.cli.messages import InputError

if TYPE_CHECKING:
    from mixwood.cli.columns import Selection
    from mixwood.readers import Loaded

__all__ = ["check_labels_file", "identifiers"]

#: At most this many columns, and characters in them, are kept with a run to name its rows.
MOST_COLUMNS, MOST_CHARACTERS = 50, 10**8


def check_labels_file(path: Path, source: str) -> None:
    """Raise if the labels of a file cannot be written to `path`, before a long run."""
    from mixwood.report import is_labels_csv

    if path.suffix.lower() != ".csv":
        raise InputError(
            f"--labels must name a CSV file to write, such as labels.csv, got {str(path)!r}; a "
            "column of known labels is named by --label"
        )
    if path.is_dir():
        raise InputError(f"--labels: {path} is a folder; give the name of a file")
    if path.exists() and (not is_labels_csv(path) or path.resolve() == Path(source).resolve()):
        raise InputError(
            f"--labels: {path} exists and is not a file of labels that mixwood wrote before; give "
            "another name, or move it"
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"--labels: nothing can be written to {path.parent}: {reason}") from error


def identifiers(loaded: Loaded, selection: Selection) -> dict[str, list[Any]]:
    """Return the columns of a file that were not clustered and may name its rows.

    Text, dates and whole numbers, but no constants; also the names of rows that are no column, as
    those of a pandas table in a Parquet file. The label column is kept elsewhere.

    Parameters
    ----------
    loaded : Loaded
    selection : Selection
        Its `values` were clustered, but for the columns in its `left_out`.
    """
    import pandas

    known = None if selection.known is None else selection.known.name
    found = {
        name: pandas.Series(array)
        for name, array in loaded.others.items()
        if array.dtype.kind in "biufUSOM"
    }
    if not loaded.sparse:
        clustered = set(selection.values.columns) - set(selection.left_out)
        found |= {name: column for name, column in loaded.values.items() if name not in clustered}
    kept: dict[str, list[Any]] = {}
    characters = 0
    for name, column in found.items():
        if name == known or not _may_name_rows(column):
            continue
        entries = _entries(column)
        characters += sum(len(str(entry)) for entry in entries)
        if len(kept) == MOST_COLUMNS or characters > MOST_CHARACTERS:
            break
        kept[str(name)] = entries
    return kept


def _may_name_rows(column: Any) -> bool:
    """Tell whether the entries of a column differ and are no measurements."""
    if column.dtype.kind == "f":
        numbers = column.dropna().to_numpy()
        if not np.all(np.isfinite(numbers)) or np.any(numbers != np.round(numbers)):
            return False
    if column.dtype.kind == "O":  # anything, also what has no hash
        column = column.dropna().astype(str)
    return bool(column.nunique() > 1)


def _entries(column: Any) -> list[Any]:
    """Return the entries of a column as JSON has them; whole numbers stay whole."""
    pairs = zip(column.tolist(), column.isna(), strict=True)
    return [None if missing else _entry(value) for value, missing in pairs]


def _entry(value: Any) -> str | int:
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
