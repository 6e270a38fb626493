"""The table of labels: for each row of the data its cluster, how sure that is, and what else.

Users keep it next to their own table, so it has the same rows in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.numbers import count
from mixwood.input.matrices import is_table, table_columns
from mixwood.posterior.membership import membership

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["LABEL_COLUMNS", "labels_table", "table_for"]

#: What the table tells of each row, after whatever names the row.
LABEL_COLUMNS = ("cluster", "certainty", "runner_up", "runner_up_probability")
#: How many probabilities, of items by clusters, are held at a time.
_AT_ONCE = 2**24


def table_for(draws: Draws, df: Any) -> Any:
    """Return the table that a user gave for the items of a posterior, as pandas has it.

    An empty one with a row per item if there is none.
    """
    import pandas

    if df is None:
        return pandas.DataFrame(index=pandas.RangeIndex(draws.n_items))
    if not is_table(df):
        raise TypeError(
            f"df must be a pandas or polars table with the rows of the data, got {shown(df)}"
        )
    if len(df) != draws.n_items:
        item = ("weighted leaf", "weighted leaves") if draws.of_leaves else ("row", "rows")
        raise ValueError(
            f"df must have one row per {item[0]} of the data, in the same order: "
            f"{count(item[0], draws.n_items, plural=item[1])}, got {len(df):,}"
        )
    if hasattr(df, "iloc"):
        return df
    columns = table_columns(df)
    return pandas.DataFrame({column.name: column.to_list() for column in columns})


def labels_table(draws: Draws, estimate: IntArray, table: Any) -> Any:
    """Return `table` with the columns of labels after its own; see `Posterior.labels_table`.

    Parameters
    ----------
    draws : Draws
    estimate : int array of shape (n,)
        Labels 0 to K-1.
    table : pandas.DataFrame of n rows
        From `table_for`.
    """
    import pandas

    sure, second, chance = _probabilities(draws, estimate)
    ours: dict[str, Any] = {"size": draws.item_sizes} if draws.of_leaves else {}
    ours |= {
        "cluster": estimate,
        "certainty": sure,
        "runner_up": pandas.arrays.IntegerArray(second, np.isnan(chance)),
        "runner_up_probability": chance,
    }
    found = pandas.DataFrame(ours, index=table.index)
    given = table.set_axis(
        [f"{name} (table)" if name in found.columns else name for name in table.columns], axis=1
    )
    return pandas.concat([given, found], axis=1) if given.shape[1] else found


def _probabilities(draws: Draws, estimate: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return of each item's own cluster the probability, of the next likeliest number and chance.

    The chance is NaN where no other cluster has any.
    """
    n, K = len(estimate), int(estimate.max()) + 1
    sure, chance = np.empty(n), np.full(n, np.nan)
    second = np.zeros(n, dtype=np.int64)
    step = max(_AT_ONCE // K, 1)
    for start in range(0, n, step):
        items = np.arange(start, min(start + step, n))
        table = membership(draws, estimate, None if step >= n else items)
        rows = np.arange(len(items))
        sure[items] = table[rows, estimate[items]]
        table[rows, estimate[items]] = -1.0
        second[items] = table.argmax(axis=1)
        best = table[rows, second[items]]
        chance[items] = np.where(best > 0, best, np.nan)
    return np.minimum(sure, 1.0), second, chance
