"""Point estimates and co-clustering: how long they take, and against plain numpy."""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

import mixwood as mw
from mixwood import estimates
from mixwood.estimates import point_estimate, similarity
from mixwood.partitions import expected_loss

Measurement = dict[str, float | str]


def _draws(n: int, count: int = 1000, scale: str = "data") -> np.ndarray:
    """Return draws of the clusters of n points around 15 centres that overlap."""
    rng = np.random.default_rng(0)
    centres = 12 * rng.random((15, 2))
    X = rng.normal(size=(n, 2)) + centres[rng.integers(0, 15, n)]
    post = mw.sample(
        mw.Mixture(mw.Gaussian(scale=scale)),
        X,
        draws=count // 2,
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


def search_of_many_draws() -> dict[str, Measurement]:
    """What it costs to search all of 4,000 draws, and what it gains over steps; two posteriors.

    `first` is what the steps begin with: a search of 150 draws, judged by all.
    """
    results: dict[str, Measurement] = {}
    for name, scale in (("scale=learn", "learn"), ("scale=data", "data")):
        draws = _draws(5000, 4000, scale)
        some = draws[np.linspace(0, len(draws) - 1, estimates.FIRST_DRAWS).astype(int)]
        for loss in ("vi", "binder"):
            values: Measurement = {}
            for way, given, labels_at_first in (
                ("first", some, estimates.FIRST_LABELS),
                ("steps", draws, estimates.FIRST_LABELS),
                ("all", draws, draws.size),  # the search as it was
            ):
                with patch.object(estimates, "FIRST_LABELS", labels_at_first):
                    start = time.process_time()
                    labels = point_estimate(given, loss)
                    values[f"{way}_cpu_s"] = time.process_time() - start
                values[f"{way}_loss"] = expected_loss(draws, labels, loss)
            values["times_faster"] = float(values["all_cpu_s"]) / float(values["steps_cpu_s"])
            results[f"search, {loss}, 5,000 x 4,000, {name}"] = values
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


BENCHMARKS = (point_estimates, search_of_many_draws, co_clustering)
