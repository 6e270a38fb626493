"""The tree of the posterior's model, coloured by its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.posterior.tree import tree_of_items

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_dendrogram"]


def plot_dendrogram(
    posterior: GroupedDraws,
    loss: str = "vi",
    min_size: int = 1,
    seed: Any = 0,
    ax: Axes | None = None,
    leaves: int = 60,
) -> Axes:
    """Draw a tree of the items; see `Posterior.plot_dendrogram`."""
    tree = tree_of_items(posterior, np.arange(posterior.n_items), "plot_dendrogram", seed)
    labels = posterior.point_estimate(loss, min_size, seed)
    return tree.plot(ax=ax, labels=labels, leaves=leaves)
