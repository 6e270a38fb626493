"""Draws in the containers of ArviZ: InferenceData before its 1.0, DataTree from then on."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.memory import fits
from mixwood._support.numbers import memory
from mixwood._support.seeding import seed_sequence
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.posterior.predictive_mixture import (
    DistinctClusters,
    flat_bases,
    flat_labels,
    flat_latents,
)

if TYPE_CHECKING:
    import xarray as xr

    from mixwood._support.types import FloatArray
    from mixwood.posterior.posterior import Posterior

__all__ = ["import_arviz", "to_arviz"]

#: Each of at most this many columns is a variable; more are one, with a dimension of columns.
_MOST_VARIABLES = 40
#: How many draws per chain are replicated at most, and how many numbers in all of them.
_MOST_REPLICATES, _MOST_NUMBERS = 100, 2 * 10**7


def import_arviz() -> Any:
    """Return the module arviz, imported only now (it takes seconds) and in silence.

    ArviZ 0.23 announces its successor with a warning once a day, which is not for the
    users of mixwood.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("arviz")


def to_arviz(
    posterior: Posterior,
    *,
    log_likelihood: bool = False,
    posterior_predictive: bool = False,
    rows: Any = None,
    clusters: Any = None,
    seed: Any = 0,
) -> Any:
    """Return the draws in ArviZ's container; see `Posterior.to_arviz`."""
    items: dict[str, Any] = {"item": np.arange(posterior.n_items)}
    if rows is not None:
        items["item"] = _row_names(rows, posterior.n_items)
    if clusters is not None and clusters is not False:
        items["cluster"] = ("item", _cluster_names(posterior, clusters))
    if posterior.groups is not None and posterior.groups.ends is None:
        items["group"] = ("item", np.array(posterior.groups.names)[posterior.groups.codes])
    groups = {
        "posterior": _posterior_group(posterior),
        "sample_stats": _sample_stats(posterior, items),
    }
    if log_likelihood:
        groups["log_likelihood"] = _log_likelihood(posterior, items)
    if posterior_predictive:
        groups["posterior_predictive"] = _posterior_predictive(posterior, items, seed)
    observed = _observed(posterior, items)
    if observed is not None:
        groups["observed_data"] = observed
    # Looked up without getattr: the newer ArviZ warns when asked for names of the older.
    inference_data = vars(import_arviz()).get("InferenceData")
    if inference_data is not None:
        return inference_data(**groups)
    import xarray as xr

    return xr.DataTree.from_dict(groups)


def _row_names(rows: Any, n: int) -> Any:
    """Return the names of the rows: an index of pandas, or any sequence."""
    names = np.asarray(getattr(rows, "index", rows) if hasattr(rows, "columns") else rows)
    if names.shape != (n,):
        raise ValueError(f"rows must be {n:,} names, one per row of X, got {shown(rows)}")
    return names


def _cluster_names(posterior: Posterior, clusters: Any) -> Any:
    """Return the cluster of each row by name, or by number."""
    estimate = posterior.point_estimate()
    if clusters is True:
        return estimate
    K = int(estimate.max()) + 1
    names = [str(k) for k in range(K)]
    given = clusters.items() if isinstance(clusters, dict) else enumerate(clusters)
    for k, name in given:
        if k not in range(K):
            raise ValueError(
                f"clusters must be names of the {K:,} clusters of the estimate, all in order or "
                f"some by their numbers, got {shown(clusters)}"
            )
        names[k] = str(name)
    return np.array(names)[estimate]


def _dataset(
    posterior: Posterior,
    variables: dict[str, Any],
    items: dict[str, Any] | None = None,
    draws: Any = None,
) -> xr.Dataset:
    """Return arrays of axes (chain, draw) or (chain, draw, item) as an xarray data set."""
    import xarray as xr

    axes = ("chain", "draw", "item", "column")
    coordinates: dict[str, Any] = {
        "chain": np.arange(posterior.n_chains),
        "draw": np.arange(posterior.n_draws) if draws is None else draws,
    }
    deepest = max(values.ndim for values in variables.values())
    if deepest > 2:
        coordinates |= items or {}
    if deepest > 3:
        coordinates["column"] = [*posterior.column_names]
    return xr.Dataset(
        {name: (axes[: values.ndim], values) for name, values in variables.items()},
        coords=coordinates,
        attrs={"inference_library": "mixwood"},
    )


def _posterior_group(posterior: Posterior) -> xr.Dataset:
    parameters = {
        name: posterior.prior_parameter(name) for name in posterior.model.prior.parameters
    }
    scalars = {"n_clusters": posterior.n_clusters, "log_u": posterior.log_u}
    found = _dataset(posterior, scalars | parameters | posterior.base_scalars())
    if posterior.groups is None or posterior.group_values is None:
        return found
    J, axes = len(posterior.groups), ("chain", "draw", "group")
    found["group_log_u"] = axes, posterior.group_values[..., :J]
    if posterior.group_values.shape[-1] > J:
        found["group_gamma"] = axes, posterior.group_values[..., J:]
    return found.assign_coords(group=np.array(posterior.groups.names))


def _sample_stats(posterior: Posterior, items: dict[str, Any]) -> xr.Dataset:
    # The labels stand here, not among the parameters: `arviz.loo` averages the effective sample
    # sizes of all of those, and labels are names, not numbers.
    return _dataset(posterior, {"lp": posterior.log_joint, "labels": posterior.labels}, items)


def _log_likelihood(posterior: Posterior, items: dict[str, Any]) -> xr.Dataset:
    from mixwood.posterior.leave_one_out import log_ordinates

    needed = 8 * posterior.labels.size
    if not fits(2 * needed):  # ArviZ makes a copy
        raise MemoryError(
            f"the log likelihood of {posterior.n_items:,} items in {posterior.n_chains:,} x "
            f"{posterior.n_draws:,} draws takes {memory(needed)}, and ArviZ as much again: take "
            "fewer draws, post.thinned(100).to_arviz(log_likelihood=True)"
        )
    return _dataset(posterior, {"X": log_ordinates(posterior)}, items)


def _variables(names: Sequence[str], values: FloatArray) -> dict[str, FloatArray]:
    """Return columns, the last axis, as variables of their own if there are not too many."""
    if len(names) > _MOST_VARIABLES or len(set(names)) < len(names):
        return {"X": values}
    return {name: values[..., j] for j, name in enumerate(names)}


def _observed(posterior: Posterior, items: dict[str, Any]) -> xr.Dataset | None:
    """Return the data; nothing where these are not kept, or not as a table of numbers."""
    import xarray as xr

    X = posterior.X
    if not isinstance(X, np.ndarray):
        return None
    names = posterior.column_names
    variables = _variables(names, X)
    coordinates = dict(items)
    if "X" in variables and variables["X"].ndim == 2:
        coordinates["column"] = [*names]
    return xr.Dataset(
        {name: (("item", "column")[: values.ndim], values) for name, values in variables.items()},
        coords=coordinates,
        attrs={"inference_library": "mixwood"},
    )


def _posterior_predictive(posterior: Posterior, items: dict[str, Any], seed: Any) -> xr.Dataset:
    """Return replicates of the data, for some draws: each row drawn anew from its cluster."""
    X = posterior.data_for("posterior_predictive")
    if not isinstance(X, np.ndarray):
        kind = "weighted leaves" if isinstance(X, WeightedLeaves) else "sparse counts"
        raise ValueError(f"posterior_predictive needs a table of numbers, and the data are {kind}")
    size = posterior.n_chains * X.size
    each = min(max(_MOST_NUMBERS // size, 1), _MOST_REPLICATES, posterior.n_draws)
    kept = np.linspace(0, posterior.n_draws - 1, each).round().astype(np.int64)
    rng = np.random.default_rng(seed_sequence(seed))
    family = posterior.family_for("posterior_predictive")
    values = np.empty((posterior.n_chains, each, *X.shape))
    labels = flat_labels(posterior)
    for chain, place in np.ndindex(values.shape[:2]):
        at = np.array([chain * posterior.n_draws + kept[place]])
        clusters = DistinctClusters.apart(
            labels[at].astype(np.int32), posterior.item_sizes, flat_latents(posterior, at)
        )
        statistics = clusters.statistics_of(family, np.arange(len(clusters)))
        base = flat_bases(posterior, at)
        own = None if base is None else np.repeat(base, len(statistics), axis=0)
        parameters = posterior.resolved.draw_parameters(statistics, rng, own)
        own_labels = labels[at[0]].astype(np.int64)
        values[chain, place] = posterior.resolved.draw_rows(parameters, own_labels, rng, like=X)
    return _dataset(posterior, _variables(posterior.column_names, values), items, kept)
