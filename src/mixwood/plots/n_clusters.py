"""How many clusters there are."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from mixwood.plots.style import COLOURS, axes_or_new, legend_above, plain_ticks, quiet_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_n_clusters"]

#: More bars than this cannot be told apart: a bar then stands for several numbers.
_MOST_BARS = 60


def plot_n_clusters(posterior: GroupedDraws, ax: Axes | None = None, min_size: int = 1) -> Axes:
    """Draw the posterior of the number of clusters; see `Posterior.plot_n_clusters`."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    ax = axes_or_new(ax, (5, 3))
    numbers = posterior.n_clusters_at_least(min_size)
    low, high = int(numbers.min()), int(numbers.max())
    step = ceil((high - low + 1) / _MOST_BARS)
    firsts = np.arange(low, high + 1, step)
    bar = (numbers - low) // step
    shares = np.stack([np.mean(bar == k, axis=1) for k in range(len(firsts))], axis=1)
    left, right = firsts - 0.4, firsts + step - 0.6
    ax.bar(left, shares.mean(axis=0), right - left, align="edge", color=COLOURS[0], alpha=0.85)
    if posterior.n_chains > 1:
        for k, share in enumerate(shares):
            label = "_" if k else "each chain"  # one entry of the legend for all
            ax.hlines(share, left, right, "black", lw=1, alpha=0.45, label=label)
        legend_above(ax)
    several = f" ({step:,} per bar)" if step > 1 else ""
    large = "" if min_size == 1 else f" of at least {min_size:,} rows"
    ax.set(xlabel=f"number of clusters{large}{several}", ylabel="posterior probability")
    margin = max(0.2, 1.6 - len(firsts) / 2)  # a single bar is not to be as wide as the picture
    ax.set_xlim(left[0] - margin, right[-1] + margin)
    ax.set_ylim(0, None)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    plain_ticks(ax.xaxis)
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    quiet_frame(ax)
    return ax
