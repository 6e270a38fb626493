"""Weights of rows: what is accepted, and what leaves of weighted rows are."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.likelihoods.row_weights import checked_weights, weighted_rows


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, 2], ValueError, r"weights must be 3 numbers, one per row of X, got shape \(2,\)"),
        (
            [1, -2, 1],
            ValueError,
            r"weights must be finite and not negative, got -2 in row 1",
        ),
        ([1, np.nan, 1], ValueError, "weights must be finite and not negative, got .* in row 1"),
        ([1, 0, 1], ValueError, r"weights must be positive, .*in row 1.*post\.predict"),
        (["a", "b", "c"], TypeError, "weights must be numbers"),
        ([1e9, 1e9, 1e9], ValueError, r"weights must sum to less than 2\^31"),
    ],
)
def test_wrong_weights_are_refused(weights, error, message):
    with pytest.raises(error, match=message):
        checked_weights(weights, 3)


def test_zeros_are_accepted_where_they_can_be():
    np.testing.assert_array_equal(checked_weights([0, 2], 2, zeros=True), [0, 2])
    with pytest.raises(ValueError, match="sample_weight must not all be zero"):
        checked_weights([0, 0], 2, name="sample_weight", zeros=True)


def test_whole_weights_are_duplicates(family_case):
    likelihood, X = family_case(10)
    likelihood, X = likelihood.fitted_to(X)
    weights = np.arange(10) % 3 + 1.0
    leaves = weighted_rows(likelihood, X, weights)
    again = np.repeat(np.arange(10), weights.astype(int))
    rows, together = likelihood.bind(X[again]), leaves.bind()
    for some in ([0], [1], [2], [3, 4], [1, 5, 8], list(range(10))):
        expected = rows.log_marginal(np.flatnonzero(np.isin(again, some)))
        assert together.log_marginal(np.array(some)) == pytest.approx(expected, rel=1e-9)
    constants = likelihood.row_constants(X[again])
    assert leaves.log_constants.sum() == pytest.approx(constants.sum())
    assert leaves.n_items == len(again)


def test_real_weights_lie_between_whole_ones(family_case):
    """``log P`` is a smooth function of the weight."""
    likelihood, X = family_case(6)
    likelihood, X = likelihood.fitted_to(X)
    if likelihood.counts_whole_rows:
        with pytest.raises(ValueError, match=r"weights must be whole numbers for .*1\.5 in row 0"):
            weighted_rows(likelihood, X, np.full(6, 1.5))
        return
    at = np.array([1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5])
    values = [weighted_rows(likelihood, X, np.full(6, w)).bind().log_alone() for w in at]
    steps = np.diff(np.array(values), axis=0)
    bends = np.diff(steps, axis=0)
    assert np.all(np.abs(bends) <= 0.5 * np.abs(steps).max() + 1e-9)
    assert np.all(np.isfinite(values))


def test_weights_are_rounded_to_parts_that_add_up_exactly():
    X = np.zeros((3, 1))
    likelihood = mw.Poisson(shape=1.0, rate=[1.0])
    leaves = weighted_rows(likelihood, X, np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(leaves.sizes, [0.1, 0.2, 0.3], atol=1e-6)
    np.testing.assert_array_equal(leaves.sizes * 2**20, np.rint(leaves.sizes * 2**20))
    whole = weighted_rows(likelihood, X, np.array([1.0, 2.0, 3.0]))
    assert whole.sizes.dtype == np.int64


def test_clusters_may_weigh_less_than_one_row(family_case):
    """Alone, or together, and everywhere between on the way."""
    likelihood, X = family_case(12)
    if likelihood.counts_whole_rows:
        return
    model = mw.Mixture(likelihood, mw.FiniteMixture())
    for weight in (0.4, 0.05):
        for sampler in (mw.Gibbs(), mw.Tree()):
            post = mw.sample(
                model, X, sampler, weights=np.full(12, weight), draws=10, warmup=5, chains=1,
                init="singletons", seed=1, progress=False,
            )  # fmt: skip
            assert np.isfinite(post.log_joint).all()
            assert np.isfinite(post.log_density(X[:2])).all()
