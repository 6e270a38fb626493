"""Many rows put into a forest bucket by bucket, in plain Python: the twin of tree/buckets.hpp.

1. The first ``16 sqrt(n)`` rows, at most ``n / 4``, grow a coarse forest, one by one.
2. Every row goes down it on its own, to a node of at most `COARSE_BELOW` coarse rows: its bucket.
3. Each bucket grows a forest of its own in the same way, or one by one where its rows are few.
4. The trees of all buckets go into the forest as items, the largest first.

Nothing is random but the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isqrt, log

from mixwood.reference.hierarchical_clustering import Forest, Tree

__all__ = ["insert_in_buckets"]

#: Rows of a bucket that is divided again; coarse rows of a bucket; trees a row is compared with.
FEWEST_DIVIDED, COARSE_BELOW, MOST_ROOTS = 256, 4, 64


def insert_in_buckets(forest: Forest, rows: Sequence[int]) -> None:
    """Put `rows` in, bucket by bucket.

    Parameters
    ----------
    forest : Forest
        Of the balanced rule.
    rows : sequence of int
        In the order in which they go in.

    Examples
    --------
    >>> import numpy as np
    >>> from mixwood.likelihoods import Gaussian
    >>> from mixwood.model import Mixture
    >>> from mixwood.reference.priors import Parameters
    >>> X = np.array([[0.0], [9.0], [0.1], [9.1]])
    >>> model = Mixture(Gaussian(scale="data").resolve(X))
    >>> forest = Forest(model, X, Parameters(1.0, 0.0, 0.3, 0.0))
    >>> insert_in_buckets(forest, range(4))
    >>> [tree.rows for tree in forest.trees]
    [(0, 2), (1, 3)]
    """
    if len(rows) < FEWEST_DIVIDED:
        return forest.insert(rows)
    buckets = _buckets(forest, rows)
    # Rows that cannot be told apart are all in one bucket, again and again.
    if 10 * len(buckets[0]) > 9 * len(rows):
        return forest.insert(rows)
    pieces: list[Tree] = []
    for bucket in buckets:
        part = forest.part()
        insert_in_buckets(part, bucket)
        pieces += part.trees
    for piece in sorted(pieces, key=lambda tree: -len(tree.rows)):
        forest.insert_item(piece)
    return None


def _buckets(forest: Forest, rows: Sequence[int]) -> list[list[int]]:
    """Return which rows go together, the most first."""
    coarse = forest.part()
    coarse.insert(rows[: min(len(rows) // 4, isqrt(256 * len(rows)))])
    coarse.join_lightest(MOST_ROOTS)
    reached: dict[int, list[int]] = {}
    order = _breadth_first(coarse.trees)
    for row in rows:
        leaf = forest.leaf(row)
        node = _best(forest, coarse.trees, leaf)
        while _is_divided(node):
            left, right = node.children
            if node.log_d > 0:
                node = _best(forest, (left, right), leaf)
            else:  # one cluster: to where the row is the more typical
                gain = _predictive(forest, left, leaf) - _predictive(forest, right, leaf)
                node = left if gain >= _typical(forest, left) - _typical(forest, right) else right
        reached.setdefault(order[id(node)], []).append(row)
    return sorted((reached[k] for k in sorted(reached)), key=lambda bucket: -len(bucket))


def _is_divided(node: Tree) -> bool:
    return bool(node.children) and len(node.rows) > COARSE_BELOW


def _breadth_first(trees: Sequence[Tree]) -> dict[int, int]:
    """Return the number of each node down to the buckets."""
    nodes = list(trees)
    for node in nodes:  # which grows on the way
        if _is_divided(node):
            nodes += node.children
    return {id(node): k for k, node in enumerate(nodes)}


def _predictive(forest: Forest, node: Tree, leaf: Tree) -> float:
    both = forest.family.merge(node.stat, leaf.stat)
    return forest.family.log_marginal(both) - node.log_marginal


def _typical(forest: Forest, node: Tree) -> float:
    """Return what the node's own rows have on average, against their ``log P(x)``."""
    return float((node.log_marginal - forest.log_alone[list(node.rows)].sum()) / len(node.rows))


def _best(forest: Forest, nodes: Sequence[Tree], leaf: Tree) -> Tree:
    """Return the node of the highest size times predictive; the first wins ties."""
    best, highest = nodes[0], -inf
    for node in nodes:
        weight = log(len(node.rows)) + _predictive(forest, node, leaf)
        if weight > highest:
            best, highest = node, weight
    return best
