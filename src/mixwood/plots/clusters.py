"""The data by cluster, with the density that the posterior predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.numbers import count, percent
from mixwood._support.types import FloatArray, Sizes
from mixwood.plots.cluster_names import Marked, name_clusters
from mixwood.plots.colours import as_palette, cluster_colours, cluster_names
from mixwood.plots.plane import Plane, plane_of
from mixwood.plots.style import QUIET_COLOUR, axes_or_new, quiet_frame, sample_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_clusters"]

#: Items whose cluster is less probable than this are drawn hollow.
UNSURE = 0.9
#: How many draws the density is a mean of: more would look the same in a picture.
_DENSITY_DRAWS = 200
#: Of the mark of a weighted leaf.
_LARGEST_AREA = 400.0
#: The shares of the items that lie within the contours.
_CONTOURS = (0.99, 0.9, 0.5)
#: How dark it is within them, from the outermost on.
_SHADES = (0.06, 0.13, 0.22)


def plot_clusters(
    posterior: GroupedDraws,
    loss: str = "vi",
    min_size: int = 1,
    seed: Any = 0,
    ax: Axes | None = None,
    density: bool = True,
    max_items: int = 10_000,
    *,
    coordinates: Any = None,
    names: Any = None,
    palette: Any = None,
) -> Axes:
    """Draw the items by cluster of the point estimate; see `Posterior.plot_clusters`."""
    items = sample_of(posterior.n_items, whole_number(max_items, "max_items", at_least=1))
    least = whole_number(min_size, "min_size", at_least=1)
    as_palette(palette)  # refused before the estimate is searched
    labels = posterior.point_estimate(loss, seed=seed)
    # Of rows, as `describe` has them; clusters are numbered by size, so that the small are last.
    sizes = np.rint(np.bincount(labels, posterior.item_sizes)).astype(np.int64)
    called = cluster_names(names, len(sizes))
    certainty = posterior.certainty(loss, seed=seed)[items]
    labels = labels[items]
    plane = plane_of(posterior, items, labels, certainty, coordinates)
    large = int(np.count_nonzero(sizes >= least))
    own_palette = as_palette(palette, large)
    marked = Marked(
        labels=labels,
        sure=certainty >= UNSURE,
        sizes=sizes,
        names=called,
        colours=cluster_colours(plane.points, labels, large, own_palette) if large else [],
    )
    ax = axes_or_new(ax, (6.4, 4.8))
    one_column = not plane.names[1]
    spread = np.ptp(plane.points, axis=0)[: 1 if one_column else 2]
    continuous = posterior.resolved.continuous
    with_density = density and plane.own and continuous and bool(np.all(spread > 0))
    if one_column:
        _draw_line(ax, posterior, plane, marked, with_density)
    else:
        if with_density:
            _draw_contours(ax, posterior, plane)
        _draw_scatter(ax, plane, marked)
        if coordinates is None:
            marked = _in_frame(ax, plane, marked)
    ax.set_xlabel(plane.names[0], parse_math=False)
    ax.set_ylabel(plane.names[1] or "density", parse_math=False)
    ax.set_title(_title(posterior, plane, marked), fontsize="medium")
    name_clusters(ax, plane.points, marked, at_clusters=not one_column)
    quiet_frame(ax)
    return ax


def _title(posterior: GroupedDraws, plane: Plane, marked: Marked) -> str:
    number = count("cluster", len(marked.sizes))
    share = float(np.average(~marked.sure, weights=plane.sizes))
    unsure = "" if marked.sure.all() else f"; hollow: {percent(share)} unsure"
    return f"{_items_drawn(posterior, plane)}, {number}{unsure}"


def _items_drawn(posterior: GroupedDraws, plane: Plane) -> str:
    """Return how many there are in the picture: "1,300 items", "900 rows in 40 leaves"."""
    if not posterior.of_leaves:
        return count("item", len(plane.points), of=posterior.n_items)
    leaves = count("leaf", len(plane.points), of=posterior.n_items, plural="leaves")
    return f"{count('row', int(plane.sizes.sum()))} in {leaves}"


def _draw_scatter(ax: Axes, plane: Plane, marked: Marked) -> None:
    areas = _areas(plane.sizes)
    labels, sure = marked.labels, marked.sure
    # What is grey lies below.
    for k in sorted(np.unique(labels), key=lambda k: (k < marked.large, k)):
        for chosen, face, weight in (
            (sure & (labels == k), marked.colour(k), 0.0),
            (~sure & (labels == k), "none", 0.9),
        ):
            if chosen.any():
                ax.scatter(
                    plane.points[chosen, 0],
                    plane.points[chosen, 1],
                    s=areas[chosen],
                    marker=marked.marker(k),
                    facecolors=face,
                    edgecolors=marked.colour(k),
                    linewidths=weight,
                    alpha=0.8,
                )


def _in_frame(ax: Axes, plane: Plane, marked: Marked) -> Marked:
    """Frame the coloured clusters where small ones are so far out that they would shrink them.

    The axes of the data itself show everything.
    """
    shown = marked.labels < marked.large
    if plane.own or shown.all() or np.count_nonzero(shown) < 2:
        return marked
    low, high = plane.points[shown].min(axis=0), plane.points[shown].max(axis=0)
    margin = 0.25 * (high - low)
    beyond = np.any((plane.points < low - margin) | (plane.points > high + margin), axis=1)
    if not beyond.any() or np.any(high == low):
        return marked
    inside = plane.points[~beyond]
    edge = 0.05 * np.ptp(inside, axis=0)
    low, high = inside.min(axis=0) - edge, inside.max(axis=0) + edge
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return replace(marked, beyond=round(float(plane.sizes[beyond].sum())))


def _areas(sizes: Sizes) -> FloatArray:
    """Return the areas of marks: in proportion to the rows that they stand for, but never a speck.

    Of rows all are equal.
    """
    usual = 18.0 if len(sizes) <= 2000 else 6.0
    scale = min(usual / sizes.mean(), _LARGEST_AREA / sizes.max())
    return np.asarray(np.maximum(sizes * scale, 1.0))


def _draw_line(
    ax: Axes, posterior: GroupedDraws, plane: Plane, marked: Marked, density: bool
) -> None:
    """Draw a histogram of stacked clusters, the density, and below them one mark per item."""
    values = plane.points[:, 0]
    edges = _bin_edges(values)
    top = np.zeros(len(edges) - 1)
    for k in np.unique(marked.labels):
        own = marked.labels == k
        counts = np.histogram(values[own], edges, weights=plane.sizes[own])[0]
        height = counts / (plane.sizes.sum() * np.diff(edges))
        ax.bar(
            edges[:-1], height, np.diff(edges), top,
            align="edge", color=marked.colour(k), alpha=0.55,
        )  # fmt: skip
        top = top + height
    highest = float(top.max())
    if density:
        grid = _grid(values, 400)
        curve = np.exp(_few_draws(posterior).log_density(grid[:, None]))
        ax.plot(grid, curve, color="black", linewidth=1.4, label="predictive density")
        highest = max(highest, float(curve.max()))
    depth = np.full(len(values), -0.05 * highest)
    _draw_scatter(ax, plane._replace(points=np.column_stack([values, depth])), marked)
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set_ylim(-0.1 * highest, 1.08 * highest)


def _bin_edges(values: FloatArray) -> FloatArray:
    """Return edges of 20 to 100 bins, as many as the data ask for."""
    if np.ptp(values) == 0:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    wanted = len(np.histogram_bin_edges(values, bins="fd")) - 1
    return np.linspace(values.min(), values.max(), min(max(wanted, 20), 100) + 1)


def _draw_contours(ax: Axes, posterior: GroupedDraws, plane: Plane) -> None:
    """Draw where the predictive density is at the 1st, 10th and 50th percentile of the items."""
    from matplotlib.colors import to_rgba

    few = _few_draws(posterior)
    across, up = _grid(plane.points[:, 0], 90), _grid(plane.points[:, 1], 90)
    places = np.stack(np.meshgrid(across, up), axis=-1)
    density = few.log_density(places.reshape(-1, 2)).reshape(90, 90)
    rows = sample_of(int(plane.sizes.sum()), 2000)
    items = np.searchsorted(np.cumsum(plane.sizes), rows, side="right")
    at_items = few.log_density(plane.points[items])
    levels = np.unique(np.quantile(at_items, [1 - share for share in _CONTOURS]))
    shades = [to_rgba(QUIET_COLOUR, alpha) for alpha in _SHADES[-len(levels) :]]
    ax.contourf(across, up, density, [*levels, np.inf], colors=shades)
    ax.contour(across, up, density, levels, colors=QUIET_COLOUR, linewidths=0.7, linestyles="solid")


def _grid(values: FloatArray, count: int) -> FloatArray:
    margin = 0.14 * float(np.ptp(values))
    return np.linspace(values.min() - margin, values.max() + margin, count)


def _few_draws(posterior: GroupedDraws) -> GroupedDraws:
    """Return a posterior with some of the draws, evenly from all chains."""
    return posterior.thinned(max(1, _DENSITY_DRAWS // posterior.n_chains))
