"""The Gibbs sweep: against a straightforward kernel, on text, in memory, on two cores."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder
from mixwood.core import make_chain

Measurement = dict[str, float | str]
ROOT = Path(__file__).parent.parent


def _program() -> Path:
    """Build the C++ side and return its path."""
    build = ROOT / "build" / "benchmarks"
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, "-DMIXWOOD_BENCHMARKS=ON", f"-Dnanobind_DIR={nanobind}",
         f"-DPython_EXECUTABLE={sys.executable}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run(
        ["cmake", "--build", build, "--target", "gaussian_sweep"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return build / "gaussian_sweep"


def gaussian_sweep() -> dict[str, Measurement]:
    """One sweep of 10,000 rows, 20 clusters: blocked, row by row, and the arithmetic floor."""
    program = _program()
    results: dict[str, Measurement] = {}
    # The spread of the means is chosen so that a few per cent of the rows move at most.
    for dimension, spread in ((2, 30), (6, 4), (16, 2), (32, 2)):
        output = subprocess.run(
            [program, "10000", "20", str(dimension), str(spread), "60"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        values = json.loads(output)
        values["times_faster_than_row_by_row"] = values["row_by_row_ms"] / values["blocked_ms"]
        values["times_the_floor"] = values["blocked_ms"] / values["floor_ms"]
        results[f"gaussian sweep, d = {dimension}"] = values
    return results


def toy_sweep() -> dict[str, Measurement]:
    """Milliseconds per sweep on the toy data (1,300 x 2), from the true clusters."""
    X, truth = mw.datasets.toy()
    likelihood = mw.Gaussian(scale="data").resolve(X)
    results: dict[str, Measurement] = {}
    for prior in (mw.DirichletProcess(1.0), mw.NGGP()):
        model = mw.Mixture(likelihood, prior)
        chain = make_chain(model, X, truth, np.random.PCG64(0), mw.Gibbs())
        chain.iterate(100)
        clusters, seconds = [], 0.0
        for _ in range(50):
            start = time.process_time()
            chain.iterate(20)
            seconds += time.process_time() - start
            clusters.append(chain.n_clusters)
        results[f"toy sweep, {type(prior).__name__}"] = {
            "clusters": float(np.mean(clusters)),
            "ms": seconds,  # of 1,000 sweeps in seconds, hence of one in milliseconds
        }
    return results


def multinomial_sweep() -> dict[str, Measurement]:
    """Nanoseconds per (nonzero, cluster) pair on the NIPS corpus, from 320 random clusters."""
    folder = data_folder()
    if folder is None:
        return {"multinomial sweep": {"missing": "set MIXWOOD_DATA to the folder with nips/"}}
    X, _ = mw.datasets.nips(folder / "nips")
    likelihood = mw.Multinomial(0.1).resolve(X)
    X = likelihood.check(X)
    labels = np.random.default_rng(0).integers(0, 320, X.shape[0]).astype(np.int32)
    model = mw.Mixture(likelihood, mw.NGGP(1.0, 0.5))
    chain = make_chain(model, X, labels, np.random.PCG64(0), mw.Gibbs())
    chain.iterate(2)
    clusters, seconds = [], 0.0
    for _ in range(5):
        start = time.process_time()
        chain.iterate()
        seconds += time.process_time() - start
        clusters.append(chain.n_clusters)
    pairs = X.nnz * float(np.sum(clusters))
    return {
        "multinomial sweep": {
            "clusters": float(np.mean(clusters)),
            "seconds": seconds / len(clusters),
            "ns_per_pair": 1e9 * seconds / pairs,
        }
    }


MEMORY_PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import mixwood as mw
from mixwood.core import make_chain
n, d = int(sys.argv[1]), int(sys.argv[2])
X = np.random.default_rng(0).normal(size=(n, d)) + 20 * (np.arange(n) % 50)[:, None]
likelihood = mw.Gaussian(scale="data").resolve(X)
labels = (np.arange(n) % 50).astype(np.int32)
def status(name):  # in megabytes
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
before = status("VmRSS")
chain = make_chain(mw.Mixture(likelihood), X, labels, np.random.PCG64(0), mw.Gibbs())
chain.iterate()
print(status("VmHWM") - before, X.nbytes / 2**20)
"""


def memory() -> dict[str, Measurement]:
    """Peak memory that a chain adds to the data: the core's own copy is one of them."""
    results: dict[str, Measurement] = {}
    for n, d in ((100_000, 16), (1_000_000, 2)):
        output = subprocess.run(
            [sys.executable, "-c", MEMORY_PROGRAM, str(n), str(d)],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        added, data = (float(v) for v in output.split())
        results[f"memory, {n} x {d}, 50 clusters"] = {
            "data_mb": data,
            "added_mb": added,
            "added_over_data": added / data,
            "rows_by_clusters_would_be_mb": n * 50 * 8 / 2**20,
        }
    return results


def two_chains() -> dict[str, Measurement]:
    """Wall-clock seconds of two chains on two threads over those of one chain, best of three."""
    X, _ = mw.datasets.toy()
    X = np.concatenate([X] * 8)

    def seconds(chains: int) -> float:
        start = time.perf_counter()
        mw.sample(
            mw.Mixture(mw.Gaussian(scale="data")), X, mw.Gibbs(), draws=200, warmup=0,
            chains=chains, seed=1, n_jobs=2,
            init="singletons" if len(X) < 100 else np.arange(len(X)) % 13, progress=False,
        )  # fmt: skip
        return time.perf_counter() - start

    one, two = [], []
    for _ in range(3):
        one.append(seconds(1))
        two.append(seconds(2))
    return {
        "two chains on two cores": {
            "one_s": min(one),
            "two_s": min(two),
            "two_over_one": min(two) / min(one),
        }
    }


BENCHMARKS = (gaussian_sweep, toy_sweep, multinomial_sweep, memory, two_chains)
