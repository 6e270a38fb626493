"""The Hierarchy as a user reads it, draws it and lets it grow."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage, to_tree

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters
from mixwood.trees.build import bhc, ibhc

# --- other forms


def test_leaf_numbers_are_row_numbers(build, model, classes, same_partition):
    X, _ = classes(30)
    tree = build(model, X)
    np.testing.assert_array_equal(tree.leaf, np.arange(30))
    by_scipy = fcluster(tree.linkage(), 3, "maxclust")
    assert same_partition(by_scipy, tree.cut(n_clusters=3))


def test_linkage_is_what_scipy_wants(build, prior):
    X = np.random.default_rng(1).normal(size=(80, 2))
    tree = build(mw.Mixture(mw.Gaussian(scale="data"), prior), X)
    Z = tree.linkage()
    assert is_valid_linkage(Z, throw=True)
    assert (np.diff(Z[:, 2]) >= 0).all()
    assert Z[-1, 3] == 80
    assert to_tree(Z).get_count() == 80
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(80))
    assert ((tree.probability >= 0) & (tree.probability <= 1)).all()
    # a height is log(1 + d) = -log P(h), unless a merge below it is higher
    assert (Z[:, 2] >= -np.log(tree.probability) - 1e-9).all()


def test_cut_at_a_number(build, model):
    X = np.random.default_rng(1).normal(size=(30, 2))
    tree = build(model, X)
    Z = tree.linkage()
    for k in range(1, 31):
        labels = tree.cut(n_clusters=k)
        assert labels.dtype == np.int64
        assert len(np.unique(labels)) == k
        # by hand: the first n - k merges
        group = {leaf: [leaf] for leaf in range(30)}
        for step, (a, b, *_) in enumerate(Z[: 30 - k]):
            group[30 + step] = group.pop(int(a)) + group.pop(int(b))
        expected = np.empty(30)
        for name, rows in group.items():
            expected[rows] = name
        np.testing.assert_array_equal(labels, in_order_of_appearance(expected))


def test_cut_at_a_probability(build):
    X = np.random.default_rng(1).normal(size=(40, 2)) * [1, 4]
    tree = build(mw.Mixture(), X)
    Z, P = tree.linkage(), tree.probability
    for p in (0.0, 0.1, 0.5, 0.9, 0.999, 1.0):
        expected = np.full(40, -1)
        todo = [len(Z) + 39]
        while todo:  # from the root down
            node = todo.pop()
            if node >= 40 and P[node - 40] < p:
                todo += Z[node - 40, :2].astype(int).tolist()
                continue
            below = [node]
            while below:
                inner = below.pop()
                if inner < 40:
                    expected[inner] = node
                else:
                    below += Z[inner - 40, :2].astype(int).tolist()
        np.testing.assert_array_equal(tree.cut(probability=p), in_order_of_appearance(expected))
    assert tree.cut(probability=0).max() == 0


def test_cut_refuses_what_makes_no_sense(model):
    tree = bhc(model, [[0.0], [1.0], [5.0]])
    for arguments in ({}, {"n_clusters": 2, "probability": 0.5}):
        with pytest.raises(ValueError, match="exactly one"):
            tree.cut(**arguments)
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        tree.cut(n_clusters=4)
    with pytest.raises(ValueError, match="n_clusters"):
        tree.cut(n_clusters=0)
    with pytest.raises(TypeError, match="n_clusters"):
        tree.cut(n_clusters=1.5)
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            tree.cut(probability=p)


def test_newick_has_every_row_at_the_height_of_the_root(build, model, parse_newick):
    X = np.random.default_rng(1).normal(size=(50, 2))
    tree = build(model, X)
    depths = parse_newick(tree.to_newick())
    assert sorted(depths, key=int) == [str(row) for row in range(50)]
    np.testing.assert_allclose(list(depths.values()), tree.linkage()[-1, 2], rtol=1e-6)


def test_deep_trees_do_not_overflow_the_stack(model, parse_newick):
    """The published rule on one homogeneous cluster: a caterpillar."""
    X = np.random.default_rng(0).normal(size=(4000, 1))
    likelihood = mw.Gaussian(scale=[[1.0]], nu=7)
    tree = ibhc(mw.Mixture(likelihood, mw.DirichletProcess(1.0)), X, rule="paper", seed=0)
    assert len(parse_newick(tree.to_newick())) == 4000
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree.plot()
    copy.deepcopy(tree)


# --- the picture


def test_plot_shows_the_tree(model, classes):
    X, _ = classes(30)
    tree = bhc(model, X)
    axes = tree.plot()
    (lines,) = axes.collections
    assert len(lines.get_segments()) == 29
    assert sorted(int(t.get_text()) for t in axes.get_xticklabels()) == list(range(30))
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    colours = {tuple(c) for c in lines.get_colors()}
    assert len(colours) == 4  # three clusters, and what joins them
    tops = sorted(max(y for _, y in s) for s in lines.get_segments())
    np.testing.assert_allclose(tops, tree.linkage()[:, 2])


def test_plot_of_many_leaves_is_truncated(model, classes):
    X, _ = classes(300)
    axes = ibhc(model, X, seed=0).plot(leaves=12)
    names = [t.get_text() for t in axes.get_xticklabels()]
    assert len(names) == 12
    points = sum(int(name.strip("()")) if name.startswith("(") else 1 for name in names)
    assert points == 300
    axes.figure.canvas.draw()


def test_plot_takes_axes_and_labels_and_leaves_pyplot_alone(model, classes):
    import sys

    from matplotlib.figure import Figure

    X, truth = classes(30)
    tree = bhc(model, X)
    axes = Figure().add_subplot()
    before = "matplotlib.pyplot" in sys.modules
    assert tree.plot(axes, labels=tree.cut(n_clusters=2)) is axes
    assert len({tuple(c) for c in axes.collections[0].get_colors()}) == 3
    assert before == ("matplotlib.pyplot" in sys.modules)
    with pytest.raises(ValueError, match="labels"):
        tree.plot(labels=truth[:-1])
    with pytest.raises(ValueError, match="leaves"):
        tree.plot(leaves=1)
    with pytest.raises(ValueError, match="leaves"):
        tree.plot(leaves=10_000)


# --- growth


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ([[1.0, 2.0]], "X_new has the wrong number of columns"),
        ([[1.0, 2.0, np.inf]], "X_new has inf"),
        (np.zeros((0, 3)), "X_new is empty"),
        ([1.0, 2.0, 3.0], "X_new has one dimension"),
    ],
)
def test_refused_rows_leave_the_tree_as_it_was(build, model, wrong, error, classes, everything):
    X, _ = classes(30)
    tree = build(model, X)
    before = everything(tree)
    with pytest.raises(ValueError, match=error):
        tree.insert(wrong)
    assert everything(tree) == before
    tree._forest.check()
    assert tree.insert(X[:3]).tolist() == tree.labels[:3].tolist()


def test_codes_beyond_the_categories_are_refused(everything):
    X = np.random.default_rng(0).integers(0, 3, (20, 2))
    tree = ibhc(mw.Mixture(mw.Categorical(), mw.DirichletProcess(1.0)), X, seed=0)
    before = everything(tree)
    with pytest.raises(ValueError, match="X_new has code 3"):
        tree.insert([[0, 3]])
    assert everything(tree) == before


def test_new_rows_join_their_classes(build, model, classes):
    X, truth = classes(60)
    tree = build(model, X[:30])
    labels = np.concatenate([tree.insert(X[30:31]), tree.insert(X[31:])])
    np.testing.assert_array_equal(labels, truth[30:])
    np.testing.assert_array_equal(tree.labels, truth)
    assert tree.insert([[500.0, -500.0, 500.0]]).tolist() == [3]
    tree._forest.check()


def test_inserting_later_is_inserting(model):
    """The same tree as by the twin; near trees are joined after each call."""
    X = np.random.default_rng(2).normal(size=(40, 2)) * [1, 5]
    tree = ibhc(model, X[:25], order=np.arange(25))
    tree.insert(X[25:33])
    tree.insert(X[33:])
    twin = Forest(
        tree.model, X, Parameters(tree.log_u, tree.parameters["log_alpha"], 0.0, 0.0), "balanced"
    )
    for rows in (range(25), range(25, 33), range(33, 40)):
        twin.insert(rows)
        twin.join_trees()
    assert {frozenset(t.rows) for t in twin.trees} == {
        frozenset(np.flatnonzero(tree.labels == k).tolist()) for k in range(tree.n_clusters)
    }
    bound = twin.log_evidence_bound(twin.joined())
    assert tree.log_evidence_bound == pytest.approx(bound, abs=1e-6)


def test_the_tree_keeps_rows_of_its_own(model, classes, everything):
    X, _ = classes(30)
    mine = X.copy()
    tree = ibhc(model, mine, seed=0)
    mine[:] = 0
    again = pickle.loads(pickle.dumps(tree))
    again.insert(X[:2])
    other = ibhc(model, X, seed=0)
    other.insert(X[:2])
    assert everything(again) == everything(other)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_read_and_grow_like_the_original(build, how, everything):
    X = np.random.default_rng(3).normal(size=(50, 2))
    tree = build(mw.Mixture(), X[:35])
    tree.insert(X[35:40])
    other = how(tree)
    before = everything(tree)
    assert everything(other) == before
    new = other.insert(X[40:])
    assert everything(tree) == before
    np.testing.assert_array_equal(tree.insert(X[40:]), new)
    assert everything(tree) == everything(other)


def test_labels_cannot_be_overwritten(model, classes):
    tree = bhc(model, classes(10)[0])
    with pytest.raises(ValueError, match="read-only"):
        tree.labels[0] = 5
    tree.leaf[0] = 5
    assert tree.leaf[0] == 0
