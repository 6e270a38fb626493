"""Chains side by side: in threads, or on whatever joblib backend is active."""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixwood.chains import (
    ChainPlan,
    ChainResult,
    RunningChain,
    bind_family,
    load_chain,
    make_chain,
)
from mixwood.families.base import Data
from mixwood.model import Mixture
from mixwood.progress import Progress
from mixwood.samplers import Sampler
from mixwood.threads import thread_count, wait_for

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood.runs.checkpoint import Checkpoint

__all__ = ["Job", "run_jobs"]

#: How long an interrupted chain may take to come to the end of its iteration.
PATIENCE = 3.0


@dataclass(frozen=True)
class Job:
    """All that the chains of one run have in common; it can be sent to another process.

    Where there is a `store`, a run folder, draws go there, and chains go on from their
    checkpoints.
    """

    model: Mixture
    X: Data
    sampler: Sampler
    plan: ChainPlan
    max_seconds: float | None
    log_constant: float
    start: Callable[[np.random.SeedSequence], NDArray[np.int32]]
    seeds: Sequence[np.random.SeedSequence]
    store: Path | None = None


def run_jobs(
    job: Job, numbers: Sequence[int], n_jobs: int | None, progress: bool
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    """Run the chains of these numbers.

    Returns
    -------
    labels : int32 array of shape (chain, draw, n)
        Each chain's draws as far as it came; what is beyond means nothing. With a store they
        are there, not here.
    results : list of ChainResult
        The rest, in the same order.
    """
    if _foreign_backend():
        return _run_on_joblib(job, numbers, n_jobs)
    return _run_in_threads(job, numbers, min(thread_count(n_jobs), len(numbers)), progress)


def _foreign_backend() -> bool:
    """Tell whether the user has chosen a joblib backend other than threads."""
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    # Asked to prefer threads, joblib answers with something else only if the user chose it.
    backend, _ = get_active_backend(prefer="threads")
    return not isinstance(backend, (SequentialBackend, ThreadingBackend))


def _run_on_joblib(
    job: Job, numbers: Sequence[int], n_jobs: int | None
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    from joblib import Parallel, delayed

    runs = Parallel(n_jobs=n_jobs)(delayed(_run_alone)(job, number) for number in numbers)
    return np.stack([labels for labels, _ in runs]), [result for _, result in runs]


def _run_alone(job: Job, number: int) -> tuple[NDArray[np.int32], ChainResult]:
    """Run one chain in this process, its time limit counted from here."""
    family = bind_family(job.model, job.X, job.sampler)
    labels = _room_for_labels(job, 1)[0]
    chain = _start(job, number, family, labels, _deadline(job))
    try:
        while not chain.finished:
            chain.advance()
        chain.finish()
    finally:
        chain.close()
    return labels, chain.result()


def _room_for_labels(job: Job, chains: int) -> NDArray[np.int32]:
    """Return an array for all draws, or for none where they are stored."""
    draws = job.plan.draws if job.store is None else 0
    return np.empty((chains, draws, job.X.shape[0]), dtype=np.int32)


def _deadline(job: Job) -> float | None:
    return None if job.max_seconds is None else time.monotonic() + job.max_seconds


def _start(
    job: Job,
    number: int,
    family: _core.Family,
    labels: NDArray[np.int32],
    deadline: float | None,
) -> RunningChain:
    """Return a chain at its start, or where its checkpoint is."""
    if job.store is None:
        chain, stream = _start_anew(job, number, family)
        return RunningChain(chain, stream, job.plan, labels, job.log_constant, deadline)
    from mixwood.runs.chain_store import ChainStore

    n = job.X.shape[0]
    store = ChainStore(job.store, number, job.model.prior, (len(job.seeds), n))
    try:
        if store.checkpoint is None:
            chain, stream = _start_anew(job, number, family)
        else:
            chain, stream = _load(job, family, store.checkpoint, store.path)
        block = np.empty((store.arrays.label_rows, n), dtype=np.int32)
        return RunningChain(chain, stream, job.plan, block, job.log_constant, deadline, store)
    except BaseException:
        store.close()
        raise


def _load(
    job: Job, family: _core.Family, checkpoint: Checkpoint, path: Path
) -> tuple[_core.Chain, np.random.BitGenerator]:
    try:
        return load_chain(job.model, job.X, job.sampler, family, checkpoint)
    except ValueError as error:
        raise ValueError(f"{path} cannot be gone on from: {error}") from error


def _start_anew(
    job: Job, number: int, family: _core.Family
) -> tuple[_core.Chain, np.random.BitGenerator]:
    seed = job.seeds[number]
    stream = np.random.PCG64(seed)
    return make_chain(job.model, job.X, job.start(seed), stream, job.sampler, family), stream


def _run_in_threads(
    job: Job, numbers: Sequence[int], workers: int, progress: bool
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    """Run the chains in slices, the one that is furthest behind first.

    So all chains have come about as far when the time is over, however few the threads.
    """
    deadline = _deadline(job)
    family = bind_family(job.model, job.X, job.sampler)
    labels = _room_for_labels(job, len(numbers))
    started: list[RunningChain] = []

    def start(number: int, room: NDArray[np.int32]) -> RunningChain:
        chain = _start(job, number, family, room, deadline)
        started.append(chain)
        return chain

    try:
        with ThreadPoolExecutor(workers) as pool:  # some grow trees first
            chains = list(pool.map(start, numbers, labels))
        _run_in_slices(chains, job, numbers, workers, progress)
    finally:
        for chain in started:
            chain.close()
    return labels, [chain.result() for chain in chains]


def _run_in_slices(
    chains: Sequence[RunningChain], job: Job, numbers: Sequence[int], workers: int, progress: bool
) -> None:
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    for k, chain in enumerate(chains):
        waiting.put((chain.iterations, k))
    with Progress(job.plan, numbers, shown=progress) as display:

        def work() -> None:
            while True:
                try:
                    _, k = waiting.get_nowait()
                except queue.Empty:
                    return
                chains[k].advance()
                if progress:
                    display.update(k, *chains[k].progress())
                if chains[k].finished:
                    chains[k].finish()
                else:
                    waiting.put((chains[k].iterations, k))

        _run_to_the_end(work, workers, chains)


def _run_to_the_end(work: Callable[[], None], workers: int, chains: Sequence[RunningChain]) -> None:
    """Let some threads work; whatever happens while they do, none is left running."""
    with ThreadPoolExecutor(workers, thread_name_prefix="mixwood") as pool:
        running = {pool.submit(work) for _ in range(workers)}
        try:
            wait_for(running)
        except KeyboardInterrupt:
            warnings.warn("interrupted: the chains end here", RuntimeWarning, stacklevel=7)
            for chain in chains:
                chain.end()
            try:
                wait_for(running, PATIENCE)
            finally:  # in time, or interrupted once more
                for chain in chains:
                    chain.stop()
        except BaseException:
            for chain in chains:
                chain.stop()
            raise
