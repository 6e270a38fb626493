"""Draws in the containers of ArviZ: InferenceData before its 1.0, DataTree from then on."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from mixwood.posterior.posterior import Posterior

__all__ = ["import_arviz", "to_arviz"]


def import_arviz() -> Any:
    """Return the module arviz, imported only now (it takes seconds) and in silence.

    ArviZ 0.23 announces its successor with a warning once a day, which is not for the
    users of mixwood.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("arviz")


def to_arviz(posterior: Posterior, *, log_likelihood: bool = False) -> Any:
    """Return the draws in ArviZ's container; see `Posterior.to_arviz`."""
    groups = {"posterior": _posterior_group(posterior), "sample_stats": _sample_stats(posterior)}
    if log_likelihood:
        groups["log_likelihood"] = _log_likelihood(posterior)
    # Looked up without getattr: the newer ArviZ warns when asked for names of the older.
    inference_data = vars(import_arviz()).get("InferenceData")
    if inference_data is not None:
        return inference_data(**groups)
    import xarray as xr

    return xr.DataTree.from_dict(groups)


def _dataset(posterior: Posterior, variables: dict[str, Any]) -> xr.Dataset:
    """Return arrays of axes (chain, draw) or (chain, draw, item) as an xarray data set."""
    import xarray as xr

    axes = ("chain", "draw", "item")
    coordinates: dict[str, Any] = {
        "chain": np.arange(posterior.n_chains),
        "draw": np.arange(posterior.n_draws),
    }
    if any(values.ndim == len(axes) for values in variables.values()):
        coordinates["item"] = np.arange(posterior.n_items)
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
    return _dataset(posterior, scalars | parameters | posterior.base_scalars())


def _sample_stats(posterior: Posterior) -> xr.Dataset:
    # The labels stand here, not among the parameters: `arviz.loo` averages the effective sample
    # sizes of all of those, and labels are names, not numbers.
    return _dataset(posterior, {"lp": posterior.log_joint, "labels": posterior.labels})


def _log_likelihood(posterior: Posterior) -> xr.Dataset:
    from mixwood.posterior.leave_one_out import log_ordinates

    return _dataset(posterior, {"X": log_ordinates(posterior)})
