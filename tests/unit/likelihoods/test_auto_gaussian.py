"""What the default likelihood makes of data that it is not for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixwood as mw

YES_AND_NO = np.random.default_rng(1).random((40, 3)) < 0.3


@pytest.mark.parametrize("X", [YES_AND_NO, np.where(YES_AND_NO, 1.0, np.nan)])
def test_yes_and_no_are_told_of_their_own_likelihood(X):
    with pytest.warns(UserWarning, match=r"no entries but 0 and 1, .*mw\.Bernoulli\(\)"):
        mw.AutoGaussian().candidates(mw.AutoGaussian().check(X))


def test_other_numbers_are_not():
    X = mw.AutoGaussian().check(2 * YES_AND_NO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.AutoGaussian().candidates(X)
