"""The plane that shows clusters: between against within, every pair of clusters counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import erf

from mixwood._support.types import FloatArray, IntArray

__all__ = ["Discriminants", "discriminants"]

#: Of more columns, only the directions in which the clusters' means differ are looked at.
_MOST_COLUMNS = 200
#: At most this many of those directions, and at most this many of the largest clusters.
_MOST_DIRECTIONS, _MOST_CLUSTERS = 50, 1000
#: A cluster with a smaller share of the rows, or of one row, does not turn the plane.
_LEAST_SHARE = 0.005


class Discriminants(NamedTuple):
    """The best directions to see clusters apart.

    Attributes
    ----------
    directions : array of shape (p, 1 or 2)
        Along each, the standard deviation within clusters is about 1.
    shares : array of length 1 or 2
        How much of the clusters' separation each shows, of all directions.
    """

    directions: FloatArray
    shares: FloatArray


def discriminants(
    table: Any, labels: IntArray, weights: FloatArray, sizes: Any
) -> Discriminants | None:
    """Return the two directions along which clusters are best told apart, or None for one cluster.

    With the covariance ``W`` within clusters, shrunk a little to a multiple of the identity, and
    the distance ``D`` of two means in units of it, the directions are the largest eigenvectors of
    ``W^-1 B`` with::

        B = sum over pairs of clusters  p_i p_j w(D_ij) (m_i - m_j) (m_i - m_j)'
        w(D) = erf(D / sqrt(8)) / (2 D^2)

    This counts how well each pair is told apart (Loog, Duin and Haeb-Umbach 2001). With ``w = 1``
    it would be Fisher's plane, which one far cluster can have for itself.

    Parameters
    ----------
    table : array or sparse array of shape (n, p)
    labels : int array of shape (n,)
    weights : array of shape (n,)
        How much each row counts: its certainty times the rows that it stands for.
    sizes : array of shape (n,)
        The rows that each stands for.
    """
    used = _clusters_used(labels, sizes)
    if len(used) < 2:
        return None
    place = np.full(int(labels.max()) + 1, -1)
    place[used] = np.arange(len(used))
    rows = np.flatnonzero(place[labels] >= 0)
    own, weights = place[labels[rows]], weights[rows]
    table = table[rows]
    total = np.bincount(own, weights)
    chooser = csr_array((weights, (own, np.arange(len(rows)))), shape=(len(used), len(rows)))
    means = _dense(chooser @ table) / total[:, None]
    shares = total / total.sum()
    basis = _basis(means, shares)
    if basis is not None:
        table, means = table @ basis, means @ basis
    whitener = _whitener(_dense(table) - means[own], weights)
    values, vectors = np.linalg.eigh(_between(means @ whitener, shares))
    if values[-1] <= 0:
        return None
    kept = 2 if len(values) > 1 and values[-2] > 1e-6 * values[-1] else 1
    directions = whitener @ vectors[:, ::-1][:, :kept]
    if basis is not None:
        directions = basis @ directions
    return Discriminants(directions, values[::-1][:kept] / values[values > 0].sum())


def _clusters_used(labels: IntArray, sizes: Any) -> IntArray:
    rows = np.bincount(labels, sizes)
    large = rows >= max(2.0, _LEAST_SHARE * float(rows.sum()))
    order = np.argsort(-rows, kind="stable")[:_MOST_CLUSTERS]
    return np.sort(order[large[order]])


def _dense(table: Any) -> FloatArray:
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)


def _basis(means: FloatArray, shares: FloatArray) -> FloatArray | None:
    """Return the directions in which means differ most, as columns; None to keep all columns."""
    if means.shape[1] <= _MOST_COLUMNS:
        return None
    apart = np.sqrt(shares)[:, None] * (means - shares @ means)
    _, values, right = np.linalg.svd(apart, full_matrices=False)
    kept = max(int(np.count_nonzero(values > 1e-9 * values[0])), 1)
    return np.ascontiguousarray(right[: min(kept, _MOST_DIRECTIONS)].T)


def _whitener(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a matrix that makes the covariance within clusters the identity."""
    n, p = residuals.shape
    within = (residuals * weights[:, None]).T @ residuals / weights.sum()
    size = float(np.trace(within)) / p
    if size <= 0:
        return np.eye(p)
    shrunk = p / (n + p)
    within = (1 - shrunk) * within + shrunk * size * np.eye(p)
    values, vectors = np.linalg.eigh(within)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-10 * values[-1])))


def _between(means: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the matrix ``B`` of whitened means: a sum over pairs, as one product."""
    squares = (means**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * means @ means.T, 1e-12))
    pairs = np.outer(shares, shares) * erf(distance / np.sqrt(8)) / (2 * distance**2)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(means.T @ ((np.diag(pairs.sum(axis=1)) - pairs) @ means))
