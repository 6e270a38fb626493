"""The published tree-guided sampler: as its twin, and as biased as the published algorithm is."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import PaperTreeChain
from mixwood.testing import enumerate_posterior, goodness_of_fit


class GlobalAlone(mw.PaperTree):
    """Without the local moves."""

    def options(self, n, columns=1):
        return super().options(n, columns) | {"local_sweep": 0}


# --- the twin


def assert_same_chains(same_draws, likelihood, X, prior, seed, labels, sampler, iterations):
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    labels = np.asarray(labels, dtype=np.int32)
    core = make_chain(model, X, labels, np.random.PCG64(seed), sampler)
    rng = np.random.Generator(np.random.PCG64(seed))
    local = not isinstance(sampler, GlobalAlone)
    twin = PaperTreeChain(model, X, labels, rng, sampler.global_moves, sampler.depth, local)
    same_draws(core, twin, model.likelihood.row_constants(X).sum(), iterations)
    reports = {report["move"]: report for report in core.reports()}
    for move, log_ratios in twin.log_ratios.items():
        assert reports[move]["proposed"] == len(log_ratios)
        if len(log_ratios) > 1:  # so that every proposal's transition probabilities agree
            mean, sd = reports[move]["mean_log_ratio"], reports[move]["sd_log_ratio"]
            assert mean == pytest.approx(np.mean(log_ratios), rel=1e-8, abs=1e-8)
            assert sd == pytest.approx(np.std(log_ratios, ddof=1), rel=1e-8, abs=1e-8)
    return twin


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_same_draws(assert_same_draws, family_case, prior, seed, start):
    likelihood, X = family_case(16)
    labels = np.zeros(16) if start == "one" else np.arange(16)
    assert_same_chains(assert_same_draws, likelihood, X, prior, seed, labels, mw.PaperTree(4, 1), 6)


@pytest.mark.parametrize(
    "sampler", [mw.PaperTree(0, 2), GlobalAlone(6), mw.PaperTree(8, 3)], ids=str
)
def test_same_draws_of_each_move_alone_and_deeper(assert_same_draws, sampler, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2)) + 3 * rng.integers(0, 3, (24, 1))
    labels = rng.integers(0, 4, 24)
    twin = assert_same_chains(
        assert_same_draws, mw.Gaussian(), X, mw.NGGP(), seed, labels, sampler, 12
    )
    assert all(ratios for ratios in twin.log_ratios.values()) == (sampler.global_moves > 0)


def test_same_draws_after_a_state_was_set(seed):
    rng = np.random.default_rng(seed)
    likelihood, X = mw.Gaussian(), rng.normal(size=(14, 2))
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP())
    start, other = np.zeros(14, np.int32), np.arange(14, dtype=np.int32) // 3
    core = make_chain(model, X, start, np.random.PCG64(seed), mw.PaperTree(3, 1))
    twin = PaperTreeChain(model, X, start, np.random.Generator(np.random.PCG64(seed)), 3, 1)
    for chain in (core, twin):
        chain.iterate(2)
        chain.set_state(other, 1.5, -0.3, 0.4, 0.0)
        chain.iterate(6)
    np.testing.assert_array_equal(core.state()["labels"], twin.labels)
    core.check()


def test_without_global_moves_and_depth_it_is_gibbs(seed):
    """All rows are visited in their order, and trees have no say in it."""
    X = np.random.default_rng(seed).normal(size=(30, 2))
    model = mw.Mixture(mw.Gaussian().resolve(X), mw.NGGP())
    chains = [
        make_chain(model, X, np.zeros(30, np.int32), np.random.PCG64(seed), sampler)
        for sampler in (mw.Gibbs(), mw.PaperTree(global_moves=0, depth=0))
    ]
    for _ in range(40):
        for chain in chains:
            chain.iterate()
        np.testing.assert_array_equal(*(chain.state()["labels"] for chain in chains))


# --- the bias: six points for which the distance of the published algorithm is known

LIKELIHOOD = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])
MODEL = mw.Mixture(LIKELIHOOD, mw.NGGP(alpha=1.0, sigma=0.3))
SIX = np.array([[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504]])


@pytest.mark.parametrize(
    ("sampler", "replicates", "iterations"),
    [
        (GlobalAlone(1), 60_000, 20),
        (mw.PaperTree(0, 2), 20_000, 20),
        (mw.PaperTree(1, 2), 20_000, 20),
        (mw.PaperTree(), 20_000, 3),
    ],
    ids=["global", "local", "both", "default"],
)
def test_the_oracle_finds_the_bias(sampler, replicates, iterations, seed):
    result = goodness_of_fit(
        MODEL, SIX, sampler, replicates=replicates, iterations=iterations, seed=seed
    )
    assert not result.passed()
    # far more than the noise alone would give, which is the distance of exact draws
    assert result.total_variation - 3 * result.expected_noise > 0.05, result


def test_the_oracle_passes_all_rows_visited_in_order(seed):
    result = goodness_of_fit(MODEL, SIX, mw.PaperTree(0, 0), replicates=20_000, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize(
    ("sampler", "distance"),
    [(GlobalAlone(1), 0.105), (mw.PaperTree(0, 2), 0.372), (mw.PaperTree(1, 2), 0.185)],
    ids=["global", "local", "both"],
)
def test_the_bias_is_that_of_the_published_algorithm(sampler, distance, seed):
    """Distances of an independent program, which differ by noise and where the text is loose."""
    exact = enumerate_posterior(MODEL, SIX)
    draws, start = 300_000, np.zeros(6, np.int32)
    chain = make_chain(exact.model, SIX, start, np.random.PCG64(seed), sampler)
    labels = np.empty((draws, 6), np.int32)
    chain.run(1000, 1, labels, *(np.empty(draws) for _ in range(5)), seconds=1e9)
    frequencies = np.bincount(exact.index_of(labels), minlength=203) / draws
    found = np.abs(frequencies - exact.probabilities).sum() / 2
    assert found == pytest.approx(distance, abs=0.02)
