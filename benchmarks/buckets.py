"""Trees of many rows: put in one by one, and bucket by bucket on one thread and on two.

CPU and wall seconds of growing alone, the log joint of the clusters that come of it, mean depth.
`MIXWOOD_BENCH_LARGE=1` adds 10^6 rows; in 16 columns they do not go in one by one, which takes
minutes.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder, labelled_set
from benchmarks.scale import points
from mixwood import _core
from mixwood.core import bind_family, make_chain
from mixwood.samplers import Gibbs
from mixwood.trees.build import prior_parameters
from mixwood.trees.recipe import Recipe

Measurement = dict[str, float | str]

LARGE = os.environ.get("MIXWOOD_BENCH_LARGE") == "1"
SEEDS = (1, 2, 3)


def fifty_clusters(n: int, d: int) -> np.ndarray:
    """Return rows of 50 clusters, those of `tree_growth`."""
    rng = np.random.default_rng(0)
    means = rng.uniform(-30, 30, (50, d))
    return means[rng.integers(0, 50, n)] + rng.normal(size=(n, d))


def _grown(model: mw.Mixture, X: np.ndarray, family: Any, seed: int, threads: int) -> Measurement:
    """Grow trees, one by one if `threads` is 0."""
    values = prior_parameters(model.prior, len(X))
    forest = Recipe(model, values, "balanced", None).forest(family)
    forest.set_parameters(_core.GROWTH_LOG_U, values.log_alpha, values.sigma, values.theta)
    rows = np.random.default_rng(seed).permutation(len(X))
    cpu, wall = time.process_time(), time.perf_counter()
    if threads == 0:
        forest.insert(rows)
    else:
        forest.insert_in_buckets(rows, threads)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    forest.set_parameters(values.log_u, values.log_alpha, values.sigma, values.theta)
    forest.join_trees()
    leaves = forest.leaves()
    labels = leaves["tree"][leaves["leaf_of_row"]].astype(np.int32)
    chain = make_chain(model, X, labels, np.random.PCG64(0), Gibbs(), family)
    return {
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "log_joint": chain.log_joint(),
        "clusters": float(forest.n_trees),
    }


def _compared(X: np.ndarray, seeds: tuple[int, ...], one_by_one: bool = True) -> Measurement:
    """Return means over seeds, the ways by turns."""
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X), mw.NGGP(1.0, 0.5))
    family = bind_family(model, X)
    ways = {"one_by_one": 0, "buckets": 1, "buckets_two_threads": 2}
    found: dict[str, list[float]] = {}
    for seed in seeds:
        for way, threads in ways.items():
            if threads == 0 and not one_by_one:
                continue
            for key, value in _grown(model, X, family, seed, threads).items():
                found.setdefault(f"{way}_{key}", []).append(float(value))
    return {key: float(np.mean(values)) for key, values in found.items()}


def bucket_growth() -> dict[str, Measurement]:
    """Trees of n rows, 50 clusters in the plane and 30 in 16 columns; exponents of the largest."""
    numbers = (10**5, 10**6) if LARGE else (40_000, 10**5)
    results: dict[str, Measurement] = {}
    for d, make in ((2, fifty_clusters), (16, points)):
        rows = []
        for n in numbers:
            seeds = SEEDS if n <= 10**5 else SEEDS[:1]
            rows.append(_compared(make(n, d), seeds, one_by_one=n * d <= 2 * 10**6))
        for n, row in zip(numbers, rows, strict=True):
            results[f"buckets, n = {n}, d = {d}"] = row
        step = np.log(numbers[1] / numbers[0])
        results[f"buckets, d = {d}, exponents"] = {
            key: float(np.log(float(rows[1][key]) / float(rows[0][key])) / step)
            for key in rows[0]
            if key.endswith("_cpu_seconds") and key in rows[1]
        }
    return results


def bucket_quality() -> dict[str, Measurement]:
    """The same on birch1, and on sets that are small enough to go in one by one: what if not?"""
    if data_folder() is None:
        return {"bucket quality": {"missing": "set MIXWOOD_DATA to the folder with sets/"}}
    sets = {name: labelled_set(name)[0] for name in ("s2", "birch1")}
    likelihood = mw.Gaussian(r=0.1, nu=12, mean=np.zeros(6), scale=np.eye(6))
    tenk, _ = mw.simulate(mw.Mixture(likelihood, mw.PitmanYor(3.0, 0.8)), 10_000, seed=0)
    sets["tenk"] = np.asarray(tenk)
    return {f"buckets, {name}": _compared(X, SEEDS) for name, X in sets.items()}


BENCHMARKS = (bucket_growth, bucket_quality)
