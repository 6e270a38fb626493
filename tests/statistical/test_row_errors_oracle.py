"""Gaussian rows with known errors against enumeration and twins; and mistakes, which must fail."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import mixwood as mw
from mixwood.core import make_chain
from mixwood.posterior.leave_one_out import log_ordinates
from mixwood.reference import GibbsChain, SliceChain, SplitMergeChain, TreeChain
from mixwood.reference.families.noisy_gaussian import NoisyGaussian
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test
from mixwood.testing.enumeration import all_partitions
from mixwood.testing.missing import MissingLaw

NGGP = mw.NGGP(alpha=0.8, sigma=0.4)
PLAIN = mw.Gaussian(r=0.2, nu=4, mean=[0.5], scale=[[1.5]])
WIDE = mw.Gaussian(r=0.2, nu=5, mean=[1.0, 0.5], scale=[[3.0, 1.5], [1.5, 2.0]])
# errors of two rows in one column, and of one row in two, which hang together
CASES = {
    "one": (
        replace(PLAIN, errors=[0.0, 1.2, 0.0, 4.0, 0.0]),
        [[0.1], [-0.4], [2.1], [1.7], [4.0]],
    ),
    "two": (
        replace(WIDE, errors=np.array([[2.0, 1.2], [1.2, 1.0]]) * np.eye(4)[1][:, None, None]),
        [[0.1, 0.4], [2.3, 1.9], [4.1, 2.2], [1.7, -0.8]],
    ),
}
SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split-merge": mw.SplitMerge(),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2, fitted_moves=2),
}
SOME = [("one", name) for name in SAMPLERS] + [("two", "tree")]


def is_exact(rows, sampler, seed, prior=NGGP, replicates=8000):
    likelihood, X = CASES[rows]
    options = {"replicates": replicates, "iterations": 3, "seed": seed}
    return goodness_of_fit(mw.Mixture(likelihood, prior), X, SAMPLERS[sampler], **options)


@pytest.mark.parametrize(("rows", "sampler"), SOME)
def test_samplers_are_exact(rows, sampler, seed):
    result = is_exact(rows, sampler, seed)
    assert result.passed(), result
    assert any(name.startswith("missing") for name in result.parameter_p_values)


@pytest.mark.long
@pytest.mark.in_turn("rows")
@pytest.mark.parametrize("rows", CASES)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_are_exact_under_every_prior(rows, sampler, small_prior, seed):
    result = is_exact(rows, sampler, seed, small_prior, 60_000)
    assert result.passed(), result


@pytest.mark.parametrize(("sampler", "start"), [("gibbs", "one"), ("tree", "singletons")])
def test_a_long_chain_finds_the_posterior(sampler, start, seed):
    likelihood, X = CASES["one"]
    options = {"start": start, "batches": 40, "batch_draws": 200, "seed": seed}
    result = long_chain_test(mw.Mixture(likelihood, NGGP), X, SAMPLERS[sampler], **options)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_a_learned_base_measure(sampler, seed):
    errors = np.random.default_rng(1).gamma(1, 0.2, (8, 2))
    model = mw.Mixture(replace(mw.Gaussian(), errors=errors).resolve_standard(2), NGGP)
    options = {"replicates": 300, "rounds": 1, "iterations": 4, "seed": seed}
    result = joint_distribution_test(model, 8, SAMPLERS[sampler], **options)
    assert result.passed(), result


# --- the twin, and copies of it with a mistake

KINDS = {mw.Gibbs: GibbsChain, mw.SplitMerge: SplitMergeChain, mw.Slice: SliceChain}
N = 14


def rows_and_errors():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 2)) + 4 * rng.integers(0, 3, (N, 1))
    X[:, 1] += X[:, 0]
    roots = rng.normal(size=(N, 2, 2)) * 0.7
    errors = roots @ roots.swapaxes(1, 2)
    errors[3] = 0
    return X, errors


def joint_constant(likelihood, X):
    """What the core leaves out: positions are in the units of the data like rows."""
    return likelihood.row_constants(X).sum()


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(scans=2), mw.Slice()], ids=str)
@pytest.mark.parametrize("scale", ["data", "learn"])
def test_same_draws(assert_same_draws, scale, sampler, seed):
    X, errors = rows_and_errors()
    model = mw.Mixture(mw.Gaussian(scale=scale, errors=errors).resolve(X), mw.NGGP())
    labels = np.arange(N) // 4
    core = make_chain(model, X, labels.astype(np.int32), np.random.PCG64(seed), sampler)
    rng = np.random.Generator(np.random.PCG64(seed))
    twin = KINDS[type(sampler)](model, X, labels, rng, **asdict(sampler))
    assert_same_draws(core, twin, joint_constant(model.likelihood, X), 6)


def test_same_draws_on_a_tree(assert_same_draws, seed):
    X, errors = rows_and_errors()
    sampler = mw.Tree(6, 6, 6, rebuild=0, fitted_moves=2)
    model = mw.Mixture(mw.Gaussian(errors=errors).resolve(X), mw.NGGP())
    bits = np.random.PCG64(seed)
    core = make_chain(model, X, np.arange(N, dtype=np.int32) // 4, bits, sampler)
    core.freeze()
    state = core.state()
    latent, base = state.pop("latent"), state.pop("base")
    rng = np.random.Generator(np.random.PCG64())
    moves = {"subtree_moves": 6, "split_moves": 6, "leaf_moves": 6, "fitted_moves": 2}
    twin = TreeChain(model, X, state["labels"], rng, guide=core.guide(), **moves)
    for chain in (core, twin):  # then clusters are listed in order of appearance
        chain.set_base(base)
        chain.set_latent(latent)
        chain.set_state(**state)
    rng.bit_generator.state = bits.state
    assert_same_draws(core, twin, joint_constant(model.likelihood, X), 6)


# --- the density of each row given the others


def log_evidence(likelihood, X, alpha):
    """Return ``log p(X)`` under a Dirichlet process, over all partitions and positions."""
    law, terms = MissingLaw(likelihood, X), []
    for labels in all_partitions(len(X)):
        sizes = np.bincount(labels)
        log_prior = len(sizes) * np.log(alpha) + gammaln(sizes).sum()
        terms.append(log_prior + law.log_likelihood(labels))
    return logsumexp(terms) + gammaln(alpha) - gammaln(alpha + len(X))


def left_out(likelihood, X, alpha, errors=None):
    """Return ``log p(x_i | the others)`` from draws, and its standard errors."""
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=alpha))
    options = {"draws": 2000, "warmup": 100, "chains": 2, "seed": 3, "progress": False}
    post = mw.sample(model, X, mw.Gibbs(), **options)
    if errors is not None:
        post = replace(post, resolved=replace(post.resolved, errors=errors))
    inverse = np.exp(-log_ordinates(post)).reshape(-1, len(X))
    mean = inverse.mean(axis=0)
    return -np.log(mean), inverse.std(axis=0) / mean / np.sqrt(len(inverse))


def test_left_out_rows_have_the_densities_of_enumeration():
    X = np.array([[0.1], [-0.4], [2.1], [6.0]])
    errors, alpha = np.array([0.0, 1.2, 0.0, 4.0]), 1.3
    likelihood = replace(PLAIN, errors=errors)
    exact = [
        log_evidence(likelihood, X, alpha)
        - log_evidence(replace(PLAIN, errors=np.delete(errors, i)), np.delete(X, i, 0), alpha)
        for i in range(4)
    ]
    found, sd = left_out(likelihood, X, alpha)
    assert np.all(np.abs(found - exact) < 6 * sd + 0.01)  # draws follow each other
    wrong, sd = left_out(likelihood, X, alpha, np.zeros(4))  # as if rows were positions
    assert np.any(np.abs(wrong - exact) > 6 * sd + 0.1)


class NoError(NoisyGaussian):
    """Clusters are drawn as if rows were positions."""

    def log_known_given(self, atom, stat, row):
        row = row.copy()
        row[self.width :] = 0.0
        return super().log_known_given(atom, stat, row)


class NoSpread(NoisyGaussian):
    """Positions are drawn without the error's own part."""

    def completed_given(self, atom, stat, row, stream):
        other = super().completed_given(atom, stat, row, stream)
        F = self.error_factor(row)
        away = self.own(row) - atom.mean
        mean = atom.mean + atom.covariance @ np.linalg.solve(atom.covariance + F @ F.T, away)
        other[self.columns] = mean + (other[self.columns] - mean) / 10
        return other


def chain_of(family):
    class Chain(GibbsChain):
        def _make_family(self):
            return family(self.model.likelihood)

    return Chain


CHAINS = {
    "as it is": (NoisyGaussian, True),
    "no error": (NoError, False),
    "no spread": (NoSpread, False),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_twin_is_exact_and_mistakes_fail(name, run_twin, seed):
    X = np.array([[0.1], [-0.4], [7.0], [2.5]])
    likelihood = replace(PLAIN, errors=[0.0, 0.0, 16.0, 0.0])
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    family, right = CHAINS[name]
    run = run_twin(chain_of(family), model, X, 2)
    result = goodness_of_fit(model, X, replicates=800, seed=seed, run=run)
    assert result.passed() is right, result
