"""One chain: how it is made from a model and data, and how it is run in slices.

Chains know nothing of threads or processes; those are in `mixwood.sampling.executor`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.labels import LabelBuffer

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import FloatArray
    from mixwood.store.chain_store import ChainStore

__all__ = [
    "ChainPlan",
    "ChainResult",
    "RunningChain",
]

#: How long a chain runs before it comes back to Python, to report or to be told to stop.
SLICE_SECONDS = 0.1


@dataclass(frozen=True)
class ChainPlan:
    """How long a chain runs and what it keeps."""

    warmup: int
    draws: int
    thin: int

    @property
    def iterations(self) -> int:
        """How many iterations there are in all."""
        return self.warmup + self.draws * self.thin

    def draws_after(self, iterations: int) -> int:
        """Return how many draws are kept after so many iterations."""
        return max(iterations - self.warmup, 0) // self.thin


@dataclass(frozen=True)
class ChainResult:
    """What one chain has drawn beside the labels, as far as it came.

    A stored chain has its draws in the store, and no `values`.
    """

    n_draws: int
    values: dict[str, FloatArray]
    stats: dict[str, dict[str, Any]]
    error: str | None = None


#: The scalars that the core gives with every draw.
SCALARS = ("log_joint", "log_u", "log_alpha", "sigma", "theta")


class RunningChain:
    """A chain on its way: the compiled chain and the arrays it fills.

    Parameters
    ----------
    chain : Chain
        The compiled chain, which may have come some way.
    stream : BitGenerator
        Its random stream.
    plan : ChainPlan
        How far it goes.
    labels : int32 array of shape (rows, n)
        Where the core writes labels, the caller's; with a store, as many draws as one file of
        labels holds.
    log_constant : float
        What the core leaves out of the joint.
    room : ChainStore or LabelBuffer
        Where draws go, and checkpoints too if it is a store.
    deadline : float, optional
        When to stop, by the monotonic clock.
    """

    def __init__(
        self,
        chain: _core.Chain,
        stream: np.random.BitGenerator,
        plan: ChainPlan,
        labels: NDArray[np.int32],
        log_constant: float,
        room: ChainStore | LabelBuffer,
        deadline: float | None = None,
    ) -> None:
        self.plan = plan
        self.iterations = chain.iterations
        self.error: str | None = None
        self._chain = chain
        self._stream = stream
        self._log_constant = log_constant
        self._deadline = deadline
        self._stopped = self._cut = False
        self._room = room if isinstance(room, LabelBuffer) else None
        store = None if isinstance(room, LabelBuffer) else room
        self._store = store
        self._labels = labels
        self._first = self._first_scalar = 0  # the draws that the arrays begin with
        rows = plan.draws if store is None else store.arrays.scalar_rows
        self._values: dict[str, FloatArray] = {name: np.empty(rows) for name in SCALARS}
        if store is not None:
            self._read_begun_files(store)

    @property
    def n_draws(self) -> int:
        """How many draws are made so far."""
        return self.plan.draws_after(self.iterations)

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be done."""
        return self._stopped or self.iterations >= self.plan.iterations

    def end(self) -> None:
        """Let the chain end after the iteration it is at; safe from any thread."""
        self._stopped = True

    def stop(self) -> None:
        """End the chain at once, within an iteration; safe from any thread."""
        self._stopped = self._cut = True
        self._chain.stop()

    def advance(self) -> None:
        """Run for a slice of time, in whole iterations, and store what is to be stored."""
        if self._stopped:
            return
        seconds = SLICE_SECONDS
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
            if seconds <= 0:
                self._stopped = True
                return
        before = self.n_draws
        room = min(len(self._labels), self.plan.draws - self._first)
        at = self._first - self._first_scalar
        values = {name: array[at : at + room] for name, array in self._values.items()}
        try:
            self.iterations = self._chain.run(
                self.plan.warmup,
                self.plan.thin,
                self._labels[:room],
                **values,
                seconds=seconds,
                first=self._first,
            )
        except RuntimeError as error:  # what was drawn before is kept
            self.error = str(error)
            self.iterations = self._chain.iterations
            self._stopped = True
        new = slice(before - self._first_scalar, self.n_draws - self._first_scalar)
        self._values["log_joint"][new] += self._log_constant
        if self._room is not None and self.n_draws - self._first == len(self._labels):
            self._write_to(self._room)
        if self._store is not None:
            self._write_full_files(self._store)
            if self._store.is_due and not self._stopped:
                self._write_checkpoint(self._store)

    def _write_to(self, room: LabelBuffer) -> None:
        if self.n_draws > self._first:
            room.write(self._first, self._labels[: self.n_draws - self._first])
        self._first = self.n_draws

    def finish(self) -> None:
        """Store what is left."""
        if self._store is None or self._cut:
            return
        before = self._store.checkpoint
        if before is None or before.iterations < self.iterations:
            self._write_checkpoint(self._store)

    def close(self) -> None:
        """Let go of the store: after this, nothing is done any more."""
        if self._store is not None:
            self._store.close()

    def _read_begun_files(self, store: ChainStore) -> None:
        """Fetch the draws in files that are not full: they are written anew with more."""
        self._first = self.n_draws // len(self._labels) * len(self._labels)
        rows = store.arrays.scalar_rows
        self._first_scalar = self.n_draws // rows * rows
        count, scalars = self.n_draws - self._first, self.n_draws - self._first_scalar
        if count > 0:
            self._labels[:count] = store.read_labels(self._first, self.n_draws)
        if scalars > 0:
            for name, values in store.read_scalars(self._first_scalar, self.n_draws).items():
                self._values[name][:scalars] = values

    def _write_full_files(self, store: ChainStore) -> None:
        if self.n_draws - self._first == len(self._labels):
            store.write_labels(self._first, self._labels)
            self._first = self.n_draws
        if self.n_draws - self._first_scalar == store.arrays.scalar_rows:
            store.write_scalars(self._first_scalar, self._values)
            self._first_scalar = self.n_draws

    def _write_checkpoint(self, store: ChainStore) -> None:
        count, scalars = self.n_draws - self._first, self.n_draws - self._first_scalar
        if count > 0:
            store.write_labels(self._first, self._labels[:count])
        if scalars > 0:
            values = {name: array[:scalars] for name, array in self._values.items()}
            store.write_scalars(self._first_scalar, values)
        state = b"" if self.error is not None else self._chain.save_state()
        random: Any = self._stream.state
        store.write_checkpoint(
            self.iterations, self.n_draws, random, state, self._stats(), self.error
        )

    def progress(self) -> tuple[int, int, float]:
        """Return iterations done, the number of clusters and the log joint."""
        joint = self._chain.log_joint() + self._log_constant
        return self.iterations, self._chain.n_clusters, joint

    def _stats(self) -> dict[str, dict[str, Any]]:
        return {report.pop("move"): report for report in self._chain.reports()}

    def result(self) -> ChainResult:
        """Return the draws kept."""
        if self._store is not None:
            stored = self._store.checkpoint
            return ChainResult(stored.draws if stored else 0, {}, self._stats(), self.error)
        assert self._room is not None
        self._write_to(self._room)
        values = {name: array[: self.n_draws] for name, array in self._values.items()}
        return ChainResult(self.n_draws, values, self._stats(), self.error)
