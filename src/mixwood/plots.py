"""Pictures of a posterior. Nothing is shown by itself: functions return matplotlib objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mixwood.families.base import FloatArray
    from mixwood.posterior import Posterior

__all__ = ["best_draw", "overview"]

#: Okabe and Ito's colours, told apart by colour-blind eyes; markers tell more clusters apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#999999")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")


def best_draw(posterior: Posterior) -> tuple[int, int]:
    """Return chain and draw of the highest log joint seen."""
    chain, draw = np.unravel_index(np.argmax(posterior.log_joint), posterior.log_joint.shape)
    return int(chain), int(draw)


def overview(posterior: Posterior) -> Figure:
    """Return one figure: the data by cluster, how many clusters, and the chains' joints.

    The clusters are those of the draw with the highest joint; data of more than two
    columns are shown by their first two principal components.

    Parameters
    ----------
    posterior : Posterior
        Of dense numeric data.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.5), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    _draw_partition(figure.add_subplot(grid[:, 0]), posterior)
    _draw_cluster_counts(figure.add_subplot(grid[0, 1]), posterior)
    _draw_joints(figure.add_subplot(grid[1, 1]), posterior)
    return figure


def _plane(X: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    """Return two coordinates for each row, and their names."""
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.zeros(len(X))]), ("column 0", "")
    if X.shape[1] == 2:
        return X, ("column 0", "column 1")
    centred = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return centred @ axes[:2].T, ("first component", "second component")


def _draw_partition(axes: Axes, posterior: Posterior) -> None:
    X = np.asarray(posterior.data_for("the picture"))
    labels = posterior.labels[best_draw(posterior)]
    points, (across, up) = _plane(X)
    for k in range(labels.max() + 1):
        members = labels == k
        axes.scatter(
            points[members, 0],
            points[members, 1],
            s=14,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[(k // len(COLOURS)) % len(MARKERS)],
            linewidths=0,
            alpha=0.8,
        )
    axes.set(
        xlabel=across,
        ylabel=up,
        title=f"{len(X):,} items in {labels.max() + 1} clusters: the draw of highest joint",
    )


def _draw_cluster_counts(axes: Axes, posterior: Posterior) -> None:
    from matplotlib.ticker import MaxNLocator

    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    axes.bar(values, counts / counts.sum(), color=COLOURS[0])
    axes.set(xlabel="number of clusters", ylabel="probability", title="How many clusters")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_joints(axes: Axes, posterior: Posterior) -> None:
    for chain, joint in enumerate(posterior.log_joint):
        axes.plot(joint, color=COLOURS[chain % len(COLOURS)], linewidth=0.8, label=f"chain {chain}")
    axes.set(xlabel="draw", ylabel="log joint", title="The chains")
    if posterior.n_chains <= len(COLOURS):
        axes.legend(fontsize="small", ncols=2)
