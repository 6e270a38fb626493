"""The tree of the posterior's model, coloured by its clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
    """Draw a tree that `mixwood.ibhc` grows; see `Posterior.plot_dendrogram`."""
    from mixwood.trees.build import ibhc

    X = posterior.data_for("plot_dendrogram")
    model = replace(posterior.model, likelihood=posterior.resolved)
    tree = ibhc(model, X, seed=seed)
    labels = posterior.point_estimate(loss, min_size, seed)
    return tree.plot(ax=ax, labels=labels, leaves=leaves)
