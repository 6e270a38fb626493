"""How much memory there is."""

from __future__ import annotations

from pathlib import Path

__all__ = ["available_bytes"]


def available_bytes() -> int | None:
    """Return the memory that a process can still take, or None where that cannot be told.

    The smaller of what the kernel calls available and what the control group allows.
    """
    limits = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        pass
    try:
        group = Path("/sys/fs/cgroup")
        limits.append(
            int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
        )
    except (OSError, ValueError):
        pass
    return min(limits, default=None)
