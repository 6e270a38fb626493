"""The names of likelihoods, priors and samplers on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import typer

from mixwood import likelihoods, priors, samplers

__all__ = ["LIKELIHOODS", "PRIORS", "SAMPLERS", "SCALES", "STARTS", "completion", "lookup"]


def _hyphenated(name: str) -> str:
    """Return the name of a class as it is typed: ``DiagonalGaussian`` is ``diagonal-gaussian``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


_NAMED: tuple[type[likelihoods.Likelihood], ...] = (
    likelihoods.AutoGaussian,
    *likelihoods.LIKELIHOODS,
)
LIKELIHOODS = {_hyphenated(kind.__name__): kind.__name__ for kind in _NAMED}
SCALES = {name: name for kind in likelihoods.LIKELIHOODS for name in kind.scales}
PRIORS = {
    name: prior.__name__
    for prior in priors.PRIORS
    for name in (_hyphenated(prior.__name__), *prior.aliases)
}
SAMPLERS = {_hyphenated(kind.__name__): kind.__name__ for kind in samplers.SAMPLERS}
STARTS = {name: name for name in ("ibhc", "one", "singletons", "on-top")}


def lookup(table: dict[str, str], option: str) -> Callable[[str | None], str | None]:
    """Return a check of an option that turns what was typed into one of the table's values.

    Capitals, hyphens and underscores do not matter: ``PitmanYor``, ``pitman_yor``.
    """

    def check(typed: str | None) -> str | None:
        if typed is None:
            return None
        known = {_plain(key): value for key, value in table.items()}
        if _plain(typed) not in known:
            raise typer.BadParameter(f"{option} must be one of {', '.join(table)}, got {typed!r}")
        return known[_plain(typed)]

    return check


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def completion(table: dict[str, Any]) -> Callable[[str], list[str]]:
    """Return a function that completes what was typed so far."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in table if name.startswith(incomplete.lower())]

    return complete
