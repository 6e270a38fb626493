"""Where the draws of a chain go: into memory, or into the files of a run folder.

`Sink` says what a chain asks of either. The version on disk is `mixwood.store.chain_store`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixwood._support.labels import LabelBuffer, label_buffers
from mixwood.run_spec import RunSpec

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray
    from mixwood.store.checkpoint import Checkpoint

__all__ = ["MemorySink", "Sink", "memory_sinks", "room_for_scalars"]

#: The scalars that the core gives with every draw.
SCALARS = ("log_joint", "log_u", "log_alpha", "sigma", "theta")
#: How many labels a chain gathers before it hands them over.
LABELS_AT_ONCE = 2**20


def room_for_scalars(draws: int, vectors: Mapping[str, int]) -> dict[str, FloatArray]:
    """Return room for what the core gives with this many draws, labels apart.

    Numbers, and the rows of numbers that `mixwood.run_spec.draw_vectors` names.
    """
    room: dict[str, FloatArray] = {name: np.empty(draws) for name in SCALARS}
    return room | {name: np.empty((draws, size)) for name, size in vectors.items()}


class Sink(Protocol):
    """What takes the draws of one chain.

    A chain hands over labels in blocks of `label_rows` draws and scalars in blocks of
    `scalar_rows`, which are a multiple of the former. The last block may be shorter, and may come
    again with more draws in it. Draws count once `mark` was called after them.
    """

    @property
    def label_rows(self) -> int:
        """How many draws a block of labels has."""

    @property
    def scalar_rows(self) -> int:
        """How many draws a block of scalars has."""

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where the chain continues from, or None where it begins."""

    @property
    def path(self) -> Path | None:
        """The file of the checkpoint, where there is one."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to mark what there is."""

    @property
    def n_draws(self) -> int:
        """How many draws count."""

    def write_labels(self, first: int, labels: NDArray[Any]) -> None:
        """Take draws from number `first` on, where a block begins."""

    def write_scalars(self, first: int, values: Mapping[str, FloatArray]) -> None:
        """Take the scalars of draws, likewise."""

    def read_labels(self, first: int, end: int) -> NDArray[Any]:
        """Return draws that were written before."""

    def read_scalars(self, first: int, end: int) -> dict[str, FloatArray]:
        """Return scalars that were written before."""

    def mark(self, draws: int, checkpoint: Callable[[], Checkpoint] | None) -> None:
        """Let this many draws count; `checkpoint` makes what it takes to continue from here.

        It is None if the chain was cut within an iteration, and cannot continue: a sink that is
        there to be resumed then leaves the mark where it was.
        """

    def close(self) -> None:
        """Let go of whatever is held: after this, nothing is written any more."""


class MemorySink:
    """Draws in memory.

    Parameters
    ----------
    labels : LabelBuffer
        Room for the labels of all draws.
    draws : int
        How many there will be at most.
    label_rows : int
        How many draws a block of labels has.
    vectors : mapping
        The rows of numbers that a draw has, and how long they are.
    """

    checkpoint = None
    path = None
    is_due = False

    def __init__(
        self,
        labels: LabelBuffer,
        draws: int,
        label_rows: int,
        vectors: Mapping[str, int] | None = None,
    ) -> None:
        self.labels = labels
        self.values = room_for_scalars(draws, vectors or {})
        self.label_rows = label_rows
        self.scalar_rows = draws
        self.n_draws = 0

    def write_labels(self, first: int, labels: NDArray[Any]) -> None:
        """Take draws from number `first` on."""
        self.labels.write(first, labels)

    def write_scalars(self, first: int, values: Mapping[str, FloatArray]) -> None:
        """Take the scalars of draws, likewise."""
        for name, array in self.values.items():
            array[first : first + len(values[name])] = values[name]

    def read_labels(self, first: int, end: int) -> NDArray[Any]:
        """Return draws that were written before."""
        return self.labels.values[first:end]

    def read_scalars(self, first: int, end: int) -> dict[str, FloatArray]:
        """Return scalars that were written before."""
        return {name: array[first:end] for name, array in self.values.items()}

    def mark(self, draws: int, checkpoint: Callable[[], Checkpoint] | None) -> None:  # noqa: ARG002
        """Let this many draws count."""
        self.n_draws = draws

    def close(self) -> None:
        """Do nothing: nothing is held."""


def memory_sinks(spec: RunSpec, count: int) -> list[MemorySink]:
    """Return sinks for some chains of a run, the labels of all of them in one array."""
    n = spec.items
    rows = min(spec.draws, max(1, LABELS_AT_ONCE // n))
    buffers = label_buffers(count, spec.draws, n)
    return [MemorySink(buffer, spec.draws, rows, spec.vectors) for buffer in buffers]
