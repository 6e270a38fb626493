"""How much memory there is."""

from __future__ import annotations

from pathlib import Path

__all__ = ["available_bytes"]


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
