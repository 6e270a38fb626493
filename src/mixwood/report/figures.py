"""Pictures within the page, each in two versions: for light screens and paper, for dark ones."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.report.pieces import escaped, paragraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["drawn", "picture"]

#: Paper and ink of dark pages, as report.css has them.
_DARK, _LIGHT = "#16181c", "#dcdee2"
#: Pixels of an inch on the page, where letters are then as large as in the text, and in the file.
_SHOWN, _KEPT = 100, 144
#: Colours of a picture's file: fewer make it half as long, and look the same.
_COLOURS = 256


def drawn(
    description: str, size: tuple[float, float], *draw: Callable[[Axes], Any], below: bool = False
) -> str:
    """Return a picture of one or more axes, or why there is none: some data cannot be drawn so.

    The figure is not one of pyplot's, so that no window or notebook ever sees it.

    Parameters
    ----------
    description : str
        What it shows, in words.
    size : pair of float
        In inches.
    draw : functions of axes
    below : bool
        Whether the axes are below each other, not side by side.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    rows, columns = (len(draw), 1) if below else (1, len(draw))
    try:
        for ax, one in zip(figure.subplots(rows, columns, squeeze=False).flat, draw, strict=True):
            one(ax)
        return picture(figure, description)
    except (ValueError, TypeError, MemoryError) as error:
        return paragraph(f"{description}: not drawn. {error}", "soft")


def picture(figure: Figure, description: str) -> str:
    """Return a figure as an image within the page; afterwards the figure is the dark version."""
    width = round(_SHOWN * float(figure.get_figwidth()))
    light = _png(figure)
    figure.set_layout_engine("none")  # everything stays where it is
    darken(figure)
    dark = _png(figure)
    return (
        '<figure><picture><source media="screen and (prefers-color-scheme: dark)" '
        f'srcset="data:image/png;base64,{dark}"><img width="{width}" '
        f'src="data:image/png;base64,{light}" alt="{escaped(description)}"></picture>'
        f"<figcaption>{escaped(description)}</figcaption></figure>"
    )


def _png(figure: Figure) -> str:
    from PIL import Image

    whole, small = io.BytesIO(), io.BytesIO()
    figure.savefig(whole, format="png", dpi=_KEPT, facecolor=figure.get_facecolor())
    # by the largest distance: a mark of a cluster's colour is small, and must not change
    rule, plain = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    image = Image.open(whole).convert("RGB").quantize(_COLOURS, rule, dither=plain)
    image.save(small, format="png")
    return base64.b64encode(small.getvalue()).decode()


def darken(figure: Figure) -> None:
    """Make paper dark and ink light; colours of data, and what is written on them, stay."""
    from matplotlib.axes import Axes

    figure.set_facecolor(_DARK)
    for ax in figure.findobj(Axes):
        ax.set_facecolor(_DARK)
        for spine in ax.spines.values():
            spine.set_edgecolor(_LIGHT)
        ax.tick_params(which="both", color=_LIGHT, labelcolor=_LIGHT)
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
            text.set_color(_LIGHT)
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_offset_text().set_color(_LIGHT)
        legend = ax.get_legend()
        if legend is not None:
            for text in (legend.get_title(), *legend.get_texts()):
                text.set_color(_LIGHT)
        _lighten_black(ax)


def _lighten_black(ax: Axes) -> None:
    from matplotlib.colors import to_rgb, to_rgba

    black = (0.0, 0.0, 0.0)
    legend = ax.get_legend()
    handles = [] if legend is None else list(legend.legend_handles)
    for line in (*ax.lines, *(h for h in handles if hasattr(h, "get_color"))):
        colour: Any = line.get_color()  # type: ignore[union-attr]
        one = isinstance(colour, (str, tuple)) or np.ndim(colour) == 1  # not those of many lines
        if len(colour) and one and to_rgb(colour) == black:
            line.set_color((*to_rgb(_LIGHT), to_rgba(colour)[3]))  # type: ignore[union-attr]
    for collection in (*ax.collections, *(h for h in handles if hasattr(h, "get_edgecolor"))):
        edges: Any = collection.get_edgecolor()  # type: ignore[union-attr]
        if len(edges) and not isinstance(edges[0], float) and tuple(edges[0][:3]) == black:
            collection.set_edgecolor((*to_rgb(_LIGHT), float(edges[0][3])))  # type: ignore[union-attr]
