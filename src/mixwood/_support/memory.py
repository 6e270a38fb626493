"""How much memory there is, and arrays in files where there is too little."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["array_in_file", "available_bytes", "fits", "room_folder"]


def available_bytes() -> int | None:
    """Return the memory that a process can still take, or None where that cannot be told.

    The smallest of what the kernel calls available, what the control group allows, and what the
    limit on the process's address space (``ulimit -v``) leaves.
    """
    limits = []
    for look in (_system, _control_group, _address_space):
        try:
            limits.append(look())
        except (ImportError, OSError, ValueError, KeyError):  # no such file here, or no limit set
            continue
    return max(min(limits), 0) if limits else None


def fits(needed: int) -> bool:
    """Tell whether this many bytes can be had in memory, as far as can be told."""
    available = available_bytes()
    return available is None or needed <= available


def room_folder() -> str:
    """Return where large temporary files go: TMPDIR, else /var/tmp, as /tmp may be in memory."""
    if not os.environ.get("TMPDIR") and os.access("/var/tmp", os.W_OK):
        return "/var/tmp"
    return tempfile.gettempdir()


def array_in_file(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array in a temporary file, which is gone when the array is.

    Raises
    ------
    OSError
        If there is no room in `room_folder`.

    Examples
    --------
    >>> array = array_in_file((2, 3), "int8")
    >>> array[:] = 7
    >>> int(array.sum())
    42
    """
    size = max(math.prod(shape) * np.dtype(dtype).itemsize, 1)
    with tempfile.TemporaryFile(prefix="mixwood-", dir=room_folder()) as file:
        if hasattr(os, "posix_fallocate"):  # a hole that cannot be filled later would kill us
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        return np.ndarray(shape, dtype, buffer=mmap.mmap(file.fileno(), size))


def _system() -> int:
    return _table(Path("/proc/meminfo"))["MemAvailable:"] * 1024


def _control_group() -> int:
    group = Path("/sys/fs/cgroup")
    used = int((group / "memory.current").read_text())
    cached = _table(group / "memory.stat")["inactive_file"]  # given back when asked for
    return int((group / "memory.max").read_text()) - (used - cached)


def _address_space() -> int:
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        raise ValueError("no limit set")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return limit - pages * resource.getpagesize()


def _table(path: Path) -> dict[str, int]:
    """Return the lines of a file as name and first number."""
    return {words[0]: int(words[1]) for words in map(str.split, path.read_text().splitlines())}
