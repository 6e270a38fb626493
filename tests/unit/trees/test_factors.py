"""What trees keep so that few rows are quickly compared with many: always that of the rows."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import bind_family
from mixwood.testing import seed_of
from mixwood.trees.build import prior_parameters
from mixwood.trees.recipe import Recipe


def _numbers(rng, n):
    return rng.normal(size=(6, 20))[rng.integers(6, size=n)] + 0.7 * rng.normal(size=(n, 20))


def _with_holes(rng, n):
    X = _numbers(rng, n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def _codes(rng, n):
    X = (9 * rng.integers(6, size=(n, 1)) + rng.integers(12, size=(n, 4))).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0] = 59
    return X


CASES = {
    "gaussian": (mw.Gaussian(scale="data"), _numbers),
    "learned": (mw.Gaussian(), _numbers),
    "heavy tails": (mw.StudentT(), _numbers),
    "holes": (mw.Gaussian(), _with_holes),
    "categories": (mw.Categorical(), _codes),
    "uneven": (mw.Bernoulli(a=0.3, b=2.0), lambda rng, n: (_numbers(rng, n) > 0).astype(float)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("search", ["index", "exact"])
def test_marginals_are_those_of_the_rows_whatever_happens_to_the_trees(case, search, request):
    """Rows that come, trees that are cut, and others' changes: `check` makes every node afresh."""
    likelihood, draw = CASES[case]
    X = likelihood.check(draw(np.random.default_rng(seed_of(request.node.name)), 400))
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP(1.0, 0.9))
    recipe = Recipe(model, prior_parameters(model.prior, len(X)), "balanced", None, search)
    core = recipe.forest(bind_family(model, X))
    rows = iter(np.random.default_rng(0).permutation(400).reshape(8, 50))
    for log_u in (60.0, 20.0, 2.0, -5.0, 8.0):
        core.set_parameters(log_u, 0.0, 0.9, 0.0)
        core.insert(next(rows))
        core.check()
    core.on_top(next(rows))
    core.agglomerate(next(rows))
    core.insert(next(rows))
    core.check()
    core.join_trees()
    core.check()
