"""Prediction: the density of new rows, and the clusters that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.chains import bind_family
from mixwood.cluster_weights import (
    DistinctClusters,
    DrawWeights,
    clusters_at_once,
    flat_labels,
    mixture_weights,
)
from mixwood.draws import Draws
from mixwood.parallel import cpus

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood.families.base import Data, FloatArray, IntArray

__all__ = ["cluster_probabilities", "log_density", "log_density_per_draw"]

#: How many new rows are compared with clusters at once: bounds the memory of a thread.
_ROWS_AT_ONCE = 1024


def log_density(draws: Draws, X: Any) -> FloatArray:
    """Return ``log p(x | X)`` of each new row; see `Posterior.log_density`."""
    data, family, new_family = _bound(draws, X)
    mixture = mixture_weights(draws)
    sums = _RowSums(new_family, mixture.new, columns=1)
    for part, statistics in mixture.clusters.statistics(family):
        sums.add(statistics, mixture.old[part], np.ones((len(statistics), 1)))
    return np.asarray(sums.log_totals() + draws.resolved.row_constants(data))


def cluster_probabilities(draws: Draws, X: Any, estimate: IntArray) -> FloatArray:
    """Return the probability of each cluster of `estimate`, and of a new one, for new rows.

    Parameters
    ----------
    draws : Draws
        With their data.
    X : array of shape (m, d)
        New rows.
    estimate : int array of shape (n,)
        Labels of the items from 0 to K-1.

    Returns
    -------
    array of shape (m, K + 1)
        The new cluster comes last; rows sum to 1. `Posterior.predict_proba` has the formula.
    """
    _, family, new_family = _bound(draws, X)
    mixture = mixture_weights(draws)
    sums = _RowSums(new_family, mixture.new, columns=int(estimate.max()) + 1)
    for part, statistics in mixture.clusters.statistics(family):
        shares = mixture.clusters.shares(estimate, part)
        sums.add(statistics, mixture.old[part], shares)
    return sums.proportions()


def log_density_per_draw(draws: Draws, X: Any) -> FloatArray:
    """Return each draw's part of `log_density`, shape (chain, draw, m)."""
    data, family, new_family = _bound(draws, X)
    weights, labels = DrawWeights.of(draws), flat_labels(draws)
    log_new = weights.log_new[:, None] + new_family.log_alone()
    values = np.empty(log_new.shape)
    at_once = max(clusters_at_once(family) // int(draws.n_clusters.max()), 1)
    for start in range(0, len(labels), at_once):
        clusters = DistinctClusters.of(labels[start : start + at_once])
        log_old = weights.log_old(start + clusters.draw_of_id, clusters.sizes[clusters.ids])
        statistics = clusters.statistics_of(family, np.arange(len(clusters)))
        _fill_old(values[start : start + at_once], new_family, statistics, clusters, log_old)
    np.logaddexp(values, log_new, out=values)
    values += draws.resolved.row_constants(data) - weights.log_normalizer
    return values.reshape(*draws.labels.shape[:2], -1)


def _fill_old(
    values: FloatArray,
    new_family: _core.Family,
    statistics: FloatArray,
    clusters: DistinctClusters,
    log_old: FloatArray,
) -> None:
    """Fill in, for each draw and new row, the log of the sum over the draw's own clusters."""

    def fill(rows: slice) -> None:
        table = new_family.log_predictive_table(statistics, rows.start, rows.stop)
        for k, (start, stop) in enumerate(pairwise(clusters.starts)):
            terms = table[:, clusters.ids[start:stop]] + log_old[start:stop]
            peak = terms.max(axis=1)
            values[k, rows] = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))

    _over_rows(new_family.n_rows, fill)


class _RowSums:
    """For each new row, sums of cluster weights times ``P(x | X_c)``, spread over columns.

    Kept as multiples of ``exp(peak)``, the largest term so far, so that nothing underflows.
    """

    def __init__(self, new_family: _core.Family, new: float, columns: int) -> None:
        self._family = new_family
        with np.errstate(divide="ignore"):
            self._peak = np.log(new) + new_family.log_alone()
        self._sums = np.zeros((new_family.n_rows, columns + 1))
        self._sums[:, -1] = 1.0  # the new cluster's

    def add(self, statistics: FloatArray, weights: FloatArray, shares: FloatArray) -> None:
        """Add clusters, given by statistics; `shares` has a row for each: how it is spread."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)

        def add_rows(rows: slice) -> None:
            table = self._family.log_predictive_table(statistics, rows.start, rows.stop)
            table += log_weights
            peak = np.maximum(self._peak[rows], table.max(axis=1))
            table -= peak[:, None]
            self._sums[rows] *= np.exp(self._peak[rows] - peak)[:, None]
            self._sums[rows, :-1] += np.exp(table, out=table) @ shares
            self._peak[rows] = peak

        _over_rows(self._family.n_rows, add_rows)

    def log_totals(self) -> FloatArray:
        """Return the log of the sum of all columns."""
        return np.asarray(self._peak + np.log(self._sums.sum(axis=1)))

    def proportions(self) -> FloatArray:
        """Return the columns divided by their sum, the new cluster's last."""
        return np.asarray(self._sums / self._sums.sum(axis=1, keepdims=True))


def _bound(draws: Draws, X: Any) -> tuple[Data, _core.Family, _core.Family]:
    """Return the new rows, checked, and the compiled family over the items and over them."""
    items = draws.data_for("prediction")
    model = replace(draws.model, likelihood=draws.resolved)
    new = draws.resolved.check(X, width=items.shape[1])
    return new, draws.resolved.bind(items), bind_family(model, new)


def _over_rows(count: int, work: Callable[[slice], None]) -> None:
    """Do the work for all rows, a fixed portion at a time: the threads do not change results."""
    portions = [
        slice(start, min(start + _ROWS_AT_ONCE, count)) for start in range(0, count, _ROWS_AT_ONCE)
    ]
    if len(portions) == 1:
        return work(portions[0])
    with ThreadPoolExecutor(min(cpus(), len(portions))) as pool:
        for done in [pool.submit(work, rows) for rows in portions]:
            done.result()
    return None
