"""What several test files share: a small data set for every likelihood, and every prior."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.testing import seed_of

PRIORS = {
    "finite": mw.FiniteMixture(rate=2.5, gamma=0.7),
    "finite-default": mw.FiniteMixture(),
    "finite-random": mw.FiniteMixture(rate=mw.hyper.Gamma(1, 0.5), gamma=mw.hyper.Gamma(2, 1)),
    "dp": mw.DirichletProcess(alpha=1.3),
    "dp-random": mw.DirichletProcess(),
    "nggp": mw.NGGP(alpha=0.8, sigma=0.4),
    "nggp-random": mw.NGGP(),
    "nggp-fixed-alpha": mw.NGGP(alpha=1.0),
    "nig-random": mw.NormalizedInverseGaussian(),
    "py": mw.PitmanYor(theta=0.9, sigma=0.3),
    "py-random": mw.PitmanYor(),
}


def with_holes(X, rng, share=0.15):
    """Return a copy with entries missing at random."""
    X = np.array(X, dtype=float)
    X[rng.random(X.shape) < share] = np.nan
    return X


def _blobs(rng, n, d, clusters=3, apart=3):
    return rng.normal(size=(n, d)) + apart * rng.integers(0, clusters, (n, 1))


# Each takes a generator and a number of rows.
FAMILIES = {
    "gaussian": lambda rng, n: (mw.Gaussian(), _blobs(rng, n, 3)),
    "diagonal": lambda rng, n: (mw.DiagonalGaussian(), _blobs(rng, n, 4)),
    "diagonal-missing": lambda rng, n: (
        mw.DiagonalGaussian(),
        with_holes(_blobs(rng, n, 4), rng),
    ),
    "spherical": lambda rng, n: (mw.SphericalGaussian(), _blobs(rng, n, 3)),
    "multinomial": lambda rng, n: (mw.Multinomial(), csr_array(rng.poisson(0.7, (n, 9)))),
    "bernoulli": lambda rng, n: (
        mw.Bernoulli(a=0.6, b=1.2),
        with_holes(rng.random((n, 6)) < 0.4, rng),
    ),
    "categorical": lambda rng, n: (
        mw.Categorical(),
        with_holes(rng.integers(0, 4, (n, 3)), rng),
    ),
    "poisson": lambda rng, n: (mw.Poisson(), with_holes(rng.poisson(3.0, (n, 3)), rng)),
    "negative_binomial": lambda rng, n: (
        mw.NegativeBinomial(size=2.0, exposure=3),
        np.column_stack(
            [with_holes(rng.negative_binomial(2, 0.3, (n, 3)), rng), rng.uniform(0.5, 2, n)]
        ),
    ),
}


def _relations(rng, n):
    """Predictors and, in the middle, a target that some rows lack."""
    x, slopes = rng.normal(size=(n, 2)), rng.choice([-2.0, 2.0], n)
    y = slopes * x[:, 0] + rng.normal(size=n)
    y[rng.random(n) < 0.1] = np.nan
    return mw.Regression(1), np.column_stack([x[:, 0], y, x[:, 1]])


FAMILIES["regression"] = _relations


def _mixed(rng, n):
    """A product whose rows lack single entries, or all that a part would have of them."""
    parts = {(3, 0): mw.Gaussian(), (4, 5): mw.Multinomial(), (1, 2): mw.Poisson()}
    blobs, counts = _blobs(rng, n, 2), rng.poisson(0.9, (n, 2))
    singles = with_holes(rng.poisson(3.0, (n, 2)), rng)
    X = np.column_stack([blobs[:, 0], singles, blobs[:, 1], counts])
    for columns in ([3, 0], [4, 5]):
        X[np.ix_(rng.random(n) < 0.2, columns)] = np.nan
    X[0, [0, 3]] = X[0, [4, 5]] = 1.0
    return mw.Product(parts), X


FAMILIES["product"] = _mixed

#: The same, but with base measures that are fixed.
FIXED = {
    "gaussian": mw.Gaussian(scale="data"),
    "diagonal": mw.DiagonalGaussian(scale="data"),
    "diagonal-missing": mw.DiagonalGaussian(scale="data"),
    "spherical": mw.SphericalGaussian(scale="data"),
    "multinomial": mw.Multinomial(beta=0.1),
    "bernoulli": mw.Bernoulli(a=0.6, b=1.2),
    "categorical": mw.Categorical(beta=1.0),
    "poisson": mw.Poisson(shape=1.0),
    "negative_binomial": mw.NegativeBinomial(size=2.0, shape=1.0, exposure=3),
    "regression": mw.Regression(1, scale=2.0),
    "product": mw.Product(
        {
            (3, 0): mw.Gaussian(scale="data"),
            (4, 5): mw.Multinomial(beta=0.1),
            (1, 2): mw.Poisson(shape=1.0),
        }
    ),
}


@pytest.fixture
def seed(request):
    """The test's own seed, made of its name."""
    return seed_of(request.node.name)


@pytest.fixture(scope="session")
def blobs():
    """A function of n: that many points around a few centres on the diagonal, far apart."""
    return lambda n, d=2, seed=0, clusters=4, apart=12: _blobs(
        np.random.default_rng(seed), n, d, clusters, apart
    )


@pytest.fixture(params=list(FAMILIES))
def family_case(request):
    """A function of n: a likelihood and n rows for it, the same at every call."""
    return lambda n: FAMILIES[request.param](np.random.default_rng(7), n)


@pytest.fixture(params=list(FIXED))
def fixed_case(request):
    """Likewise, the base measure fixed."""

    def make(n):
        _, X = FAMILIES[request.param](np.random.default_rng(7), n)
        return FIXED[request.param], X

    return make


# With every family there is no time for all; the oracles have each.
SELDOM = ("nggp-fixed-alpha", "finite-default")


@pytest.fixture(params=[name for name in PRIORS if name not in SELDOM])
def prior(request):
    return PRIORS[request.param]


def pytest_collection_modifyitems(config, items):
    """Leave two of three pairs of a family and a prior to the long runs; each has its turn.

    Not all long runs are made at once, see `_of_this_time`; with MIXWOOD_LONG_SHARE only some of
    those, which, MIXWOOD_LONG_SEED decides, too.
    """
    for item in items:
        pair = [
            list(names).index(item.callspec.params[fixture])
            for fixture, names in (
                ("family_case", FAMILIES),
                ("fixed_case", FIXED),
                ("prior", PRIORS),
            )
            if "callspec" in vars(item) and item.callspec.params.get(fixture) in names
        ]
        if len(pair) == 2 and sum(pair) % 3 > 0:
            item.add_marker(pytest.mark.long)
    share = float(os.environ.get("MIXWOOD_LONG_SHARE", 1))
    seed = os.environ.get("MIXWOOD_LONG_SEED", "0")
    of_this_time = _of_this_time(items, seed)
    waiting = {
        item
        for item in items
        if item.get_closest_marker("long")
        and (item not in of_this_time or seed_of(f"{seed} {item.nodeid}") >= share * 2**56)
    }
    if waiting:
        config.hook.pytest_deselected(items=list(waiting))
        items[:] = [item for item in items if item not in waiting]


def _of_this_time(items, seed):
    """Return those whose turn it is: all but some that are marked `in_turn("argument")`.

    Of a family, a prior and a sampler, say, each pair is tried every time, not each triple: for
    every value of the others one of that argument, such that the sum of their numbers is a multiple
    of how many it has. The seed is added: in as many runs with seeds one apart all have been tried.
    """
    offset = int(seed) if seed.isdecimal() else seed_of(seed)
    turns = {item: item.get_closest_marker("in_turn") for item in items}
    values = {}  # of each argument of a test, in order: objects, which are the same in all items
    for item in filter(turns.get, items):
        for name, value in item.callspec.params.items():
            found = values.setdefault((item.function, name), {})
            found.setdefault(id(value), len(found))
    chosen = set()
    for item in items:
        if turns[item]:
            params = item.callspec.params.items()
            number = sum(values[item.function, name][id(value)] for name, value in params)
            if (number + offset) % len(values[item.function, turns[item].args[0]]):
                continue
        chosen.add(item)
    return chosen
