"""Trees: time, depth and memory against n; how good the clusters of each method are."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import mixwood as mw
from benchmarks.data import adjusted_rand, data_folder, labelled_set

Measurement = dict[str, float | str]

GROWTH_PROGRAM = """
import sys, time
from pathlib import Path
import numpy as np
import mixwood as mw
n, d, rule = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
means = rng.uniform(-30, 30, (50, d))
X = means[rng.integers(0, 50, n)] + rng.normal(size=(n, d))
def status(name):  # in megabytes
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
mw.ibhc(mw.Mixture(), X[:100], seed=0).linkage()  # so that all is imported
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
before, start = status("VmRSS"), time.process_time()
tree = mw.ibhc(mw.Mixture(), X, rule=rule, seed=0)
tree.labels
seconds = time.process_time() - start
linkage = tree.linkage()
peak = status("VmHWM") - before
depth = np.zeros(2 * n - 1, dtype=np.int64)
for k in range(n - 2, -1, -1):  # parents come after their children
    depth[linkage[k, :2].astype(int)] = depth[n + k] + 1
print(seconds, depth[:n].mean(), peak, tree.n_clusters)
"""


def _grow(n: int, d: int, rule: str) -> tuple[float, float, float, float]:
    output = subprocess.run(
        [sys.executable, "-c", GROWTH_PROGRAM, str(n), str(d), rule],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    seconds, depth, peak, clusters = (float(v) for v in output.split())
    return seconds, depth, peak, clusters


def tree_growth() -> dict[str, Measurement]:
    """IBHC on n points of 50 clusters in the plane, the default model: both rules."""
    results: dict[str, Measurement] = {}
    sizes = {"balanced": (10**3, 10**4, 10**5, 10**6), "paper": (10**3, 3000, 10**4)}
    for rule, numbers in sizes.items():
        rows = [_grow(n, 2, rule) for n in numbers]
        for n, (seconds, depth, peak, clusters) in zip(numbers, rows, strict=True):
            results[f"ibhc {rule}, n = {n}"] = {
                "seconds": seconds, "mean_depth": depth, "peak_mb": peak, "clusters": clusters,
            }  # fmt: skip
        logs = np.log(np.array(numbers[1:], dtype=float))
        times = np.log([row[0] for row in rows[1:]])
        depths = np.log([row[1] for row in rows[1:]])
        results[f"ibhc {rule}, exponents"] = {
            "time": float(np.polyfit(logs, times, 1)[0]),
            "mean_depth": float(np.polyfit(logs, depths, 1)[0]),
        }
    return results


def tree_quality() -> dict[str, Measurement]:
    """Adjusted Rand on labelled sets: bhc, both rules of ibhc, and Ward cut at the true number."""
    from scipy.cluster.hierarchy import fcluster, ward

    if data_folder() is None:
        return {"tree quality": {"missing": "set MIXWOOD_DATA to the folder with sets/"}}
    results: dict[str, Measurement] = {}
    for name in ("hepta", "s1", "s2", "a1", "unbalance", "iris", "wine"):
        X, truth = labelled_set(name)
        clusters = len(np.unique(truth))
        trees = {
            "balanced": mw.ibhc(mw.Mixture(), X, trials=5, seed=0),
            "paper": mw.ibhc(mw.Mixture(), X, trials=5, rule="paper", seed=0),
        }
        if len(X) <= 5000:
            trees["bhc"] = mw.bhc(mw.Mixture(), X)
        row: Measurement = {key: adjusted_rand(truth, tree.labels) for key, tree in trees.items()}
        row["ward"] = adjusted_rand(truth, fcluster(ward(X), clusters, "maxclust"))
        row |= {f"{key}_clusters": tree.n_clusters for key, tree in trees.items()}
        results[f"trees, {name} ({clusters} classes)"] = row
    return results


def greedy() -> dict[str, Measurement]:
    """Bhc at n = 2,000 against scipy's average linkage, CPU seconds."""
    from scipy.cluster.hierarchy import average

    X = np.random.default_rng(0).normal(size=(2000, 2))
    start = time.process_time()
    mw.bhc(mw.Mixture(), X)
    ours = time.process_time() - start
    start = time.process_time()
    average(X)
    theirs = time.process_time() - start
    return {"bhc, n = 2000": {"seconds": ours, "average_linkage": theirs, "ratio": ours / theirs}}


BENCHMARKS = (tree_growth, tree_quality, greedy)
