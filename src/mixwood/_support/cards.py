"""What notebooks show of an object: a few lines in a frame, and perhaps a picture.

Everything is within the HTML itself, and everything that comes from data is escaped. Ink is the
page's own, or a grey that is read on white and on black: notebooks do not tell their theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["INK", "bars", "card"]

#: Grey that is read on white and on black.
INK = "#7f7f7f"
#: Okabe and Ito's, as in pictures.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
_FRAME = (
    "display:inline-block;max-width:46em;border:1px solid #7f7f7f80;border-radius:6px;"
    "padding:0.5em 0.9em;margin:0.3em 0"
)


def card(
    title: str, lines: Sequence[str] = (), facts: Sequence[tuple[str, str]] = (), picture: str = ""
) -> str:
    """Return a frame with a title, sentences, facts by name, and a picture, which is HTML already.

    Examples
    --------
    >>> "<b>" in card("A <b>name</b>"), "&lt;b&gt;" in card("A <b>name</b>")
    (False, True)
    """
    told = "".join(f'<div style="margin-top:0.2em">{escape(line)}</div>' for line in lines)
    named = "".join(
        f'<div style="opacity:0.75;font-size:90%;margin-top:0.2em">{escape(name)}: '
        f"{escape(value)}</div>"
        for name, value in facts
    )
    return (
        f'<div class="mixwood" style="{_FRAME}"><div style="font-weight:600">{escape(title)}</div>'
        f"{told}{picture}{named}</div>"
    )


def bars(rows: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return a picture of partitions: a bar each, cut into the shares of its clusters.

    Examples
    --------
    >>> bars([("estimate", [3, 1])]).count("<rect")
    2
    """
    left, width, height = 170, 300, 22
    parts = []
    for k, (name, sizes) in enumerate(rows):
        y = k * height
        place = f'x="{left - 8}" y="{y + 14}" text-anchor="end"'
        parts.append(f'<text {place} fill="{INK}">{escape(name)}</text>')
        at, total = float(left), sum(sizes)
        for j, size in enumerate(sizes):
            share = width * size / total
            parts.append(
                f'<rect x="{at:.1f}" y="{y + 3}" width="{max(share - 1, 0.5):.1f}" '
                f'height="{height - 7}" fill="{_COLOURS[j % len(_COLOURS)]}"/>'
            )
            at += share
    return (
        f'<svg role="img" viewBox="0 0 {left + width} {len(rows) * height}" font-size="12" '
        f'style="width:{left + width}px;max-width:100%;display:block;margin-top:0.3em">'
        f"{''.join(parts)}</svg>"
    )
