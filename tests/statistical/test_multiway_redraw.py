"""Multiway redraw by its exact transition matrix, and wrong ones, which leave another law."""

from __future__ import annotations

from functools import partial
from math import exp, log

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference import TreeChain, multiway_redraw
from mixwood.reference.multiway_redraw import ManyBlocks
from mixwood.testing import all_partitions
from tests.statistical.test_tree_sampler_oracle import ON_A_LINE, arrays_of

N = 5
POINTS = np.array([[-1.2], [0.4], [0.7], [-0.9], [0.1]])
TREES = {
    "balanced": arrays_of(((0, (1, 3)), (2, 4)), log_d=0.5),
    "cascade": arrays_of(((((2, 0), 1), 4), 3), log_d=-0.7),
}


class Unfinished(Exception):  # noqa: N818
    """The path has an end here; it has the probabilities of what may come next."""


class Redraws:
    """All that a redraw may do, in one state of the parameters, with the blocks of a class."""

    def __init__(self, guide, blocks=ManyBlocks):
        model = mw.Mixture(ON_A_LINE, mw.NGGP(alpha=1.0, sigma=0.3))
        moves = dict.fromkeys(("subtree_moves", "split_moves", "leaf_moves"), 0)
        rng = np.random.default_rng(1)
        self.chain = TreeChain(model, POINTS, np.zeros(N, int), rng, guide=guide, **moves)
        self.chain.set_state(np.zeros(N, int), log(2.0), 0.0, 0.3, 0.0)
        self.tree = self.chain.tree
        self.blocks = partial(blocks, self.chain.family, self.chain.X, self.tree, self.log_phi)
        self.known: dict = {}
        self.log_qs: dict = {}
        self.log_phis: dict = {}

    def log_phi(self, size, stat):
        return self.chain.log_phi(size, stat)

    def log_target(self, clusters):
        """Return the log of the product of phi, up to a constant."""
        for c in clusters - self.log_phis.keys():
            self.log_phis[c] = self.log_phi(len(c), self.chain.family.of(POINTS[sorted(c)]))
        return sum(self.log_phis[c] for c in clusters)

    def proposals(self, v, A):
        """Return the probability of every division of `A`, by every path that there is."""
        if (v, A) not in self.known:
            law: dict = {}
            waiting = [()]
            while waiting:
                path = waiting.pop()
                try:
                    division, chance = self.follow(v, A, path)
                except Unfinished as end:
                    places = enumerate(end.args[0])
                    waiting += [(*path, place) for place, chance in places if chance > 0]
                else:
                    law[division] = law.get(division, 0.0) + chance
            self.known[v, A] = law
        return self.known[v, A]

    def follow(self, v, A, path):
        """Return where a path leads, and its probability."""
        steps, chance = iter(path), 1.0

        def choose(_, chances):
            nonlocal chance
            place = next(steps, None)
            if place is None:
                raise Unfinished(chances)
            chance *= chances[place]
            return place

        return self.division(self.divide(v, A, choose)), chance

    def claimed(self, v, A, clusters):
        """Return log q of a division as the move computes it: by its path."""

        def cluster_of(w):
            own = [c for c in clusters if self.tree.below[w] <= c]
            return hash(own[0]) if own else None

        if (v, clusters) not in self.log_qs:
            replayed = self.divide(v, A, multiway_redraw.replayed(cluster_of))
            self.log_qs[v, clusters] = replayed.log_q
        return self.log_qs[v, clusters]

    def divide(self, v, A, choose):
        blocks = self.blocks()
        blocks.divide(v, self.tree.highest_within(A - self.tree.below[v]), choose)
        return blocks

    def division(self, blocks):
        rows = ((row for node in nodes for row in self.tree.rows[node]) for nodes in blocks.nodes)
        return frozenset(map(frozenset, rows))

    def kernel(self, states):
        """Return the transition matrix over all partitions."""
        number = {state: k for k, state in enumerate(states)}
        law = np.diff(self.chain.pair_law, prepend=0.0) / self.chain.pair_law[-1]
        matrix = np.zeros((len(states), len(states)))
        for old, k in number.items():
            for v in np.flatnonzero(law):
                meet = frozenset(c for c in old if c & self.tree.below[v])
                A = frozenset().union(*meet)
                log_old = self.log_target(meet) - self.claimed(v, A, meet)
                for new, chance in self.proposals(v, A).items():
                    log_new = self.log_target(new) - self.claimed(v, A, new)
                    accepted = law[v] * chance * exp(min(0.0, log_new - log_old))
                    matrix[k, number[(old - meet) | new]] += accepted
        matrix[np.diag_indices(len(states))] += 1 - matrix.sum(axis=1)
        return matrix


STATES = [
    frozenset(frozenset(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1))
    for labels in all_partitions(N)
]


def distance(redraws):
    """Return total variation between what the moves alone lead to and the posterior."""
    target = np.exp([redraws.log_target(state) for state in STATES])
    kernel = redraws.kernel(STATES)
    values, vectors = np.linalg.eig(kernel.T)
    law = np.abs(vectors[:, np.argmax(values.real)].real)
    return np.abs(law / law.sum() - target / target.sum()).sum() / 2


@pytest.mark.parametrize("tree", TREES)
def test_each_division_has_one_path_and_the_posterior_is_left_as_it_is(tree):
    redraws = Redraws(TREES[tree])
    assert distance(redraws) < 1e-11
    for (v, A), law in redraws.known.items():
        # every division whose blocks all meet v, with the probability that its path has
        below = redraws.tree.below[v]
        parts = {frozenset(c & A for c in state if c & A) for state in STATES}
        assert set(law) == {each for each in parts if all(c & below for c in each)}
        assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
        for division, chance in law.items():
            assert redraws.claimed(v, A, division) == pytest.approx(log(chance), abs=1e-9)


class NothingForbidden(ManyBlocks):
    """The second child of an opened node may follow the first."""

    def chances(self, w, forbidden, *, below_v):  # noqa: ARG002
        return super().chances(w, None, below_v=below_v)


class SiblingsNewBlock(ManyBlocks):
    """It may follow if the first has just made a block."""

    def chances(self, w, forbidden, *, below_v):
        if forbidden is not None and len(self.nodes[forbidden]) == 1:
            forbidden = None
        return super().chances(w, forbidden, below_v=below_v)


class NotDividedInQ(ManyBlocks):
    """After a forbidden block the other probabilities enter q as if it were allowed."""

    def allocate(self, w, forbidden, choose, *, below_v):
        if forbidden is not None:
            self.log_q += log(1 - self.chances(w, None, below_v=below_v)[forbidden])
        return super().allocate(w, forbidden, choose, below_v=below_v)


@pytest.mark.parametrize("wrong", [NothingForbidden, SiblingsNewBlock, NotDividedInQ])
def test_a_wrong_move_leads_elsewhere(wrong):
    assert distance(Redraws(TREES["balanced"], wrong)) > 0.01
