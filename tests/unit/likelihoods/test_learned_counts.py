"""Counts, categories, mixed tables and families of one's own whose base measure is learned."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import beta as beta_law
from scipy.stats import gamma, kstest, norm

import mixwood as mw
from mixwood.hyper import Beta, Gamma, LogNormal
from mixwood.likelihoods.learned import TiedRate
from mixwood.store.json_codec import decode, encode

RNG = np.random.default_rng(4)
COUNTS = RNG.poisson(2.0, (30, 3)).astype(float)
COUNTS[:, 2] = 0.0

#: Each with data, how many columns have a parameter of their own, and its name.
CASES = {
    "multinomial": (mw.Multinomial(), csr_array(COUNTS), 1, "beta", (0.1, 1.5)),
    "categorical": (mw.Categorical(), COUNTS, 3, "beta", (1, 1)),
    "bernoulli": (mw.Bernoulli(), (COUNTS > 1).astype(float), 3, "beta", (1, 1)),
    "poisson": (mw.Poisson(), COUNTS, 3, "shape", (0.1, 0.8)),
}


@pytest.fixture(params=list(CASES))
def case(request):
    likelihood, data, size, name, prior = CASES[request.param]
    return likelihood.resolve(data), data, size, name, LogNormal(*prior)


def test_the_hyperpriors_of_the_contract(case, seed):
    likelihood, data, size, name, prior = case
    assert likelihood.resolve(data) == likelihood
    assert likelihood.base_size == size
    np.testing.assert_allclose(likelihood.start_base(), np.full(size, np.log(prior.median)))
    rng = np.random.default_rng(seed)
    draws = np.array([likelihood.draw_base(rng) for _ in range(2000)])
    for column in draws.T:
        assert kstest(column, norm(np.log(prior.median), prior.sd).cdf).pvalue > 1e-3
    named = likelihood.base_draws(draws.reshape(4, 500, size))
    assert list(named) == [name]
    shape = (4, 500) if name == "beta" and size == 1 else (4, 500, size)
    np.testing.assert_allclose(named[name], np.exp(draws).reshape(shape))
    assert likelihood.base_width(draws) is None


def test_numbers_are_fixed():
    for likelihood in (mw.Multinomial(beta=0.1), mw.Categorical(beta=1), mw.Bernoulli(a=1),
                       mw.Poisson(shape=1)):  # fmt: skip
        explicit = likelihood.resolve_standard(2)
        assert explicit.base_size == 0
        assert explicit.start_base().shape == explicit.draw_base(RNG).shape == (0,)
        assert explicit.base_draws(np.empty((3, 0))) == {}


def test_each_cluster_is_drawn_with_its_own_base(case, seed):
    """The same draws as with that number fixed, where one number is all there is."""
    likelihood, data, size, name, _ = case
    values = [0.3, 4.0]
    statistics = np.zeros((1, likelihood.statistic_size))
    statistics[0, :2] = 5.0, 3.0
    bases = np.array([np.full(size, np.log(value)) for value in values])
    for value, base in zip(values, bases, strict=True):
        key = "a" if isinstance(likelihood, mw.Bernoulli) else name
        given = {key: value, "b": value} if key == "a" else {key: value}
        if isinstance(likelihood, mw.Poisson):
            given["rate"] = None
        fixed = type(likelihood)(**{**likelihood.get_params(), **given}).resolve(data)
        one = fixed.draw_parameters(statistics, np.random.default_rng(seed))
        other = likelihood.draw_parameters(statistics, np.random.default_rng(seed), base)
        for key, drawn in one.items():
            np.testing.assert_allclose(other[key], drawn, rtol=1e-9)
    both = likelihood.draw_parameters(np.tile(statistics, (2, 1)), RNG, bases)
    assert all(len(drawn) == 2 for drawn in both.values())
    with pytest.raises(ValueError, match="base must be given"):
        likelihood.draw_parameters(statistics, RNG)


def test_simulated_rows_use_the_base_given(seed):
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(300), 2)
    likelihood = mw.Bernoulli().resolve_standard(1)
    alike = {}
    for value in (0.01, 100.0):
        rows = likelihood.simulate(labels, rng, np.log([value])).reshape(300, 2)
        alike[value] = np.mean(rows[:, 0] == rows[:, 1])
    assert alike[0.01] > 0.95  # clusters of only ones or only zeros
    assert alike[100.0] < 0.65
    words = mw.Multinomial().resolve_standard(5).simulate(labels, rng, totals=7)
    np.testing.assert_array_equal(words.sum(axis=1), 7)


def test_rates_stay_with_the_means():
    likelihood = mw.Poisson().resolve(COUNTS)
    assert isinstance(likelihood.rate, TiedRate)
    np.testing.assert_allclose(likelihood.rate.mean, [*COUNTS.mean(axis=0)[:2], 1.0])
    assert (likelihood.width, likelihood.statistic_size) == (3, 6)
    base = np.log([1e6, 1e6, 1e6])  # so large that every cluster has the mean
    drawn = likelihood.draw_parameters(np.zeros((5, 6)), RNG, base)["rate"]
    np.testing.assert_allclose(drawn, np.tile(likelihood.rate.mean, (5, 1)), rtol=0.02)
    given = mw.Poisson(rate=2.0).resolve(COUNTS)
    np.testing.assert_array_equal(given.rate, [2.0, 2.0, 2.0])
    assert given.base_size == 3


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: mw.Multinomial(beta=Beta(1, 1)), TypeError, "beta must be a positive number, or"),
        (lambda: mw.Categorical(beta="learn"), TypeError, "beta must be a positive number, or"),
        (lambda: mw.Bernoulli(a=Beta(1, 1)), TypeError, "a must be a positive number, or"),
        (lambda: mw.Bernoulli(b=LogNormal(1, 1)), ValueError, "give the distribution as a"),
        (lambda: mw.Bernoulli(a=Gamma(1, 1), b=2), ValueError, "b must be left out"),
        (lambda: mw.Poisson(shape=None), TypeError, "shape must be a positive number, or"),
        (lambda: mw.Poisson(shape=LogNormal(1e20, 1)), ValueError, "shape is learned between"),
        (lambda: mw.Poisson(shape=1, rate=TiedRate([1.0])), ValueError, "rate is tied"),
        (lambda: TiedRate([1.0, 0.0]), ValueError, "positive means"),
    ],
)
def test_wrong_parameters_are_named(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_they_can_be_saved(case):
    likelihood = case[0]
    for value in (likelihood, mw.Bernoulli(a=Gamma(2, 3)), mw.Product({(0, 1, 2): likelihood})):
        assert decode(encode(value, apart := []), apart) == value


# --- mixed tables


def test_a_product_has_the_bases_of_its_parts(seed):
    rng = np.random.default_rng(seed)
    parts = {
        (0, 3): mw.Gaussian(),
        1: mw.Poisson(shape=1),
        (2,): mw.DiagonalGaussian(),
        4: mw.Bernoulli(),
    }
    data = np.column_stack([rng.normal(size=(20, 4)), rng.integers(0, 2, 20)])
    data[:, 1] = rng.poisson(3.0, 20)
    product = mw.Product(parts).resolve(mw.Product(parts).check(data))
    sizes = [part.base_size for part in product.parts.values()]
    assert sizes == [5, 0, 3, 1]
    assert product.base_size == 9
    base = np.array([product.draw_base(rng) for _ in range(6)]).reshape(2, 3, 9)
    drawn = product.base_draws(base)
    assert list(drawn) == [
        "0, 3: covariance", "0, 3: nu", "0, 3: tau", "2: variance", "2: nu", "2: tau", "4: beta",
    ]  # fmt: skip
    full, each = product.parts[0, 3], product.parts[2,]
    np.testing.assert_allclose(
        drawn["0, 3: covariance"], full.base_draws(base[..., :5])["covariance"]
    )
    np.testing.assert_allclose(drawn["4: beta"], np.exp(base[..., 8:]))
    width = (2 * full.base_width(base[..., :5]) + each.base_width(base[..., 5:8])) / 3
    np.testing.assert_allclose(product.base_width(base), width)
    np.testing.assert_allclose(
        product.start_base(), np.concatenate([p.start_base() for p in product.parts.values()])
    )
    assert mw.Product({0: mw.Poisson()}).resolve(COUNTS[:, :1]).base_width(base[..., :1]) is None
    # each cluster and each part with its own
    statistics = np.zeros((6, product.statistic_size))
    one = product.draw_parameters(statistics, np.random.default_rng(1), base.reshape(6, 9))
    own = full.draw_parameters(
        statistics[:, : full.statistic_size], np.random.default_rng(1), base.reshape(6, 9)[:, :5]
    )
    np.testing.assert_array_equal(one["0, 3: mean"], own["mean"])
    assert product.simulate(np.array([0, 1]), rng).shape == (2, 5)


# --- families of one's own


def accumulate(x, statistic):
    statistic[0] += x[0]


def exponential(n, statistic, parameters):
    a, b = parameters[0], parameters[1]
    return a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + statistic[0])


def family(parameters, **options):
    return mw.conjugate_family(1, accumulate, exponential, parameters=parameters, **options)


def test_a_family_of_ones_own_names_what_is_learned(seed):
    rng = np.random.default_rng(seed)
    given = {"shape": Gamma(3, 2), "rate": 2, "share": Beta(2, 5), "size": LogNormal(4, 0.5)}
    made = family(given).resolve_standard(1)
    assert made.base_size == 3
    np.testing.assert_allclose(made.values(made.start_base()), [1.5, 2, 2 / 7, 4])
    draws = np.array([made.draw_base(rng) for _ in range(2000)])
    named = made.base_draws(draws)
    laws = {
        "shape": gamma(3, scale=1 / 2), "share": beta_law(2, 5), "size": norm(np.log(4), 0.5),
    }  # fmt: skip
    assert list(named) == list(laws)
    for name, law in laws.items():
        values = np.log(named[name]) if name == "size" else named[name]
        assert kstest(values, law.cdf).pvalue > 1e-3
    np.testing.assert_allclose(
        made.values(draws[0]),
        [named["shape"][0], 2, named["share"][0], named["size"][0]],
    )


def test_a_family_of_ones_own_draws_with_its_base():
    made = family(
        {"shape": LogNormal(1, 1), "rate": 2},
        columns=1,
        draw_parameters=lambda _n, _statistic, parameters, _rng: parameters,
        draw_rows=lambda drawn, size, _rng: np.full((size, 1), drawn[0]),
    )
    drawn = made.draw_parameters(np.zeros((2, 2)), RNG, np.log([[3.0], [4.0]]))["parameters"]
    np.testing.assert_allclose(drawn, [[3, 2], [4, 2]])
    rows = made.simulate(np.array([0, 0]), RNG, np.log([5.0]))
    np.testing.assert_allclose(rows, [[5], [5]])


def test_a_family_of_numbers_is_fixed():
    assert family([2.0, 1.0]).base_size == 0
    named = family({"shape": 2, "rate": 1}).resolve(np.ones((4, 1)))
    assert named.base_size == 0
    assert named.bind(np.ones((4, 1))).log_marginal(np.arange(4)) == family([2.0, 1.0]).bind(
        np.ones((4, 1))
    ).log_marginal(np.arange(4))
    of_data = family(lambda X: {"shape": LogNormal(X.mean(), 1), "rate": 1.0})
    assert of_data.resolve(np.full((4, 1), 3.0)).parameters["shape"] == LogNormal(3, 1)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"a": "b"}, TypeError, r"parameters\['a'\] must be a number, or a distribution"),
        ({"a": np.nan}, ValueError, r"parameters\['a'\] must be finite"),
        ({1: 2.0}, TypeError, "names as keys"),
        ({"a": LogNormal(1e30, 1)}, ValueError, r"parameters\['a'\] is learned between"),
        ([LogNormal(1, 1)], ValueError, "a mapping from names"),
    ],
)
def test_wrong_parameters_of_ones_own(parameters, error, match):
    with pytest.raises(error, match=match):
        family(parameters)


# --- the core


def test_the_core_has_the_same_density_as_with_the_same_number_fixed(case):
    likelihood, data, size, name, _ = case
    assert likelihood.bind(data).base_size == size
    at = likelihood.bind(data).at(np.full(size, np.log(0.7)))
    given = {"a": 0.7, "b": 0.7} if isinstance(likelihood, mw.Bernoulli) else {name: 0.7}
    if isinstance(likelihood, mw.Poisson):
        given["rate"] = None
    fixed = type(likelihood)(**{**likelihood.get_params(), **given}).resolve(data).bind(data)
    for some in (np.arange(1), np.arange(3, 20)):
        assert at.log_marginal(some) == pytest.approx(fixed.log_marginal(some), rel=1e-9)
