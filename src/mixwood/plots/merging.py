"""The tree of an estimate's clusters, merged by their overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import count
from mixwood.plots.style import MIXED_COLOUR, axes_or_new, colour, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.component_merging import MergedClusters

__all__ = ["plot_merging"]

#: The most clusters whose names are written below the tree, and the most with a size each.
_MOST_NAMED, _MOST_SIZED = 80, 30


def plot_merging(merged: MergedClusters, ax: Axes | None = None) -> Axes:
    """Draw the tree of merges; see `MergedClusters.plot`."""
    from matplotlib.collections import LineCollection

    K = len(merged.sizes)
    ax = axes_or_new(ax, (min(max(4.0, 1.5 + 0.4 * K), 16.0), 3.2))
    lines, colours, leaves = _tree(merged)
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=1.6))
    ax.axhline(_height_of_cut(merged), color="black", linestyle="--", linewidth=0.8)
    ax.set_xlim(0, 10 * K)
    ax.set_ylim(0, 1.05)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["1", "0.8", "0.6", "0.4", "0.2", "0"])
    group = merged.group_of_cluster(merged.n_clusters)
    names = [f"{k}\n({merged.sizes[k]:,})" if K <= _MOST_SIZED else f"{k}" for k in leaves]
    sized = "\n(size)" if K <= _MOST_SIZED else ""
    if K <= _MOST_NAMED:
        ax.set_xticks(5 + 10 * np.arange(K), names, fontsize="small" if K <= 15 else "x-small")
        for label, k in zip(ax.get_xticklabels(), leaves, strict=True):
            label.set_color(legible(colour(group[k])))
    else:
        ax.set_xticks([])
    ax.set(xlabel=f"cluster of the estimate{sized}", ylabel="overlap")
    ax.set_title(f"{count('cluster', K)} in {count('group', merged.n_clusters)}", fontsize="medium")
    return ax


def _tree(merged: MergedClusters) -> tuple[list[Any], list[str], list[int]]:
    """Return the lines of the tree, their colours, and the clusters from left to right."""
    from scipy.cluster.hierarchy import dendrogram

    K = len(merged.sizes)
    group = merged.group_of_cluster(merged.n_clusters)
    if K == 1:
        return [[(5.0, 0.0), (5.0, 1.0)]], [colour(0)], [0]
    first = np.concatenate([np.arange(K), np.zeros(K - 1, dtype=np.int64)])  # a cluster within
    for step, row in enumerate(merged.linkage):
        first[K + step] = first[int(row[0])]
    made = K - merged.n_clusters

    def of_merge(node: int) -> str:
        return colour(group[first[node]]) if node - K < made else MIXED_COLOUR

    drawn: dict[str, Any] = dict(dendrogram(merged.linkage, no_plot=True, link_color_func=of_merge))
    corners = zip(drawn["icoord"], drawn["dcoord"], strict=True)
    lines = [list(zip(across, up, strict=True)) for across, up in corners]
    return lines, drawn["color_list"], drawn["leaves"]


def _height_of_cut(merged: MergedClusters) -> float:
    """Return a height between the last merge that was made and the next."""
    heights = np.concatenate([[0.0], merged.linkage[:, 2], [1.0]])
    made = len(merged.sizes) - merged.n_clusters
    return float((heights[made] + heights[made + 1]) / 2)
