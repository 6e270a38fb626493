"""A column of exposures: where it is found, what it does to counts, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import mixwood as mw
from mixwood.partitions import adjusted_rand
from mixwood.reference import family_of

RNG = np.random.default_rng(3)
EXPOSURE = RNG.uniform(0.2, 3.0, 40)
COUNTS = RNG.poisson(4.0 * EXPOSURE[:, None], (40, 2)).astype(float)
WITH = np.column_stack([COUNTS[:, 0], EXPOSURE, COUNTS[:, 1]])
BOTH = [mw.Poisson, mw.NegativeBinomial]


def log_marginal(likelihood, X):
    """Of all rows together, constants included."""
    rows = np.arange(len(X))
    return likelihood.bind(X).log_marginal(rows) + likelihood.row_constants(X).sum()


@pytest.mark.parametrize("kind", BOTH)
def test_the_column_is_found_by_name_and_by_number(kind):
    table = pd.DataFrame(WITH, columns=["a", "depth", "b"])
    named, by_name = kind(exposure="depth").fitted_to(table)
    numbered, by_number = kind(exposure=-2).fitted_to(WITH)
    assert named == numbered
    assert named.exposure == 1
    np.testing.assert_array_equal(by_name, by_number)
    assert [c.name for c in named.described_columns(["a", "depth", "b"])[""]] == ["a", "b"]


@pytest.mark.parametrize("kind", BOTH)
def test_an_array_is_a_last_column(kind):
    given, data = kind(exposure=EXPOSURE).fitted_to(COUNTS)
    same, expected = kind(exposure=2).fitted_to(np.column_stack([COUNTS, EXPOSURE]))
    assert given == same
    np.testing.assert_array_equal(data, expected)
    table = pd.DataFrame(COUNTS, columns=["a", "b"])
    assert given.names_in(table) == ("a", "b", "exposure")


@pytest.mark.parametrize("kind", BOTH)
def test_exposures_of_one_are_none(kind):
    plain, X = kind().fitted_to(COUNTS)
    ones, with_ones = kind(exposure=np.ones(40)).fitted_to(COUNTS)
    rows = np.arange(7)
    for likelihood, data in ((plain, X), (ones, with_ones)):
        value = (
            likelihood.bind(data).log_marginal(rows) + likelihood.row_constants(data)[rows].sum()
        )
        assert value == pytest.approx(
            plain.bind(X).log_marginal(rows) + plain.row_constants(X)[rows].sum()
        )


def test_a_row_of_twice_the_exposure_is_the_sum_of_two():
    """Two counts of one cluster given their sum are nothing more to know about the cluster."""
    for likelihood in (mw.Poisson(shape=2.0, rate=1.0), mw.NegativeBinomial(1.5, 2.0, 3.0)):
        exposed = type(likelihood)(**{**likelihood.get_params(), "exposure": 1})
        two = exposed.fitted_to(np.array([[7.0, 2.0], [1.0, 1.0]]))[0]
        pair = np.array([[k, 1.0] for k in range(8)])
        both = [
            np.exp(family_of(two).log_marginal(family_of(two).of([pair[k], pair[7 - k]])))
            for k in range(8)
        ]
        whole = family_of(two).log_marginal(family_of(two).of([np.array([7.0, 2.0])]))
        assert np.log(sum(both)) == pytest.approx(whole)


def test_a_large_size_is_poisson():
    counts = mw.Poisson(shape=2.0, exposure=1).fitted_to(WITH)[0]
    large = mw.NegativeBinomial(size=1e6, shape=2.0, exposure=1).fitted_to(WITH)[0]
    assert log_marginal(large, WITH) == pytest.approx(log_marginal(counts, WITH), rel=1e-4)


def test_the_density_given_the_parameters_is_scipys():
    likelihood = mw.NegativeBinomial(size=2.0, shape=1e9, mean=3.0, exposure=1)
    likelihood, X = likelihood.fitted_to(np.array([[0.0, 1.0], [5.0, 0.5], [9.0, 2.0]]))
    value = likelihood.bind(X).log_alone() + likelihood.row_constants(X)
    p = 2.0 / (2.0 + 3.0)  # so large a shape leaves one mean
    np.testing.assert_allclose(value, stats.nbinom(2.0 * X[:, 1], p).logpmf(X[:, 0]), rtol=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_clusters_that_differ_in_rates_and_not_in_depth_are_found(kind, seed):
    rng = np.random.default_rng(seed)
    depth, truth = rng.gamma(2.0, 0.5, 90) + 0.2, np.arange(90) % 2
    rates = np.array([[20.0, 5.0, 10.0], [5.0, 20.0, 10.0]])
    X = rng.poisson(rates[truth] * depth[:, None])
    model = mw.Mixture(kind(exposure=depth), mw.FiniteMixture())
    post = mw.sample(model, X, draws=60, warmup=60, chains=2, seed=1, progress=False)
    assert adjusted_rand(truth, post.point_estimate()) > 0.9
    described = post.describe()
    rates = described.filter(regex=" rate$").to_numpy()
    np.testing.assert_allclose(np.sort(rates[:, 0]), [5.0, 20.0], rtol=0.15)
    assert rates.shape[1] == 3
    new = np.array([[40, 10, 20, 2.0], [1, 4, 2, 0.2]])
    assert post.predict(new)[0] != post.predict(new)[1]
    assert post.sample_predictive(5, seed=1).shape == (5, 4)
    assert post.check_fit() is not None


@pytest.mark.parametrize(
    ("exposure", "X", "error", "says"),
    [
        (True, WITH, TypeError, "exposure must be a column"),
        ([[1.0]], WITH, ValueError, "exposure must be the name or number"),
        ("depth", WITH, ValueError, "X has no names"),
        ("depth", pd.DataFrame({"a": [1, 2]}), ValueError, "exposure must name a column"),
        (7, WITH, ValueError, "exposure must be the number of one of the 3 columns of X"),
        (0, COUNTS[:, :1] + 1, ValueError, "nothing but a column of exposures"),
        ([1.0, 2.0], COUNTS, ValueError, "exposure must be 40 numbers"),
        ([1.0, 0.0], COUNTS[:2], ValueError, "exposures must be positive"),
        (1, [[1, np.nan], [2, 1.0]], ValueError, "row 0, column 1, the exposure"),
        (1, [[1, 1e12], [2, 1.0]], ValueError, "exposures must be positive, within"),
        (1, [[1.5, 1.0], [2, 1.0]], ValueError, "row 0, column 0; entries must be whole"),
        (1, [[-1, 1.0], [2, 1.0]], ValueError, "must not be negative"),
    ],
)
@pytest.mark.parametrize("kind", BOTH)
def test_bad_exposures_are_refused(kind, exposure, X, error, says):
    with pytest.raises(error, match=says):
        kind(exposure=exposure).fitted_to(X)


@pytest.mark.parametrize("kind", BOTH)
def test_a_name_without_names_is_refused(kind):
    with pytest.raises(ValueError, match="exposure names the column 'depth', but X has no names"):
        mw.simulate(mw.Mixture(kind(exposure="depth")), 10)


def test_a_product_finds_the_exposure_by_its_name():
    table = pd.DataFrame({"a": COUNTS[:, 0], "z": RNG.normal(size=40), "depth": EXPOSURE})
    product = mw.Product({("a", "depth"): mw.Poisson(exposure="depth"), "z": mw.Gaussian()})
    resolved, X = product.fitted_to(table)
    assert resolved.parts["a", "depth"].exposure == 1
    assert [resolved.columns[j] for j in resolved.given_columns(3)] == ["depth"]
    np.testing.assert_array_equal(resolved.exposures_in(X)["a, depth: "], EXPOSURE)
    drawn = resolved.simulate(np.array([0, 1, 0]), np.random.default_rng(1))
    np.testing.assert_array_equal(drawn[:, resolved.columns.index("depth")], 1.0)
