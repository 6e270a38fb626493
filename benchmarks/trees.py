"""Trees: time, depth and memory against n; how good the clusters of each method are."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder, labelled_set
from mixwood.partitions import adjusted_rand

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
# All is fixed: means of random parameters take 0.2 s.
model = mw.Mixture(mw.Gaussian(scale="data"), mw.NGGP(1.0, 0.5))
mw.ibhc(model, X[:100], seed=0).linkage()  # so that all is imported
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
before, start = status("VmRSS"), time.process_time()
tree = mw.ibhc(model, X, rule=rule, seed=0)
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
    """IBHC on n points of 50 clusters in the plane, Gaussian and NGGP(1, 0.5): both rules.

    The exponents are slopes of straight lines through the logs of all n, and of the largest two.
    """
    results: dict[str, Measurement] = {}
    sizes = {"balanced": (10**3, 10**4, 10**5, 10**6), "paper": (10**3, 3000, 10**4)}
    for rule, numbers in sizes.items():
        rows = [_grow(n, 2, rule) for n in numbers]
        for n, row in zip(numbers, rows, strict=True):
            results[f"ibhc {rule}, n = {n}"] = _named(row)
        logs, times, depths = (
            np.log(values) for values in (numbers, [r[0] for r in rows], [r[1] for r in rows])
        )
        results[f"ibhc {rule}, exponents"] = {
            "time": float(np.polyfit(logs, times, 1)[0]),
            "time_largest": float((times[-1] - times[-2]) / (logs[-1] - logs[-2])),
            "mean_depth": float(np.polyfit(logs, depths, 1)[0]),
            "mean_depth_each_doubling": float(np.polyfit(logs / np.log(2), np.exp(depths), 1)[0]),
        }
    return results


def tree_memory() -> dict[str, Measurement]:
    """Peak memory beyond the data of a million points in 16 columns (in 2: see tree_growth)."""
    return {"ibhc balanced, n = 1000000, d = 16": _named(_grow(10**6, 16, "balanced"))}


def _named(row: tuple[float, float, float, float]) -> Measurement:
    return dict(zip(("seconds", "mean_depth", "peak_mb", "clusters"), row, strict=True))


def _many_clusters(n: int, r: float) -> tuple[mw.Gaussian, np.ndarray, np.ndarray]:
    """Return n points in six columns, labels from PY(3, 0.8); a smaller r: farther apart."""
    likelihood = mw.Gaussian(r=r, nu=12, mean=np.zeros(6), scale=np.eye(6))
    X, truth = mw.simulate(mw.Mixture(likelihood, mw.PitmanYor(3.0, 0.8)), n, seed=0)
    return likelihood, np.asarray(X), truth


def tree_search() -> dict[str, Measurement]:
    """Nearest trees by index and by a look at all of them; how often the two differ."""
    cases: dict[str, tuple[mw.Mixture, Any, np.ndarray | None]] = {}
    for n, r in ((10_000, 0.1), (10_000, 0.01), (30_000, 0.01)):
        likelihood, X, truth = _many_clusters(n, r)
        name = f"{n} points of {truth.max() + 1} classes, r = {r:g}"
        cases[name] = (mw.Mixture(likelihood, mw.NGGP(1.0, 0.5)), X, truth)
    if data_folder() is not None:
        model = mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP(1.0, 0.5))
        cases["nips"] = (model, mw.datasets.nips(f"{data_folder()}/nips")[0], None)
    results: dict[str, Measurement] = {}
    for name, (model, X, truth) in cases.items():
        row: Measurement = {}
        for search in ("exact", "index"):
            start = time.process_time()
            tree = mw.ibhc(model, X, seed=0, search=search)
            row[f"{search}_seconds"] = time.process_time() - start
            row[f"{search}_clusters"] = tree.n_clusters
            row[f"{search}_bound"] = tree.log_evidence_bound
            if truth is not None:
                row[f"{search}_rand"] = adjusted_rand(truth, tree.labels)
        searches, differing = _compared(model, X)
        results[f"search, {name}"] = row | {"searches": searches, "differ": differing / searches}
    return results


def _compared(model: mw.Mixture, X: Any) -> tuple[int, int]:
    """Return in how many searches of one construction the index erred, and of how many."""
    from mixwood.core import bind_family
    from mixwood.trees.build import prior_parameters
    from mixwood.trees.hierarchy import Recipe, grow

    data = model.likelihood.check(X)
    given = mw.Mixture(model.likelihood.resolve(data), model.prior)
    n = data.shape[0]
    recipe = Recipe(given, prior_parameters(given.prior, n), "balanced", None, "compared")
    forest = recipe.forest(bind_family(given, data))
    grow(recipe, forest, np.random.default_rng(0).permutation(n))
    searches, differing = forest.search_counts
    return searches, differing


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
            "balanced": mw.ibhc(mw.Mixture(mw.Gaussian(scale="data")), X, trials=5, seed=0),
            "paper": mw.ibhc(
                mw.Mixture(mw.Gaussian(scale="data")), X, trials=5, rule="paper", seed=0
            ),
        }
        if len(X) <= 5000:
            trees["bhc"] = mw.bhc(mw.Mixture(mw.Gaussian(scale="data")), X)
            trees["bhc_paper"] = mw.bhc(mw.Mixture(mw.Gaussian(scale="data")), X, rule="paper")
        row: Measurement = {key: adjusted_rand(truth, tree.labels) for key, tree in trees.items()}
        row["ward"] = adjusted_rand(truth, fcluster(ward(X), clusters, "maxclust"))
        row |= {f"{key}_clusters": tree.n_clusters for key, tree in trees.items()}
        row |= {f"{key}_bound": tree.log_evidence_bound for key, tree in trees.items()}
        results[f"trees, {name} ({clusters} classes)"] = row
    return results


def greedy() -> dict[str, Measurement]:
    """Bhc at n = 2,000 against scipy's average linkage, CPU seconds."""
    from scipy.cluster.hierarchy import average

    X = np.random.default_rng(0).normal(size=(2000, 2))
    start = time.process_time()
    mw.bhc(mw.Mixture(mw.Gaussian(scale="data")), X)
    ours = time.process_time() - start
    start = time.process_time()
    average(X)
    theirs = time.process_time() - start
    return {"bhc, n = 2000": {"seconds": ours, "average_linkage": theirs, "ratio": ours / theirs}}


BENCHMARKS = (tree_growth, tree_memory, tree_search, tree_quality, greedy)
