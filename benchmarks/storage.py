"""Stored runs: what they cost in time, how large checkpoints are, and that memory stays flat."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mixwood as mw
from mixwood.core import load_chain, make_chain
from mixwood.store.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

Measurement = dict[str, float | str]

DRAWS = 20_000


def overhead() -> dict[str, Measurement]:
    """CPU and wall seconds of a run with a store against one without, by turns."""
    X, _ = mw.datasets.toy()
    options = {"draws": DRAWS, "warmup": 100, "chains": 1, "seed": 1, "n_jobs": 1, "init": "one"}
    seconds: dict[str, list[tuple[float, float]]] = {"memory": [], "store": []}
    size = 0
    for _ in range(3):
        for kind, times in seconds.items():
            with tempfile.TemporaryDirectory() as place:
                run = Path(place) / "run"
                began = time.process_time(), time.perf_counter()
                mw.sample(
                    mw.Mixture(mw.Gaussian(scale="data")),
                    X,
                    progress=False,
                    store=run if kind == "store" else None,
                    **options,
                )
                times.append((time.process_time() - began[0], time.perf_counter() - began[1]))
                size = max(size, sum(p.stat().st_size for p in run.rglob("*") if p.is_file()))
    (cpu, wall), (stored_cpu, stored_wall) = (
        np.min(seconds[kind], axis=0) for kind in ("memory", "store")
    )
    return {
        "store, toy, Tree": {
            "cpu_seconds_in_memory": float(cpu),
            "cpu_ratio": float(stored_cpu / cpu),
            "wall_ratio": float(stored_wall / wall),
            "megabytes_on_disk": size / 1e6,
            "megabytes_of_labels": 4e-6 * DRAWS * len(X),
        }
    }


def checkpoints() -> dict[str, Measurement]:
    """The state of a chain over 100,000 rows in six columns: its size, and seconds to save it."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 50, 100_000)
    X = rng.normal(size=(100_000, 6)) + 4 * rng.normal(size=(50, 6))[which]
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X), mw.NGGP())
    family = model.likelihood.bind(X)
    results: dict[str, Measurement] = {}
    for sampler in (mw.Gibbs(), mw.Tree()):
        stream = np.random.PCG64(1)
        chain = make_chain(model, X, which.astype(np.int32), stream, sampler, family)
        chain.iterate(2)
        start = time.process_time()
        state = chain.save_state()
        saved = time.process_time()
        checkpoint = Checkpoint(0, 0, 0.0, stream.state, state)
        with tempfile.TemporaryDirectory() as place:
            began = time.perf_counter()
            write_checkpoint(Path(place) / "state", checkpoint)
            written = time.perf_counter()
            found = read_checkpoint(Path(place) / "state")
        loading = time.process_time()
        load_chain(model, X, sampler, family, state=found.state, random=found.random)
        results[f"checkpoint, 100,000 rows, {type(sampler).__name__}"] = {
            "megabytes": len(state) / 1e6,
            "cpu_seconds_to_save": saved - start,
            "wall_seconds_to_write": written - began,
            "cpu_seconds_to_load": time.process_time() - loading,
        }
    return results


MEMORY = """
import sys, tempfile
import numpy as np
import mixwood as mw
from mixwood.store import resume

class Enough(Exception):
    pass

def at_the_end(*_):
    raise Enough  # before all draws are read back

resume.read_posterior = at_the_end
X = np.random.default_rng(0).normal(size=(20_000, 2))
with tempfile.TemporaryDirectory() as place:
    try:
        model, moves = mw.Mixture(mw.Gaussian(scale="data")), mw.Gibbs(subset=10)
        mw.sample(model, X, moves, draws=int(sys.argv[1]), warmup=0, chains=1, seed=1,
                  init="one", store=place + "/run", progress=False)
    except Enough:
        status = dict(line.split(":") for line in open("/proc/self/status"))
        print(int(status["VmHWM"].split()[0]) / 1024)
"""


def memory() -> dict[str, Measurement]:
    """The most memory that a stored run takes before its draws are read back."""
    values: Measurement = {}
    for draws in (100, 1000, 5000):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(draws)], capture_output=True, text=True, check=True
        )
        values[f"megabytes_at_{draws}_draws"] = float(done.stdout)
    values["megabytes_of_5000_draws"] = 4 * 5000 * 20_000 / 2**20
    return {"store, memory, 20,000 rows": values}


BENCHMARKS = (overhead, checkpoints, memory)
