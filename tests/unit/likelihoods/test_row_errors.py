"""Gaussian rows with known errors: forms of errors, refusals, predictions, runs that go on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

import mixwood as mw
from mixwood.likelihoods.row_errors import error_covariances, log_t_with_errors, lower_factors


@pytest.fixture(scope="module")
def stars():
    """Three clusters seen with errors about as large as they are wide: rows, truth, variances."""
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1, 2], [90, 60, 50])
    centres, widths = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 4.5]]), np.array([0.6, 0.4, 0.5])
    positions = centres[labels] + rng.normal(size=(200, 2)) * widths[labels][:, None]
    errors = rng.uniform(0.1, 1.0, size=(200, 2)) ** 2
    return positions + rng.normal(size=(200, 2)) * np.sqrt(errors), labels, errors, positions


OPTIONS = {"draws": 120, "warmup": 80, "chains": 2, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def post(stars):
    return mw.sample(mw.Mixture(mw.Gaussian(errors=stars[2])), stars[0], **OPTIONS)


def test_widths_are_those_of_the_positions(post, stars):
    labels = post.point_estimate()
    assert len(np.unique(labels)) == 3
    widths = np.sqrt(np.diagonal(post.cluster_parameters()["covariance"].mean, axis1=1, axis2=2))
    assert 0.3 < widths.min() < widths.max() < 0.8
    plain = mw.sample(mw.Mixture(mw.Gaussian()), stars[0], **OPTIONS)
    wide = np.sqrt(np.diagonal(plain.cluster_parameters()["covariance"].mean, axis1=1, axis2=2))
    assert wide.mean() > 1.2 * widths.mean()


def test_positions_are_drawn(post, stars):
    X, _, _, positions = stars
    found = post.imputed()
    assert found.values.shape == (2, 120, 400)
    drawn = found.mean().reshape(200, 2)
    assert np.square(drawn - positions).mean() < 0.7 * np.square(X - positions).mean()


def test_new_rows(post):
    near, far = post.predict_proba([[0.0, 0.0], [0.0, 0.0]], errors=[1e-12, 25.0])
    plain = post.predict_proba([[0.0, 0.0]])[0]
    np.testing.assert_allclose(near, plain, atol=0.02)
    assert far.max() < 0.9 < near.max()
    assert post.predict([[0.0, 0.0]], errors=[[0.1, 0.1]]).shape == (1,)
    density = post.log_density([[0.0, 0.0]] * 2, errors=[np.zeros((2, 2)), np.eye(2)])
    assert density[0] == pytest.approx(post.log_density([[0.0, 0.0]])[0], abs=0.1)
    assert density[1] < density[0]
    with pytest.raises(ValueError, match="per_draw"):
        post.log_density([[0.0, 0.0]], per_draw=True, errors=[1.0])
    with pytest.raises(ValueError, match="errors must have one entry for each of the 1 rows"):
        post.log_density([[0.0, 0.0]], errors=[1.0, 2.0])


def test_densities_with_errors_have_a_mass_of_1(post):
    grid = np.arange(-8.0, 12.0, 0.5)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    density = np.exp(post.log_density(points, errors=np.full(len(points), 0.5)))
    assert density.sum() * 0.25 == pytest.approx(1, abs=0.02)


def test_errors_of_other_likelihoods_are_refused(stars):
    found = mw.sample(mw.Mixture(mw.DiagonalGaussian()), stars[0], draws=3, progress=False, seed=1)
    with pytest.raises(TypeError, match=r"DiagonalGaussian .*mw.Gaussian"):
        found.predict([[0.0, 0.0]], errors=[1.0])


def test_tables_and_pictures(post):
    assert len(post.describe()) == 3
    assert post.check_fit() is not None
    assert post.plot_clusters() is not None


def test_the_log_likelihood_of_each_row(post, stars):
    values = post.to_arviz(log_likelihood=True)["log_likelihood"]["X"].values
    assert values.shape == (2, 120, 200)
    # Less than a new one with its error given all rows: 17 parameters over 200 rows, by AIC.
    new = post.log_density(stars[0], errors=stars[2])
    left_out = -np.log(np.exp(-values).mean(axis=(0, 1)))
    assert np.mean(new - left_out) == pytest.approx(17 / 200, abs=0.03)
    assert np.corrcoef(new, left_out)[0, 1] > 0.98
    model = mw.Mixture(mw.Gaussian(errors=stars[2]), mw.FiniteMixture())
    grouped = mw.sample(
        model, stars[0], groups=stars[1], draws=3, warmup=3, chains=1, seed=1, progress=False
    )
    assert np.isfinite(grouped.to_arviz(log_likelihood=True)["log_likelihood"]["X"].values).all()


@pytest.mark.parametrize("degrees", [1.0, 4.0, 300.0])
def test_t_densities_with_errors(degrees):
    """Against t densities where there is no error, and a sum over a grid of positions."""
    rng = np.random.default_rng(0)
    scale = np.array([[2.0, 0.7], [0.7, 1.0]])
    away = np.concatenate([rng.normal(size=(20, 2)) * 5, [[300.0, -200.0]]])
    t = multivariate_t(np.zeros(2), scale, df=degrees)
    plain = log_t_with_errors(away, scale, np.zeros((21, 2, 2)), degrees)
    np.testing.assert_allclose(plain, t.logpdf(away), rtol=1e-9)
    error = np.array([[1.5, -0.4], [-0.4, 0.6]])
    axis = np.arange(-40, 40, 0.1)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    for row in away[:3]:
        integral = np.sum(np.exp(t.logpdf(grid) + multivariate_normal(row, error).logpdf(grid)))
        found = log_t_with_errors(row[None], scale, error[None], degrees)
        assert found[0] == pytest.approx(np.log(integral * 0.01), abs=1e-6)


def test_the_forms_of_errors_agree(stars):
    X = stars[0][:60]
    variances = np.random.default_rng(1).gamma(1, 0.3, 60)
    both = np.repeat(variances[:, None], 2, axis=1)
    forms = (variances, both, both[:, :, None] * np.eye(2))
    found = [
        mw.sample(mw.Mixture(mw.Gaussian(errors=form)), X, **{**OPTIONS, "draws": 10}).labels
        for form in forms
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_draws_follow_units(stars):
    X, _, errors, _ = stars
    units = np.array([1e-3, 40.0])
    options = {**OPTIONS, "draws": 10, "warmup": 10}
    one = mw.sample(mw.Mixture(mw.Gaussian(errors=errors)), X, **options)
    other = mw.sample(mw.Mixture(mw.Gaussian(errors=errors * units**2)), X * units + 3, **options)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_without_errors_rows_are_positions(stars):
    X = stars[0]
    found = mw.sample(mw.Mixture(mw.Gaussian(errors=np.zeros(200))), X, **{**OPTIONS, "draws": 5})
    values = found.imputed().values.reshape(2, 5, 200, 2)
    np.testing.assert_allclose(values, np.broadcast_to(X, values.shape), atol=1e-6)


def test_a_column_that_says_nothing_is_left_out(stars):
    X, _, errors, _ = stars
    wide = np.column_stack([X, np.full(200, 7.0)])
    model = mw.Mixture(mw.Gaussian(errors=np.column_stack([errors, np.ones(200)])))
    with pytest.warns(UserWarning, match="constant"):
        found = mw.sample(model, wide, **{**OPTIONS, "draws": 5})
    assert found.imputed().values.shape == (2, 5, 400)
    assert found.predict([[0.0, 0.0, 7.0]], errors=[0.2]).shape == (1,)


def test_a_run_goes_on_bit_for_bit(tmp_path, stars):
    model = mw.Mixture(mw.Gaussian(errors=stars[2]))
    options = {"warmup": 10, "chains": 2, "seed": 3, "progress": False}
    whole = mw.sample(model, stars[0], draws=20, store=tmp_path / "whole", **options)
    mw.sample(model, stars[0], draws=8, store=tmp_path / "part", **options)
    rest = mw.resume(tmp_path / "part", draws=20, progress=False)
    np.testing.assert_array_equal(rest.labels, whole.labels)
    np.testing.assert_array_equal(rest.latents, whole.latents)
    assert mw.load(tmp_path / "part").model == model


WRONG = {
    "nan": ([0.1, np.nan], r"errors must be finite, got nan in row 1"),
    "negative": ([0.1, -0.2], r"not negative, got -0.2 in row 1"),
    "scalar": (0.1, r"errors must be variances \(n,\)"),
    "not square": (np.zeros((2, 2, 3)), r"errors must be variances"),
    "uneven": ([[[1.0, 0.5], [0.2, 1.0]]], "symmetric"),
    "indefinite": ([[[1.0, 2.0], [2.0, 1.0]]], "positive semidefinite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_errors(name):
    errors, match = WRONG[name]
    with pytest.raises(ValueError, match=match):
        mw.Gaussian(errors=errors)


def test_errors_of_other_rows(stars):
    with pytest.raises(
        ValueError, match=r"one entry for each of the 200 rows of 2 columns.*\(3,\)"
    ):
        mw.sample(mw.Mixture(mw.Gaussian(errors=np.ones(3))), stars[0], draws=2, progress=False)


def test_what_is_refused(stars):
    X, errors = stars[0], stars[2]
    model = mw.Mixture(mw.Gaussian(errors=errors))
    holed = X.copy()
    holed[3, 0] = np.nan
    with pytest.raises(ValueError, match=r"missing value .* row 3, column 0, and errors"):
        mw.sample(model, holed, draws=2, progress=False)
    with pytest.raises(TypeError, match="draws the true position"):
        mw.sample(model, X, mw.PaperTree(), draws=2, progress=False)
    with pytest.raises(ValueError, match="draws the true position"):
        mw.sample(model, X, weights=np.full(200, 2.0), draws=2, progress=False)


def test_factors():
    covariances = np.array([[[4.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 9.0]]])
    factors = lower_factors(covariances)
    np.testing.assert_allclose(factors @ factors.swapaxes(1, 2), covariances, atol=1e-12)
    assert not np.triu(factors, 1).any()
    np.testing.assert_array_equal(error_covariances(np.array([2.0]), 1, 2)[0], 2 * np.eye(2))
