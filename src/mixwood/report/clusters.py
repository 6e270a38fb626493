"""The section of a report on the clusters: where they are, what sets them apart, parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import chance, count, number, percent
from mixwood.plots.profile import draw_profile, profile_of, profile_size
from mixwood.posterior.markers import Marker
from mixwood.report import figures
from mixwood.report.headline import LEVEL
from mixwood.report.pieces import (
    WITHOUT_DATA,
    chip,
    details,
    escaped,
    paragraph,
    scrolling,
    section,
    table,
    with_intervals,
)

if TYPE_CHECKING:
    from mixwood.report.digest import Digest

__all__ = ["clusters_section"]

#: The most clusters and columns of a heat map; the most of which parameters are listed, and the
#: most side by side, so that nothing is wider than a page.
_MOST_DRAWN, _MOST_COLUMNS = 20, 30
_MOST_LISTED, _SIDE_BY_SIDE, _MOST_ROWS = 40, 5, 400
#: The most markers of a cluster.
_MOST_MARKERS = 6


def clusters_section(digest: Digest) -> str:
    """Return the picture of the clusters, their table, the heat map and all parameters."""
    title = "The clusters"
    if digest.posterior.X is None:
        return section("clusters", title, paragraph(WITHOUT_DATA), _list(digest))
    return section(
        "clusters", title, _plane(digest), _list(digest), _profile(digest), _parameters(digest)
    )


def _plane(digest: Digest) -> str:
    some = digest.thinned
    return figures.drawn(
        "The rows, coloured by cluster; hollow marks are rows whose cluster is less than 90% sure",
        (8.5, 5.2),
        lambda ax: some.plot_clusters(
            ax=ax, min_size=digest.least_shown, palette=digest.colours[: digest.n_shown]
        ),
    )


# --- one line per cluster


def _list(digest: Digest) -> str:
    """Return a table with a line per cluster; small ones are folded."""
    import pandas

    sizes, large = digest.sizes, digest.n_shown
    sure = np.bincount(digest.estimate, digest.posterior.item_sizes * digest.certainty)
    frame: Any = pandas.DataFrame(
        {"rows": sizes, "certainty": sure / np.maximum(sizes, 1e-300), "markers": digest.markers},
        index=pandas.RangeIndex(len(sizes)),
    )
    frame["certainty"] = np.minimum(frame["certainty"], 1.0)
    if not any(digest.markers):
        frame = frame.drop(columns="markers")
    frame = frame.rename(columns={"markers": _APART})
    html = {"rows": lambda size: _bar(size, float(sizes.max())), _APART: _apart,
            "": lambda k: chip(k, digest.colours)}  # fmt: skip
    formats = {"certainty": chance}
    caption = (
        "The clusters of the estimate, the largest first. Certainty is the mean probability that "
        "the rows of a cluster belong to it"
    )
    if digest.markers and any(digest.markers):
        caption += _WORDS_APART if digest.of_words else _COLUMNS_APART
    shown = table(frame[:large], "clusters-table", f"{caption}.", "cluster", formats, html)
    rest = frame[large:]
    if len(rest):
        rows = round(float(rest["rows"].sum()))
        title = f"{count('smaller cluster', len(rest))}, {count('row', rows)} in all"
        small = table(rest, "small-table", "The smaller clusters.", "cluster", formats, html)
        shown += details(title, small, "clusters-small")
    return shown


_APART = "what sets it apart"
_COLUMNS_APART = (
    ". What sets a cluster apart are the columns in which it differs from the rest with at least "
    "90% probability, the largest effect first, with the value in the cluster and in the rest"
)
_WORDS_APART = (
    ". The words are those that set a cluster apart, the most distinctive first, with how many "
    "times as often they come as in the rest"
)


def _bar(size: float, largest: float) -> str:
    """Return a number of rows with a bar that is as long."""
    width = 100 * size / largest if largest > 0 else 0.0
    return f'{number(round(size))}<span class="bar" style="width:{width:.1f}%"></span>'


def _apart(markers: list[Marker]) -> str:
    return "".join(f'<span class="marker">{_marker(m)}</span>' for m in markers[:_MOST_MARKERS])


def _marker(marker: Marker) -> str:
    """Return a marker with its values: "high length 5.2 against 1.4", "neuron" with a ratio."""
    is_share = marker.how not in ("high", "low")
    value, rest = (percent(x) if is_share else number(x) for x in (marker.value, marker.rest))
    if not marker.how:  # a word or a category
        ratio = marker.value / marker.rest if marker.rest > 0 else np.inf
        many = "over 100" if ratio > 100 else number(float(f"{ratio:.2g}"))
        said = f"{many}\N{MULTIPLICATION SIGN}" if marker.value < 0.1 else f"{value} against {rest}"
    else:
        said = f"{value} against {rest}"
    return f'{escaped(marker.text)} <span class="soft">{escaped(said)}</span>'


# --- what they are like


def _profile(digest: Digest) -> str:
    if not digest.contrasts or len(digest.sizes) < 2:
        return ""
    profile = profile_of(digest.contrasts, min(digest.n_shown, _MOST_DRAWN), _MOST_COLUMNS)
    wide, high = profile_size(profile)
    names = [f"{k} ({number(round(size))})" for k, size in enumerate(digest.sizes)]
    return figures.drawn(
        "What the clusters are like: red is above the mean of all rows, blue below; similar "
        "clusters are next to each other",
        (min(max(wide, 7.0), 11.0), high),
        lambda ax: draw_profile(ax, profile, names, digest.colours),
    )


# --- all parameters


def _parameters(digest: Digest) -> str:
    """Return the parameters of the clusters, side by side, a few at a time."""
    described = digest.thinned.describe(words=digest.about.words, level=LEVEL)
    # A category that is a number, such as a year, is a name: no comma, no rounding.
    modes = [name for name in described.columns if str(name).endswith(" mode")]
    described = described.astype(dict.fromkeys(modes, str))
    told = [name for name in ("size", "certainty", "markers") if name in described.columns]
    shown = with_intervals(described.drop(columns=told))
    large = min(digest.n_shown, _MOST_LISTED)
    rows, left_out = shown.columns[:_MOST_ROWS], max(len(shown.columns) - _MOST_ROWS, 0)
    blocks = [
        _side_by_side(shown.iloc[k : min(k + _SIDE_BY_SIDE, large)][list(rows)], digest.colours)
        for k in range(0, large, _SIDE_BY_SIDE)
    ]
    note = f"Each with its {LEVEL:.0%} credible interval."
    hidden = len(shown) - large
    if hidden or left_out:
        what = [count("cluster", hidden)] if hidden else []
        what += [count("column", left_out)] if left_out else []
        note += f" {' and '.join(what)} more: post.describe() in Python has all."
    return details(
        "All parameters of the clusters", paragraph(note, "soft") + "".join(blocks), "parameters",
        printed=True,
    )  # fmt: skip


def _side_by_side(frame: Any, colours: list[str]) -> str:
    """Return a table with a column per cluster and a row per parameter."""
    html = {str(k): _two_lines for k in frame.index}
    turned = frame.astype(object).T
    turned.columns = [str(k) for k in frame.index]
    heads = {str(k): chip(int(k), colours) for k in frame.index}
    key = f"parameters-{frame.index[0]}"
    caption = f"Clusters {frame.index[0]} to {frame.index[-1]}"
    if len(frame) == 1:
        caption = f"Cluster {frame.index[0]}"
    return scrolling(turned, key, caption, heads, html)


def _two_lines(value: Any) -> str:
    """Return a value, with its interval below it if it has one."""
    if isinstance(value, float):
        return escaped(number(value))
    middle, _, interval = str(value).partition("\n")
    if not interval:
        return escaped(middle)
    return f'{escaped(middle)}<span class="interval">{escaped(interval)}</span>'
