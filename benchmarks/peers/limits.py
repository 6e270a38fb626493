"""A fit in a process of its own, which ends when it has used up its CPU seconds."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from multiprocessing.connection import Connection

from benchmarks.peers.interface import Contest, Fit, Peer


def fit_within(seconds: int, peer: Peer, contest: Contest, effort: int, seed: int) -> Fit | None:
    """Return the fit, or None if it and the density of the rows held out took too long.

    The process is forked, so that what was imported before is not on its clock; another
    interpreter that it starts has the same limit.
    """
    context = multiprocessing.get_context("fork")
    answer, tell = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(tell, seconds, peer, contest, effort, seed))
    child.start()
    tell.close()
    try:
        found: Fit | Exception | None = answer.recv()
    except EOFError:  # it ended without a word
        found = None
    child.join()
    if isinstance(found, Exception):
        raise found
    if found is None and child.exitcode not in (0, -signal.SIGXCPU):
        raise RuntimeError(f"{peer.name} ended with exit code {child.exitcode}")
    return found


def _work(
    tell: Connection, seconds: int, peer: Peer, contest: Contest, effort: int, seed: int
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    try:
        tell.send(peer.fit(contest, effort, seed))
    except TimeoutError:  # the other interpreter's
        tell.send(None)
    except Exception as error:
        tell.send(error)
