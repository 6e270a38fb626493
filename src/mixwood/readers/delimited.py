"""Tables of text: comma, tab, semicolon, bar or blanks between the columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import TYPE_CHECKING, Any

from mixwood.readers.loaded import ReadError, row_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read", "read_text"]

_SEPARATORS = (",", "\t", ";", "|")
_BLANKS = r"\s+"
_LOOKED_AT = 30  # lines, to find out what separates the columns
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$|nan$|na$|\?$", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+$")
_WHOLE = re.compile(r"[+-]?\d*$")
_COMMAS = (
    "; if these commas are decimal commas, separate the columns by semicolons, or put the numbers "
    "in quotes"
)
_PADDED = re.compile(r"(?m)(^|[,;|\t \"])0\d+\s*($|[,;|\t \"])")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+$")


def read(raw: bytes, name: str, header: bool | None) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return a table of text as a pandas table, and what names its rows besides the columns."""
    return read_text(_decoded(raw, name), name, header)


def read_text(
    text: str, name: str, header: bool | None, separator: str | None = None
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the same for text; `separator` is what separates the columns, if that is known."""
    import pandas

    lines = _first_lines(text)
    if not lines:
        raise ReadError(f"{name} is empty")
    try:
        separator = separator or _separator(lines)
        fields = _split(lines, separator)
        named = _has_header(fields[0]) if header is None else header
        if named and separator != _BLANKS:
            _refuse_wider_rows(fields, separator, name)
        how = {
            "sep": separator,
            "header": 0 if named else None,
            "decimal": "," if separator != "," and _decimal_comma(fields) else ".",
            "na_values": ["?"],
            "skipinitialspace": separator != "\t",
            "low_memory": False,
        }
        table = pandas.read_csv(io.StringIO(text), **how)
        _keep_padded(table, text, how)
    except ReadError:
        raise
    except pandas.errors.ParserError as error:
        hint = _COMMAS if separator == "," and _halves_of_numbers(fields[named:]) else ""
        raise ReadError(f"{name}: {_explained(str(error))}{hint}") from error
    except (ValueError, csv.Error) as error:  # such as no columns to parse
        raise ReadError(f"{name} cannot be read as a table: {error}") from error
    if not named:
        table.columns = [f"column {k}" for k in range(table.shape[1])]
    table.columns = [str(column).strip() for column in table.columns]
    if not len(table) or not table.shape[1]:
        raise ReadError(f"{name} has column names and no rows")
    if separator != _BLANKS and table.iloc[:, -1].isna().any():  # as a row too short would leave it
        _refuse_short_rows(text, separator, name)
    return table.reset_index(drop=True), row_names(table)


def _keep_padded(table: Any, text: str, how: dict[str, Any]) -> None:
    """Put back numbers written with leading zeros as they are written: 007 is a name, not 7."""
    import pandas

    suspects = [k for k, dtype in enumerate(table.dtypes) if dtype.kind in "iuf"]
    if not suspects or not _PADDED.search(text):
        return
    written = pandas.read_csv(io.StringIO(text), **how, dtype=str)
    for k in suspects:
        column = written.iloc[:, k].str.strip()
        if column.str.fullmatch(r"0\d+").any():
            table.isetitem(k, column)


def _decoded(raw: bytes, name: str) -> str:
    encoding = "utf-16" if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"{name} is not text in UTF-8 (byte 0x{raw[error.start]:02x} in line {line}); if it is "
            f"a table in another encoding, convert it: iconv -f latin1 -t utf-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ReadError(f"{name} is not a table of text: it has a zero byte in line {line}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _first_lines(text: str) -> list[str]:
    lines: list[str] = []
    for line in io.StringIO(text):
        if line.strip():
            lines.append(line.rstrip("\n"))
        if len(lines) == _LOOKED_AT:
            break
    return lines


def _split(lines: list[str], separator: str) -> list[list[str]]:
    if separator == _BLANKS:
        return [line.split() for line in lines]
    return [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]


def _separator(lines: list[str]) -> str:
    """Return what cuts most lines into the same number of columns, more than one."""
    best, best_score = ",", (0.0, 0)
    for separator in (*_SEPARATORS, _BLANKS):
        try:
            widths = [len(row) for row in _split(lines, separator)]
        except csv.Error:
            continue
        usual = max(set(widths), key=lambda width: (widths.count(width), width), default=0)
        score = (widths.count(usual) / max(len(widths), 1), usual)
        if usual > 1 and score > best_score and not (separator == _BLANKS and best_score[1] > 1):
            best, best_score = separator, score
    return best


def _has_header(first: list[str]) -> bool:
    """Tell whether a line names columns: by a word, or by their numbers 0, 1, 2, ..."""
    numbered = [field.strip() for field in first[first[0].strip() == "" :]]
    if len(numbered) > 1 and numbered == [str(k) for k in range(len(numbered))]:
        return True
    return any(field.strip() and not _NUMBER.match(field.strip()) for field in first)


def _decimal_comma(rows: list[list[str]]) -> bool:
    fields = [field.strip() for row in rows for field in row]
    return any(map(_DECIMAL_COMMA.match, fields)) and not any(map(_DECIMAL_POINT.match, fields))


def _refuse_wider_rows(fields: list[list[str]], separator: str, name: str) -> None:
    """Raise if rows begin with more fields than names: pandas would make an index of the first.

    One more is the names of the rows, as R writes them, unless it is the other half of a number.
    """
    names, rows = len(fields[0]), fields[1:]
    more = len(rows[0]) - names if rows else 0
    first = [row[0].strip() for row in rows]
    row_names = more == 1 and (
        not _all_whole(rows) or first == [str(k) for k in range(1, len(first) + 1)]
    )
    if more <= 0 or row_names:
        return
    hint = _COMMAS if separator == "," and _halves_of_numbers(rows) else ""
    raise ReadError(
        f"{name}: the first line names {names} columns, and rows have {names + more}{hint}"
    )


def _all_whole(rows: list[list[str]]) -> bool:
    """Tell whether all fields are whole numbers, as the halves of numbers cut at a comma are."""
    return all(_WHOLE.match(field.strip()) for row in rows for field in row)


def _halves_of_numbers(rows: list[list[str]]) -> bool:
    """Tell whether the numbers among the fields are all whole, whatever text is beside them."""
    fields = [field.strip() for row in rows for field in row]
    numbers = [field for field in fields if field[-1:].isdigit() and _NUMBER.match(field)]
    return bool(numbers) and all(map(_WHOLE.match, numbers))


def _explained(message: str) -> str:
    """Return what is wrong with a row, from what pandas says of it."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found is None:
        return message.removeprefix("Error tokenizing data. C error: ").strip()
    expected, line, saw = found.groups()
    return f"line {line} has {saw} columns, the lines before it have {expected}"


def _refuse_short_rows(text: str, separator: str, name: str) -> None:
    rows = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != "\t")
    width = 0
    try:
        for row in rows:
            if not any(field.strip() for field in row):
                continue
            if len(row) < width:
                raise ReadError(
                    f"{name}: line {rows.line_num} has {len(row)} columns, the lines before it "
                    f"have {width}"
                )
            width = len(row)
    except csv.Error as error:
        raise ReadError(f"{name}: line {rows.line_num}: {error}") from error
