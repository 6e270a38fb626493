"""The density of each row with a known error given all others, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from mixwood.posterior.predictive_mixture import (
    DistinctClusters,
    flat_bases,
    flat_labels,
    flat_latents,
)
from mixwood.priors import PriorValues

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["noisy_ordinates"]


def noisy_ordinates(draws: Draws, errors: FloatArray) -> FloatArray:
    """Return ``log p(x_i | all else)`` of every draw and row, shape (chain, draw, n).

    As `mixwood.posterior.leave_one_out`, with positions for rows, and with a mean and a covariance
    of each cluster drawn given its positions: they are part of the state, too, so that the position
    of row i is all that has to be integrated out, which has a closed form::

        sum_c weight_c N(x_i; mean_c, Sigma_c + E_i) + weight_new P(x_i)

    Draws of parameters have seen row i, but so have those of the partition; importance sampling by
    the inverse, as in PSIS-LOO, takes that into account. `errors` are covariances (n, d, d).
    """
    X = draws.data_for("the log likelihood of each item")
    assert isinstance(X, np.ndarray)
    likelihood, family = draws.resolved, draws.family_for("the log likelihood of each item")
    values = np.empty((draws.n_chains * draws.n_draws, len(X)))
    core = {name: array.ravel() for name, array in vars(draws.core_values()).items()}
    for k, labels in enumerate(flat_labels(draws)):
        at = np.array([k])
        base = flat_bases(draws, at)
        clusters = DistinctClusters.apart(labels[None], draws.item_sizes, flat_latents(draws, at))
        statistics = clusters.statistics_of(family, np.arange(len(clusters)))
        rng = np.random.default_rng(crc32(np.ascontiguousarray(statistics).tobytes()))
        own = None if base is None else np.repeat(base, len(statistics), axis=0)
        parameters = likelihood.draw_parameters(statistics, rng, own)
        table = np.column_stack([
            likelihood.log_densities_with_errors(parameters, X, errors),
            likelihood.log_alone_with_errors(X, errors, base),
        ])  # fmt: skip
        prior = {name: array[at] for name, array in core.items()}
        values[k] = _over_clusters(draws, table, labels, PriorValues(**prior))
    return values.reshape(draws.n_chains, draws.n_draws, -1)


def _over_clusters(
    draws: Draws, table: FloatArray, labels: IntArray, values: PriorValues[FloatArray]
) -> FloatArray:
    """Return the log of what a draw's clusters, and a new one, say of each row, by their weights.

    `table` has the log densities of rows in each cluster, and in a new one last.
    """
    n, K = len(labels), table.shape[1] - 1
    if n == 1:
        return table[:, -1]
    sizes = np.bincount(labels, minlength=K)
    rest = np.tile(sizes.astype(np.float64), (n, 1))
    rest[np.arange(n), labels] -= 1  # a row on its own leaves none behind
    found = np.empty(n)
    for alone in (False, True):
        rows = np.flatnonzero((sizes[labels] == 1) == alone)
        weights = draws.model.prior.predictive_weights(values, n - 1, np.array([K - alone]))
        there = np.maximum(rest[rows], 1)
        old = np.where(rest[rows] > 0, weights.log_old(0, there), -np.inf)
        new = np.full((len(rows), 1), weights.log_new[0])
        found[rows] = np.logaddexp.reduce(np.hstack([old, new]) + table[rows], axis=1)
    return found
