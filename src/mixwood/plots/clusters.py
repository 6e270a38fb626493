"""The data by cluster, with the density that the posterior predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.numbers import count, percent
from mixwood._support.types import FloatArray, IntArray, Sizes
from mixwood.plots.plane import Plane, plane_of
from mixwood.plots.style import COLOURS, axes_or_new, colour, marker, sample_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.posterior import Posterior

__all__ = ["plot_clusters"]

#: Items whose cluster is less probable than this are drawn hollow.
UNSURE = 0.9
#: How many draws the density is a mean of: more would look the same in a picture.
_DENSITY_DRAWS = 200
#: The most clusters that a legend names: more cannot be told apart by eye.
_MOST_NAMED = 20
#: Of the mark of a weighted leaf.
_LARGEST_AREA = 400.0
#: The shares of the items that lie within the contours.
_CONTOURS = (0.99, 0.9, 0.5)


def plot_clusters(
    posterior: Posterior,
    loss: str = "vi",
    min_size: int = 1,
    seed: Any = 0,
    ax: Axes | None = None,
    density: bool = True,
    max_items: int = 10_000,
) -> Axes:
    """Draw the items by cluster of the point estimate; see `Posterior.plot_clusters`."""
    items = sample_of(posterior.n_items, whole_number(max_items, "max_items", at_least=1))
    plane = plane_of(posterior, items)
    labels = posterior.point_estimate(loss, min_size, seed)
    sure = posterior.certainty(loss, min_size, seed)[items] >= UNSURE
    # Of rows, as `describe` has them.
    sizes = np.rint(np.bincount(labels, posterior.item_sizes)).astype(np.int64)
    labels = labels[items]
    ax = axes_or_new(ax, (6.4, 4.8))
    one_column = not plane.names[1]
    spread = np.ptp(plane.points, axis=0)[: 1 if one_column else 2]
    continuous = posterior.resolved.continuous
    with_density = density and plane.own and continuous and bool(np.all(spread > 0))
    if one_column:
        _draw_line(ax, posterior, plane, labels, sure, with_density)
    else:
        if with_density:
            _draw_contours(ax, posterior, plane)
        _draw_scatter(ax, plane, labels, sure)
    _name_clusters(ax, sizes)
    share = float(np.average(~sure, weights=plane.sizes))
    unsure = "" if sure.all() else f"; hollow: {percent(share)} unsure"
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1] or "density")
    number = count("cluster", len(sizes))
    ax.set_title(f"{_items_drawn(posterior, plane)}, {number}{unsure}", fontsize="medium")
    return ax


def _items_drawn(posterior: Posterior, plane: Plane) -> str:
    """Return how many there are in the picture: "1,300 items", "900 rows in 40 leaves"."""
    if not posterior.of_leaves:
        return count("item", len(plane.points), of=posterior.n_items)
    leaves = count("leaf", len(plane.points), of=posterior.n_items, plural="leaves")
    return f"{count('row', int(plane.sizes.sum()))} in {leaves}"


def _draw_scatter(ax: Axes, plane: Plane, labels: IntArray, sure: Any) -> None:
    areas = _areas(plane.sizes)
    for k in np.unique(labels):
        for chosen, face, weight in (
            (sure & (labels == k), colour(k), 0.0),
            (~sure & (labels == k), "none", 0.9),
        ):
            if chosen.any():
                ax.scatter(
                    plane.points[chosen, 0],
                    plane.points[chosen, 1],
                    s=areas[chosen],
                    marker=marker(k),
                    facecolors=face,
                    edgecolors=colour(k),
                    linewidths=weight,
                    alpha=0.8,
                )


def _areas(sizes: Sizes) -> FloatArray:
    """Return the areas of marks: in proportion to the rows that they stand for, but never a speck.

    Of rows all are equal.
    """
    usual = 18.0 if len(sizes) <= 2000 else 6.0
    scale = min(usual / sizes.mean(), _LARGEST_AREA / sizes.max())
    return np.asarray(np.maximum(sizes * scale, 1.0))


def _name_clusters(ax: Axes, sizes: IntArray) -> None:
    """Say in a legend next to the axes which mark is which cluster of `describe`."""
    handles = list(ax.get_legend_handles_labels()[0])
    named = len(sizes) <= _MOST_NAMED
    if named:
        from matplotlib.lines import Line2D

        handles += [
            Line2D([], [], linestyle="", marker=marker(k), color=colour(k), label=f"{k} ({size:,})")
            for k, size in enumerate(sizes)
        ]
    if handles:
        ax.legend(
            handles=handles, title="cluster (size)" if named else None,
            fontsize="small", title_fontsize="small", frameon=False,
            loc="upper left", bbox_to_anchor=(1, 1), handletextpad=0.3,
        )  # fmt: skip


def _draw_line(
    ax: Axes, posterior: Posterior, plane: Plane, labels: IntArray, sure: Any, density: bool
) -> None:
    """Draw a histogram of stacked clusters, the density, and below them one mark per item."""
    values = plane.points[:, 0]
    edges = _bin_edges(values)
    top = np.zeros(len(edges) - 1)
    for k in np.unique(labels):
        own = labels == k
        counts = np.histogram(values[own], edges, weights=plane.sizes[own])[0]
        height = counts / (plane.sizes.sum() * np.diff(edges))
        ax.bar(edges[:-1], height, np.diff(edges), top, align="edge", color=colour(k), alpha=0.55)
        top = top + height
    highest = float(top.max())
    if density:
        grid = _grid(values, 400)
        curve = np.exp(_few_draws(posterior).log_density(grid[:, None]))
        ax.plot(grid, curve, color="black", linewidth=1.4, label="predictive density")
        highest = max(highest, float(curve.max()))
    depth = np.full(len(values), -0.05 * highest)
    _draw_scatter(ax, plane._replace(points=np.column_stack([values, depth])), labels, sure)
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set_ylim(-0.1 * highest, 1.08 * highest)


def _bin_edges(values: FloatArray) -> FloatArray:
    """Return edges of 20 to 100 bins, as many as the data ask for."""
    if np.ptp(values) == 0:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    wanted = len(np.histogram_bin_edges(values, bins="fd")) - 1
    return np.linspace(values.min(), values.max(), min(max(wanted, 20), 100) + 1)


def _draw_contours(ax: Axes, posterior: Posterior, plane: Plane) -> None:
    """Draw where the predictive density is at the 1st, 10th and 50th percentile of the items."""
    few = _few_draws(posterior)
    across, up = _grid(plane.points[:, 0], 90), _grid(plane.points[:, 1], 90)
    places = np.stack(np.meshgrid(across, up), axis=-1)
    density = few.log_density(places.reshape(-1, 2)).reshape(90, 90)
    rows = sample_of(int(plane.sizes.sum()), 2000)
    items = np.searchsorted(np.cumsum(plane.sizes), rows, side="right")
    at_items = few.log_density(plane.points[items])
    levels = np.unique(np.quantile(at_items, [1 - share for share in _CONTOURS]))
    ax.contour(across, up, density, levels, colors=COLOURS[-1], linewidths=0.9, linestyles="solid")


def _grid(values: FloatArray, count: int) -> FloatArray:
    margin = 0.08 * float(np.ptp(values))
    return np.linspace(values.min() - margin, values.max() + margin, count)


def _few_draws(posterior: Posterior) -> Posterior:
    """Return a posterior with some of the draws, evenly from all chains."""
    return posterior.thinned(max(1, _DENSITY_DRAWS // posterior.n_chains))
