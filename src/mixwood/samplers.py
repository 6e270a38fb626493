"""The samplers: small frozen dataclasses that say which moves a chain makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from mixwood.checks import shown, whole_number

__all__ = ["Gibbs", "Sampler", "as_sampler"]


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


Sampler: TypeAlias = Gibbs

_BY_NAME: dict[str, type[Sampler]] = {kind.name: kind for kind in (Gibbs,)}


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
