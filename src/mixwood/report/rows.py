"""The section of a report on single rows: all labels to download, and the rows to doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixwood._support.numbers import chance
from mixwood.posterior.labels_table import LABEL_COLUMNS
from mixwood.report.pieces import download, paragraph, section, table

if TYPE_CHECKING:
    from mixwood.report.digest import Digest

__all__ = ["rows_section"]

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
        all_rows = f"<p>The cluster of each row, and how sure it is: {link}</p>"
    return section("rows", "The rows", all_rows, _doubtful(digest))


def _doubtful(digest: Digest) -> str:
    labels = digest.labels
    doubtful = labels.sort_values("certainty", kind="stable").head(MOST_ROWS)
    doubtful = doubtful[doubtful["certainty"] < 1]
    if not len(doubtful):
        return paragraph(
            "No row is in doubt: each belongs to its cluster of the estimate with probability 1."
        )
    caption = (
        "The rows whose cluster is least certain: the probability that a row belongs to its "
        "cluster of the estimate, and the cluster that is next likeliest"
    )
    item = "leaf" if digest.posterior.of_leaves else "row"
    formats = dict.fromkeys(("certainty", _CHANCE), chance)
    return table(_shown(doubtful), "doubtful", caption, item, formats)


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


def _short(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
