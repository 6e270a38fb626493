"""Work in threads that can be interrupted. The compiled core lets go of the GIL while it works."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from mixwood._support.checks import whole_number

__all__ = ["OutOfTimeError", "in_threads", "processors", "thread_count", "wait_for"]

Given = TypeVar("Given")
Made = TypeVar("Made")


class OutOfTimeError(Exception):
    """The time was over before the work was done."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads an argument `n_jobs` asks for: all processors if None or negative."""
    if n_jobs is None:
        return processors()
    if whole_number(n_jobs, "n_jobs", at_least=-(10**6)) == 0:
        raise ValueError("n_jobs must not be 0: give a number of threads, -1 for all, or None")
    return n_jobs if n_jobs > 0 else processors()


def in_threads(
    work: Callable[[Given], Made],
    given: Iterable[Given],
    n_jobs: int | None = None,
    stop: Callable[[], None] | None = None,
    *,
    until: float = math.inf,
    look: Callable[[], None] | None = None,
) -> list[Made]:
    """Return ``[work(x) for x in given]``, some of them at once.

    Parameters
    ----------
    work : function
        Of one argument.
    given : iterable
        What it is called with.
    n_jobs : int, optional
        How many threads; as many as processors by default.
    stop : function, optional
        Called if the work is interrupted or fails, so that calls under way end soon.
    until : float
        When the work is stopped, by the monotonic clock.
    look : function, optional
        Called ten times per second while the work goes on: to show how far it is.

    Raises
    ------
    OutOfTimeError
        If the work was not done in time.

    Examples
    --------
    >>> in_threads(len, ["a", "bc"])
    [1, 2]
    """
    with ThreadPoolExecutor(thread_count(n_jobs), thread_name_prefix="mixwood") as pool:
        try:  # the first are at work, and may be interrupted, before the last is handed over
            futures: list[Future[Made]] = [pool.submit(work, x) for x in given]
            if not wait_for(set(futures), until, look):
                raise OutOfTimeError
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if stop is not None:
                stop()
            raise
    return [future.result() for future in futures]


def wait_for(
    running: set[Future[Any]], until: float = math.inf, look: Callable[[], None] | None = None
) -> bool:
    """Wait until all threads are done, or until then; raise what one of them raises.

    Parameters
    ----------
    running : set of Future
        What is waited for.
    until : float
        When not to wait any longer, by the monotonic clock.
    look : function, optional
        Called ten times per second meanwhile.

    Returns
    -------
    bool
        Whether all are done.
    """
    while running:
        left = until - time.monotonic()
        if left <= 0:
            return False
        # Not joined: in Python 3.11 a join that a signal interrupts forgets its thread.
        # The time-out lets signals through.
        done, running = wait(running, timeout=min(0.1, left), return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if running and look is not None:
            look()
    return True
