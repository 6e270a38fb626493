"""Small pieces of HTML: everything that comes from data is escaped here."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from mixwood._support.numbers import number

__all__ = [
    "WITHOUT_DATA",
    "chip",
    "data_block",
    "details",
    "download",
    "escaped",
    "paragraph",
    "scrolling",
    "section",
    "table",
    "with_intervals",
]

WITHOUT_DATA = "The run was saved without its data, which this part of the report needs."

#: Rows of a long table that are shown at once; the others unfold.
ROWS_AT_ONCE = 40
#: Chromium follows no link of more than 2 MiB.
LONGEST_LINK = 2 * 10**6


def escaped(text: object) -> str:
    """Return text that is text in HTML, within attributes too."""
    return escape(str(text), quote=True)


def paragraph(text: object, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{escaped(text)}</p>"


def section(key: str, title: str, *parts: str) -> str:
    """Return a section with a heading; `parts` are HTML already."""
    heading = f'<h2 id="{key}-title">{escaped(title)}</h2>'
    content = "".join(parts)
    return f'<section id="{key}" aria-labelledby="{key}-title">{heading}{content}</section>'


def chip(cluster: Any, colours: Sequence[str]) -> str:
    """Return the number of a cluster after a mark of its colour; nothing for no cluster."""
    if cluster is None or cluster == "" or cluster != cluster:
        return ""
    return f'<span class="chip" style="background:{colours[int(cluster)]}"></span>{int(cluster):,}'


def details(title: str, content: str, key: str, *, printed: bool = False) -> str:
    """Return something folded, with a title; `printed` unfolds it on paper."""
    paper = " data-printed" if printed else ""
    heading = f"<summary>{escaped(title)}</summary>"
    return f'<details id="{escaped(key)}"{paper}>{heading}{content}</details>'


def download(text: str, name: str) -> str | None:
    """Return a link that saves text as a file; None if the text is too long for a link.

    The link holds the text itself, so that it works without network and without script.
    """
    data = base64.b64encode(text.encode()).decode()
    if len(data) > LONGEST_LINK:
        return None
    return (
        f'<a class="button" download="{escaped(name)}" '
        f'href="data:text/csv;charset=utf-8;base64,{data}">{escaped(name)}</a>'
    )


def table(
    frame: Any,
    key: str,
    caption: str,
    index: str = "",
    formats: Mapping[str, Callable[[float], str]] | None = None,
    html: Mapping[str, Callable[[Any], str]] | None = None,
) -> str:
    """Return a pandas table that readers can sort; a long one unfolds, a wide one scrolls.

    Parameters
    ----------
    frame : pandas.DataFrame
    key, caption, index : str
        Of the element, of the table, of the column that names its rows.
    formats : dict of str to function, optional
        How the numbers of a column are written, where not as others are.
    html : dict of str to function, optional
        Columns whose entries are made into HTML; ``""`` is the column that names the rows.
    """
    made = html or {}
    shown = [_format(_name(column), formats or {}) for column in frame.columns]
    makers = [made.get(_name(column)) for column in frame.columns]
    head = "".join(f'<th scope="col">{escaped(_name(c))}</th>' for c in frame.columns)
    opening = (
        f'<table class="sortable"><caption>{escaped(caption)}</caption><thead><tr><th scope="col">'
        f"{escaped(index)}</th>{head}</tr></thead><tbody>"
    )
    rows = [
        _row_head(name, made.get(""))
        + "".join(_cell(*each) for each in zip(row, shown, makers, strict=True))
        + "</tr>"
        for name, row in zip(frame.index, frame.itertuples(index=False), strict=True)
    ]
    first, rest = rows[:ROWS_AT_ONCE], rows[ROWS_AT_ONCE:]
    scroll = _scroll(caption)
    text = f"{scroll}{opening}{''.join(first)}</tbody></table></div>"
    if rest:
        more = f"{scroll}{opening}{''.join(rest)}</tbody></table></div>"
        text += details(f"{len(rest):,} more", more, f"{key}-rest")
    return text


def scrolling(
    frame: Any,
    key: str,
    caption: str,
    heads: Mapping[str, str],
    html: Mapping[str, Callable[[Any], str]],
) -> str:
    """Return a table whose columns have heads of HTML, and whose entries are made into HTML."""
    head = "".join(f'<th scope="col" class="number">{heads[c]}</th>' for c in frame.columns)
    makers = [html[column] for column in frame.columns]
    rows = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>'
        + "".join(f'<td class="number">{make(v)}</td>' for v, make in zip(row, makers, strict=True))
        + "</tr>"
        for name, row in zip(frame.index, frame.itertuples(index=False), strict=True)
    )
    return (
        f'{_scroll(caption)}<table id="{escaped(key)}"><caption>{escaped(caption)}</caption><thead>'
        f'<tr><th scope="col"></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _scroll(caption: str) -> str:
    return f'<div class="scroll" role="region" aria-label="{escaped(caption)}" tabindex="0">'


def _row_head(name: Any, make: Callable[[Any], str] | None) -> str:
    text = escaped(_name(name)) if make is None else make(name)
    return f'<tr><th scope="row"{_sort_key(name)}>{text}</th>'


def _sort_key(value: Any) -> str:
    """Return the attribute by which numbers are sorted; text is sorted as it is shown."""
    return f' data-sort="{float(value)!r}"' if _is_number(value) and value == value else ""


def with_intervals(frame: Any) -> Any:
    """Return a table with each value and its ``low`` and ``high`` in one column, in two lines.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"mean": [1.0], "mean low": [0.5], "mean high": [1.5]})
    >>> print(with_intervals(table)["mean"][0])
    1
    0.5 to 1.5
    """
    names = [_name(column) for column in frame.columns]
    ends = {f"{name} {end}" for name in names for end in ("low", "high")}
    joined = {}
    for k, name in enumerate(names):
        if name in ends:
            continue
        column = frame.iloc[:, k]
        if f"{name} low" in names and f"{name} high" in names:
            low, high = (frame.iloc[:, names.index(f"{name} {end}")] for end in ("low", "high"))
            show = _format(name, {})
            column = [
                f"{show(value)}\n{show(a)} to {show(b)}"
                for value, a, b in zip(column, low, high, strict=True)
            ]
        joined[name] = column
    return type(frame)(joined, index=frame.index)


def _name(name: Any) -> str:
    return " ".join(str(part) for part in name) if isinstance(name, tuple) else str(name)


def _format(name: str, formats: Mapping[str, Callable[[float], str]]) -> Callable[[Any], str]:
    """Return how the entries of a column are written: years have no separator of thousands."""
    show = formats.get(name, number)
    year = "year" in re.split(r"[\W_]+", name.lower())

    def written(value: Any) -> str:
        if not _is_number(value):
            return str(value)
        text = show(float(value))
        return text.replace(",", "") if year and abs(value) < 10_000 else text

    return written


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number; NumPy's booleans and Python's are not."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _cell(value: Any, show: Callable[[Any], str], make: Callable[[Any], str] | None) -> str:
    attribute = ' class="number"' if _is_number(value) else ""
    text = escaped(show(value)) if make is None else make(value)
    return f"<td{attribute}{_sort_key(value)}>{text}</td>"


def data_block(key: str, content: Any) -> str:
    """Return JSON within a page; no ``<`` is left that could end the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{key}">{text}</script>'
