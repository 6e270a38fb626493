"""Room for label draws, the largest array of a run: in the smallest type that holds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["LabelRoom", "label_type", "one_array", "rooms"]

#: Signed, so that a user's differences of labels do not wrap around.
LABEL_TYPES = ("int8", "int16", "int32")


def label_type(clusters: int) -> str:
    """Return the smallest type for the labels of so many clusters.

    Examples
    --------
    >>> label_type(128), label_type(129)
    ('int8', 'int16')
    """
    return next(name for name in LABEL_TYPES if clusters - 1 <= np.iinfo(name).max)


class LabelRoom:
    """The labels of one chain's draws, (draws, n); the type widens when a draw asks for it."""

    def __init__(self, values: NDArray[np.signedinteger]) -> None:
        self.values = values

    def write(self, first: int, labels: NDArray[np.signedinteger]) -> None:
        """Put in draws from number `first` on; those before are there."""
        if labels.max() > np.iinfo(self.values.dtype).max:
            wider = np.empty(self.values.shape, dtype=label_type(int(labels.max()) + 1))
            wider[:first] = self.values[:first]
            self.values = wider
        self.values[first : first + len(labels)] = labels


def rooms(chains: int, draws: int, n: int, least: DTypeLike = LABEL_TYPES[0]) -> list[LabelRoom]:
    """Return a room for each chain, all in one array of the type `least`."""
    return [LabelRoom(values) for values in np.empty((chains, draws, n), dtype=least)]


def one_array(parts: Sequence[LabelRoom]) -> NDArray[np.signedinteger]:
    """Return the labels of all chains, (chain, draw, n), without a copy if none had to widen."""
    whole = parts[0].values.base
    if isinstance(whole, np.ndarray) and all(part.values.base is whole for part in parts):
        return whole
    return np.stack([part.values for part in parts])
