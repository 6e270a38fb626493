"""Fitted split-merge in plain numpy: restricted Gibbs proposals that start from a guide tree.

A node ``v = (l, r)`` is drawn by a law of the tree, then a row ``i`` below ``l`` and a row ``j``
below ``r``, uniformly: the anchors. ``S`` is the union of their clusters. A launch state is made of
the tree, ``(v, i, j)``, ``S`` and fresh randomness alone. A quarter of ``S`` or some 60 rows, drawn
by chance, come first: what is below ``l`` goes with ``i``, what is below ``r`` with ``j``, the
others follow in turn, each by its weights; then come restricted scans of these rows. The rest of
``S`` follows, each row by its weights, and all are scanned once. One more scan, of probability
``q``, gives the two sides: drawn for a split, replayed for a merge. As the launch state does not
know how ``S`` is divided now, a split is accepted with ``phi(A) phi(B) / phi(S) / q`` and a merge
with the inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from mixwood.reference.random import Stream
from mixwood.reference.split_merge import LogOld, TwoClusters, drawn

__all__ = ["FittedClusters", "few_first"]

#: about how many rows a launch begins with, and at most which share of all
MOST_FEW, LARGEST_SHARE = 60, 0.25
#: how often it scans them
COARSE_SCANS = 12


def few_first(items: Sequence[int], stream: Stream) -> tuple[list[int], int]:
    """Put some items first, drawn by chance; return all, and how many these are."""
    first: list[int] = []
    later: list[int] = []
    expected = min(MOST_FEW, LARGEST_SHARE * len(items))
    for item in items:
        (first if stream.uniform() * len(items) < expected else later).append(item)
    return first + later, len(first)


class FittedClusters(TwoClusters):
    """Some rows in two clusters that start from what is near the anchors."""

    def launch_near(self, near: Sequence[int | None], log_old: LogOld, stream: Stream) -> None:
        """Put the first items on the sides they are near, fit the sides; the others follow."""
        items, few = self.items, len(near)
        self.items = items[:few]
        self.sides = [-1 if side is None else side for side in near]
        for item, side in zip(self.items, near, strict=True):
            if side is not None:
                self._add(item, side)
        for place in (place for place, side in enumerate(near) if side is None):
            self._follow(place, log_old, stream)
        for _ in range(COARSE_SCANS):
            self.scan(log_old, drawn(stream))
        self.items = items
        self.sides += [-1] * (len(items) - few)
        for place in range(few, len(items)):
            self._follow(place, log_old, stream)
        self.scan(log_old, drawn(stream))

    def _follow(self, place: int, log_old: LogOld, stream: Stream) -> None:
        item = self.items[place]
        log_odds = self._log_weight(item, 0, log_old) - self._log_weight(item, 1, log_old)
        to_first = stream.uniform() < 1 / (1 + exp(min(-log_odds, 700.0)))
        self.sides[place] = 0 if to_first else 1
        self._add(item, self.sides[place])
