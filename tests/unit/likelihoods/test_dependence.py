"""Columns without a variance of their own: they take no part where the base is learned."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.likelihoods.dependence import independent_columns, warn_of_left_out
from mixwood.likelihoods.learned import KeptColumns, LearnedScale
from mixwood.reference.families import family_of
from mixwood.store.json_codec import decode, encode

RNG = np.random.default_rng(5)
CLUSTER = np.repeat([0, 1, 2], 100)
Y = RNG.normal(size=(300, 2)) + np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])[CLUSTER]
#: Two columns; their sum, a constant, the first once more in other units.
X = np.column_stack([Y, Y.sum(axis=1), np.full(300, 1 / 3), 4 - 2.5 * Y[:, 0]])
LEFT_OUT = {2: "combination", 3: "constant", 4: "combination"}
MESSAGE = r"column 3 is a constant and columns 2 and 4 combinations of others: they say nothing"


def follows(rows):
    """Check that rows are combinations as those of `X`."""
    np.testing.assert_allclose(rows[..., 2], rows[..., 0] + rows[..., 1], atol=1e-11)
    np.testing.assert_array_equal(rows[..., 3], 1 / 3)
    np.testing.assert_allclose(rows[..., 4], 4 - 2.5 * rows[..., 0], atol=1e-11)


def sample(data, likelihood, **options):
    options = {"draws": 60, "warmup": 100, "chains": 2, "seed": 1, "progress": False} | options
    return mw.sample(mw.Mixture(likelihood), data, **options)


# --- which columns


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (X, [0, 1]),
        (X[:, ::-1], [0, 2]),  # the earlier ones are kept
        (Y, None),
        (Y[:, :1], None),
        (X[:, [3, 0]], [1]),
        (X[:, [0, 0, 0]], [0]),
        (np.column_stack([Y, Y[:, 0] / 3 + Y[:, 1] / 3 + Y[:, 0].mean()]), [0, 1]),
        (np.column_stack([Y, (Y @ [1, 1]).astype(np.float32)]), [0, 1]),  # rounded to 8 digits
        (np.column_stack([Y, Y[:, 0] * Y[:, 1]]), None),
        (np.ones((5, 3)), [0]),
        (X[:1], None),  # one row says nothing about columns
        (np.column_stack([Y[:, 0], [0.1 + 0.2] * 150 + [0.3] * 150]), [0]),  # a constant, rounded
    ],
)
def test_columns_that_take_part(data, columns):
    found = independent_columns(data)
    assert (found if found is None else found.columns.tolist()) == columns


@pytest.mark.parametrize("share", [1e-3, 1e-2])
def test_what_is_nearly_a_combination_takes_part(share):
    own = share * Y.sum(axis=1).std() * RNG.normal(size=300)
    assert independent_columns(np.column_stack([Y, Y.sum(axis=1) + own])) is None


def test_with_few_rows_only_constants_and_copies_are_left_out():
    few = RNG.normal(size=(5, 9))
    assert independent_columns(few) is None
    wide = np.column_stack([few, few[:, 3], np.ones(5), 1e3 - 7 * few[:, 0]])
    kept = independent_columns(wide)
    assert kept.left_out == {9: "combination", 10: "constant", 11: "combination"}
    assert np.count_nonzero(kept.weights[9:], axis=1).tolist() == [1, 0, 1]
    np.testing.assert_allclose(few @ kept.weights[11], -7 * few[:, 0])
    assert independent_columns(RNG.normal(size=(2, 2))) is None  # any two columns are copies


def test_the_columns_do_not_depend_on_units_and_origin():
    units, origin = np.array([1e-8, 3.0, 1e6, 1e-3, -2.0]), np.array([1e-5, 7, -1e8, 5, 0.0])
    one, other = independent_columns(X), independent_columns(X * units + origin)
    np.testing.assert_array_equal(one.columns, other.columns)
    expected = one.weights * units[:, None] / units[:2]
    np.testing.assert_allclose(other.weights, expected, rtol=1e-6, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize("value", [1e-300, 1e300])
def test_extreme_numbers_are_left_to_other_checks(value):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="rescale"):
        mw.Gaussian().resolve(X * value)


# --- the likelihood


def test_all_columns_are_there_and_some_take_part():
    likelihood = mw.Gaussian().resolve(X)
    alone = mw.Gaussian().resolve(Y)
    assert (likelihood.width, likelihood.left_out) == (5, LEFT_OUT)
    assert likelihood.resolve(X) == likelihood != alone
    assert likelihood.statistic_size == alone.statistic_size
    np.testing.assert_array_equal(likelihood.start_bases(), alone.start_bases())
    np.testing.assert_array_equal(likelihood.row_constants(X), alone.row_constants(Y))
    rows = np.arange(40)
    assert likelihood.bind(X).log_marginal(rows) == alone.bind(Y).log_marginal(rows)
    contradicting = X + np.array([0, 0, 1, 2, 3])
    assert likelihood.bind(contradicting).log_marginal(rows) == alone.bind(Y).log_marginal(rows)


def test_a_number_of_degrees_counts_all_columns():
    """What is said of five columns says the same of two of them: nu - d - 1 stays."""
    np.testing.assert_array_equal(
        mw.Gaussian(nu=9).resolve(X).start_base(), mw.Gaussian(nu=6).resolve(Y).start_base()
    )
    learned = mw.Gaussian().resolve(X)
    base = learned.start_base()
    assert learned.base_draws(base)["nu"] == pytest.approx(np.exp(base[-2]) + 6)


@pytest.mark.parametrize("scale", ["data", np.eye(5)])
def test_fixed_scales_are_as_they_were(scale):
    likelihood = mw.Gaussian(scale=scale).resolve(X)
    assert likelihood.left_out == {}
    assert likelihood.statistic_size == 1 + 5 + 15


@pytest.mark.parametrize("kind", [mw.Gaussian, mw.DiagonalGaussian])
def test_codec(kind):
    likelihood = kind().resolve(X)
    apart: list[np.ndarray] = []
    again = decode(encode(likelihood, apart), apart)
    assert again == likelihood
    assert again.scale.kept.left_out == likelihood.left_out != {}


def test_draws_follow_the_combinations(seed):
    rng = np.random.default_rng(seed)
    likelihood = mw.Gaussian().resolve(X)
    base = likelihood.draw_base(rng)
    statistics = likelihood.bind(X).cluster_statistics(CLUSTER.astype(np.int32))
    means = likelihood.mean_rows(np.asarray(statistics))
    np.testing.assert_allclose(means, [X[k == CLUSTER].mean(axis=0) for k in range(3)])
    drawn = likelihood.draw_parameters(np.asarray(statistics), rng, base)
    follows(drawn["mean"])
    covariance = drawn["covariance"]
    assert covariance.shape == (3, 5, 5)
    np.testing.assert_allclose(covariance[:, 2, 2], covariance[:, :2, :2].sum(axis=(1, 2)))
    np.testing.assert_allclose(covariance[:, 0, 4], -2.5 * covariance[:, 0, 0])
    rows = likelihood.draw_rows(drawn, np.repeat([0, 1, 2], 20_000), rng)
    follows(rows)
    found = np.cov(rows[:20_000], rowvar=False)
    np.testing.assert_allclose(found, covariance[0], rtol=0.1, atol=0.1)
    follows(likelihood.simulate(CLUSTER, rng))
    assert likelihood.base_draws(base)["covariance"].shape == (5, 5)


@pytest.mark.parametrize("data", [np.full((6, 3), 2.0), np.ones((1, 3))])
@pytest.mark.parametrize("kind", [mw.Gaussian, mw.DiagonalGaussian])
def test_rows_that_are_all_equal(kind, data, seed):
    likelihood = kind().resolve(data)
    assert len(likelihood.centre) == (1 if len(data) > 1 else 3)
    drawn = likelihood.simulate(np.array([0, 1]), np.random.default_rng(seed))
    assert np.isfinite(drawn).all()
    assert drawn.shape == (2, 3)


def test_scales_that_do_not_fit_their_columns_are_refused():
    kept = KeptColumns([0], [0.0, 1.0], [[1.0], [0.0]])
    with pytest.raises(ValueError, match="2 columns"):
        LearnedScale(np.eye(2), np.eye(2), None, kept)
    with pytest.raises(ValueError, match="shape"):
        mw.Gaussian(mean=[0.0] * 3, scale=LearnedScale(np.eye(1), np.eye(1), None, kept))
    for columns, weights in ([[1, 0], np.eye(2)], [[2], np.ones((2, 1))], [[0], np.eye(2)]):
        with pytest.raises(ValueError, match="kept columns"):
            KeptColumns(columns, [0.0, 1.0], weights)


# --- columns on their own


def test_diagonal_leaves_constants_out_and_skips_what_is_missing(seed):
    data = X.copy()
    data[::7, 3] = data[::5, 0] = np.nan
    likelihood = mw.DiagonalGaussian().resolve(data)
    assert likelihood.left_out == {3: "constant"}
    assert likelihood.width == 5
    alone, others = mw.DiagonalGaussian().resolve(data[:, [0, 1, 2, 4]]), data[:, [0, 1, 2, 4]]
    rows = np.arange(40)
    assert likelihood.bind(data).log_marginal(rows) == alone.bind(others).log_marginal(rows)
    np.testing.assert_allclose(likelihood.row_constants(data), alone.row_constants(others))
    rng = np.random.default_rng(seed)
    base = likelihood.draw_base(rng)
    statistics = np.zeros((2, likelihood.statistic_size))
    drawn = likelihood.draw_parameters(statistics, rng, base)
    np.testing.assert_array_equal(drawn["variance"][:, 3], 0)
    made = likelihood.draw_rows(drawn, np.array([0, 1, 1]), rng)
    np.testing.assert_array_equal(made[:, 3], 1 / 3)
    np.testing.assert_array_equal(likelihood.mean_rows(statistics)[:, 3], 1 / 3)
    assert np.isnan(likelihood.mean_rows(statistics)[:, 0]).all()
    assert likelihood.base_draws(base)["variance"][3] == 0


# --- what the user is told


def test_a_warning_names_the_columns():
    with pytest.warns(UserWarning, match=MESSAGE):
        mw.Gaussian().fitted_to(X)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    with pytest.warns(UserWarning, match=r"column 'd' is a constant and columns 'c' and 'e' comb"):
        mw.Gaussian().fitted_to(frame)
    product = mw.Product({"b": mw.Gaussian(), ("a", "c", "e"): mw.Gaussian()})
    with pytest.warns(UserWarning, match=r"column 'e' is a combination of others: it says"):
        product.fitted_to(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.Gaussian().fitted_to(Y)
        mw.Gaussian().fitted_to(X[:1])


def test_a_warning_of_many_columns_is_short():
    with pytest.warns(UserWarning, match=r"columns 0, 1, 2, 3, 4, 5, 6, 7 and 12 more are const"):
        warn_of_left_out(dict.fromkeys(range(20), "constant"))


# --- chains


@pytest.mark.parametrize("kind", [mw.Gaussian, mw.DiagonalGaussian])
def test_the_twin_agrees(kind):
    likelihood = kind().resolve(X)
    twin, family = family_of(likelihood), likelihood.bind(X)
    rows = np.arange(0, 300, 7)
    one = twin.log_marginal(twin.of(X[rows]))
    other = family.log_marginal(rows) + likelihood.row_constants(X)[rows].sum()
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("sampler", ["tree", "gibbs", "splitmerge", "slice"])
def test_three_clusters_are_found_beside_columns_that_say_nothing(sampler):
    with pytest.warns(UserWarning, match=MESSAGE):
        post = sample(X, mw.Gaussian(), sampler=sampler)
    alone = sample(Y, mw.Gaussian(), sampler=sampler)
    assert np.bincount(post.n_clusters.ravel()).argmax() == 3
    np.testing.assert_array_equal(post.labels, alone.labels)
    np.testing.assert_array_equal(post.log_joint, alone.log_joint)
    assert post.base["covariance"].shape[-2:] == (5, 5)


def test_constants_do_not_hide_clusters_with_columns_on_their_own():
    data = np.column_stack([Y, np.full((300, 3), 7.0)])
    with pytest.warns(UserWarning, match="columns 2, 3 and 4 are constants"):
        post = sample(data, mw.DiagonalGaussian())
    assert np.bincount(post.n_clusters.ravel()).argmax() == 3


def test_all_that_a_posterior_says_has_all_columns():
    pytest.importorskip("pandas")
    with pytest.warns(UserWarning, match=MESSAGE):
        post = sample(X, mw.Gaussian(), chains=1)
    table = post.describe()
    assert {f"column {j} mean" for j in range(5)} <= set(table.columns)
    np.testing.assert_allclose(table["column 3 mean"], 1 / 3)
    follows(post.sample_predictive(20, seed=1))
    contradicting = X + np.array([0, 0, 1, 2, 3])
    np.testing.assert_array_equal(post.log_density(contradicting), post.log_density(X))


def test_weighted_leaves_and_parts():
    with pytest.warns(UserWarning, match=MESSAGE):
        leaves = mw.stream_leaves(mw.Mixture(mw.Gaussian()), [X], max_leaves=60, seed=1)
    assert leaves.shape[1] == 5
    post = sample(leaves, mw.Gaussian(), chains=1)
    assert np.bincount(post.n_clusters.ravel()).argmax() == 3
    product = mw.Product({(0, 1, 2): mw.Gaussian(), (3, 4): mw.DiagonalGaussian()})
    with pytest.warns(UserWarning, match="column 3 is a constant and column 2 a combination"):
        post = sample(X, product, chains=1)
    assert np.isfinite(post.log_joint).all()
    assert np.isfinite(post.describe()["column 2 mean"]).all()


def test_the_default_model_warns_of_what_it_leaves_out():
    X = np.random.default_rng(0).normal(size=(40, 2))
    table = pd.DataFrame(X, columns=["a", "b"]).assign(total=X.sum(axis=1))
    with pytest.warns(UserWarning, match="column 'total' is a combination of others"):
        mw.sample(mw.Mixture(), table, draws=2, warmup=2, chains=1, seed=1, progress=False)
