"""The samplers: small frozen dataclasses that say which moves a chain makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from mixwood.checks import shown, whole_number

__all__ = ["Gibbs", "PaperTree", "Sampler", "as_sampler"]


@dataclass(frozen=True)
class Gibbs:
    """Marginal Gibbs: each item in turn leaves its cluster and draws a new one.

    Exact, simple and slow to cross between well separated partitions: use it to check
    other samplers, or where clusters overlap much.

    Parameters
    ----------
    subset : int, optional
        How many items an iteration visits, drawn uniformly; all by default.

    Notes
    -----
    With the item taken out, it joins cluster ``c`` with weight
    ``kappa(|c|+1, u) / kappa(|c|, u) P(x | X_c)`` and opens a new one with weight
    ``kappa(1, u) P(x)``; then ``u`` and the prior's random parameters are drawn.

    Examples
    --------
    >>> Gibbs(subset=100)
    Gibbs(subset=100)
    """

    subset: int | None = None

    name: ClassVar[str] = "gibbs"

    def __post_init__(self) -> None:
        if self.subset is not None:
            whole_number(self.subset, "subset", at_least=1)

    def options(self, n: int) -> dict[str, int]:
        """Return the numbers that the core wants for data of `n` rows."""
        return {"subset": min(self.subset or 0, n)}


@dataclass(frozen=True)
class PaperTree:
    """Tree-guided MCMC as published: BIASED, its draws are not those of the posterior.

    Kept to compare with the publication; `Tree` is the tree-guided sampler that is exact.

    Parameters
    ----------
    global_moves : int
        How many splits or merges of whole clusters an iteration proposes (the paper's G).
    depth : int
        How often the local move draws a subtree of a subtree in each cluster's tree (the
        paper's D). Smaller means larger subtrees, so that more items are resampled; 0 means
        all items.

    Notes
    -----
    The state is a partition and a binary tree for each cluster, first grown by inserting the
    items one by one. The acceptance ratio is one of partitions alone, but what is proposed
    depends on trees that the reverse move does not rebuild; and the local move chooses items
    by probabilities that depend on their own clusters.

    Examples
    --------
    >>> PaperTree(depth=1)
    PaperTree(global_moves=20, depth=1)
    """

    global_moves: int = 20
    depth: int = 2

    name: ClassVar[str] = "papertree"

    def __post_init__(self) -> None:
        for parameter in ("global_moves", "depth"):
            whole_number(getattr(self, parameter), parameter, at_least=0)

    def options(self, n: int) -> dict[str, int]:
        """Return the numbers that the core wants for data of `n` rows."""
        # No tree is deeper than n, and no one waits for so many moves.
        moves = min(self.global_moves, 2**31 - 1)
        return {"global_moves": moves, "depth": min(self.depth, n), "local_sweep": 1}


Sampler: TypeAlias = Gibbs | PaperTree

_BY_NAME: dict[str, type[Sampler]] = {kind.name: kind for kind in (Gibbs, PaperTree)}


def as_sampler(value: Any) -> Sampler:
    """Return a sampler from an instance or a lower-case name.

    Examples
    --------
    >>> as_sampler("gibbs")
    Gibbs(subset=None)
    """
    if isinstance(value, str):
        if value not in _BY_NAME:
            names = ", ".join(repr(name) for name in _BY_NAME)
            raise ValueError(f"sampler must be one of {names} or a sampler, got {shown(value)}")
        return _BY_NAME[value]()
    if isinstance(value, Sampler):
        return value
    raise TypeError(f"sampler must be a name or a sampler such as mw.Gibbs(), got {shown(value)}")
