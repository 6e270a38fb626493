"""Chains side by side: in threads, or on whatever joblib backend is active."""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixwood.chains import ChainPlan, ChainResult, RunningChain, bind_family, make_chain
from mixwood.families.base import Data
from mixwood.model import Mixture
from mixwood.progress import Progress
from mixwood.samplers import Sampler
from mixwood.threads import thread_count

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Job", "run_jobs"]


@dataclass(frozen=True)
class Job:
    """All that the chains of one run have in common; it can be sent to another process."""

    model: Mixture
    X: Data
    sampler: Sampler
    plan: ChainPlan
    max_seconds: float | None
    log_constant: float
    start: Callable[[np.random.SeedSequence], NDArray[np.int32]]


def run_jobs(
    job: Job,
    seeds: Sequence[np.random.SeedSequence],
    n_jobs: int | None,
    progress: bool,
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    """Run one chain for each seed.

    Returns
    -------
    labels : int32 array of shape (chain, draw, n)
        Each chain's draws as far as it came; what is beyond means nothing.
    results : list of ChainResult
        The rest, in the seeds' order.
    """
    if _foreign_backend():
        return _run_on_joblib(job, seeds, n_jobs)
    return _run_in_threads(job, seeds, min(thread_count(n_jobs), len(seeds)), progress)


def _foreign_backend() -> bool:
    """Tell whether the user has chosen a joblib backend other than threads."""
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    # Asked to prefer threads, joblib answers with something else only if the user chose it.
    backend, _ = get_active_backend(prefer="threads")
    return not isinstance(backend, (SequentialBackend, ThreadingBackend))


def _run_on_joblib(
    job: Job, seeds: Sequence[np.random.SeedSequence], n_jobs: int | None
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    from joblib import Parallel, delayed

    runs = Parallel(n_jobs=n_jobs)(delayed(_run_alone)(job, seed) for seed in seeds)
    return np.stack([labels for labels, _ in runs]), [result for _, result in runs]


def _run_alone(job: Job, seed: np.random.SeedSequence) -> tuple[NDArray[np.int32], ChainResult]:
    """Run one chain in this process, its time limit counted from here."""
    family = bind_family(job.model, job.X, job.sampler)
    labels = _room_for_labels(job, 1)[0]
    chain = _start(job, seed, family, labels, _deadline(job))
    while not chain.finished:
        chain.advance()
    return labels, chain.result()


def _room_for_labels(job: Job, chains: int) -> NDArray[np.int32]:
    return np.empty((chains, job.plan.draws, job.X.shape[0]), dtype=np.int32)


def _deadline(job: Job) -> float | None:
    return None if job.max_seconds is None else time.monotonic() + job.max_seconds


def _start(
    job: Job,
    seed: np.random.SeedSequence,
    family: _core.Family,
    labels: NDArray[np.int32],
    deadline: float | None,
) -> RunningChain:
    stream = np.random.PCG64(seed)
    chain = make_chain(job.model, job.X, job.start(seed), stream, job.sampler, family)
    return RunningChain(chain, job.plan, labels, deadline)


def _run_in_threads(
    job: Job, seeds: Sequence[np.random.SeedSequence], workers: int, progress: bool
) -> tuple[NDArray[np.int32], list[ChainResult]]:
    """Run the chains in slices, the one that is furthest behind first.

    So all chains have come about as far when the time is over, however few the threads.
    """
    deadline = _deadline(job)
    family = bind_family(job.model, job.X, job.sampler)
    labels = _room_for_labels(job, len(seeds))
    with ThreadPoolExecutor(workers) as pool:  # some grow trees first
        chains = list(
            pool.map(lambda seed, room: _start(job, seed, family, room, deadline), seeds, labels)
        )
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    for k in range(len(chains)):
        waiting.put((0, k))
    with Progress(job.plan, len(chains), shown=progress) as display:

        def work() -> None:
            while True:
                try:
                    _, k = waiting.get_nowait()
                except queue.Empty:
                    return
                chains[k].advance()
                if progress:
                    iterations, clusters, joint = chains[k].progress()
                    display.update(k, iterations, clusters, joint + job.log_constant)
                if not chains[k].finished:
                    waiting.put((chains[k].iterations, k))

        _run_to_the_end(work, workers, chains)
    return labels, [chain.result() for chain in chains]


def _run_to_the_end(work: Callable[[], None], workers: int, chains: Sequence[RunningChain]) -> None:
    """Let some threads work; whatever happens while they do, none is left running."""
    with ThreadPoolExecutor(workers, thread_name_prefix="mixwood") as pool:
        try:
            running = {pool.submit(work) for _ in range(workers)}
            while running:
                # Not joined: in Python 3.11 a join that a signal interrupts forgets its thread.
                # The time-out lets signals through.
                done, running = wait(running, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException as interruption:
            for chain in chains:
                chain.stop()
            if not isinstance(interruption, KeyboardInterrupt):
                raise
            warnings.warn("interrupted: the chains end here", RuntimeWarning, stacklevel=6)
