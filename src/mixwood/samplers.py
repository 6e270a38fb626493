"""The samplers: small frozen dataclasses that say which moves a chain makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from mixwood.checks import shown, whole_number

__all__ = ["Gibbs", "Sampler", "Tree", "as_sampler"]


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
class Tree:
    """Tree-guided MCMC, exact: the default.

    Parameters
    ----------
    subtree_moves : int, optional
        How many nodes of the guide tree an iteration moves as one block.
    split_moves : int, optional
        How many splits or merges an iteration proposes.
    leaf_moves : int, optional
        How many leaves an iteration moves one by one.
    rebuild : int, optional
        After how many iterations a new guide tree is grown.
    max_leaves : int, optional
        Into how many leaves at most the rows are collapsed.
    """

    subtree_moves: int | None = None
    split_moves: int | None = None
    leaf_moves: int | None = None
    rebuild: int | None = None
    max_leaves: int | None = None

    name: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        for field in ("subtree_moves", "split_moves", "leaf_moves", "rebuild"):
            if getattr(self, field) is not None:
                whole_number(getattr(self, field), field, at_least=0)
        if self.max_leaves is not None:
            whole_number(self.max_leaves, "max_leaves", at_least=1)

    def options(self, n: int) -> dict[str, int]:
        """Return the numbers that the core wants for data of `n` rows."""

        def chosen(value: int | None, default: int) -> int:
            return default if value is None else value

        return {
            "subtree_moves": chosen(self.subtree_moves, -1),
            "split_moves": chosen(self.split_moves, -1),
            "leaf_moves": chosen(self.leaf_moves, -1),
            "rebuild": chosen(self.rebuild, max(50, round(1.5 * n**0.5))),
            "max_leaves": chosen(self.max_leaves, 0),
        }


Sampler: TypeAlias = Gibbs | Tree

_BY_NAME: dict[str, type[Sampler]] = {kind.name: kind for kind in (Gibbs, Tree)}


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
