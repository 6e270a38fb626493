"""Chains keep the categories that no row has as one; the exact posterior is of all of them."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.testing import goodness_of_fit


@pytest.mark.parametrize("sampler", ["gibbs", "split-merge", "slice", "tree"])
def test_samplers_are_exact(sampler, seed):
    X = np.array([[0, 29], [13, 4], [0, np.nan], [38, 4], [0, 29]])
    model = mw.Mixture(mw.Categorical(beta=0.3, n_categories=40), mw.NGGP(1.0, 0.5))
    result = goodness_of_fit(model, X, sampler, replicates=10_000, iterations=3, seed=seed)
    assert result.passed(), result
