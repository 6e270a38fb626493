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
    "QUIET_COLOUR",
    "axes_or_new",
    "colour",
    "legend_above",
    "legible",
    "marker",
    "plain_ticks",
    "quiet_frame",
    "sample_of",
]

#: Twenty colours, the first six Okabe and Ito's. The others were chosen so that no two are much
#: closer than these are, to usual eyes and to those of protanopes, deuteranopes and tritanopes
#: (Machado et al. 2009), and so that all are seen on white and on black; a test holds it.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#781E00",
    "#A5F05A", "#1E2DA5", "#00F0FF", "#960F5A", "#695A00", "#9687FF", "#965A78",
    "#FFC3D2", "#87C378", "#5A4B87", "#785AE1", "#C31E3C", "#690F78",
)  # fmt: skip
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: How many clusters have one marker: shapes help where colours are many.
_PER_MARKER = 10
#: What belongs to several clusters, or to small ones.
MIXED_COLOUR = "#BBBBBB"
#: Lines that explain, and are not data.
QUIET_COLOUR = "#8C8C8C"


def colour(k: int) -> str:
    """Return the colour of cluster (or chain) `k`."""
    return COLOURS[k % len(COLOURS)]


def legible(its_colour: str) -> str:
    """Return a colour dark enough for letters on white, three to one by the usual measure.

    Examples
    --------
    >>> legible("#0072B2"), legible("#FFC3D2")
    ('#0072b2', '#b28893')
    """
    from matplotlib.colors import to_hex, to_rgb

    rgb = np.array(to_rgb(its_colour))
    while True:
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        if linear @ (0.2126, 0.7152, 0.0722) <= 1.05 / 3 - 0.05:
            return to_hex(tuple(rgb))
        rgb = 0.95 * rgb


def marker(k: int) -> str:
    """Return the marker of cluster `k`: a new one after every ten clusters."""
    return MARKERS[(k // _PER_MARKER) % len(MARKERS)]


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return `ax`, or the axes of a new figure.

    The figure is one of pyplot's: notebooks show those at the end of a cell.
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def quiet_frame(ax: Axes) -> None:
    """Leave of the frame what numbers are along, in the colour of what is not data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(QUIET_COLOUR)
    ax.tick_params(color=QUIET_COLOUR)


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
