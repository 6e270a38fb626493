"""One process at a time: a lock that ends with the process that holds it, however it ends."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["locked", "locked_folder"]


@contextmanager
def locked(path: Path) -> Iterator[Callable[[], bool]]:
    """Hold the lock on a file.

    The file stays: only the lock on it counts, which the system takes back from a process
    that has ended. Yields a function that tells whether the file at `path` is still the one that
    is locked, or whether its folder was moved or removed, and perhaps another put in its place.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    ValueError
        If what is there is not a plain file.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        _refuse_other_kinds(path, path.lstat() if os.path.lexists(path) else None, error)
        raise
    try:
        _refuse_other_kinds(path, os.fstat(descriptor))
        try:
            _lock(descriptor)
        except OSError as error:
            raise _taken(path.parent) from error
        yield lambda: _is_at(path, descriptor)
    finally:
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Tell whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


@contextmanager
def locked_folder(path: Path) -> Iterator[bool]:
    """Hold a lock on a folder itself, which leaves no file in it.

    Yields whether it is held: some file systems have no locks on folders.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    OSError
        If there is no such folder.
    """
    if os.name == "nt":  # pragma: no cover
        yield False
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            _lock(descriptor)
            is_held = True
        except BlockingIOError as error:
            raise _taken(path) from error
        except OSError:
            is_held = False
        yield is_held
    finally:
        os.close(descriptor)


def _refuse_other_kinds(
    path: Path, status: os.stat_result | None, cause: OSError | None = None
) -> None:
    """Raise a ValueError if there is something that is not a plain file."""
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise ValueError(
            f"{path} must be a plain file, which mixwood locks while it writes: it is a link, a "
            "folder or the like; remove it"
        ) from cause


def _taken(folder: Path) -> BlockingIOError:
    return BlockingIOError(
        f"{folder} is being written by another process; wait until that has ended"
    )


if os.name == "nt":  # pragma: no cover

    def _lock(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
