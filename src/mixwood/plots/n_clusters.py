"""How many clusters there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.plots.style import COLOURS, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior import Posterior

__all__ = ["plot_n_clusters"]

#: The chains are marked where there is room for the marks.
_MOST_MARKED = 60


def plot_n_clusters(posterior: Posterior, ax: Axes | None = None) -> Axes:
    """Draw the posterior of the number of clusters; see `Posterior.plot_n_clusters`."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    ax = axes_or_new(ax, (5, 3))
    values = np.arange(posterior.n_clusters.min(), posterior.n_clusters.max() + 1)
    shares = np.stack([np.mean(posterior.n_clusters == k, axis=1) for k in values], axis=1)
    ax.bar(values, shares.mean(axis=0), color=COLOURS[0], alpha=0.85)
    if posterior.n_chains > 1 and len(values) <= _MOST_MARKED:
        for k, share in enumerate(shares):
            label = "_" if k else "each chain"  # one entry of the legend for all
            ax.hlines(share, values - 0.4, values + 0.4, "black", lw=1, alpha=0.45, label=label)
        ax.legend(fontsize="small", frameon=False)
    ax.set(xlabel="number of clusters", ylabel="posterior probability")
    ax.set_xlim(
        values[0] - max(0.6, 2 - len(values) / 2), values[-1] + max(0.6, 2 - len(values) / 2)
    )
    ax.set_ylim(0, None)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return ax
