"""Rows in groups from `sample` to the posterior: what is kept, asked and refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import mixwood as mw
from mixwood.posterior.groups import group_shares, mean_inverse

RUN = {"draws": 30, "warmup": 20, "chains": 2, "seed": 3, "progress": False}
MODEL = mw.Mixture(mw.DiagonalGaussian(scale="data"), mw.FiniteMixture())


def data(n=30):
    """Three groups of different mixtures of two clusters, the last of one row."""
    rng = np.random.default_rng(1)
    groups = np.array([*["a"] * (n // 2), *["b"] * (n - n // 2 - 1), "c"])
    far = rng.random(n) < np.where(groups == "a", 0.8, 0.2)
    far[-1] = True
    return rng.normal(size=(n, 2)) + 12 * far[:, None], groups


@pytest.fixture(scope="module")
def post():
    X, groups = data()
    return mw.sample(MODEL, X, groups=groups, **RUN)


def test_what_is_kept(post):
    assert post.groups.names == ("a", "b", "c")
    assert post.group_values.shape == (2, 30, 3)
    assert post.model.prior.gamma == mw.hyper.LogNormal(0.5, 1.0)
    assert post.settings["groups"] == "3 groups of 1 to 15 rows"
    np.testing.assert_allclose(post.log_u, np.logaddexp.reduce(post.group_values, axis=2))
    assert "gamma" in post.summary().index
    assert "3 groups" in repr(post)
    assert post.thinned(10).group_values.shape == (2, 10, 3)


def test_weights_of_groups(post):
    table = post.group_weights()
    assert table["rows"].unstack().sum(axis=1).tolist() == [15, 14, 1]
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    wide = (table["high"] - table["low"]).unstack()
    assert (wide.loc["c"] > wide.loc["a"]).all()  # one row tells little
    estimate = post.point_estimate()
    far = int(estimate[-1])
    assert table.loc[("a", far), "mean"] > 0.5 > table.loc[("b", far), "mean"]
    shares = group_shares(post, estimate, seed=0, n_draws=20)
    assert shares.shape[1:] == (3, 3)
    np.testing.assert_allclose(shares.sum(axis=2), 1)


def test_compare_groups(post):
    far = int(post.point_estimate()[-1])
    table = post.compare_groups("a", "b")
    assert table.loc[far, "probability"] > 0.99
    np.testing.assert_allclose(table["difference"], table["a"] - table["b"], atol=1e-12)
    turned = post.compare_groups("b", "a")
    assert turned.loc[far, "difference"] == pytest.approx(-table.loc[far, "difference"])
    with pytest.raises(ValueError, match="b must be one of the groups"):
        post.compare_groups("a", "z")
    with pytest.raises(ValueError, match="two groups, got 'a' twice"):
        post.compare_groups("a", "a")


def test_predictions_look_at_the_group(post):
    centres = np.array([[12.0, 12.0], [0.0, 0.0]])  # 80% are near the first in a, 20% in b
    a, b, new = (post.log_density(centres, groups=name) for name in ("a", "b", "new"))
    assert b[0] < new[0] < a[0]
    assert a[1] < new[1] < b[1]
    both = post.predict_proba(centres, groups=["a", "b"], new=True)
    np.testing.assert_allclose(both.sum(axis=1), 1)
    far = int(post.point_estimate()[-1])
    assert post.predict(centres, groups="a").tolist() == [far, 1 - far]
    X = data()[0]
    densities = {name: post.log_density(X, groups=name) for name in ("a", "b", "c")}
    every = np.array(["new", "a", "c", "b", "a"])
    together = post.log_density(X[:5], groups=every)
    alone = [post.log_density(X[[i]], groups=name)[0] for i, name in enumerate(every)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    together = post.predict_proba(X[:5], groups=every, new=True)
    alone = [post.predict_proba(X[[i]], groups=name, new=True)[0] for i, name in enumerate(every)]
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-15)
    sizes = post.groups.sizes / 30
    pooled = sum(w * np.exp(densities[name]) for w, name in zip(sizes, "abc", strict=True))
    np.testing.assert_allclose(post.log_density(X), np.log(pooled), rtol=1e-6)
    assert post.sample_predictive(4, seed=0).shape == (4, 2)
    with pytest.raises(ValueError, match="per_draw must be False"):
        post.log_density(X, per_draw=True)


def test_saved_loaded_and_resumed(post, tmp_path):
    X, groups = data()
    post.save(tmp_path / "saved")
    again = mw.load(tmp_path / "saved")
    np.testing.assert_array_equal(again.group_values, post.group_values)
    np.testing.assert_array_equal(again.groups.codes, post.groups.codes)
    assert again.groups.names == post.groups.names
    mw.sample(MODEL, X, groups=groups, **{**RUN, "draws": 12}, store=tmp_path / "run")
    resumed = mw.resume(tmp_path / "run", draws=30, progress=False)
    np.testing.assert_array_equal(resumed.labels, post.labels)
    np.testing.assert_array_equal(resumed.group_values, post.group_values)


def test_a_gamma_for_each_group(tmp_path):
    X, groups = data()
    prior = mw.FiniteMixture(gamma=mw.hyper.Gamma(2, 2), per_group=True)
    post = mw.sample(mw.Mixture(MODEL.likelihood, prior), X, groups=groups, **RUN)
    assert post.group_values.shape == (2, 30, 6)
    np.testing.assert_allclose(post.gamma, post.group_values[..., 3:].mean(axis=2))
    assert np.isfinite(post.log_density(X[:2], groups=["a", "c"])).all()
    post.save(tmp_path / "saved")
    assert mw.load(tmp_path / "saved").model.prior.per_group


def test_one_group_is_no_group():
    X, _ = data()
    one = mw.sample(MODEL, X, groups=["all"] * 30, **RUN)
    none = mw.sample(MODEL, X, **RUN)
    np.testing.assert_array_equal(one.labels, none.labels)
    np.testing.assert_allclose(one.rate, none.rate)
    assert one.model.prior.gamma == 1.0
    assert one.group_weights().shape[0] == one.point_estimate().max() + 1


def test_every_row_its_own_group():
    X, _ = data(8)
    post = mw.sample(MODEL, X, groups=np.arange(8), sampler="gibbs", **RUN)
    assert np.isfinite(post.log_density(X, groups=np.arange(8))).all()


def test_missing_entries_and_leaves_of_several_rows():
    X, groups = data()
    X[3, 1] = np.nan
    post = mw.sample(
        mw.Mixture(mw.Gaussian(scale="data"), mw.FiniteMixture()), X, groups=groups, **RUN
    )
    assert post.imputed().values.shape == (2, 30, 1)
    X, groups = data(60)
    few = mw.sample(MODEL, X, groups=groups, sampler=mw.Tree(max_leaves=20), **RUN)
    assert few.n_items == 60


def test_weights_and_known_labels(tmp_path):
    X, groups = data()
    weights = np.where(np.arange(30) % 2, 1.0, 2.5)
    post = mw.sample(MODEL, X, groups=groups, weights=weights, **RUN)
    table = post.group_weights()
    assert table["rows"].sum() == pytest.approx(weights.sum())
    assert table["rows"].unstack().loc["c"].sum() == weights[-1]
    assert np.isfinite(post.log_density(X[:2], groups="a")).all()
    known = np.where(np.arange(30) < 4, np.arange(30) % 2, -1)
    options = {**RUN, "groups": groups, "known": known}
    post = mw.sample(MODEL, X, **options)
    assert (post.labels[..., 0] == post.labels[..., 2]).all()
    assert post.group_weights()["rows"].sum() == 30
    mw.sample(MODEL, X, **{**options, "draws": 12}, store=tmp_path / "run")
    np.testing.assert_array_equal(
        mw.resume(tmp_path / "run", draws=30, progress=False).group_values, post.group_values
    )


def test_refusals(post):
    X, groups = data()
    with pytest.raises(TypeError, match=r"groups= needs a prior .* mw.FiniteMixture\(\), got NGGP"):
        mw.sample(mw.Mixture(MODEL.likelihood), X, groups=groups, **RUN)
    for sampler in ("slice", "papertree"):
        with pytest.raises(TypeError, match="does not work with groups="):
            mw.sample(MODEL, X, groups=groups, sampler=sampler, **RUN)
    with pytest.raises(ValueError, match="groups must be 30 names"):
        mw.sample(MODEL, X, groups=groups[:-1], **RUN)
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(site=groups)
    with pytest.raises(ValueError, match=r"groups must be names .* got 'site'; .* X\['site'\]"):
        mw.sample(MODEL, frame, groups="site", **RUN)
    for ask in (post.group_weights, lambda draws: post.compare_groups("a", "b", draws=draws)):
        with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
            ask(draws=0)
    none = mw.sample(MODEL, X, **RUN)
    for ask in (none.group_weights, none.plot_groups, lambda: none.compare_groups("a", "b")):
        with pytest.raises(ValueError, match="needs groups, and this posterior has none"):
            ask()
    with pytest.raises(ValueError, match="groups must be None: the posterior has no groups"):
        none.log_density(X, groups=groups)
    for order in ("z", 3):
        with pytest.raises(ValueError, match="order must be names of groups"):
            post.plot_groups(order=order, ax=tuple(Figure().subplots(2, 1)))
    with pytest.raises(ValueError, match="order must name groups once each"):
        post.plot_groups(order=["a", "a"], ax=tuple(Figure().subplots(2, 1)))


def test_the_picture(post):
    bars, cells = post.plot_groups(order=["c", "a"], ax=tuple(Figure().subplots(2, 1)))
    assert [label.get_text() for label in cells.get_xticklabels()] == ["c", "a"]
    heights = [bar.get_height() for bar in bars.patches]
    assert sum(heights) == pytest.approx(2)
    bars, cells = post.plot_groups(order="similar", ax=tuple(Figure().subplots(2, 1)))
    assert len(cells.get_xticklabels()) == 3
    assert [label.get_rotation() for label in cells.get_xticklabels()] == [0] * 3
    long = tuple(f"the hospital of the town of {name}" for name in "abc")
    named = replace(post, groups=replace(post.groups, names=long))
    _, cells = named.plot_groups(ax=tuple(Figure().subplots(2, 1)))  # in several lines
    texts = [label.get_text() for label in cells.get_xticklabels()]
    assert [text.replace("\n", " ") for text in texts] == list(long)
    assert all("\n" in text for text in texts)
    assert [label.get_rotation() for label in cells.get_xticklabels()] == [0] * 3
    _, cells = named.plot_groups(ax=tuple(Figure(figsize=(2, 6)).subplots(2, 1)))
    assert [label.get_rotation() for label in cells.get_xticklabels()] == [90] * 3
    assert cells.get_xticklabels()[0].get_text() == long[0]


def test_mean_of_an_inverse():
    rng = np.random.default_rng(0)
    for clusters, mean in ((1, 0.01), (3, 2.0), (40, 900.0), (2, 5000.0)):
        exact = (1 / (clusters + rng.poisson(mean, 400_000))).mean()
        found = mean_inverse(np.array([clusters]), np.array([mean]))[0]
        assert found == pytest.approx(exact, rel=0.01)


def test_a_target_is_predicted_by_group():
    """Two lines, one for each group: which one a row is on follows from its group."""
    rng = np.random.default_rng(3)
    x, groups = rng.uniform(-2, 2, 80), np.repeat(["up", "down"], 40)
    X = np.column_stack([x, np.where(groups == "up", 2.0, -2.0) * x + 0.1 * rng.normal(size=80)])
    model = mw.Mixture(mw.Regression(1), mw.FiniteMixture())
    post = mw.sample(model, X, groups=groups, **RUN)
    at = np.full((3, 1), 1.5)
    found = post.predict_target(at, groups=["up", "down", "new"])
    np.testing.assert_allclose(found.mean[:2], [3, -3], atol=0.3)
    assert np.all(found.lower[:2] > [2.5, -3.5])
    assert np.all(found.upper[:2] < [3.5, -2.5])
    assert found.lower[2] < -2 < 2 < found.upper[2]
    together = post.predict_target(at[:1])
    assert together.mean[0] == pytest.approx(found.mean[:2].mean(), abs=0.1)
    alone = post.predict_target(at[:1], groups="down")
    np.testing.assert_allclose(alone, [values[1:2] for values in found])


def test_arviz_has_what_is_of_each_group(post):
    container = post.to_arviz()
    draws = container["posterior"]
    assert draws["group_log_u"].dims == ("chain", "draw", "group")
    assert draws["group"].values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(draws["group_log_u"], post.group_values)
    assert container["observed_data"]["group"].values.tolist() == list(data()[1])
    X, groups = data()
    own = mw.Mixture(MODEL.likelihood, mw.FiniteMixture(per_group=True))
    assert "per_group=True" in repr(own.prior)
    assert "per_group" not in repr(MODEL.prior)
    each = mw.sample(own, X, groups=groups, **RUN)
    found = each.to_arviz()["posterior"]["group_gamma"]
    np.testing.assert_array_equal(found, each.group_values[..., 3:])


def test_report_and_estimator(post):
    from mixwood.report.about import About
    from mixwood.report.digest import Digest
    from mixwood.report.groups import groups_section

    text = groups_section(Digest(post, About()))
    assert "3 groups of 1 to 15 rows" in text
    assert "<small>" in text
    assert "data:image/png" in text
    X, groups = data()
    estimator = mw.MixtureClustering(
        likelihood=MODEL.likelihood, draws=30, warmup=20, chains=2, random_state=3
    )
    estimator.fit(X, groups=groups)
    assert estimator.posterior_.groups.names == ("a", "b", "c")
    assert estimator.predict(X[:2], groups=groups[:2]).shape == (2,)
    assert np.isfinite(estimator.score_samples(X[:2], groups=["a", "zz"])).all()
    weights = np.where(np.arange(30) < 4, 0.0, 0.5)
    for given in (list(groups), pd.Series(groups, index=range(30, 60)), pd.Categorical(groups)):
        estimator.fit(X, sample_weight=weights, groups=given)
        assert estimator.labels_.shape == (30,)
        assert estimator.posterior_.group_weights()["rows"].sum() == 13
    with pytest.raises(ValueError, match="groups must be 30 names"):
        estimator.fit(X, sample_weight=weights, groups=groups[4:])
    with pytest.raises(ValueError, match="groups must be None: the posterior has no groups"):
        estimator.partial_fit(X).predict(X, groups=groups)


def test_items_of_a_group_stay_with_it(post):
    """Where a draw has together what the estimate has apart, by the group's own items."""
    codes = post.groups.codes
    shares = group_shares(post, codes, seed=0, n_draws=60).mean(axis=0)
    assert shares[0, 0] > 0.9
    assert shares[1, 1] > 0.9


def test_births_and_deaths_are_marked():
    """Of three clusters one stays, one ends after the second window, one begins in the last."""
    rng = np.random.default_rng(2)
    windows = np.repeat([0, 1, 2], 20)
    centres = np.where(np.arange(60) % 2, 0.0, np.where(windows < 2, 12.0, 24.0))
    X = rng.normal(size=(60, 2)) + centres[:, None]
    drift = mw.sample(MODEL, X, groups=windows, **RUN)
    _, cells = drift.plot_groups(order=[0, 1, 2], ax=tuple(Figure().subplots(2, 1)))
    ends = [line.get_xdata()[0] for line in cells.lines if line.get_gid() == "end"]
    assert sorted(ends) == [1.5, 1.5]
    _, unordered = drift.plot_groups(ax=tuple(Figure().subplots(2, 1)))
    assert not unordered.lines
    _, few = drift.plot_groups(max_clusters=1, ax=tuple(Figure().subplots(2, 1)))
    assert [label.get_text() for label in few.get_yticklabels()] == ["0 (30)", "2 others (30)"]
