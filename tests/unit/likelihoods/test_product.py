"""Tables of mixed type: which columns are read and how, and that parts are simply multiplied."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mixwood as mw
from mixwood.core import make_chain

RNG = np.random.default_rng(3)
N = 40
CLUSTER = np.arange(N) % 2
COLUMNS = {
    "id": np.arange(N),
    "x": RNG.normal(5 * CLUSTER, 1.0),
    "city": np.where(CLUSTER == 1, "ulm", np.where(RNG.random(N) < 0.5, "bonn", "köln")),
    "y": RNG.normal(-3 * CLUSTER, 1.0),
    "visits": RNG.poisson(1 + 6 * CLUSTER),
    "smoker": RNG.integers(0, 2, N) == CLUSTER,
}
PARTS = {
    ("y", "x"): mw.Gaussian(),
    "visits": mw.Poisson(),
    "city": mw.Categorical(),
    "smoker": mw.Bernoulli(),
}
USED = ("x", "city", "y", "visits", "smoker")
TABLES = [pd.DataFrame, pl.DataFrame]


@pytest.fixture(params=TABLES, ids=["pandas", "polars"])
def table(request):
    return request.param(COLUMNS)


def quick(model, X, **options):
    options = {"draws": 10, "warmup": 5, "chains": 1, "seed": 1, "progress": False, **options}
    return mw.sample(model, X, **options)


def test_columns_are_those_of_the_table_in_its_order(table):
    fitted, X = mw.Product(PARTS).fitted_to(table)
    assert X.shape == (N, 5)
    assert fitted.columns == fitted.names_in(table) == USED
    np.testing.assert_array_equal(X[:, 0], COLUMNS["x"])
    np.testing.assert_array_equal(X[:, 2], COLUMNS["y"])
    assert fitted.categories == (None, ("bonn", "köln", "ulm"), None, None, (False, True))
    np.testing.assert_array_equal(X[:, 1] == 2, COLUMNS["city"] == "ulm")
    assert fitted.parts["city"].n_categories == (3,)


def test_new_tables_are_read_by_name_and_arrays_by_position(table):
    fitted, X = mw.Product(PARTS).fitted_to(table)
    shuffled = type(table)({name: COLUMNS[name] for name in reversed(COLUMNS)})
    np.testing.assert_array_equal(fitted.check(shuffled), X)
    np.testing.assert_array_equal(fitted.check(X), X)  # the columns that are used
    whole = np.insert(X, 0, 77.0, axis=1)  # as wide as the table
    np.testing.assert_array_equal(fitted.check(whole), X)
    with pytest.raises(ValueError, match=r"columns: 4, but 6 are needed, .* or the 5 that"):
        fitted.check(X[:, 1:])


def test_levels_never_seen_are_refused(table):
    fitted, _ = mw.Product(PARTS).fitted_to(table)
    other = type(table)({**COLUMNS, "city": ["ulm", "paris"] * (N // 2)})
    with pytest.raises(ValueError, match=r"column 'city' of X_new has 'paris' in row 1.*'bonn'"):
        fitted.check(other, name="X_new")


def test_missing_levels_and_numbers_of_tables(table):
    city = [None, *COLUMNS["city"][1:]]
    visits = [None, *COLUMNS["visits"][1:].tolist()]
    _, X = mw.Product(PARTS).fitted_to(type(table)({**COLUMNS, "city": city, "visits": visits}))
    assert np.isnan(X[0, [1, 3]]).all()
    assert np.isfinite(X[1:]).all()


def test_categories_of_pandas_keep_their_order_and_absent_levels():
    grade = pd.Categorical(["b", "a", None], categories=["c", "b", "a"])
    fitted, X = mw.Product({"g": mw.Categorical()}).fitted_to(pd.DataFrame({"g": grade}))
    assert fitted.categories == (("c", "b", "a"),)
    np.testing.assert_array_equal(X[:, 0], [1, 2, np.nan])
    assert fitted.parts["g"].n_categories == (3,)


@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        ([0, 2, 1], None, [0, 2, 1]),
        ([1990, 2000, 1990], (1990, 2000), [0, 1, 0]),
        ([1, 1, 1], None, [1, 1, 1]),
        ([0.5, 1.5, 0.5], (0.5, 1.5), [0, 1, 0]),
        (["1", "0", "1"], ("0", "1"), [1, 0, 1]),
        ([True, None, True], (False, True), [1, np.nan, 1]),
    ],
)
@pytest.mark.parametrize("make", TABLES)
def test_what_is_a_level_and_what_a_code(make, values, levels, codes):
    fitted, X = mw.Product({"a": mw.Categorical()}).fitted_to(make({"a": values}))
    assert fitted.categories == (levels,)
    np.testing.assert_array_equal(X[:, 0], codes)


def test_codes_stay_codes_where_the_number_of_categories_is_given():
    likelihood = mw.Product({"a": mw.Categorical(n_categories=9)})
    fitted, X = likelihood.fitted_to(pd.DataFrame({"a": [3, 8, 3]}))
    assert fitted.categories == (None,)
    np.testing.assert_array_equal(X[:, 0], [3, 8, 3])


@pytest.mark.parametrize(
    ("parts", "error", "match"),
    [
        ([("x", mw.Gaussian())], TypeError, "parts must be a mapping"),
        ({}, ValueError, "at least one column"),
        ({"x": 3}, TypeError, r"parts\['x'\] must be a likelihood"),
        ({"x": mw.Gaussian}, TypeError, r"parts\['x'\] must be a likelihood"),
        ({"x": mw.Product({"y": mw.Gaussian()})}, TypeError, "put its parts here"),
        ({1.5: mw.Gaussian()}, TypeError, "a name, a number"),
        ({-1: mw.Gaussian()}, TypeError, "a number from 0 on"),
        ({(): mw.Gaussian()}, ValueError, "empty tuple"),
        ({"x": mw.Poisson(), ("x", "y"): mw.Gaussian()}, ValueError, "'x' twice"),
        ({"x": mw.Gaussian(mean=[0, 0])}, ValueError, "names 1 columns, but .* for 2"),
    ],
)
def test_wrong_parts_are_named(parts, error, match):
    with pytest.raises(error, match=match):
        mw.Product(parts)


@pytest.mark.parametrize(
    ("parts", "X", "error", "match"),
    [
        ({"z": mw.Gaussian()}, pd.DataFrame(COLUMNS), ValueError, "X has no column 'z'.*'id'"),
        ({"x": mw.Gaussian()}, np.eye(3), ValueError, "'x', but X is an array without names"),
        ({7: mw.Gaussian()}, np.eye(3), ValueError, "no column 7.*it has 3 columns"),
        ({"x": mw.Gaussian(), 1: mw.Poisson()}, pd.DataFrame(COLUMNS), ValueError, "both by its"),
        ({"city": mw.Gaussian()}, pd.DataFrame(COLUMNS), ValueError, "'city' of X has 'bonn'"),
        ({"x": mw.Poisson()}, pd.DataFrame(COLUMNS), ValueError, r"X\['x'\] has .* row \d"),
        ({"x": mw.Gaussian()}, pd.DataFrame({"x": []}), ValueError, "X is empty"),
        ({"x": mw.Gaussian()}, pd.DataFrame({"x": [np.inf, 1]}), ValueError, "inf in row 0"),
        ({"x": mw.Gaussian()}, pd.DataFrame({"x": [np.nan] * 3}), ValueError, "no entry at all"),
        (
            {"city": mw.Bernoulli()},
            pd.DataFrame(COLUMNS),
            ValueError,
            "3 categories, 'bonn', 'köln'",
        ),
        ({"a": mw.Poisson()}, pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "several"),
    ],
)
def test_wrong_data_are_named(parts, X, error, match):
    if isinstance(X, pd.DataFrame) and "city" in parts:
        X = X.sort_values("city")
    with pytest.raises(error, match=match):
        mw.Product(parts).fitted_to(X)


def test_names_need_the_table():
    with pytest.raises(ValueError, match="use fitted_to"):
        mw.Product({"x": mw.Gaussian()}).resolve(np.eye(3)[:, :1])


def test_a_row_with_only_some_entries_of_a_joint_part_is_refused():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, np.nan, 3.0]})
    joint = mw.Product({("x", "y"): mw.SphericalGaussian()})
    with pytest.raises(ValueError, match=r"row 1, column 'y'.*DiagonalGaussian"):
        joint.check(frame)
    frame.loc[1, "x"] = np.nan
    assert np.isnan(joint.check(frame)[1]).all()


# Every kind of part, and rows that lack each of them.
EVERY = {
    (1, 0): mw.Gaussian(),
    2: mw.SphericalGaussian(),
    (3, 4): mw.DiagonalGaussian(),
    (5, 6): mw.Multinomial(),
    (7, 8): mw.Poisson(),
    9: mw.Bernoulli(),
    10: mw.Categorical(),
}


@pytest.fixture
def every():
    rng = np.random.default_rng(5)
    X = np.column_stack(
        [rng.normal(size=(30, 5)), rng.poisson(2, (30, 4)), rng.integers(0, [2, 3], (30, 2))]
    )
    for k, key in enumerate(EVERY):
        X[np.ix_(rng.random(30) < 0.5, np.atleast_1d(key))] = np.nan
        X[k] = 1.0  # some rows are whole
    return mw.Product(EVERY).fitted_to(X)


def test_the_marginal_is_the_product_of_the_parts(every):
    product, X = every
    rows = np.arange(5, 25)
    constants = product.row_constants(X)[rows].sum()
    total = 0.0
    for key, part in product.parts.items():
        own = X[rows][:, list(np.atleast_1d(key))]
        if part.draws_missing or not part.skips_missing:
            own = own[~np.isnan(own).all(axis=1)]
        data = part.check(own)
        total += part.bind(data).log_marginal(np.arange(data.shape[0]))
        total += part.row_constants(data).sum()
    assert product.bind(X).log_marginal(rows) + constants == pytest.approx(total, rel=1e-12)


def test_weights_are_ratios_of_marginals_where_parts_are_missing(every):
    """Clusters whose rows all lack a part, rows that are the only ones to have it, and so on."""
    product, X = every
    family = product.bind(X)
    labels = (np.arange(30) % 11).astype(np.int32)
    prior = mw.DirichletProcess(alpha=1.0)
    chain = make_chain(mw.Mixture(product, prior), X, labels, np.random.PCG64(1), mw.Gibbs())
    for row in range(30):
        weights = chain.log_weights(row)
        expected = []
        for k in range(11):
            others = np.flatnonzero((labels == k) & (np.arange(30) != row))
            joined = family.log_marginal(np.append(others, row)) - family.log_marginal(others)
            expected.append(joined + np.log(len(others)))
        np.testing.assert_allclose(weights[:-1] - weights[-1], expected - family.log_alone()[row],
                                   atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("sampler", ["gibbs", "tree", "papertree", "splitmerge", "slice"])
def test_every_part_with_every_sampler(every, sampler):
    product, X = every
    model = mw.Mixture(product, mw.NGGP())
    labels = np.zeros(30, np.int32)
    chain = make_chain(model, X, labels, np.random.PCG64(1), mw.samplers.as_sampler(sampler))
    chain.iterate(80)
    chain.check()
    assert np.isfinite(chain.log_joint())


def test_one_part_gives_the_draws_of_its_likelihood():
    X = np.random.default_rng(1).normal(size=(50, 2))
    for sampler in ("gibbs", "tree", "splitmerge", "slice"):
        alone = quick(mw.Mixture(mw.Gaussian()), X, sampler=sampler)
        product = quick(mw.Mixture(mw.Product({(0, 1): mw.Gaussian()})), X, sampler=sampler)
        np.testing.assert_array_equal(alone.labels, product.labels)
        np.testing.assert_allclose(alone.log_joint, product.log_joint, rtol=1e-10)


def test_a_table_and_its_codes_give_the_same_draws(table):
    post = quick(mw.Mixture(mw.Product(PARTS)), table)
    assert post.columns == USED
    parts = {(2, 0): mw.Gaussian(), 3: mw.Poisson(), 1: mw.Categorical(), 4: mw.Bernoulli()}
    coded = quick(mw.Mixture(mw.Product(parts)), post.X)
    np.testing.assert_array_equal(post.labels, coded.labels)
    assert post.n_clusters[0, -1] >= 2


def test_new_rows_of_a_table(table):
    post = quick(mw.Mixture(mw.Product(PARTS)), table)
    density = post.log_density(table[:5])
    np.testing.assert_allclose(density, post.log_density(post.X[:5]))
    drawn = post.sample_predictive(20, seed=1)
    assert drawn.shape == (20, 5)
    assert set(np.unique(drawn[:, 1])) <= {0, 1, 2}
    empty = np.zeros((3, post.resolved.statistic_size))
    parameters = post.resolved.draw_parameters(empty, RNG, post.resolved.start_base())
    assert parameters["y, x: mean"].shape == (3, 2)


def test_rows_that_all_lack_a_part():
    """A part is then bound to no rows at all."""
    product = mw.Product({0: mw.Gaussian(), (1, 2): mw.Multinomial(), 3: mw.Poisson()})
    X = np.random.default_rng(0).poisson(3.0, (12, 4)).astype(float)
    post = quick(mw.Mixture(product), X)
    new = np.array([[np.nan, np.nan, np.nan, 2.0], [np.nan] * 4])
    expected = quick(mw.Mixture(product), X).log_density(np.vstack([new, X]))[:2]
    np.testing.assert_allclose(post.log_density(new), expected)
    assert post.log_density(new)[1] == pytest.approx(0.0, abs=1e-12)
    tree = mw.ibhc(mw.Mixture(product), X, seed=1)
    assert tree.insert(new).shape == (2,)


def test_it_is_a_value_and_can_be_saved(table, tmp_path):
    model = mw.Mixture(mw.Product(PARTS))
    post = quick(model, table, store=tmp_path / "run")
    loaded = mw.load(tmp_path / "run")
    assert loaded.resolved == post.resolved
    assert loaded.model == model
    assert loaded.columns == USED
    np.testing.assert_array_equal(loaded.resolved.check(table), post.X)
    assert pickle.loads(pickle.dumps(post.resolved)) == post.resolved
    assert hash(post.resolved) == hash(pickle.loads(pickle.dumps(post.resolved)))
    assert post.resolved != mw.Product(PARTS) != mw.Product({"x": mw.Gaussian()})
    assert mw.Product(PARTS).get_params() == {"parts": PARTS}


def frame_of_every_kind():
    rng = np.random.default_rng(0)
    n = 100
    return {
        "row": np.arange(n),
        "height": rng.normal(size=n),
        "weight": rng.normal(size=n),
        "visits": rng.poisson(6, n),
        "income": rng.integers(20_000, 90_000, n),
        "rating": rng.integers(1, 5, n),
        "smoker": rng.random(n) < 0.5,
        "sex": rng.choice(["f", "m"], n),
        "city": rng.choice(["ulm", "bonn", "köln"], n),
        "name": [f"person {i}" for i in range(n)],
        "constant": np.ones(n),
        "date": np.full(n, np.datetime64("2020-01-01", "ns")) + np.arange(n),
        "nothing": np.full(n, np.nan),
    }


@pytest.mark.parametrize("make", TABLES)
def test_from_frame_chooses(make):
    with pytest.warns(UserWarning, match=r"left out: 'row' .*'name' .*'constant' .*'date'"):
        chosen = mw.Product.from_frame(make(frame_of_every_kind()))
    assert dict(chosen.parts) == {
        ("smoker", "sex"): mw.Bernoulli(),
        ("rating", "city"): mw.Categorical(),
        "visits": mw.Poisson(),
        ("height", "weight", "income"): mw.Gaussian(),
    }
    lines = chosen.explain().splitlines()
    assert "visits: Poisson (counts)" in lines
    assert "rating: Categorical with 1 more (whole numbers with 4 values)" in lines
    assert "name: left out (an identifier: text of which nearly every entry differs)" in lines
    assert len(lines) == 13
    assert "Gaussian" in repr(chosen)


def test_from_frame_with_many_columns_keeps_columns_apart():
    values = RNG.normal(size=(20, 31))
    wide = pd.DataFrame(values, columns=[f"c{j}" for j in range(31)])
    assert list(mw.Product.from_frame(wide).parts.values()) == [mw.AutoGaussian()]
    mixed = wide.assign(bit=np.arange(20) // 3 % 2)
    assert list(mw.Product.from_frame(mixed).parts.values()) == [
        mw.Bernoulli(),
        mw.DiagonalGaussian(),
    ]


def test_holes_do_not_keep_columns_apart():
    holes = pd.DataFrame(RNG.normal(size=(20, 2)), columns=["c0", "c1"])
    holes.loc[0, "c0"] = np.nan
    assert list(mw.Product.from_frame(holes).parts.values()) == [mw.AutoGaussian()]
    mixed = holes.assign(bit=np.arange(20) // 3 % 2)
    assert list(mw.Product.from_frame(mixed).parts.values()) == [mw.Bernoulli(), mw.Gaussian()]


def test_from_frame_refuses_what_it_cannot_use():
    with pytest.raises(TypeError, match="frame must be"):
        mw.Product.from_frame(np.eye(3))
    with pytest.raises(ValueError, match=r"no column that could be used \(.*one value only"):
        mw.Product.from_frame(pd.DataFrame({"a": [1, 1]}))


def test_explaining_without_reasons():
    assert mw.Product({0: mw.Poisson()}).explain() == "0: Poisson"


def test_simulated_rows_have_all_columns():
    product = mw.Product({("a", "b"): mw.Multinomial(), "c": mw.Gaussian()})
    X, labels = mw.simulate(mw.Mixture(product), 30, seed=1)
    assert X.shape == (30, 3)
    assert len(labels) == 30
    assert np.all(X[:, :2].sum(axis=1) == 20)


@pytest.mark.parametrize(
    "kind", [mw.Gaussian, mw.DiagonalGaussian, mw.SphericalGaussian], ids=lambda kind: kind.__name__
)
def test_some_parts_may_be_fixed_while_others_learn(kind):
    X = np.column_stack([np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2])
    product = mw.Product({(0, 1): kind(scale="data"), 2: mw.Bernoulli()})
    options = {"draws": 3, "warmup": 3, "chains": 1, "seed": 1, "progress": False}
    post = mw.sample(mw.Mixture(product), X, **options)
    assert list(post.base) == ["2: beta"]


def test_an_open_part_has_candidates_beside_the_others():
    frame = pd.DataFrame(RNG.normal(size=(30, 2)), columns=["x", "y"])
    frame["kind"] = np.resize(["a", "b", "c"], 30)
    product = mw.Product({("x", "y"): mw.AutoGaussian(), "kind": mw.Categorical()})
    assert product.is_open
    located, X = product.located_in(frame)
    found = located.candidates(X)
    assert [one.in_words for one in found] == [
        "full covariances",
        "diagonal covariances",
        "round clusters",
    ]
    assert [one.tied_to_columns for one in found] == [0, 1, 2]
    for one in found:
        assert not one.is_open
        assert one.categories == (None, None, ("a", "b", "c"))
        assert product.stands_for(one)
        assert one.bind(X).n_rows == 30
    tree = mw.ibhc(mw.Mixture(product), frame, seed=1)  # nothing is tried
    assert type(tree.model.likelihood.parts[("x", "y")]) is mw.Gaussian
