"""Weighted leaves of which only statistics are kept, against enumeration; and wrong ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.testing import goodness_of_fit

MOVES = [(20, 0, 0), (0, 10, 5), (5, 5, 5)]
POINTS = [[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504], [0.3]]
ON_A_LINE = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])


def fit_of_leaves(model, X, sampler, replicates, iterations, seed, *, blocks=1, spoil=None):
    """Compare a chain over the leaves of `X` with the posterior that keeps them whole."""
    rng = np.random.default_rng(seed)
    X = model.likelihood.check(X)
    model = replace(model, likelihood=model.likelihood.resolve(X))
    cuts = np.linspace(0, X.shape[0], blocks + 1).astype(int)
    parts = [X[a:b] for a, b in pairwise(cuts)]
    leaves = mw.stream_leaves(model, parts, max_leaves=4, seed=rng)
    rows = [np.flatnonzero(leaves.leaf_of_row == leaf) for leaf in range(leaves.n_leaves)]
    together = [block for block in rows if len(block) > 1]
    assert together
    if spoil is not None:
        leaves = spoil(leaves)
    start = np.zeros(leaves.n_leaves, dtype=np.int32)
    chain = make_chain(model, leaves, start, rng.bit_generator, sampler)
    chain.freeze()
    first = [block[0] for block in rows]

    def run(starts, _):
        starts["labels"] = np.ascontiguousarray(starts["labels"][:, first])
        finals = chain.replicate(**starts, iterations=iterations)
        finals["labels"] = finals["labels"][:, leaves.leaf_of_row]
        return finals

    result = goodness_of_fit(model, X, replicates=replicates, seed=rng, blocks=together, run=run)
    chain.check()
    return result


def test_leaves_are_exact(some_pair, seed):
    result = fit_of_leaves(*some_pair, mw.Tree(5, 5, 5, rebuild=7), 5000, 2, seed)
    assert result.passed(), result


@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_leaves_of_several_blocks_are_exact(moves, seed):
    model = mw.Mixture(ON_A_LINE, mw.NGGP(alpha=1.0, sigma=0.3))
    result = fit_of_leaves(model, POINTS, mw.Tree(*moves, rebuild=7), 10_000, 2, seed, blocks=3)
    assert result.passed(), result


def only_the_mean(leaves):
    """The scatter inside the leaves is lost."""
    statistics = np.array(leaves.statistics)
    statistics[:, -1] = 0
    return replace(leaves, statistics=statistics)


SPOILED = {
    "leaves counted, not rows": lambda leaves: replace(leaves, sizes=np.ones_like(leaves.sizes)),
    "only the mean": only_the_mean,
}


@pytest.mark.parametrize("spoil", SPOILED)
def test_wrong_leaves_fail(spoil, seed):
    model = mw.Mixture(ON_A_LINE, mw.NGGP(alpha=1.0, sigma=0.3))
    sampler = mw.Tree(5, 5, 5, rebuild=7)
    wrong = fit_of_leaves(model, POINTS, sampler, 4000, 3, seed, spoil=SPOILED[spoil])
    assert wrong.p_value < 1e-6, wrong


def test_guesses_of_the_tree_do_not_matter(seed):
    """What only the shape of the trees depends on may be anything."""
    model = mw.Mixture(ON_A_LINE, mw.NGGP(alpha=1.0, sigma=0.3))

    def spoil(leaves):
        return replace(leaves, log_apart=np.full(leaves.n_leaves, -1.0))

    sampler = mw.Tree(5, 5, 5, rebuild=7)
    result = fit_of_leaves(model, POINTS, sampler, 5000, 2, seed, spoil=spoil)
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.in_turn("moves")
@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_every_prior_and_family(small_prior, small_case, moves, fresh_seed):
    likelihood, X = small_case
    model = mw.Mixture(likelihood, small_prior)
    result = fit_of_leaves(model, X, mw.Tree(*moves, rebuild=2), 60_000, 4, fresh_seed)
    print(f"distance {result.total_variation:.4f}, noise {result.expected_noise:.4f}, {result}")
    assert result.passed(), result
