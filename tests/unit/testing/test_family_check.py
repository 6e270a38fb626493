"""The identities of a family: every family of ours obeys them, and broken ones are caught."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference import families as twins
from mixwood.testing import check_family, seed_of


def test_every_family_obeys(family_case, request):
    likelihood, X = family_case(18)
    check_family(likelihood, X, seed=seed_of(request.node.name))


def test_identities_hold_in_any_units():
    X = np.random.default_rng(0).normal(size=(20, 2)) * [1e-3, 1e4] + [5.0, -1e6]
    check_family(mw.Gaussian(), X, rtol=1e-8)
    check_family(mw.Gaussian(scale="data"), X, rtol=1e-8)
    check_family(mw.DiagonalGaussian(), X, rtol=1e-8)


def test_a_base_measure_of_many_parameters_is_not_enumerated():
    report = check_family(mw.Gaussian(), np.random.default_rng(0).normal(size=(6, 2)))
    assert "more parameters than can be integrated" in report.untried[-1]


def test_wrong_row_constants_are_caught(monkeypatch):
    monkeypatch.setattr(mw.Poisson, "row_constants", lambda _, X: np.zeros(X.shape[0]))
    with pytest.raises(AssertionError, match="constants of the rows"):
        check_family(mw.Poisson(), [[1, 2], [3, 4], [5, 6]])


def test_a_broken_forget_is_caught(monkeypatch):
    monkeypatch.setattr(twins.SphericalGaussian, "forget", lambda _, stat, __: stat)
    with pytest.raises(AssertionError, match=r"forgetting undoes observing \(twin family\)"):
        check_family(mw.SphericalGaussian(), np.eye(4))


def test_a_broken_merge_is_caught(monkeypatch):
    monkeypatch.setattr(twins.Gaussian, "merge", lambda _, a, __: a)
    with pytest.raises(AssertionError, match="merging equals adding"):
        check_family(mw.Gaussian(), np.random.default_rng(0).normal(size=(6, 2)))


def test_a_family_without_a_twin_is_checked_alone():
    class Own(mw.Bernoulli):
        pass

    check_family(Own(), [[0, 1], [1, 1], [0, 0]])


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="at least 2 rows"):
        check_family(mw.Bernoulli(), [[0]])


@pytest.mark.parametrize(
    ("likelihood", "X", "support"),
    [
        (mw.Gaussian(), [[0.3], [1.2], [-2.0], [0.1]], "real"),
        (
            mw.DiagonalGaussian(nu=1.5, scale="data"),
            [[30.0], [41.2], [29.0], [12.0]],
            (-np.inf, np.inf),
        ),
        (mw.Poisson(), [[0], [4], [2], [1]], "counts"),
        (mw.Bernoulli(), [[0, 1], [1, 1], [0, 0]], [[0, 0], [0, 1], [1, 0], [1, 1]]),
        (mw.Categorical(n_categories=3), [[0], [2], [2]], [[0], [1], [2]]),
    ],
)
def test_predictives_sum_to_one_and_draws_follow_them(likelihood, X, support):
    report = check_family(likelihood, X, support=support, replicates=0)
    assert len(report.passed) == 6


def test_rows_are_drawn_where_none_are_given():
    assert check_family(mw.Poisson(), support="counts").untried == ()


def test_a_marginal_that_does_not_sum_to_one_is_caught(monkeypatch):
    right = twins.Bernoulli.log_marginal
    monkeypatch.setattr(
        twins.Bernoulli, "log_marginal", lambda self, s: right(self, s) - 0.1 * s.n.sum()
    )
    monkeypatch.setattr(mw.Bernoulli, "row_constants", lambda _, X: np.full(len(X), -0.1))
    with pytest.raises(AssertionError, match="predictives sum to 1"):
        check_family(mw.Bernoulli(), [[0], [1], [1]], support=[[0], [1]])


@pytest.mark.parametrize(
    ("X", "support", "match"),
    [
        ([[0], [1]], "integers", "support must be 'real', 'positive', 'counts', an interval"),
        ([[0, 1], [1, 1]], "counts", "of one column and X has 2"),
        ([[0, 1], [1, 1]], [[0], [1]], r"shape \(m, 2\)"),
    ],
)
def test_a_wrong_support_is_named(X, support, match):
    with pytest.raises(ValueError, match=match):
        check_family(mw.Bernoulli(), X, support=support)
