"""Rows that move together, and labels that are known, in plain Python.

Rows of one known label are together and rows of different labels apart: ``allowed``. The target is
the posterior restricted to the partitions of which that holds. A block of rows ``v``, all of them
in one cluster before and after, joins cluster ``c`` with weight::

    1(c + v allowed) phi(h_{c+v}) / phi(h_c)            new:  phi(h_v)

`mixwood.likelihoods.known_labels` has the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.model import Mixture
from mixwood.reference.gibbs import GibbsChain

__all__ = ["BlockChain", "BlockGibbsChain"]


class BlockChain(GibbsChain):
    """A chain that moves blocks of rows.

    Parameters
    ----------
    model, X, labels, rng
        As for `GibbsChain`.
    known : array of n integers, optional
        Known labels, -1 where unknown.
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        *,
        known: Any = None,
    ) -> None:
        super().__init__(model, X, labels, rng)
        self.known = np.full(len(self.X), -1) if known is None else np.asarray(known)

    def allowed(self, c: int, rows: Sequence[int]) -> bool:
        """Return whether the rows may be in cluster `c`: at most one known label is in both."""
        both = np.concatenate([self.known[self.assignment == c], self.known[list(rows)]])
        return len(set(both.tolist()) - {-1}) <= 1

    def move_rows(self, rows: Sequence[int]) -> None:
        """Let a block, all of it in one cluster, leave that and join one by its conditional."""
        family, own = self.family, list(rows)
        old = int(self.assignment[own[0]])
        block = family.of(self.X[own])
        self.assignment[own] = -1
        self._recount(old)
        new = self.stream.pick(self.log_block_weights(own, block))
        if new == len(self.sizes):
            if self.sizes[old] == 0:
                new = old  # it was a cluster and stays one: it keeps its place in the list
            else:
                self.sizes.append(0)
                self.stats.append(family.empty())
        self.assignment[own] = new
        self._recount(new)
        if self.sizes[old] == 0:
            self._remove(old)

    def log_block_weights(self, rows: Sequence[int], block: Any) -> FloatArray:
        """Return ``log phi(h_{c+v})/phi(h_c)`` of each cluster, and ``log phi(h_v)``."""
        weights = np.full(len(self.sizes) + 1, -inf)
        for c, (there, stat) in enumerate(zip(self.sizes, self.stats, strict=True)):
            if there > 0 and self.allowed(c, rows):
                together = self.family.merge(stat, block)
                weights[c] = self.log_phi(there + len(rows), together) - self.log_phi(there, stat)
        weights[-1] = self.log_phi(len(rows), block)
        return weights

    def _recount(self, c: int) -> None:
        rows = np.flatnonzero(self.assignment == c)
        self.sizes[c], self.stats[c] = len(rows), self.family.of(self.X[rows])


class BlockGibbsChain(BlockChain):
    """Gibbs over blocks: the twin of a compiled `Gibbs` chain over weighted leaves.

    Parameters
    ----------
    model, X, labels, rng, known
        As for `BlockChain`.
    leaf_of_row : array of n integers
        The block of each row.
    """

    def __init__(self, *given: Any, leaf_of_row: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        leaves = np.asarray(leaf_of_row)
        self.blocks = [np.flatnonzero(leaves == leaf).tolist() for leaf in range(leaves.max() + 1)]

    def iterate(self, iterations: int = 1) -> None:
        """Sweep over the blocks, then move the parameters."""
        for _ in range(iterations):
            for rows in self.blocks:
                self.move_rows(rows)
            self._update_parameters()
