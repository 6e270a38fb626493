"""Excel workbooks: read through openpyxl, or a message that says what to install."""

from __future__ import annotations

import importlib
import io
import zipfile
from datetime import datetime

import pandas as pd
import pytest

from mixwood.readers import ReadError, read

SHEET = [
    ["id", "height", "n", "day", "note"],
    ["007", 1.5, 3, datetime(2026, 1, 2), "a,b"],
    ["008", None, 4, datetime(2026, 1, 3), "two\nlines"],
    [None, None, None, None, None],
    ["009", -2.25, 5, datetime(2026, 1, 4, 12), None],
]


def workbook(path, rows):
    """Write rows to the second sheet of a workbook; the first one is empty."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("data")
    for row in rows:
        sheet.append(row)
    book.save(path)
    return str(path)


def test_without_openpyxl_the_message_says_what_to_install(tmp_path, monkeypatch):
    def refuse(name, *more):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ReadError, match=r"t\.xlsx is an Excel file.*mixwood\[excel\]"):
        read(str(path))


@pytest.mark.parametrize("name", ["t.xls", "t.bin"])
def test_workbooks_of_before_2007_are_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(100))
    with pytest.raises(ReadError, match=r"before 2007; save it as \.xlsx"):
        read(str(path))


@pytest.mark.parametrize("name", ["t.xlsx", "t.bin"])
def test_the_first_sheet_that_is_not_empty_is_read(tmp_path, name):
    loaded = read(workbook(tmp_path / name, SHEET))
    assert loaded.format == "excel"
    assert list(loaded.values.columns) == SHEET[0]
    assert loaded.values["n"].tolist() == [3, 4, 5]
    assert loaded.values["height"].isna().tolist() == [False, True, False]
    assert loaded.values["height"].tolist()[::2] == [1.5, -2.25]
    assert loaded.values["day"].tolist() == ["2026-01-02", "2026-01-03", "2026-01-04 12:00:00"]
    assert loaded.values["note"].tolist()[:2] == ["a,b", "two\nlines"]


def test_the_header_is_told_as_in_text(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [[1, 2.5], [3, "?"], [5, 6]])
    table = read(path).values
    assert list(table.columns) == ["column 0", "column 1"]
    assert table["column 1"].isna().tolist() == [False, True, False]
    assert list(read(path, header=True).values.columns) == ["1", "2.5"]
    column = workbook(tmp_path / "c.xlsx", [["first name"], ["ann lee"], ["bo li"]])
    expected = pd.DataFrame({"first name": ["ann lee", "bo li"]})
    pd.testing.assert_frame_equal(read(column).values, expected)


def test_damaged_workbooks_are_named(tmp_path):
    pytest.importorskip("openpyxl")
    empty = workbook(tmp_path / "empty.xlsx", [])
    with pytest.raises(ReadError, match=r"empty\.xlsx has no rows"):
        read(empty)
    half = tmp_path / "half.xlsx"
    half.write_bytes(b"PK\x03\x04 and no more")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<none")
    other = tmp_path / "other.xlsx"
    other.write_bytes(file.getvalue())
    for path in (half, other):
        with pytest.raises(ReadError, match=rf"{path.stem}\.xlsx is not an Excel file"):
            read(str(path))
