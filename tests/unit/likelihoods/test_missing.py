"""Missing entries of Gaussian rows: the normal fit, what is filled in, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.likelihoods.missing import conditional_means, normal_moments
from tests.conftest import with_holes


@pytest.fixture
def holed(blobs):
    X = blobs(60, 3, apart=6)
    X[:, 1] += X[:, 0]
    return with_holes(X, np.random.default_rng(1))


def test_the_fit_of_complete_rows_is_the_sample_covariance(blobs):
    X = blobs(30, 3)
    mean, covariance = normal_moments(X)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(X, rowvar=False), rtol=1e-6)


def test_the_fit_makes_what_is_observed_likeliest(holed):
    def log_likelihood(mean, covariance):
        total = 0.0
        for row in holed:
            o = np.flatnonzero(~np.isnan(row))
            inner, away = covariance[np.ix_(o, o)], row[o] - mean[o]
            total -= (np.linalg.slogdet(inner)[1] + away @ np.linalg.solve(inner, away)) / 2
        return total

    mean, covariance = normal_moments(holed)
    covariance = covariance * (len(holed) - 1) / len(holed)
    best = log_likelihood(mean, covariance)
    rng = np.random.default_rng(2)
    for _ in range(20):
        factor = np.eye(3) + 0.02 * rng.normal(size=(3, 3))
        other = mean + 0.02 * rng.normal(size=3), factor @ covariance @ factor.T
        assert log_likelihood(*other) < best


def test_the_fit_follows_units(holed):
    units, shift = np.array([1e-3, 1.0, 250.0]), np.array([5.0, -1.0, 1e4])
    mean, covariance = normal_moments(holed)
    there = normal_moments(holed * units + shift)
    np.testing.assert_allclose(there[0], mean * units + shift, rtol=1e-6)
    np.testing.assert_allclose(there[1], covariance * np.outer(units, units), rtol=1e-5)


def test_columns_without_two_entries(holed):
    holed[:, 2] = np.nan
    mean, covariance = normal_moments(holed)
    assert mean[2] == 0
    assert not covariance[2].any()
    explicit = mw.Gaussian(scale="data").resolve(holed)
    assert np.isfinite(explicit.bind(holed).log_alone()).all()


def test_conditional_means(holed):
    mean, covariance = normal_moments(holed)
    filled = conditional_means(holed - mean, covariance)
    row = int(np.flatnonzero(np.isnan(holed).sum(axis=1) == 1)[0])
    m, o = np.isnan(holed[row]), ~np.isnan(holed[row])
    expected = np.linalg.solve(covariance[np.ix_(o, o)], covariance[np.ix_(o, m)])
    np.testing.assert_allclose(filled[row, m], (holed[row] - mean)[o] @ expected)
    np.testing.assert_array_equal(filled[row, o], (holed[row] - mean)[o])


def test_draws_follow_units(holed):
    def labels(X):
        model = mw.Mixture(mw.Gaussian())
        post = mw.sample(model, X, draws=20, warmup=20, chains=1, seed=1, progress=False)
        return post.labels, post.imputed().values

    units, shift = np.array([1e-3, 1.0, 250.0]), np.array([5.0, -1.0, 1e4])
    one, drawn = labels(holed)
    other, there = labels(holed * units + shift)
    np.testing.assert_array_equal(one, other)
    columns = np.nonzero(np.isnan(holed))[1]
    np.testing.assert_allclose(there, drawn * units[columns] + shift[columns], rtol=1e-4, atol=1e-4)


def test_a_combination_of_columns_is_found_beside_holes(blobs):
    X = blobs(60, 3, apart=6)
    X[:, 2] = X[:, 0] - 2 * X[:, 1] + 7
    X = with_holes(X, np.random.default_rng(1))
    explicit = mw.Gaussian().resolve(X)
    assert explicit.left_out == {2: "combination"}
    np.testing.assert_allclose(explicit.kept.weights[2], [1, -2], rtol=1e-6)
    rows, columns = explicit.missing_entries(X)
    assert set(columns.tolist()) == {0, 1}
    assert len(rows) == explicit.bind(X).latent_size


def test_row_constants_are_those_of_what_is_observed():
    X = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 3.0], [np.nan, np.nan]])
    explicit = mw.Gaussian(mean=[0.0, 0.0], scale=[[4.0, 0.0], [0.0, 9.0]]).resolve(X)
    np.testing.assert_allclose(explicit.row_constants(X), -np.log([6.0, 2.0, 6.0, 1.0]))


def test_a_row_without_entries_has_density_1(holed):
    holed[3] = np.nan
    explicit = mw.Gaussian().resolve(holed)
    assert explicit.bind(holed).log_alone()[3] == 0
    assert explicit.row_constants(holed)[3] == 0


def test_few_rows_take_turns(blobs):
    """More holes than an iteration draws: some now, the others later, all in the end."""
    X = with_holes(blobs(200, 3), np.random.default_rng(1), 0.3)
    model = mw.Mixture(mw.Gaussian().resolve(X))
    chain = make_chain(model, X, np.zeros(200, np.int32), np.random.PCG64(1), mw.Gibbs())
    before, changed = chain.latent, []
    for _ in range(20):
        chain.iterate()
        changed.append(chain.latent != before)
    assert not changed[0].all()
    assert changed[-1].all()
    chain.check()


@pytest.mark.parametrize(
    ("sampler", "why"), [(mw.PaperTree(), "as published"), (mw.Tree(max_leaves=9), "sums of rows")]
)
def test_samplers_that_refuse(holed, sampler, why):
    with pytest.raises(TypeError, match=why):
        mw.sample(mw.Mixture(mw.Gaussian()), holed, sampler, draws=2, progress=False)


def test_leaves_refuse(holed):
    with pytest.raises(ValueError, match=r"block 0 has .* missing values .*DiagonalGaussian"):
        mw.stream_leaves(mw.Mixture(), [holed], max_leaves=9)
    with pytest.raises(ValueError, match=r"X has .* missing values"):
        mw.ibhc(mw.Mixture(), holed, max_leaves=9)
    tree = mw.ibhc(mw.Mixture(), np.nan_to_num(holed), max_leaves=9, seed=1)
    with pytest.raises(ValueError, match=r"X_new has .* missing values"):
        tree.insert(holed)


def test_trees_take_rows_with_holes(holed):
    tree = mw.ibhc(mw.Mixture(), holed, seed=1)
    assert len(tree.labels) == 60
    assert mw.bhc(mw.Mixture(), holed).n_clusters >= 1


def test_structures_with_holes(holed):
    kinds = [type(one).__name__ for one in mw.AutoGaussian().candidates(holed)]
    assert kinds == ["Gaussian", "DiagonalGaussian"]
    post = mw.sample(mw.Mixture(), holed, draws=10, warmup=10, chains=1, seed=1, progress=False)
    assert post.imputed().values.shape == (1, 10, np.isnan(holed).sum())
