"""What the numbers of a run depend on besides its seed: recorded with every run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np

__all__ = ["Versions", "differing", "versions"]


class Versions(TypedDict, total=False):
    """What the numbers of a run depend on besides its seed."""

    mixwood: str
    numpy: str
    instruction_set: str
    platform: str


#: Where these are the same, so are the draws.
DECISIVE = ("mixwood", "instruction_set", "platform")


def versions() -> Versions:
    """Return versions, instruction set and system."""
    from mixwood import __version__, _core

    return {
        "mixwood": __version__,
        "numpy": np.__version__,
        "instruction_set": _core.instruction_set(),
        "platform": " ".join((platform.system(), platform.machine(), *platform.libc_ver())),
    }


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return in words what has changed, of everything that decides about numbers.

    Examples
    --------
    >>> differing({"mixwood": "1.0"}, {"mixwood": "1.1"} | dict.fromkeys(DECISIVE[1:]))
    ['mixwood 1.0, now 1.1']
    """
    return [
        f"{key} {before.get(key)}, now {now[key]}"
        for key in DECISIVE
        if before.get(key) != now[key]
    ]
