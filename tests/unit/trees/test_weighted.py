"""Weighted leaves: bounded memory, whatever comes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage, to_tree

import mixwood as mw
from mixwood.trees.build import bhc, ibhc


def test_beyond_max_leaves_the_tree_collapses(weighted, is_pure, parse_newick):
    likelihood, X, truth = weighted(2400)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X, trials=2, max_leaves=50, seed=0)
    assert tree.n_leaves <= 50
    assert tree._X.shape[0] <= 50  # the others are not kept
    assert is_pure(tree.labels, truth)
    assert tree.n_clusters <= 6
    assert tree.leaf.shape == (2400,)
    assert np.unique(tree.leaf).tolist() == list(range(tree.n_leaves))
    # blocks stay together in every cut
    for labels in (tree.cut(n_clusters=tree.n_leaves), tree.cut(probability=0.99)):
        assert all(len(np.unique(labels[tree.leaf == k])) == 1 for k in range(tree.n_leaves))
    assert is_valid_linkage(tree.linkage(), throw=True)
    assert tree.linkage()[-1, 3] == tree.n_leaves
    assert tree.linkage(points=True)[-1, 3] == 2400
    np.testing.assert_array_equal(tree.linkage()[:, :3], tree.linkage(points=True)[:, :3])
    assert to_tree(tree.linkage()).get_count() == tree.n_leaves
    sizes = np.bincount(tree.leaf)
    for name in parse_newick(tree.to_newick()):
        if name.startswith("w"):
            number, size = map(int, name[1:].split("x"))
            assert size == sizes[np.flatnonzero(sizes > 1)[number]]
    tree.plot().figure.canvas.draw()
    assert "leaves" in repr(tree)
    tree._forest.check()


def test_streaming_stays_bounded(weighted, is_pure, everything):
    likelihood, X, truth = weighted(4500)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X[:300], max_leaves=40, seed=0)
    for start in range(300, 4500, 600):
        labels = tree.insert(X[start : start + 600])
        np.testing.assert_array_equal(labels, tree.labels[start:])
        assert tree.n_leaves <= 40
        assert tree._X.shape[0] <= 40
        tree._forest.check()
    assert is_pure(tree.labels, truth)
    assert tree.n_clusters <= 6
    assert tree.linkage(points=True)[-1, 3] == 4500
    # refused rows leave it as it was
    before = everything(tree)
    with pytest.raises(ValueError, match="X_new has the wrong number of columns"):
        tree.insert(np.ones((1, 2)))
    assert everything(tree) == before


def test_the_limit_holds_where_nothing_belongs_together():
    """Rows that are all far apart: more trees than leaves allowed."""
    X = 100 * np.random.default_rng(0).normal(size=(2600, 3))
    likelihood = mw.Gaussian(r=1e-4, nu=9, mean=np.zeros(3), scale=np.eye(3))
    model = mw.Mixture(likelihood, mw.NGGP(1.0, 0.5))
    assert ibhc(model, X[:200], seed=0).n_clusters > 150
    tree = ibhc(model, X[:1500], max_leaves=60, seed=0)
    for start in range(1500, 2600, 550):
        assert tree.n_leaves <= 60
        assert tree._X.shape[0] <= 60
        tree._forest.check()
        tree.insert(X[start : start + 550])
    assert tree.n_leaves <= 60
    assert tree.linkage(points=True)[-1, 3] == 2600


def test_the_bound_of_collapsed_trees_is_lower(weighted):
    """A weighted leaf gives up the clusters below it: the bound loses, and by little."""
    likelihood, X, _ = weighted(900)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    order = np.arange(900)
    full, few = (ibhc(model, X, order=order, max_leaves=m) for m in (900, 60))
    assert few.log_evidence_bound <= full.log_evidence_bound + 1e-6
    assert few.log_evidence_bound > full.log_evidence_bound - 0.05 * abs(full.log_evidence_bound)


def test_copies_of_weighted_trees_read_but_do_not_grow(weighted, everything):
    likelihood, X, _ = weighted(1500)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X, max_leaves=30, seed=0)
    other = pickle.loads(pickle.dumps(tree))
    assert everything(other) == everything(tree)
    other.plot()
    before = everything(other)
    with pytest.raises(ValueError, match="weighted leaves"):
        other.insert(X[:2])
    assert everything(other) == before
    tree.insert(X[:2])


# --- trees over leaves that are given


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leaves_are_about_as_heavy_as_each_other(seed):
    """The lightest pairs collapse first (with limits that double, both numbers were larger)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 2)) + 6 * rng.normal(size=(10, 2))[rng.integers(10, size=4000)]
    blocks = X[:2000], X[2000:]
    sizes = mw.stream_leaves(mw.Mixture(mw.Gaussian()), blocks, max_leaves=50, seed=seed).sizes
    assert sizes.max() < 1.5 * sizes.mean()
    assert (sizes**2).sum() / sizes.sum() < 1.07 * sizes.mean()


def leaves_of(model, X, max_leaves):
    return mw.stream_leaves(model, [X], max_leaves=max_leaves, seed=1)


@pytest.mark.parametrize("build", [bhc, ibhc])
def test_leaves_of_single_rows_have_the_tree_of_the_rows(build):
    X = np.random.default_rng(0).normal(size=(40, 3)) + 5 * np.arange(40)[:, None] // 20
    model = mw.Mixture(mw.Gaussian().resolve(X))
    leaves = leaves_of(model, X, 40)
    assert leaves.n_leaves == 40
    options = {} if build is bhc else {"order": np.arange(40)}
    rows, found = (build(model, data, **options) for data in (X, leaves))
    np.testing.assert_array_equal(found.labels, rows.labels)
    np.testing.assert_allclose(found.linkage(), rows.linkage())
    assert found.log_evidence_bound == pytest.approx(rows.log_evidence_bound)


def test_trees_over_leaves_count_rows_and_take_no_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 20 * rng.integers(0, 3, (300, 1))
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X))
    leaves = leaves_of(model, X, 40)
    tree = ibhc(model, leaves, seed=0)
    assert tree.n_clusters == 3
    assert tree.linkage(points=True)[-1, 3] == 300
    # a tree over the rows sums over more partitions, and most of its bound is of these clusters
    assert tree.log_evidence_bound == pytest.approx(
        ibhc(model, X, seed=0).log_evidence_bound, rel=0.02
    )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).labels, tree.labels)
    assert ibhc(model, leaves, max_leaves=10, seed=0).n_leaves <= 10
    assert tree.as_draws().item_sizes.sum() == 300
    with pytest.raises(ValueError, match="X_new cannot go into a tree over weighted leaves"):
        tree.insert(X[:2])
