"""Labels of clusters: how they are numbered, and the smallest type that holds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixwood._support.memory import array_in_file, fits, room_folder
from mixwood._support.numbers import memory
from mixwood._support.types import IntArray
from mixwood._support.warn import warn

__all__ = [
    "LabelBuffer",
    "by_size",
    "in_order_of_appearance",
    "label_buffers",
    "label_type",
    "one_array",
]

#: Signed, so that a user's differences of labels do not wrap around.
LABEL_TYPES = ("int8", "int16", "int32")


def in_order_of_appearance(labels: Any) -> IntArray:
    """Return `labels` renumbered 0, 1, ... in the order in which they first appear.

    Examples
    --------
    >>> in_order_of_appearance([7, 2, 7, 0])
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.ravel()], dtype=np.int64)


def by_size(labels: Any, sizes: Any = None) -> IntArray:
    """Return `labels` renumbered from the largest cluster, 0, to the smallest.

    Of clusters of one size, those that appear first come first. `sizes` tells how many rows each
    item stands for, 1 by default. This is how the clusters of every estimate are numbered; draws
    stay in order of appearance.

    Examples
    --------
    >>> by_size([7, 2, 2, 0])
    array([1, 0, 0, 2])
    >>> by_size([7, 2, 2, 0], sizes=[1, 1, 1, 5])
    array([2, 1, 1, 0])
    """
    appeared = in_order_of_appearance(labels)
    order = np.argsort(-np.bincount(appeared, sizes), kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[appeared]


def label_type(clusters: int) -> str:
    """Return the smallest type for the labels of this many clusters.

    Examples
    --------
    >>> label_type(128), label_type(129)
    ('int8', 'int16')
    """
    return next(name for name in LABEL_TYPES if clusters - 1 <= np.iinfo(name).max)


class LabelBuffer:
    """The labels of one chain's draws, (draws, n); the type widens when a draw asks for it."""

    def __init__(
        self, values: NDArray[np.signedinteger], room: Callable[..., NDArray[Any]] = np.empty
    ) -> None:
        self.values = values
        self._room = room

    def write(self, first: int, labels: NDArray[np.signedinteger]) -> None:
        """Put in draws from number `first` on; those before are there."""
        if labels.max() > np.iinfo(self.values.dtype).max:
            wider = self._room(self.values.shape, label_type(int(labels.max()) + 1))
            wider[:first] = self.values[:first]
            self.values = wider
        self.values[first : first + len(labels)] = labels


def label_buffers(
    chains: int, draws: int, n: int, least: DTypeLike = LABEL_TYPES[0]
) -> list[LabelBuffer]:
    """Return a buffer for each chain, all in one array of the type `least`.

    Where that does not fit into memory it is in a temporary file, with a warning.

    Raises
    ------
    MemoryError
        If there is no room for the file.
    """
    shape = (chains, draws, n)
    needed = math.prod(shape) * np.dtype(least).itemsize
    room: Callable[..., NDArray[Any]] = np.empty
    if not fits(needed):
        room = array_in_file
        warn(
            f"the labels of all draws need at least {memory(needed)}, more than memory has: they "
            f"are in a temporary file in {room_folder()} (set TMPDIR for another place)",
            RuntimeWarning,
        )
    try:
        values = room(shape, least)
    except OSError as error:
        raise MemoryError(
            f"the labels of all draws need at least {memory(needed)}, more than memory and "
            f"{room_folder()} have ({error}); keep fewer with a larger thin (and fewer draws), "
            "run fewer chains, or keep the statistics of mw.stream_leaves"
        ) from error
    return [LabelBuffer(chain, room) for chain in values]


def one_array(parts: Sequence[LabelBuffer]) -> NDArray[np.signedinteger]:
    """Return the labels of all chains, (chain, draw, n), without a copy if none had to widen."""
    whole = parts[0].values.base
    if (
        isinstance(whole, np.ndarray)
        and all(part.values.base is whole for part in parts)
        # What came from another process has a base of its own, which is not of this shape.
        and whole.shape == (len(parts), *parts[0].values.shape)
    ):
        return whole
    return np.stack([part.values for part in parts])
