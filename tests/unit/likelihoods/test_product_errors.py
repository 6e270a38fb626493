"""A part of a product with known errors: whose they are, predictions, refusals, runs that go on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixwood as mw

OPTIONS = {"draws": 60, "warmup": 60, "chains": 2, "seed": 1, "progress": False}
KEY = ("x", "y")


@pytest.fixture(scope="module")
def survey():
    """Stars of three kinds with positions, spectra as categories and counts: a table, errors."""
    rng = np.random.default_rng(2)
    kind = rng.choice(3, 200, p=[0.5, 0.3, 0.2])
    centres, widths = np.array([[0.0, 0.0], [3.0, 0.5], [1.0, 3.0]]), np.array([0.6, 0.3, 0.4])
    positions = centres[kind] + widths[kind, None] * rng.normal(size=(200, 2))
    errors = rng.uniform(0.1, 1.0, size=(200, 2)) ** 2
    measured = positions + np.sqrt(errors) * rng.normal(size=(200, 2))
    spectrum = np.where(rng.random(200) < 0.8, kind, rng.integers(0, 3, 200))
    frame = pd.DataFrame(
        {
            "spectrum": np.array(["A", "G", "M"])[spectrum],
            "x": measured[:, 0],
            "visits": rng.poisson(1 + 3 * kind).astype(float),
            "y": measured[:, 1],
        }
    )
    frame.loc[[3, 8], ["x", "y"]] = np.nan
    frame.loc[5, "visits"] = np.nan
    return frame, errors, positions


def likelihood_of(errors):
    parts = {"spectrum": mw.Categorical(), KEY: mw.Gaussian(errors=errors), "visits": mw.Poisson()}
    return mw.Product(parts)


@pytest.fixture(scope="module")
def post(survey):
    return mw.sample(mw.Mixture(likelihood_of(survey[1])), survey[0], **OPTIONS)


def test_positions_are_drawn_of_the_rows_that_have_a_measurement(post, survey):
    frame, _, positions = survey
    found = post.imputed()
    there = np.setdiff1d(np.arange(200), [3, 8])
    np.testing.assert_array_equal(found.rows, np.repeat(there, 2))
    assert set(found.names) == {"x", "y"}
    drawn = found.mean().reshape(-1, 2)
    missed = frame[["x", "y"]].to_numpy()[there] - positions[there]
    assert np.square(drawn - positions[there]).mean() < 0.6 * np.square(missed).mean()


def test_widths_are_those_of_the_positions(post):
    assert len(np.unique(post.point_estimate())) == 3
    covariance = post.cluster_parameters()["x, y: covariance"].mean
    widths = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    assert 0.2 < widths.min() < widths.max() < 0.9


def test_the_forms_of_errors_of_new_rows(post, survey):
    new, errors = survey[0].iloc[[0, 3, 10]], np.array([0.2, 9.0, 0.4])
    alone = post.predict_proba(new, errors=errors)
    for form in ({KEY: errors}, {KEY: np.repeat(errors[:, None], 2, axis=1)}):
        np.testing.assert_allclose(post.predict_proba(new, errors=form), alone, atol=1e-12)
    plain = post.predict_proba(new)
    np.testing.assert_array_equal(alone[1], plain[1])  # without a measurement its error is nothing
    density = post.log_density(new, errors=[1e-12, 1.0, 25.0])
    np.testing.assert_allclose(density[:2], post.log_density(new)[:2], atol=0.1)
    assert density[2] < post.log_density(new)[2]
    assert post.predict(new, errors=errors).shape == (3,)


def test_other_parts_have_their_say(post):
    """Of a place that is hardly known, the spectrum decides."""
    frame = pd.DataFrame({"spectrum": ["A", "M"], "x": [1.0, 1.0], "y": [1.0, 1.0]})
    known = post.predict_proba(frame.assign(visits=np.nan), errors=[100.0, 100.0])
    assert known[0].argmax() != known[1].argmax()


def test_order_of_rows_and_columns_is_nothing(survey):
    """Errors belong to the rows of the table, wherever its columns are and whatever is missing."""
    frame, errors, _ = survey
    options = {**OPTIONS, "draws": 8, "warmup": 8, "chains": 1}
    one = mw.sample(mw.Mixture(likelihood_of(errors)), frame, **options)
    other = errors.copy()
    other[[3, 8]] = 7.0  # of rows without a measurement
    same = mw.sample(mw.Mixture(likelihood_of(other)), frame, **options)
    np.testing.assert_array_equal(one.labels, same.labels)
    columns = frame[["y", "visits", "x", "spectrum"]]
    again = mw.sample(mw.Mixture(likelihood_of(errors)), columns, **options)
    np.testing.assert_array_equal(one.labels, again.labels)


def test_tables_pictures_and_leave_one_out(post, survey):
    table = post.describe()
    assert {"x mean", "y sd", "visits rate"} <= set(table.columns)
    assert post.check_fit() is not None
    assert post.plot_clusters() is not None
    assert post.plot_profile() is not None
    values = post.to_arviz(log_likelihood=True)["log_likelihood"]["X"].values
    assert values.shape == (2, 60, 200)
    new = post.log_density(survey[0], errors=survey[1])
    left_out = -np.log(np.exp(-values).mean(axis=(0, 1)))
    assert 0 < np.mean(new - left_out) < 0.2
    assert np.corrcoef(new, left_out)[0, 1] > 0.98


def test_two_parts_with_errors(survey):
    frame, errors, _ = survey
    whole = frame.dropna()
    one, two = errors[whole.index, 0], errors[whole.index, 1]
    parts = {"x": mw.Gaussian(errors=one), "y": mw.Gaussian(errors=two), "visits": mw.Poisson()}
    options = {**OPTIONS, "draws": 10, "warmup": 10}
    found = mw.sample(mw.Mixture(mw.Product(parts)), whole, **options)
    assert found.imputed().values.shape == (2, 10, 2 * len(whole))
    new = whole.iloc[:2]
    with pytest.raises(ValueError, match=r"errors must be a mapping .* \['x', 'y'\]"):
        found.predict(new, errors=[0.1, 0.1])
    both = found.log_density(new, errors={"x": [0.5, 0.5], ("y",): [0.5, 0.5]})
    first = found.log_density(new, errors={"x": [0.5, 0.5]})
    assert np.all(np.isfinite(both))
    assert not np.allclose(both, first)


def test_new_rows_may_have_errors_where_the_data_have_none(survey):
    frame = survey[0]
    model = mw.Mixture(likelihood_of(None))
    found = mw.sample(model, frame, **{**OPTIONS, "draws": 10, "warmup": 20})
    new = frame.iloc[:2]
    assert found.log_density(new, errors=[900.0, 900.0]).max() < found.log_density(new).min()


def test_simulated_rows_have_errors():
    errors = np.repeat([0.0, 1e6], 100)
    parts = {0: mw.Gaussian(errors=errors), 1: mw.Poisson()}
    for likelihood in (mw.Product(parts), mw.Gaussian(errors=errors)):
        X, _ = mw.simulate(mw.Mixture(likelihood), 200, seed=1, width=1)
        assert X[100:, 0].std() > 300 > X[:100, 0].std()


def test_a_run_goes_on_bit_for_bit(tmp_path, survey):
    frame, errors, _ = survey
    model = mw.Mixture(likelihood_of(errors))
    options = {"warmup": 10, "chains": 2, "seed": 3, "progress": False}
    whole = mw.sample(model, frame, draws=14, store=tmp_path / "whole", **options)
    mw.sample(model, frame, draws=6, store=tmp_path / "part", **options)
    rest = mw.resume(tmp_path / "part", draws=14, progress=False)
    np.testing.assert_array_equal(rest.labels, whole.labels)
    np.testing.assert_array_equal(rest.latents, whole.latents)
    assert mw.load(tmp_path / "part").model == model
    whole.save(tmp_path / "saved")
    new = frame.iloc[:3]
    again = mw.load(tmp_path / "saved").predict_proba(new, errors=np.ones(3))
    np.testing.assert_array_equal(again, whole.predict_proba(new, errors=np.ones(3)))


WRONG = {
    "other columns": ({"x": np.ones(2)}, ValueError, r"columns of parts as keys.*got 'x'"),
    "another kind": (
        {"visits": np.ones(2)},
        TypeError,
        r"errors\['visits'\] must be None.*Poisson",
    ),
    "rows": ({KEY: np.ones(3)}, ValueError, r"errors\[\('x', 'y'\)\].*each of the 2 rows"),
    "negative": ([-1.0, 1.0], ValueError, "errors must be variances.*-1 in row 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_errors_of_new_rows(name, post, survey):
    errors, kind, match = WRONG[name]
    with pytest.raises(kind, match=match):
        post.predict(survey[0].iloc[:2], errors=errors)


def test_what_is_refused(survey, post):
    frame, errors, _ = survey
    likelihood = likelihood_of(errors)
    model = mw.Mixture(likelihood)
    quick = {"draws": 2, "progress": False}
    with pytest.raises(ValueError, match=r"parts.*'x', 'y'.*errors must have .* 200 rows.*\(198,"):
        mw.sample(mw.Mixture(likelihood_of(errors[:198])), frame, **quick)
    half = frame.copy()
    half.loc[0, "x"] = np.nan
    with pytest.raises(ValueError, match=r"missing value .* and errors"):
        mw.sample(model, half, **quick)
    with pytest.raises(ValueError, match=r"missing value .* and errors"):
        post.predict(half.iloc[:2], errors=[1.0, 1.0])
    for given in ({"weights": np.full(200, 2.0)}, {"known": np.r_[0, 1, np.full(198, -1)]}):
        with pytest.raises(ValueError, match="draws the true position"):
            mw.sample(model, frame, **given, **quick)
    with pytest.raises(TypeError, match="draws the true position"):
        mw.sample(model, frame, mw.PaperTree(), **quick)
    noisy = mw.Gaussian(errors=errors)
    with pytest.raises(ValueError, match=r"Regression, is given column 'x'.*measured with errors"):
        mw.Product({KEY: noisy, ("x", "visits"): mw.Regression("visits", on=["x"])})
    with pytest.raises(ValueError, match=r"Poisson, is given column 'x'"):
        mw.Product({KEY: noisy, ("visits", "x"): mw.Poisson(exposure="x")})
