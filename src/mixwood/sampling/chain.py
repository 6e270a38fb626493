"""One chain on its way: it is run in slices of time, and hands its draws to a sink.

Chains know nothing of threads or processes; those are in `mixwood.sampling.executor`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.core import MoveStatistics, move_statistics
from mixwood.run_spec import RunSpec
from mixwood.sampling.sinks import Sink, room_for_scalars
from mixwood.store.checkpoint import Checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood import _core

__all__ = ["ChainResult", "RunningChain"]

#: How long a chain runs before it comes back to Python, to report or to be told to stop.
SLICE_SECONDS = 0.1


@dataclass(frozen=True)
class ChainResult:
    """How a chain ended: how many of its draws count, what its moves did, why it failed."""

    n_draws: int
    stats: dict[str, MoveStatistics]
    error: str | None = None


class RunningChain:
    """A chain on its way: the compiled chain, and the draws not yet handed over.

    Parameters
    ----------
    chain : Chain
        The compiled chain, which may have come some way.
    stream : BitGenerator
        Its random stream.
    spec : RunSpec
        How far it goes.
    log_constant : float
        What the core leaves out of the joint.
    sink : Sink
        Where draws go.
    began : float
        When its work began, by the performance counter.
    deadline : float, optional
        When to stop, by the monotonic clock.
    """

    def __init__(
        self,
        chain: _core.Chain,
        stream: np.random.BitGenerator,
        spec: RunSpec,
        log_constant: float,
        sink: Sink,
        began: float,
        deadline: float | None = None,
    ) -> None:
        self.iterations = chain.iterations
        self.error: str | None = None
        self._spec = spec
        self._chain = chain
        self._stream = stream
        self._log_constant = log_constant
        self._sink = sink
        self._deadline = deadline
        before = sink.checkpoint
        self._began = began - (0.0 if before is None else before.seconds)
        self._stopped = False
        self._per_iteration = 0.0  # seconds, in the last slice
        self._labels = np.empty((sink.label_rows, int(spec.moved.shape[0])), dtype=np.int32)
        self._values = room_for_scalars(sink.scalar_rows, spec.vectors)
        # The draws that the blocks begin with. What is in a block that is not full is written
        # again with more: it must be here.
        self._first = self.n_draws // sink.label_rows * sink.label_rows
        self._first_scalar = self.n_draws // sink.scalar_rows * sink.scalar_rows
        if self.n_draws > self._first:
            before_them = sink.read_labels(self._first, self.n_draws)
            self._labels[: self.n_draws - self._first] = self._of_moved(before_them)
        if self.n_draws > self._first_scalar:
            for name, values in sink.read_scalars(self._first_scalar, self.n_draws).items():
                self._values[name][: len(values)] = values

    @property
    def n_draws(self) -> int:
        """How many draws are made so far."""
        return self._spec.draws_after(self.iterations)

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be done."""
        return self._stopped or self.iterations >= self._spec.iterations

    def end(self) -> None:
        """Let the chain end after the iteration it is at; safe from any thread."""
        self._stopped = True

    def stop(self) -> None:
        """End the chain at once, within an iteration; safe from any thread."""
        self._stopped = True
        self._chain.stop()

    def advance(self) -> None:
        """Run for a slice of time, in whole iterations, and hand over what is complete."""
        if self._stopped:
            return
        seconds = SLICE_SECONDS
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
            # An iteration that would not end in time is not begun: cut short, it could not be
            # continued.
            if seconds <= 0 or self._deadline - time.monotonic() < self._per_iteration:
                self._stopped = True
                return
        before, iterations, began = self.n_draws, self.iterations, time.monotonic()
        self._run(seconds)
        self._per_iteration = (time.monotonic() - began) / max(1, self.iterations - iterations)
        new = slice(before - self._first_scalar, self.n_draws - self._first_scalar)
        self._values["log_joint"][new] += self._log_constant
        self._write_full_blocks()
        if self._sink.is_due and not self._stopped:
            self._mark()

    def _run(self, seconds: float) -> None:
        """Let the compiled chain fill the blocks until one is full or the time is over."""
        room = min(len(self._labels), self._spec.draws - self._first)
        at = self._first - self._first_scalar
        values = {name: array[at : at + room] for name, array in self._values.items()}
        try:
            self.iterations = self._chain.run(
                self._spec.warmup,
                self._spec.thin,
                self._labels[:room],
                **values,
                seconds=seconds,
                first=self._first,
            )
        except RuntimeError as error:  # what was drawn before is kept
            self.error = str(error)
            self.iterations = self._chain.iterations
            self._stopped = True

    def _of_items(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the labels of the items from those of what the chain moves."""
        collapsed = self._spec.collapsed
        return labels if collapsed is None else labels[:, collapsed.leaf_of_row]

    def _of_moved(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of what the chain moves from those of the items."""
        collapsed = self._spec.collapsed
        return labels if collapsed is None else labels[:, collapsed.first_rows]

    def _write_full_blocks(self) -> None:
        if self.n_draws - self._first == len(self._labels):
            self._sink.write_labels(self._first, self._of_items(self._labels))
            self._first = self.n_draws
        if self.n_draws - self._first_scalar == self._sink.scalar_rows:
            self._sink.write_scalars(self._first_scalar, self._values)
            self._first_scalar = self.n_draws

    def _mark(self) -> None:
        """Hand over the blocks that are not full, too, and let all draws count."""
        count, scalars = self.n_draws - self._first, self.n_draws - self._first_scalar
        if count > 0:
            self._sink.write_labels(self._first, self._of_items(self._labels[:count]))
        if scalars > 0:
            values = {name: array[:scalars] for name, array in self._values.items()}
            self._sink.write_scalars(self._first_scalar, values)
        self._sink.mark(self.n_draws, None if self._chain.is_cut else self._checkpoint)

    def _checkpoint(self) -> Checkpoint:
        random: Any = self._stream.state
        return Checkpoint(
            iterations=self.iterations,
            draws=self.n_draws,
            seconds=time.perf_counter() - self._began,
            random=dict(random),
            state=b"" if self.error is not None else self._chain.save_state(),
            stats=move_statistics(self._chain),
            error=self.error,
        )

    def finish(self) -> None:
        """Hand over what is left."""
        before = self._sink.checkpoint
        if before is None or before.iterations < self.iterations:
            self._mark()

    def close(self) -> None:
        """Let go of the sink: after this, nothing is done any more."""
        self._sink.close()

    def progress(self) -> tuple[int, int, float]:
        """Return iterations done, the number of clusters and the log joint."""
        joint = self._chain.log_joint() + self._log_constant
        return self.iterations, self._chain.n_clusters, joint

    def result(self) -> ChainResult:
        """Return how it ended."""
        return ChainResult(self._sink.n_draws, move_statistics(self._chain), self.error)
