"""The exact tree-guided sampler against enumeration; and wrong ones, which must fail."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import TreeChain, tree_sampler
from mixwood.testing import goodness_of_fit, long_chain_test

# A new guide tree comes every few iterations: the posterior must stay under all of them.
SAMPLERS = {
    "subtree": mw.Tree(30, 0, 0, rebuild=7, fitted_moves=0),  # leaves are nodes, too
    "split-merge": mw.Tree(0, 10, 5, rebuild=7, fitted_moves=0),
    "fitted": mw.Tree(0, 0, 5, rebuild=7, fitted_moves=3),
    "redraw": mw.Tree(0, 0, 5, rebuild=7, fitted_moves=0, redraw_moves=6),
    "all": mw.Tree(5, 5, 5, rebuild=7, redraw_moves=2),
}

# Larger than those of the other oracles: trees have more levels, clusters more pieces.
POINTS = [[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504], [0.3]]
ON_A_LINE = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])
LARGER = {
    "six-points": (ON_A_LINE, POINTS[:6]),
    "seven-points": (ON_A_LINE, POINTS),
    "seven-in-the-plane": (
        mw.SphericalGaussian(r=0.2, nu=3, mean=[0.5, 0.5], scale=1.5),
        [[0, 0], [0.2, 1.1], [1.3, 0.1], [1.1, 1.4], [-0.8, 0.6], [0.7, -0.9], [2.2, 1.9]],
    ),
    "seven-documents": (
        mw.Multinomial(beta=0.4),
        csr_array(
            [
                [3, 2, 0, 0, 1, 0, 1],
                [0, 1, 3, 2, 0, 0, 1],
                [1, 0, 0, 2, 0, 1, 1],
                [0, 0, 1, 0, 3, 2, 1],
            ]
        ).T,
    ),
}


@pytest.fixture(params=list(SAMPLERS))
def sampler(request):
    return SAMPLERS[request.param]


def test_tree_is_exact(some_pair, sampler, seed):
    result = goodness_of_fit(*some_pair, sampler, replicates=12_000, iterations=2, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("case", LARGER)
def test_tree_is_exact_for_more_rows(case, seed):
    likelihood, X = LARGER[case]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3))
    sampler = SAMPLERS["all"]
    result = goodness_of_fit(model, X, sampler, replicates=20_000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_long_chain_finds_the_posterior(start, sampler, cases, seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, mw.NGGP())
    result = long_chain_test(model, X, sampler, start=start, thin=1, seed=seed)
    assert result.passed(), result


class SeveralPasses(mw.Tree):
    """Three passes, as of many rows, or fewer if that is learned."""

    def options(self, n, columns=1):
        return super().options(n, columns) | {"passes": 3, "learn_passes": 1, "learn_moves": 1}


@pytest.mark.parametrize("case", ["six-points", "seven-in-the-plane"])
def test_learned_numbers_of_moves_are_exact(case, seed):
    likelihood, X = LARGER[case]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3))
    rng = np.random.default_rng(seed)
    X = likelihood.check(X)
    start = np.zeros(len(X), dtype=np.int32)
    chain = make_chain(model, X, start, rng.bit_generator, SeveralPasses())
    chain.freeze()
    # Of so few rows a good part of all proposals is accepted: shares as of many rows are put in.
    state = bytearray(chain.save_state())
    for end, share in ((-243, 0.12), (-180, 0.07), (-117, 0.3), (-54, 0.4)):
        assert np.frombuffer(state[end - 8 : end]) == [1.0]
        state[end - 8 : end] = np.float64(share).tobytes()
    chain.load_state(bytes(state))

    def run(starts, _):
        return chain.replicate(**starts, iterations=2)

    result = goodness_of_fit(model, X, replicates=12_000, seed=rng, run=run)
    assert result.passed(), result


# --- weighted leaves: the posterior given that the rows of a leaf stay together


def weighted_chain(model, X, rng, sampler):
    """Return a frozen chain and the rows that its leaves hold together."""
    X = model.likelihood.check(X)
    model = replace(model, likelihood=model.likelihood.resolve(X))
    labels = np.zeros(X.shape[0], dtype=np.int32)
    chain = make_chain(model, X, labels, rng.bit_generator, sampler)
    chain.freeze()
    guide = tree_sampler.GuideTree(chain.guide())
    leaves = [rows for v, rows in enumerate(guide.rows) if guide.is_leaf(v)]
    return chain, [rows for rows in leaves if len(rows) > 1]


def fit_of_weighted_leaves(model, X, moves, replicates, iterations, seed):
    rng = np.random.default_rng(seed)
    names = ("subtree_moves", "split_moves", "leaf_moves", "redraw_moves")
    options = dict(zip(names, moves, strict=True))
    chain, blocks = weighted_chain(model, X, rng, mw.Tree(**options, rebuild=7, max_leaves=4))
    assert blocks

    def run(starts, _):
        return chain.replicate(**starts, iterations=iterations)

    return goodness_of_fit(model, X, replicates=replicates, seed=rng, blocks=blocks, run=run)


MOVES = [(20, 0, 0, 0), (0, 10, 5, 0), (0, 0, 5, 8), (5, 5, 5, 0)]


@pytest.mark.parametrize("moves", MOVES, ids=str)
@pytest.mark.parametrize("case", LARGER)
def test_weighted_leaves_are_exact(case, moves, seed):
    likelihood, X = LARGER[case]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3))
    result = fit_of_weighted_leaves(model, X, moves, 10_000, 2, seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
def test_a_long_chain_of_weighted_leaves_finds_the_posterior(start, seed):
    likelihood, X = LARGER["seven-points"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3))
    rng = np.random.default_rng(seed)
    chain, blocks = weighted_chain(model, X, rng, mw.Tree(5, 5, 5, rebuild=7, max_leaves=4))

    def run(labels, _):
        chain.set_state(labels, 0.0, 0.0, 0.3, 0.0)  # "singletons" are made whole
        history = []
        for _ in range(65 * 400):
            chain.iterate()
            history.append(chain.state()["labels"])
        return np.array(history)

    result = long_chain_test(model, X, start=start, seed=rng, blocks=blocks, run=run)
    assert result.passed(), result


# --- the oracle has teeth


def arrays_of(nested, log_d=0.0, log_e=-np.inf):
    """Return the arrays of a guide tree given as nested pairs of rows, log e of inner nodes."""
    per_node = ("leaves", "first", "size", "log_dissimilarity", "log_detachment")
    arrays = {name: [] for name in (*per_node, "rows")}

    def visit(node):
        here, first = len(arrays["leaves"]), len(arrays["rows"])
        for name in per_node:
            arrays[name].append(0)
        if isinstance(node, tuple):
            visit(node[0])
            visit(node[1])
            arrays["log_dissimilarity"][here] = log_d
            arrays["log_detachment"][here] = log_e if here > 0 else -np.inf
        else:
            arrays["rows"].append(node)
            arrays["log_detachment"][here] = -np.inf
        arrays["first"][here] = first
        arrays["leaves"][here] = arrays["size"][here] = len(arrays["rows"]) - first

    visit(nested)
    return arrays


class WithoutQ(TreeChain):
    """The probability of the proposal left out of the ratio."""

    def log_split_ratio(self, two):
        return super().log_split_ratio(two) + two.log_q


class OnlyEligiblePairs(TreeChain):
    """Nodes whose children are not both pure are drawn again: the law sees the partition."""

    def draw_split(self):
        while True:
            v = super().draw_split()
            if None not in map(self.cluster_of, self.tree.children(v)):
                return v


class LeafThroughACluster(TreeChain):
    """A leaf of a cluster drawn uniformly: those of small clusters come more often."""

    def next_leaf(self):
        rows = np.flatnonzero(self.assignment == self.stream.below(len(self.sizes)))
        return self.leaves[rows[self.stream.below(len(rows))]]


class SizesThroughACluster(TreeChain):
    """Nodes of fitted moves by sizes, from a row of a cluster drawn uniformly."""

    def draw_anchored(self):
        rows = np.flatnonzero(self.assignment == self.stream.below(len(self.sizes)))
        halves = self.tree.smaller_halves_above(int(rows[self.stream.below(len(rows))]))
        return halves[self.stream.below(len(halves))]


class DetachedFromTheClusters(TreeChain):
    """Blocks that are drawn because they are a part of a cluster as it is."""

    def move_block(self, _):
        for w, rows in enumerate(self.tree.rows):
            c = self.cluster_of(w)
            is_part = c is not None and len(rows) < self.sizes[c]
            self.tree.log_e[w] = 0.0 if is_part and len(rows) > 1 else -np.inf
        self.set_guide(self.tree)
        super().move_block(self._draw(self.block_law))


class TreeFromThePartition(TreeChain):
    """A guide tree over the clusters as they are, used at once."""

    def iterate(self, iterations=1):
        for _ in range(iterations):
            clusters = [np.flatnonzero(self.assignment == c) for c in range(len(self.sizes))]
            nested = [cascade(rows.tolist()) for rows in clusters]
            self.set_guide(tree_sampler.GuideTree(arrays_of(cascade(nested))))
            super().iterate()


def cascade(nodes):
    """Return nodes joined one after the other."""
    together = nodes[0]
    for node in nodes[1:]:
        together = (together, node)
    return together


class NotRenormalized(tree_sampler.TwoSides):
    """After a forbidden side the others' probabilities enter q as if it were allowed."""

    def allocate(self, w, forbidden, choose):
        choice = choose(w, self.chances(w, forbidden))
        self.log_q += log(self.chances(w, None)[choice])
        if choice == tree_sampler.OPEN:
            left, right = self.tree.children(w)
            self.allocate(right, self.allocate(left, None, choose), choose)
            return None
        self.join(w, choice)
        return choice


class FittedWithoutQ(TreeChain):
    """The probability of the last scan left out of the ratio."""

    def fitted_launch(self, v, i, j):
        two = super().fitted_launch(v, i, j)
        scan = two.scan
        two.scan = lambda *args: 0.0 * scan(*args)
        return two


TEETH = {
    WithoutQ: (0, 6, 0, 0),
    OnlyEligiblePairs: (0, 6, 0, 0),
    LeafThroughACluster: (0, 0, 1, 0),
    DetachedFromTheClusters: (8, 0, 0, 0),
    TreeFromThePartition: (4, 0, 0, 0),
    FittedWithoutQ: (0, 0, 0, 6),
    SizesThroughACluster: (0, 0, 0, 6),
}


def fit_of_twin(run_twin, chain_class, moves, X, guide, replicates, seed):
    model = mw.Mixture(ON_A_LINE, mw.NGGP(alpha=1.0, sigma=0.3))
    names = ("subtree_moves", "split_moves", "leaf_moves", "fitted_moves")
    options = dict(zip(names, moves, strict=True))
    run = run_twin(chain_class, model, X, 3, guide=guide, **options)
    return goodness_of_fit(model, X, replicates=replicates, seed=seed, run=run)


SIX = arrays_of((((0, 3), 4), ((1, 2), 5)))
# Near rows are in different pairs, so that likely clusters cut both.
CROSSED = [[-0.8], [0.8], [-0.7], [0.9]], arrays_of(((0, 1), (2, 3)), log_d=1.0)


@pytest.mark.parametrize("moves", sorted(set(TEETH.values())), ids=str)
def test_the_twin_is_exact(moves, run_twin, seed):
    result = fit_of_twin(run_twin, TreeChain, moves, POINTS[:6], SIX, 1000, seed)
    assert result.passed(), result


@pytest.mark.parametrize("moves", [(4, 0, 0, 0), (0, 6, 0, 0)], ids=str)
def test_the_twin_is_exact_where_parts_are_detached(moves, run_twin, seed):
    guide = arrays_of((((0, 3), 4), ((1, 2), 5)), log_e=0.5)
    result = fit_of_twin(run_twin, TreeChain, moves, POINTS[:6], guide, 1000, seed)
    assert result.passed(), result


@pytest.mark.parametrize("wrong", TEETH, ids=lambda wrong: wrong.__name__)
def test_a_wrong_sampler_fails(wrong, run_twin, seed):
    result = fit_of_twin(run_twin, wrong, TEETH[wrong], POINTS[:6], SIX, 1000, seed)
    assert result.p_value < 1e-6, result


def test_a_path_without_renormalization_fails(run_twin, seed, monkeypatch):
    right = fit_of_twin(run_twin, TreeChain, (0, 8, 0, 0), *CROSSED, 500, seed)
    assert right.passed(), right
    monkeypatch.setattr(tree_sampler, "TwoSides", NotRenormalized)
    wrong = fit_of_twin(run_twin, TreeChain, (0, 8, 0, 0), *CROSSED, 1000, seed)
    assert wrong.p_value < 1e-6, wrong


# --- all of it, with many replicates and seeds that nobody has seen. An iteration of so many moves
# forgets six items: a wrong step shows after a few, and new guide trees come within them.
ITERATIONS, REBUILD = 4, 2


def fit_with_new_trees(model, X, sampler, seed):
    often = replace(sampler, rebuild=REBUILD)
    return goodness_of_fit(model, X, often, iterations=ITERATIONS, seed=seed)


def report(result):
    print(f"distance {result.total_variation:.4f}, noise {result.expected_noise:.4f}, {result}")
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.in_turn("sampler")
def test_every_prior_and_family(small_prior, small_case, sampler, fresh_seed):
    likelihood, X = small_case
    model = mw.Mixture(likelihood, small_prior)
    report(fit_with_new_trees(model, X, sampler, fresh_seed))


@pytest.mark.long
@pytest.mark.in_turn("case")
@pytest.mark.parametrize("case", LARGER)
def test_every_prior_for_more_rows(case, small_prior, sampler, fresh_seed):
    likelihood, X = LARGER[case]
    model = mw.Mixture(likelihood, small_prior)
    report(fit_with_new_trees(model, X, sampler, fresh_seed))


@pytest.mark.long
@pytest.mark.in_turn("case")
@pytest.mark.parametrize("moves", MOVES, ids=str)
@pytest.mark.parametrize("case", LARGER)
def test_every_prior_with_weighted_leaves(case, small_prior, moves, fresh_seed):
    likelihood, X = LARGER[case]
    model = mw.Mixture(likelihood, small_prior)
    report(fit_of_weighted_leaves(model, X, moves, 60_000, ITERATIONS, fresh_seed))


@pytest.mark.long
@pytest.mark.in_turn("sampler")
@pytest.mark.parametrize("start", ["one", "singletons"])
def test_long_chains_of_every_prior(start, small_prior, sampler, cases, fresh_seed):
    likelihood, X = cases["gaussian"]
    model = mw.Mixture(likelihood, small_prior)
    result = long_chain_test(model, X, sampler, start=start, seed=fresh_seed)
    assert result.passed(), result
