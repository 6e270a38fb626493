"""One process at a time: a lock that ends with the process that holds it, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["locked"]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a file, or raise BlockingIOError if another process does.

    The file stays: only the lock on it counts, which the system takes back from a process
    that has ended.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        try:
            _lock(descriptor)
        except OSError as error:
            raise BlockingIOError(
                f"{path.parent} is being written by another process; wait until that has ended"
            ) from error
        yield
    finally:
        os.close(descriptor)


if os.name == "nt":  # pragma: no cover

    def _lock(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
