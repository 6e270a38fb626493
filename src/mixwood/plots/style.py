"""What all pictures share: colours, markers, and where a picture is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from mixwood._support.types import IntArray

__all__ = [
    "COLOURS",
    "MIXED_COLOUR",
    "axes_or_new",
    "colour",
    "legend_above",
    "marker",
    "plain_ticks",
    "sample_of",
]

#: Okabe and Ito's colours, told apart by colour-blind eyes; markers tell more clusters apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#999999")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: What belongs to several clusters.
MIXED_COLOUR = "#BBBBBB"


def colour(k: int) -> str:
    """Return the colour of cluster (or chain) `k`."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """Return the marker of cluster `k`: a new one each time the colours are used up."""
    return MARKERS[(k // len(COLOURS)) % len(MARKERS)]


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return `ax`, or the axes of a new figure.

    The figure is one of pyplot's: notebooks show those at the end of a cell.
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def legend_above(ax: Axes) -> None:
    """Add a legend above the axes, where nothing is drawn."""
    ax.legend(
        fontsize="small", ncols=4, frameon=False, loc="lower right", bbox_to_anchor=(1, 1),
        borderaxespad=0.1, handlelength=1.2, columnspacing=1.2,
    )  # fmt: skip


def sample_of(n: int, most: int) -> IntArray:
    """Return all of ``0..n-1``, or `most` of them: always the same, in increasing order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def plain_ticks(*axes: Axis) -> None:
    """Write the numbers along axes with separators of thousands, and whole: not as 1e6 + 234."""
    for axis in axes:
        axis.set_major_formatter("{x:,.10g}")
