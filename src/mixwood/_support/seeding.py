"""Seeds: from what a user gives to one stream per chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixwood._support.checks import shown, whole_number

__all__ = ["chain_seed", "seed_sequence"]


def seed_sequence(seed: Any, name: str = "seed") -> np.random.SeedSequence:
    """Return the seed sequence that an argument called `name` stands for.

    Examples
    --------
    >>> seed_sequence(5).entropy
    5
    """
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence([int(v) for v in seed.integers(2**32, size=4)])
    if seed is None:
        return np.random.SeedSequence()
    try:
        return np.random.SeedSequence(whole_number(seed, name, at_least=0, at_most=None))
    except TypeError:
        raise TypeError(
            f"{name} must be None, a whole number, a SeedSequence or a Generator, got {shown(seed)}"
        ) from None


def chain_seed(sequence: np.random.SeedSequence, chain: int) -> np.random.SeedSequence:
    """Return the seed of a chain: what `spawn` gives first, the caller's object unchanged."""
    return np.random.SeedSequence(
        sequence.entropy, spawn_key=(*sequence.spawn_key, chain), pool_size=sequence.pool_size
    )
