"""Which mark is which cluster: a legend next to the axes, or names at the clusters."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import count
from mixwood._support.types import FloatArray, IntArray
from mixwood.plots.style import MIXED_COLOUR, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Marked", "name_clusters"]

#: The most clusters that a legend names; the inches that a line of it takes, and its title.
_MOST_IN_LEGEND, _LINE, _TITLE = 20, 0.19, 0.3
#: Longer names are broken in a legend, and cut at the clusters.
_LONGEST = 28
#: Of a name at a cluster, in points.
_FONT = 8.5


@dataclass(frozen=True)
class Marked:
    """How the items of a picture are marked.

    Attributes
    ----------
    labels : int array of shape (m,)
        The cluster of each item that is drawn.
    sure : bool array of shape (m,)
        Whether the mark is filled.
    sizes : int array of shape (K,)
        The rows of each cluster.
    names : list of K str
    colours : list of str
        Of the large clusters, which are the first; the others are grey.
    beyond : int
        How many rows of the others are out of the frame.
    """

    labels: IntArray
    sure: Any
    sizes: IntArray
    names: list[str]
    colours: list[str]
    beyond: int = 0

    @property
    def large(self) -> int:
        """How many clusters have a colour."""
        return len(self.colours)

    def colour(self, k: int) -> str:
        """Return the colour of cluster `k`."""
        return self.colours[k] if k < self.large else MIXED_COLOUR

    def marker(self, k: int) -> str:
        """Return the marker of cluster `k`."""
        return marker(k) if k < self.large else "o"

    @property
    def others(self) -> str:
        """What the grey ones are called: "others (12 in 9 clusters)"; empty if there are none."""
        rows, clusters = int(self.sizes[self.large :].sum()), len(self.sizes) - self.large
        beyond = f",\n{self.beyond:,} beyond the frame" if self.beyond else ""
        return f"others ({rows:,} in {count('cluster', clusters)}{beyond})" if clusters else ""


def name_clusters(ax: Axes, points: FloatArray, marked: Marked, *, at_clusters: bool) -> None:
    """Say which mark is which cluster: in a legend, or where that would not fit, at the clusters.

    Parameters
    ----------
    ax : Axes
        With everything drawn.
    points : array of shape (m, 2)
        Where the items are.
    marked : Marked
    at_clusters : bool
        Whether names can be written there.
    """
    from matplotlib.lines import Line2D

    lines = [textwrap.fill(name, _LONGEST) for name in marked.names[: marked.large]]
    needed = sum(text.count("\n") + 1 for text in lines)
    height = float(ax.get_position().height) * float(ax.get_figure(root=True).get_figheight())  # type: ignore[union-attr]
    in_legend = needed <= min((height - _TITLE) / _LINE, _MOST_IN_LEGEND)
    handles = list(ax.get_legend_handles_labels()[0])
    kinds: list[tuple[int, str]] = []
    if in_legend:
        kinds += [(k, f"{text} ({marked.sizes[k]:,})") for k, text in enumerate(lines)]
    if marked.others:
        kinds.append((marked.large, marked.others))
    handles += [
        Line2D([], [], linestyle="", marker=marked.marker(k), color=marked.colour(k), label=text)
        for k, text in kinds
    ]
    if handles:
        legend = ax.legend(
            handles=handles, title="cluster (size)" if in_legend else None,
            fontsize="small", title_fontsize="small", frameon=False,
            loc="upper left", bbox_to_anchor=(1, 1), handletextpad=0.3,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)
    if not in_legend and at_clusters:
        _write_at_clusters(ax, points, marked)


def _write_at_clusters(ax: Axes, points: FloatArray, marked: Marked) -> None:
    """Write names in the middle of the clusters, the largest first, where none is written yet."""
    from matplotlib.patheffects import withStroke

    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    figure: Any = ax.get_figure(root=True)
    inches = np.array([ax.get_position().width, ax.get_position().height])
    inches = inches * figure.get_size_inches()
    written: list[tuple[FloatArray, FloatArray]] = []
    for k in range(marked.large):
        own = points[marked.labels == k]
        if len(own) == 0:
            continue
        name = marked.names[k]
        name = name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."
        middle = np.median(own, axis=0)
        place = (middle - low) / (high - low) * inches
        half = np.array([0.36 * len(name) + 0.3, 0.65]) * _FONT / 72
        if any(np.all(np.abs(place - other) < half + its) for other, its in written):
            continue
        written.append((place, half))
        # a long name stays within the axes
        inside = np.clip(place, np.minimum(half, inches / 2), np.maximum(inches - half, inches / 2))
        ax.annotate(
            name, low + inside / inches * (high - low), parse_math=False, ha="center",
            va="center", fontsize=_FONT, fontweight="bold", color="black",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip
