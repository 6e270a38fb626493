"""Chains side by side: in threads, or on whatever joblib backend is active."""

from __future__ import annotations

import os
import queue
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixwood.chains import ChainPlan, ChainResult, RunningChain, bind_family, make_chain
from mixwood.families.base import Data
from mixwood.model import Mixture
from mixwood.progress import Progress
from mixwood.samplers import Sampler

__all__ = ["Job", "run_jobs"]


@dataclass(frozen=True)
class Job:
    """All that the chains of one run have in common; it can be sent to another process."""

    model: Mixture
    X: Data
    sampler: Sampler
    plan: ChainPlan
    max_seconds: float | None
    start: Callable[[np.random.SeedSequence], NDArray[np.int32]]


def run_jobs(
    job: Job,
    seeds: Sequence[np.random.SeedSequence],
    n_jobs: int | None,
    progress: bool,
) -> list[ChainResult]:
    """Run one chain for each seed and return their draws, in the seeds' order."""
    if _foreign_backend():
        return _run_on_joblib(job, seeds, n_jobs)
    workers = _cpus() if n_jobs is None or n_jobs < 0 else n_jobs
    return _run_in_threads(job, seeds, min(workers, len(seeds)), progress)


def _cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _foreign_backend() -> bool:
    """Tell whether the user has chosen a joblib backend other than threads."""
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    # Asked to prefer threads, joblib answers with something else only if the user chose it.
    backend, _ = get_active_backend(prefer="threads")
    return not isinstance(backend, (SequentialBackend, ThreadingBackend))


def _run_on_joblib(
    job: Job, seeds: Sequence[np.random.SeedSequence], n_jobs: int | None
) -> list[ChainResult]:
    from joblib import Parallel, delayed

    results: list[ChainResult] = Parallel(n_jobs=n_jobs)(
        delayed(_run_alone)(job, seed) for seed in seeds
    )
    return results


def _run_alone(job: Job, seed: np.random.SeedSequence) -> ChainResult:
    """Run one chain in this process, its time limit counted from here."""
    family = bind_family(job.model, job.X)
    chain = _start(job, seed, family, _deadline(job))
    while not chain.finished:
        chain.advance()
    return chain.result()


def _deadline(job: Job) -> float | None:
    return None if job.max_seconds is None else time.monotonic() + job.max_seconds


def _start(
    job: Job, seed: np.random.SeedSequence, family: object, deadline: float | None
) -> RunningChain:
    chain = make_chain(
        job.model,
        job.X,
        job.start(seed),
        np.random.PCG64(seed),
        job.sampler,
        family,  # type: ignore[arg-type]
    )
    return RunningChain(chain, job.plan, job.X.shape[0], deadline)


def _run_in_threads(
    job: Job, seeds: Sequence[np.random.SeedSequence], workers: int, progress: bool
) -> list[ChainResult]:
    """Run the chains in slices, the one that is furthest behind first.

    So all chains have come about as far when the time is over, however few the threads.
    """
    deadline = _deadline(job)
    family = bind_family(job.model, job.X)
    chains = [_start(job, seed, family, deadline) for seed in seeds]
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    for k in range(len(chains)):
        waiting.put((0, k))
    failures: list[BaseException] = []
    with Progress(job.plan, len(chains), shown=progress) as display:

        def work() -> None:
            while True:
                try:
                    _, k = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    chains[k].advance()
                    if progress:
                        display.update(k, *chains[k].progress())
                except BaseException as failure:
                    failures.append(failure)
                    for chain in chains:
                        chain.stop()
                if not chains[k].finished:
                    waiting.put((chains[k].iterations, k))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        _wait(threads, chains)
    if failures:
        raise failures[0]
    return [chain.result() for chain in chains]


def _wait(threads: Sequence[threading.Thread], chains: Sequence[RunningChain]) -> None:
    """Wait for the threads; at Ctrl-C tell the chains to stop and wait for that."""
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(timeout=0.1)  # with a time-out, signals are seen
    except KeyboardInterrupt:
        for chain in chains:
            chain.stop()
        for thread in threads:
            thread.join()
        warnings.warn("interrupted: the chains end here", RuntimeWarning, stacklevel=5)
