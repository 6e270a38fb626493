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

from mixwood._support.labels import LabelBuffer, label_buffers, one_array
from mixwood._support.threads import thread_count, wait_for
from mixwood._support.types import Data
from mixwood.core import bind_family, load_chain, make_chain
from mixwood.model import Mixture
from mixwood.samplers import Sampler
from mixwood.sampling.chain import ChainPlan, ChainResult, RunningChain
from mixwood.sampling.initial_partition import Start
from mixwood.sampling.progress import Progress

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood.store.checkpoint import Checkpoint

__all__ = ["Job", "run_jobs"]

#: How many labels the core writes before they go to where they are kept.
LABELS_AT_ONCE = 2**20
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
    start: Start
    seeds: Sequence[np.random.SeedSequence]
    store: Path | None = None

    def __sizeof__(self) -> int:
        """Return the bytes of the data, so that joblib's Dask backend sends them only once."""
        X = self.X
        return int(X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes)


def run_jobs(
    job: Job, numbers: Sequence[int], n_jobs: int | None, progress: bool
) -> tuple[NDArray[np.signedinteger], list[ChainResult]]:
    """Run the chains of these numbers.

    Returns
    -------
    labels : int array of shape (chain, draw, n)
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
) -> tuple[NDArray[np.signedinteger], list[ChainResult]]:
    from joblib import Parallel, delayed

    runs = Parallel(n_jobs=n_jobs)(delayed(_run_alone)(job, number) for number in numbers)
    return np.stack([labels for labels, _ in runs]), [result for _, result in runs]


def _run_alone(job: Job, number: int) -> tuple[NDArray[np.signedinteger], ChainResult]:
    """Run one chain in this process, its time limit counted from here."""
    family = bind_family(job.model, job.X, job.sampler)
    (room,) = _rooms(job, 1)
    chain = _start(job, number, family, room, _deadline(job))
    try:
        while not chain.finished:
            chain.advance()
        chain.finish()
    finally:
        chain.close()
    result = chain.result()
    return room.values, result


def _rooms(job: Job, chains: int) -> list[LabelBuffer]:
    """Return room for all draws of each chain, or for none where they are stored."""
    return label_buffers(chains, job.plan.draws if job.store is None else 0, job.X.shape[0])


def _deadline(job: Job) -> float | None:
    return None if job.max_seconds is None else time.monotonic() + job.max_seconds


def _start(
    job: Job,
    number: int,
    family: _core.Family,
    room: LabelBuffer,
    deadline: float | None,
) -> RunningChain:
    """Return a chain at its start, or where its checkpoint is."""
    n = job.X.shape[0]
    if job.store is None:
        chain, stream = _start_anew(job, number, family)
        block = np.empty((min(job.plan.draws, max(1, LABELS_AT_ONCE // n)), n), dtype=np.int32)
        return RunningChain(chain, stream, job.plan, block, job.log_constant, room, deadline)
    from mixwood.store.chain_store import ChainStore

    store = ChainStore(job.store, number, job.model.prior, (len(job.seeds), n))
    try:
        if store.checkpoint is None:
            chain, stream = _start_anew(job, number, family)
        else:
            chain, stream = _load(job, family, store.checkpoint, store.path)
        block = np.empty((store.arrays.label_rows, n), dtype=np.int32)
        return RunningChain(chain, stream, job.plan, block, job.log_constant, store, deadline)
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
    labels = job.start(seed, family)
    return make_chain(job.model, job.X, labels, stream, job.sampler, family), stream


def _run_in_threads(
    job: Job, numbers: Sequence[int], workers: int, progress: bool
) -> tuple[NDArray[np.signedinteger], list[ChainResult]]:
    """Run the chains in slices, the one that is furthest behind first.

    So all chains have come about as far when the time is over, however few the threads.
    """
    deadline = _deadline(job)
    family = bind_family(job.model, job.X, job.sampler)
    places = _rooms(job, len(numbers))
    started: list[RunningChain] = []

    def start(number: int, room: LabelBuffer) -> RunningChain:
        chain = _start(job, number, family, room, deadline)
        started.append(chain)
        return chain

    try:
        with ThreadPoolExecutor(workers) as pool:  # some grow trees first
            chains = list(pool.map(start, numbers, places))
        _run_in_slices(chains, job, numbers, workers, progress)
    finally:
        for chain in started:
            chain.close()
    results = [chain.result() for chain in chains]
    return one_array(places), results


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
