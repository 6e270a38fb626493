"""Student t clusters: the compiled chains make the draws of their plain twins."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import GibbsChain, SliceChain, SplitMergeChain, TreeChain

N = 12  # all of them are visited in every iteration
LIKELIHOODS = {
    "fixed": mw.StudentT(df=3.0, scale="data"),
    "df": mw.StudentT(scale="data"),
    "scale": mw.StudentT(df=5.0),
    "all": mw.StudentT(),
}
KINDS = {mw.Gibbs: GibbsChain, mw.SplitMerge: SplitMergeChain, mw.Slice: SliceChain}


def rows(n=N, d=2):
    rng = np.random.default_rng(3)
    X = rng.standard_t(2.0, size=(n, d)) + 6 * rng.integers(0, 3, (n, 1))
    X[:, 1] += X[:, 0]
    return X


def twins_of(likelihood, X, seed, sampler):
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP())
    labels = np.arange(len(X)) // 4
    core = make_chain(model, X, labels.astype(np.int32), np.random.PCG64(seed), sampler)
    rng = np.random.Generator(np.random.PCG64(seed))
    twin = KINDS[type(sampler)](model, X, labels, rng, **asdict(sampler))
    return core, twin, model.likelihood.row_constants(X).sum()


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(scans=2), mw.Slice()], ids=str)
@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
def test_same_draws(assert_same_draws, likelihood, sampler, seed):
    assert_same_draws(*twins_of(likelihood, rows(), seed, sampler), 6)


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.Slice()], ids=str)
def test_same_draws_of_a_product(assert_same_draws, sampler, seed):
    """Beside missing entries of another part, which are drawn too; some rows lack the t part."""
    rng = np.random.default_rng(5)
    other = rows() + rng.normal(size=(N, 2))
    other[rng.random(other.shape) < 0.2] = np.nan
    X = np.column_stack([rows(), other, rng.integers(0, 3, N)])
    X[[2, 7], :2] = np.nan
    parts = {(1, 0): mw.StudentT(), (2, 3): mw.Gaussian(), 4: mw.Categorical()}
    assert_same_draws(*twins_of(mw.Product(parts), X, seed, sampler)[:2], None, 6)


@pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)
def test_same_draws_on_a_tree(assert_same_draws, likelihood, seed):
    X, sampler = rows(), mw.Tree(6, 6, 6, rebuild=0, fitted_moves=2)
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP())
    bits = np.random.PCG64(seed)
    core = make_chain(model, X, np.arange(N, dtype=np.int32) // 4, bits, sampler)
    core.freeze()
    state = core.state()
    latent, base = state.pop("latent"), state.pop("base", np.empty(0))
    rng = np.random.Generator(np.random.PCG64())
    moves = {"subtree_moves": 6, "split_moves": 6, "leaf_moves": 6, "fitted_moves": 2}
    twin = TreeChain(model, X, state["labels"], rng, guide=core.guide(), **moves)
    for chain in (core, twin):  # then clusters are listed in order of appearance
        chain.set_base(base)
        chain.set_latent(latent)
        chain.set_state(**state)
    rng.bit_generator.state = bits.state
    assert_same_draws(core, twin, model.likelihood.row_constants(X).sum(), 6)
