"""What the oracles share: small data sets, every prior, and how a Python chain is run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.reference import family_of
from mixwood.reference.families import Family, dense
from tests.conftest import PRIORS, SELDOM

# data for which many partitions are likely (else a wrong sampler may pass), with missing entries
HOLE = np.nan
CASES = {
    "gaussian": (
        mw.Gaussian(r=0.2, nu=4, mean=[1.0, 0.5], scale=[[3.0, 0.5], [0.5, 2.0]]),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    ),
    "diagonal": (
        mw.DiagonalGaussian(r=0.2, nu=3, mean=[1.0, 0.5], scale=[3.0, 2.0]),
        [[0.1, HOLE], [-0.3, 1.9], [2.1, 0.2], [HOLE, -0.8], [0.9, 1.1]],
    ),
    "spherical": (
        mw.SphericalGaussian(r=0.2, nu=3, mean=[1.0, 0.5], scale=2.5),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    ),
    "multinomial": (
        mw.Multinomial(beta=0.5),
        csr_array(np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 0], [3, 0, 0]])),
    ),
    "bernoulli": (
        mw.Bernoulli(a=0.6, b=1.2),
        [[1, 0, 1], [0, 0, HOLE], [1, 1, 1], [0, 1, 0], [1, 0, 0]],
    ),
    "categorical": (mw.Categorical(beta=1.0), [[0, 2], [1, 1], [0, HOLE], [2, 0], [0, 2]]),
    "poisson": (mw.Poisson(shape=2.0), [[0, 3], [4, 1], [HOLE, 2], [6, 0], [1, 5]]),
    "negative-binomial": (
        mw.NegativeBinomial(size=1.5, shape=2.0, exposure=2),
        [[0, 3, 0.5], [4, 1, 2.0], [HOLE, 2, 1.0], [9, 0, 1.5], [1, 5, 0.7]],
    ),
    "regression": (
        mw.Regression(1, r=0.2, nu=4.0, slopes=2.0, scale=1.5, mean=[0.2, 0.5]),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, HOLE], [1.7, -0.8], [0.9, 1.1]],
    ),
    "product": (
        mw.Product(
            {
                (0, 2): mw.Gaussian(r=0.2, nu=4, mean=[1.0, 0.5], scale=[[3.0, 0.5], [0.5, 2.0]]),
                1: mw.Categorical(beta=1.0),
                3: mw.Poisson(shape=2.0),
            }
        ),
        [
            [0.1, 2, 0.4, 0],
            [-0.3, 1, 1.9, 4],
            [HOLE, 0, HOLE, 1],
            [1.7, HOLE, -0.8, 6],
            [HOLE, 0, HOLE, HOLE],
        ],
    ),
}


# of many clusters: else few partitions are likely where a row on its own is expensive
MANY = {
    "dp": mw.DirichletProcess(alpha=10.0),
    "dp-random": mw.DirichletProcess(alpha=mw.hyper.Gamma(6, 0.6)),
    "nggp": mw.NGGP(alpha=6.0, sigma=0.5),
    "nggp-random": mw.NGGP(alpha=mw.hyper.Gamma(6, 1), sigma=mw.hyper.Beta(4, 4)),
    "nig-random": mw.NormalizedInverseGaussian(alpha=mw.hyper.Gamma(6, 1)),
    "py": mw.PitmanYor(theta=6.0, sigma=0.5),
    "py-random": mw.PitmanYor(theta=mw.hyper.Gamma(6, 1), sigma=mw.hyper.Beta(4, 4)),
}

# learned base measures that can be integrated on a grid
LEARNED = {
    # With nu and the tie of r both free there are more parameters than a grid can hold.
    "gaussian": (mw.Gaussian(nu=9.0), [[0.1], [0.5], [2.1], [1.7], [-0.9]]),
    "gaussian-free-nu": (mw.Gaussian(r=0.1), [[0.1], [0.5], [2.1], [1.7], [-0.9]]),
    "gaussian-free-r": (
        mw.Gaussian(r=mw.hyper.Gamma(1, 10), nu=9.0),
        [[0.1], [0.5], [2.1], [1.7], [-0.9]],
    ),
    "diagonal": (
        mw.DiagonalGaussian(nu=6.0),
        [[0.1, HOLE], [-0.3, 1.9], [2.1, 0.2], [HOLE, -0.8]],
    ),
    "spherical": (
        mw.SphericalGaussian(nu=6.0),
        [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    ),
    "multinomial": (
        mw.Multinomial(),
        csr_array(np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 0, 0], [3, 0, 0]])),
    ),
    "bernoulli": (mw.Bernoulli(), [[1, 0], [0, 0], [1, HOLE], [0, 1], [1, 1]]),
    "categorical": (mw.Categorical(), [[0, 2], [1, 1], [0, HOLE], [2, 0], [0, 2]]),
    "poisson": (mw.Poisson(), [[0, 3], [4, 1], [HOLE, 2], [6, 0], [1, 5]]),
    "negative-binomial": (
        mw.NegativeBinomial(exposure=1),
        [[0, 0.5], [4, 2.0], [3, 1.0], [9, 1.5]],
    ),
    "regression": (mw.Regression(1, nu=9.0), [[0.1, 0.4], [-0.3, 1.9], [2.1, HOLE], [1.7, -0.8]]),
    "product": (
        mw.Product({0: mw.SphericalGaussian(r=0.1), 1: mw.Categorical(), 2: mw.Poisson(shape=2.0)}),
        [[0.1, 1, 3], [1.7, 0, 0], [HOLE, 2, 1], [-0.3, 0, 4], [0.9, HOLE, 2]],
    ),
}


def same_state(core, twin, iteration):
    state = core.state()
    np.testing.assert_array_equal(state["labels"], twin.labels, f"labels at {iteration}")
    for name in ("log_u", "log_alpha", "sigma", "theta"):
        expected = pytest.approx(getattr(twin, name), rel=1e-8, abs=1e-8)
        assert state[name] == expected, f"{name} at {iteration}"
    base = state.get("base", np.empty(0))
    np.testing.assert_allclose(base, twin.base, 1e-7, 1e-8, err_msg=f"base at {iteration}")
    latent = state.get("latent", np.empty(0))
    np.testing.assert_allclose(latent, twin.latent, 1e-6, 1e-7, err_msg=f"latent at {iteration}")


@pytest.fixture
def assert_same_draws():
    """A function that runs a compiled chain and its twin side by side; both start alike."""

    def check(core, twin, constants, iterations):
        same_state(core, twin, "the start")
        for iteration in range(iterations):
            core.iterate()
            twin.iterate()
            same_state(core, twin, f"iteration {iteration}")
        core.check()
        if constants is None:  # not known: in which units latent numbers are
            return
        joint = core.log_joint() + constants
        assert joint == pytest.approx(twin.log_joint(), rel=1e-9, abs=1e-8)

    return check


@pytest.fixture
def fresh_seed():
    """A seed that nobody has seen, printed: for the long runs."""
    seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    print(f"seed {seed}")
    return seed


@pytest.fixture
def cases():
    """Small data sets by the name of their family: (likelihood, X)."""
    return CASES


# A product is slow, and `some_pair` has it.
EACH = [
    *(case for case in CASES if case != "product"),
    pytest.param("product", marks=pytest.mark.long),
]


@pytest.fixture(params=EACH)
def small_case(request):
    """Each of the small data sets: (likelihood, X)."""
    return CASES[request.param]


# Those of SELDOM have their turn in `some_pair`.
EACH_PRIOR = [
    pytest.param(name, marks=pytest.mark.long) if name in SELDOM else name for name in PRIORS
]


@pytest.fixture(params=EACH_PRIOR)
def small_prior(request):
    """Each prior, with fixed and with random parameters."""
    return PRIORS[request.param]


# Each prior and each family at least once: what there is time for where `make test` cannot
# afford all pairs.
PAIRS = [(prior, list(CASES)[place % len(CASES)]) for place, prior in enumerate(reversed(PRIORS))]


@pytest.fixture(params=PAIRS, ids="-".join)
def some_pair(request):
    """A selection of the priors and small data sets: (model, X)."""
    prior, case = request.param
    likelihood, X = CASES[case]
    return mw.Mixture(likelihood, PRIORS[prior]), X


class Remembered(Family[tuple[int, ...]]):
    """A family over row numbers that computes each log marginal once: fast for few rows."""

    def __init__(self, likelihood, X):
        family, rows = family_of(likelihood), dense(X)
        self.log_marginal = cache(lambda stat: family.log_marginal(family.of(rows[list(stat)])))

    def empty(self):
        return ()

    def observe(self, stat, row):
        return tuple(sorted((*stat, int(row[0]))))

    def forget(self, stat, row):
        place = stat.index(int(row[0]))
        return stat[:place] + stat[place + 1 :]

    def merge(self, a, b):
        return tuple(sorted(a + b))

    def of(self, rows):
        return tuple(sorted(int(row[0]) for row in rows))

    def log_marginal(self, stat):
        raise NotImplementedError  # set for each instance


@pytest.fixture
def run_twin():
    """A function that runs a Python chain where `goodness_of_fit` wants a `run`."""
    return _run_twin


def _run_twin(chain_class, model, X, iterations, remember=True, **options):
    """Return a `run` for `goodness_of_fit` that runs a Python chain from each start."""
    X = model.likelihood.check(X)
    model = replace(model, likelihood=model.likelihood.resolve(X))
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")
    learned = model.likelihood.base_size > 0  # then no marginal can be kept

    def run(starts, rng):
        chain = chain_class(model, X, starts["labels"][0], rng, **options)
        if remember and not learned and "latent" not in starts:
            chain.family, chain.X = (
                Remembered(model.likelihood, X),
                np.arange(len(chain.X))[:, None],
            )
        finals = {name: np.empty_like(values) for name, values in starts.items()}
        for i in range(len(starts["labels"])):
            if learned:
                chain.set_base(starts["base"][i])
            if "latent" in starts:
                chain.set_latent(starts["latent"][i])
            chain.set_state(*(starts[name][i] for name in names))
            chain.iterate(iterations)
            for name in finals:
                finals[name][i] = getattr(chain, name)
        return finals

    return run
