"""Blocks of rows that grow by nodes of a guide tree: what moves that allocate portions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mixwood._support.types import FloatArray
from mixwood.reference.families import Family

if TYPE_CHECKING:
    from mixwood.reference.tree_sampler import GuideTree

__all__ = ["GrowingBlocks"]


class GrowingBlocks:
    """Blocks, and the log probability ``log_q`` of the choices that have led to them.

    They know the tree, the data and the parameters, but not the partition of the chain.
    """

    def __init__(
        self,
        family: Family[Any],
        X: FloatArray,
        tree: GuideTree,
        log_phi: Callable[[int, Any], float],
    ) -> None:
        self.family, self.X, self.tree, self.log_phi = family, X, tree, log_phi
        self.nodes: list[list[int]] = []
        self.sizes: list[int] = []
        self.stats: list[Any] = []
        self.log_q = 0.0

    def join(self, w: int, block: int) -> None:
        """Let all of `w` join a block, or be a new one if there is none of this number."""
        if block == len(self.nodes):
            self.nodes.append([])
            self.sizes.append(0)
            self.stats.append(self.family.empty())
        self.nodes[block].append(w)
        self.sizes[block] += len(self.tree.rows[w])
        self.stats[block] = self.family.merge(self.stats[block], self.stat_of(w))

    def log_weight(self, w: int, block: int) -> float:
        """Return the log of ``phi(h_{b+w}) / phi(h_b)``."""
        size, stat = self.sizes[block], self.stats[block]
        together = self.family.merge(stat, self.stat_of(w))
        return self.log_phi(size + len(self.tree.rows[w]), together) - self.log_phi(size, stat)

    def log_potential(self) -> float:
        """Return the log of the product of ``phi(h_b)``."""
        return sum(map(self.log_phi, self.sizes, self.stats))

    def stat_of(self, w: int) -> Any:
        """Return the statistic of the rows below a node."""
        return self.family.of(self.X[list(self.tree.rows[w])])
