"""What the clusters are like: a heat map of their standardized parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.numbers import count, number, percent
from mixwood._support.types import FloatArray, IntArray
from mixwood.plots.colours import as_palette, cluster_names
from mixwood.plots.style import QUIET_COLOUR, axes_or_new
from mixwood.posterior.contrasts import Contrast, contrasts
from mixwood.posterior.describe import column_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["Profile", "draw_profile", "plot_profile", "profile_of", "profile_size"]

#: The colours end here; what is further out looks the same.
_FURTHEST = 3.0
#: Values are written into the cells of a picture with at most this many; in letters of these sizes,
#: in points. Of the width of axes so much is left for cells, beside a tree and the colour bar.
_MOST_CELLS, _LETTERS, _FOR_CELLS = 160, (8.3, 7.0, 6.0), 0.72
#: Longer names of columns are cut.
_LONGEST = 28


class Profile(NamedTuple):
    """A heat map as numbers: clusters from top to bottom, columns from left to right.

    Attributes
    ----------
    clusters : int array of shape (K,)
        Which cluster each row is of.
    columns : list of p str
    standardized, value : array of shape (K, p)
        How far each is from the mean of all rows, and the parameter itself.
    merges : array of shape (K - 1, 4)
        The tree that the clusters are in the order of, as scipy has it.
    hidden_clusters, hidden_columns : int
        How many are left out.
    kinds : list of p str
        Of the parameters, see `Contrast`.
    """

    clusters: IntArray
    columns: list[str]
    standardized: FloatArray
    value: FloatArray
    merges: FloatArray
    hidden_clusters: int
    hidden_columns: int
    kinds: list[str]


def plot_profile(
    posterior: GroupedDraws,
    words: Any = None,
    loss: str = "vi",
    min_size: int = 1,
    seed: Any = 0,
    ax: Axes | None = None,
    *,
    max_columns: int = 40,
    max_clusters: int = 40,
    names: Any = None,
    palette: Any = None,
    draws: int = 200,
) -> Axes:
    """Draw a heat map of clusters by columns; see `Posterior.plot_profile`."""
    most = (
        whole_number(max_clusters, "max_clusters", at_least=1),
        whole_number(max_columns, "max_columns", at_least=1),
    )
    as_palette(palette)  # refused before the estimate is searched
    titles = column_names(posterior, words)
    estimate = posterior.point_estimate(loss, min_size, seed)
    sizes = np.rint(np.bincount(estimate, posterior.item_sizes)).astype(np.int64)
    called = cluster_names(names, len(sizes))
    colours = as_palette(palette, len(sizes))
    found = contrasts(posterior, estimate, titles, seed=seed, n_draws=draws)
    profile = profile_of(found, *most)
    ax = axes_or_new(ax, profile_size(profile))
    return draw_profile(
        ax, profile, [f"{called[k]} ({sizes[k]:,})" for k in range(len(sizes))], colours
    )


def profile_size(profile: Profile) -> tuple[float, float]:
    """Return width and height of a figure, in inches, in which everything can be read."""
    K, p = profile.value.shape
    return min(max(4.5, 2.4 + 0.55 * p), 16.0), min(max(2.6, 1.6 + 0.36 * K), 14.0)


def draw_profile(ax: Axes, profile: Profile, names: Sequence[str], colours: Sequence[str]) -> Axes:
    """Draw a heat map that is computed already, with names and colours of all clusters."""
    K, p = profile.value.shape
    ends = max(float(np.abs(profile.standardized).max(initial=0.0)), 0.5)
    ends = min(ends, _FURTHEST)
    image = ax.imshow(
        profile.standardized, cmap="RdBu_r", vmin=-ends, vmax=ends, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    if K * p <= _MOST_CELLS:
        _write_values(ax, profile, ends)
    _name_both(ax, profile, [names[k] for k in profile.clusters], colours)
    _draw_tree(ax, profile)
    bar = ax.get_figure().colorbar(image, ax=ax, pad=0.09, fraction=0.05, aspect=25)  # type: ignore[union-attr]
    bar.set_label("deviations from the mean", fontsize="small")
    ax.set_title(_title(profile), fontsize="medium")
    return ax


def _title(profile: Profile) -> str:
    K, p = profile.value.shape
    clusters = count("cluster", K, of=K + profile.hidden_clusters)
    noun = "word" if set(profile.kinds) == {"word"} else "column"
    if "category" in profile.kinds:
        noun = "column or category"
    plural = "columns and categories" if noun == "column or category" else None
    return f"{clusters}, {count(noun, p, of=p + profile.hidden_columns, plural=plural)}"


def profile_of(found: list[Contrast], max_clusters: int, max_columns: int) -> Profile:
    """Return the heat map of at most so many clusters, the largest, and columns.

    Clusters are in the order of a tree (Ward's, of all columns), and so are the columns if some
    are left out: then those are taken that set one cluster after the other apart most.

    Raises
    ------
    ValueError
        If no parameters of the likelihood can be compared.
    """
    if not found:
        raise ValueError("a profile needs means, rates or probabilities, and there are none")
    whole = np.concatenate([contrast.standardized for contrast in found], axis=1)
    value = np.concatenate([contrast.value for contrast in found], axis=1)
    titles = [name for contrast in found for name in contrast.names]
    kinds = [contrast.kind for contrast in found for _ in contrast.names]
    rank = np.concatenate([_rank(contrast) for contrast in found], axis=1)
    clusters = np.arange(min(len(value), max_clusters))
    columns = _telling(rank[clusters], max_columns)
    rows, merges = _in_tree(np.clip(whole[clusters], -_FURTHEST, _FURTHEST))
    if len(columns) < len(titles):
        across = np.clip(whole[np.ix_(clusters, columns)], -_FURTHEST, _FURTHEST).T
        columns = columns[_in_tree(across)[0]]
    chosen = np.ix_(clusters[rows], columns)
    return Profile(
        clusters[rows],
        [titles[j] for j in columns],
        whole[chosen],
        value[chosen],
        merges,
        len(value) - len(clusters),
        len(titles) - len(columns),
        [kinds[j] for j in columns],
    )


def _rank(contrast: Contrast) -> FloatArray:
    """Return how much each column sets each cluster apart; words that are missing do not."""
    present = contrast.kind in ("word", "category")
    return contrast.effect if present else np.abs(contrast.effect)


def _telling(rank: FloatArray, most: int) -> IntArray:
    """Return the columns that tell most, taken for one cluster after the other in turn."""
    if rank.shape[1] <= most:
        return np.arange(rank.shape[1])
    best = np.argsort(-rank, axis=1, kind="stable")[:, :most]
    in_turn = dict.fromkeys(best.T.ravel().tolist())
    return np.sort(list(in_turn)[:most])


def _in_tree(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the rows of a table in the order of a tree, and the tree."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(table) < 2:
        return np.arange(len(table)), np.empty((0, 4))
    merges = np.asarray(linkage(table, "ward", optimal_ordering=len(table) <= 500))
    return np.asarray(leaves_list(merges), dtype=np.int64), merges


def _write_values(ax: Axes, profile: Profile, ends: float) -> None:
    """Write the parameters into the cells, in letters that are small enough; or not at all."""
    shares = [kind in ("probability", "category") for kind in profile.kinds]
    texts = {
        (i, j): percent(value) if shares[j] else number(value)
        for (i, j), value in np.ndenumerate(profile.value)
    }
    inches = ax.get_figure(root=True).get_figwidth() * ax.get_position().width  # type: ignore[union-attr]
    room = 72 * inches * _FOR_CELLS / profile.value.shape[1]
    longest = max(map(len, texts.values()))
    fitting = [size for size in _LETTERS if 0.62 * size * (longest + 0.5) <= room]
    for (i, j), text in texts.items() if fitting else ():
        dark = abs(profile.standardized[i, j]) > 0.6 * ends
        ax.text(
            j, i, text, ha="center", va="center", fontsize=fitting[0],
            color="white" if dark else "black",
        )  # fmt: skip


def _name_both(ax: Axes, profile: Profile, rows: list[str], colours: Sequence[str]) -> None:
    """Name clusters, each with a mark of its colour, and columns."""
    K, p = profile.value.shape
    small = "small" if max(K, p) <= 20 else "x-small"
    short = [t if len(t) <= _LONGEST else t[: _LONGEST - 3] + "..." for t in profile.columns]
    flat = p <= 6 and max(map(len, short)) <= 10
    ax.set_xticks(
        np.arange(p), short, rotation=0 if flat else 45, ha="center" if flat else "right",
        rotation_mode="anchor" if not flat else "default", fontsize=small,
        parse_math=False,
    )  # fmt: skip
    ax.set_yticks(np.arange(K), rows, fontsize=small, parse_math=False)
    ax.tick_params(axis="y", length=0, pad=14)
    ax.tick_params(axis="x", length=2)
    ax.spines[:].set_visible(False)
    for place, k in enumerate(profile.clusters):
        ax.annotate(
            "\N{BLACK SQUARE}", (0, place), xycoords=ax.get_yaxis_transform(), xytext=(-9, 0),
            textcoords="offset points", ha="center", va="center", fontsize=9,
            color=colours[k % len(colours)], annotation_clip=False, gid="chip",
        )  # fmt: skip


def _draw_tree(ax: Axes, profile: Profile) -> None:
    """Draw the tree of the clusters at the right, the root outside."""
    from scipy.cluster.hierarchy import dendrogram

    K = len(profile.clusters)
    if K < 3:
        return
    drawn: dict[str, Any] = dict(dendrogram(profile.merges, no_plot=True))
    side = ax.inset_axes((1.01, 0.0, 0.06, 1.0))
    for up, across in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        # Leaves are 10 apart, from 5 on.
        side.plot(across, (np.asarray(up) - 5) / 10, color=QUIET_COLOUR, linewidth=0.9)
    side.set_ylim(K - 0.5, -0.5)
    side.set_xlim(0, None)
    side.axis("off")
