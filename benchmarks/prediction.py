"""What prediction costs: against a Gibbs sweep, which compares rows with clusters too.

CPU seconds of all threads together. The ratio is between two numbers of one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mixwood as mw
from mixwood.core import make_chain
from mixwood.posterior.predictive_mixture import predictive_mixture

Measurement = dict[str, float | str]

DRAWS = 200
ITEMS = 10_000


def _seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _overlapping(columns: int) -> np.ndarray:
    """Return rows of 20 clusters that overlap, so that hardly a cluster stays from draw to draw."""
    rng = np.random.default_rng(1)
    centres = 2.0 * rng.normal(size=(20, columns))
    return centres[rng.integers(20, size=ITEMS)] + rng.normal(size=(ITEMS, columns))


def _sweep_per_pair(model: mw.Mixture, X: Any, labels: np.ndarray) -> float:
    """Return the seconds of a Gibbs sweep for each pair of a row and a cluster."""
    chain = make_chain(model, X, labels, np.random.PCG64(1), mw.Gibbs())
    chain.iterate()
    pairs = 0
    start = time.process_time()
    for _ in range(10):
        chain.iterate()
        pairs += chain.n_clusters * len(labels)
    return (time.process_time() - start) / pairs


def _measure(model: mw.Mixture, X: Any) -> Measurement:
    post = mw.sample(model, X, "gibbs", draws=DRAWS, warmup=20, chains=1, seed=1, progress=False)
    estimate = post.labels[0, -1].astype(np.int64)
    resolved = mw.Mixture(post.resolved, model.prior)
    sweep = _sweep_per_pair(resolved, post.X, post.labels[0, -1])
    distinct = len(predictive_mixture(post).old)
    density = _seconds(lambda: post.log_density(X))
    from mixwood.posterior.prediction import cluster_probabilities

    return {
        "rows": float(ITEMS),
        "clusters of all draws": float(post.n_clusters.sum()),
        "distinct": float(distinct),
        "weights seconds": _seconds(lambda: predictive_mixture(post)),
        "log_density seconds": density,
        "predict_proba seconds": _seconds(lambda: cluster_probabilities(post, X, estimate)),
        "one row seconds": _seconds(lambda: post.log_density(X[:1])),
        "sample 10,000 seconds": _seconds(lambda: post.sample_predictive(10_000, seed=1)),
        "nanoseconds a pair": 1e9 * density / (distinct * ITEMS),
        "log_density to sweep, a pair": density / (distinct * ITEMS) / sweep,
    }


def prediction() -> dict[str, Measurement]:
    """10,000 new rows against 200 draws of 10,000 items."""
    results = {}
    for columns in (2, 16):
        name = f"prediction, Gaussian, {columns} columns"
        results[name] = _measure(
            mw.Mixture(mw.Gaussian(scale="data"), mw.NGGP()), _overlapping(columns)
        )
    return results


BENCHMARKS = (prediction,)
