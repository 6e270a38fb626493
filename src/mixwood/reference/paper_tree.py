"""Tree-guided MCMC as published, in plain Python, to be read alongside the paper's section 3.

The state is a partition with one binary tree per cluster. The sampler is biased: its acceptance
ratio is one of partitions, but its proposals depend on trees that the reverse move does not
rebuild.

Where the paper is loose: a merge sums over which of its clusters was picked; the merged tree is a
cascade in the order of the list, the first two at the bottom; the reverse of a merge draws that
bottom node and lets every other piece be a cluster of its own; a split draws inner nodes only, and
a cluster of one row that would be split stays as it is; insertions never cut a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.model import Mixture
from mixwood.reference.gibbs import GibbsChain
from mixwood.reference.hierarchical_clustering import Forest, Tree
from mixwood.reference.priors import softplus

__all__ = [
    "PaperTreeChain",
    "SeqInsert",
    "log_collect",
    "log_gather",
    "sample_sub",
    "stoc_insert",
]

#: Dissimilarities nearer than this are equal: the last bit must not decide where an item goes.
TIE = 1e-9


def _normalized(log_weights: Any) -> FloatArray:
    """Return the logs of weights that sum to 1."""
    return np.asarray(log_weights - np.logaddexp.reduce(log_weights), dtype=np.float64)


def sample_sub(tree: Tree, inner: bool = False) -> tuple[list[Tree], FloatArray]:
    """Return the subtrees that SampleSub may draw, level by level, and their log probabilities.

    They are proportional to ``d + epsilon``, epsilon being the largest ``d``; a leaf has
    ``d = 0``. With `inner`, as in a split, leaves are left out.
    """
    nodes = [tree]
    for node in nodes:  # which grows on the way
        nodes += node.children
    if not tree.children:
        return nodes, np.zeros(1)
    if inner:
        nodes = [node for node in nodes if node.children]
    epsilon = max(node.log_d for node in nodes)
    return nodes, _normalized([np.logaddexp(node.log_d, epsilon) for node in nodes])


def stoc_insert(log_d: Sequence[float]) -> FloatArray:
    """Return the log probabilities of StocInsert: into each tree of ``S``, then a new one.

    Parameters
    ----------
    log_d : sequence of float
        The item's dissimilarity to each tree of ``S``.

    Examples
    --------
    >>> np.exp(stoc_insert([log(0.5), log(1.0)])).round(12)
    array([0.5 , 0.25, 0.25])
    """
    return _normalized(-np.append(np.asarray(log_d, dtype=np.float64), 0.0))


def log_collect(log_d: Sequence[float], collected: Sequence[bool]) -> float:
    """Return the log probability that just these clusters come into ``M``.

    Each does with probability ``1 / (1 + d)``, `log_d` being the dissimilarities to the cluster
    that was picked.

    Examples
    --------
    >>> float(np.exp(log_collect([log(3.0), log(1.0)], [True, False])).round(12))
    0.125
    """
    return -sum(softplus(d if into else -d) for d, into in zip(log_d, collected, strict=True))


def log_gather(log_d: FloatArray, members: Sequence[int]) -> float:
    """Return the log probability to propose that the `members` of a partition be merged.

    Any of them is picked, uniformly among all clusters, and collects just the others.

    Parameters
    ----------
    log_d : array of shape (len(members), K)
        Dissimilarities of the members to all K clusters; those to themselves are not used.
    members : sequence of int
        Which clusters are to be merged.
    """
    K = log_d.shape[1]
    ways = []
    for picked, row in zip(members, log_d, strict=True):
        others = [c for c in range(K) if c != picked]
        ways.append(log_collect([row[c] for c in others], [c in members for c in others]))
    return float(np.logaddexp.reduce(ways)) - log(K)


class SeqInsert(Forest):
    """Trees into which items go by the published rule and which are never cut."""

    def __call__(self, tree: Tree, item: Tree) -> Tree:
        """Return `tree` with `item` in it: on top, or in the left or the right child."""
        side = self._side(tree, item)
        if side is None:
            return self.join(tree, item)
        left, right = tree.children
        return (
            self.join(self(left, item), right) if side == 0 else self.join(left, self(right, item))
        )

    def choose(self, options: Sequence[Tree], values: Sequence[float]) -> int:  # noqa: ARG002
        """Return the first of the smallest `values`."""
        best = min(values)
        return next(k for k, value in enumerate(values) if value <= best + TIE * (1 + abs(best)))

    def log_d(self, a: Tree, b: Tree) -> float:
        """Return the log dissimilarity of two trees."""
        return self.join(a, b).log_d

    def without(self, tree: Tree, row: int) -> Tree:
        """Return `tree`, which has other rows too, without the leaf of `row`."""
        left, right = tree.children
        if row in left.rows:
            return self.join(self.without(left, row), right) if left.children else right
        return self.join(left, self.without(right, row)) if right.children else left

    def again(self, tree: Tree) -> Tree:
        """Return the same tree with potentials at the current parameters."""
        if not tree.children:
            return self.leaf(tree.rows[0])
        left, right = tree.children
        return self.join(self.again(left), self.again(right))


class PaperTreeChain(GibbsChain):
    """A chain of partitions with their trees.

    Parameters
    ----------
    model, X, labels, rng
        As of `GibbsChain`. The first trees are grown by SeqInsert, row by row.
    global_moves : int
        Splits or merges proposed in an iteration.
    depth : int
        How often the local move draws a subtree of a subtree.
    local_moves : bool
        Whether there are local moves at all.

    Attributes
    ----------
    log_ratios : dict
        The logs of all acceptance ratios of ``"split"`` and ``"merge"``.
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        global_moves: int = 20,
        depth: int = 2,
        local_moves: bool = True,
    ) -> None:
        super().__init__(model, X, labels, rng)
        self.global_moves, self.depth, self.local_moves = global_moves, depth, local_moves
        self.log_ratios: dict[str, list[float]] = {"split": [], "merge": []}
        self.seq_insert = SeqInsert(model, X, self.parameters, "paper", self.family)
        self._grow()

    def _grow(self) -> None:
        """Grow a tree for each cluster."""
        self.trees: list[Tree] = []
        for c in range(len(self.sizes)):
            first, *others = (
                self.seq_insert.leaf(int(i)) for i in np.flatnonzero(self.assignment == c)
            )
            tree = first
            for leaf in others:
                tree = self.seq_insert(tree, leaf)
            self.trees.append(tree)

    def set_state(
        self, labels: Any, log_u: float, log_alpha: float, sigma: float, theta: float
    ) -> None:
        """Put the chain into a given state."""
        super().set_state(labels, log_u, log_alpha, sigma, theta)
        self._grow()

    def set_base(self, base: FloatArray) -> None:
        """Put the base measure where it should be; the trees stay, with other potentials."""
        super().set_base(base)
        self.trees = [self.seq_insert.again(tree) for tree in self.trees]

    def iterate(self, iterations: int = 1) -> None:
        """Make the global moves, one local sweep, and move the parameters."""
        for _ in range(iterations):
            for _ in range(self.global_moves):
                self.global_move()
            if self.local_moves:
                self.local_move()
            self._update_parameters()
            self.trees = [self.seq_insert.again(tree) for tree in self.trees]

    # --- global moves

    def global_move(self) -> None:
        """Pick a tree, collect M, and propose to split the tree or to merge it with M."""
        picked = int(self.stream.uniform() * len(self.trees))
        log_d = self._log_d_to_others(self.trees[picked], [picked])
        others = [k for k in range(len(self.trees)) if k != picked]
        M = [
            k
            for k, d in zip(others, log_d, strict=True)
            if self.stream.uniform() < 1 / (1 + np.exp(d))
        ]
        if M:
            self._merge(sorted([picked, *M]))
        elif self.trees[picked].children:
            self._split(picked)

    def _log_d_to_others(self, tree: Tree, without: Sequence[int]) -> list[float]:
        others = [other for k, other in enumerate(self.trees) if k not in without]
        return [self.seq_insert.log_d(tree, other) for other in others]

    def _log_gather(self, trees: Sequence[Tree], members: Sequence[int]) -> float:
        log_d = [[self.seq_insert.log_d(trees[k], other) for other in trees] for k in members]
        return log_gather(np.array(log_d), members)

    def _log_cut(self, tree: Tree, node: Tree, without: Sequence[int], K: int) -> float:
        """Return the log probability to pick `tree` of K, collect nothing and draw `node` in it."""
        log_d = self._log_d_to_others(tree, without)
        nodes, log_probabilities = sample_sub(tree, inner=True)
        log_none = log_collect(log_d, [False] * len(log_d))
        return log_none - log(K) + float(log_probabilities[nodes.index(node)])

    def _split(self, picked: int) -> None:
        tree, K = self.trees[picked], len(self.trees)
        nodes, log_probabilities = sample_sub(tree, inner=True)
        star = nodes[self.stream.pick(log_probabilities)]
        log_forward = self._log_cut(tree, star, [picked], K)
        S = list(star.children)
        for item in _beside_the_way(tree, star):
            law = stoc_insert([self.seq_insert.log_d(other, item) for other in S])
            choice = self.stream.pick(law)
            log_forward += float(law[choice])
            if choice == len(S):
                S.append(item)
            else:
                S[choice] = self.seq_insert(S[choice], item)
        proposal = [*self.trees[:picked], S[0], *self.trees[picked + 1 :], *S[1:]]
        log_reverse = self._log_gather(proposal, [picked, *range(K, len(proposal))])
        log_joints = sum(cluster.log_one for cluster in S) - tree.log_one
        self._accept("split", log_joints + log_reverse - log_forward, proposal)

    def _merge(self, members: Sequence[int]) -> None:
        pieces, K = [self.trees[k] for k in members], len(self.trees) - len(members) + 1
        bottom = merged = self.seq_insert.join(*pieces[:2])
        for piece in pieces[2:]:
            merged = self.seq_insert.join(merged, piece)
        log_forward = self._log_gather(self.trees, members)
        log_reverse = self._log_cut(merged, bottom, members, K)
        for i, piece in enumerate(pieces[2:], start=2):
            law = stoc_insert([self.seq_insert.log_d(other, piece) for other in pieces[:i]])
            log_reverse += float(law[-1])
        log_joints = merged.log_one - sum(piece.log_one for piece in pieces)
        proposal = list(self.trees)
        proposal[members[0]] = merged
        for k in reversed(members[1:]):  # the last of the list takes the place of what goes
            proposal[k] = proposal[-1]
            proposal.pop()
        self._accept("merge", log_joints + log_reverse - log_forward, proposal)

    def _accept(self, move: str, log_ratio: float, proposal: list[Tree]) -> None:
        self.log_ratios[move].append(log_ratio)
        if log(self.stream.positive_uniform()) >= log_ratio:
            return
        self.trees = proposal
        self.sizes = [len(tree.rows) for tree in proposal]
        self.stats = [tree.stat for tree in proposal]
        for c, tree in enumerate(proposal):
            self.assignment[list(tree.rows)] = c

    # --- local moves

    def local_move(self) -> None:
        """Draw a subtree of a subtree ... in each tree, then visit the rows of all of these."""
        rows: list[int] = []
        for tree in self.trees:
            for _ in range(self.depth):
                if tree.children:
                    nodes, log_probabilities = sample_sub(tree)
                    tree = nodes[self.stream.pick(log_probabilities)]
            rows += tree.rows
        for row in sorted(rows):
            self._visit(row)

    def _visit(self, i: int) -> None:
        """Visit row `i` as Gibbs does; if it moves, its leaf does."""
        old, before = int(self.assignment[i]), len(self.trees)
        super()._visit(i)
        new, leaf = int(self.assignment[i]), self.seq_insert.leaf(i)
        if len(self.trees) == before:  # else it was alone, and `_remove` took its tree
            if new == old:
                return
            self.trees[old] = self.seq_insert.without(self.trees[old], i)
        if new == len(self.trees):
            self.trees.append(leaf)
        else:
            self.trees[new] = self.seq_insert(self.trees[new], leaf)

    def _remove(self, c: int) -> None:
        super()._remove(c)
        self.trees[c] = self.trees[-1]
        self.trees.pop()


def _beside_the_way(tree: Tree, node: Tree) -> list[Tree]:
    """Return what hangs beside the way from `node` up to the root of `tree`, in this order."""
    if tree is node:
        return []
    left, right = tree.children
    if node.rows[0] in left.rows:
        return [*_beside_the_way(left, node), right]
    return [*_beside_the_way(right, node), left]
