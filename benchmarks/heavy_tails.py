"""What Student t clusters find where Gaussian ones make a halo of single rows, and their cost.

`t_groups` draws groups of t rows with 4 degrees of freedom and compares clusters with the groups;
`real_sets`, for which MIXWOOD_DATA must have the sets, does so with known classes; and
`t_iterations` is the CPU time of an iteration of both likelihoods over the same 5,000 rows of 4
columns, from the same clusters: a ratio within one run.
"""

from __future__ import annotations

import time

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder, labelled_set
from mixwood.core import make_chain
from mixwood.partitions import adjusted_rand

Measurement = dict[str, float | str]

LIKELIHOODS = (mw.Gaussian(), mw.StudentT())
#: Rows in a group, columns and groups.
GROUPS = ((100, 2, 3), (300, 2, 6), (200, 4, 5), (150, 10, 4))
SETS = ("thyroid", "gvhd_pos", "s2")
REPEATS = 5


def t_rows(n: int, d: int, groups: int, df: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """Return groups of t rows with centres some ten standard deviations apart, and the groups."""
    rng = np.random.default_rng(n + d)
    labels = np.repeat(np.arange(groups), n)
    centres = 8 * rng.normal(size=(groups, d)) * (2 / d) ** 0.5
    mixing = np.eye(d) + 0.4 * rng.normal(size=(groups, d, d))
    scales = rng.standard_gamma(df / 2, size=(len(labels), 1)) * 2 / df
    noise = rng.normal(size=(len(labels), d)) / np.sqrt(scales)
    return centres[labels] + np.einsum("nij,nj->ni", mixing[labels], noise), labels


def _compared(X: np.ndarray, truth: np.ndarray, likelihood: mw.Likelihood) -> Measurement:
    start = time.process_time()
    post = mw.sample(mw.Mixture(likelihood), X, draws=500, warmup=500, seed=1, progress=False)
    labels = post.point_estimate()
    sizes = np.bincount(labels)
    found: Measurement = {
        "groups": float(len(np.unique(truth))),
        "clusters": float(len(sizes)),
        "clusters of 1": float(np.sum(sizes == 1)),
        "rows outside large": float(sizes[sizes < 0.02 * len(X)].sum()),
        "mean clusters": float(post.n_clusters.mean()),
        "adjusted Rand": adjusted_rand(labels, truth),
        "r_hat": float(post.summary()["r_hat"]["n_clusters"]),
        "seconds": time.process_time() - start,
    }
    if "df" in post.base:
        found["df"] = float(np.median(post.base["df"]))
        found["df ess"] = float(post.summary()["ess_bulk"]["df"])
    return found


def t_groups() -> dict[str, Measurement]:
    """Compare clusters with groups of t rows."""
    found = {}
    for n, d, groups in GROUPS:
        X, truth = t_rows(n, d, groups)
        for likelihood in LIKELIHOODS:
            title = f"t groups, {groups} of {n} x {d}, {type(likelihood).__name__}"
            found[title] = _compared(X, truth, likelihood)
    return found


def real_sets() -> dict[str, Measurement]:
    """Compare clusters with known classes of real and simulated sets."""
    if data_folder() is None:
        return {}
    return {
        f"{name}, {type(likelihood).__name__}": _compared(*labelled_set(name), likelihood)
        for name in SETS
        for likelihood in LIKELIHOODS
    }


def t_iterations() -> dict[str, Measurement]:
    """Measure iterations from the same clusters, in turn; the fastest of each counts."""
    X, labels = t_rows(500, 4, 10)
    found: dict[str, Measurement] = {}
    for sampler in (mw.Tree(), mw.Gibbs()):
        seconds: dict[str, float] = {}
        for _ in range(REPEATS):
            for likelihood in LIKELIHOODS:
                model = mw.Mixture(likelihood.resolve(X))
                bits = np.random.PCG64(1)
                chain = make_chain(model, X, labels.astype(np.int32), bits, sampler)
                chain.iterate(50)
                chain.freeze()
                start = time.process_time()
                chain.iterate(50)
                took = (time.process_time() - start) / 50
                name = type(likelihood).__name__
                seconds[name] = min(seconds.get(name, took), took)
        found[f"t iteration, 5,000 x 4, {type(sampler).__name__}"] = {
            **{f"{name} ms": 1000 * took for name, took in seconds.items()},
            "ratio": seconds["StudentT"] / seconds["Gaussian"],
        }
    return found


BENCHMARKS = (t_groups, real_sets, t_iterations)
