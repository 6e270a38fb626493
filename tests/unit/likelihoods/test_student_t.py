"""Student t clusters: statistics, refusals, predictions, outliers, runs that go on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood.reference import family_of


@pytest.fixture(scope="module")
def groups():
    """Three groups of t rows with 4 degrees of freedom, far apart; which each row is in."""
    rng = np.random.default_rng(5)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [3.0, 10.0]])
    labels = np.repeat(np.arange(3), 60)
    return centres[labels] + stats.multivariate_t(df=4, shape=np.eye(2)).rvs(
        180, random_state=rng
    ), labels


@pytest.fixture(scope="module")
def post(groups):
    model = mw.Mixture(mw.StudentT())
    return mw.sample(model, groups[0], draws=150, warmup=100, chains=2, seed=1, progress=False)


FIXED = {
    "fixed": mw.StudentT(df=3.0, scale="data"),
    "paper": mw.StudentT(df=3.0, scale="paper"),
    "learned": mw.StudentT(),
}


@pytest.mark.parametrize("likelihood", FIXED.values(), ids=FIXED)
def test_statistics_add_up(likelihood, groups):
    """In whatever order, and the compiled marginal is that of the twin."""
    rng = np.random.default_rng(1)
    X = groups[0][:40]
    explicit = likelihood.resolve(X)
    scales = rng.gamma(1.0, 1.0, len(X)) + 1e-3
    bound = explicit.bind(X).at(explicit.start_base(), scales)
    rows = rng.permutation(40)
    whole = bound.statistics(rows)
    half = bound.merge(bound.statistics(rows[:15]), bound.statistics(rows[15:]))
    np.testing.assert_allclose(half, whole, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        bound.subtract(whole, bound.statistics(rows[15:])),
        bound.statistics(rows[:15]),
        rtol=1e-8,
        atol=1e-9,
    )
    left = whole
    for row in rows[1:]:
        left = bound.forget(left, row)
    np.testing.assert_allclose(left, bound.statistics(rows[:1]), rtol=1e-7, atol=1e-9)
    assert not bound.forget(left, rows[0]).any()
    twin = family_of(explicit)
    there = twin.log_marginal(twin.of(np.column_stack([X, scales])))
    here = bound.log_marginal(np.arange(40)) + explicit.row_constants(X).sum()
    assert here == pytest.approx(there, rel=1e-10)


def test_with_scales_of_1_marginals_are_those_of_the_gaussian(groups):
    X = groups[0]
    gaussian = mw.Gaussian(scale="data").resolve(X)
    ours = mw.StudentT(2.0, gaussian.r, gaussian.nu, gaussian.mean, gaussian.scale)
    rows = np.arange(30)
    expected = gaussian.bind(X).log_marginal(rows)
    assert ours.bind(X).log_marginal(rows) == pytest.approx(expected, rel=1e-12)


def test_rows_of_hardly_any_weight():
    """What is left of a cluster when all rows but such are gone is worth next to nothing."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 2))
    likelihood = mw.StudentT(df=1.0, scale="data").resolve(X)
    scales = np.ones(50)
    scales[:2] = 1e-40, 1e-17
    bound = likelihood.bind(X).at(np.empty(0), scales)
    left = bound.statistics(np.arange(50))
    for row in range(49, 1, -1):
        left = bound.forget(left, row)
    exact = bound.statistics(np.arange(2))
    assert np.isfinite(left).all()
    assert bound.log_marginal_of(left) == pytest.approx(bound.log_marginal_of(exact), abs=1e-6)


def test_draws_follow_units(groups):
    def draws(X):
        model = mw.Mixture(mw.StudentT())
        found = mw.sample(model, X, draws=20, warmup=20, chains=1, seed=1, progress=False)
        return found.labels, found.latents

    one, scales = draws(groups[0])
    other, there = draws(groups[0] * [1e-3, 250.0] + [5.0, 1e4])
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(there, scales, rtol=1e-4)


def test_groups_of_t_rows_come_out_as_the_groups(post, groups):
    estimate = post.point_estimate()
    assert np.sort(np.bincount(estimate))[-3:].sum() >= 178
    agree = np.mean(estimate[:, None] == estimate, where=groups[1][:, None] == groups[1])
    assert agree > 0.95
    assert 1.5 < np.median(post.base["df"]) < 12
    assert {"df", "nu"} <= set(post.summary().index)


def test_outliers(post, groups):
    import pandas as pd

    X, labels = groups
    names = pd.DataFrame({"x": X[:, 0], "cluster": labels}, index=[f"row {i}" for i in range(180)])
    found = post.outliers(names, most=5)
    assert found.columns.tolist() == ["x", "cluster (table)", "cluster", "scale", "q5", "q95"]
    assert (np.diff(found["scale"]) >= 0).all()
    assert ((found["q5"] < found["scale"]) & (found["scale"] < found["q95"])).all()
    centres = np.array([np.median(X[labels == k], axis=0) for k in range(3)])
    far = np.sum((X - centres[labels]) ** 2, axis=1)
    assert set(found.index) <= {f"row {i}" for i in np.argsort(-far)[:12]}
    assert len(post.outliers(most=None)) == 180


def test_no_outliers_without_scales(groups):
    model = mw.Mixture(mw.Gaussian())
    found = mw.sample(model, groups[0], draws=5, chains=1, seed=1, progress=False)
    with pytest.raises(ValueError, match=r"no scales of rows: .* Gaussian, .*StudentT"):
        found.outliers()


def test_nothing_is_imputed(post):
    with pytest.raises(ValueError, match="nothing is missing in X"):
        post.imputed()


def test_new_rows(post):
    """Densities are those of t clusters: they fall slowly, and their mass is 1."""
    assert post.predict([[0.0, 0.0], [9.0, 0.5]]).tolist() == [
        post.point_estimate()[0],
        post.point_estimate()[60],
    ]
    grid = np.arange(-20.0, 30.0, 0.8)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    assert np.exp(post.log_density(points)).sum() * 0.8**2 == pytest.approx(1, abs=0.01)
    drawn = post.sample_predictive(4000, seed=2)
    inside = np.mean(np.abs(drawn - [0, 0]).max(axis=1) < 3)
    near = np.stack(np.meshgrid(*[np.arange(-2.9, 3.0, 0.2)] * 2), axis=-1).reshape(-1, 2)
    mass = np.exp(post.log_density(near)).sum() * 0.2**2
    assert inside == pytest.approx(mass, abs=0.04)


def test_tables_and_pictures(post):
    table = post.describe()
    assert "x0 sd" in table or any(name.endswith(" sd") for name in table)
    assert not any("df" in name for name in table)
    assert post.cluster_parameters()["df"].mean.shape == (3,)
    assert post.to_arviz(log_likelihood=True) is not None
    assert post.check_fit() is not None


def test_a_run_goes_on_bit_for_bit(tmp_path, groups):
    """Interrupted after some draws, the chains end where they would have ended."""
    model = mw.Mixture(mw.Product({(0, 1): mw.StudentT()}))
    options = {"warmup": 10, "chains": 2, "seed": 3, "progress": False}
    whole = mw.sample(model, groups[0], draws=30, store=tmp_path / "whole", **options)
    mw.sample(model, groups[0], draws=12, store=tmp_path / "part", **options)
    rest = mw.resume(tmp_path / "part", draws=30, progress=False)
    np.testing.assert_array_equal(rest.labels, whole.labels)
    np.testing.assert_array_equal(rest.latents, whole.latents)
    np.testing.assert_array_equal(rest.bases, whole.bases)
    loaded = mw.load(tmp_path / "part")
    assert loaded.model == model
    np.testing.assert_array_equal(loaded.outliers(most=3).index, rest.outliers(most=3).index)


@pytest.mark.parametrize(
    ("sampler", "why"), [(mw.PaperTree(), "as published"), (mw.Tree(max_leaves=9), "sums of rows")]
)
def test_samplers_that_refuse(groups, sampler, why):
    with pytest.raises(TypeError, match=rf"StudentT, which draws a scale for each row: .*{why}"):
        mw.sample(mw.Mixture(mw.StudentT()), groups[0], sampler, draws=2, progress=False)


def test_leaves_refuse(groups):
    model, X = mw.Mixture(mw.StudentT()), groups[0]
    why = "StudentT draws a scale for each row"
    with pytest.raises(ValueError, match=why):
        mw.stream_leaves(model, [X], max_leaves=9)
    with pytest.raises(ValueError, match=why):
        mw.ibhc(model, X, max_leaves=9)
    with pytest.raises(ValueError, match=why):
        mw.sample(model, X, weights=np.full(180, 2.0), draws=2, progress=False)
    with pytest.raises(ValueError, match=why):
        mw.sample(model, X, known=np.repeat([0, 1, -1], 60), draws=2, progress=False)


def test_missing_entries_are_refused(groups):
    X = groups[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X has a missing value.*row 3.*Gaussian"):
        mw.sample(mw.Mixture(mw.StudentT()), X, draws=2, progress=False)


@pytest.mark.parametrize(
    ("df", "error", "match"),
    [
        (0, ValueError, "df must be"),
        (-2.0, ValueError, "df must be"),
        ("many", TypeError, "df must be a positive number, or a distribution"),
        (mw.hyper.LogNormal(5000, 1), ValueError, "df is learned between 1 and 1000"),
    ],
)
def test_wrong_degrees_of_freedom(df, error, match):
    with pytest.raises(error, match=match):
        mw.StudentT(df=df)


def test_trees_are_those_of_scales_of_1(groups):
    tree = mw.ibhc(mw.Mixture(mw.StudentT()), groups[0], seed=1)
    assert len(tree.labels) == 180


def test_a_column_that_says_nothing_is_left_out(groups):
    X = np.column_stack([groups[0], groups[0] @ [1.0, 2.0]])
    with pytest.warns(UserWarning, match="combination"):
        found = mw.sample(
            mw.Mixture(mw.StudentT()), X, draws=5, warmup=5, chains=1, seed=1, progress=False
        )
    assert found.sample_predictive(3, seed=1).shape == (3, 3)


def test_groups_of_rows(groups):
    model = mw.Mixture(mw.StudentT(), mw.FiniteMixture())
    found = mw.sample(
        model, groups[0], groups=np.arange(180) % 2, draws=10, chains=1, seed=1, progress=False
    )
    assert found.latents.shape == (1, 10, 180)
