"""The published sampler's operations against examples worked by hand."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference.hierarchical_clustering import Tree
from mixwood.reference.paper_tree import (
    PaperTreeChain,
    SeqInsert,
    log_gather,
    sample_sub,
    stoc_insert,
)
from mixwood.reference.random import Stream


def tree(*children, row=None, d=0.0):
    """Return a tree with this dissimilarity of its children, and potentials of 1."""
    rows = (row,) if row is not None else tuple(r for child in children for r in child.rows)
    return Tree(rows, children, None, 0.0, 0.0, 0.0, log(d) if children else -inf)


class Tabled(SeqInsert):
    """Trees whose dissimilarities stand in a table, all of potential 1."""

    def __init__(self, table):
        self.table = {frozenset([frozenset(a), frozenset(b)]): d for (a, b), d in table.items()}
        self.rule = "paper"

    def leaf(self, row):
        return tree(row=row)

    def join(self, left, right):
        pair = frozenset([frozenset(left.rows), frozenset(right.rows)])
        return tree(left, right, d=self.table.get(pair, 1.0))


class Scripted:
    """Gives these uniforms, in their order."""

    def __init__(self, *uniforms):
        self.uniforms = list(uniforms)

    def random(self):
        return self.uniforms.pop(0)


def chain_with(trees, table, *uniforms):
    """Return a chain with these trees; nothing in it looks at data."""
    n = sum(len(tree.rows) for tree in trees)
    X = np.zeros((n, 1))
    model = mw.Mixture(mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[1.0]]), mw.NGGP(1.0, 0.3))
    chain = PaperTreeChain(model, X, np.arange(n), np.random.default_rng(0))
    chain.seq_insert, chain.trees = Tabled(table), list(trees)
    chain.stream = Stream(Scripted(*uniforms))
    return chain


def test_sample_sub():
    left = tree(tree(row=0), tree(row=1), d=1.0)
    root = tree(left, tree(row=2), d=3.0)
    nodes, log_probabilities = sample_sub(root)
    # d + epsilon with epsilon = 3: the root 6, its left child 4, and 3 for each of three leaves
    assert [node.rows for node in nodes] == [(0, 1, 2), (0, 1), (2,), (0,), (1,)]
    np.testing.assert_allclose(np.exp(log_probabilities), np.array([6, 4, 3, 3, 3]) / 19)


def test_sample_sub_of_inner_nodes():
    left = tree(tree(row=0), tree(row=1), d=1.0)
    nodes, log_probabilities = sample_sub(tree(left, tree(row=2), d=3.0), inner=True)
    assert [node.rows for node in nodes] == [(0, 1, 2), (0, 1)]
    np.testing.assert_allclose(np.exp(log_probabilities), [0.6, 0.4])


def test_sample_sub_of_a_leaf_is_the_leaf():
    nodes, log_probabilities = sample_sub(tree(row=7))
    assert ([node.rows for node in nodes], log_probabilities.tolist()) == ([(7,)], [0.0])


def test_sample_sub_takes_any_dissimilarity():
    """Of the order of e^1000, as far apart clusters have."""
    far = Tree((0, 1), (tree(row=0), tree(row=1)), None, 0.0, 0.0, 0.0, 1000.0)
    _, log_probabilities = sample_sub(far)
    np.testing.assert_allclose(np.exp(log_probabilities), [0.5, 0.25, 0.25])


def test_stoc_insert():
    # 1/d = 2, 1 and 1/4, and 1 for a new tree
    law = stoc_insert([log(0.5), log(1.0), log(4.0)])
    np.testing.assert_allclose(np.exp(law), np.array([8, 4, 1, 4]) / 17)


def test_seq_insert_follows_the_smallest_dissimilarity():
    root = tree(tree(row=0), tree(row=1), d=2.0)
    shapes = []
    for to_left, to_right in ((3.0, 5.0), (1.0, 0.5), (0.5, 1.0)):
        insert = Tabled({((0,), (2,)): to_left, ((1,), (2,)): to_right})
        shapes.append([child.rows for child in insert(root, tree(row=2)).children])
    assert shapes == [[(0, 1), (2,)], [(0,), (1, 2)], [(0, 2), (1,)]]


def test_seq_insert_does_not_let_the_last_bit_decide():
    root = tree(tree(row=0), tree(row=1), d=2.0)
    for bit in (-1e-13, 0.0, 1e-13):
        insert = Tabled({((0,), (2,)): 0.5 + bit, ((1,), (2,)): 0.5})
        assert insert(root, tree(row=2)).rows == (0, 2, 1)


def test_merging_may_start_from_any_of_the_clusters():
    # of K = 3: the first picks and collects the second but not the third, or the other way round
    log_d = np.log([[1.0, 3.0, 1.0], [3.0, 1.0, 4.0]])
    expected = (1 / 4 * 1 / 2 + 1 / 4 * 4 / 5) / 3
    assert exp(log_gather(log_d, [0, 1])) == pytest.approx(expected, rel=1e-12)


def test_split_of_one_of_six_clusters():
    """c1 = {0, 1, 2} is cut at {0, 1} and 2 goes to 1: c9 = {0}, c10 = {1, 2}."""
    c1 = tree(tree(tree(row=0), tree(row=1), d=1.0), tree(row=2), d=3.0)
    others = [tree(row=row) for row in range(3, 8)]
    table = {((0, 1, 2), (row,)): row for row in range(3, 8)}  # d(c1, ci) = 3 .. 7
    table |= {((0,), (2,)): 2.0, ((1,), (2,)): 0.5}
    table |= {((0,), (row,)): row - 2.0 for row in range(3, 8)}  # d(c9, ci) = 1 .. 5
    table |= {((1, 2), (row,)): 1.0 for row in range(3, 8)}  # d(c10, ci) = 1
    table |= {((0,), (1, 2)): 3.0}
    # c1 is picked, nothing collected, {0, 1} drawn (0.6 < u), 2 goes to 1, and r is accepted
    chain = chain_with([c1, *others], table, 0.0, *[0.999] * 5, 0.7, 0.3, 1 - 1e-12)
    chain.global_move()
    assert {tree.rows for tree in chain.trees} == {(0,), (1, 2), *((row,) for row in range(3, 8))}
    # forward: 1/6, nothing collected, SampleSub 4/10, StocInsert 2 of 1/2 + 2 + 1
    forward = 1 / 6 * (3 / 4 * 4 / 5 * 5 / 6 * 6 / 7 * 7 / 8) * 0.4 * (2 / 3.5)
    # reverse: pick c9 and collect c10 alone, or pick c10 and collect c9 alone
    reverse = 1 / 7 * (1 / 2 * 2 / 3 * 3 / 4 * 4 / 5 * 5 / 6 * 1 / 4 + (1 / 2) ** 5 * 1 / 4)
    (log_ratio,) = chain.log_ratios["split"]
    assert exp(log_ratio) == pytest.approx(reverse / forward, rel=1e-12)


def test_merge_of_four_of_six_clusters():
    """c1 picks and collects c2, c3 and c4; c9 is their cascade, c7 its bottom."""
    table = {((0,), (1,)): 1.0, ((0,), (2,)): 2.0, ((0,), (3,)): 3.0, ((1,), (2,)): 0.5}
    table |= {((1,), (3,)): 1.0, ((2,), (3,)): 4.0}
    table |= {((c,), (4,)): 2.0 for c in range(4)} | {((c,), (5,)): 3.0 for c in range(4)}
    table |= {((0, 1), (2,)): 5.0, ((0, 1, 2), (3,)): 2.0}  # d of the cascade's upper nodes
    table |= {((0, 1, 2, 3), (4,)): 1.0, ((0, 1, 2, 3), (5,)): 4.0}
    clusters = [tree(row=row) for row in range(6)]
    chain = chain_with(clusters, table, 0.0, 0.1, 0.1, 0.1, 0.9, 0.9, 1 - 1e-12)
    chain.global_move()
    assert sorted(tree.rows for tree in chain.trees) == [(0, 1, 2, 3), (4,), (5,)]
    merged = max(chain.trees, key=lambda tree: len(tree.rows))
    assert [child.rows for child in merged.children] == [(0, 1, 2), (3,)]
    assert [child.rows for child in merged.children[0].children] == [(0, 1), (2,)]
    apart = 2 / 3 * 3 / 4  # none of the four collects c5 or c6
    forward = apart / 6 * (1 / 2 * 1 / 3 * 1 / 4  # c1 is picked and collects c2, c3, c4
                           + 1 / 2 * 2 / 3 * 1 / 2  # c2
                           + 1 / 3 * 2 / 3 * 1 / 5  # c3
                           + 1 / 4 * 1 / 2 * 1 / 5)  # c4  # fmt: skip
    # reverse: pick c9, collect nothing, draw c7 (d + epsilon = 1 + 5 of 6 + 10 + 7), and c3 and c4
    # become clusters of their own
    reverse = 1 / 3 * (1 / 2 * 4 / 5) * 6 / 23
    reverse *= 1 / (1 + 1 / 2 + 1 / 0.5) * 1 / (1 + 1 / 3 + 1 / 1 + 1 / 4)
    (log_ratio,) = chain.log_ratios["merge"]
    assert exp(log_ratio) == pytest.approx(reverse / forward, rel=1e-12)


def test_a_singleton_is_not_split():
    chain = chain_with([tree(row=0), tree(row=1)], {}, 0.0, 0.999)
    chain.global_move()
    assert [tree.rows for tree in chain.trees] == [(0,), (1,)]
    assert chain.log_ratios == {"split": [], "merge": []}


def test_local_move_visits_the_rows_of_subtrees_of_subtrees():
    left = tree(tree(row=2), tree(row=0), d=1.0)
    trees = [tree(left, tree(row=1), d=1.0), tree(row=3)]
    # of 5 nodes the root (u < 1/4 of 2 + 2 + 3 leaves of 1), then its left child
    chain = chain_with(trees, {}, 0.0, 0.4)
    visited = []
    chain._visit = visited.append
    chain.local_move()
    assert visited == [0, 2, 3]
