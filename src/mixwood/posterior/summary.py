"""Tables and point estimates from draws."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood.posterior.posterior import Posterior

__all__ = ["diagnostics", "summary"]

#: What the draws were given to keep or to count, in a line each: attributes of the table.
TOLD = ("weights", "known", "groups")

COLUMNS = ("mean", "sd", "q5", "q95", "ess_bulk", "ess_tail", "r_hat")

#: Below this many draws per chain, ArviZ has no diagnostics.
_FEWEST_DRAWS = 4


def summary(posterior: Posterior) -> Any:
    """Return a pandas table with one row for each scalar quantity; see `Posterior.summary`."""
    pandas = importlib.import_module("pandas")  # only now: heavy; and it has no types to check
    scalars = {name: getattr(posterior, name) for name in ("n_clusters", "log_joint", "log_u")}
    for name in posterior.model.prior.random_parameters:
        scalars[name] = posterior.prior_parameter(name)
    scalars |= posterior.base_scalars()
    rows = {name: _row(np.asarray(values, np.float64)) for name, values in scalars.items()}
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS))
    told: dict[str, Any] = dict(posterior.settings)
    table.attrs |= {key: told[key] for key in TOLD if key in told}
    return table


def _row(draws: NDArray[np.float64]) -> list[float]:
    """Return the entries of one row of the table, in the order of `COLUMNS`."""
    with np.errstate(invalid="ignore"):  # an infinite draw has no finite mean or deviation
        deviation = float(draws.std(ddof=1)) if draws.size > 1 else float("nan")
        low, high = np.quantile(draws, [0.05, 0.95])
        mean = float(draws.mean())
    return [mean, deviation, float(low), float(high), *diagnostics(draws)]


def diagnostics(draws: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return effective sample sizes, bulk and tail, and R-hat; NaN if nothing varies.

    ArviZ logs a warning where a diagnostic is undefined, so it is not asked there.
    """
    chains, length = draws.shape
    undefined = float("nan")
    constant = np.all(draws == draws.flat[0])
    if constant or length < _FEWEST_DRAWS or not np.all(np.isfinite(draws)):
        return undefined, undefined, undefined
    from mixwood.posterior.arviz import import_arviz

    arviz = import_arviz()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # A chain that stands still has variance 0: R-hat is then infinite, which is right.
        warnings.simplefilter("ignore", RuntimeWarning)
        bulk = float(arviz.ess(draws, method="bulk"))
        # Said in full: the newer ArviZ has no default for prob.
        tail = float(arviz.ess(draws, method="tail", prob=(0.05, 0.95)))
        r_hat = float(arviz.rhat(draws)) if chains > 1 else undefined
    return bulk, tail, r_hat
