"""bhc and ibhc: what they find, from which start, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.sparse import csr_array

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance
from mixwood.core import bind_family
from mixwood.reference.families import family_of
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters, log_kappa, log_nonempty, psi, softplus
from mixwood.testing import seed_of
from mixwood.trees.build import (
    LARGEST_GREEDY,
    bhc,
    ibhc,
    on_top_labels,
    prior_parameters,
)
from mixwood.trees.recipe import Recipe, grow

# --- what they find


def test_separated_classes_are_found(build, prior, classes):
    X, truth = classes()
    tree = build(mw.Mixture(mw.Gaussian(), prior), X)
    np.testing.assert_array_equal(tree.labels, truth)
    assert tree.n_clusters == 3
    assert tree.labels.dtype == np.int64


def test_every_family_and_prior(family_case, prior, build):
    likelihood, X = family_case(25)
    tree = build(mw.Mixture(likelihood, prior), X)
    assert tree.labels.shape == (25,)
    np.testing.assert_array_equal(tree.labels, in_order_of_appearance(tree.labels))
    assert is_valid_linkage(tree.linkage(), throw=True)
    assert np.isfinite(tree.log_evidence_bound)
    tree._forest.check()
    # more of the same
    labels = tree.insert(X[:4])
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, tree.labels[25:])
    assert tree.n_items == 29
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree._forest.check()


def test_the_bound_is_the_formula(family_case, prior, build):
    """Every constant included: against the twin's potentials over the exported shape."""
    likelihood, X = family_case(12)
    tree = build(mw.Mixture(likelihood, prior), X)
    start = prior.start()  # where it stays
    p = Parameters(tree.log_u, start.log_alpha, start.sigma, 0.0)
    twin = Forest(tree.model, likelihood.check(X), p)
    nodes = [twin.leaf(row) for row in range(12)]
    for left, right, _, size in tree.linkage():
        nodes.append(twin.join(nodes[int(left)], nodes[int(right)]))
        assert len(nodes[-1].rows) == size
    expected = 11 * p.log_u - psi(prior, p.log_u, p.log_alpha, p.sigma)
    expected -= log_nonempty(prior, p.log_alpha)
    expected += nodes[-1].log_tree - sum(np.log(np.arange(1, 12)))
    assert tree.log_evidence_bound == pytest.approx(expected, abs=1e-7)
    np.testing.assert_allclose(
        tree.probability, [1 / (1 + np.exp(n.log_d)) for n in nodes[12:]], atol=1e-8
    )


def test_one_and_two_rows(build, model):
    one = build(model, [[1.0, 2.0]])
    assert one.labels.tolist() == [0]
    assert one.linkage().shape == (0, 4)
    assert one.probability.shape == (0,)
    assert one.cut(n_clusters=1).tolist() == [0]
    assert one.cut(probability=0.9).tolist() == [0]
    assert one.to_newick() == "0;"
    assert len(one.plot().get_xticklabels()) == 1
    assert "1 row;" in repr(one)
    two = build(model, [[0.0, 0.0], [1.0, 5.0]])
    assert two.linkage().shape == (1, 4)
    assert is_valid_linkage(two.linkage())


def test_equal_rows_are_one_cluster(build, model):
    tree = build(model, np.ones((12, 2)))
    assert tree.n_clusters == 1
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree.plot().figure.canvas.draw()


def test_sparse_counts_and_tables():
    counts = np.random.default_rng(0).poisson(1.0, (20, 8))
    model = mw.Mixture(mw.Multinomial(), mw.DirichletProcess(1.0))
    dense, sparse = ibhc(model, counts, seed=0), ibhc(model, csr_array(counts), seed=0)
    np.testing.assert_array_equal(dense.labels, sparse.labels)
    np.testing.assert_array_equal(dense.insert(counts[:3]), sparse.insert(csr_array(counts[:3])))


def test_the_parts_of_a_cluster_are_joined():
    """Large classes that begin at several places; the clusters are the best merges, too."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    X = rng.normal(size=(3000, 2)) + 12 * truth[:, None]
    tree = ibhc(mw.Mixture(), X, seed=0)
    np.testing.assert_array_equal(tree.labels, in_order_of_appearance(truth))
    np.testing.assert_array_equal(tree.labels, tree.cut(probability=0.5))


def test_bhc_keeps_classes_apart_that_touch():
    """Sixteen classes on a lattice: by smallest d large trees join before their parts are whole."""
    rng = np.random.default_rng(seed_of("test_bhc_keeps_classes_apart_that_touch"))
    truth = np.arange(480) % 16
    X = 6.0 * np.stack([truth // 4, truth % 4], axis=1) + rng.normal(size=(480, 2))
    model = mw.Mixture(mw.Gaussian(scale="data"))
    balanced, paper = (bhc(model, X, rule=rule) for rule in ("balanced", "paper"))
    assert balanced.log_evidence_bound > paper.log_evidence_bound + 50
    assert 14 <= balanced.n_clusters <= 20
    assert paper.n_clusters < 10


def test_long_and_short_documents_make_no_deep_trees():
    """One topic; totals from 1 to 400. A child of short documents must not take in all others."""
    rng = np.random.default_rng(seed_of("test_long_and_short_documents_make_no_deep_trees"))
    X = rng.multinomial(np.geomspace(1, 400, 800).astype(int), rng.dirichlet(np.ones(20)))
    tree = ibhc(mw.Mixture(mw.Multinomial(), mw.DirichletProcess(1.0)), X, seed=0)
    depth = np.zeros(1599)
    for k, (left, right, *_) in reversed(list(enumerate(tree.linkage()))):
        depth[[int(left), int(right)]] = depth[800 + k] + 1
    assert depth[:800].mean() < 20


# --- the start


def test_u_starts_at_its_mode(prior):
    """On a fine grid no value of v has a higher density."""
    n, p = 200, prior_parameters(prior, 200)
    clusters = prior.expected_clusters(n)

    def log_density(v):
        total = n * v - psi(prior, v, p.log_alpha, p.sigma)
        # of prod kappa only tau^(K sigma - n) depends on u
        return total + (clusters * p.sigma - n) * softplus(v)

    grid = p.log_u + np.linspace(-3, 3, 601)
    assert max(map(log_density, grid)) <= log_density(p.log_u) + 1e-9


@pytest.mark.parametrize(
    "prior",
    [
        mw.NGGP(1e-90, 0.5),
        mw.NGGP(1e90, 0.5),
        mw.NGGP(1.0, 1e-6),
        mw.NGGP(1.0, 1 - 1e-9),
        mw.DirichletProcess(1e-90),
        mw.PitmanYor(1e-6, 0.9),
    ],
)
def test_extreme_priors_have_a_mode(prior):
    p = prior_parameters(prior, 30)
    assert np.isfinite(p.log_u)
    assert np.isfinite(log_kappa(prior, 3, p.log_u, p.log_alpha, p.sigma))


def test_mode_moves_with_the_clusters():
    prior = mw.NGGP(1.0, 0.5)
    p = prior_parameters(prior, 50)
    modes = [prior.log_u_mode(p, 50, k) for k in (1, 5, 20, 50)]
    assert modes == sorted(modes)
    assert modes[0] < modes[-1]


def test_bhc_is_deterministic(model):
    X = np.random.default_rng(0).normal(size=(60, 2))
    np.testing.assert_array_equal(bhc(model, X).linkage(), bhc(model, X).linkage())


def test_the_seed_decides():
    X = np.random.default_rng(0).normal(size=(60, 2))
    trees = [ibhc(mw.Mixture(), X, trials=2, seed=s) for s in (3, 3, 4)]
    np.testing.assert_array_equal(trees[0].linkage(), trees[1].linkage())
    assert trees[0].log_evidence_bound != trees[2].log_evidence_bound
    sequence = np.random.SeedSequence(3)
    again = [ibhc(mw.Mixture(), X, trials=2, seed=sequence) for _ in range(2)]
    for tree in again:
        np.testing.assert_array_equal(tree.linkage(), trees[0].linkage())
    ibhc(mw.Mixture(), X, seed=np.random.default_rng(0))


def test_a_given_order_needs_no_seed(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    order = np.arange(30)[::-1]
    trees = [ibhc(model, X, order=order) for _ in range(2)]
    np.testing.assert_array_equal(trees[0].linkage(), trees[1].linkage())
    assert ibhc(model, X, order=range(30)).n_items == 30


def test_the_best_trial_is_kept():
    """The trials of one seed begin alike, so more trials never have a lower bound."""
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1, 4]
    trees = [ibhc(mw.Mixture(), X, trials=k, seed=2) for k in (1, 2, 4, 8)]
    bounds = [tree.log_evidence_bound for tree in trees]
    assert len({tree.log_u for tree in trees}) == 1  # or they could not be compared
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]


def test_parameters_used_are_told(prior, classes):
    X, _ = classes(20)
    first = ibhc(mw.Mixture(mw.Gaussian(), prior), X, seed=0)
    expected = prior_parameters(prior, 20)
    assert first.log_u == expected.log_u
    assert list(first.parameters) == [prior.stored_name(name) for name in prior.parameters]
    for name in prior.parameters:
        core = getattr(expected, prior.core_name(name))
        assert first.parameters[prior.stored_name(name)] == prior.stored(name, core)


def test_the_bad_start_is_the_twins(prior, classes):
    X, _ = classes(30)
    model = mw.Mixture(mw.Gaussian().resolve(X), prior)
    seed = np.random.SeedSequence(4)
    labels = on_top_labels(model, bind_family(model, X), len(X), seed)
    twin = Forest(model, X, prior_parameters(prior, 30))
    twin.on_top(np.random.default_rng(seed).permutation(30).tolist())
    expected = np.empty(30)
    for k, tree in enumerate(twin.trees):
        expected[list(tree.rows)] = k
    np.testing.assert_array_equal(labels, in_order_of_appearance(expected))


# --- the clusters as labels


@pytest.mark.parametrize("max_leaves", [None, 12])
def test_labels_are_those_of_the_leaves(classes, max_leaves):
    X, _ = classes(60)
    model = mw.Mixture(mw.Gaussian().resolve(X))
    recipe = Recipe(model, prior_parameters(model.prior, 60), "balanced", max_leaves)
    forest = recipe.forest(bind_family(model, X))
    assert (forest.labels() == -1).all()
    rows = np.random.default_rng(3).permutation(60)
    grow(recipe, forest, rows[:50])
    labels, leaves = forest.labels(), forest.leaves()
    assert labels.dtype == np.int32
    assert (labels[rows[50:]] == -1).all()
    there = np.sort(rows[:50])
    trees = leaves["tree"][leaves["leaf_of_row"][there]]
    assert forest.n_trees > 1
    assert (forest.n_leaves == 50) == (max_leaves is None)
    np.testing.assert_array_equal(labels[there], in_order_of_appearance(trees))


# --- errors


def test_wrong_arguments_are_named(model, builders):
    X = np.zeros((4, 2))
    with pytest.raises(TypeError, match="model"):
        bhc(mw.Gaussian(), X)
    with pytest.raises(TypeError, match="model"):
        ibhc(mw.NGGP(), X)
    for wrong in ("greedy", None, 3, ["balanced"]):
        with pytest.raises(ValueError, match="rule must be"):
            ibhc(model, X, rule=wrong)
        with pytest.raises(ValueError, match="rule must be"):
            bhc(model, X, rule=wrong)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="trials"):
            ibhc(model, X, trials=wrong)
    with pytest.raises(TypeError, match="trials"):
        ibhc(model, X, trials=2.0)
    with pytest.raises(ValueError, match="max_leaves"):
        ibhc(model, X, max_leaves=1)
    with pytest.raises(TypeError, match="max_leaves"):
        ibhc(model, X, max_leaves="many")
    with pytest.raises(TypeError, match="seed"):
        ibhc(model, X, seed="one")
    for wrong in ([0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [[0, 1, 2, 3]], [0.0, 1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="order"):
            ibhc(model, X, order=wrong)
    for build in builders.values():
        with pytest.raises(ValueError, match="X has inf"):
            build(model, [[1.0, np.inf]])
        with pytest.raises(ValueError, match="X is empty"):
            build(model, np.zeros((0, 2)))


def test_bhc_refuses_many_rows_with_advice(model):
    with pytest.raises(ValueError, match=r"20,000.*ibhc"):
        bhc(model, np.random.default_rng(0).normal(size=(LARGEST_GREEDY + 1, 1)))


def test_unions_of_many_columns_in_any_units():
    """One logarithm for a thousand columns: no product over- or underflows, whatever the units."""
    rng = np.random.default_rng(seed_of("unions of many columns"))
    d = 2100
    units = 10.0 ** rng.uniform(-30, 30, d)
    X = rng.normal(size=(6, d)) * units
    likelihood = mw.DiagonalGaussian(r=0.1, nu=3.0, mean=np.zeros(d), scale=units**2)
    tree = ibhc(mw.Mixture(likelihood, mw.DirichletProcess(1.0)), X, seed=0)
    alone = np.array([_log_marginal(likelihood, X[[i]]) for i in range(6)])
    flat = tree._forest.export()
    sets: list[list[int]] = []
    for left, right, row in zip(flat["left"], flat["right"], flat["row"], strict=True):
        sets.append([int(row)] if left < 0 else sets[left] + sets[right])
    # The core's numbers are in units in which psi is 1: single rows tell what that leaves out.
    constants = alone - [flat["log_marginal"][sets.index([i])] for i in range(6)]
    for rows, found in zip(sets, flat["log_marginal"], strict=True):
        expected = _log_marginal(likelihood, X[rows])
        np.testing.assert_allclose(found + constants[rows].sum(), expected, rtol=1e-10)


def _log_marginal(likelihood, rows):
    family = family_of(likelihood)
    return family.log_marginal(family.of(list(rows)))
