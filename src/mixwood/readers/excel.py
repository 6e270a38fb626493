"""Excel workbooks, through openpyxl: the first sheet, as the table of text that it would be."""

from __future__ import annotations

import csv
import importlib
import io
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

from mixwood.readers import delimited
from mixwood.readers.loaded import ReadError
from mixwood.readers.opening import check_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_workbook", "read"]

_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_CONTENTS = "xl/workbook.xml"


def is_workbook(raw: bytes) -> bool:
    """Tell whether bytes are a workbook, by what they begin with and the names in the archive."""
    return raw.startswith(_OLD) or (raw.startswith(_ZIP) and _CONTENTS.encode() in raw)


def read(raw: bytes, name: str, header: bool | None) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the first sheet of a workbook that is not empty, and what names its rows.

    Of formulas, the values that were saved with them. Header and missing entries are those of
    tables of text.
    """
    if raw.startswith(_OLD):
        raise ReadError(f"{name} is an Excel file of before 2007; save it as .xlsx, or as CSV")
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError as error:
        raise ReadError(
            f"{name} is an Excel file, and reading those needs openpyxl: "
            "pip install 'mixwood[excel]'; or save it as CSV"
        ) from error
    _check_archive(raw, name)
    try:
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        rows: list[list[str]] = next(filter(None, map(_rows, book.worksheets)), [])
    except Exception as error:  # XML, archive and cells each fail in ways of their own
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ReadError(f"{name} is not an Excel file, or is damaged: {first}") from error
    if not rows:
        raise ReadError(f"{name} has no rows")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return delimited.read_text(text.getvalue(), name, header, separator=",")


def _check_archive(raw: bytes, name: str) -> None:
    """Raise if the parts of a workbook, unpacked, would take too much memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError) as error:
        raise ReadError(f"{name} is not an Excel file, or is damaged: {error}") from error
    check_size(size, name, "the unpacked workbook")


def _rows(sheet: Any) -> list[list[str]]:
    """Return the rows of a sheet that are not empty, all of one width, from the first column."""
    rows = [row for row in _cells(sheet) if any(row)]
    width = max((max(k for k, cell in enumerate(row) if cell) + 1 for row in rows), default=0)
    return [(row + [""] * width)[:width] for row in rows]


def _cells(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(values_only=True):
        yield [_written(cell) for cell in row]


def _written(cell: Any) -> str:
    """Return a cell as CSV has it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return str(cell)
