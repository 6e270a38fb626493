"""The state of a chain as bytes: to the last bit, and never trusted."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.likelihoods import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Product,
    Regression,
    SphericalGaussian,
)
from mixwood.model import Mixture
from mixwood.priors import NGGP, DirichletProcess
from mixwood.samplers import Gibbs, PaperTree, Slice, SplitMerge, Tree
from mixwood.testing import seed_of

RNG = np.random.default_rng(seed_of("chain state"))
POINTS = RNG.normal(size=(60, 2)) + 4 * RNG.integers(0, 3, (60, 1))
COUNTS = RNG.poisson(1.0 + 3 * RNG.integers(0, 3, (60, 1)), (60, 4))
WITHOUT = RNG.random((60, 2)) < 0.2
FAMILIES = {
    "Gaussian": (Gaussian(), POINTS),
    "DiagonalGaussian": (DiagonalGaussian(), POINTS),
    "DiagonalGaussian, missing": (DiagonalGaussian(), np.where(POINTS > 5, np.nan, POINTS)),
    "SphericalGaussian": (SphericalGaussian(), POINTS),
    "Multinomial": (Multinomial(), COUNTS),
    "Bernoulli": (Bernoulli(), COUNTS > 2),
    "Categorical": (Categorical(), COUNTS),
    "Poisson": (Poisson(), COUNTS),
    "Regression": (Regression(0), RNG.normal(size=(60, 3))),
    "NegativeBinomial": (
        NegativeBinomial(exposure=4),
        np.column_stack([COUNTS, RNG.uniform(0.5, 2.0, 60)]),
    ),
    "Product": (
        Product({(0, 1): Gaussian(), (2, 3): Multinomial(), 4: Poisson(), 5: Categorical()}),
        np.column_stack((POINTS, COUNTS[:, :2], np.where(WITHOUT, np.nan, COUNTS[:, 2:]))),
    ),
    # Proposals often have a side without a single category, whose numbers must follow the base.
    "Product, few categories": (
        Product({(0, 1): Gaussian(), 2: Categorical()}),
        np.column_stack((POINTS, np.where(np.arange(60) % 6, np.nan, COUNTS[:, 0]))),
    ),
}
SAMPLERS = {
    "Gibbs": Gibbs(),
    "Gibbs, subset": Gibbs(subset=7),
    "SplitMerge": SplitMerge(subset=20),
    "Slice": Slice(),
    "PaperTree": PaperTree(global_moves=5),
    "Tree": Tree(),
    "Tree, blocks": Tree(max_leaves=25),
    "Tree, rebuilt": Tree(rebuild=3, redraw_moves=3),
}


def chain_over(family="Gaussian", sampler="Gibbs", prior=None, seed=1, start=None):
    likelihood, X = FAMILIES[family] if isinstance(family, str) else family
    resolved, X = likelihood.fitted_to(X)
    model = Mixture(resolved, prior or NGGP())
    stream = np.random.PCG64(seed)
    labels = np.zeros(X.shape[0], dtype=np.int32) if start is None else start
    return make_chain(model, X, labels, stream, SAMPLERS[sampler]), stream


def path(chain, iterations):
    """Return everything that a chain shows over some iterations, and its state at the end."""
    seen = []
    for _ in range(iterations):
        chain.iterate()
        state = chain.state()
        seen.append((state.pop("labels").tolist(), *state.values(), chain.log_joint()))
    reports = [{k: v for k, v in one.items() if k != "seconds"} for one in chain.reports()]
    return repr((seen, reports))  # NaN equals NaN


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_chain_goes_on_from_its_state_to_the_last_bit(family, sampler):
    seed = seed_of(f"{family} {sampler}")
    chain, stream = chain_over(family, sampler, seed=seed)
    other, other_stream = chain_over(family, sampler, seed=1, start=np.arange(60, dtype=np.int32))
    for iterations in (0, 5, 70):  # at the start, in warm-up, and after it
        chain.iterate(iterations)
        if iterations == 70:
            chain.freeze()
        state, random = chain.save_state(), stream.state
        expected = path(chain, 7)
        other.load_state(state)
        other_stream.state = random
        assert other.save_state() == state
        assert path(other, 7) == expected
        assert other_stream.state == stream.state
        other.check()


def _accumulate(x, statistic):
    statistic[0] += x[0]


def _log_marginal(n, statistic, parameters):
    a, b = parameters
    return a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + statistic[0])


def _draw_rate(n, statistic, parameters, rng):
    return rng.gamma(parameters[0] + n, 1 / (parameters[1] + statistic[0]))


def _log_density(x, drawn, parameters):
    return log(drawn[0]) - drawn[0] * x[0]


@pytest.mark.parametrize("sampler", ["Gibbs", "PaperTree", "Slice", "Tree"])
def test_a_users_own_family(sampler, tmp_path):
    pytest.importorskip("numba")
    functions = {"draw_parameters": _draw_rate, "log_density": _log_density}
    own = mw.conjugate_family(
        1, _accumulate, _log_marginal, name="exponential", parameters=[2, 1], **functions
    )
    X = np.abs(POINTS[:, :1])
    options = {
        "draws": 5,
        "warmup": 2,
        "chains": 1,
        "progress": False,
        "sampler": SAMPLERS[sampler],
    }
    chain, stream = chain_over((own, X), sampler)
    chain.iterate(10)
    state, random = chain.save_state(), stream.state
    expected = path(chain, 5)
    chain.load_state(state)
    stream.state = random
    assert path(chain, 5) == expected  # the reports are part of the state, too
    with pytest.raises(TypeError, match="cannot be saved"):  # functions have no place in a file
        mw.sample(mw.Mixture(own), X, store=tmp_path / "run", **options)
    assert not list(tmp_path.iterdir())


def test_every_prior(prior):
    chain, stream = chain_over(prior=prior)
    chain.iterate(10)
    state, random = chain.save_state(), stream.state
    expected = path(chain, 5)
    other, other_stream = chain_over(prior=prior, seed=5)
    other.load_state(state)
    other_stream.state = random
    assert path(other, 5) == expected


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_states_of_other_chains_are_refused(sampler):
    states = {name: chain_over(sampler=name)[0].save_state() for name in SAMPLERS}
    states["other family"] = chain_over("Multinomial", sampler)[0].save_state()
    states["other prior"] = chain_over(prior=DirichletProcess(), sampler=sampler)[0].save_state()
    states["nothing"] = b""
    del states[sampler]
    for name, state in states.items():
        if {name, sampler} == {"Gibbs", "Gibbs, subset"}:
            continue  # an order of the rows that is not shuffled is one as well
        if {name, sampler} == {"Tree", "Tree, rebuilt"}:
            continue
        chain, _ = chain_over(sampler=sampler)
        with pytest.raises(ValueError, match=r"state of a chain is damaged|do not|wrong"):
            chain.load_state(state)
        with pytest.raises(RuntimeError, match="damaged"):
            chain.iterate()


def test_a_state_of_other_rows_is_refused():
    chain, _ = chain_over()
    state = chain.save_state()
    likelihood, X = Gaussian(), POINTS[:59]
    model = Mixture(likelihood.resolve(X), NGGP())
    fewer = make_chain(model, X, np.zeros(59, np.int32), np.random.PCG64(1), Gibbs())
    with pytest.raises(ValueError, match="length"):
        fewer.load_state(state)
    moved = make_chain(
        Mixture(likelihood.resolve(POINTS), NGGP()),
        np.ascontiguousarray(3 * POINTS[::-1]),
        np.zeros(60, np.int32),
        np.random.PCG64(1),
        Gibbs(),
    )
    with pytest.raises(ValueError, match="log marginal"):
        moved.load_state(state)


@pytest.mark.parametrize("sampler", ["Gibbs", "SplitMerge", "PaperTree", "Tree", "Tree, blocks"])
@pytest.mark.parametrize("family", ["Gaussian", "DiagonalGaussian", "Multinomial", "Product"])
def test_damaged_states_are_refused_or_run(family, sampler, damaged):
    """Whatever the bytes: a ValueError, or a chain that runs (or says what is wrong)."""
    rng = np.random.default_rng(seed_of(f"damage {family} {sampler}"))
    chain, _ = chain_over(family, sampler)
    chain.iterate(3)
    good = chain.save_state()
    refused = 0
    for state in damaged(good, rng, rounds=60):
        try:
            chain.load_state(state)
        except ValueError:
            refused += 1
            chain, _ = chain_over(family, sampler)
            continue
        try:
            chain.iterate(2)
            chain.check()
        except RuntimeError:
            chain, _ = chain_over(family, sampler)
    assert refused > 20


@pytest.mark.parametrize("sampler", [mw.Tree(), mw.Tree(max_leaves=5)], ids=["rows", "leaves"])
def test_a_chain_to_be_loaded_grows_no_tree(sampler):
    """Growing a guide tree draws random numbers; a blank chain must draw none for it."""
    X = np.random.default_rng(1).normal(size=(40, 2))
    model = mw.Mixture(mw.Gaussian().resolve(X), mw.DirichletProcess(alpha=1.0))
    labels = np.zeros(40, dtype=np.int32)
    shapes = {}
    for blank in (False, True):
        chain = make_chain(model, X, labels, np.random.PCG64(3), sampler, blank=blank)
        shapes[blank] = len(chain.guide()["parent"])
        if not blank:
            chain.iterate(5)
            state = chain.save_state()
    assert shapes[False] > 1
    assert shapes[True] == 1
    chain.load_state(state)
    chain.check()
    assert len(chain.guide()["parent"]) == shapes[False]
