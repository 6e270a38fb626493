"""`Posterior.imputed`, and what else a posterior does where entries are missing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import mixwood as mw
from mixwood.posterior.leave_one_out import log_ordinates
from mixwood.reference import GibbsChain
from tests.conftest import with_holes

OPTIONS = {"draws": 30, "warmup": 20, "chains": 2, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def holed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 3))
    X += 8 * (np.arange(60) // 20)[:, None] * np.array([1, -1, 0])
    return with_holes(X, rng, 0.08)


@pytest.fixture(scope="module")
def post(holed):
    return mw.sample(mw.Mixture(mw.Gaussian()), holed, **OPTIONS)


def test_where_and_what(holed, post):
    found = post.imputed()
    np.testing.assert_array_equal((found.rows, found.columns), np.nonzero(np.isnan(holed)))
    assert found.values.shape == (2, 30, len(found))
    np.testing.assert_allclose(found.mean(), found.values.mean(axis=(0, 1)))
    np.testing.assert_allclose(found.sd(), found.values.std(axis=(0, 1)))
    table = found.table()
    assert list(table.columns) == ["row", "column", "mean", "sd", "q5", "q95"]
    assert (table["q5"] <= table["q95"]).all()
    assert table["column"][0] == f"column {found.columns[0]}"


def test_the_entries_of_a_product(holed):
    kind = np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60) // 20)
    X = np.column_stack([kind, holed])
    X[5, 1:] = np.nan
    likelihood = mw.Product({(3, 1, 2): mw.Gaussian(), 0: mw.Categorical()})
    found = mw.sample(mw.Mixture(likelihood), X, **OPTIONS).imputed()
    missing = np.isnan(X)
    missing[:, 0] = missing[5] = False
    expected = set(zip(*np.nonzero(missing), strict=True))
    assert set(zip(found.rows.tolist(), found.columns.tolist(), strict=True)) == expected
    entries = np.flatnonzero(found.columns == 3)
    assert np.abs(found.mean()[entries]).max() < 4  # that column has no shifts


def test_nothing_is_missing(blobs):
    post = mw.sample(mw.Mixture(mw.Gaussian()), blobs(12), **OPTIONS)
    with pytest.raises(ValueError, match="nothing is missing in X"):
        post.imputed()


def test_what_is_skipped_is_not_drawn(holed):
    post = mw.sample(mw.Mixture(mw.DiagonalGaussian()), holed, **OPTIONS)
    with pytest.raises(ValueError, match=r"DiagonalGaussian, skips the missing entries"):
        post.imputed()


def test_saved_and_loaded(post, tmp_path):
    post.save(tmp_path / "run")
    there = mw.load(tmp_path / "run")
    np.testing.assert_array_equal(there.imputed().values, post.imputed().values)
    rows = [[0.0, np.nan, 0.0]]
    np.testing.assert_array_equal(there.predict_proba(rows), post.predict_proba(rows))
    post.save(tmp_path / "without", include_data=False)
    with pytest.raises(ValueError, match="imputed"):
        mw.load(tmp_path / "without").imputed()


@pytest.mark.parametrize("sampler", [mw.Tree(), mw.Gibbs(), mw.SplitMerge(), mw.Slice()], ids=str)
def test_resumed_with_the_same_draws(holed, sampler, tmp_path):
    model = mw.Mixture(mw.Gaussian())
    whole = mw.sample(model, holed, sampler, **OPTIONS)
    half = OPTIONS | {"draws": 11}
    mw.sample(model, holed, sampler, **half, store=tmp_path / "run")
    longer = mw.resume(tmp_path / "run", draws=30, progress=False)
    np.testing.assert_array_equal(longer.labels, whole.labels)
    np.testing.assert_array_equal(longer.log_joint, whole.log_joint)
    np.testing.assert_array_equal(longer.imputed().values, whole.imputed().values)


def test_thinned(post):
    few = post.thinned(5)
    assert few.imputed().values.shape[1] == 5


def test_new_rows_are_judged_by_what_is_observed(holed):
    """One cluster, fixed: the density is a t, worked out by hand."""
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.DirichletProcess(alpha=1e-12))
    post = mw.sample(model, holed, init="one", draws=40, warmup=5, chains=1, seed=1, progress=False)
    assert (post.n_clusters == 1).all()
    family, imputed = post.resolved, post.imputed()
    new, expected = np.array([[1.0, np.nan, 0.5]]), []
    for draw in imputed.values[0]:
        X = holed.copy()
        X[imputed.rows, imputed.columns] = draw
        n, r = len(X), family.r
        away = X.mean(axis=0) - family.mean
        scale = family.scale + np.cov(X, rowvar=False) * (n - 1)
        scale += r * n / (r + n) * np.outer(away, away)
        f, kappa = family.nu + n - 2, r + n
        mean, shape = family.mean + away * n / kappa, scale * (kappa + 1) / (kappa * f)
        o = [0, 2]
        expected.append(stats.multivariate_t.pdf(new[0, o], mean[o], shape[np.ix_(o, o)], f))
    found = post.log_density(new, per_draw=True)[0, :, 0]
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-6)
    assert post.log_density(new)[0] == pytest.approx(np.log(np.mean(expected)), rel=1e-6)


def test_a_row_of_which_nothing_is_known(post):
    sizes = np.bincount(post.point_estimate())
    chances = post.predict_proba(np.full((1, 3), np.nan))[0]
    np.testing.assert_allclose(chances, sizes / 60, atol=0.05)
    assert post.log_density(np.full((1, 3), np.nan)) == pytest.approx(0.0, abs=1e-9)


def test_leave_one_out_sees_what_is_observed(holed, post):
    """Against the twin: the row is taken out, and its observed entries are weighed."""
    at = (1, 7)
    model = mw.Mixture(post.resolved, mw.NGGP())
    twin = GibbsChain(model, holed, post.labels[at], np.random.default_rng(1))
    twin.set_base(post.bases[at])
    twin.set_latent(post.latents[at])
    values = post.core_values()
    twin.set_state(post.labels[at], values.log_u[at], values.log_alpha[at], values.sigma[at], 0.0)
    row = twin.latent_rows[0]
    own = int(twin.assignment[row])
    twin.stats[own] = twin.family.forget(twin.stats[own], twin.X[row])
    twin.sizes[own] -= 1
    expected = logsumexp(twin.log_known_weights(row)) + twin.log_u - np.log(59)
    expected -= np.log1p(np.exp(twin.log_u))
    assert log_ordinates(post)[at][row] == pytest.approx(expected, rel=1e-8)


def test_description_and_new_draws(post):
    assert len(post.describe()) == post.point_estimate().max() + 1
    assert post.sample_predictive(20, seed=1).shape == (20, 3)
    assert not np.isnan(post.sample_predictive(20, seed=1)).any()


def test_the_estimator_takes_holes(holed):
    model = mw.MixtureClustering(draws=30, warmup=20, chains=2, random_state=0).fit(holed)
    assert (model.posterior_.n_clusters == 3).mean() > 0.9
    assert model.predict(holed).shape == (60,)
    assert np.isfinite(model.score(holed))
