"""One figure for a first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixwood.plots.clusters import plot_clusters
from mixwood.plots.n_clusters import plot_n_clusters
from mixwood.plots.trace import plot_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mixwood.posterior.posterior import Posterior

__all__ = ["overview"]


def overview(posterior: Posterior, loss: str = "vi", min_size: int = 1, seed: Any = 0) -> Figure:
    """Return one figure: the data by cluster, how many clusters, and the chains' joints.

    Parameters
    ----------
    posterior : Posterior
        With its data.
    loss, min_size, seed
        Which point estimate the clusters are, as `Posterior.point_estimate` takes them.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.5), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    plot_clusters(posterior, loss, min_size, seed, ax=figure.add_subplot(grid[:, 0]))
    plot_n_clusters(posterior, ax=figure.add_subplot(grid[0, 1]))
    plot_trace(posterior, ax=figure.add_subplot(grid[1, 1]))
    return figure
