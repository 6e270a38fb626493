"""The discriminant plane: against the plain formula, and what it must not be moved by."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import erf

from mixwood.plots.discriminant import discriminants


def clusters(rng, sizes, d, apart):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    means = apart * rng.normal(size=(len(sizes), d))
    return means[labels] + rng.normal(size=(len(labels), d)) * np.arange(1, d + 1), labels


def plain(X, labels, weights):
    """Return the same by loops over pairs of clusters and a general eigenvalue problem."""
    n, d = X.shape
    shares = np.bincount(labels, weights) / weights.sum()
    means = np.array(
        [np.average(X[labels == k], axis=0, weights=weights[labels == k]) for k in set(labels)]
    )
    within = sum(
        w * np.outer(x - means[k], x - means[k]) for x, k, w in zip(X, labels, weights, strict=True)
    )
    within = within / weights.sum()
    shrunk = d / (n + d)
    within = (1 - shrunk) * within + shrunk * np.trace(within) / d * np.eye(d)
    between = np.zeros((d, d))
    for i in range(len(means)):
        for j in range(i):
            apart = means[i] - means[j]
            distance = np.sqrt(apart @ np.linalg.solve(within, apart))
            accuracy = erf(distance / np.sqrt(8)) / (2 * distance**2)
            between += shares[i] * shares[j] * accuracy * np.outer(apart, apart)
    values, vectors = np.linalg.eig(np.linalg.solve(within, between))
    order = np.argsort(-values.real)
    return vectors.real[:, order[:2]], values.real[order[:2]] / values.real.sum()


def test_it_is_the_formula():
    rng = np.random.default_rng(0)
    X, labels = clusters(rng, [40, 30, 20, 10], 5, 3)
    weights = rng.uniform(0.3, 1, len(X))
    found = discriminants(X, labels, weights, np.ones(len(X)))
    directions, shares = plain(X, labels, weights)
    np.testing.assert_allclose(found.shares, shares)
    for k in range(2):
        one, other = found.directions[:, k], directions[:, k]
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert abs(cosine) > 1 - 1e-9
    # In units of the standard deviation within.
    means = np.array([np.average(X[labels == k], axis=0) for k in range(4)])
    assert 0.8 < np.std((X - means[labels]) @ found.directions, axis=0).min() < 1.2


def test_sparse_is_as_dense_and_a_wide_table_still_tells_apart():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 30)
    X = rng.poisson(0.2, size=(90, 400)).astype(float)
    X[np.arange(90), labels] += 4
    ones = np.ones(90)
    dense, sparse = (discriminants(table, labels, ones, ones) for table in (X, csr_array(X)))
    np.testing.assert_allclose(np.abs(dense.directions), np.abs(sparse.directions), atol=1e-9)
    points = X @ dense.directions
    middles = np.array([points[labels == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(points[:, None] - middles, axis=2).argmin(axis=1)
    assert np.mean(nearest == labels) > 0.95


def test_one_far_cluster_does_not_have_the_plane_for_itself():
    rng = np.random.default_rng(2)
    X, labels = clusters(rng, [50, 50, 50, 30], 4, 0)
    X[:, 0] += 8 * (labels == 1)
    X[:, 1] += 16 * (labels == 2)
    X[:, 2] += 4000 * (labels == 3)
    found = discriminants(X, labels, np.ones(len(X)), np.ones(len(X)))
    means = np.array([(X @ found.directions)[labels == k].mean(axis=0) for k in range(4)])
    apart = np.linalg.norm(means[:, None] - means, axis=2) + 99 * np.eye(4)
    assert apart.min() > 3


def test_rows_count_by_their_certainty():
    """Doubtful rows that would turn the direction do not, if nobody is sure of them."""
    rng = np.random.default_rng(3)
    X, labels = clusters(rng, [50, 50], 2, 0)
    X = X / [1, 2] + 6 * labels[:, None] * [1, 0]
    X = np.concatenate([X, rng.normal([0, 6], 1, size=(50, 2))])
    labels = np.concatenate([labels, np.ones(50, dtype=int)])
    weights = np.concatenate([np.ones(100), np.full(50, 1e-6)])
    (sure,), (all_,) = (
        discriminants(X, labels, w, np.ones(150)).directions.T for w in (weights, np.ones(150))
    )
    assert abs(sure[0]) > 5 * abs(sure[1])
    assert abs(all_[0]) < 2 * abs(all_[1])


def test_small_clusters_do_not_choose_and_one_cluster_has_no_plane():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    labels = np.zeros(400, dtype=int)
    labels[0] = 1  # one row
    ones = np.ones(400)
    assert discriminants(X, labels, ones, ones) is None
    labels[:200] = 2
    assert discriminants(X, labels, ones, ones) is not None
    assert discriminants(np.ones((400, 3)), labels, ones, ones) is None
