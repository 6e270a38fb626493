"""Chains side by side: in threads, or on whatever joblib backend is active."""

from __future__ import annotations

import math
import queue
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixwood._support.numbers import count
from mixwood._support.threads import OutOfTimeError, thread_count, wait_for
from mixwood._support.warn import warn
from mixwood.core import bind_family, load_chain, make_chain
from mixwood.run_spec import RunSpec
from mixwood.sampling.chain import ChainResult, RunningChain
from mixwood.sampling.interruptible import interruptibly
from mixwood.sampling.progress import Progress
from mixwood.sampling.sinks import MemorySink, Sink, memory_sinks
from mixwood.sampling.starting_point import Way, kept_together, starting_point
from mixwood.store.chain_store import ChainStore
from mixwood.store.checkpoint import Checkpoint

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Job", "run_in_folder", "run_in_memory"]

#: How long a chain may take to come to the end of its iteration, once it is to stop.
PATIENCE = 0.5


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run, and how it is to be run this time: what a process needs to run some of its chains."""

    spec: RunSpec
    max_seconds: float | None
    n_jobs: int | None
    progress: bool

    def deadline(self) -> float | None:
        """Return when to stop, by the monotonic clock, if it begins now."""
        return None if self.max_seconds is None else time.monotonic() + self.max_seconds

    def __sizeof__(self) -> int:
        """Return the bytes of the data, so that joblib's Dask backend sends them only once."""
        return self.spec.__sizeof__()


def run_in_memory(job: Job) -> tuple[list[MemorySink], list[ChainResult]]:
    """Run all chains of a run, and return each one's draws and how it ended."""
    numbers = range(job.spec.chains)
    if _foreign_backend():
        runs = _on_joblib(job, numbers, None)
        return [sink for sink, _ in runs if sink is not None], [result for _, result in runs]
    sinks = memory_sinks(job.spec, len(numbers))
    return sinks, _run_in_threads(job, numbers, lambda number: sinks[number])


def run_in_folder(job: Job, numbers: Sequence[int], folder: Path) -> list[ChainResult]:
    """Run chains of these numbers from where the folder has them; their draws go there."""
    if _foreign_backend():
        return [result for _, result in _on_joblib(job, numbers, folder)]
    return _run_here(job, numbers, folder)


def _run_here(job: Job, numbers: Sequence[int], folder: Path) -> list[ChainResult]:
    return _run_in_threads(job, numbers, lambda number: _open_store(job.spec, number, folder))


def _open_store(spec: RunSpec, number: int, folder: Path) -> ChainStore:
    shape = (spec.chains, spec.items)
    return ChainStore(folder, number, spec.model.prior, spec.vectors, shape)


def _foreign_backend() -> bool:
    """Tell whether the user has chosen a joblib backend other than threads."""
    if "joblib" not in sys.modules:  # so nobody has; its import would take longer than small runs
        return False
    from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend

    # Asked to prefer threads, joblib answers with something else only if the user chose it.
    backend, _ = get_active_backend(prefer="threads")
    return not isinstance(backend, (SequentialBackend, ThreadingBackend))


def _on_joblib(
    job: Job, numbers: Sequence[int], folder: Path | None
) -> list[tuple[MemorySink | None, ChainResult]]:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=job.n_jobs)
    return list(parallel(delayed(_run_alone)(job, number, folder) for number in numbers))


def _run_alone(job: Job, number: int, folder: Path | None) -> tuple[MemorySink | None, ChainResult]:
    """Run one chain in this process, its time limit counted from here."""
    alone = replace(job, n_jobs=1, progress=False)
    if folder is not None:
        return None, _run_here(alone, [number], folder)[0]
    sink = memory_sinks(job.spec, 1)[0]
    return sink, _run_in_threads(alone, [number], lambda _: sink)[0]


def _start(
    spec: RunSpec,
    number: int,
    family: _core.Family,
    sink: Sink,
    deadline: float | None,
    threads: int = 1,
) -> RunningChain:
    """Return a chain at its start, or where its checkpoint is; its trees may take `threads`."""
    began = time.perf_counter()
    try:
        if sink.checkpoint is None:
            chain, stream = _start_anew(spec, number, family, threads)
        else:
            chain, stream = _load(spec, family, sink.checkpoint, sink.path, threads)
        return RunningChain(chain, stream, spec, spec.log_constant, sink, began, deadline)
    except BaseException:
        sink.close()
        raise


def _load(
    spec: RunSpec, family: _core.Family, saved: Checkpoint, path: Path | None, threads: int
) -> tuple[_core.Chain, np.random.BitGenerator]:
    try:
        chain, stream = load_chain(
            spec.explicit,
            spec.moved,
            spec.sampler,
            family,
            state=saved.state,
            random=saved.random,
            groups=spec.groups_of_moved,
            threads=threads,
        )
        if chain.iterations != saved.iterations:
            raise ValueError(f"its state is that of iteration {chain.iterations}")
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be resumed: {error}") from error
    return chain, stream


def _start_anew(
    spec: RunSpec, number: int, family: _core.Family, threads: int
) -> tuple[_core.Chain, np.random.BitGenerator]:
    seed = spec.chain_seed(number)
    stream = np.random.PCG64(seed)
    limit = spec.sampler.start_leaves
    items = family if spec.collapsed is None else bind_family(spec.explicit, spec.data)
    ways = [Way(*way) for way in spec.ways]
    start = starting_point(spec.init, spec.explicit, spec.data, items, seed, limit, threads, ways)
    if spec.collapsed is not None and spec.known is not None:
        start = kept_together(start, family, spec.known, spec.collapsed)
    chain = make_chain(
        spec.explicit,
        spec.moved,
        start.labels,
        stream,
        spec.sampler,
        start.family,
        groups=spec.groups_of_moved,
        threads=threads,
    )
    return chain, stream


def _run_in_threads(
    job: Job, numbers: Sequence[int], open_sink: Callable[[int], Sink]
) -> list[ChainResult]:
    """Run the chains in slices, the one that is furthest behind first.

    So all chains have come about equally far when the time is over, however few the threads.
    """
    threads = thread_count(job.n_jobs)
    workers = min(threads, len(numbers))
    deadline = job.deadline()
    family = bind_family(job.spec.explicit, job.spec.moved, job.spec.sampler)
    started: list[RunningChain] = []

    def start(number: int) -> RunningChain:
        sink = open_sink(number)
        # Where there are fewer chains than threads, their trees take the others.
        chain = _start(job.spec, number, family, sink, deadline, threads // workers)
        started.append(chain)
        return chain

    try:
        chains = interruptibly(  # some grow trees first
            start,
            numbers,
            threads,
            what=f"growing the start of {count('chain', len(numbers))}",
            shown=job.progress,
            until=deadline,
        )
        _run_in_slices(chains, job, numbers, workers, deadline)
    except OutOfTimeError:  # before all chains had started
        return [ChainResult(0, {}) for _ in numbers]
    finally:
        for chain in started:
            chain.close()
    return [chain.result() for chain in chains]


def _run_in_slices(
    chains: Sequence[RunningChain],
    job: Job,
    numbers: Sequence[int],
    workers: int,
    deadline: float | None,
) -> None:
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    for k, chain in enumerate(chains):
        waiting.put((chain.iterations, k))
    with Progress(job.spec, numbers, shown=job.progress) as display:

        def work() -> None:
            while True:
                try:
                    _, k = waiting.get_nowait()
                except queue.Empty:
                    return
                chains[k].advance()
                if job.progress:
                    display.update(k, *chains[k].progress())
                if chains[k].finished:
                    chains[k].finish()
                else:
                    waiting.put((chains[k].iterations, k))

        _run_to_the_end(work, workers, chains, math.inf if deadline is None else deadline)


def _run_to_the_end(
    work: Callable[[], None], workers: int, chains: Sequence[RunningChain], deadline: float
) -> None:
    """Let some threads work; whatever happens while they do, none is left running.

    Chains end by themselves when the time is over, and after an interruption, with the iteration
    that they are at. One that takes too long is cut.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="mixwood") as pool:
        running = {pool.submit(work) for _ in range(workers)}
        try:
            if not wait_for(running, deadline + PATIENCE):
                _stop(chains)
        except KeyboardInterrupt:
            warn("interrupted: the chains end here", RuntimeWarning)
            for chain in chains:
                chain.end()
            try:
                wait_for(running, time.monotonic() + PATIENCE)
            finally:  # in time, or interrupted once more
                _stop(chains)
        except BaseException:
            _stop(chains)
            raise


def _stop(chains: Sequence[RunningChain]) -> None:
    for chain in chains:
        chain.stop()
