"""The split-merge sampler of Jain and Neal in plain numpy, under any of the priors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import Any

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.model import Mixture
from mixwood.reference.families import Family
from mixwood.reference.gibbs import GibbsChain
from mixwood.reference.priors import softplus
from mixwood.reference.random import Stream

__all__ = ["LogOld", "SplitMergeChain", "TwoClusters"]

#: takes an item's place and its log odds of side 0 against side 1, returns a side
Choose = Callable[[int, float], int]

#: takes the size of a side, returns what the prior says of one more row there
LogOld = Callable[[int], float]


class TwoClusters:
    """Some rows in two clusters, one anchor fixed in each; Gibbs restricted to the others.

    It does not know the partition of the chain: a launch state cannot depend on it.
    """

    def __init__(
        self, family: Family[Any], X: FloatArray, anchors: tuple[int, int], items: Sequence[int]
    ) -> None:
        self.family, self.X = family, X
        self.items = items
        self.sizes = [1, 1]
        self.stats = [family.observe(family.empty(), X[anchor]) for anchor in anchors]
        self.sides: list[int] = []

    def launch(self, scans: int, log_old: LogOld, stream: Stream) -> None:
        """Toss a coin for each item, then make some scans."""
        for item in self.items:
            self.sides.append(0 if stream.uniform() < 0.5 else 1)
            self._add(item, self.sides[-1])
        for _ in range(scans):
            self.scan(log_old, drawn(stream))

    def scan(self, log_old: LogOld, choose: Choose) -> float:
        """Visit each item once; return the log probability of drawing what was chosen.

        Taken out, an item joins a side with weight ``kappa(k+1, u)/kappa(k, u) P(x | X_A)``,
        that is ``(k - sigma) P(x | X_A)`` for a side of ``k`` rows.
        """
        log_q = 0.0
        for place, item in enumerate(self.items):
            self._remove(item, self.sides[place])
            log_odds = self._log_weight(item, 0, log_old) - self._log_weight(item, 1, log_old)
            side = choose(place, log_odds)
            log_q -= softplus(-log_odds if side == 0 else log_odds)
            self.sides[place] = side
            self._add(item, side)
        return log_q

    def _log_weight(self, item: int, side: int, log_old: LogOld) -> float:
        stat = self.stats[side]
        with_it = self.family.log_marginal(self.family.observe(stat, self.X[item]))
        return log_old(self.sizes[side]) + with_it - self.family.log_marginal(stat)

    def _add(self, item: int, side: int) -> None:
        self.sizes[side] += 1
        self.stats[side] = self.family.observe(self.stats[side], self.X[item])

    def _remove(self, item: int, side: int) -> None:
        self.sizes[side] -= 1
        self.stats[side] = self.family.forget(self.stats[side], self.X[item])


def drawn(stream: Stream) -> Choose:
    """Return choices by the odds."""
    return lambda _, log_odds: 0 if stream.uniform() < 1 / (1 + exp(min(-log_odds, 700.0))) else 1


def replayed(sides: Sequence[int]) -> Choose:
    """Return given choices."""
    return lambda place, _: sides[place]


class SplitMergeChain(GibbsChain):
    """A chain whose iterations begin with a proposal to split or merge.

    Parameters
    ----------
    model, X, labels, rng, subset
        As for `GibbsChain`.
    scans : int
        How many restricted scans make a launch state.
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        subset: int | None = None,
        scans: int = 5,
    ) -> None:
        super().__init__(model, X, labels, rng, subset)
        self.scans = scans

    def iterate(self, iterations: int = 1) -> None:
        """Make a proposal, sweep over the rows, then move the parameters."""
        for _ in range(iterations):
            if len(self.X) > 1:
                self._propose()
            super().iterate()

    def _propose(self) -> None:
        i = self.stream.below(len(self.X))
        j = self.stream.below(len(self.X) - 1)
        j += j >= i
        a, b = int(self.assignment[i]), int(self.assignment[j])
        members = np.flatnonzero((self.assignment == a) | (self.assignment == b))
        items = [int(row) for row in members if row not in (i, j)]
        two = TwoClusters(self.family, self.X, (i, j), items)
        two.launch(self.scans, self.log_old, self.stream)
        if a == b:
            log_q = two.scan(self.log_old, drawn(self.stream))
            log_ratio = self.log_split_ratio(two, log_q)
        else:
            now = [0 if self.assignment[row] == a else 1 for row in items]
            log_q = two.scan(self.log_old, replayed(now))
            log_ratio = -self.log_split_ratio(two, log_q)
        if -self.stream.exponential() < log_ratio:
            side_b = [j, *(row for row, side in zip(items, two.sides, strict=True) if side == 1)]
            if a == b:
                self._split(a, side_b, two)
            else:
                self._merge(a, b, side_b, two)

    def log_split_ratio(self, two: TwoClusters, log_q: float) -> float:
        """Return the log of ``phi(A) phi(B) / phi(A + B) / q``, ``phi(c) = kappa(|c|) P(X_c)``."""
        both = self.log_phi(sum(two.sizes), self.family.merge(*two.stats))
        return sum(map(self.log_phi, two.sizes, two.stats)) - both - log_q

    def _split(self, a: int, side_b: list[int], two: TwoClusters) -> None:
        """Leave the first side in its place and put the other at the end of the list."""
        self.sizes[a], self.stats[a] = two.sizes[0], two.stats[0]
        self.sizes.append(two.sizes[1])
        self.stats.append(two.stats[1])
        self.assignment[side_b] = len(self.sizes) - 1

    def _merge(self, a: int, b: int, side_b: list[int], two: TwoClusters) -> None:
        """Put all into the place of the first."""
        self.sizes[a], self.stats[a] = sum(two.sizes), self.family.merge(*two.stats)
        self.assignment[side_b] = a
        self._remove(b)
