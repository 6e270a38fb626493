"""All samplers side by side on the toy data: time, effective samples, and the way from a bad start.

CPU seconds of one thread, one chain at a time.
"""

from __future__ import annotations

import time
from typing import Any, get_args

import numpy as np

import mixwood as mw
from mixwood import samplers
from mixwood.core import make_chain
from mixwood.posterior.arviz import import_arviz

Measurement = dict[str, float | str]

WARMUP = 300
SECONDS = 3.0  # for each run from the true clusters
PATIENCE = 5.0  # for each run from one cluster
SEEDS = (1, 2, 3)


def _run(chain: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the number of clusters and the log joint after each iteration, and the seconds."""
    chain.iterate(WARMUP)
    chain.freeze()
    clusters, joints, seconds = [], [], 0.0
    while seconds < SECONDS:
        start = time.process_time()
        chain.iterate()
        seconds += time.process_time() - start
        clusters.append(chain.n_clusters)
        joints.append(chain.log_joint())
    return np.array(clusters, dtype=float), np.array(joints), seconds


def _seconds_to(chain: Any, joint: float) -> float:
    """Return how long a chain takes to its first state with this log joint."""
    seconds = 0.0
    while chain.log_joint() < joint and seconds < PATIENCE:
        start = time.process_time()
        chain.iterate()
        seconds += time.process_time() - start
    return seconds


def side_by_side() -> dict[str, Measurement]:
    """Every sampler, by its default settings, on 1,300 points of 13 clusters in the plane."""
    arviz = import_arviz()
    X, truth = mw.datasets.toy()
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X), mw.NGGP())
    true_labels, one = truth.astype(np.int32), np.zeros(len(X), dtype=np.int32)
    results: dict[str, Measurement] = {}
    for kind in get_args(samplers.Sampler):
        made = [make_chain(model, X, true_labels, np.random.PCG64(seed), kind()) for seed in SEEDS]
        runs = [_run(chain) for chain in made]
        target = float(np.mean([joints.mean() for _, joints, _ in runs])) - 20
        ways = [
            _seconds_to(make_chain(model, X, one, np.random.PCG64(seed), kind()), target)
            for seed in SEEDS
        ]

        def rate(place: int, runs: list[Any] = runs) -> float:
            return float(np.mean([arviz.ess(run[place][None]) / run[2] for run in runs]))

        results[f"toy, {kind.__name__}"] = {
            "ms": 1e3 * float(np.mean([seconds / len(joints) for _, joints, seconds in runs])),
            "clusters": float(np.mean([clusters.mean() for clusters, _, _ in runs])),
            "ess_of_K_a_second": rate(0),
            "ess_of_joint_a_second": rate(1),
            f"seconds_from_one_cluster_of_{PATIENCE:.0f}": float(np.median(ways)),
        }
    return results


BENCHMARKS = (side_by_side,)
