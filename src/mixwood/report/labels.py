"""The table of labels as text: CSV that no spreadsheet runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mixwood.posterior.labels_table import LABEL_COLUMNS

__all__ = ["is_labels_csv", "labels_csv", "spreadsheet_text"]

#: Spreadsheets take what begins so for a formula, or drop the character and look at the next one;
#: the last four are the wide forms of East Asian keyboards.
_FORMULA = tuple("=+-@\t\n\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def spreadsheet_text(text: str) -> str:
    """Return text that a spreadsheet shows and does not run: an apostrophe before a formula.

    As OWASP advises against CSV injection. Plain numbers are no formulas. Ends of lines are made
    line feeds: `csv` puts no quotes around a lone carriage return, which would begin a new row.

    Examples
    --------
    >>> [spreadsheet_text(text) for text in ("=1+2", "-7.5", "a-b")]
    ["'=1+2", '-7.5', 'a-b']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    begins = text.lstrip(" ").startswith(_FORMULA)
    return f"'{text}" if begins and not _NUMBER.fullmatch(text) else text


def labels_csv(table: Any) -> str:
    """Return the table of `Posterior.labels_table` as CSV.

    Text that a spreadsheet would run as a formula, names of columns included, gets an apostrophe
    before it; numbers stay numbers. Probabilities have six decimals. The first column is the
    index of the table, or ``row``, from 0.

    Parameters
    ----------
    table : pandas.DataFrame

    Examples
    --------
    >>> import mixwood as mw
    >>> import pandas as pd
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
    >>> names = pd.DataFrame({"name": ["=A1", "b", "c", "d", "e", "f"]})
    >>> labels_csv(post.labels_table(names)).splitlines()[0]
    'row,name,cluster,certainty,runner_up,runner_up_probability'
    >>> labels_csv(post.labels_table(names)).splitlines()[1][:8]
    "0,'=A1,0"
    """
    import pandas

    unnamed = table.index.nlevels == 1 and table.index.name is None
    whole = table.reset_index(names="row" if unnamed else None, allow_duplicates=True)
    columns = [column for _, column in whole.items()]
    shares = ("certainty", "runner_up_probability")
    safe = [column.round(6) if column.name in shares else _safe(column) for column in columns]
    names = [spreadsheet_text(_text(column.name)) for column in columns]
    text = pandas.concat(safe, axis=1).to_csv(index=False, header=names, lineterminator="\n")
    return str(text)


def _text(name: Any) -> str:
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _safe(column: Any) -> Any:
    """Return a column with no formulas in it."""
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    if any(plain(column.dtype) for plain in (is_numeric_dtype, is_datetime64_any_dtype)):
        return column
    values = column.astype(object)
    return values.map(lambda value: spreadsheet_text(str(value)), na_action="ignore")


def is_labels_csv(path: Path) -> bool:
    """Tell whether a file is one that `labels_csv` made, by its first line."""
    try:
        with path.open("rb") as file:
            first = file.readline(2**20)
    except OSError:
        return False
    return first.rstrip(b"\r\n").endswith(",".join(("", *LABEL_COLUMNS)).encode())
