"""Point estimates and co-clustering: how long they take, and against plain numpy."""

from __future__ import annotations

import time

import numpy as np

import mixwood as mw
from mixwood.estimates import point_estimate, similarity
from mixwood.partitions import expected_loss

Measurement = dict[str, float | str]


def _draws(n: int) -> np.ndarray:
    """Return 1,000 draws of the clusters of n points around 15 centres that overlap."""
    rng = np.random.default_rng(0)
    centres = 12 * rng.random((15, 2))
    X = rng.normal(size=(n, 2)) + centres[rng.integers(0, 15, n)]
    post = mw.sample(
        mw.Mixture(mw.Gaussian(scale="data")),
        X,
        draws=500,
        warmup=200,
        chains=2,
        seed=0,
        progress=False,
    )
    return post.labels.reshape(-1, n)


def _naive_sweep(draws: np.ndarray, labels: np.ndarray) -> None:
    """Score every cluster for every item from the contingency tables, as numpy would have it."""
    n_draws, n = draws.shape
    K = int(labels.max()) + 1
    tables = np.zeros((n_draws, int(draws.max()) + 1, K))
    for d in range(n_draws):
        np.add.at(tables[d], (draws[d], labels), 1)
    x = np.arange(n + 2, dtype=float)
    step = np.diff(x * np.log2(np.maximum(x, 1)))
    sizes, rows = np.bincount(labels), np.arange(n_draws)
    for i in range(n):
        cells = tables[rows, draws[:, i]].astype(int)
        (step[sizes] - 2 * step[cells].mean(axis=0)).argmin()


def point_estimates() -> dict[str, Measurement]:
    """CPU seconds of the whole search, over those of one sweep over all items in numpy."""
    results: dict[str, Measurement] = {}
    for n in (500, 5000):
        draws = _draws(n)
        for loss in ("vi", "binder"):
            cpu, wall = time.process_time(), time.perf_counter()
            labels = point_estimate(draws, loss)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            start = time.process_time()
            _naive_sweep(draws, labels)
            sweep = time.process_time() - start
            results[f"point estimate, {loss}, {n} x 1,000"] = {
                "clusters": float(labels.max() + 1),
                "expected_loss": expected_loss(draws, labels, loss),
                "cpu_s": cpu,
                "wall_s": wall,
                "over_one_numpy_sweep": cpu / sweep,
            }
    return results


def co_clustering() -> dict[str, Measurement]:
    """CPU seconds of the table of 2,000 items over 1,000 draws, and how many times numpy's."""
    draws = _draws(2000)
    start = time.process_time()
    table = similarity(draws)
    seconds = time.process_time() - start
    start = time.process_time()
    plain = np.zeros((2000, 2000))
    for labels in draws:
        plain += np.equal.outer(labels, labels)
    naive = time.process_time() - start
    assert np.allclose(table, plain / len(draws))
    return {"similarity, 2,000 x 1,000": {"cpu_s": seconds, "times_faster": naive / seconds}}


BENCHMARKS = (point_estimates, co_clustering)
