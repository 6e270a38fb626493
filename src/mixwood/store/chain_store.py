"""What one chain of a stored run writes: its draws as they come, and its checkpoints."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixwood._support.types import FloatArray
from mixwood.priors import Prior
from mixwood.store.atomic_files import is_plain_folder, sync_folder
from mixwood.store.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import ARRAYS, CHAINS, LOCK, STATE, chain_folder
from mixwood.store.lock import locked

__all__ = ["CHECKPOINT_SECONDS", "ChainStore"]

#: A checkpoint is written this often; less often if that would take more than a share of the time.
CHECKPOINT_SECONDS = 5.0
LARGEST_SHARE = 0.05


class ChainStore:
    """The files of one chain, for one process at a time: a `mixwood.sampling.sinks.Sink`.

    Parameters
    ----------
    run : path
        The run folder.
    chain : int
        Which one.
    prior : Prior
        The model's; it says which scalars are kept.
    vectors : mapping
        The rows of numbers that a draw has, and how long they are.
    shape : tuple of int
        Chains and items of the run.

    Raises
    ------
    BlockingIOError
        If another process is writing the chain.
    """

    def __init__(
        self,
        run: Path,
        chain: int,
        prior: Prior,
        vectors: Mapping[str, int],
        shape: tuple[int, int],
    ) -> None:
        self._folder = chain_folder(run, chain)
        self._folder.mkdir(parents=True, exist_ok=True)
        for part in (run / CHAINS, self._folder):
            if not is_plain_folder(part):
                raise ValueError(f"{part} is a link, and nothing is written through one")
        sync_folder(run / CHAINS)
        self._held = ExitStack()
        self._is_in_place = self._held.enter_context(locked(self._folder / LOCK))
        self._run = run
        self._chain = chain
        try:
            self._arrays = DrawArrays.open(run / ARRAYS, prior, vectors, *shape)
            path = self.path
            self.checkpoint = read_checkpoint(path) if path.exists() else None
        except BaseException:  # or a traceback that someone keeps would keep the lock
            self.close()
            raise
        self._next = time.monotonic() + CHECKPOINT_SECONDS

    @property
    def path(self) -> Path:
        """Where the checkpoint is."""
        return self._folder / STATE

    @property
    def label_rows(self) -> int:
        """How many draws a file of labels holds."""
        return self._arrays.label_rows

    @property
    def scalar_rows(self) -> int:
        """How many draws a file of scalars holds."""
        return self._arrays.scalar_rows

    @property
    def n_draws(self) -> int:
        """How many draws count: those of the checkpoint."""
        return 0 if self.checkpoint is None else self.checkpoint.draws

    @property
    def is_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() >= self._next

    def write_labels(self, first: int, labels: NDArray[Any]) -> None:
        """Write draws from number `first` on, where a file begins."""
        self._refuse_elsewhere()
        self._arrays.write_labels(self._chain, first, labels)

    def write_scalars(self, first: int, values: Mapping[str, FloatArray]) -> None:
        """Write the scalars of draws, likewise."""
        self._refuse_elsewhere()
        self._arrays.write_scalars(self._chain, first, values)

    def mark(self, draws: int, checkpoint: Callable[[], Checkpoint] | None) -> None:  # noqa: ARG002
        """Write a checkpoint, after the draws that it counts."""
        if checkpoint is None:
            return
        before = time.monotonic()
        self._refuse_elsewhere()
        self._arrays.sync()
        self.checkpoint = checkpoint()
        write_checkpoint(self.path, self.checkpoint)
        after = time.monotonic()
        self._next = after + max(CHECKPOINT_SECONDS, (after - before) / LARGEST_SHARE)

    def _refuse_elsewhere(self) -> None:
        """Raise rather than write to another run that was put in the place of this one."""
        if not self._is_in_place():
            reason = "was moved, removed or replaced while its chains were running"
            raise FileNotFoundError(errno.ENOENT, reason, str(self._run))

    def read_labels(self, first: int, end: int) -> NDArray[Any]:
        """Return draws that were written before."""
        return self._arrays.read_labels(self._chain, first, end)

    def read_scalars(self, first: int, end: int) -> dict[str, FloatArray]:
        """Return scalars that were written before."""
        return self._arrays.read_scalars(self._chain, first, end)

    def close(self) -> None:
        """Let other processes write."""
        self._held.close()
