"""Which items share a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.numbers import count
from mixwood._support.types import FloatArray, IntArray
from mixwood.plots.style import axes_or_new, sample_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_similarity"]


def plot_similarity(posterior: GroupedDraws, ax: Axes | None = None, max_items: int = 1000) -> Axes:
    """Draw the co-clustering probabilities; see `Posterior.plot_similarity`."""
    items = sample_of(posterior.n_items, whole_number(max_items, "max_items", at_least=1))
    table = posterior.similarity(rows=items)
    order = leaf_order(table)
    ax = axes_or_new(ax, (5.4, 4.6))
    image = ax.imshow(
        table[np.ix_(order, order)], vmin=0, vmax=1, cmap="Blues", interpolation="nearest"
    )
    bar = ax.get_figure().colorbar(image, ax=ax, shrink=0.85)  # type: ignore[union-attr]
    bar.set_label("probability of one cluster")
    title = count("item", len(items), of=posterior.n_items)
    ax.set(title=f"{title}, sorted", xticks=[], yticks=[])
    ax.title.set_fontsize("medium")
    return ax


def leaf_order(table: FloatArray) -> IntArray:
    """Return items in the order of a tree: average linkage of how often they are apart."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(table) < 3:
        return np.arange(len(table))
    apart = squareform(1 - table, checks=False)
    return np.asarray(leaves_list(linkage(apart, "average")), dtype=np.int64)
