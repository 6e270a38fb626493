"""Fitted split-merge in plain numpy: restricted Gibbs proposals that start from a guide tree.

A node ``v = (l, r)`` is drawn by a law of the tree, then a row ``i`` below ``l`` and a row ``j``
below ``r``, uniformly: the anchors. ``S`` is the union of their clusters. A launch state is made of
the tree, ``(v, i, j)``, ``S`` and fresh randomness alone: what ``S`` has below ``l`` goes with
``i``, what it has below ``r`` with ``j``, the other rows follow in the order of the tree, each by
its weights; then come some restricted scans. One more scan, of probability ``q``, gives the two
sides: drawn for a split, replayed for a merge. As the launch state does not know how ``S`` is
divided now, a split is accepted with ``phi(A) phi(B) / phi(S) / q`` and a merge with the inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from mixwood.reference.random import Stream
from mixwood.reference.split_merge import LogOld, TwoClusters, drawn

__all__ = ["SCANS", "FittedClusters"]

#: restricted scans that make a launch state
SCANS = 4


class FittedClusters(TwoClusters):
    """Some rows in two clusters that start from what is near the anchors."""

    def launch_near(self, near: Sequence[int | None], log_old: LogOld, stream: Stream) -> None:
        """Put each item on the side it is near, the others in turn by their weights; then scan."""
        self.sides = [-1 if side is None else side for side in near]
        for item, side in zip(self.items, near, strict=True):
            if side is not None:
                self._add(item, side)
        for place, item in enumerate(self.items):
            if near[place] is None:
                log_odds = self._log_weight(item, 0, log_old) - self._log_weight(item, 1, log_old)
                to_first = stream.uniform() < 1 / (1 + exp(min(-log_odds, 700.0)))
                self.sides[place] = 0 if to_first else 1
                self._add(item, self.sides[place])
        for _ in range(SCANS):
            self.scan(log_old, drawn(stream))
