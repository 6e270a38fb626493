"""Prediction: the density of new rows, and the clusters that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood._support.threads import in_threads
from mixwood.core import bind_family
from mixwood.input.groups import group_codes
from mixwood.input.matrices import stacked
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items
from mixwood.posterior.draws import Draws
from mixwood.posterior.noisy_rows import NoisyRows
from mixwood.posterior.predictive_mixture import (
    DistinctClusters,
    Portion,
    PredictiveMixture,
    clusters_at_once,
    draw_weights,
    flat_bases,
    flat_labels,
    flat_latents,
)

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray

__all__ = [
    "checked_rows",
    "cluster_probabilities",
    "family_of_rows",
    "log_density",
    "log_density_per_draw",
    "nearest_clusters",
    "sample_predictive",
    "weights_of_rows",
]

#: How many learned base measures, of all chains together, decide which cluster fits an item.
_BASES = 100
#: How many new rows are compared with clusters at once: bounds the memory of a thread.
_ROWS_AT_ONCE = 1024


def log_density(draws: Draws, X: Any, groups: Any = None, errors: Any = None) -> FloatArray:
    """Return ``log p(x | X)`` of each new row; see `Posterior.log_density`."""
    data = checked_rows(draws, X)
    family = draws.family_for("prediction")
    mixture, codes = weights_of_rows(draws, groups, data.shape[0])
    sums = _RowSums(_new_rows(draws, data, errors), columns=1, codes=codes)
    for portion in mixture.portions(family):
        sums.add(portion, np.ones((len(portion.statistics), 1)))
    return np.asarray(sums.log_totals() + draws.resolved.row_constants(data))


def weights_of_rows(draws: Draws, groups: Any, n: int) -> tuple[PredictiveMixture, IntArray | None]:
    """Return the mixture with the weights that new rows have, and which of its groups these are."""
    if groups is None:
        return draws.mixture, None
    if draws.groups is None:
        raise ValueError("groups must be None: the posterior has no groups")
    wanted, codes = np.unique(group_codes(groups, n, draws.groups), return_inverse=True)
    return draws.group_mixture.of(wanted), codes


def cluster_probabilities(
    draws: Draws,
    X: Any,
    estimate: IntArray,
    *,
    new: bool = False,
    groups: Any = None,
    errors: Any = None,
) -> FloatArray:
    """Return the probability of each cluster of an estimate; see `Posterior.predict_proba`.

    Parameters
    ----------
    draws : Draws
        With their data.
    X : array of shape (m, d)
        New rows.
    estimate : int array of shape (n,)
        Labels of the items from 0 to K-1.
    new : bool
        Whether a new cluster is possible; it then comes last.
    groups : array of shape (m,), optional
        The groups of the new rows.
    errors : array, optional
        Their errors.
    """
    data = checked_rows(draws, X)
    family = draws.family_for("prediction")
    K = int(estimate.max()) + 1
    mixture, codes = weights_of_rows(draws, groups, data.shape[0])
    sums = _RowSums(_new_rows(draws, data, errors), columns=K, codes=codes)
    for portion in mixture.portions(family):
        shares = mixture.clusters.shares(estimate, portion.chosen)
        sums.add(portion if new else replace(portion, new=0 * portion.new), shares)
    proportions = sums.proportions()
    return proportions if new else proportions[:, :-1]


def nearest_clusters(draws: Draws, clusters: IntArray, items: IntArray) -> IntArray:
    """Return the cluster that each of some items, which are in none, fits best.

    Parameters
    ----------
    draws : Draws
        With their data.
    clusters : int array of shape (n,)
        Labels 0 to K-1, or -1 for items in no cluster.
    items : int array of shape (m,)
        Some of the latter.

    Returns
    -------
    int64 array of shape (m,)
        Where ``|k| P(x | X_k)`` is highest, on average over the draws' base measures.
    """
    X, model = draws.data_for("prediction"), replace(draws.model, likelihood=draws.resolved)
    statistics = draws.family_for("prediction").cluster_statistics(clusters.astype(np.int32))
    inside = clusters >= 0
    log_sizes = np.log(np.bincount(clusters[inside], draws.item_sizes[inside]))
    model = replace(model, likelihood=model.likelihood.for_new_rows())
    family = bind_family(model, chosen_items(X, items))
    bases = flat_bases(draws.thinned(max(_BASES // draws.n_chains, 1)))
    total = np.full((len(items), len(log_sizes)), -np.inf)
    for base in [None] if bases is None else bases:
        here = family if base is None else family.at(base)
        np.logaddexp(total, here.log_predictive_table(statistics, 0, len(items)), out=total)
    return np.asarray((total + log_sizes).argmax(axis=1), dtype=np.int64)


def sample_predictive(draws: Draws, size: int, seed: Any) -> Data:
    """Draw new rows; see `Posterior.sample_predictive`."""
    size = whole_number(size, "size", at_least=1)
    rng = np.random.default_rng(seed_sequence(seed))
    X = draws.data_for("sample_predictive")
    family = draws.family_for("sample_predictive")
    like = None if isinstance(X, WeightedLeaves) else X
    mixture = draws.mixture
    weights = np.concatenate([mixture.old, mixture.new])
    picked = rng.choice(len(weights), size=size, p=weights / weights.sum())
    rows = []
    step = max(2**20 // max(family.statistic_size, X.shape[1] ** 2), 1)
    for start in range(0, size, step):
        distinct, place = np.unique(picked[start : start + step], return_inverse=True)
        statistics = np.zeros((len(distinct), family.statistic_size))  # of no rows: a new cluster
        old = distinct < len(mixture.old)
        statistics[old] = mixture.clusters.statistics_of(family, distinct[old])
        base = None if mixture.bases is None else mixture.bases[mixture.draw_of_cluster(distinct)]
        parameters = draws.resolved.draw_parameters(
            statistics[place], rng, None if base is None else base[place]
        )
        own = like
        if like is not None and draws.resolved.given_columns(like.shape[1]):
            own = like[rng.integers(like.shape[0], size=len(place))]
        rows.append(draws.resolved.draw_rows(parameters, np.arange(len(place)), rng, like=own))
    return stacked(rows)


def log_density_per_draw(draws: Draws, X: Any) -> FloatArray:
    """Return each draw's part of `log_density`, shape (chain, draw, m)."""
    if draws.groups is not None:
        raise ValueError("per_draw must be False where rows come in groups")
    data, family = checked_rows(draws, X), draws.family_for("prediction")
    new_family = family_of_rows(draws, data)
    weights, labels = draw_weights(draws), flat_labels(draws)
    bases = flat_bases(draws)
    values = np.empty((len(labels), new_family.n_rows))
    # Under one base measure many draws can be looked at together.
    at_once = (
        max(clusters_at_once(family) // int(draws.n_clusters.max()), 1) if bases is None else 1
    )
    for start in range(0, len(labels), at_once):
        if bases is not None:
            new_family = new_family.at(bases[start])
        some = slice(start, start + at_once)
        clusters = DistinctClusters.among(labels[some], draws.item_sizes, flat_latents(draws, some))
        log_old = weights.log_old(start + clusters.draw_of_id, clusters.sizes[clusters.ids])
        statistics = clusters.statistics_of(family, np.arange(len(clusters)))
        here = values[start : start + at_once]
        _fill_old(here, new_family, statistics, clusters, log_old)
        log_new = weights.log_new[start : start + at_once, None] + new_family.log_alone()
        np.logaddexp(here, log_new, out=here)
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

    Kept as multiples of ``exp(peak)``, the largest term so far, so that nothing underflows. `codes`
    tell which of the mixture's groups each row is in.
    """

    def __init__(
        self, new_family: _core.Family | NoisyRows, columns: int, codes: IntArray | None = None
    ) -> None:
        self._family, self._codes = new_family, codes
        self._peak = np.full(new_family.n_rows, -np.inf)
        self._sums = np.zeros((new_family.n_rows, columns + 1))  # the new cluster's last

    def add(self, portion: Portion, shares: FloatArray) -> None:
        """Add clusters; `shares` has a row for each: how it is spread."""
        family = self._family if portion.base is None else self._family.at(portion.base)
        alone = family.log_alone()

        def add_rows(rows: slice) -> None:
            codes = None if self._codes is None else self._codes[rows]
            log_weights, log_new = portion.log_weights(codes)
            log_new = log_new + alone[rows]
            table = family.log_predictive_table(portion.statistics, rows.start, rows.stop)
            table += log_weights
            peak = np.maximum(np.maximum(self._peak[rows], table.max(axis=1)), log_new)
            unit = np.where(peak == -np.inf, 0.0, peak)  # all weights so far may have underflowed
            table -= unit[:, None]
            self._sums[rows] *= np.exp(self._peak[rows] - unit)[:, None]
            self._sums[rows, :-1] += np.exp(table, out=table) @ shares
            self._sums[rows, -1] += np.exp(log_new - unit)
            self._peak[rows] = peak

        _over_rows(self._family.n_rows, add_rows)

    def log_totals(self) -> FloatArray:
        """Return the log of the sum of all columns."""
        return np.asarray(self._peak + np.log(self._sums.sum(axis=1)))

    def proportions(self) -> FloatArray:
        """Return the columns divided by their sum, the new cluster's last."""
        return np.asarray(self._sums / self._sums.sum(axis=1, keepdims=True))


def checked_rows(draws: Draws, X: Any) -> Data:
    """Return the new rows, checked."""
    items = draws.data_for("prediction")
    likelihood = draws.resolved.for_new_rows()
    return likelihood.check(_own_columns(draws, X), width=items.shape[1])


def family_of_rows(draws: Draws, rows: Data) -> _core.Family:
    """Return the compiled family over new rows."""
    return bind_family(replace(draws.model, likelihood=draws.resolved.for_new_rows()), rows)


def _new_rows(draws: Draws, data: Data, errors: Any) -> _core.Family | NoisyRows:
    """Return the same over rows that may have errors."""
    if errors is None:
        return family_of_rows(draws, data)
    likelihood = draws.resolved.with_errors(errors, data.shape[0])
    likelihood.check(data)  # nothing may be missing beside an error
    rest = likelihood.without_errors(data)
    return NoisyRows(likelihood, data, None if rest is None else family_of_rows(draws, rest))


def _own_columns(draws: Draws, X: Any) -> Any:
    """Return the columns of a table that the data have, by name; others may stand beside them."""
    names = None if draws.resolved.reads_tables else draws.resolved.names_in(X)
    if draws.columns is None or names is None or names == draws.columns:
        return X
    lacking = [name for name in draws.columns if name not in names]
    others = [name for name in names if name not in draws.columns]
    twice = [name for name in draws.columns if names.count(name) > 1]
    told = [
        f"{shown(some)} {what}" for some, what in ((lacking, "missing"), (twice, "twice")) if some
    ]
    if told:
        beside = f"; it also has {shown(others)}" if others else ""
        raise ValueError(
            f"X must have the columns {shown(list(draws.columns))} of the data, each once; "
            f"{' and '.join(told)}{beside}"
        )
    return X[list(draws.columns)]


def _over_rows(count: int, work: Callable[[slice], None]) -> None:
    """Do the work for all rows, a fixed portion at a time: the threads do not change results."""
    portions = [
        slice(start, min(start + _ROWS_AT_ONCE, count)) for start in range(0, count, _ROWS_AT_ONCE)
    ]
    if len(portions) == 1:
        work(portions[0])
    else:
        in_threads(work, portions)
