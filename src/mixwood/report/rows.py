"""The section of a report on single rows: all labels to download, and the rows to doubt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import chance, count
from mixwood.plots.clusters import UNSURE
from mixwood.posterior.labels_table import LABEL_COLUMNS
from mixwood.report.pieces import chip, download, paragraph, section, table

if TYPE_CHECKING:
    from mixwood.report.digest import Digest

__all__ = ["row_names", "rows_section"]

#: At most this many rows are listed, each with at most this many columns that name it.
MOST_ROWS, MOST_NAMES = 20, 5
#: Longer text is cut.
_LONGEST = 60
_FILE, _CHANCE = "labels.csv", "its probability"


def rows_section(digest: Digest) -> str:
    """Return a link that saves the labels of all rows, and the list of the least sure ones."""
    items = digest.posterior.n_items
    link = download(digest.labels_csv, _FILE)
    if link is None:
        all_rows = paragraph(
            f"The cluster of each of the {items:,} rows is in {_FILE} of the run folder, too long "
            "to be part of this page."
        )
    else:
        all_rows = f'<p class="download">The cluster of each row, and how sure it is: {link}</p>'
    return section("rows", "The rows", all_rows, _doubtful(digest))


def _doubtful(digest: Digest) -> str:
    labels = digest.labels
    count_unsure = int(np.count_nonzero(labels["certainty"] < UNSURE))
    item = "leaf" if digest.posterior.of_leaves else "row"
    doubtful = labels.sort_values("certainty", kind="stable").head(MOST_ROWS)
    doubtful = doubtful[doubtful["certainty"] < 1]
    if not len(doubtful):
        return paragraph(
            "No row is in doubt: each belongs to its cluster of the estimate with probability 1."
        )
    plural = "leaves" if item == "leaf" else "rows"
    said = paragraph(_unsure_in_words(count_unsure, len(labels), item, plural))
    caption = (
        f"The {plural} whose cluster is least certain: the probability that one belongs to its "
        "cluster of the estimate, and the cluster that is next likeliest."
    )
    formats = dict.fromkeys(("certainty", _CHANCE), chance)
    html = dict.fromkeys(("cluster", "runner-up"), partial(chip, colours=digest.colours))
    return said + table(_shown(doubtful), "doubtful", caption, item, formats, html)


def _unsure_in_words(unsure: int, total: int, item: str, plural: str) -> str:
    """Return how many rows are unsure of their cluster.

    Examples
    --------
    >>> _unsure_in_words(1, 12, "row", "rows")
    '1 of 12 rows is unsure: its cluster is less than 90% certain.'
    """
    if unsure == 0:
        return f"None of the {plural} is unsure: every cluster is at least {UNSURE:.0%} certain."
    who = f"All {total:,} {plural}" if unsure == total > 1 else ""
    be, its = ("is", "its") if unsure == 1 else ("are", "their")
    return (
        f"{who or count(item, unsure, of=total, plural=plural)} {be} unsure: {its} cluster is less "
        f"than {UNSURE:.0%} certain."
    )


def _shown(labels: Any) -> Any:
    """Return rows of the table of labels as the page shows them."""
    names = [name for name in labels.columns if name not in LABEL_COLUMNS][:MOST_NAMES]
    # A number that names a row is written as it is: without commas, without rounding.
    columns = {name: labels[name].map(_short) for name in names}
    columns["cluster"] = labels["cluster"]
    columns["certainty"] = labels["certainty"]
    columns["runner-up"] = labels["runner_up"].astype(object)
    columns[_CHANCE] = labels["runner_up_probability"].astype(object)
    shown = type(labels)(columns)
    return shown.where(shown.notna(), "")


def row_names(digest: Digest) -> list[str] | None:
    """Return what the items are called, by the first column that names them; None for numbers."""
    named = next(iter(digest.about.identifiers.values()), None)
    return None if named is None else [_short(value) for value in named]


def _short(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
