"""The exact tree-guided sampler in plain Python, to be read alongside docs/theory/tree_sampler.md.

The guide tree is given; nothing here builds one. Whatever decides which node, which items and in
which order takes the tree and a set of rows, never the partition: that is what makes it exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import exp, inf, log
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.model import Mixture
from mixwood.reference import multiway_redraw, split_merge
from mixwood.reference.blocks import BlockChain
from mixwood.reference.fitted_split_merge import FittedClusters, few_first
from mixwood.reference.growing_blocks import GrowingBlocks
from mixwood.reference.multiway_redraw import ManyBlocks
from mixwood.reference.random import Stream

__all__ = ["GuideTree", "NodeLaws", "TreeChain", "TwoSides", "log_detachments", "node_laws"]

#: what an allocation may do with a node: side 0, side 1, or this
OPEN = 2
#: no probability to open a node, and none of a side, is nearer to 0 or 1
SMALLEST_OPEN, SMALLEST_SIDE = 1e-3, 1e-9
#: how many of the nodes of fitted moves are drawn by sizes
SHARE_BY_SIZE = 0.25
#: how much doubt there must be whether parts of clusters are clusters, for moves to look at it
LEAST_DOUBT = 1e-3

#: takes a node and the probabilities of side 0, side 1 and OPEN; returns one of these
Choose: TypeAlias = Callable[[int, Sequence[float]], int]


class GuideTree:
    """One binary tree over all rows, its nodes numbered depth first: 0 is the root.

    Parameters
    ----------
    arrays : mapping
        What the compiled chain's ``guide()`` returns. Used are ``leaves`` (how many there
        are below each node), ``first`` and ``size`` (which places of ``rows`` are below it),
        ``rows``, ``log_dissimilarity`` and ``log_detachment`` (see `log_detachments`).
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.leaves: list[int] = np.asarray(arrays["leaves"]).tolist()
        self.log_d: list[float] = np.asarray(arrays["log_dissimilarity"]).tolist()
        self.log_e: list[float] = np.asarray(arrays["log_detachment"]).tolist()
        rows = np.asarray(arrays["rows"]).tolist()
        spans = zip(arrays["first"], arrays["size"], strict=True)
        self.rows = [tuple(rows[first : first + size]) for first, size in spans]
        self.below = [frozenset(rows) for rows in self.rows]

    def is_leaf(self, v: int) -> bool:
        """Return whether `v` has no children; it may still be of several rows."""
        return self.leaves[v] == 1

    def children(self, v: int) -> tuple[int, int]:
        """Return the left and the right child of an inner node."""
        return v + 1, v + 2 * self.leaves[v + 1]

    def chance_to_open(self, v: int) -> float:
        """Return ``d/(1+d)``, kept off 0 and 1; no leaf is opened."""
        if self.is_leaf(v):
            return 0.0
        d = exp(min(self.log_d[v], 700.0))
        return min(max(d / (1 + d), SMALLEST_OPEN), 1 - SMALLEST_OPEN)

    def smaller_halves_above(self, row: int) -> list[int]:
        """Return the nodes above a row in whose smaller half it is (or one of two equal ones)."""
        v = 0
        found: list[int] = []
        while not self.is_leaf(v):
            left, right = self.children(v)
            own, other = (left, right) if row in self.below[left] else (right, left)
            if self.leaves[own] <= self.leaves[other]:
                found.insert(0, v)
            v = own
        return found

    def highest_within(self, rows: Collection[int]) -> list[int]:
        """Return the highest nodes that have none but these `rows`; large ones first."""
        rows, found, waiting = frozenset(rows), [], [0]
        for v in waiting:  # which grows on the way
            if self.below[v] <= rows:
                found.append(v)
            elif not self.is_leaf(v):
                waiting += self.children(v)
        return sorted(found, key=lambda v: (-len(self.rows[v]), v))


class NodeLaws(NamedTuple):
    """The weights by which nodes are drawn.

    Attributes
    ----------
    blocks
        For subtree Gibbs.
    splits
        For anchored split-merge.
    pairs
        By the tree's doubts alone: for redraws, and most nodes of fitted split-merge.
    """

    blocks: FloatArray
    splits: FloatArray
    pairs: FloatArray


def log_detachments(tree: GuideTree, log_phi: Callable[[Collection[int]], float]) -> list[float]:
    """Return how likely each node is a cluster beside the one that the tree takes it for.

    With ``c`` the highest node above ``v`` of which the tree judges that it is one cluster, log d
    below 0, that is ``log phi(v) + log phi(c - v) - log phi(c)``. It is minus infinity where there
    is no ``c``, where ``v`` is more than half of it, and for leaves, which the scan moves.

    Parameters
    ----------
    tree : GuideTree
    log_phi : callable
        Takes rows, and returns their ``log phi`` at the reference values.
    """
    found = [-inf] * len(tree.leaves)
    waiting = [0]
    for c in waiting:  # which grows on the way
        if not tree.is_leaf(c) and tree.log_d[c] >= 0:
            waiting += tree.children(c)
            continue
        whole = tree.below[c]
        for v in range(c + 1, c + 2 * tree.leaves[c] - 1):
            part = tree.below[v]
            if not tree.is_leaf(v) and 2 * len(part) <= len(whole):
                found[v] = log_phi(part) + log_phi(whole - part) - log_phi(whole)
    return found


def node_laws(tree: GuideTree) -> NodeLaws:
    """Return the weights by which nodes are drawn.

    Going down from the root, the tree is cut at ``v`` with probability ``s(v)``, the softened
    ``1/(1+d)``. A block is a likely piece, a pair a doubtful one; a floor lets all be drawn. Half
    of the blocks, and half of the pairs that anchored moves split or merge, are drawn by how much
    it is in doubt whether an inner node is a cluster beside the one that the tree takes it for:
    it, and its parent.
    """
    nodes = range(len(tree.leaves))
    reach, blocks, pairs = np.ones(len(nodes)), np.zeros(len(nodes)), np.zeros(len(nodes))
    detached, above = np.zeros(len(nodes)), np.zeros(len(nodes))
    inner = np.array([not tree.is_leaf(v) for v in nodes])
    for v in nodes:
        other = 1 / (2 + abs(tree.log_d[v]))  # 1/(1 + d) if d is above 1, else its complement
        one = 1.0 if not inner[v] else 1 - other if tree.log_d[v] < 0 else other
        blocks[v] = reach[v] * one
        pairs[v] = reach[v] * one * (1 - one)
        if inner[v]:
            children = list(tree.children(v))
            reach[children] = reach[v] * (1 - one)
            detached[children] = [_doubt(tree.log_e[w]) for w in children]
            above[v] = detached[children].sum()
    blocks += 0.1 * blocks.sum() / len(nodes)
    pairs += np.where(inner, 0.1 * pairs.sum() / len(nodes), 0.0)
    return NodeLaws(_half_and_half(blocks, detached), _half_and_half(pairs, above), pairs)


def _doubt(log_odds: float) -> float:
    """Return ``p (1 - p)`` of the probability with these log odds."""
    odds = exp(-abs(log_odds))
    return odds / (1 + odds) ** 2


def _half_and_half(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return a mixture of two laws: the first alone if the second has hardly any weight."""
    if not second.sum() > LEAST_DOUBT:
        return first
    mixture: FloatArray = first / first.sum() + second / second.sum()
    return mixture


class TwoSides(GrowingBlocks):
    """Two blocks that grow around the two children of a node."""

    def grow_around(self, v: int, items: Sequence[int], choose: Choose) -> None:
        """Start a side from each child of `v`, and send the items to the sides in turn."""
        for side, child in enumerate(self.tree.children(v)):
            self.join(child, side)
        for item in items:
            self.allocate(item, None, choose)

    def allocate(self, w: int, forbidden: int | None, choose: Choose) -> int | None:
        """Send `w` to a side, or open it and send its children; return the side, if it is one.

        An opened node must come out mixed: if its first child is on one side, the second may not
        go there as a whole. So each division of the rows has one way that leads to it.
        """
        chances = self.chances(w, forbidden)
        choice = choose(w, chances)
        self.log_q += log(chances[choice])
        if choice == OPEN:
            left, right = self.tree.children(w)
            self.allocate(right, self.allocate(left, None, choose), choose)
            return None
        self.join(w, choice)
        return choice

    def chances(self, w: int, forbidden: int | None) -> list[float]:
        """Return the probabilities of side 0, side 1 and OPEN."""
        opens = self.tree.chance_to_open(w)
        side = 1 / (1 + exp(min(self.log_weight(w, 1) - self.log_weight(w, 0), 700.0)))
        side = min(max(side, SMALLEST_SIDE), 1 - SMALLEST_SIDE)
        chances = [(1 - opens) * side, (1 - opens) * (1 - side), opens]
        if forbidden is None:
            return chances
        chances[forbidden] = 0.0
        return [chance / sum(chances) for chance in chances]


def drawn(stream: Stream) -> Choose:
    """Return choices by their probabilities."""

    def choose(_: int, chances: Sequence[float]) -> int:
        at = stream.uniform()
        if at < chances[0]:
            return 0
        if at < chances[0] + chances[1] or chances[OPEN] == 0:
            return 1 if chances[1] > 0 else 0
        return OPEN

    return choose


class TreeChain(BlockChain):
    """A chain that moves blocks of a guide tree.

    Parameters
    ----------
    model, X, labels, rng
        As for `GibbsChain`; `labels` keep each leaf of the tree whole.
    guide : mapping
        The guide tree, as `GuideTree` takes it.
    subtree_moves, split_moves, leaf_moves, fitted_moves, redraw_moves : int
        How many of each an iteration makes.
    known : array of n integers, optional
        Known labels, as for `BlockChain`; leaves of the tree have the rows of a label together.
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        *,
        guide: Mapping[str, Any],
        subtree_moves: int,
        split_moves: int,
        leaf_moves: int,
        fitted_moves: int = 0,
        redraw_moves: int = 0,
        known: Any = None,
    ) -> None:
        super().__init__(model, X, labels, rng, known=known)
        self.subtree_moves, self.split_moves = subtree_moves, split_moves
        self.leaf_moves, self.fitted_moves = leaf_moves, fitted_moves
        self.redraw_moves = redraw_moves
        self.set_guide(GuideTree(guide))

    def set_guide(self, tree: GuideTree) -> None:
        """Continue with another tree."""
        self.tree = tree
        leaves = [v for v in range(len(tree.leaves)) if tree.is_leaf(v)]
        self.leaves = sorted(leaves, key=lambda leaf: min(tree.rows[leaf]))
        self.place = float(len(self.leaves))  # at the end: the next round begins
        self.block_law, self.split_law, self.pair_law = map(np.cumsum, node_laws(tree))

    def iterate(self, iterations: int = 1) -> None:
        """Move blocks, split and merge, scan leaves, then move the parameters."""
        for _ in range(iterations):
            for _ in range(self.subtree_moves):
                self.move_block(self._draw(self.block_law))
            for _ in range(self.split_moves if self.pair_law[-1] > 0 else 0):
                self.split_or_merge(self.draw_split())
            for _ in range(self.fitted_moves if self.pair_law[-1] > 0 else 0):
                self.split_or_merge_fitted(self.draw_anchored())
            for _ in range(self.redraw_moves if self.pair_law[-1] > 0 else 0):
                self.divide_anew(self.draw_pair())
            for leaf in [self.next_leaf() for _ in range(self.leaf_moves)]:
                self.move_block(leaf)
            self._update_parameters()

    # --- which node: nothing here may look at the partition

    def draw_split(self) -> int:
        """Draw the node whose children are the anchors of a split or merge."""
        return self._draw(self.split_law)

    def draw_pair(self) -> int:
        """Draw a node by the tree's doubts alone."""
        return self._draw(self.pair_law)

    def draw_anchored(self) -> int:
        """Draw the node below whose children the anchors of a fitted split or merge are.

        One law knows what the tree doubts, the other sizes alone: of a row drawn uniformly, one of
        the nodes above it in whose smaller half it is.
        """
        if self.stream.uniform() >= SHARE_BY_SIZE:
            return self.draw_pair()
        halves = self.tree.smaller_halves_above(self.stream.below(len(self.X)))
        return halves[self.stream.below(len(halves))]

    def next_leaf(self) -> int:
        """Return the leaf that the scan visits next: round after round, each at its place.

        The compiled chain gives leaves in doubt more places, if they are many; here each has one.
        """
        if self.place >= len(self.leaves):
            self.place = self.stream.uniform()
        leaf = self.leaves[int(self.place)]
        self.place += 1
        return leaf

    def _draw(self, sums: FloatArray) -> int:
        return int(np.searchsorted(sums, self.stream.uniform() * sums[-1], side="right"))

    # --- the moves

    def cluster_of(self, v: int) -> int | None:
        """Return the cluster that all rows below `v` are in; None if there are several."""
        clusters = {int(self.assignment[row]) for row in self.tree.rows[v]}
        return clusters.pop() if len(clusters) == 1 else None

    def move_block(self, v: int) -> None:
        """Subtree Gibbs: let all of `v` leave its cluster and join one as a block."""
        if self.cluster_of(v) is not None:
            self.move_rows(self.tree.rows[v])

    def split_or_merge(self, v: int) -> None:
        """Anchored split-merge: split around the two children of `v`, or merge their clusters."""
        a, b = (self.cluster_of(child) for child in self.tree.children(v))
        if a is None or b is None:
            return
        threshold = log(self.stream.positive_uniform())
        if a != b and not self.allowed(a, np.flatnonzero(self.assignment == b).tolist()):
            return
        S = np.flatnonzero((self.assignment == a) | (self.assignment == b)).tolist()
        choose = drawn(self.stream) if a == b else self._replayed(a, b)
        two = TwoSides(self.family, self.X, self.tree, self.log_phi)
        two.grow_around(v, self.tree.highest_within(set(S) - self.tree.below[v]), choose)
        log_ratio = self.log_split_ratio(two)
        if a == b and threshold <= log_ratio:
            self._split(a, two)
        elif a != b and threshold <= -log_ratio:
            self._merge(a, b)

    def split_or_merge_fitted(self, v: int) -> None:
        """Fitted split-merge, with a row below each child of `v` as anchors."""
        i, j = (rows[self.stream.below(len(rows))] for rows in self._rows_of_children(v))
        threshold = log(self.stream.positive_uniform())
        a, b = int(self.assignment[i]), int(self.assignment[j])
        if a != b and threshold > self._log_gain_of_merging(a, b):
            return  # q is at most 1: hopeless
        two = self.fitted_launch(v, i, j)
        now = [0 if self.assignment[row] == a else 1 for row in two.items]
        choose = split_merge.drawn(self.stream) if a == b else split_merge.replayed(now)
        log_q = two.scan(self.log_old, choose)
        both = self.log_phi(sum(two.sizes), self.family.merge(*two.stats))
        log_ratio = sum(map(self.log_phi, two.sizes, two.stats)) - both - log_q
        if a == b and threshold <= log_ratio:
            moved = [row for row, side in zip(two.items, two.sides, strict=True) if side == 1]
            self.assignment[[j, *moved]] = len(self.sizes)
            self.sizes[a], self.stats[a] = two.sizes[0], two.stats[0]
            self.sizes.append(two.sizes[1])
            self.stats.append(two.stats[1])
        elif a != b and threshold <= -log_ratio:
            self.assignment[self.assignment == b] = a
            self._recount(a)
            self._remove(b)

    def fitted_launch(self, v: int, i: int, j: int) -> FittedClusters:
        """Return a launch state for the rows of the clusters of `i` and `j`."""
        inside = np.isin(self.assignment, self.assignment[[i, j]])
        items = [row for row in self.tree.rows[0] if inside[row] and row not in (i, j)]
        left, right = map(set, self._rows_of_children(v))
        items, few = few_first(items, self.stream)
        two = FittedClusters(self.family, self.X, (i, j), items)
        near = [0 if row in left else 1 if row in right else None for row in items[:few]]
        two.launch_near(near, self.log_old, self.stream)
        return two

    def _rows_of_children(self, v: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        left, right = self.tree.children(v)
        return self.tree.rows[left], self.tree.rows[right]

    def _log_gain_of_merging(self, a: int, b: int) -> float:
        sizes, stats = (self.sizes[a], self.sizes[b]), (self.stats[a], self.stats[b])
        both = self.log_phi(sum(sizes), self.family.merge(*stats))
        return both - sum(map(self.log_phi, sizes, stats))

    def _replayed(self, a: int, b: int) -> Choose:
        """Return the choices that lead to the present clusters `a` and `b`."""
        sides = {a: 0, b: 1, None: OPEN}
        return lambda w, _: sides[self.cluster_of(w)]

    def log_split_ratio(self, two: TwoSides) -> float:
        """Return the log of ``phi(h_A) phi(h_B) / phi(h_{A+B}) / q``."""
        both = self.log_phi(sum(two.sizes), self.family.merge(*two.stats))
        return two.log_potential() - both - two.log_q

    def divide_anew(self, v: int) -> None:
        """Multiway redraw: divide the union of all clusters that meet `v` anew."""
        threshold = log(self.stream.positive_uniform())
        new = self.divided(v, multiway_redraw.drawn(self.stream))
        if any(not self.allowed(-1, self._rows_of(nodes)) for nodes in new.nodes):
            return
        old = self.divided(v, multiway_redraw.replayed(self.cluster_of))
        log_ratio = new.log_potential() - new.log_q - old.log_potential() + old.log_q
        if threshold <= log_ratio:
            self._take_over(new)

    def divided(self, v: int, choose: multiway_redraw.Choose) -> ManyBlocks:
        """Return a division of the clusters that meet `v`."""
        meet = np.unique(self.assignment[list(self.tree.rows[v])])
        A = np.flatnonzero(np.isin(self.assignment, meet)).tolist()
        blocks = ManyBlocks(self.family, self.X, self.tree, self.log_phi)
        blocks.divide(v, self.tree.highest_within(set(A) - self.tree.below[v]), choose)
        return blocks

    def _rows_of(self, nodes: Sequence[int]) -> list[int]:
        return [row for node in nodes for row in self.tree.rows[node]]

    # --- the list of clusters, in the order in which the compiled core keeps it

    def _split(self, cluster: int, two: TwoSides) -> None:
        """Put the side of fewer nodes at the end of the list."""
        out = 1 if len(two.nodes[1]) <= len(two.nodes[0]) else 0
        for node in two.nodes[out]:
            self.assignment[list(self.tree.rows[node])] = len(self.sizes)
        self.sizes.append(two.sizes[out])
        self.stats.append(two.stats[out])
        self.sizes[cluster], self.stats[cluster] = two.sizes[1 - out], two.stats[1 - out]

    def _merge(self, a: int, b: int) -> None:
        """Put all into the place of the one that has more highest nodes."""
        pieces = [
            len(self.tree.highest_within(np.flatnonzero(self.assignment == c).tolist()))
            for c in (a, b)
        ]
        out, stay = (a, b) if pieces[0] < pieces[1] else (b, a)
        self.assignment[self.assignment == out] = stay
        self._recount(stay)
        self._remove(out)

    def _take_over(self, new: ManyBlocks) -> None:
        """Let each block have the place of its first row, if no block before it has."""
        places: list[int] = []
        for nodes in new.nodes:
            own = int(self.assignment[self.tree.rows[nodes[0]][0]])
            places.append(-1 if own in places else own)
        for block, place in enumerate(places):
            if place < 0:
                places[block] = len(self.sizes)
                self.sizes.append(0)
                self.stats.append(self.family.empty())
        for nodes, place in zip(new.nodes, places, strict=True):
            self.assignment[self._rows_of(nodes)] = place
        for block, place in enumerate(places):
            self.sizes[place], self.stats[place] = new.sizes[block], new.stats[block]
        occupied = set(self.assignment.tolist())
        for place in reversed(range(len(self.sizes))):
            if place not in occupied:
                self._remove(place)
