"""Prediction of a target from the other columns of new rows, under `mixwood.Regression`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from mixwood._support.checks import probability
from mixwood.input.matrices import column_names, real_matrix
from mixwood.posterior.prediction import checked_rows, family_of_rows, weights_of_rows

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.likelihoods.base import TargetTerms
    from mixwood.posterior.draws import Draws
    from mixwood.posterior.predictive_mixture import PredictiveMixture

__all__ = ["TargetPrediction", "predict_target"]

#: How many draws, of all chains together, a prediction is made of.
_DRAWS = 200
#: Components of a row that weigh less than this, all together, are left out of quantiles.
_NEGLIGIBLE = 1e-7
#: A quantile is good to this share of the narrowest component's scale, after at most so many steps.
_CLOSE, _STEPS = 1e-5, 60
#: How many numbers, rows by components, are held at a time.
_NUMBERS_AT_ONCE = 2**20


class TargetPrediction(NamedTuple):
    """What is predicted of the target of m rows; arrays of shape (m,).

    Attributes
    ----------
    mean : array
        The expectation.
    lower, upper : array
        The ends of the central interval.
    new : array
        How probable it is that the row belongs to a cluster of its own.
    """

    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    new: FloatArray

    def __repr__(self) -> str:
        return f"<mixwood.TargetPrediction: mean, lower, upper, new; each {self.mean.shape}>"


def predict_target(draws: Draws, X: Any, *, level: float, groups: Any = None) -> TargetPrediction:
    """Predict the target of new rows; see `Posterior.predict_target`."""
    tail = (1 - probability(level, "level")) / 2
    likelihood = draws.resolved
    if likelihood.target_column is None:
        raise TypeError(
            f"predict_target needs a likelihood with one target, such as mw.Regression, and this "
            f"is {type(likelihood).__name__}"
        )
    data = _without_target(draws, X)
    few = draws.thinned(max(_DRAWS // draws.n_chains, 1))
    mixture, codes = weights_of_rows(few, groups, len(data))
    weights, terms = _components(few, mixture, codes, data)
    weights /= weights.sum(axis=1, keepdims=True)
    return TargetPrediction(
        (weights * terms.location).sum(axis=1),
        _quantile(weights, terms, tail),
        _quantile(weights, terms, 1 - tail),
        weights[:, _is_new(few, mixture)].sum(axis=1),
    )


def _without_target(draws: Draws, X: Any) -> FloatArray:
    """Return checked rows whose targets are missing, whether they are in `X` or not."""
    place, width = draws.resolved.target_column, draws.data_for("predict_target").shape[1]
    assert place is not None
    names = column_names(X)
    if names is not None and draws.columns is not None:
        target = draws.columns[place]
        if target not in names:
            X = _with_column(X, target)
    elif names is None:
        matrix = real_matrix(X, missing=True)
        X = np.insert(matrix, place, np.nan, axis=1) if matrix.shape[1] == width - 1 else matrix
    data: Any = np.array(checked_rows(draws, X))
    data[:, place] = np.nan
    return np.asarray(data)


def _with_column(table: Any, name: str) -> Any:
    """Return a pandas or polars table with one more column, in which everything is missing."""
    if hasattr(table, "assign"):
        return table.assign(**{name: np.nan})
    polars = importlib.import_module("polars")
    return table.with_columns(polars.lit(float("nan")).alias(name))


def _components(
    draws: Draws, mixture: PredictiveMixture, codes: IntArray | None, data: Data
) -> tuple[FloatArray, TargetTerms]:
    """Return the weights of all clusters, and of new ones, for each row, and what they predict.

    Without a target, what is known of a row are the columns of other parts: their density is in
    the weights.
    """
    family, new_family = draws.family_for("predict_target"), family_of_rows(draws, data)
    log_weights, terms = [], []
    for portion in mixture.portions(family):
        here = new_family if portion.base is None else new_family.at(portion.base)
        statistics = portion.statistics
        of_old, of_new = portion.log_weights(codes)
        table = here.log_predictive_table(statistics, 0, len(data)) + of_old
        if np.any(portion.new > 0):
            table = np.column_stack([table, here.log_alone() + of_new])
            statistics = np.vstack([statistics, np.zeros(statistics.shape[1])])
        log_weights.append(table)
        terms.append(draws.resolved.target_terms(statistics, portion.base, data))
    logs = np.concatenate(log_weights, axis=1)
    joined = type(terms[0])(
        np.concatenate([one.degrees for one in terms]),
        np.concatenate([one.location for one in terms], axis=1),
        np.concatenate([one.scale for one in terms], axis=1),
    )
    return np.exp(logs - logs.max(axis=1, keepdims=True)), joined


def _is_new(draws: Draws, mixture: PredictiveMixture) -> FloatArray:
    """Return which of the components are new clusters: the last of each portion's that has one."""
    family = draws.family_for("predict_target")
    marks = [
        np.append(
            np.zeros(len(portion.statistics), dtype=bool), [True] * bool(np.any(portion.new > 0))
        )
        for portion in mixture.portions(family)
    ]
    return np.concatenate(marks).astype(bool)


def _quantile(weights: FloatArray, terms: TargetTerms, p: float) -> FloatArray:
    """Return a quantile of each row's mixture of t distributions, by Newton's method.

    It lies between the lowest and the highest of the components' own; a step that leaves what it is
    known to lie between is replaced by halving that.
    """
    step = max(_NUMBERS_AT_ONCE // weights.shape[1], 1)
    found = [
        _quantiles_of(weights[rows], terms, rows, p)
        for rows in (slice(k, k + step) for k in range(0, len(weights), step))
    ]
    return np.concatenate(found)


def _quantiles_of(weights: FloatArray, terms: TargetTerms, rows: slice, p: float) -> FloatArray:
    kept = weights.max(axis=0) > _NEGLIGIBLE / weights.shape[1]
    weights, degrees = weights[:, kept], terms.degrees[kept]
    location, scale = terms.location[rows][:, kept], terms.scale[rows][:, kept]
    own = location + scale * stdtrit(degrees, p)
    heavy = weights > _NEGLIGIBLE / weights.shape[1]
    low = np.where(heavy, own, np.inf).min(axis=1)
    high = np.where(heavy, own, -np.inf).max(axis=1)
    log_peak = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - np.log(np.pi * degrees) / 2
    close = _CLOSE * scale.min(axis=1)
    at = np.clip((weights * own).sum(axis=1), low, high)
    left = np.arange(len(at))  # the rows whose quantile is not known yet
    for _ in range(_STEPS):
        z = (at[left, None] - location[left]) / scale[left]
        below = (weights[left] * stdtr(degrees, z)).sum(axis=1) - p
        peaks = np.exp(log_peak - (degrees + 1) / 2 * np.log1p(z * z / degrees)) / scale[left]
        low[left] = np.where(below < 0, at[left], low[left])
        high[left] = np.where(below < 0, high[left], at[left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            there = at[left] - below / (weights[left] * peaks).sum(axis=1)
        within = (there > low[left]) & (there < high[left])
        there = np.where(within, there, (low[left] + high[left]) / 2)
        moved = np.minimum(np.abs(there - at[left]), high[left] - low[left])
        at[left] = there
        left = left[moved > close[left]]
        if len(left) == 0:
            break
    return np.asarray(at)
