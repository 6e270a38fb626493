"""Copies of whole rows, as in a bootstrap sample, are no clusters."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.likelihoods.spread import rounding

CENTRES = np.array([[0, 0, 0, 0, 0], [5, 0, 0, 0, 0], [0, 5, 0, 0, 0]])


def three_groups() -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.repeat(CENTRES, 70, axis=0) + rng.normal(size=(210, 5))


COPIED = {
    "twice": np.repeat(np.arange(210), 2),
    "bootstrap": np.random.default_rng(0).integers(210, size=210),
}


@pytest.mark.parametrize("rows", COPIED.values(), ids=COPIED)
def test_copies_are_no_clusters(rows: np.ndarray) -> None:
    X = three_groups()[rows]
    options = {"draws": 60, "warmup": 60, "chains": 2, "seed": 1, "progress": False}
    post = mw.sample(mw.Mixture(mw.Gaussian()), X, **options)
    assert len(np.bincount(post.point_estimate())) == 3


def test_only_copies_of_whole_rows_count() -> None:
    X = three_groups()
    assert rounding(X).steps.tolist() == [0] * 5
    assert rounding(np.repeat(X, 2, axis=0)).steps.min() > 0.5
    assert rounding(np.repeat(X, 2, axis=0)).ties.tolist() == [2.0] * 5
    few = np.vstack([X, X[:10]])
    assert rounding(few).steps.max() < 0.1
    whole = np.round(X)
    twice = np.repeat(whole, 2, axis=0)
    assert rounding(twice).steps.tolist() == rounding(whole).steps.tolist()


def test_the_step_does_not_depend_on_units() -> None:
    X = np.repeat(three_groups(), 2, axis=0)
    units = np.array([1e-3, 1, 10, 1e5, 3])
    np.testing.assert_allclose(rounding(X * units + 7).steps, rounding(X).steps * units, rtol=1e-6)
    np.testing.assert_allclose(rounding(X + 1e8).steps, rounding(X).steps, rtol=1e-3)
