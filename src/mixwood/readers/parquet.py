"""Parquet files, through pyarrow."""

from __future__ import annotations

import importlib
import io
from typing import TYPE_CHECKING, Any

from mixwood.readers.loaded import ReadError, row_names
from mixwood.readers.opening import check_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read"]


def read(raw: bytes, name: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the table of a Parquet file, and what names its rows."""
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ReadError(
            f"{name} is a Parquet file, and reading those needs pyarrow: "
            "pip install 'mixwood[parquet]'"
        ) from error
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        cells = file.metadata.num_rows * file.metadata.num_columns
        check_size(8 * cells, name, f"a table of {file.metadata.num_rows:,} rows")
        table = file.read().to_pandas()
    except ReadError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ReadError(f"{name} is not a Parquet file, or is damaged: {first}") from error
    if not len(table) or not table.shape[1]:
        raise ReadError(f"{name} has no rows")
    table.columns = [str(column) for column in table.columns]
    return table.reset_index(drop=True), row_names(table)
