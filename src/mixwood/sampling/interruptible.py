"""Work before there are draws: it can be stopped within trees that grow, and says how far it is."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from mixwood._support.threads import in_threads
from mixwood.sampling.progress import WaitingLine

__all__ = ["at_once", "interruptibly"]

Given = TypeVar("Given")
Made = TypeVar("Made")

#: Of each thread that works for `interruptibly`: its interrupt, and how many threads it may use.
_own = threading.local()


def interruptibly(
    work: Callable[[Given], Made],
    given: Iterable[Given],
    workers: int,
    *,
    what: str,
    shown: bool,
    until: float | None = None,
) -> list[Made]:
    """Return ``[work(x) for x in given]``, worked out in threads under one interrupt.

    So Ctrl-C, which comes to the main thread alone, and the time limit stop all of them: trees
    between two rows, chains within an iteration.

    Parameters
    ----------
    work : function
        Of one argument.
    given : iterable
        What it is called with.
    workers : int
        How many threads.
    what : str
        What is waited for, for the line that shows it.
    shown : bool
        Whether that is to be shown where progress is.
    until : float, optional
        When the work is stopped, by the monotonic clock.

    Raises
    ------
    OutOfTimeError
        If the work was not done in time.

    Examples
    --------
    >>> interruptibly(len, ["a", "bc"], 1, what="counting", shown=False)
    [1, 2]
    """
    from mixwood import _core

    interrupt = _core.Interrupt()
    tasks = list(given)

    def under_interrupt(one: Given) -> Made:
        _own.interrupt, _own.threads = interrupt, max(workers // max(len(tasks), 1), 1)
        with interrupt:
            return work(one)

    with WaitingLine(shown=shown) as line:
        return in_threads(
            under_interrupt,
            tasks,
            workers,
            interrupt.stop,
            until=math.inf if until is None else until,
            look=lambda: line.tell(f"{what}: {interrupt.done:,} rows put in"),
        )


def at_once(work: Callable[[Given], Made], given: Iterable[Given]) -> list[Made]:
    """Return ``[work(x) for x in given]``, in as many threads as the calling one may use.

    Those are the ones that `interruptibly` has and does not need; elsewhere there is one. What
    stops the caller stops them, too.

    Parameters
    ----------
    work : function
        Of one argument; it may not depend on what other calls of it do.
    given : iterable
        What it is called with.

    Examples
    --------
    >>> at_once(len, ["a", "bc"])
    [1, 2]
    """
    tasks = list(given)
    threads = min(getattr(_own, "threads", 1), len(tasks))
    if threads < 2:
        return [work(one) for one in tasks]
    interrupt = _own.interrupt

    def under_same(one: Given) -> Made:
        with interrupt:
            return work(one)

    return in_threads(under_same, tasks, threads, interrupt.stop)
