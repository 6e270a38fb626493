"""Many rows: points per second and peak memory against n, streams, Dask; what the collapse costs.

`MIXWOOD_BENCH_LARGE=1` adds the runs that take long: 10^6 rows, and 10^7 as a stream.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

import mixwood as mw
from mixwood.partitions import adjusted_rand

Measurement = dict[str, float | str]

LARGE = os.environ.get("MIXWOOD_BENCH_LARGE") == "1"

# What is measured runs in a process of its own, whose peak is its own.
PROGRAM = """
import sys, time
from pathlib import Path
import numpy as np
import mixwood as mw
from benchmarks.scale import documents, points, stream
kind, n, d, leaves, chains = sys.argv[1], *map(int, sys.argv[2:])
options = {"draws": 2, "warmup": 2, "chains": chains, "seed": 0, "progress": False}
def status(name):  # in megabytes
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
model = mw.Mixture(mw.Multinomial(beta=0.1) if kind == "documents" else mw.Gaussian(scale="data"))
small = documents(50, d) if kind == "documents" else points(50, d)
mw.sample(model, mw.stream_leaves(model, small, 9, seed=0), **options)  # so that all is imported
X = None if kind == "stream" else documents(n, d) if kind == "documents" else points(n, d)
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
before, start = status("VmRSS"), time.process_time()
if kind == "stream":
    X = mw.stream_leaves(model, lambda: stream(n, d), leaves, seed=0)
    read = time.process_time() - start
    post = mw.sample(model, X, **options)
else:
    read = 0.0
    post = mw.sample(model, X, mw.Tree(max_leaves=leaves or None), **options)
seconds = time.process_time() - start
own = post.labels.nbytes / 2**20
print(seconds, read, status("VmHWM") - before - own, post.n_clusters[0, -1])
"""

CLUSTERS = 30


def centres(d: int) -> np.ndarray:
    return 12 * np.random.default_rng(1).normal(size=(CLUSTERS, d))


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return rows of 30 Gaussian clusters, made a portion at a time."""
    X = np.empty((n, d))
    rng = np.random.default_rng(seed)
    for start in range(0, n, 100_000):
        part = X[start : start + 100_000]
        part[:] = rng.normal(size=part.shape) + centres(d)[rng.integers(0, CLUSTERS, len(part))]
    return X


def stream(n: int, d: int) -> Any:
    """Yield the same in blocks of 100,000 rows, none of which is kept."""
    for number in range(0, n // 100_000):
        yield points(100_000, d, seed=number)


def documents(n: int, words: int) -> Any:
    """Return sparse rows of 40 words each, about 20 subjects."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    subjects = rng.integers(0, 20, n)
    order = np.array([np.random.default_rng(k).permutation(words) for k in range(20)])
    columns = order[subjects[:, None], (words * rng.random((n, 40)) ** 4).astype(int)]
    starts = np.arange(0, 40 * n + 1, 40)
    X = csr_array((np.ones(40 * n), columns.ravel(), starts), shape=(n, words))
    X.sum_duplicates()
    return X


def _run(kind: str, n: int, d: int, leaves: int, chains: int) -> Measurement:
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, *map(str, (n, d, leaves, chains))],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    seconds, read, peak, clusters = (float(v) for v in output.split())
    return {
        "seconds": seconds,
        "points_a_second": n / seconds,
        "seconds_reading": read,
        "peak_megabytes": peak,
        "clusters": clusters,
    }


NUMBERS = (10**4, 10**5, 10**6) if LARGE else (10**4, 3 * 10**4, 10**5)


def scale_with_rows() -> dict[str, Measurement]:
    """A start and four iterations of one chain: CPU time, and memory beyond data and draws."""
    return _with_rows(2)


def scale_with_rows_of_16_columns() -> dict[str, Measurement]:
    """The same in 16 columns."""
    return _with_rows(16)


def _with_rows(d: int) -> dict[str, Measurement]:
    results: dict[str, Measurement] = {}
    for name, leaves in (("rows", 0), ("2,000 leaves", 2000)):
        rows = [_run("points", n, d, leaves, 1) for n in NUMBERS]
        for n, row in zip(NUMBERS, rows, strict=True):
            results[f"{name}, n = {n}, d = {d}"] = row
        results[f"{name}, d = {d}, exponents"] = _exponents(NUMBERS, rows)
    return results


def scale_of_documents() -> dict[str, Measurement]:
    """Sparse rows of 5,000 words, by rows and by leaves."""
    n = 10**5 if LARGE else 10**4
    return {
        f"documents, n = {n}, leaves {leaves}": _run("documents", n, 5000, leaves, 1)
        for leaves in (0, 1000)
    }


def scale_of_chains() -> dict[str, Measurement]:
    """What several chains by rows take."""
    n = NUMBERS[-1]
    return {
        f"rows, n = {n}, d = 2, {chains} chains": _run("points", n, 2, 0, chains)
        for chains in (2, 4)
    }


def scale_of_streams() -> dict[str, Measurement]:
    """`stream_leaves` with 2,000 leaves, two passes, and four iterations over the leaves."""
    numbers = (10**6, 10**7) if LARGE else (10**5, 3 * 10**5)
    rows = [_run("stream", n, 2, 2000, 1) for n in numbers]
    results = {f"stream, n = {n}": row for n, row in zip(numbers, rows, strict=True)}
    return results | {"stream, exponents": _exponents(numbers, rows)}


def _exponents(numbers: tuple[int, ...], rows: list[Measurement]) -> Measurement:
    logs = np.log(numbers)
    return {
        key: float(np.polyfit(logs, np.log([float(row[key]) for row in rows]), 1)[0])
        for key in ("seconds", "peak_megabytes")
    }


def scale_of_collapse() -> dict[str, Measurement]:
    """What leaves cost: 12 overlapping clusters, by rows and by leaves of four partitions.

    Draws by leaves have the higher joint: rows at the borders of clusters do not waver on their
    own. What is lost shows in the density of rows that were held out.
    """
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 21_000)
    X = rng.normal(size=(21_000, 2)) + 3.5 * np.column_stack([truth % 4, truth // 4])
    X, new, truth = X[:20_000], X[20_000:], truth[:20_000]
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X))
    options: dict[str, Any] = {"draws": 50, "warmup": 100, "chains": 1, "progress": False}
    runs = [mw.sample(model, X, seed=seed, **options) for seed in (0, 1)]
    rows = _best(runs[0])
    results = {"by rows, again": _compared(runs[1], _best(runs[1]), rows, truth, new)}
    for limit in (25, 100, 400, 1600):
        post, labels = _by_leaves(model, X, limit, options)
        name = f"{limit} leaves a partition"
        results[name] = _compared(post, labels, rows, truth, new)
    return results


def _best(post: mw.Posterior) -> np.ndarray:
    return post.labels[0, int(post.log_joint.argmax())]


def _compared(
    post: mw.Posterior, labels: np.ndarray, rows: np.ndarray, truth: np.ndarray, new: np.ndarray
) -> Measurement:
    return {
        "log_joint": float(post.log_joint.mean()),
        "held_out_log_density": float(post.log_density(new).mean()),
        "adjusted_rand_with_rows": adjusted_rand(labels, rows),
        "adjusted_rand_with_truth": adjusted_rand(labels, truth),
    }


def _by_leaves(
    model: mw.Mixture, X: np.ndarray, limit: int, options: dict[str, Any]
) -> tuple[mw.Posterior, np.ndarray]:
    import dask
    import dask.array as da

    from mixwood import distributed

    with dask.config.set(scheduler="synchronous"):
        array: Any = da.from_array(X, chunks=(len(X) // 4, -1))
        found = distributed.build_leaves(model, array, limit, seed=0)
        post = mw.sample(model, found.leaves, seed=0, **options)
        return post, found.row_labels(_best(post)).compute()


def scale_of_workers() -> dict[str, Measurement]:
    """Wall time of leaves from eight partitions and a short run, on 1 and 2 worker processes."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from mixwood import distributed

    n = 10**6 if LARGE else 10**5
    results: dict[str, Measurement] = {}
    for workers in (1, 2):
        with (
            warnings.catch_warnings(),
            LocalCluster(
                processes=True, n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster),
        ):
            warnings.simplefilter("ignore")
            parts = [dask.delayed(points)(n // 8, 2, k) for k in range(8)]
            array: Any = da.concatenate(
                [da.from_delayed(p, (n // 8, 2), dtype=float) for p in parts]
            )
            begun = time.perf_counter()
            found = distributed.build_leaves(
                mw.Mixture(mw.Gaussian(scale="data")), array, 500, seed=0
            )
            built = time.perf_counter() - begun
            post = mw.sample(
                mw.Mixture(mw.Gaussian(scale="data")),
                found.leaves,
                draws=20,
                warmup=20,
                chains=1,
                seed=0,
                progress=False,
            )
            results[f"Dask, n = {n}, {workers} worker(s)"] = {
                "wall_seconds_leaves": built,
                "wall_seconds": time.perf_counter() - begun,
                "log_joint": float(post.log_joint[0, -1]),
            }
    return results


BENCHMARKS = (
    scale_with_rows,
    scale_with_rows_of_16_columns,
    scale_of_documents,
    scale_of_chains,
    scale_of_streams,
    scale_of_collapse,
    scale_of_workers,
)
