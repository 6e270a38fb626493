"""Bayesian hierarchical clustering in plain Python, to be read alongside model.md ("Trees").

Trees are immutable: putting an item into one makes new nodes along the path to its root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, lgamma, sqrt
from typing import Any

import numpy as np

from mixwood._support.types import Data
from mixwood.model import Mixture
from mixwood.reference.families import Family, dense, family_of
from mixwood.reference.priors import Parameters, log_kappa, log_nonempty, psi

__all__ = ["Forest", "Tree"]

#: How often one inserted row may have a tree cut; and, by the balanced rule, all rows on average.
MOST_CUTS, CUTS_PER_ITEM = 16, 0.25


@dataclass(frozen=True, eq=False)
class Tree:
    """A node and everything below it.

    Attributes
    ----------
    rows : tuple of int
        Its leaves, from left to right.
    children : tuple of Tree
        Left and right, or nothing.
    log_marginal : float
        ``log P(X_c)``, every constant included.
    log_one : float
        ``log phi(h_c)``: all in one cluster.
    log_tree : float
        ``log phi(t_c)``.
    log_d : float
        Dissimilarity of the children, ``-inf`` for a leaf: ``P(h | X, t) = 1/(1 + d)``.
    """

    rows: tuple[int, ...]
    children: tuple[Tree, ...]
    stat: Any = field(repr=False)
    log_marginal: float
    log_one: float
    log_tree: float
    log_d: float

    def nodes(self) -> list[Tree]:
        """Return this node and all below, children before their parents."""
        return [node for child in self.children for node in child.nodes()] + [self]


class Forest:
    """The trees that bhc and ibhc build, as a list.

    Parameters
    ----------
    model : Mixture
        With every parameter of its likelihood explicit.
    X : array or csr_array
        Checked data.
    parameters : Parameters
        ``u``, ``alpha``, ``sigma`` and ``theta``, which stay as they are.
    rule : {"balanced", "paper"}
        How an item finds its place in a tree, and which trees are the nearest to be joined.
    family : Family, optional
        With the base measure of the potentials, if that is learned; else it is at its start.

    Examples
    --------
    >>> from mixwood.likelihoods import Gaussian
    >>> X = np.array([[0.0], [9.0], [0.1], [9.1]])
    >>> model = Mixture(Gaussian(scale="data").resolve(X))
    >>> forest = Forest(model, X, Parameters(1.0, 0.0, 0.3, 0.0))
    >>> forest.insert(range(4))
    >>> [tree.rows for tree in forest.trees]
    [(0, 2), (1, 3)]
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        parameters: Parameters,
        rule: str = "balanced",
        family: Family[Any] | None = None,
    ) -> None:
        self.model, self.X, self.parameters, self.rule = model, dense(X), parameters, rule
        self.family = family_of(model.likelihood) if family is None else family
        self.trees: list[Tree] = []
        self.cuts_left: float = MOST_CUTS
        rows = range(len(self.X))
        self.log_alone = np.array([self.leaf(row).log_marginal for row in rows])
        # A document weighs as much as it has words.
        totals = model.likelihood.has_row_totals
        self.weights = np.maximum(self.X.sum(axis=1), 1) if totals else np.ones(len(rows))

    # --- potentials

    def _log_one(self, size: int, log_marginal: float) -> float:
        """Return ``log phi(h) = log kappa(size, u) + log P(X)``."""
        p = self.parameters
        return log_kappa(self.model.prior, size, p.log_u, p.log_alpha, p.sigma) + log_marginal

    def leaf(self, row: int) -> Tree:
        """Return the tree of one row, ``phi(t) = phi(h)``."""
        stat = self.family.of([self.X[row]])
        log_marginal = self.family.log_marginal(stat)
        log_one = self._log_one(1, log_marginal)
        return Tree((row,), (), stat, log_marginal, log_one, log_one, -inf)

    def join(self, left: Tree, right: Tree) -> Tree:
        """Return the tree with these children.

        ``phi(t) = phi(h) + phi(t_l) phi(t_r)`` and ``d = phi(t_l) phi(t_r) / phi(h)``.
        """
        rows, stat = left.rows + right.rows, self.family.merge(left.stat, right.stat)
        log_marginal = self.family.log_marginal(stat)
        log_one = self._log_one(len(rows), log_marginal)
        log_many = left.log_tree + right.log_tree
        log_tree = float(np.logaddexp(log_one, log_many))
        return Tree(rows, (left, right), stat, log_marginal, log_one, log_tree, log_many - log_one)

    # --- greedy agglomeration

    def agglomerate(self, rows: Iterable[int]) -> None:
        """Add BHC's trees over `rows`: join the two nearest while ``d <= 1``."""
        self.trees += self._merge_nearest([self.leaf(row) for row in rows], self._distance)

    def _distance(self, pair: Tree) -> float:
        """Return ``log d``, by the balanced rule over the geometric mean of the two sizes."""
        left, right = (len(child.rows) for child in pair.children)
        return pair.log_d / (sqrt(left * right) if self.rule == "balanced" else 1.0)

    def _merge_nearest(
        self, trees: Sequence[Tree], distance: Callable[[Tree], float], largest: float = 0.0
    ) -> list[Tree]:
        trees = list(trees)
        while len(trees) > 1:
            pairs = [self.join(*pair) for pair in combinations(trees, 2)]
            distances = [distance(pair) for pair in pairs]
            if min(distances) > largest:
                break
            nearest = pairs[self.choose(pairs, distances)]
            trees = [tree for tree in trees if tree not in nearest.children] + [nearest]
        return trees

    def choose(self, options: Sequence[Tree], values: Sequence[float]) -> int:  # noqa: ARG002
        """Return which of `options` has the smallest of the `values`; the first wins ties."""
        return values.index(min(values))

    # --- incremental construction

    def insert(self, rows: Iterable[int]) -> None:
        """Put `rows` in, one after the other, by the three steps of IBHC.

        It ends: after so many cuts what still waits goes on top of its nearest tree. That
        leaves every node the d it had, and the new root has the ``d <= 1`` of that tree.
        By the balanced rule all rows may cause a quarter as many cuts as they are, each of them
        at least one.
        """
        for row in rows:
            self.insert_item(self.leaf(row))

    def insert_item(self, item: Tree) -> None:
        """Put one item in, a row or a tree of its own."""
        waiting, cuts, most = [item], 0, MOST_CUTS
        if self.rule == "balanced":
            self.cuts_left += CUTS_PER_ITEM
            most = min(max(int(self.cuts_left), 1), MOST_CUTS)
        for piece in waiting:  # which grows on the way
            if cuts == most:
                self._put_on_top(piece)
            else:
                pieces = self._put(piece, is_last=cuts + 1 == most)
                waiting += pieces
                cuts += bool(pieces)
        self.cuts_left -= cuts

    def on_top(self, rows: Iterable[int]) -> None:
        """Put each of `rows` on top of its nearest tree if ``d <= 1``, else beside them."""
        for row in rows:
            self._put_on_top(self.leaf(row))

    def _put_on_top(self, item: Tree) -> None:
        nearest = self._nearest(item)
        if nearest is None:
            self.trees.append(item)
        else:
            self.trees[nearest] = self.join(self.trees[nearest], item)

    def _nearest(self, item: Tree) -> int | None:
        """Step 1: return which tree is the nearest, or None if all have ``d > 1``."""
        joined = [self.join(tree, item) for tree in self.trees]
        if not joined:
            return None
        nearest = self.choose(joined, [tree.log_d for tree in joined])
        return nearest if joined[nearest].log_d <= 0 else None

    def _side(self, node: Tree, item: Tree) -> int | None:
        """Step 2: return into which child `item` goes, or None for the top of `node`."""
        if not node.children:
            return None
        # A piece as large as what it goes into belongs beside it.
        if self.rule == "balanced" and len(node.rows) <= len(item.rows):
            return None
        joined = [self.join(child, item) for child in node.children]
        if self.rule == "balanced" and node.log_d <= 0:
            fits = [
                self._fit(child, item, both)
                for child, both in zip(node.children, joined, strict=True)
            ]
            return self.choose(joined, [-fit for fit in fits])
        options = [node, *joined]
        return [None, 0, 1][self.choose(options, [option.log_d for option in options])]

    def _fit(self, node: Tree, item: Tree, both: Tree) -> float:
        """Return the item's log predictive, against what the node's own rows have on average.

        The predictive alone favours the larger child, whose parameters are better known. Both
        are taken against ``log P(x)`` and by weight; the item's own ``log P(x)`` is left out,
        the same for both children.
        """
        gain = node.log_marginal - self.log_alone[list(node.rows)].sum()
        weight, own = (self.weights[list(tree.rows)].sum() for tree in (item, node))
        return float((both.log_marginal - node.log_marginal) / weight - gain / own)

    def _put(self, item: Tree, is_last: bool) -> list[Tree]:
        """Put one item in; return the pieces that step 3 cut out, to be put in again."""
        nearest = self._nearest(item)
        if nearest is None:
            self.trees.append(item)
            return []
        node, path = self.trees[nearest], []
        while (side := self._side(node, item)) is not None:
            path.append((node.children[1 - side], side))
            node = node.children[side]
        # The new nodes, from the one above `item` to the root.
        new = [self.join(node, item)]
        for sibling, side in reversed(path):
            new.append(self.join(new[-1], sibling) if side == 0 else self.join(sibling, new[-1]))
        wrong = next((k for k, node in enumerate(new) if node.log_d > 0), None)
        if wrong is None:
            self.trees[nearest] = new[-1]
            return []
        # Step 3: cut at the deepest node with d > 1. Large pieces go first: a small one that
        # finds no tree yet would stay alone.
        self._remove(nearest)
        beside = [sibling for sibling, _ in reversed(path)][wrong:]
        if is_last:
            beside = self._joined(beside[::-1])
        return sorted([*new[wrong].children, *beside], key=lambda piece: -len(piece.rows))

    def _joined(self, trees: Sequence[Tree]) -> list[Tree]:
        """Join each to those before it while ``d <= 1``; else the smaller stays alone."""
        joined: list[Tree] = []  # the one that grows comes last
        for tree in trees:
            if joined and (joint := self.join(joined[-1], tree)).log_d <= 0:
                joined[-1] = joint
            elif joined and len(tree.rows) <= len(joined[-1].rows):
                joined.insert(-1, tree)
            else:
                joined.append(tree)
        return joined

    def join_trees(self) -> None:
        """Join the trees of smallest ``d`` while that is at most 1."""
        self.trees = self._merge_nearest(self.trees, lambda pair: pair.log_d)

    # --- parts, see buckets.py

    def part(self) -> Forest:
        """Return an empty forest for some of the same rows."""
        other = copy(self)
        other.trees, other.cuts_left = [], MOST_CUTS
        return other

    def join_lightest(self, most: int) -> None:
        """Join the lightest trees to their nearest, until at most this many are left."""
        while len(self.trees) > most:
            for tree in sorted(self.trees, key=lambda tree: len(tree.rows)):
                if len(self.trees) > most and tree in self.trees:
                    self._remove(self.trees.index(tree))
                    joined = [self.join(other, tree) for other in self.trees]
                    nearest = self.choose(joined, [both.log_d for both in joined])
                    self.trees[nearest] = joined[nearest]

    def _remove(self, number: int) -> None:
        self.trees[number] = self.trees[-1]
        self.trees.pop()

    # --- the whole

    def joined(self) -> Tree:
        """Return one tree over everything: the two nearest are joined, whatever their ``d``."""
        return self._merge_nearest(self.trees, lambda pair: pair.log_d, largest=inf)[0]

    def log_evidence_bound(self, tree: Tree) -> float:
        """Return the log of ``u^(n-1) e^-psi(u) / Gamma(n) phi(t)``, at most ``log p(X, u)``."""
        p, n = self.parameters, len(tree.rows)
        constant = (n - 1) * p.log_u - psi(self.model.prior, p.log_u, p.log_alpha, p.sigma)
        constant -= log_nonempty(self.model.prior, p.log_alpha)
        return constant - lgamma(n) + tree.log_tree
