"""Known labels and weighted rows against enumeration; and moves that forget them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import lgamma, log

import numpy as np
import pytest
from scipy.stats import chi2

import mixwood as mw
from mixwood.core import make_chain
from mixwood.likelihoods.known_labels import collapsed
from mixwood.likelihoods.row_weights import weighted_rows
from mixwood.reference import TreeChain, family_of
from mixwood.reference.blocks import BlockGibbsChain
from mixwood.reference.families import dense
from mixwood.reference.leaves import guide_of_rows
from mixwood.testing import all_partitions, goodness_of_fit, long_chain_test
from tests.statistical.conftest import CASES, LEARNED

SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "tree": mw.Tree(5, 5, 5, rebuild=7),
    "subtrees": mw.Tree(20, 0, 0, rebuild=7),
    "splits": mw.Tree(0, 10, 5, rebuild=7),
    "redraws": mw.Tree(0, 0, 5, rebuild=7, redraw_moves=6),
}
POINTS = [[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504]]
ON_A_LINE = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])
PATTERNS = {
    "two labels": [0, 0, 1, 1, -1, -1],
    "one label": [-1, 0, 0, -1, 0, -1],
    "three rows apart": [0, 1, -1, -1, -1, 2],
}
PRIORS = {
    "nggp": mw.NGGP(alpha=1.0, sigma=0.3),
    "dp-random": mw.DirichletProcess(),
}


def explicit(model, X):
    """Return the model with an explicit likelihood, and checked rows."""
    X = model.likelihood.check(X)
    return replace(model, likelihood=model.likelihood.resolve(X)), X


def restriction(known):
    """Return the blocks that stay together, and rows that stay apart, of known labels."""
    known = np.asarray(known)
    groups = [np.flatnonzero(known == label) for label in range(known.max() + 1)]
    return {
        "blocks": [group for group in groups if len(group) > 1],
        "apart": [group[0] for group in groups],
    }


def run_over(model, leaves, leaf_of_row, sampler, iterations, rng):
    """Return a run of a compiled chain over leaves, for `goodness_of_fit`."""
    first = np.unique(leaf_of_row, return_index=True)[1]
    start = np.arange(leaves.n_leaves, dtype=np.int32)
    chain = make_chain(model, leaves, start, rng.bit_generator, sampler)
    chain.freeze()

    def run(starts, _):
        starts["labels"] = np.ascontiguousarray(starts["labels"][:, first])
        finals = chain.replicate(**starts, iterations=iterations)
        finals["labels"] = finals["labels"][:, leaf_of_row]
        chain.check()
        return finals

    return run


def fit_of_known(model, X, known, sampler, replicates, seed, *, spoil=None):
    rng = np.random.default_rng(seed)
    model, X = explicit(model, X)
    leaves, leaf_of_row = collapsed(model.likelihood, X, np.asarray(known))
    if spoil is not None:
        leaves = spoil(leaves)
    run = run_over(model, leaves, leaf_of_row, sampler, 3, rng)
    return goodness_of_fit(model, X, replicates=replicates, seed=rng, run=run, **restriction(known))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_known_labels_are_exact(pattern, sampler, seed):
    model = mw.Mixture(ON_A_LINE, PRIORS["nggp"])
    result = fit_of_known(model, POINTS, PATTERNS[pattern], SAMPLERS[sampler], 8000, seed)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("case", ["multinomial", "categorical", "poisson", "product"])
def test_of_every_kind(case, sampler, seed):
    likelihood, X = CASES[case]
    model = mw.Mixture(likelihood, PRIORS["dp-random"])
    result = fit_of_known(model, X, [0, 1, -1, 0, -1], SAMPLERS[sampler], 5000, seed)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("case", ["gaussian", "poisson", "negative-binomial"])
def test_with_a_learned_base(case, sampler, seed):
    likelihood, X = LEARNED[case]
    model = mw.Mixture(likelihood, PRIORS["dp-random"])
    known = [0, 1, -1, 0, -1][: len(X)]
    result = fit_of_known(model, X, known, SAMPLERS[sampler], 2500, seed)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_without_the_marks_labels_are_not_kept(sampler, seed):
    model = mw.Mixture(ON_A_LINE, PRIORS["nggp"])
    with pytest.raises((ValueError, RuntimeError), match="labels must be partitions"):
        fit_of_known(
            model,
            POINTS,
            PATTERNS["two labels"],
            SAMPLERS[sampler],
            2000,
            seed,
            spoil=lambda leaves: replace(leaves, apart=None),
        )


@pytest.mark.parametrize("sampler", ["gibbs", "tree", "splits"])
def test_a_long_chain_finds_all_that_is_allowed(sampler, seed):
    known = np.array(PATTERNS["three rows apart"])
    model, X = explicit(mw.Mixture(ON_A_LINE, PRIORS["nggp"]), POINTS)
    leaves, leaf_of_row = collapsed(model.likelihood, X, known)

    def run(_, rng):
        start = np.arange(leaves.n_leaves, dtype=np.int32)
        chain = make_chain(model, leaves, start, rng.bit_generator, SAMPLERS[sampler])
        chain.freeze()
        history = np.empty((33 * 200, 6), dtype=np.int32)
        for row in history:
            chain.iterate(3)
            row[:] = chain.state()["labels"][leaf_of_row]
        return history

    found = long_chain_test(
        model, X, batches=32, batch_draws=200, seed=seed, run=run, **restriction(known)
    )
    assert found.passed(), found
    assert found.never_visited < 0.01


# --- the plain twin, number by number, and with mistakes


class OfLeaves:
    """A twin over rows that tells the labels of their leaves."""

    leaf_of_row = None

    @property
    def labels(self):
        first = np.unique(self.leaf_of_row, return_index=True)[1]
        return super().labels[first]


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("case", ["gaussian", "categorical"])
def test_same_draws_as_the_twin(assert_same_draws, sampler, case, seed):
    rng = np.random.default_rng(seed)
    if case == "gaussian":
        likelihood, X = mw.Gaussian(), rng.normal(size=(18, 2))
    else:
        likelihood, X = mw.Categorical(), rng.integers(0, 3, size=(18, 2))
    known = np.full(18, -1)
    known[[1, 5, 7]], known[[2, 3]], known[17] = 0, 1, 2
    model, X = explicit(mw.Mixture(likelihood, mw.NGGP()), X)
    leaves, leaf_of_row = collapsed(model.likelihood, X, known)
    bits = np.random.PCG64(seed)
    start = np.arange(leaves.n_leaves, dtype=np.int32)
    moves = mw.Tree(5, 5, 5, rebuild=0, redraw_moves=3) if sampler == "tree" else mw.Gibbs()
    core = make_chain(model, leaves, start, bits, moves)
    core.freeze()
    state = core.state()
    base = state.pop("base", None)
    core.set_state(**state)
    rng = np.random.Generator(np.random.PCG64())
    rows = state["labels"][leaf_of_row]
    if sampler == "tree":
        twin = type("Twin", (OfLeaves, TreeChain), {"leaf_of_row": leaf_of_row})(
            model,
            X,
            rows,
            rng,
            guide=guide_of_rows(core.guide(), leaf_of_row),
            subtree_moves=5,
            split_moves=5,
            leaf_moves=5,
            redraw_moves=3,
            known=known,
        )
    else:
        twin = type("Twin", (OfLeaves, BlockGibbsChain), {})(
            model, X, rows, rng, leaf_of_row=leaf_of_row, known=known
        )
        twin.leaf_of_row = leaf_of_row
    if base is not None:
        twin.set_base(base)
    twin.set_state(**{**state, "labels": rows})
    rng.bit_generator.state = bits.state
    assert_same_draws(core, twin, model.likelihood.row_constants(X).sum(), 12)


class MergesAnything(TreeChain):
    """A merge does not ask which labels are known."""

    def split_or_merge(self, v):
        known, self.known = self.known, np.full(len(self.X), -1)
        super().split_or_merge(v)
        self.known = known


class BlocksGoAnywhere(TreeChain):
    """A block does not ask which labels are known."""

    def move_rows(self, rows):
        known, self.known = self.known, np.full(len(self.X), -1)
        super().move_rows(rows)
        self.known = known


class NeverMoved(TreeChain):
    """A block with a label gets no look at clusters that it may not join: no new one either."""

    def log_block_weights(self, rows, block):
        weights = super().log_block_weights(rows, block)
        if max(self.known[list(rows)]) >= 0 and np.isfinite(weights[:-1]).any():
            weights[-1] = -np.inf
        return weights


def fit_of_twin(kind, run_twin, seed, replicates, moves=(2, 2, 2)):
    model, X = explicit(mw.Mixture(ON_A_LINE, PRIORS["nggp"]), POINTS)
    known = np.array(PATTERNS["two labels"])
    leaves, leaf_of_row = collapsed(model.likelihood, X, known)
    start = np.arange(leaves.n_leaves, dtype=np.int32)
    core = make_chain(model, leaves, start, np.random.PCG64(seed), mw.Tree())
    guide = guide_of_rows(core.guide(), leaf_of_row)
    names = ("subtree_moves", "split_moves", "leaf_moves")
    options = dict(zip(names, moves, strict=True))
    run = run_twin(kind, model, X, 2, guide=guide, known=known, **options)
    return goodness_of_fit(
        model, X, replicates=replicates, seed=seed, run=run, **restriction(known)
    )


def test_the_twin_is_exact(run_twin, seed):
    result = fit_of_twin(TreeChain, run_twin, seed, 600)
    assert result.passed(), result


@pytest.mark.parametrize("kind", [MergesAnything, BlocksGoAnywhere])
def test_a_move_without_the_indicator_fails(kind, run_twin, seed):
    moves = (0, 10, 0) if kind is MergesAnything else (4, 0, 2)
    with pytest.raises(ValueError, match="labels must be partitions"):
        fit_of_twin(kind, run_twin, seed, 300, moves)


def test_a_wrong_indicator_fails(run_twin, seed):
    result = fit_of_twin(NeverMoved, run_twin, seed, 600, (3, 0, 3))
    assert result.p_value < 1e-6, result


# --- weights


def fit_of_weights(model, X, weights, sampler, replicates, seed, *, spoil=None):
    rng = np.random.default_rng(seed)
    leaf_of_row = np.repeat(np.arange(len(weights)), weights)
    leaves = weighted_rows(model.likelihood, X, np.asarray(weights, dtype=float))
    if spoil is not None:
        leaves = spoil(leaves)
    blocks = [np.flatnonzero(leaf_of_row == k) for k in range(len(weights)) if weights[k] > 1]
    run = run_over(model, leaves, leaf_of_row, SAMPLERS[sampler], 3, rng)
    return goodness_of_fit(
        model, X[leaf_of_row], replicates=replicates, seed=rng, blocks=blocks, run=run
    )


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("case", ["gaussian", "multinomial", "categorical", "poisson", "product"])
def test_weights_are_duplicates_that_stay_together(case, sampler, seed):
    likelihood, X = CASES[case]
    model, X = explicit(mw.Mixture(likelihood, PRIORS["nggp"]), X)
    result = fit_of_weights(model, X[:4], [3, 1, 2, 1], sampler, 5000, seed)
    assert result.passed(), result


def rows_counted_once(leaves):
    """Sizes are learned from each row as if it weighed 1."""
    members = leaves.members
    return replace(leaves, members=members._replace(weights=np.ones(len(members.weights))))


@pytest.mark.parametrize("spoil", [None, rows_counted_once])
@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_sizes_are_learned_from_weighted_rows(sampler, spoil, seed):
    """What sums over rows do not tell: the rows themselves, as often as they count."""
    counts = np.array([[0.0], [9.0], [1.0], [30.0]])
    likelihood = mw.NegativeBinomial(size=mw.hyper.LogNormal(1, 1), shape=1.0, mean=5.0)
    model, X = explicit(mw.Mixture(likelihood, PRIORS["nggp"]), counts)
    result = fit_of_weights(model, X, [3, 1, 2, 1], sampler, 4000, seed, spoil=spoil)
    assert result.passed() is (spoil is None), result


def weighted_statistic(family, row, weight):
    """Return the twin's statistic of `weight` copies of a row."""
    one = family.of([row])
    two = family.merge(one, one)
    return type(one)(
        *(a if np.array_equal(a, b) else weight * a for a, b in zip(one, two, strict=True))
    )


def real_posterior(model, X, weights):
    """Return all partitions and their probabilities under a Dirichlet process, weights real."""
    family, alpha = family_of(model.likelihood), model.prior.alpha
    stats = [weighted_statistic(family, *one) for one in zip(dense(X), weights, strict=True)]
    partitions = all_partitions(len(weights))
    values = []
    for labels in partitions:
        value = 0.0
        for c in range(labels.max() + 1):
            together = family.empty()
            for i in np.flatnonzero(labels == c):
                together = family.merge(together, stats[i])
            value += log(alpha) + lgamma(weights[labels == c].sum())
            value += family.log_marginal(together)
        values.append(value)
    chances = np.exp(np.array(values) - max(values))
    return partitions, chances / chances.sum()


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("case", ["gaussian", "spherical", "poisson"])
def test_real_weights(case, sampler, seed):
    """Draws of partitions against the same formula, written down for real sizes."""
    likelihood, X = CASES[case]
    model, X = explicit(mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0)), X)
    if case == "poisson":
        X = np.nan_to_num(X, nan=2.0)
    weights = np.array([0.25, 1.5, 0.625, 2.75, 1.0])
    leaves = weighted_rows(model.likelihood, X, weights)
    partitions, chances = real_posterior(model, X, weights)
    start = np.zeros(5, dtype=np.int32)
    chain = make_chain(model, leaves, start, np.random.PCG64(seed), SAMPLERS[sampler])
    chain.freeze()
    rng, n = np.random.default_rng(seed), 6000
    starts = partitions[rng.choice(len(partitions), size=n, p=chances)]
    log_u = np.log(rng.gamma(weights.sum(), size=n) / rng.gamma(1.0, size=n))
    zeros = np.zeros(n)
    finals = chain.replicate(starts, log_u, zeros, zeros, zeros, iterations=3)
    codes = {tuple(row): k for k, row in enumerate(partitions.tolist())}
    counts = np.bincount([codes[tuple(row)] for row in finals["labels"].tolist()], minlength=52)
    large = n * chances >= 25
    observed = np.append(counts[large], counts[~large].sum())
    expected = n * np.append(chances[large], chances[~large].sum())
    p_value = chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)
    assert p_value > 1e-6
    # and weights that are taken for whole ones do not pass
    _, wrong = real_posterior(model, X, np.maximum(1.0, np.floor(weights)))
    expected = n * np.append(wrong[large], wrong[~large].sum())
    assert chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1) < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_prior(small_prior, pattern, fresh_seed):
    for sampler, likelihood in product(SAMPLERS, [ON_A_LINE]):
        model = mw.Mixture(likelihood, small_prior)
        result = fit_of_known(
            model, POINTS, PATTERNS[pattern], SAMPLERS[sampler], 60_000, fresh_seed
        )
        assert result.passed(), (sampler, result)
