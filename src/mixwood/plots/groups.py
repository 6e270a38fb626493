"""The shares of clusters in groups: stacked bars, and a heat map below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood.plots.colours import as_palette, cluster_names
from mixwood.plots.style import MIXED_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood._support.types import FloatArray, IntArray
    from mixwood.input.groups import Groups
    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_groups"]

#: The most groups whose names are written, and the most cells with numbers in them.
_MOST_NAMED, _MOST_NUMBERS = 60, 160


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
    draws: int = 1000,
) -> tuple[Axes, Axes]:
    """Draw the shares of the clusters in each group; see `Posterior.plot_groups`."""
    from mixwood.posterior.groups import groups_of

    groups = groups_of(posterior, "plot_groups")
    table = posterior.group_weights(loss=loss, min_size=min_size, seed=seed, draws=draws)
    shares = table["mean"].unstack().to_numpy()
    rows = table["rows"].unstack().to_numpy()
    K = shares.shape[1]
    sizes = rows.sum(axis=0)
    called = cluster_names(names, K)
    every = as_palette(palette)
    colours = [every[k % len(every)] for k in range(K)]
    chosen = _order(groups, order, shares)
    bars, map_axes = ax if ax is not None else _new_axes(len(chosen), K)
    _stack(bars, shares[chosen], colours)
    _map(map_axes, shares[chosen], rows[chosen])
    labels = [str(groups.names[j]) for j in chosen]
    sized = [f"{name} ({size:,})" for name, size in zip(called, sizes, strict=True)]
    map_axes.set_yticks(range(K), sized, fontsize="small")
    map_axes.set_ylabel("cluster (rows)")
    map_axes.tick_params(axis="y", length=0, pad=12)
    for k, colour in enumerate(colours):
        map_axes.plot(
            -0.008, k, "s", color=colour, markersize=6, clip_on=False, gid="chip",
            transform=map_axes.get_yaxis_transform(),
        )  # fmt: skip
    step = -(-len(labels) // _MOST_NAMED)
    places = range(0, len(labels), step)
    long = max(map(len, labels)) * len(labels) > 90
    map_axes.set_xticks(
        list(places), [labels[k] for k in places], rotation=90 if long else 0, fontsize="small"
    )
    map_axes.set_xlabel("group")
    return bars, map_axes


def _order(groups: Groups, order: Any, shares: FloatArray) -> IntArray:
    """Return the places of the groups to draw, from left to right."""
    if order is None:
        return np.arange(len(groups))
    if isinstance(order, str) and order == "similar":
        return _by_similarity(shares)
    if isinstance(order, str):
        raise ValueError(f"order must be names of groups, 'similar' or None, got {shown(order)}")
    chosen = [groups.index(name, "order") for name in order]
    if len(set(chosen)) < len(chosen) or not chosen:
        raise ValueError(f"order must name groups once each, got {shown(list(order))}")
    return np.array(chosen)


def _by_similarity(shares: FloatArray) -> IntArray:
    """Return groups of similar shares next to each other."""
    if len(shares) < 3:
        return np.arange(len(shares))
    from scipy.cluster.hierarchy import leaves_list, linkage

    tree = linkage(np.sqrt(shares), "average", optimal_ordering=len(shares) <= 300)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def _new_axes(groups: int, K: int) -> tuple[Axes, Axes]:
    from matplotlib import pyplot

    width = min(max(5.0, 2.2 + 0.28 * groups), 16.0)
    height = min(max(1.2, 0.4 + 0.28 * K), 8.0)
    _, (bars, map_axes) = pyplot.subplots(
        2, 1, sharex=True, figsize=(width, 2.2 + height), layout="constrained",
        gridspec_kw={"height_ratios": [2.2, height]},
    )  # fmt: skip
    return bars, map_axes


def _stack(ax: Axes, shares: FloatArray, colours: list[str]) -> None:
    """Draw a bar for each group, the clusters of the data on top of each other."""
    bottom = np.zeros(len(shares))
    for k, colour in enumerate(colours):
        ax.bar(
            range(len(shares)), shares[:, k], 0.85, bottom=bottom, color=colour,
            edgecolor="white", linewidth=0.4,
        )  # fmt: skip
        bottom += shares[:, k]
    ax.bar(range(len(shares)), 1 - bottom, 0.85, bottom=bottom, color=MIXED_COLOUR, alpha=0.4)
    ax.set(ylim=(0, 1), ylabel="share of the group")
    ax.spines[["top", "right"]].set_visible(False)


def _map(ax: Axes, shares: FloatArray, rows: IntArray) -> None:
    """Draw clusters by groups; cells without a row are empty."""
    from matplotlib.colors import PowerNorm

    seen = np.ma.masked_where(rows.T == 0, shares.T)
    largest = max(float(shares.max()), 0.01)
    picture = ax.imshow(
        seen, aspect="auto", cmap="cividis", norm=PowerNorm(0.5, 0, largest),
        interpolation="nearest",
    )  # fmt: skip
    ax.figure.colorbar(picture, ax=ax, label="share", pad=0.01)
    if shares.size <= _MOST_NUMBERS:
        dark = np.sqrt(shares.T / largest) < 0.6
        for (k, j), share in np.ndenumerate(shares.T):
            if rows[j, k] > 0:
                ink = "white" if dark[k, j] else "black"
                ax.text(j, k, _percent(share), ha="center", va="center", color=ink, fontsize=7.5)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 else "<1%"
