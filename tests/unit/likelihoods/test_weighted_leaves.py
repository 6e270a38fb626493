"""Weighted leaves as a data type: told from rows by what they are, not by their width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.core import bind_family
from mixwood.likelihoods.weighted_leaves import chosen_items, item_sizes, log_constants

FAST = {"draws": 5, "warmup": 5, "chains": 2, "seed": 3, "progress": False}


def leaves_of(likelihood, X, max_leaves=15):
    likelihood, X = likelihood.fitted_to(X)
    return mw.stream_leaves(mw.Mixture(likelihood), [X], max_leaves=max_leaves, seed=1), X


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


@pytest.mark.parametrize("ask", ["log_density", "predict", "predict_proba"])
def test_rows_of_another_width_are_refused(ask, blobs):
    """Also those as wide as sums and statistic together: 4 + 6 for Gaussians in the plane."""
    leaves, X = leaves_of(mw.Gaussian(), blobs(200))
    post = mw.sample(mw.Mixture(), leaves, **FAST)
    for width in (1, 3, 6, 10):
        with pytest.raises(ValueError, match=f"X has the wrong number of columns: {width}, but 2"):
            getattr(post, ask)(np.ones((3, width)))
    with pytest.raises(TypeError, match="X must be an array or table"):
        getattr(post, ask)(leaves)
    assert len(getattr(post, ask)(X[:3])) == 3


def test_a_posterior_has_the_leaves_and_the_likelihood_of_the_rows(family_case):
    likelihood, X = family_case(80)
    leaves, X = leaves_of(likelihood, X)
    post = mw.sample(mw.Mixture(likelihood), leaves, **FAST)
    assert isinstance(post.X, mw.WeightedLeaves)
    assert post.X.leaf_of_row is None  # as if it were loaded
    assert post.X.shape == (leaves.n_leaves, X.shape[1])
    assert post.resolved == leaves.likelihood
    assert len(post.column_names) == X.shape[1]
    assert post.describe()["size"].sum() == 80
    assert post.log_density(X).shape == (80,)
    assert post.sample_predictive(3, seed=1).shape == (3, X.shape[1])


def test_columns_of_a_table_keep_their_names(blobs):
    X = blobs(120)
    table = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > 6, "a", "b")})
    model = mw.Mixture(mw.Product({"x": mw.Gaussian(), "kind": mw.Categorical()}))
    leaves = mw.stream_leaves(model, [table], max_leaves=10, seed=0)
    post = mw.sample(model, leaves, **FAST)
    assert post.column_names == ("x", "kind")
    assert {"x mean", "kind mode"} <= set(post.describe().columns)
    assert post.predict(table[:4]).shape == (4,)


def test_leaves_cannot_be_written_to(blobs):
    leaves, _ = leaves_of(mw.Gaussian(), blobs(50))
    for name in ("sizes", "log_constants", "log_apart", "weights", "statistics"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(leaves, name)[0] = 0


def test_some_of_the_leaves(family_case):
    likelihood, X = family_case(60)
    leaves, _ = leaves_of(likelihood, X)
    some = np.array([3, 0, 5])
    few = chosen_items(leaves, some)
    assert few.shape == (3, leaves.shape[1])
    np.testing.assert_array_equal(item_sizes(few), leaves.sizes[some])
    constants = log_constants(leaves.likelihood, leaves)
    np.testing.assert_array_equal(log_constants(few.likelihood, few), constants[some])
    model = mw.Mixture(leaves.likelihood)
    alone = bind_family(model, leaves).log_alone()[some]
    np.testing.assert_array_equal(bind_family(model, few).log_alone(), alone)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [0, 1]}, "sizes must be"),
        ({"sizes": np.ones((2, 2))}, "sizes must be"),
        ({"weights": [1.0]}, "weights must be 2 finite numbers"),
        ({"log_apart": [1.0, np.nan]}, "log_apart must be 2 finite numbers"),
        ({"log_constants": [[1.0, 2.0]]}, "log_constants must be 2 finite numbers"),
        ({"statistics": np.ones((2, 5))}, r"statistics must be an array of shape \(2, 6\)"),
        ({"statistics": np.full((2, 6), np.inf)}, "statistics must be finite"),
        ({"likelihood": mw.Gaussian()}, "likelihood must be one with explicit parameters"),
    ],
)
def test_wrong_leaves_are_refused(change, message, blobs):
    leaves = chosen_items(leaves_of(mw.Gaussian(), blobs(50))[0], np.arange(2))
    with pytest.raises(ValueError, match=message):
        replace(leaves, **change)


# --- where leaves are


def shares_of_codes(likelihood, rows):
    parts = []
    for column, levels in zip(rows.T, likelihood.n_categories, strict=True):
        there = column[~np.isnan(column)]
        counts = np.bincount(there.astype(int), minlength=levels)
        parts.append(counts / len(there) if len(there) else np.full(levels, np.nan))
    return np.concatenate(parts)


def expected_mean(likelihood, rows):
    if isinstance(likelihood, mw.Categorical):
        return shares_of_codes(likelihood, rows)
    if isinstance(likelihood, mw.Multinomial):
        return np.nansum(rows, axis=0) / max(np.nansum(rows), 1)
    if isinstance(likelihood, mw.Regression):  # of rows with a target
        known = rows[~np.isnan(rows[:, likelihood.target])]
        return known.mean(axis=0) if len(known) else np.full(rows.shape[1], np.nan)
    if isinstance(likelihood, mw.NegativeBinomial):  # per unit of exposure, the last column
        exposure = (~np.isnan(rows) * rows[:, -1:]).sum(axis=0)
        rates = np.nansum(rows, axis=0) / np.where(exposure > 0, exposure, np.nan)
        return np.append(rates[:-1], 1.0)
    there = np.maximum((~np.isnan(rows)).sum(axis=0), 1)
    return np.where(np.isnan(rows).all(axis=0), np.nan, np.nansum(rows, axis=0) / there)


def test_means_of_rows_come_from_statistics(family_case):
    likelihood, X = family_case(60)
    leaves, X = leaves_of(likelihood, X)
    likelihood = leaves.likelihood
    family = likelihood.bind(X)
    members = [np.flatnonzero(leaves.leaf_of_row == k) for k in range(leaves.n_leaves)]
    means = likelihood.mean_rows(np.array([family.statistics(rows) for rows in members]))
    for mean, rows in zip(means, members, strict=True):
        own = dense(X)[rows]
        if isinstance(likelihood, mw.Product):
            expected = np.empty(X.shape[1])
            for key, part in likelihood.parts.items():
                expected[list(key)] = expected_mean(part, own[:, list(key)])
            # a part that a leaf lacks in all rows has a mean of its own making
            known = ~np.isnan(own).all(axis=0)
            mean, expected = mean[known], expected[known]
        else:
            expected = expected_mean(likelihood, own)
        np.testing.assert_allclose(mean, expected, atol=1e-9)


def test_shares_of_codes_stand_where_the_column_was(blobs):
    X = np.column_stack([blobs(40)[:, 0], np.arange(40) % 3, np.arange(40.0)])
    likelihood = mw.Product({(2, 0): mw.DiagonalGaussian(), 1: mw.Categorical()})
    likelihood, X = likelihood.fitted_to(X)
    statistic = likelihood.bind(X).statistics(np.arange(40))
    (mean,) = likelihood.mean_rows(statistic[None])
    shares = np.bincount(X[:, 1].astype(int)) / 40
    np.testing.assert_allclose(mean, [X[:, 0].mean(), *shares, X[:, 2].mean()])


@pytest.mark.parametrize("sparse", [False, True])
def test_leaves_do_not_follow_the_arrays_that_they_were_made_of(sparse, blobs):
    rows = np.random.default_rng(0).poisson(1.0, (30, 4)) if sparse else blobs(30)
    model = mw.Mixture(mw.Multinomial(beta=0.5) if sparse else mw.Gaussian())
    leaves = mw.stream_leaves(model, [rows], max_leaves=5, seed=0)
    statistics, sizes = leaves.statistics.copy(), leaves.sizes.copy()
    mine = replace(leaves, statistics=statistics, sizes=sizes)
    values = statistics.data if sparse else statistics
    before = values.copy()
    values[:] = 0.0  # still the caller's, and writable
    sizes[:] = 1
    now = mine.statistics.data if sparse else mine.statistics
    np.testing.assert_array_equal(now, before)
    np.testing.assert_array_equal(mine.sizes, leaves.sizes)


def test_leaves_are_their_rows_under_any_base(family_case, seed):
    """Marginals of leaves at a base measure are those of the rows in them."""
    rng = np.random.default_rng(seed)
    likelihood, X = family_case(60)
    leaves, X = leaves_of(likelihood, X)
    resolved = leaves.likelihood
    chosen = np.arange(0, leaves.n_leaves, 2)
    rows = np.flatnonzero(np.isin(leaves.leaf_of_row, chosen))
    for base in (resolved.start_base(), resolved.draw_base(rng)):
        of_leaves, of_rows = (family.at(base) for family in (leaves.bind(), resolved.bind(X)))
        expected = of_rows.log_marginal(rows)
        assert of_leaves.log_marginal(chosen) == pytest.approx(expected, rel=1e-8)
