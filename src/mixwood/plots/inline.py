"""A picture within the HTML of a notebook: read on light pages and on dark ones."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from mixwood._support.cards import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["inline_picture"]

#: Dots per inch, and how much smaller the picture is shown: sharp on fine screens, too.
_DPI, _FINER = 144, 2


def inline_picture(description: str, size: tuple[float, float], draw: Callable[[Axes], Any]) -> str:
    """Return a picture as HTML, without paper and with grey ink.

    The figure is not one of pyplot's, so that the notebook does not show it once more.

    Parameters
    ----------
    description : str
        What it shows, in words.
    size : pair of float
        In inches.
    draw : function of axes

    Examples
    --------
    >>> inline_picture("a line", (2, 1), lambda ax: ax.plot([0, 1]))[:21]
    '<img alt="a line" src'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    _grey(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI, transparent=True)
    data = base64.b64encode(file.getvalue()).decode()
    width = round(size[0] * _DPI / _FINER)
    return (
        f'<img alt="{escape(description, quote=True)}" src="data:image/png;base64,{data}" '
        f'style="width:{width}px;max-width:100%;display:block;background:none;margin-top:0.3em">'
    )


def _grey(figure: Figure) -> None:
    """Draw frames, ticks, words and black lines in grey."""
    from matplotlib.colors import to_rgb

    for ax in figure.axes:
        for spine in ax.spines.values():
            spine.set_edgecolor(INK)
        ax.tick_params(which="both", color=INK, labelcolor=INK)
        for line in ax.lines:
            if to_rgb(line.get_color()) == (0.0, 0.0, 0.0):
                line.set_color(INK)
        legend = ax.get_legend()
        words = [] if legend is None else [legend.get_title(), *legend.get_texts()]
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *words, *ax.texts):
            text.set_color(INK)
        if legend is not None:
            legend.get_frame().set_alpha(0)
