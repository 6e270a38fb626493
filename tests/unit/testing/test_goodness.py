"""The oracles themselves: right samplers pass, wrong ones fail, and p-values mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood.testing import (
    enumerate_posterior,
    goodness_of_fit,
    joint_distribution_test,
    long_chain_test,
    seed_of,
)
from mixwood.testing.goodness import _pooled_cells
from mixwood.testing.joint import _compare

X = np.array([-2.2, 1.3, 1.2, -2.3])[:, None]
LIKELIHOOD = mw.Gaussian(nu=4, mean=[0.0], scale=[[2.0]])
MODEL = mw.Mixture(LIKELIHOOD, mw.NGGP())
FIXED = mw.Mixture(LIKELIHOOD, mw.NGGP(alpha=1.0, sigma=0.3))


def stay(starts, rng):
    return starts


def sticky_chain(exact, memory, draws):
    """Return a chain that keeps its state with probability `memory`, else draws exactly."""

    def run(labels, rng):
        fresh = rng.choice(len(exact.probabilities), draws, p=exact.probabilities)
        renewed = rng.random(draws) >= memory
        renewed[0] = True
        last = np.maximum.accumulate(np.where(renewed, np.arange(draws), 0))
        return exact.partitions[fresh[last]]

    return run


def test_exact_draws_pass():
    result = goodness_of_fit(MODEL, X, replicates=5000, seed=1, run=stay)
    assert result.passed()
    assert set(result.parameter_p_values) == {"log_u", "alpha", "sigma"}
    assert result.total_variation < 4 * result.expected_noise


def test_p_values_are_uniform_under_the_null(request):
    rng = np.random.default_rng(seed_of(request.node.name))
    model = mw.Mixture(LIKELIHOOD, mw.PitmanYor())
    results = [goodness_of_fit(model, X, replicates=1000, seed=rng, run=stay) for _ in range(30)]
    assert stats.kstest([r.p_value for r in results], "uniform").pvalue > 1e-4
    for name in ("log_u", "alpha", "sigma", "theta"):
        p_values = [r.parameter_p_values[name] for r in results]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-4, name


@pytest.mark.parametrize("name", ["labels", "log_u", "log_alpha", "sigma"])
def test_one_wrong_ingredient_fails(name):
    def spoil(starts, rng):
        spoiled = dict(starts)
        if name == "labels":
            spoiled["labels"] = starts["labels"].copy()
            merged = rng.random(len(spoiled["labels"])) < 0.05
            spoiled["labels"][merged] = 0
        elif name == "sigma":
            spoiled["sigma"] = starts["sigma"] ** 1.2
        else:
            spoiled[name] = starts[name] + 0.2
        return spoiled

    assert not goodness_of_fit(MODEL, X, replicates=20_000, seed=1, run=spoil).passed()


def test_rare_cells_are_pooled():
    cells, count = _pooled_cells(np.array([0.5, 0.001, 0.3, 0.002, 0.197]), 0.0025)
    assert count == 4
    assert cells[1] == cells[3]
    assert len(set(cells[[0, 2, 4]])) == 3
    # too rare even together: they join the smallest of the others
    cells, count = _pooled_cells(np.array([0.5, 0.001, 0.3, 0.199]), 0.01)
    assert count == 3
    assert cells[1] == cells[3]


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_long_chains_with_a_memory_pass(memory, request):
    exact = enumerate_posterior(FIXED, X)
    rng = np.random.default_rng(seed_of(request.node.name))
    run = sticky_chain(exact, memory, 65 * 400)
    p_values = [long_chain_test(FIXED, X, seed=rng, run=run).p_value for _ in range(100)]
    # Bonferroni makes them a little larger than uniform, never smaller
    assert np.mean(np.array(p_values) < 0.1) < 0.25
    assert min(p_values) > 1e-6


def test_a_chain_that_cannot_leave_fails():
    def stuck(labels, rng):
        return np.tile(labels, (65 * 400, 1))

    for start in ("one", "singletons"):
        result = long_chain_test(MODEL, X, start=start, run=stuck)
        assert not result.passed()
        assert result.never_visited > 0.3


def test_a_chain_that_misses_some_partitions_fails():
    exact = enumerate_posterior(MODEL, X)
    run = sticky_chain(exact, 0.5, 65 * 400)

    def never_singletons(labels, rng):
        history = run(labels, rng).copy()
        history[history.max(axis=1) == 3] = [0, 1, 2, 2]
        return history

    result = long_chain_test(MODEL, X, seed=1, run=never_singletons)
    assert not result.passed()
    assert result.never_visited > 0


def test_an_unknown_start_is_refused():
    with pytest.raises(ValueError, match="start must be"):
        long_chain_test(MODEL, X, start="two")


def test_joint_test_wants_explicit_parameters():
    for likelihood in (mw.Gaussian(), mw.Gaussian(mean=[0.0]), mw.Poisson()):
        with pytest.raises(ValueError, match="explicit"):
            joint_distribution_test(mw.Mixture(likelihood), 5)


def test_joint_test_passes_who_does_nothing_and_fails_who_merges():
    model = mw.Mixture(mw.Gaussian(scale="data").resolve_standard(1), mw.PitmanYor())

    def nothing(model, X, state, rng):
        return state

    def merge_sometimes(model, X, state, rng):
        merged = np.zeros_like(state["labels"])
        return {**state, "labels": merged if rng.random() < 0.1 else state["labels"]}

    options = {"n": 10, "replicates": 600, "rounds": 2, "seed": 1}
    result = joint_distribution_test(model, step=nothing, **options)
    assert result.passed(1e-4)
    assert set(result.p_values) == {
        *("n_clusters", "largest", "log_u", "log_likelihood", "log_alpha", "theta", "sigma"),
    }
    assert not joint_distribution_test(model, step=merge_sometimes, **options).passed()


def test_counts_are_compared_by_a_table():
    rng = np.random.default_rng(1)
    same = _compare(rng.poisson(3.0, 3000), rng.poisson(3.0, 3000))
    assert same > 1e-4
    assert _compare(rng.poisson(3.0, 3000), rng.poisson(3.5, 3000)) < 1e-6
    assert _compare(np.ones(100, dtype=int), np.ones(100, dtype=int)) == 1.0


def test_seeds_come_from_names():
    assert seed_of("a") == seed_of("a") != seed_of("b")
    assert 0 <= seed_of("a") < 2**56
