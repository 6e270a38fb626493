"""The twin's families, against calculations made another way."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.reference import family_of
from mixwood.reference.families import dense


def log_marginal(likelihood, X):
    family = family_of(likelihood)
    return family.log_marginal(family.of(np.asarray(X, dtype=float)))


def test_gaussian_is_a_product_of_multivariate_t():
    rng = np.random.default_rng(1)
    X, d = rng.normal(size=(6, 2)) * 2 + 1, 2
    r, nu, m, scale = 0.3, 4.5, np.array([0.5, -1.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    likelihood = mw.Gaussian(r=r, nu=nu, mean=m, scale=scale)
    expected = 0.0
    for x in X:
        df = nu - d + 1
        shape = scale * (r + 1) / (r * df)
        expected += stats.multivariate_t(m, shape, df).logpdf(x)
        scale = scale + r / (r + 1) * np.outer(x - m, x - m)
        m, r, nu = (r * m + x) / (r + 1), r + 1, nu + 1
    assert log_marginal(likelihood, X) == pytest.approx(expected, abs=1e-10)


def log_t_product(x, r, nu, m, psi):
    """Return the log marginal of one column, one Student t after another."""
    total = 0.0
    for value in x:
        total += stats.t(nu, m, np.sqrt(psi / nu * (r + 1) / r)).logpdf(value)
        psi = psi + r / (r + 1) * (value - m) ** 2
        m, r, nu = (r * m + value) / (r + 1), r + 1, nu + 1
    return total


def test_diagonal_gaussian_is_a_product_of_t_over_present_entries():
    X = np.random.default_rng(2).normal(size=(7, 3))
    X[1, 0] = X[2, 2] = X[:, 1] = np.nan
    likelihood = mw.DiagonalGaussian(r=0.5, nu=3.0, mean=[0.1, 0.2, 0.3], scale=[1.0, 2.0, 3.0])
    expected = sum(
        log_t_product(X[~np.isnan(X[:, j]), j], 0.5, 3.0, likelihood.mean[j], likelihood.scale[j])
        for j in range(3)
    )
    assert log_marginal(likelihood, X) == pytest.approx(expected, abs=1e-10)


def test_spherical_gaussian_is_a_product_of_multivariate_t():
    X, d = np.random.default_rng(3).normal(size=(5, 3)), 3
    r, nu, m, psi = 0.2, 2.5, np.zeros(3), 1.7
    likelihood = mw.SphericalGaussian(r=r, nu=nu, mean=m, scale=psi)
    expected = 0.0
    for x in X:
        shape = np.eye(d) * psi / nu * (r + 1) / r
        expected += stats.multivariate_t(m, shape, nu).logpdf(x)
        psi = psi + r / (r + 1) * np.sum((x - m) ** 2)
        m, r, nu = (r * m + x) / (r + 1), r + 1, nu + d
    assert log_marginal(likelihood, X) == pytest.approx(expected, abs=1e-10)


def test_one_column_gaussians_agree():
    X = np.random.default_rng(4).normal(size=(6, 1))
    full = mw.Gaussian(r=0.1, nu=4.0, mean=[0.3], scale=[[2.0]])
    diagonal = mw.DiagonalGaussian(r=0.1, nu=4.0, mean=[0.3], scale=[2.0])
    spherical = mw.SphericalGaussian(r=0.1, nu=4.0, mean=[0.3], scale=2.0)
    values = [log_marginal(family, X) for family in (full, diagonal, spherical)]
    assert values == pytest.approx([values[0]] * 3, abs=1e-11)


def test_multinomial_is_a_product_of_dirichlet_multinomials():
    X = np.array([[2, 0, 1], [0, 0, 0], [1, 3, 0]])
    pseudo, expected = np.full(3, 0.4), 0.0
    for x in X:
        if x.sum():
            expected += stats.dirichlet_multinomial(pseudo, x.sum()).logpmf(x)
        pseudo = pseudo + x
    assert log_marginal(mw.Multinomial(beta=0.4, columns=3), X) == pytest.approx(expected)


def test_bernoulli_by_integration():
    x = np.array([1, 0, 1, 1, np.nan])
    value, _ = quad(lambda p: p**3 * (1 - p) * stats.beta(0.7, 2.0).pdf(p), 0, 1)
    likelihood = mw.Bernoulli(a=0.7, b=2.0, columns=1)
    assert log_marginal(likelihood, x[:, None]) == pytest.approx(log(value), abs=1e-8)


def test_poisson_by_integration():
    x = np.array([0, 3, np.nan, 5])

    def integrand(rate):
        likelihood = np.prod(stats.poisson(rate).pmf([0, 3, 5]))
        return likelihood * stats.gamma(1.5, scale=1 / 0.8).pdf(rate)

    value, _ = quad(integrand, 0, 60, points=[2.0, 5.0])
    likelihood = mw.Poisson(shape=1.5, rate=np.array([0.8]))
    assert log_marginal(likelihood, x[:, None]) == pytest.approx(log(value), abs=1e-8)


def test_categorical_is_polyas_urn():
    X = np.array([[0, 2], [1, 1], [0, np.nan], [0, 2]])
    beta, expected = 0.5, 0.0
    for column, levels in zip(X.T, (2, 3), strict=True):
        counts = np.zeros(levels)
        for code in column[~np.isnan(column)].astype(int):
            expected += log((beta + counts[code]) / (levels * beta + counts.sum()))
            counts[code] += 1
    likelihood = mw.Categorical(beta=beta, n_categories=(2, 3))
    assert log_marginal(likelihood, X) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("likelihood", "values"),
    [
        (mw.Bernoulli(a=0.7, b=2.0, columns=2), product([0, 1], repeat=4)),
        (mw.Categorical(beta=0.3, n_categories=(2, 3)), product([0, 1], [0, 1, 2], repeat=2)),
    ],
)
def test_probabilities_of_all_data_sets_sum_to_one(likelihood, values):
    total = sum(exp(log_marginal(likelihood, np.reshape(v, (2, 2)))) for v in values)
    assert total == pytest.approx(1.0)


def test_a_missing_entry_is_summed_out():
    likelihood = mw.Poisson(shape=2.0, rate=np.array([1.0, 0.5]))
    X = np.array([[3.0, 1.0], [2.0, np.nan]])
    filled = [np.array([[3.0, 1.0], [2.0, k]]) for k in range(200)]
    total = np.logaddexp.reduce([log_marginal(likelihood, x) for x in filled])
    assert log_marginal(likelihood, X) == pytest.approx(total, abs=1e-10)


def test_row_constants_are_in():
    likelihood = mw.Multinomial(beta=1.0, columns=2)
    # one row of total 3 under a uniform prior: four equally likely outcomes
    assert log_marginal(likelihood, [[1, 2]]) == pytest.approx(-log(4))
    zero = mw.Poisson(shape=1.0, rate=np.array([1.0]))
    assert log_marginal(zero, [[2]]) == pytest.approx(-3 * log(2), abs=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_tight_cluster_far_away_keeps_its_digits(offset):
    spread = np.array([[0.0, 0.5], [0.25, 0.0], [-0.5, 0.25]])
    likelihood = mw.Gaussian(r=0.1, nu=8.0, mean=[offset, offset], scale=np.eye(2))
    family = family_of(likelihood)
    stat = family.of([*(spread + offset), np.array([offset + 9.0, offset])])
    stat = family.forget(stat, np.array([offset + 9.0, offset]))
    near = mw.Gaussian(r=0.1, nu=8.0, mean=[0.0, 0.0], scale=np.eye(2))
    assert family.log_marginal(stat) == pytest.approx(log_marginal(near, spread), abs=1e-5)


def test_verbs_agree_with_each_other(family_case):
    likelihood, X = family_case(12)
    checked = likelihood.check(X)
    family, rows = family_of(likelihood.resolve(checked)), dense(checked)
    whole = family.log_marginal(family.of(rows))
    merged = family.merge(family.of(rows[:5]), family.of(rows[5:]))
    assert family.log_marginal(merged) == pytest.approx(whole, rel=1e-11)
    assert family.log_marginal(family.of(rows[::-1])) == pytest.approx(whole, rel=1e-11)
    for row in rows[5:]:
        merged = family.forget(merged, row)
    expected = family.log_marginal(family.of(rows[:5]))
    assert family.log_marginal(merged) == pytest.approx(expected, rel=1e-10)
    for row in rows[:5]:
        merged = family.forget(merged, row)
    assert family.log_marginal(merged) == pytest.approx(0.0, abs=1e-9)


def test_sparse_rows_become_dense():
    X = np.array([[1, 0, 2], [0, 3, 0]])
    np.testing.assert_array_equal(dense(csr_array(X)), X)


def test_a_family_without_a_twin_is_refused():
    class Own(mw.Bernoulli):
        pass

    with pytest.raises(TypeError, match=r"likelihood must be one that mixwood\.reference knows"):
        family_of(Own(columns=1))
