"""The plain tree-guided sampler against what can be worked out by hand."""

from __future__ import annotations

from itertools import product
from math import exp, fsum

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference import family_of
from mixwood.reference.tree_sampler import OPEN, GuideTree, TwoSides, log_detachments, node_laws

# ((0, 4), (1, (2, 5))) and a leaf of two rows, (3, 6), to the right of it all
NESTED = {
    "leaves": [6, 5, 2, 1, 1, 3, 1, 2, 1, 1, 1],
    "first": [0, 0, 0, 0, 1, 2, 2, 3, 3, 4, 5],
    "size": [7, 5, 2, 1, 1, 3, 1, 2, 1, 1, 2],
    "rows": [0, 4, 1, 2, 5, 3, 6],
    "log_dissimilarity": [3.0, 1.0, -0.5, 0, 0, 0.3, 0, 8.0, 0, 0, 0],
    "log_detachment": [-np.inf] * 11,
}
TREE = GuideTree(NESTED)


def test_the_tree_is_read_from_its_arrays():
    assert TREE.children(0) == (1, 10)
    assert TREE.children(1) == (2, 5)
    assert TREE.children(5) == (6, 7)
    assert TREE.rows[5] == (1, 2, 5)
    assert TREE.rows[10] == (3, 6)
    assert TREE.is_leaf(10)
    assert not TREE.is_leaf(7)


@pytest.mark.parametrize(
    ("rows", "nodes"),
    [
        (range(7), [0]),
        ([0, 1, 2, 4, 5], [1]),
        ([2, 3, 5, 6, 0], [7, 10, 3]),
        ([1, 5], [6, 9]),
        ([], []),
    ],
)
def test_highest_nodes_within_rows(rows, nodes):
    assert TREE.highest_within(rows) == nodes


def test_every_node_can_be_drawn_as_a_block_and_every_inner_one_as_a_pair():
    laws = node_laws(TREE)
    assert np.all(laws.blocks > 0)
    inner = [not TREE.is_leaf(v) for v in range(11)]
    for weights in (laws.splits, laws.pairs):
        np.testing.assert_array_equal(weights > 0, inner)


def test_half_of_the_blocks_and_splits_are_where_a_part_may_be_a_cluster():
    """p (1 - p) of the log odds 0 and ln 3 is 1/4 and 3/16."""
    detachment = [-np.inf] * 11
    detachment[5], detachment[7] = 0.0, np.log(3)
    without, laws = node_laws(TREE), node_laws(GuideTree({**NESTED, "log_detachment": detachment}))
    np.testing.assert_array_equal(laws.pairs, without.pairs)
    blocks = laws.blocks / laws.blocks.sum() - without.blocks / without.blocks.sum() / 2
    np.testing.assert_allclose(
        blocks, 0.5 * np.eye(11)[5] * 4 / 7 + 0.5 * np.eye(11)[7] * 3 / 7, atol=1e-15
    )
    splits = laws.splits / laws.splits.sum() - without.splits / without.splits.sum() / 2
    np.testing.assert_allclose(
        splits, 0.5 * np.eye(11)[1] * 4 / 7 + 0.5 * np.eye(11)[5] * 3 / 7, atol=1e-15
    )


def test_parts_are_compared_with_the_highest_node_that_is_judged_one_cluster():
    """Below node 1, were it judged one, two pairs: 5 is too large, and leaves are not asked."""
    log_d = [3.0, -1.0, -0.5, 0, 0, -0.3, 0, 8.0, 0, 0, 0]
    tree = GuideTree({**NESTED, "log_dissimilarity": log_d})
    found = log_detachments(tree, lambda rows: float(sum(rows) ** 2))
    pairs = {2: 16.0 + 64 - 144, 7: 49.0 + 25 - 144}
    assert found == [pairs.get(v, -np.inf) for v in range(11)]


@pytest.mark.parametrize(
    ("row", "nodes"), [(0, [2, 1]), (4, [2, 1]), (1, [5]), (2, [7]), (5, [7]), (6, [0])]
)
def test_of_which_nodes_a_row_is_in_the_smaller_half(row, nodes):
    assert TREE.smaller_halves_above(row) == nodes


def replayed_q(v, rows, sides):
    """Return q of the division that puts each of the `rows` on its side."""
    likelihood = mw.Gaussian(r=0.5, nu=3, mean=[0.0], scale=[[1.0]])
    family, X = family_of(likelihood), np.linspace(-2, 2, 7)[:, None]
    side_of = dict(zip(rows, sides, strict=True))

    def choose(w, chances):
        found = {side_of[row] for row in TREE.rows[w]}
        choice = found.pop() if len(found) == 1 else OPEN
        assert chances[choice] > 0
        return choice

    two = TwoSides(family, X, TREE, lambda size, stat: size + family.log_marginal(stat))
    two.grow_around(v, TREE.highest_within(rows), choose)
    assert two.sizes == [len(TREE.rows[child]) + sides.count(side)
                         for side, child in enumerate(TREE.children(v))]  # fmt: skip
    return exp(two.log_q)


@pytest.mark.parametrize("v", [0, 1, 2, 5, 7])
def test_each_division_has_one_path(v):
    """Every division of all rows has a probability, and these sum to one."""
    rows = sorted(TREE.below[0] - TREE.below[v])
    divisions = [
        sides
        for sides in product([0, 1], repeat=len(rows))
        if len({side for row, side in zip(rows, sides, strict=True) if row in (3, 6)}) < 2
    ]
    assert fsum(replayed_q(v, rows, sides) for sides in divisions) == pytest.approx(1, abs=1e-12)
