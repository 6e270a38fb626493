"""Work in a process of its own, which ends when it has used up its CPU seconds."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")


def run_within(seconds: int | None, work: Callable[[], T]) -> T | None:
    """Return what `work` returns, or None if it took too long; None is no limit.

    The process is forked, so that what was imported before is not on its clock; another
    interpreter that it starts has the same limit, and its TimeoutError counts as too long.
    """
    context = multiprocessing.get_context("fork")
    answer, tell = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(tell, seconds, work))
    child.start()
    tell.close()
    try:
        found: T | Exception | None = answer.recv()
    except EOFError:  # it ended without a word
        found = None
    child.join()
    if isinstance(found, Exception):
        raise found
    if found is None and child.exitcode not in (0, -signal.SIGXCPU):
        raise RuntimeError(f"the process ended with exit code {child.exitcode}")
    return found


def _work(tell: Connection, seconds: int | None, work: Callable[[], T]) -> None:
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    try:
        tell.send(work())
    except TimeoutError:  # the other interpreter's
        tell.send(None)
    except Exception as error:
        tell.send(error)
