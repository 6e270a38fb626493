"""Gaussian rows with missing entries against enumeration; and wrong draws, which must fail."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import GibbsChain, SliceChain, SplitMergeChain, TreeChain, family_of
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test
from mixwood.testing.missing import MissingLaw

HOLE = np.nan
GAUSSIAN = mw.Gaussian(r=0.2, nu=4, mean=[1.0, 0.5], scale=[[3.0, 1.5], [1.5, 2.0]])
NGGP = mw.NGGP(alpha=0.8, sigma=0.4)
# one entry, one in each of two rows, and a row without any
ROWS = {
    "one": [[0.1, 0.4], [-0.3, HOLE], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
    "two": [[0.1, 0.4], [-0.3, HOLE], [2.1, 0.2], [HOLE, -0.8], [0.9, 1.1]],
    "row": [[0.1, 0.4], [HOLE, HOLE], [2.1, 0.2], [1.7, -0.8], [0.9, 1.1]],
}
SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split-merge": mw.SplitMerge(),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2, fitted_moves=2, redraw_moves=2),
}
SOME = [("one", "gibbs"), ("one", "tree"), ("row", "tree"), *(("two", name) for name in SAMPLERS)]


def is_exact(rows, sampler, seed, prior=NGGP, replicates=8000):
    options = {"replicates": replicates, "iterations": 4, "seed": seed}
    return goodness_of_fit(mw.Mixture(GAUSSIAN, prior), ROWS[rows], SAMPLERS[sampler], **options)


@pytest.mark.parametrize(("rows", "sampler"), SOME)
def test_samplers_are_exact(rows, sampler, seed):
    result = is_exact(rows, sampler, seed)
    assert result.passed(), result
    assert "missing 0" in result.parameter_p_values


@pytest.mark.long
@pytest.mark.in_turn("rows")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_are_exact_under_every_prior(rows, sampler, small_prior, seed):
    result = is_exact(rows, sampler, seed, small_prior, 60_000)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_a_product_with_a_hole_is_exact(sampler, seed):
    likelihood = mw.Product({(0, 2): GAUSSIAN, 1: mw.Categorical(beta=1.0)})
    X = [[0.1, 1, 0.4], [-0.3, 0, HOLE], [2.1, HOLE, 0.2], [HOLE, 0, HOLE], [0.9, 1, 1.1]]
    options = {"replicates": 8000, "iterations": 4, "seed": seed}
    result = goodness_of_fit(mw.Mixture(likelihood, NGGP), X, SAMPLERS[sampler], **options)
    assert result.passed(), result


@pytest.mark.parametrize(("sampler", "start"), [("gibbs", "one"), ("tree", "singletons")])
def test_a_long_chain_finds_the_posterior(sampler, start, seed):
    options = {"start": start, "batches": 40, "batch_draws": 200, "seed": seed}
    result = long_chain_test(mw.Mixture(GAUSSIAN, NGGP), ROWS["two"], SAMPLERS[sampler], **options)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_a_learned_base_measure_beside_missing_entries(sampler, seed):
    model = mw.Mixture(mw.Gaussian().resolve_standard(2), NGGP)
    missing = np.zeros((8, 2), dtype=bool)
    missing[[0, 1, 2, 2], [0, 1, 0, 1]] = True
    options = {"replicates": 300, "rounds": 1, "iterations": 4, "seed": seed, "missing": missing}
    result = joint_distribution_test(model, 8, SAMPLERS[sampler], **options)
    assert result.passed(), result


def test_the_integral_is_that_of_the_t_density():
    X = np.array(ROWS["one"])[:3]
    law, family = MissingLaw(GAUSSIAN, X), family_of(GAUSSIAN)
    others = family.of(X[[0, 2]])
    known = family.log_marginal(others) + family.log_known(others, X[1])
    assert law.log_likelihood(np.zeros(3, dtype=int)) == pytest.approx(known, rel=1e-9)


# --- the twin, and copies of it with a mistake


def twins_of(likelihood, X, prior, seed, labels, sampler):
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    core = make_chain(model, X, np.asarray(labels, np.int32), np.random.PCG64(seed), sampler)
    kind = {mw.Gibbs: GibbsChain, mw.SplitMerge: SplitMergeChain, mw.Slice: SliceChain}
    rng = np.random.Generator(np.random.PCG64(seed))
    twin = kind[type(sampler)](model, X, labels, rng, **asdict(sampler))
    return core, twin, joint_constant(model.likelihood, X)


def joint_constant(likelihood, X):
    """What the core leaves out, missing entries in the units of the data like the others."""
    entries = likelihood.missing_entries(X)[0]
    unit = likelihood.drawn_entries(X, np.ones(len(entries)))
    unit = unit - likelihood.drawn_entries(X, np.zeros(len(entries)))
    return likelihood.row_constants(X).sum() - np.log(unit).sum()


def holed_rows(n=18, d=3):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, (n, 1))
    X[:, 1] += X[:, 0]
    X[rng.random(X.shape) < 0.2] = HOLE
    X[4] = HOLE
    return X


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(scans=2), mw.Slice()], ids=str)
@pytest.mark.parametrize("likelihood", [mw.Gaussian(scale="data"), mw.Gaussian()], ids=str)
def test_same_draws(assert_same_draws, likelihood, sampler, seed):
    chains = twins_of(likelihood, holed_rows(), mw.NGGP(), seed, np.arange(18) // 4, sampler)
    assert_same_draws(*chains, 8)


def test_same_draws_of_a_product(assert_same_draws, seed):
    rng = np.random.default_rng(5)
    X = np.column_stack([holed_rows(), with_gaps(rng.integers(0, 3, 18), rng)])
    likelihood = mw.Product({(2, 0, 1): mw.Gaussian(), 3: mw.Categorical()})
    chains = twins_of(likelihood, X, mw.NGGP(), seed, np.arange(18) // 4, mw.Gibbs())
    assert_same_draws(*chains, 8)


def with_gaps(column, rng):
    return np.where(rng.random(len(column)) < 0.2, HOLE, column)


@pytest.mark.parametrize("likelihood", [mw.Gaussian(scale="data"), mw.Gaussian()], ids=str)
def test_same_draws_on_a_tree(assert_same_draws, likelihood, seed):
    X, sampler = holed_rows(), mw.Tree(6, 6, 6, rebuild=0, fitted_moves=2, redraw_moves=3)
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP())
    bits = np.random.PCG64(seed)
    core = make_chain(model, X, np.arange(18, dtype=np.int32) // 4, bits, sampler)
    core.freeze()
    state = core.state()
    latent, base = state.pop("latent"), state.pop("base", np.empty(0))
    rng = np.random.Generator(np.random.PCG64())
    moves = {"subtree_moves": 6, "split_moves": 6, "leaf_moves": 6}
    moves |= {"fitted_moves": 2, "redraw_moves": 3}
    twin = TreeChain(model, X, state["labels"], rng, guide=core.guide(), **moves)
    for chain in (core, twin):  # then clusters are listed in order of appearance
        chain.set_base(base)
        chain.set_latent(latent)
        chain.set_state(**state)
    rng.bit_generator.state = bits.state
    assert_same_draws(core, twin, joint_constant(model.likelihood, X), 8)


class OtherFreedom(GibbsChain):
    """t densities with nu + n - d_o + 1 degrees of freedom, d_o the number of observed entries."""

    def log_known_weights(self, i):
        right, lacking = self.family.nu, int(np.isnan(self.given[i]).sum())
        self.family.nu = right + lacking
        weights = super().log_known_weights(i)
        self.family.nu = right
        return weights


class OwnClusterForgotten(GibbsChain):
    """Missing entries are drawn as if the row were on its own."""

    def redraw(self, i):
        def complete(_):
            self.X[i] = self.family.completed(self.family.empty(), self.given[i], self.stream)

        self._reassign(i, self.log_known_weights, complete)


# heavy tails, columns that depend on each other: where a mistake is large
HEAVY = mw.Gaussian(r=0.5, nu=1.2, mean=[0.0, 0.0], scale=[[2.0, 1.6], [1.6, 2.0]])
FEW = np.array([[0.1, 0.4], [2.3, HOLE], [HOLE, -1.8]])


def twin_fits(chain, run_twin, seed, replicates):
    model = mw.Mixture(HEAVY, mw.DirichletProcess(alpha=1.0))
    run = run_twin(chain, model, FEW, 1)
    return goodness_of_fit(model, FEW, replicates=replicates, seed=seed, run=run)


@pytest.mark.long
def test_the_twin_is_exact(run_twin, seed):
    result = twin_fits(GibbsChain, run_twin, seed, 2000)
    assert result.passed(), result


@pytest.mark.parametrize(
    ("wrong", "replicates"),
    [(OwnClusterForgotten, 500), pytest.param(OtherFreedom, 2000, marks=pytest.mark.long)],
)
def test_a_wrong_draw_fails(wrong, replicates, run_twin, seed):
    result = twin_fits(wrong, run_twin, seed, replicates)
    assert not result.passed(), result


def chain_that_keeps(model, X, labels, rng, kept):
    """Return a function that iterates a compiled chain, whose missing entries may be kept."""
    chain = make_chain(model, X, labels, rng.bit_generator, mw.Gibbs())

    def iterate():
        before = chain.latent
        chain.iterate()
        if kept:
            chain.set_latent(before)

    return chain, iterate


@pytest.mark.parametrize("kept", [False, True])
def test_clusters_drawn_without_the_missing_entries_fail(kept, seed):
    """Drawn by what is observed, while the missing entries stay those of another cluster."""
    model, X = mw.Mixture(GAUSSIAN, NGGP), np.array(ROWS["two"])
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")

    def run(starts, rng):
        chain, iterate = chain_that_keeps(model, X, starts["labels"][0], rng, kept)
        finals = {name: values.copy() for name, values in starts.items()}
        for i in range(len(finals["labels"])):
            chain.set_latent(starts["latent"][i])
            chain.set_state(*(starts[name][i] for name in names))
            iterate()
            for name, value in chain.state().items():
                finals[name][i] = value
        return finals

    result = goodness_of_fit(model, X, replicates=8000, seed=seed, run=run)
    assert result.passed() is not kept, result


def test_missing_entries_that_are_never_drawn_fail(seed):
    """Then the chain is one over complete rows, with what was filled in before it began."""
    X = np.array(ROWS["row"])
    model = mw.Mixture(GAUSSIAN.resolve(X), NGGP)
    filled = X.copy()
    entries, latent = model.likelihood.missing_entries(X), model.likelihood.bind(X).latent
    filled[entries] = model.likelihood.drawn_entries(X, latent)

    def run(labels, rng):
        chain = make_chain(model, filled, labels, rng.bit_generator, mw.Gibbs())
        history = []
        for _ in range(41 * 200):
            chain.iterate(2)
            history.append(chain.state()["labels"])
        return history

    result = long_chain_test(model, X, run=run, batches=40, batch_draws=200, seed=seed)
    assert not result.passed(), result
