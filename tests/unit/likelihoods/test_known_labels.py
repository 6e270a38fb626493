"""Known labels: what is accepted, what becomes of the rows, and starts that keep them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.likelihoods.known_labels import (
    allowed_labels,
    checked_known,
    collapsed,
    in_words,
    kept_by,
    known_of,
)


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ([0, 1], ValueError, r"known must be 3 labels, one per row of X and -1 .*shape \(2,\)"),
        ([0, 1, -2], ValueError, "known must be labels from 0 on, or -1 .*-2 in row 2"),
        ([0, 0.5, 1], TypeError, "known must hold whole numbers, -1 where"),
        (["a", "b", "a"], TypeError, "known must hold whole numbers, -1 where"),
        ([0, np.nan, 1], TypeError, "known must hold whole numbers, -1 where"),
    ],
)
def test_wrong_labels_are_refused(known, error, message):
    with pytest.raises(error, match=message):
        checked_known(known, 3)


def test_labels_are_numbered_and_nothing_known_is_none():
    np.testing.assert_array_equal(checked_known([9, -1, 4.0, 9], 4), [0, -1, 1, 0])
    assert checked_known([-1, -1], 2) is None


@pytest.mark.parametrize(
    ("y", "codes"),
    [
        (["b", None, "a", "b"], [0, -1, 1, 0]),
        ([2.0, np.nan, 0.0, -1.0], [0, -1, 1, -1]),
        ([True, False, None, True], [0, 1, -1, 0]),
        (pd.Series(["b", pd.NA, "a", "b"], dtype="string"), [0, -1, 1, 0]),
        (pd.Categorical(["b", None, "a", "b"]), [0, -1, 1, 0]),
        (np.array([[3], [-1], [3], [0]]), [0, -1, 0, 1]),
        ([pd.NaT, 1, "1", None], [-1, 0, 1, -1]),
    ],
)
def test_labels_of_any_kind(y, codes):
    np.testing.assert_array_equal(known_of(y, 4), codes)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], "y must be 3 labels"),
        ([0.5, 1, 2], r"y must hold labels, whole numbers or text, .* got 0\.5 in row 0"),
        ([0, 1, -7], "y must hold labels from 0 on, or -1 where unknown, got -7 in row 2"),
        ([0, 1, np.inf], "y must hold labels, .* got inf in row 2"),
        ([0, 1, [2]], "y must"),
    ],
)
def test_what_is_no_label_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        known_of(np.array(y, dtype=object) if len(y) == 3 else y, 3)


def test_leaves_have_the_sums_of_their_rows(family_case):
    likelihood, X = family_case(12)
    likelihood, X = likelihood.fitted_to(X)
    known = np.full(12, -1)
    known[[2, 5, 6]], known[[3, 11]] = 0, 1
    leaves, leaf_of_row = collapsed(likelihood, X, known)
    rows = likelihood.bind(X)
    together = leaves.bind()
    assert leaves.n_leaves == 9
    assert leaves.sizes.sum() == 12
    np.testing.assert_array_equal(np.flatnonzero(leaves.apart), [2, 3])
    for leaf in range(9):
        members = np.flatnonzero(leaf_of_row == leaf)
        expected = rows.log_marginal(members)
        assert together.log_marginal(np.array([leaf])) == pytest.approx(expected)
        assert leaves.log_constants[leaf] == pytest.approx(
            likelihood.row_constants(X)[members].sum()
        )
    np.testing.assert_array_equal(leaf_of_row[known == 0], [2, 2, 2])


def test_labels_are_made_to_keep_what_is_known():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = 12
        known = rng.integers(-1, 4, size=n)
        if known.max() < 0:
            continue
        known = checked_known(known, n)
        labels = allowed_labels(rng.integers(0, 4, size=n), known)
        assert kept_by(labels, known) is None
        np.testing.assert_array_equal(allowed_labels(labels, known), labels)


def test_what_breaks_labels_is_named():
    known = np.array([0, 1, -1, 0])
    assert kept_by(np.array([0, 1, 2, 1]), known).startswith("rows 0 and 3 have one known label")
    assert kept_by(np.array([0, 0, 2, 0]), known).startswith("rows 0 and 1 have different known")
    assert kept_by(np.array([5, 0, 0, 5]), known) is None


def test_in_words():
    assert in_words(np.array([0, 0, -1])) == "2 of 3 rows in 1 group that stays together"


def test_leaves_that_stay_apart_are_checked(blobs):
    leaves = mw.stream_leaves(mw.Mixture(), [blobs(30)], max_leaves=5, seed=1)
    from dataclasses import replace

    with pytest.raises(ValueError, match="apart must be 5 yes or no"):
        replace(leaves, apart=[True])
