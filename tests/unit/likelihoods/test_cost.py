"""Clusters of very many numbers: what they cost is said first, or they are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import mixwood as mw

RNG = np.random.default_rng(8)
WIDE = np.zeros((3, 10**6))


@pytest.mark.parametrize("name", ["X", "file.npy"])
def test_covariance_matrices_that_cannot_fit_are_refused(name):
    with pytest.raises(MemoryError, match=rf"{name} has 1,000,000 columns.* 7\.3 TiB .*Diagonal"):
        mw.Gaussian().fitted_to(WIDE, name=name)
    with pytest.raises(MemoryError, match=r"X has 1,000,000 columns"):
        mw.sample(mw.Mixture(mw.Gaussian()), WIDE, progress=False)
    assert len(mw.AutoGaussian().candidates(WIDE[:, :1000])) == 1  # nothing is tried


def test_it_is_the_memory_there_is_that_counts(monkeypatch):
    from mixwood.likelihoods import cost

    X = RNG.normal(size=(3, 1100))
    mw.Gaussian().check(X)
    monkeypatch.setattr(cost, "available_bytes", lambda: 10**7)
    with pytest.raises(MemoryError, match=r"1,100 columns.*9\.2 MiB each.*9\.5 MiB are free"):
        mw.Gaussian().check(X)
    monkeypatch.setattr(cost, "available_bytes", lambda: None)  # where that cannot be told
    mw.Gaussian().check(X)


@pytest.mark.parametrize(
    ("likelihood", "X", "said"),
    [
        (mw.DiagonalGaussian(), RNG.normal(size=(3, 10**6)), r"3,000,000 numbers.*fewer columns"),
        (mw.Categorical(), RNG.integers(0, 10**5, (1000, 1)), r"first draw.*has 99,\d+ cat"),
        (mw.Gaussian(), RNG.normal(size=(20, 700)), r"246,051 numbers.*DiagonalGaussian"),
        (
            mw.Product({0: mw.Poisson(), 1: mw.Categorical()}),
            RNG.integers(0, 10**5, (1000, 2)),
            r"Most of it is parts\[1\]\. Column 0 alone",
        ),
    ],
    ids=["diagonal", "categorical", "gaussian", "product"],
)
def test_wide_clusters_say_what_they_cost(likelihood, X, said):
    with pytest.warns(RuntimeWarning, match=rf"will take long: .*{said}"):
        likelihood.fitted_to(X)


def test_ordinary_data_say_nothing(family_case):
    likelihood, X = family_case(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        likelihood.fitted_to(X)
        mw.Multinomial().fitted_to(np.ones((2, 10**5)))  # its statistics are sparse


def test_products_of_many_columns_are_not_quadratic():
    """They were looked for one after the other in a list: hours for a million columns."""
    table = pd.DataFrame(np.ones((1, 30_000)), columns=[f"c{j}" for j in range(30_000)])
    comparisons = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal comparisons
            comparisons += 1
            return str.__eq__(self, other)

    table.columns = [Name(c) for c in table.columns]
    product = mw.Product({tuple(table.columns): mw.Poisson()})
    product.check(table)
    assert comparisons < 20 * table.shape[1]


def test_variances_of_columns_with_holes_and_constants():
    X = np.array([[1.0, 3.0, np.nan, np.nan], [2.0, 3.0, np.nan, 4.0], [4.0, 3.0, np.nan, np.nan]])
    scale = mw.DiagonalGaussian(scale="data").resolve(X).scale
    np.testing.assert_allclose(scale, 0.5 * np.array([np.var([1, 2, 4], ddof=1), 1, 1, 1]))
