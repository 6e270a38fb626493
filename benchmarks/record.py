"""Records of benchmark runs: one JSON file per run, with the commit and the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def write(measurements: dict[str, dict[str, float | str]]) -> Path:
    """Write a record and return its path."""
    from mixwood import _core
    from mixwood.experiments.command import processor

    now = datetime.now(UTC)
    record = {
        "time": now.isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {
            "processor": processor(),
            "processors": os.cpu_count(),
            "load": os.getloadavg()[0],
            "python": platform.python_version(),
            "instruction_set": _core.instruction_set(),
        },
        "measurements": measurements,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def compare() -> None:
    """Print how the last record differs from the one before it, as ratios."""
    paths = sorted(RESULTS.glob("*.json"))
    if len(paths) < 2:
        print(f"{len(paths)} record(s) in {RESULTS.name}/: make bench writes one more")
        return
    before, after = (json.loads(path.read_text()) for path in paths[-2:])
    print(f"{before['commit']} ({before['time']}) -> {after['commit']} ({after['time']})")
    for name, values in after["measurements"].items():
        old = before["measurements"].get(name, {})
        for key, value in values.items():
            was = old.get(key)
            if isinstance(value, (int, float)) and isinstance(was, (int, float)) and was:
                print(f"{name:32} {key:28} {was:12.4g} -> {value:12.4g}   x {value / was:.2f}")
