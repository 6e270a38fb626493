"""How much memory there is."""

from __future__ import annotations

from pathlib import Path

__all__ = ["available_bytes"]


def available_bytes() -> int | None:
    """Return the memory that a process can still take, or None where that cannot be told.

    The smaller of what the kernel calls available and what the control group allows.
    """
    limits = []
    for look in (_system, _control_group):
        try:
            limits.append(look())
        except (OSError, ValueError, KeyError):  # no such file here, or no limit set
            continue
    return min(limits, default=None)


def _system() -> int:
    return _table(Path("/proc/meminfo"))["MemAvailable:"] * 1024


def _control_group() -> int:
    group = Path("/sys/fs/cgroup")
    used = int((group / "memory.current").read_text())
    cached = _table(group / "memory.stat")["inactive_file"]  # given back when asked for
    return int((group / "memory.max").read_text()) - (used - cached)


def _table(path: Path) -> dict[str, int]:
    """Return the lines of a file as name and first number."""
    return {words[0]: int(words[1]) for words in map(str.split, path.read_text().splitlines())}
