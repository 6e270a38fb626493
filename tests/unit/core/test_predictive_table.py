"""Rows against clusters of other rows: the tables of the core, and clusters kept once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.input.matrices import stacked
from mixwood.posterior.predictive_mixture import DistinctClusters


def ratios(likelihood, X, labels, new):
    """Return the table from marginals alone: of all rows in one family, those of new last."""
    n, m = X.shape[0], new.shape[0]
    family = likelihood.bind(stacked([X, new]))
    table = np.empty((m, labels.max() + 1))
    for i, k in np.ndindex(table.shape):
        rows = np.flatnonzero(labels == k)
        table[i, k] = family.log_marginal(np.append(rows, n + i)) - family.log_marginal(rows)
    return table


def test_table_is_a_ratio_of_marginals(family_case):
    likelihood, both = family_case(60)
    both = likelihood.check(both)
    likelihood = likelihood.resolve(both)
    # fewer new rows than a cluster has, and labels with rows left out
    X, new = both[:57], both[57:]
    labels = np.arange(57, dtype=np.int32) % 3
    labels[labels == 2] = -1
    statistics = likelihood.bind(X).cluster_statistics(labels)
    assert statistics.shape[0] == 2
    table = likelihood.bind(new).log_predictive_table(statistics, 0, 3)
    np.testing.assert_allclose(table, ratios(likelihood, X, labels, new), rtol=1e-9, atol=1e-9)


def test_a_cluster_of_no_rows_gives_the_prior_predictive(family_case):
    likelihood, X = family_case(20)
    X = likelihood.check(X)
    family = likelihood.resolve(X).bind(X)
    empty = np.zeros((1, family.statistic_size))
    table = family.log_predictive_table(empty, 0, 20)
    np.testing.assert_allclose(table[:, 0], family.log_alone(), rtol=1e-10, atol=1e-10)


def test_parts_of_the_rows_are_parts_of_the_table(family_case):
    likelihood, X = family_case(40)
    X = likelihood.check(X)
    family = likelihood.resolve(X).bind(X)
    statistics = family.cluster_statistics(np.arange(40, dtype=np.int32) % 5)
    whole = family.log_predictive_table(statistics, 0, 40)
    part = family.log_predictive_table(statistics, 7, 30)
    np.testing.assert_allclose(part, whole[7:30], rtol=1e-13)


def test_complete_rows_against_clusters_with_holes():
    X = np.array([[0.0, np.nan], [0.3, np.nan], [0.2, 1.0], [0.1, 5.0]])
    likelihood = mw.DiagonalGaussian(0.1, 7.0, mean=[0.0, 1.0], scale=[1.0, 2.0])
    labels, new = np.array([0, 0, 0, 1], dtype=np.int32), np.array([[0.2, 1.5]])
    table = likelihood.bind(new).log_predictive_table(
        likelihood.bind(X).cluster_statistics(labels), 0, 1
    )
    np.testing.assert_allclose(table, ratios(likelihood, X, labels, new), rtol=1e-12)


def test_counts_far_above_those_of_the_new_rows():
    """Products of factors near 2^30 must be logged before they overflow."""
    X = csr_array(np.full((40, 60), 2**25))
    new = csr_array(np.full((1, 60), 2))
    likelihood = mw.Multinomial(columns=60)
    labels = np.zeros(40, dtype=np.int32)
    table = likelihood.bind(new).log_predictive_table(
        likelihood.bind(X).cluster_statistics(labels), 0, 1
    )
    np.testing.assert_allclose(table, ratios(likelihood, X, labels, new), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.cluster_statistics(np.zeros(3, np.int32)), "labels must have one entry"),
        (lambda f: f.cluster_statistics(np.full(4, 4, np.int32)), "labels must lie below"),
        (lambda f: f.log_predictive_table(np.zeros((1, 2)), 0, 4), "statistic_size columns"),
        (lambda f: f.log_predictive_table(np.zeros((1, 3)), 0, 5), "rows must lie within"),
        (lambda f: f.log_predictive_table(np.full((1, 3), -1.0), 0, 4), "negative size"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    family = mw.Gaussian(0.1, 3, mean=[0.0], scale=[[1.0]]).bind(np.zeros((4, 1)))
    with pytest.raises((ValueError, IndexError), match=message):
        call(family)


def test_distinct_clusters_are_found():
    labels = np.array(
        [[0, 0, 1, 1, 2], [0, 0, 1, 2, 2], [0, 1, 1, 1, 1], [0, 0, 1, 1, 2]], np.int32
    )
    clusters = DistinctClusters.of(labels)
    members = [
        frozenset(np.flatnonzero(labels[s] == c))
        for s, c in zip(clusters.first_draw, clusters.first_label, strict=True)
    ]
    assert len(set(members)) == len(clusters) == 7
    assert clusters.sizes.tolist() == [len(c) for c in members]
    for s in range(4):
        ids = clusters.ids[clusters.starts[s] : clusters.starts[s + 1]]
        for c, k in enumerate(ids):
            assert members[k] == frozenset(np.flatnonzero(labels[s] == c))


def test_shares_of_an_estimate():
    labels = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]], np.int32)
    clusters = DistinctClusters.of(labels)
    shares = clusters.shares(np.array([0, 0, 0, 1, 1]), slice(0, 3))
    np.testing.assert_allclose(shares, [[1, 0], [1 / 3, 2 / 3], [3 / 5, 2 / 5]])
