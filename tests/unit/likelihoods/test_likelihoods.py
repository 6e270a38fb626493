"""What a likelihood accepts and refuses, and what its defaults take from the data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.testing import check_family

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) @ RNG.normal(size=(3, 3))


def test_identities_notice_a_wrong_family(monkeypatch):
    """The shared test can fail: a twin whose marginals are off by a thousandth is found."""
    from mixwood.reference import families

    right = families.Poisson.log_marginal
    monkeypatch.setattr(families.Poisson, "log_marginal", lambda self, s: 1.001 * right(self, s))
    with pytest.raises(AssertionError):
        check_family(mw.Poisson(shape=1), RNG.poisson(3.0, (10, 2)))


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: mw.Gaussian(r=0), ValueError, "r must be positive"),
        (lambda: mw.Gaussian(nu=float("nan")), ValueError, "nu"),
        (
            lambda: mw.Gaussian(nu=1, mean=[0, 0, 0], scale="data"),
            ValueError,
            "nu must be above d - 1 = 2",
        ),
        (lambda: mw.Gaussian(mean=[0, np.inf]), ValueError, "mean"),
        (lambda: mw.Gaussian(scale="big"), ValueError, "scale"),
        (lambda: mw.Gaussian(scale=[[1, 2], [2, 1]]), ValueError, "positive definite.*got"),
        (lambda: mw.Gaussian(scale=[[1, 2], [0, 1]]), ValueError, "symmetric"),
        (lambda: mw.Gaussian(mean=[0], scale=np.eye(2)), ValueError, "scale must have shape"),
        (lambda: mw.DiagonalGaussian(nu=0), ValueError, "nu"),
        (lambda: mw.DiagonalGaussian(scale=[1, -1]), ValueError, "scale"),
        (lambda: mw.DiagonalGaussian(scale="paper"), ValueError, "scale"),
        (lambda: mw.DiagonalGaussian(mean=[0], scale=[1, 1]), ValueError, "scale must have shape"),
        (lambda: mw.SphericalGaussian(scale=0), ValueError, "scale"),
        (lambda: mw.Multinomial(beta=-1), ValueError, "beta"),
        (lambda: mw.Multinomial(columns=0), ValueError, "columns"),
        (lambda: mw.Bernoulli(a=0), ValueError, "a must be positive"),
        (lambda: mw.Categorical(beta=0), ValueError, "beta"),
        (lambda: mw.Categorical(n_categories=(2, 0)), ValueError, "n_categories"),
        (lambda: mw.Categorical(n_categories=2.5), TypeError, "n_categories"),
        (lambda: mw.Poisson(shape=0), ValueError, "shape"),
        (lambda: mw.Poisson(rate=[1, 0]), ValueError, "rate"),
    ],
)
def test_wrong_parameters_are_named(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_fixed_parameters_are_those_of_the_contract():
    gaussian = mw.Gaussian(scale="data").resolve(X)
    assert (gaussian.r, gaussian.nu) == (0.1, 9)
    np.testing.assert_allclose(gaussian.mean, X.mean(axis=0))
    assert (mw.Bernoulli(a=0.5).b, mw.Bernoulli(b=0.5).a) == (1, 1)
    np.testing.assert_allclose(mw.Poisson(shape=2).resolve(np.array([[4.0], [6.0]])).rate, [0.4])


def test_data_scale_follows_the_units():
    units = np.array([1e-3, 1.0, 1e6])
    one, other = (mw.Gaussian(scale="data").resolve(rows) for rows in (X, X * units + 5))
    np.testing.assert_allclose(other.scale, one.scale * np.outer(units, units), rtol=1e-9)


def test_paper_scale_has_determinant_one_tenth():
    for data in (X, 1e3 * X):
        scale = mw.Gaussian(scale="paper").resolve(data).scale
        assert np.linalg.det(scale) == pytest.approx(0.1)
    sigma = np.cov(X, rowvar=False)
    expected = sigma / (10 * np.linalg.det(sigma)) ** (1 / 3)
    np.testing.assert_allclose(mw.Gaussian(scale="paper").resolve(X).scale, expected)


def test_paper_scale_says_when_it_cannot():
    with pytest.raises(ValueError, match="scale='data'"):
        mw.Gaussian(scale="paper").resolve(np.ones((5, 2)))


def test_constant_columns_get_unit_variance():
    data = np.column_stack([X[:, 0], np.full(30, 1 / 3)])
    scale = mw.Gaussian(scale="data").resolve(data).scale
    assert scale[1, 1] == pytest.approx(0.1 * 5)
    assert scale[0, 1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("d", "fraction"), [(1, 0.1), (2, 0.1), (4, 20**-0.5), (20, 20**-0.1)])
def test_a_cluster_is_expected_to_fill_a_twentieth_of_the_volume(d, fraction, seed):
    data = np.random.default_rng(seed).normal(size=(1000, d))
    scale = mw.Gaussian(scale="data").resolve(data).scale
    expected = scale / 5  # the mean of an inverse Wishart: nu - d - 1
    np.testing.assert_allclose(np.diag(expected), fraction * data.var(axis=0, ddof=1))


def test_missing_entries_are_integrated_out():
    """A row with nothing observed changes nothing; its columns drop out one by one."""
    full = RNG.poisson(2.0, (6, 2)).astype(float)
    for likelihood in (mw.Poisson(shape=1, rate=[1.0, 2.0]),
                       mw.Categorical(beta=1, n_categories=(99, 99)),
                       mw.DiagonalGaussian(r=0.1, nu=7, mean=[0, 0], scale=[1, 1])):  # fmt: skip
        data = np.vstack([full, [np.nan, np.nan], [1.0, np.nan]])
        family = likelihood.resolve(data).bind(data)
        some = np.array([0, 1, 2])
        assert family.log_marginal(np.append(some, 6)) == pytest.approx(family.log_marginal(some))
        alone = np.vstack([full[:, :1], [[1.0]]])
        column = type(likelihood)(**{
            key: value[:1] if np.ndim(value) else value
            for key, value in likelihood.get_params().items()
        })  # fmt: skip
        one = column.bind(alone)
        gain = family.log_marginal(np.append(some, 7)) - family.log_marginal(some)
        assert gain == pytest.approx(
            one.log_marginal(np.append(some, 6)) - one.log_marginal(some), abs=1e-10
        )


@pytest.mark.parametrize("likelihood", [mw.SphericalGaussian(), mw.Multinomial()])
def test_families_that_do_not_skip_missing_entries_say_so(likelihood):
    with pytest.raises(ValueError, match="X"):
        likelihood.check([[1.0, np.nan], [2.0, 3.0]])


def test_codes_beyond_the_categories_are_refused():
    fitted = mw.Categorical().resolve(np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert fitted.n_categories == (3, 2)
    with pytest.raises(ValueError, match="code 2 in column 1"):
        fitted.check([[0, 2]], name="X_new")
    with pytest.raises(ValueError, match="only 0, 1 and NaN"):
        mw.Bernoulli().check([[0, 2]])


def test_counts_may_be_dense_or_sparse_in_any_form():
    dense = RNG.poisson(0.5, (6, 5))
    expected = mw.Multinomial().check(dense)
    for form in ("csr", "csc", "coo", "lil"):
        np.testing.assert_array_equal(
            mw.Multinomial().check(csr_array(dense).asformat(form)).toarray(), expected.toarray()
        )


def test_likelihoods_are_values(family_case):
    likelihood, data = family_case(8)
    explicit = likelihood.resolve(likelihood.check(data))
    assert pickle.loads(pickle.dumps(explicit)) == explicit
    assert explicit != likelihood or explicit.get_params() == likelihood.get_params()
    assert explicit.resolve(likelihood.check(data)) == explicit


def test_simulated_data_have_the_moments_of_the_prior():
    """Many clusters of one item each: marginal mean and covariance of the Normal-Wishart."""
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    likelihood = mw.Gaussian(r=0.5, nu=9, mean=[1.0, -1.0], scale=scale)
    data = likelihood.simulate(np.arange(20_000), np.random.default_rng(1))
    np.testing.assert_allclose(data.mean(axis=0), [1, -1], atol=0.05)
    expected = scale / (9 - 2 - 1) * (1 + 1 / 0.5)
    np.testing.assert_allclose(np.cov(data, rowvar=False), expected, rtol=0.1, atol=0.05)
