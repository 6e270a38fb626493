"""Clusters of linear relations: columns, units, coefficients, targets of new rows, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.partitions import adjusted_rand
from mixwood.reference import family_of

RNG = np.random.default_rng(11)


def two_lines(n, rng, apart=0.0):
    """Two relations of opposite slopes; `apart` moves the predictors of the second."""
    truth = np.arange(n) % 2
    x = rng.uniform(-2, 2, n) + apart * truth
    y = np.where(truth == 0, 1 + 2 * x, 4 - 2 * (x - apart)) + 0.2 * rng.normal(size=n)
    return np.column_stack([x, y]), truth


@pytest.fixture(scope="module")
def fitted():
    X, truth = two_lines(120, np.random.default_rng(4))
    table = pd.DataFrame(X, columns=["dose", "response"])
    model = mw.Mixture(mw.Regression("response", on=["dose"]))
    post = mw.sample(model, table, draws=100, warmup=100, chains=2, seed=1, progress=False)
    return post, table, truth


def test_lines_that_cross_are_told_apart(fitted):
    post, _, truth = fitted
    assert np.median(post.n_clusters) == 2
    assert adjusted_rand(truth, post.point_estimate()) > 0.75
    table = post.describe()
    np.testing.assert_allclose(sorted(table["slope of dose"]), [-2.0, 2.0], atol=0.2)
    np.testing.assert_allclose(sorted(table["response intercept"]), [1.0, 4.0], atol=0.2)
    np.testing.assert_allclose(table["response sd"], 0.2, rtol=0.3)


def test_one_relation_is_one_cluster():
    x = RNG.normal(size=(150, 3))
    y = x @ [1.0, -2.0, 0.5] + RNG.normal(size=150)
    model = mw.Mixture(mw.Regression(-1))
    X = np.column_stack([x, y])
    post = mw.sample(model, X, draws=60, warmup=60, chains=2, seed=1, progress=False)
    assert np.median(post.n_clusters) == 1
    parameters = post.cluster_parameters()["parameters"]
    np.testing.assert_allclose(parameters.mean[0, 1:4], [1.0, -2.0, 0.5], atol=0.3)


def test_one_cluster_is_ridge_regression():
    """The posterior mean against the formula of the textbook."""
    X = RNG.normal(size=(9, 3))
    likelihood = mw.Regression(2, r=0.5, nu=5.0, slopes=2.0, scale=1.0, mean=[0, 0, 0],
                               covariance=np.eye(2)).resolve(X)  # fmt: skip
    statistics = likelihood.bind(X).statistics(np.arange(9))[None]
    new = RNG.normal(size=(4, 3))
    terms = likelihood.target_terms(statistics, None, new)
    Z, prior = np.column_stack([np.ones(9), X[:, :2]]), np.diag([0.5, 0.5, 0.5])
    A = prior + Z.T @ Z
    beta = np.linalg.solve(A, Z.T @ X[:, 2])
    z = np.column_stack([np.ones(4), new[:, :2]])
    np.testing.assert_allclose(terms.location[:, 0], z @ beta)
    psi = 1 + X[:, 2] @ X[:, 2] - beta @ A @ beta
    spread = 1 + np.einsum("ij,jk,ik->i", z, np.linalg.inv(A), z)
    np.testing.assert_allclose(terms.scale[:, 0], np.sqrt(psi / 14 * spread))
    assert terms.degrees == pytest.approx(14)


def test_draws_of_coefficients_have_their_moments():
    X = RNG.normal(size=(9, 3))
    likelihood = mw.Regression(2, scale=1.0).resolve(X)
    statistics = likelihood.bind(X).statistics(np.arange(9))[None]
    drawn = likelihood.draw_parameters(np.repeat(statistics, 40_000, 0), np.random.default_rng(1))
    new = np.array([[0.7, -1.0, np.nan]])
    terms = likelihood.target_terms(statistics, None, new)
    expected = drawn["parameters"][:, :3] @ [1, 0.7, -1.0]
    assert expected.mean() == pytest.approx(terms.location[0, 0], abs=0.02)
    rows = likelihood.draw_rows(drawn, np.arange(40_000), np.random.default_rng(2), like=new)
    f = terms.degrees[0]
    assert rows[:, 2].std() == pytest.approx(terms.scale[0, 0] * np.sqrt(f / (f - 2)), rel=0.03)


def test_units_and_the_choice_of_predictors_do_not_matter():
    """Same seed, same draws, whatever the units and the linear combinations of predictors."""
    X, _ = two_lines(60, np.random.default_rng(1))
    X = np.column_stack([X, np.random.default_rng(2).normal(size=60)])
    other = X @ np.array([[3.0, 0, 1.0], [0, -20.0, 0], [0.5, 0, 2.0]]) + [5.0, 100.0, -3.0]
    model = mw.Mixture(mw.Regression(1, covariance=np.cov(X[:, [0, 2]], rowvar=False)))
    twin = mw.Mixture(mw.Regression(1, covariance=np.cov(other[:, [0, 2]], rowvar=False)))
    options = {"draws": 20, "warmup": 10, "chains": 1, "seed": 3, "progress": False, "init": "one"}
    a, b = mw.sample(model, X, **options), mw.sample(twin, other, **options)
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_allclose(a.log_joint - b.log_joint, 60 * np.log(20.0))


def test_intervals_hold_what_they_say(fitted):
    post, _, _ = fitted
    new, _ = two_lines(300, np.random.default_rng(9))
    table = pd.DataFrame(new, columns=["dose", "response"])
    found = post.predict_target(table[["dose"]], level=0.8)
    inside = (found.lower <= new[:, 1]) & (new[:, 1] <= found.upper)
    assert 0.72 < inside.mean() < 0.88
    again = post.predict_target(table, level=0.8)
    np.testing.assert_array_equal(found.mean, again.mean)
    assert np.all((found.new > 0) & (found.new < 0.1))


def test_quantiles_are_those_of_the_mixture(fitted):
    """Against targets drawn cluster by cluster."""
    post, _, _ = fitted
    found = post.predict_target([[1.0]], level=0.5)
    rows = np.asarray(post.sample_predictive(40_000, seed=1))
    near = rows[np.abs(rows[:, 0] - 1.0) < 0.1][:, 1]
    assert np.mean(near < found.lower) == pytest.approx(0.25, abs=0.05)
    assert np.mean(near < found.upper) == pytest.approx(0.75, abs=0.05)


def test_predictors_with_a_density_of_their_own_choose_the_relation():
    X, _ = two_lines(160, np.random.default_rng(3), apart=8.0)
    table = pd.DataFrame(X, columns=["x", "y"])
    model = mw.Mixture(mw.Product({"x": mw.Gaussian(), ("x", "y"): mw.Regression("y")}))
    post = mw.sample(model, table, draws=80, warmup=80, chains=2, seed=1, progress=False)
    found = post.predict_target(pd.DataFrame({"x": [0.0, 8.0]}))
    np.testing.assert_allclose(found.mean, [1.0, 4.0], atol=0.4)
    assert np.all(found.upper - found.lower < 2.0)
    alone = mw.sample(mw.Mixture(mw.Regression("y")), table, draws=40, chains=2, seed=1,
                      progress=False)  # fmt: skip
    blind = alone.predict_target(pd.DataFrame({"x": [0.0]}))
    assert blind.upper[0] - blind.lower[0] > 4.0  # either line
    drawn = np.asarray(post.sample_predictive(2000, seed=1))
    left = drawn[np.abs(drawn[:, 0]) < 2]
    expected = 1 + 2 * left[:, 0]
    assert np.median(np.abs(left[:, 1] - expected)) < 0.4


def test_a_row_without_a_target_says_nothing():
    likelihood = mw.Regression(1, scale=1.0)
    X = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 3.0]])
    resolved = likelihood.resolve(X)
    family, twin = resolved.bind(X), family_of(resolved)
    assert family.log_alone()[1] == 0.0
    assert family.log_marginal(np.array([0, 1])) == family.log_marginal(np.array([0]))
    assert twin.log_marginal(twin.of(X[:2])) == twin.log_marginal(twin.of(X[:1]))


def test_ties_do_not_break_up_a_relation():
    rng = np.random.default_rng(6)
    x = rng.normal(size=200)
    X = np.column_stack([x, np.rint(2 * x + rng.normal(size=200))])
    post = mw.sample(mw.Mixture(mw.Regression(1)), X, draws=60, warmup=60, chains=2, seed=1,
                     progress=False)  # fmt: skip
    assert np.median(post.n_clusters) <= 2


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: mw.Regression(1.5), TypeError, "target must be made of names or numbers"),
        (lambda: mw.Regression("y", on="x"), TypeError, "on must be a sequence"),
        (lambda: mw.Regression("y", on=[]), ValueError, "on must name columns other than"),
        (lambda: mw.Regression("y", on=["y"]), ValueError, "on must name columns other than"),
        (lambda: mw.Regression("y", on=["x", "x"]), ValueError, "each once"),
        (lambda: mw.Regression("y", slopes=0), ValueError, "slopes"),
        (lambda: mw.Regression("y", scale="data"), ValueError, "scale must be 'learn' or a number"),
        (lambda: mw.Regression("y", nu=1.0), ValueError, "nu must be above 2"),
        (lambda: mw.Regression("y", covariance=[[-1.0]]), ValueError, "positive definite"),
        (lambda: mw.Regression("y", mean=[0.0], covariance=[[1.0]]), ValueError, "2 entries"),
    ],
)
def test_bad_parameters_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


TABLE = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, 2.0, 2.5]})


@pytest.mark.parametrize(
    ("likelihood", "X", "says"),
    [
        (mw.Regression("z"), TABLE, "must name columns of X"),
        (mw.Regression("y"), TABLE.to_numpy(), "X has no names"),
        (mw.Regression(2), TABLE, "must be columns of X, which has 2"),
        (mw.Regression(0, on=[-2]), TABLE, "besides the target"),
        (mw.Regression(0), TABLE[["x"]], "besides the target"),
        (mw.Regression("y"), TABLE.replace(1.0, np.nan), "row 1, column 0, a predictor"),
        (mw.Regression("y"), TABLE.assign(y=np.nan), "no target at all"),
        (mw.Regression("y", mean=[0.0]), TABLE, "mean must have 2 entries"),
    ],
)
def test_bad_data_are_refused(likelihood, X, says):
    with pytest.raises(ValueError, match=says):
        likelihood.fitted_to(X)


def test_other_likelihoods_have_no_target():
    post = mw.sample(mw.Mixture(), TABLE, draws=2, chains=1, seed=1, progress=False)
    with pytest.raises(TypeError, match="predict_target needs a likelihood with one target"):
        post.predict_target(TABLE)
    with pytest.raises(ValueError, match="'x' twice"):
        mw.Product({"x": mw.Gaussian(), ("x", "y"): mw.DiagonalGaussian()})


def test_the_target_of_a_relation_is_checked(fitted):
    fit = fitted[0].check_fit()
    assert fit.ok
    assert {"spread", "tails", "curve"} <= set(fit.table["quantity"])
