"""How a quantity moved, chain by chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood.plots.style import axes_or_new, colour, legend_above, plain_ticks, quiet_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.grouped_draws import GroupedDraws

__all__ = ["plot_trace"]

#: The most chains that a legend names.
_MOST_NAMED = 8

_TITLES = {
    "n_clusters": "number of clusters",
    "log_joint": "log joint",
    "log_u": "log u",
    "log_alpha": "log alpha",
    "width": "share of variance\nwithin clusters",
}


def plot_trace(posterior: GroupedDraws, name: str = "log_joint", ax: Axes | None = None) -> Axes:
    """Draw one line per chain; see `Posterior.plot_trace`."""
    from matplotlib.ticker import MaxNLocator

    values = _values(posterior, name)
    ax = axes_or_new(ax, (7, 3))
    chains = posterior.n_chains
    for k, line in enumerate(values):
        ax.plot(
            np.arange(1, len(line) + 1),
            line,
            color=colour(k),
            marker="." if len(line) == 1 else "",
            linewidth=0.8,
            alpha=0.9 if chains <= 4 else 0.6,
            label=f"chain {k}",
        )
    ax.set_xlabel("draw")
    ax.set_ylabel(_TITLES.get(name, name), parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if values.dtype.kind == "i":
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    plain_ticks(ax.xaxis, ax.yaxis)
    quiet_frame(ax)
    if 1 < chains <= _MOST_NAMED:
        legend_above(ax)
    return ax


def _values(posterior: GroupedDraws, name: Any) -> Any:
    random = posterior.model.prior.random_parameters
    learned = posterior.base_scalars()
    known = ["n_clusters", "log_joint", "log_u", *random, *learned]
    known += ["log_alpha"] if "alpha" in random else []
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {shown(name)}")
    if name in learned:
        return learned[name]
    return posterior.prior_parameter(name) if name in random else getattr(posterior, name)
