"""How long people wait: for a small run, and for a large one to stop.

    python -m benchmarks.waits [seconds before a signal is sent ...]

`small_runs` are CPU seconds of `sample` of the toy data with ten draws after ten of warm-up, one
chain, as `benchmarks.peers` has it: with the defaults, with the structure given, with the start
given too, and with a fixed base measure and a Dirichlet process; by turns, the fastest of each
counts. `first_run` is the first one of a process, what it imports included. `stopping` starts runs
over noisy rows in other processes, and measures how long they take to end after Ctrl-C
some seconds later, and in all with a time limit of a second. Records go to
benchmarks/results/waits.jsonl.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import mixwood as mw
from benchmarks import record

PATH = record.RESULTS / "waits.jsonl"
REPEATS = 5
#: Of the data that are stopped at: trees grow for minutes, and chains run after some seconds.
LARGE, MIDDLE = (200_000, 10), (10_000, 4)
#: What another process does: it says what it took.
FIRST_RUN = """
import time
import mixwood as mw
X, _ = mw.datasets.toy()
began = time.process_time()
mw.sample(mw.Mixture(), X, draws=10, warmup=10, chains=1, seed=1)
print(time.process_time() - began)
"""
#: What one that is to be stopped does: it says when the data are there, and then samples.
LARGE_RUN = """
import sys, warnings
import numpy as np
import mixwood as mw
n, d, limit = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(1)
X = 2 * rng.normal(size=(30, d))[rng.integers(30, size=n)] + rng.normal(size=(n, d))
warnings.simplefilter("ignore")
mw.sample(mw.Mixture(), X[:50], draws=1, warmup=0, chains=1, progress=False)  # imports
print("go", flush=True)
try:
    post = mw.sample(mw.Mixture(), X, seed=1, max_seconds=limit or None, progress=False)
    print("draws", post.n_draws, flush=True)
except (KeyboardInterrupt, RuntimeError) as error:
    print(type(error).__name__, flush=True)
"""


def small_runs() -> dict[str, float]:
    """Return CPU seconds of each kind of run."""
    X, _ = mw.datasets.toy()
    fixed = mw.Gaussian(r=0.01, nu=4, mean=X.mean(axis=0), scale=[[1.0, 0.0], [0.0, 1.0]])
    kinds = {
        "defaults": (mw.Mixture(), "ibhc"),
        "structure given": (mw.Mixture(mw.Gaussian()), "ibhc"),
        "structure and start given": (mw.Mixture(mw.Gaussian()), "one"),
        "fixed base, Dirichlet process": (mw.Mixture(fixed, mw.DirichletProcess(1.0)), "ibhc"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    for repeat in range(REPEATS + 1):
        for name, (model, init) in kinds.items():
            began = time.process_time()
            mw.sample(
                model, X, draws=10, warmup=10, chains=1, seed=repeat, init=init, progress=False
            )
            seconds[name].append(time.process_time() - began)
    return {name: min(values[1:]) for name, values in seconds.items()}  # the first one imports


def first_run() -> float:
    """Return the CPU seconds of a new process that runs the defaults once; the least of some."""
    command = [sys.executable, "-c", FIRST_RUN]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def _begun(shape: tuple[int, int], limit: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LARGE_RUN, *map(str, shape), str(limit)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "go\n"
    return running


def _ended(running: subprocess.Popen[str], began: float) -> tuple[float, str]:
    assert running.stdout is not None
    said = running.stdout.readline().strip()
    seconds = time.monotonic() - began
    running.communicate()
    return seconds, said


def stopping(waits: list[float]) -> dict[str, float | str]:
    """Return how many seconds runs take to stop after a signal, and in all with a limit of 1 s."""
    found: dict[str, float | str] = {}
    for shape in (LARGE, MIDDLE):
        rows = f"{shape[0]:,} x {shape[1]}"
        for wait in waits:
            running = _begun(shape, 0)
            time.sleep(wait)
            began = time.monotonic()
            os.kill(running.pid, signal.SIGINT)
            seconds, said = _ended(running, began)
            found[f"{rows}, Ctrl-C after {wait:g} s"] = round(seconds, 2)
            found[f"{rows}, Ctrl-C after {wait:g} s, ended with"] = said
        running = _begun(shape, 1)
        seconds, said = _ended(running, time.monotonic())
        found[f"{rows}, max_seconds=1"] = round(seconds, 2)
        found[f"{rows}, max_seconds=1, ended with"] = said
    return found


def main() -> None:
    """Measure, print and record."""
    waits = [float(wait) for wait in sys.argv[1:]] or [0.5, 2, 5, 10, 20]
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": record.commit(),
        "load": os.getloadavg()[0],
        "small runs, CPU seconds": small_runs(),
        "first run of a process, CPU seconds": first_run(),
        "stopping, seconds": stopping(waits),
    }
    print(json.dumps(entry, indent=1))
    with PATH.open("a") as file:
        file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
