"""Whether the model fits: each quantity of a check, against what the model expects of it."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.numbers import number
from mixwood.plots.style import COLOURS, QUIET_COLOUR, axes_or_new, quiet_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.fit.check import FitCheck

__all__ = ["plot_fit"]

#: What is fine, and what is missed.
_FINE, _MISSED = COLOURS[0], COLOURS[3]
#: Quantities that are shares, written as percentages.
_SHARES = ("tails", "dense half", "zeros", "repeats", "ties")
#: Distances beyond this are drawn on a logarithmic scale.
_LINEAR = 5.0
#: The most characters of a column's name, and of a line of the title.
_NAME, _LINE = 24, 68
#: Quantities whose names say little to who has not read what they are.
_NAMES = {
    "humps": "flattest cluster",
    "peaks": "most peaked cluster",
    "bend": "bent clusters",
    "curve": "curved relation",
}


def plot_fit(fit: FitCheck, ax: Axes | None = None, *, max_quantities: int = 15) -> Axes:
    """Draw the quantities of a check, the oddest first; see `Posterior.plot_fit`."""
    most = whole_number(max_quantities, "max_quantities", at_least=1)
    rows = _chosen(fit.table, most)
    ax = axes_or_new(ax, (7.5, 1.6 + 0.26 * max(len(rows), 2)))
    missed = np.array([row.missed for row in rows], dtype=np.bool_)
    scores = np.array([row.score for row in rows], dtype=np.float64)
    places = np.arange(len(rows))[::-1]
    for chosen, colour, face in ((~missed, _FINE, "none"), (missed, _MISSED, _MISSED)):
        ax.hlines(places[chosen], 0, scores[chosen], colour, lw=1.5, alpha=0.7)
        ax.scatter(scores[chosen], places[chosen], 36, facecolors=face, edgecolors=colour, zorder=3)
    ax.axvline(0, color=QUIET_COLOUR, lw=0.8)
    if np.isfinite(fit.limit):
        for end in (-fit.limit, fit.limit):
            ax.axvline(end, color=QUIET_COLOUR, lw=1, ls=":")
    reach = max(float(np.abs(scores).max(initial=0)), fit.limit if rows else 0.0, 1.0)
    if not np.isfinite(reach):
        reach = 2 * _LINEAR
    if reach > 2 * _LINEAR:
        ax.set_xscale("symlog", linthresh=_LINEAR)
        # Beyond 20 a decade has one tick, or their numbers would run into each other.
        some = (0, 2.5, 5, 10, 20) if reach <= 40 else (0, 5, 20, 100, 1000)
        ticks = [t for t in some if t <= 1.1 * reach]
        ax.set_xticks([-t for t in ticks[:0:-1]] + ticks)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.minorticks_off()
    low = min(float(scores.min(initial=0)), -min(fit.limit, reach))
    high = max(float(scores.max(initial=0)), min(fit.limit, reach))
    ax.set_xlim(1.15 * low, 1.15 * high)
    ax.set_yticks(places, [_label(row) for row in rows], fontsize="small", parse_math=False)
    ax.set_ylim(-0.7, max(len(rows), 1) - 0.3)
    ax.set_xlabel("standard deviations from expected")
    title = fill(fit.sentence, _LINE)
    ax.set_title(
        title, fontsize="medium", loc="right", ha="right", multialignment="left", parse_math=False
    )
    quiet_frame(ax)
    return ax


def _chosen(table: Any, most: int) -> list[Any]:
    """Return the oddest quantities; of ties, which many columns have at once, only some."""
    ties = (table["quantity"] == "ties").to_numpy()
    many = ties & (np.cumsum(ties) > max(most // 4, 1)) & (len(table) > most)
    return [*table[~many].head(most).itertuples()]


def _label(row: Any) -> str:
    """Return what a quantity is, of which column, and its value: "tails of x: 2.1%"."""
    quantity = _NAMES.get(row.quantity, row.quantity)
    name = row.column if len(row.column) <= _NAME else row.column[: _NAME - 1] + "…"
    what = f"{quantity} of {name}" if name else quantity
    shown = (lambda value: f"{value:.1%}") if row.quantity in _SHARES else number
    return f"{what}: {shown(row.observed)} ({shown(row.expected)})"
