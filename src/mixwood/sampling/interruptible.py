"""Work before there are draws: it can be stopped within trees that grow, and says how far it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

from mixwood._support.threads import in_threads
from mixwood.sampling.progress import WaitingLine

__all__ = ["interruptibly"]

Given = TypeVar("Given")
Made = TypeVar("Made")


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

    def under_interrupt(one: Given) -> Made:
        with interrupt:
            return work(one)

    with WaitingLine(shown=shown) as line:
        return in_threads(
            under_interrupt,
            given,
            workers,
            interrupt.stop,
            until=math.inf if until is None else until,
            look=lambda: line.tell(f"{what}: {interrupt.done:,} rows put in"),
        )
