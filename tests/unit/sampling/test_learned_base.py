"""A base measure that is learned: units, stored runs, prediction, leave-one-out, leaves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mixwood as mw
from mixwood.posterior.leave_one_out import log_ordinates

X = np.random.default_rng(0).normal(size=(24, 2)) + 7 * (np.arange(24) % 3)[:, None]
FAST = {"draws": 12, "warmup": 5, "chains": 2, "seed": 3, "progress": False}
SAMPLERS = [mw.Tree(rebuild=3), mw.Gibbs(), mw.SplitMerge(), mw.PaperTree(), mw.Slice()]
KINDS = [mw.Gaussian(), mw.DiagonalGaussian()]


def sample(likelihood=KINDS[0], data=X, **options):
    return mw.sample(mw.Mixture(likelihood), data, **{**FAST, **options})


@pytest.fixture(scope="module")
def post():
    return sample()


# --- units


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
@pytest.mark.parametrize(("sampler", "init"), [("tree", "ibhc"), ("gibbs", "one")])
def test_units_that_are_powers_of_two_change_nothing(likelihood, sampler, init):
    factors = np.array([2.0**-7, 2.0**5])
    one = sample(likelihood, X, sampler=sampler, init=init)
    other = sample(likelihood, X * factors, sampler=sampler, init=init)
    np.testing.assert_array_equal(other.labels, one.labels)
    np.testing.assert_array_equal(other.bases, one.bases)
    np.testing.assert_array_equal(other.width, one.width)
    if "variance" in one.base:
        np.testing.assert_allclose(other.base["variance"], one.base["variance"] * factors**2)
    else:
        square = np.outer(factors, factors)
        np.testing.assert_allclose(other.base["covariance"], one.base["covariance"] * square)
    shift = len(X) * np.log(factors).sum()
    np.testing.assert_allclose(other.log_joint, one.log_joint - shift, rtol=1e-10)


@pytest.mark.parametrize("likelihood", KINDS, ids=repr)
def test_units_and_origin_leave_the_posterior_as_it_is(likelihood):
    options = {"draws": 300, "warmup": 50}
    one = sample(likelihood, X, **options)
    other = sample(likelihood, X * [1e-3, 37.0] + [5.0, -900.0], **options)
    assert other.n_clusters.mean() == pytest.approx(one.n_clusters.mean(), abs=0.15)
    assert np.log(other.width).mean() == pytest.approx(np.log(one.width).mean(), abs=0.2)
    np.testing.assert_array_equal(other.point_estimate(), one.point_estimate())


def test_round_clusters_share_one_unit():
    one, other = sample(mw.SphericalGaussian()), sample(mw.SphericalGaussian(), X * 8.0)
    np.testing.assert_array_equal(other.labels, one.labels)
    np.testing.assert_array_equal(other.bases, one.bases)


# --- runs


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_the_base_measure_moves_and_is_kept(sampler):
    found = sample(sampler=sampler, init="one")
    assert found.bases.shape == (2, 12, 5)
    assert np.all(np.isfinite(found.bases))
    assert len(np.unique(found.width)) > 12
    assert np.all(np.linalg.eigvalsh(found.base["covariance"]) > 0)
    assert np.all(found.base["nu"] > 3)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_a_longer_run_goes_on_where_a_stored_one_ended(sampler, tmp_path):
    options = {"sampler": sampler, "init": "one"}
    sample(store=tmp_path / "run", **options)
    longer = mw.resume(tmp_path / "run", draws=20, progress=False)
    whole = sample(draws=20, **options)
    for name in ("labels", "log_joint", "log_u", "bases"):
        np.testing.assert_array_equal(getattr(longer, name), getattr(whole, name))


def test_saved_and_loaded(post, tmp_path):
    post.save(tmp_path / "run")
    loaded = mw.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.bases, post.bases)
    np.testing.assert_array_equal(loaded.width, post.width)
    assert loaded.resolved == post.resolved
    assert loaded.base.keys() == post.base.keys()
    np.testing.assert_array_equal(loaded.log_density(X[:3]), post.log_density(X[:3]))


def test_thinned_draws_keep_their_base_measures(post):
    few = post.thinned(4)
    kept = np.linspace(0, 11, 4).round().astype(int)
    np.testing.assert_array_equal(few.bases, post.bases[:, kept])
    np.testing.assert_array_equal(few.base["nu"], post.base["nu"][:, kept])


def test_bases_of_another_shape_are_refused(post):
    from dataclasses import replace

    with pytest.raises(ValueError, match=r"bases must have shape .* = \(2, 12, 5\), got"):
        replace(post, bases=post.bases[..., :4])
    with pytest.raises(ValueError, match="bases must have shape"):
        replace(post, bases=None)


# --- what is asked of them


def test_prediction(post, monkeypatch):
    new = np.random.default_rng(5).normal(size=(40, 2)) * 5 + 5
    parts = post.log_density(new, per_draw=True)
    assert parts.shape == (2, 12, 40)
    mean = np.log(np.exp(parts).mean(axis=(0, 1)))
    np.testing.assert_allclose(post.log_density(new), mean, rtol=1e-9)
    proba = post.predict_proba(new, new=True)
    assert np.all(proba >= 0)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert post.sample_predictive(7, seed=1).shape == (7, 2)
    # Few draws stand for all: then the mean is theirs.
    monkeypatch.setattr("mixwood.posterior.predictive_mixture.PREDICTIVE_DRAWS", 8)
    few = post.thinned(4)
    copy = dataclasses.replace(post)
    np.testing.assert_allclose(copy.log_density(new), few.log_density(new), rtol=1e-12)


def test_a_density_is_one(post):
    t = np.sinh(np.linspace(-8, 8, 161))
    plane = np.stack(np.meshgrid(t, t), axis=-1).reshape(-1, 2) + X.mean(axis=0)
    volume = np.outer(*(2 * [np.cosh(np.linspace(-8, 8, 161)) * 0.1])).ravel()
    assert np.exp(post.log_density(plane)) @ volume == pytest.approx(1, abs=0.02)


def test_leave_one_out_of_each_draw_is_under_its_own_base(post):
    values = log_ordinates(post)
    assert values.shape == post.labels.shape
    # row 0 given the others, by hand: chain 1, last draw
    labels, at = post.labels[1, -1], post.core_values()
    family = post.resolved.bind(post.X).at(post.bases[1, -1])
    log_u, sigma = at.log_u[1, -1], at.sigma[1, -1]
    log_tau = np.logaddexp(0, log_u)
    terms = [at.log_alpha[1, -1] + np.log(sigma) + (sigma - 1) * log_tau]
    terms[0] += family.log_marginal(np.array([0]))
    for k in range(labels.max() + 1):
        rows = np.flatnonzero(labels == k)
        rows = rows[rows != 0]
        if len(rows):
            joined = family.log_marginal(np.append(rows, 0)) - family.log_marginal(rows)
            terms.append(np.log(len(rows) - sigma) - log_tau + joined)
    constant = post.resolved.row_constants(post.X)[0]
    expected = log_u - np.log(len(X) - 1) + np.logaddexp.reduce(terms) + constant
    assert values[1, -1, 0] == pytest.approx(expected, rel=1e-9)


def test_leaves_learn_a_base_measure():
    rows = np.repeat(X, 4, axis=0) + np.random.default_rng(2).normal(size=(96, 2)) * 0.5
    model = mw.Mixture(mw.Gaussian())
    leaves = mw.stream_leaves(model, [rows], max_leaves=15, seed=1)
    found = mw.sample(model, leaves, **FAST)
    assert found.bases.shape == (2, 12, 5)
    assert np.all((found.width > 0) & (found.width < 1.5))
    assert len(np.unique(found.width)) > 12
    np.testing.assert_allclose(found.predict_proba(rows[:5], new=True).sum(axis=1), 1.0)
    again = mw.sample(model, leaves, **FAST, n_jobs=1)
    np.testing.assert_array_equal(again.bases, found.bases)


def test_what_is_fixed_has_no_base(post):
    fixed = sample(mw.Gaussian(scale="data"))
    assert fixed.bases.shape == (2, 12, 0)
    assert fixed.base == {}
    with pytest.raises(AttributeError, match="has no width"):
        _ = fixed.width
    assert list(post.base_scalars()) == ["width", "nu"]
    assert fixed.base_scalars() == {}
