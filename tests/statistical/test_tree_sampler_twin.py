"""The compiled tree-guided chain and its plain twin: same guide tree, same uniforms, same draws."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import TreeChain
from mixwood.reference.leaves import guide_of_rows
from mixwood.reference.tree_sampler import log_detachments

MOVES = ("subtree_moves", "split_moves", "leaf_moves", "fitted_moves", "redraw_moves")


def both_chains(likelihood, X, prior, seed, labels, sampler):
    """Return the two chains; the twin takes up the stream where the core is frozen.

    So few leaves are all scanned alike, whatever was learned.
    """
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    core, bits, state = frozen_chain(model, X, labels, seed, sampler)
    rng = np.random.Generator(np.random.PCG64())
    twin = TreeChain(model, X, state["labels"], rng, guide=core.guide(), **moves_of(sampler))
    put_into(twin, state)
    rng.bit_generator.state = bits.state
    return core, twin, model.likelihood.row_constants(X).sum()


def put_into(chain, state):
    """Put a chain into a state; then clusters are listed in order of appearance."""
    if "base" in state:
        chain.set_base(state["base"])
    chain.set_state(**{name: value for name, value in state.items() if name != "base"})


def frozen_chain(model, X, labels, seed, sampler):
    """Return a compiled chain, its random bits, and its state."""
    bits = np.random.PCG64(seed)
    core = make_chain(model, X, np.asarray(labels, dtype=np.int32), bits, sampler)
    core.freeze()
    state = core.state()
    put_into(core, state)
    return core, bits, state


def moves_of(sampler):
    return {name: getattr(sampler, name) or 0 for name in MOVES}


def test_same_draws(assert_same_draws, family_case, prior, seed):
    likelihood, X = family_case(18)
    sampler = mw.Tree(5, 5, 5, rebuild=0, fitted_moves=2, redraw_moves=3)
    assert_same_draws(*both_chains(likelihood, X, prior, seed, np.arange(18) // 6, sampler), 6)


def test_same_detachments(family_case, prior, seed):
    """At the reference values, which are those of the state as long as nothing has moved."""
    likelihood, X = family_case(18)
    sampler = mw.Tree(5, 5, 5, rebuild=0, fitted_moves=2)
    core, twin, _ = both_chains(likelihood, X, prior, seed, np.arange(18) // 6, sampler)

    def log_phi(rows):
        return twin.log_phi(len(rows), twin.family.of(twin.X[sorted(rows)]))

    found = core.guide()["log_detachment"]
    np.testing.assert_allclose(found, log_detachments(twin.tree, log_phi), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("start", ["one", "singletons"])
@pytest.mark.parametrize("moves", [(20,), (0, 20), (0, 0, 20), (0, 0, 0, 4), (0, 0, 0, 0, 8)])
def test_same_draws_of_each_move_alone(assert_same_draws, moves, start, seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    labels = np.zeros(30) if start == "one" else np.arange(30)
    counts = dict.fromkeys(MOVES, 0) | dict(zip(MOVES, moves, strict=False))
    sampler = mw.Tree(**counts, rebuild=0)
    assert_same_draws(*both_chains(mw.Gaussian(), X, mw.NGGP(), seed, labels, sampler), 6)


def test_same_draws_where_a_launch_begins_with_the_most_rows(assert_same_draws, seed):
    X = np.random.default_rng(seed).normal(size=(320, 2))
    sampler = mw.Tree(0, 0, 0, rebuild=0, fitted_moves=3, passes=1)
    assert_same_draws(*both_chains(mw.Gaussian(), X, mw.NGGP(), seed, np.zeros(320), sampler), 3)


def test_same_draws_of_weighted_leaves(assert_same_draws, family_case, seed):
    likelihood, X = family_case(24)
    sampler = mw.Tree(5, 5, 5, rebuild=0, max_leaves=9, fitted_moves=0, redraw_moves=5)
    core, twin, constants = both_chains(likelihood, X, mw.NGGP(), seed, np.arange(24) // 6, sampler)
    assert len(twin.leaves) <= 9
    assert_same_draws(core, twin, constants, 8)


KINDS = ("subtree", "split", "merge", "fitted split", "fitted merge", "redraw", "leaf")


def test_same_draws_in_the_long_run(assert_same_draws, seed):
    """Statistics are made afresh on the way, and every kind of move is accepted many times."""
    X = np.random.default_rng(seed).normal(size=(16, 1)) * 2
    sampler = mw.Tree(4, 8, 2, rebuild=0, fitted_moves=4, redraw_moves=4)
    core, twin, constants = both_chains(
        mw.Gaussian(scale="data"), X, mw.NGGP(alpha=1.0, sigma=0.5), seed, np.zeros(16), sampler
    )
    assert_same_draws(core, twin, constants, 100)
    accepted = {report["move"]: report["accepted"] for report in core.reports()}
    assert min(accepted[move] for move in KINDS) > 15, accepted


@pytest.mark.parametrize("n", [1, 2, 3])
def test_same_draws_of_very_few_rows(assert_same_draws, n, seed):
    X = np.arange(n, dtype=float)[:, None]
    likelihood = mw.Gaussian(mean=[0.0], scale=[[1.0]])
    sampler = mw.Tree(3, 3, 3, rebuild=0, fitted_moves=3, redraw_moves=3)
    assert_same_draws(*both_chains(likelihood, X, mw.NGGP(), seed, np.zeros(n), sampler), 20)


# --- weighted leaves of which only statistics are kept


class TwinOfLeaves(TreeChain):
    """The plain chain over the rows, which never opens a leaf; its labels are those of leaves."""

    first: np.ndarray  # row of each leaf

    @property
    def labels(self):
        return super().labels[self.first]


def chains_of_leaves(likelihood, X, prior, seed, sampler):
    """Return a compiled chain over leaves, which has no rows, and the plain one over the rows."""
    likelihood, X = likelihood.fitted_to(X)
    model = mw.Mixture(likelihood, prior)
    leaves = mw.stream_leaves(model, [X[:9], X[9:]], max_leaves=9, seed=seed)
    assert leaves.sizes.max() > 1
    labels = np.arange(leaves.n_leaves) // 3
    core, bits, state = frozen_chain(model, leaves, labels, seed, sampler)
    rng = np.random.Generator(np.random.PCG64())
    guide = guide_of_rows(core.guide(), leaves.leaf_of_row)
    labels = state["labels"][leaves.leaf_of_row]
    twin = TwinOfLeaves(model, X, labels, rng, guide=guide, **moves_of(sampler))
    twin.first = np.unique(leaves.leaf_of_row, return_index=True)[1]
    put_into(twin, state | {"labels": labels})
    rng.bit_generator.state = bits.state
    return core, twin, leaves.log_constants.sum()


def test_same_draws_of_leaves_without_rows(assert_same_draws, family_case, prior, seed):
    likelihood, X = family_case(24)
    sampler = mw.Tree(5, 5, 5, rebuild=0, fitted_moves=0, redraw_moves=3)
    assert_same_draws(*chains_of_leaves(likelihood, X, prior, seed, sampler), 6)
