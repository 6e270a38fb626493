"""The shares of clusters in groups: stacked bars, and a heat map below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.numbers import count, number
from mixwood._support.types import FloatArray, IntArray
from mixwood.plots.colours import as_palette, cluster_names
from mixwood.plots.style import MIXED_COLOUR, quiet_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.input.groups import Groups
    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["figure_size", "plot_groups"]

#: The most groups whose names are written, and the most cells with numbers in them.
_MOST_NAMED, _MOST_NUMBERS = 60, 160
#: How many letters of a group's name fit into an inch of the axis, with room between names.
_LETTERS_IN_AN_INCH = 12
#: Names are not broken into shorter lines than this.
_SHORTEST_LINE = 9
#: From pale to dark: cells that are empty are white.
_COLOURS = ("#EDF3E2", "#B9DDBE", "#6FC0C4", "#3583B9", "#234D96", "#101F54")


class _Table(NamedTuple):
    """The shares and rows of groups (down) in clusters (across), and what these are called."""

    shares: FloatArray
    rows: FloatArray
    names: list[str]
    colours: list[str]


def plot_groups(
    posterior: GroupedDraws,
    order: Any = None,
    loss: str = "vi",
    min_size: int = 1,
    seed: Any = 0,
    ax: tuple[Axes, Axes] | None = None,
    *,
    names: Any = None,
    palette: Any = None,
    max_clusters: int = 30,
    draws: int = 1000,
) -> tuple[Axes, Axes]:
    """Draw the shares of the clusters in each group; see `Posterior.plot_groups`."""
    from mixwood.posterior.groups import groups_of

    groups = groups_of(posterior, "plot_groups")
    most = whole_number(max_clusters, "max_clusters", at_least=1)
    as_palette(palette)  # refused before the estimate is searched
    weights = posterior.group_weights(loss=loss, min_size=min_size, seed=seed, draws=draws)
    every = as_palette(palette, min(len(weights) // len(groups), most))
    table = _table(weights, names, every, most)
    chosen = _order(groups, order, table.shares)
    table = table._replace(shares=table.shares[chosen], rows=table.rows[chosen])
    labels = [str(groups.names[j]) for j in chosen]
    bars, cells = ax if ax is not None else _new_axes(labels, table.shares.shape[1])
    _stack(bars, table)
    _map(cells, table)
    _name_clusters(cells, table)
    _name_groups(cells, labels)
    if order is not None and not isinstance(order, str):
        _mark_lives(cells, table)
    return bars, cells


def _table(weights: Any, names: Any, palette: Sequence[str], most: int) -> _Table:
    """Return the largest clusters, and all others together."""
    shares, rows = (weights[name].unstack().to_numpy(dtype=float) for name in ("mean", "rows"))
    K = shares.shape[1]
    called = cluster_names(names, K)
    colours = [palette[k % len(palette)] for k in range(K)]
    if most < K:
        shares, rows = (
            np.column_stack([values[:, :most], values[:, most:].sum(axis=1)])
            for values in (shares, rows)
        )
        called = [*called[:most], count("other", K - most)]
        colours = [*colours[:most], MIXED_COLOUR]
    sized = [
        f"{name} ({number(float(size))})" for name, size in zip(called, rows.sum(0), strict=True)
    ]
    return _Table(shares, rows, sized, colours)


def _name_clusters(ax: Axes, table: _Table) -> None:
    """Name the clusters, each with a mark of its colour."""
    ax.set_yticks(range(len(table.names)), table.names, fontsize="small", parse_math=False)
    ax.set_ylabel("cluster (rows)")
    ax.tick_params(axis="y", length=0, pad=14)
    for k, colour in enumerate(table.colours):
        ax.annotate(
            "\N{BLACK SQUARE}", (0, k), xycoords=ax.get_yaxis_transform(), xytext=(-9, 0),
            textcoords="offset points", ha="center", va="center", fontsize=9, color=colour,
            annotation_clip=False, gid="chip",
        )  # fmt: skip


def _name_groups(ax: Axes, labels: list[str]) -> None:
    """Name the groups: in one line, in several, or upright where there is little room for each."""
    places = range(0, len(labels), -(-len(labels) // _MOST_NAMED))
    figure = ax.get_figure(root=True)
    assert figure is not None
    letters = _letters(labels, figure.get_figwidth())
    ax.set_xticks(
        list(places),
        [labels[k] if letters is None else fill(labels[k], letters) for k in places],
        rotation=90 if letters is None else 0,
        fontsize="small",
        parse_math=False,
    )
    ax.set_xlabel("group")


def _letters(labels: Sequence[str], width: float) -> int | None:
    """Return how long lines with the names may be below a picture of this width; None: upright."""
    letters = int(_LETTERS_IN_AN_INCH * 0.75 * width / min(len(labels), _MOST_NAMED))
    return None if letters < min(max(map(len, labels)), _SHORTEST_LINE) else letters


def figure_size(names: Sequence[Any], K: int, most: float = 16.0) -> tuple[float, float, float]:
    """Return the width of a picture of groups, and the heights of its bars and of K clusters."""
    labels = list(map(str, names))
    width = min(max(5.0, 2.2 + 0.28 * len(labels)), most)
    upright = _letters(labels, width) is None
    names_height = max(map(len, labels)) / _LETTERS_IN_AN_INCH if upright else 0.0
    return width, 2.2 + names_height / 2, min(max(1.2, 0.4 + 0.28 * K), 8.0) + names_height / 2


def _mark_lives(ax: Axes, table: _Table) -> None:
    """Draw a bar where a cluster begins after the first group, or ends before the last."""
    for k, colour in enumerate(table.colours):
        there = np.flatnonzero(table.rows[:, k])
        if not len(there):
            continue
        ends = [(there[0] - 0.5, there[0] > 0), (there[-1] + 0.5, there[-1] < len(table.rows) - 1)]
        for place, within in ends:
            if within:
                ax.plot([place] * 2, [k - 0.46, k + 0.46], color=colour, lw=3.5, gid="end")


def _order(groups: Groups, order: Any, shares: FloatArray) -> IntArray:
    """Return the places of the groups to draw, from left to right."""
    if order is None:
        return np.arange(len(groups))
    if isinstance(order, str) and order == "similar":
        return _by_similarity(shares)
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise ValueError(f"order must be names of groups, 'similar' or None, got {shown(order)}")
    names = list(order)
    chosen = [groups.index(name, "order") for name in names]
    if len(set(chosen)) < len(chosen) or not chosen:
        raise ValueError(f"order must name groups once each, got {shown(names)}")
    return np.array(chosen)


def _by_similarity(shares: FloatArray) -> IntArray:
    """Return groups of similar shares next to each other."""
    if len(shares) < 3:
        return np.arange(len(shares))
    from scipy.cluster.hierarchy import leaves_list, linkage

    tree = linkage(np.sqrt(shares), "average", optimal_ordering=len(shares) <= 300)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def _new_axes(names: Sequence[str], K: int) -> tuple[Axes, Axes]:
    from matplotlib import pyplot

    width, *heights = figure_size(names, K)
    _, (bars, map_axes) = pyplot.subplots(
        2, 1, sharex=True, figsize=(width, sum(heights)), layout="constrained",
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    return bars, map_axes


def _stack(ax: Axes, table: _Table) -> None:
    """Draw a bar for each group, the clusters of the data on top of each other."""
    groups = range(len(table.shares))
    bottom = np.zeros(len(table.shares))
    for share, colour in zip(table.shares.T, table.colours, strict=True):
        ax.bar(groups, share, 0.85, bottom=bottom, color=colour, edgecolor="white", linewidth=0.4)
        bottom += share
    ax.bar(groups, 1 - bottom, 0.85, bottom=bottom, color=MIXED_COLOUR, alpha=0.4)
    ax.set(ylim=(0, 1), ylabel="share of the group")
    ax.yaxis.set_major_formatter(_percent_axis())
    quiet_frame(ax)


def _percent_axis() -> Any:
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1, decimals=0)


def _map(ax: Axes, table: _Table) -> None:
    """Draw clusters by groups; cells without a row are empty."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    shares = table.shares.T
    seen = np.ma.masked_where(table.rows.T == 0, shares)
    largest = max(float(seen.max()), 0.01)
    image = ax.imshow(
        seen, aspect="auto", cmap=LinearSegmentedColormap.from_list("shares", _COLOURS),
        norm=PowerNorm(0.5, 0, largest), interpolation="nearest",
    )  # fmt: skip
    bar = ax.figure.colorbar(image, ax=ax, pad=0.01, format=_percent_axis())
    bar.set_ticks([tick for tick in (0, 0.05, 0.2, 0.5, 1.0) if tick <= largest])
    bar.ax.tick_params(labelsize="small")
    ax.spines[:].set_visible(False)
    if shares.size <= _MOST_NUMBERS:
        dark = np.sqrt(shares / largest) > 0.55
        for (k, j), share in np.ndenumerate(shares):
            if table.rows[j, k] > 0:
                ink = "white" if dark[k, j] else "black"
                ax.text(j, k, _percent(share), ha="center", va="center", color=ink, fontsize=7.5)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 else "<1%"
