"""Entries very far from all others do not hide clusters, and are told of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixwood as mw
from mixwood.likelihoods.far_entries import (
    bulk_share_of_all,
    bulk_shares,
    near_rows,
    warn_of_far_entries,
)

OPTIONS = {"draws": 60, "warmup": 60, "chains": 2, "seed": 1, "progress": False}


def three_groups() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 1, (60, 2)) for c in [(0, 0), (7, 0), (0, 7)]])


FAR_ROWS = {
    "one": [[1e6, 0]],
    "several": [[1e6, 0], [-1e6, 3], [0, 1e6]],
    "one row in all columns": [[1e6, 1e6]],
}


@pytest.mark.parametrize("rows", FAR_ROWS.values(), ids=FAR_ROWS)
def test_clusters_are_found_beside_far_entries(rows: list[list[float]]) -> None:
    X = np.vstack([three_groups(), rows])
    with pytest.warns(UserWarning, match="times as far from the median"):
        post = mw.sample(mw.Mixture(), X, **OPTIONS)
    sizes = np.sort(np.bincount(post.point_estimate()))[::-1]
    assert sizes[:3].sum() == 180
    assert sizes[2] > 50
    assert np.isfinite(post.log_joint).all()
    assert np.isfinite(post.log_density(X)).all()


@pytest.mark.parametrize(
    "likelihood", [mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()], ids=str
)
def test_only_far_entries_change_the_floor(likelihood: mw.Gaussian) -> None:
    X = three_groups()

    def floors(rows: np.ndarray) -> np.ndarray:
        scale = likelihood.resolve(rows).scale
        floor = np.atleast_1d(scale.floor)
        return np.diag(floor) if floor.ndim == 2 else floor

    plain = floors(X)
    assert np.allclose(plain, 1e-6 * X.var(axis=0, ddof=1).mean(), rtol=0.1)
    with_far = floors(np.vstack([X, [1e6, 1e6]]))
    assert np.all(with_far < 0.2)  # a share of 5e9, at least 1e-11
    assert np.all(with_far > 1e-2)


def test_ordinary_columns_are_all_bulk() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [rng.normal(size=400), rng.standard_t(3, 400), np.repeat([0.0, 1.0, 5.0, 9.0], 100),
         np.where(rng.random(400) < 0.8, 0.0, rng.exponential(size=400))]
    )  # fmt: skip
    assert bulk_shares(X, X.var(axis=0)).tolist() == [1.0] * 4
    assert bulk_share_of_all(X, 1.0) == 1.0
    assert near_rows(X).all()


def test_single_rows_and_missing_entries_have_a_bulk() -> None:
    assert bulk_shares(np.array([[1.0, np.nan]]), np.ones(2)).tolist() == [1.0, 1.0]
    X = np.where(np.random.default_rng(0).random((50, 2)) < 0.3, np.nan, 1e6)
    assert bulk_shares(X, np.ones(2)).tolist() == [1.0, 1.0]
    assert near_rows(X).all()


def test_columns_far_in_one_row_are_no_combinations() -> None:
    X = np.vstack([three_groups(), [1e9, 1e9]])
    assert mw.Gaussian().resolve(X).left_out == {}
    copied = np.column_stack([X, X[:, 0]])
    assert mw.Gaussian().resolve(copied).left_out == {2: "combination"}
    copied[0, 2] = 1e9  # a slip in one of them is no reason to forget it
    assert mw.Gaussian().resolve(copied).left_out == {}


@pytest.mark.filterwarnings("error")
def test_tails_are_no_far_entries() -> None:
    X = np.random.default_rng(2).standard_t(2, (300, 2))
    mw.Gaussian().fitted_to(X)


@pytest.mark.parametrize("likelihood", [mw.Gaussian(), mw.DiagonalGaussian(), mw.AutoGaussian()])
def test_a_column_without_entries_is_refused(likelihood: mw.Gaussian) -> None:
    X = np.column_stack([three_groups(), np.full(180, np.nan)])
    with pytest.raises(ValueError, match="no entry in column 2: all are missing"):
        mw.sample(mw.Mixture(likelihood), X, **OPTIONS)


def test_a_scale_is_no_distribution() -> None:
    with pytest.raises(TypeError, match=r"scale is LogNormal.*entries must be real numbers"):
        mw.Gaussian(scale=mw.hyper.LogNormal(1, 1))


def test_rows_that_come_in_a_period_are_not_far():
    X = np.random.default_rng(3).normal(size=(40_000, 1)) + 2e4 * (np.arange(40_000) % 4)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_far_entries(X)
