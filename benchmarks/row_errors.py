"""Clusters of rows with known errors: shares, widths and labels, beside a fit that ignores errors.

`stars` simulates clusters whose errors are about as large as they are wide. `error_iterations` is
the CPU time of an iteration against that of the plain Gaussian over the same 5,000 rows of 4
columns: a ratio within one run.
"""

from __future__ import annotations

import time

import numpy as np

import mixwood as mw
from mixwood.core import make_chain
from mixwood.partitions import adjusted_rand

Measurement = dict[str, float | str]

SHARES = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 0.0], [3.0, 0.5], [1.0, 3.0]])
WIDTHS = np.array([0.6, 0.3, 0.4])
SEEDS, REPEATS = 5, 5


def simulated_stars(seed: int, n: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return measured positions, variances of their errors, and clusters."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, size=n, p=SHARES)
    positions = CENTRES[group] + WIDTHS[group, None] * rng.normal(size=(n, 2))
    errors = rng.uniform(0.1, 1.0, size=(n, 2))
    return positions + errors * rng.normal(size=(n, 2)), errors**2, group


def _found(X: np.ndarray, group: np.ndarray, likelihood: mw.Likelihood) -> list[float]:
    post = mw.sample(
        mw.Mixture(likelihood), X, draws=500, warmup=300, chains=2, seed=1, progress=False
    )
    labels = post.point_estimate()
    covariances = post.cluster_parameters()["covariance"].mean[:3]
    widths = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2).mean(axis=1))
    shares = np.bincount(labels, minlength=3)[:3] / len(X)
    there = np.sort(np.bincount(group) / len(X))[::-1]
    return [
        float(labels.max() + 1),
        float(np.mean(widths / WIDTHS[: len(widths)])),
        float(np.abs(shares - there).max()),
        adjusted_rand(labels, group),
    ]


def stars() -> dict[str, Measurement]:
    """Compare fits that know the errors with fits that ignore them, over some data sets."""
    names = ("clusters", "width over true width", "error of shares", "adjusted Rand")
    found: dict[str, Measurement] = {}
    for title in ("errors known", "errors ignored"):
        runs = []
        for seed in range(SEEDS):
            X, errors, group = simulated_stars(seed)
            known = title == "errors known"
            runs.append(_found(X, group, mw.Gaussian(errors=errors if known else None)))
        means = np.mean(runs, axis=0)
        found[f"stars, {title}"] = dict(zip(names, map(float, means), strict=True))
    return found


def error_iterations() -> dict[str, Measurement]:
    """Measure iterations from the same clusters, in turn; the fastest of each counts."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(10), 500)
    X = 6 * rng.normal(size=(10, 4))[labels] + rng.normal(size=(5000, 4))
    errors = rng.uniform(0.1, 1.0, size=(5000, 4)) ** 2
    found: dict[str, Measurement] = {}
    for sampler in (mw.Tree(), mw.Gibbs()):
        seconds: dict[str, float] = {}
        for _ in range(REPEATS):
            for name, given in (("plain", None), ("errors", errors)):
                model = mw.Mixture(mw.Gaussian(errors=given).resolve(X))
                bits = np.random.PCG64(1)
                chain = make_chain(model, X, labels.astype(np.int32), bits, sampler)
                chain.iterate(30)
                chain.freeze()
                start = time.process_time()
                chain.iterate(30)
                took = (time.process_time() - start) / 30
                seconds[name] = min(seconds.get(name, took), took)
        found[f"iteration with errors, 5,000 x 4, {type(sampler).__name__}"] = {
            **{f"{name} ms": 1000 * took for name, took in seconds.items()},
            "ratio": seconds["errors"] / seconds["plain"],
        }
    return found


BENCHMARKS = (stars, error_iterations)
