"""What missing entries cost, and what they no longer spoil.

`missing_entries` is the CPU time of a whole run (pilots, warm-up, draws) over a table in which 5%
of the entries are missing, against the same table complete: a ratio within one run. `penguins`
compares clusters with species where two of 344 rows have no measurements.
"""

from __future__ import annotations

import time

import numpy as np

import mixwood as mw
from mixwood.partitions import adjusted_rand

Measurement = dict[str, float | str]

#: Rows, columns and clusters of the tables.
TABLES = ((344, 4, 3), (2000, 4, 4), (2000, 4, 15), (1000, 10, 5), (1000, 20, 5))
SHARE = 0.05
REPEATS = 3


def _table(n: int, d: int, clusters: int) -> np.ndarray:
    rng = np.random.default_rng(n + d)
    mixing = np.eye(d) + 0.4 * rng.normal(size=(d, d))
    centres = 3 * rng.normal(size=(clusters, d))
    return rng.normal(size=(n, d)) @ mixing + centres[rng.integers(clusters, size=n)]


def with_holes(X: np.ndarray, share: float = SHARE) -> np.ndarray:
    """Return a copy in which a share of the entries is missing."""
    holed = X.copy()
    holed[np.random.default_rng(0).random(X.shape) < share] = np.nan
    return holed


def _seconds(X: np.ndarray) -> tuple[float, mw.Posterior]:
    start = time.process_time()
    post = mw.sample(
        mw.Mixture(mw.Gaussian()), X, draws=500, warmup=250, chains=1, seed=1, progress=False
    )
    return time.process_time() - start, post


def missing_entries() -> dict[str, Measurement]:
    """Measure runs with and without holes, in turn; the fastest of each counts."""
    found: dict[str, Measurement] = {}
    for n, d, clusters in TABLES:
        X = _table(n, d, clusters)
        tables = (X, with_holes(X))
        runs = [[_seconds(table) for table in tables] for _ in range(REPEATS)]
        full, holed = (min(run[k][0] for run in runs) for k in range(2))
        found[f"missing entries, {n} x {d}, {clusters} clusters"] = {
            "seconds": full,
            "with holes": holed,
            "ratio": holed / full,
            "clusters": float(runs[0][0][1].n_clusters.mean()),
            "with holes clusters": float(runs[0][1][1].n_clusters.mean()),
        }
    return found


def penguins() -> dict[str, Measurement]:
    """Compare clusters of measurements with species: all rows, and those that are complete."""
    import pandas as pd

    table = mw.datasets.penguins()
    numbers = table.select_dtypes("number")
    found: dict[str, Measurement] = {}
    for name, rows in (("all rows", table.index), ("complete rows", numbers.dropna().index)):
        for kind in (mw.AutoGaussian(), mw.DiagonalGaussian()):
            post = mw.sample(mw.Mixture(kind), numbers.loc[rows], seed=1, progress=False)
            labels = post.point_estimate()
            known = numbers.loc[rows].notna().any(axis=1).to_numpy()
            truth = pd.factorize(table.loc[rows, "species"])[0]
            found[f"penguins, {name}, {type(kind).__name__}"] = {
                "rows": float(len(rows)),
                "clusters": float(labels.max() + 1),
                "adjusted Rand": adjusted_rand(labels[known], truth[known]),
            }
    return found


BENCHMARKS = (missing_entries, penguins)
