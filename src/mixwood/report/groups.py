"""The section on groups: which share of each group is in each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixwood._support.numbers import count
from mixwood.plots.groups import figure_size
from mixwood.report import figures
from mixwood.report.pieces import chip, paragraph, scrolling, section

if TYPE_CHECKING:
    from mixwood.report.digest import Digest

__all__ = ["groups_section"]

#: The most groups that get a line in the table, and the most clusters by themselves.
_MOST_GROUPS, _MOST_CLUSTERS = 200, 30


def groups_section(digest: Digest) -> str:
    """Return a picture and a table of the shares."""
    posterior = digest.thinned
    assert posterior.groups is not None
    about = (
        f"The rows come in {posterior.groups.in_words()}. The clusters are the same in all groups, "
        "the share of each is the group's own."
    )
    return section("groups", "Groups", paragraph(about), _picture(digest), _table(digest))


def _picture(digest: Digest) -> str:
    from matplotlib.figure import Figure

    posterior = digest.thinned
    assert posterior.groups is not None
    shown = min(digest.n_shown, _MOST_CLUSTERS)
    K = shown + (shown < len(digest.sizes))
    width, *heights = figure_size(posterior.groups.names, K, most=11.0)
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    bars, cells = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    posterior.plot_groups(ax=(bars, cells), palette=digest.colours, max_clusters=shown)
    return figures.picture(figure, "The share of each cluster in each group")


def _table(digest: Digest) -> str:
    """Return groups by clusters: the mean share with its 90% interval."""
    table = digest.thinned.group_weights()
    cells = table[["mean", "low", "high"]].apply(_cell, axis=1).unstack(sort=False)
    shown = min(digest.n_shown, _MOST_CLUSTERS)
    left_out = (("group", len(cells) - _MOST_GROUPS), ("cluster", cells.shape[1] - shown))
    more = "".join(f" {count(f'more {what}', n)} not shown." for what, n in left_out if n > 0)
    return scrolling(
        cells.iloc[:_MOST_GROUPS, :shown],
        "group-shares",
        f"The share of each cluster in each group in per cent, and its 90% interval.{more}",
        {k: chip(k, digest.colours) for k in cells.columns},
        dict.fromkeys(cells.columns, str),
    )


def _cell(row: Any) -> str:
    share, low, high = (100 * float(value) for value in row)
    return f"{share:.1f}<br><small>{low:.1f} to {high:.1f}</small>"
