"""Multiway redraw in plain Python: one cluster to many and back.

A node ``v`` of the guide tree is drawn by a law of the tree. ``A`` is the union of the clusters
that meet ``v``, and is divided anew into any number of blocks, each of which meets ``v``: so ``A``
is the same from both ends. First ``v`` as one portion, then the highest nodes of the tree in ``A``
without ``v``, in an order that depends on the tree, ``v`` and ``A`` alone. A portion ``w`` joins a
block that is there, makes a new one (only below ``v``), or is opened: its two children take its
place, at once::

    P(open) = d/(1+d), kept off 0 and 1; 0 for a leaf, and outside v while there is one block
    P(b)    = (1 - P(open)) phi(h_{b+w})/phi(h_b) / sum        b a block that is there
    P(new)  = (1 - P(open)) phi(h_w) / sum

The shares of the sum are kept off 0. If the first child of an opened node went, whole, into a
block, there or just made, that one is forbidden to the second, and the other probabilities are
divided by their sum. So each division of ``A`` whose blocks all meet ``v`` has exactly one path:
what lies in one block goes there whole, all else is opened. With ``q`` the product of the
probabilities along the path, the redraw is accepted with::

    r = prod phi(new) / prod phi(old)  q(old) / q(new)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from typing import TypeAlias

from mixwood.reference.growing_blocks import GrowingBlocks
from mixwood.reference.random import Stream

__all__ = ["ManyBlocks", "drawn", "replayed"]

#: no share of a place to go is smaller
SMALLEST_CHOICE = 1e-9

#: takes a node and the probabilities of each block, of a new one and of opening; returns a place
Choose: TypeAlias = Callable[[int, Sequence[float]], int]


class ManyBlocks(GrowingBlocks):
    """Any number of blocks, to begin with none."""

    def divide(self, v: int, items: Iterable[int], choose: Choose) -> None:
        """Divide `v`, then the portions of ``A`` outside it."""
        self.allocate(v, None, choose, below_v=True)
        for item in items:
            if len(self.nodes) == 1:
                self.join(item, 0)  # there is no choice
            else:
                self.allocate(item, None, choose, below_v=False)

    def allocate(
        self, w: int, forbidden: int | None, choose: Choose, *, below_v: bool
    ) -> int | None:
        """Send `w` to a block, or open it and send its children; return the block, if it is one."""
        chances = self.chances(w, forbidden, below_v=below_v)
        choice = choose(w, chances)
        self.log_q += log(chances[choice])
        if choice == len(chances) - 1:
            left, right = self.tree.children(w)
            first = self.allocate(left, None, choose, below_v=below_v)
            self.allocate(right, first, choose, below_v=below_v)
            return None
        self.join(w, choice)
        return choice

    def chances(self, w: int, forbidden: int | None, *, below_v: bool) -> list[float]:
        """Return the probabilities of the blocks, of a new one and of opening `w`."""
        gains = [self.log_weight(w, block) for block in range(len(self.nodes))]
        if below_v:
            gains.append(self.log_phi(len(self.tree.rows[w]), self.stat_of(w)))
        shares = [exp(gain - max(gains)) for gain in gains]
        total, floor = sum(shares), 1 + len(shares) * SMALLEST_CHOICE
        opens = self.tree.chance_to_open(w)
        chances = [(1 - opens) * (share / total + SMALLEST_CHOICE) / floor for share in shares]
        chances += [opens] if below_v else [0.0, opens]
        if forbidden is None:
            return chances
        chances[forbidden] = 0.0
        return [chance / sum(chances) for chance in chances]


def drawn(stream: Stream) -> Choose:
    """Return choices by their probabilities."""

    def choose(_: int, chances: Sequence[float]) -> int:
        at, total, last = stream.uniform(), 0.0, 0
        for place, chance in enumerate(chances):
            if chance > 0:
                last = place
                total += chance
                if at < total:
                    break
        return last

    return choose


def replayed(cluster_of: Callable[[int], int | None]) -> Choose:
    """Return the choices that lead to clusters as they are; None is that of a mixed node."""
    blocks: dict[int, int] = {}

    def choose(w: int, chances: Sequence[float]) -> int:
        cluster = cluster_of(w)
        if cluster is None:
            return len(chances) - 1
        return blocks.setdefault(cluster, len(blocks))

    return choose
