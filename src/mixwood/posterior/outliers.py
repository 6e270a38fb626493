"""`Posterior.outliers`: the rows that are far out in their clusters, by their scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.likelihoods.weighted_leaves import WeightedLeaves

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["outliers", "row_scales"]


def row_scales(draws: Draws) -> FloatArray:
    """Return the drawn scales of rows, (chain, draw, n), or raise where there are none."""
    X = draws.data_for("outliers")
    scales = None
    if draws.latents is not None and not isinstance(X, WeightedLeaves):
        scales = draws.resolved.row_scales(X, draws.latents)
    if scales is None:
        raise ValueError(
            "this posterior has no scales of rows: its likelihood, "
            f"{type(draws.resolved).__name__}, takes all rows of a cluster to be alike; "
            "mw.StudentT() draws a scale for each"
        )
    return scales


def outliers(draws: Draws, estimate: IntArray, table: Any, most: int | None) -> Any:
    """Return rows, the farthest out first; see `Posterior.outliers`."""
    import pandas

    scales = row_scales(draws).reshape(-1, draws.n_items)
    mean = scales.mean(axis=0)
    order = np.argsort(mean, kind="stable")[:most]
    low, high = np.quantile(scales[:, order], [0.05, 0.95], axis=0)
    ours = {"cluster": estimate[order], "scale": mean[order], "q5": low, "q95": high}
    given = table.iloc[order]
    given = given.set_axis(
        [f"{name} (table)" if name in ours else name for name in given.columns], axis=1
    )
    return pandas.concat([given, pandas.DataFrame(ours, index=given.index)], axis=1)
