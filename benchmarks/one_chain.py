"""What could more cores be worth to one chain? Of its iterations the part that is a scan of rows.

Shares are of wall time within one run, and so is what Amdahl's law allows if the scan alone were
shared out to several cores with nothing lost. `MIXWOOD_BENCH_LARGE=1` adds 10^6 rows.
"""

from __future__ import annotations

import os
import time

import numpy as np

import mixwood as mw
from mixwood.core import make_chain, move_statistics

Measurement = dict[str, float]

LARGE = os.environ.get("MIXWOOD_BENCH_LARGE") == "1"
CLUSTERS, COLUMNS = 50, 16
#: Standard deviations of the centres: the nearest two are 2.4, 3.7 and 37 apart.
SPREADS = (0.8, 1.2, 12.0)
WARMUP, MEASURED = 10, 60


def one_chain_shares() -> dict[str, Measurement]:
    """`Tree` at its defaults from the true clusters, after a short warm-up."""
    numbers = (10**5, 10**6) if LARGE else (10**5,)
    return {
        f"one chain, n = {n}, centres {spread:g}": _shares(n, spread)
        for n in numbers
        for spread in SPREADS
    }


def _shares(n: int, spread: float) -> Measurement:
    rng = np.random.default_rng(0)
    means = spread * rng.normal(size=(CLUSTERS, COLUMNS))
    labels = rng.integers(0, CLUSTERS, n)
    X = means[labels] + rng.normal(size=(n, COLUMNS))
    model = mw.Mixture(mw.Gaussian().resolve(X))
    start = labels.astype(np.int32)
    chain = make_chain(model, X, start, np.random.PCG64(1), mw.Tree())
    chain.iterate(WARMUP)
    began = time.process_time()
    chain.freeze()  # visits all rows, and grows a tree
    frozen = time.process_time() - began
    before = move_statistics(chain)
    cpu, wall = time.process_time(), time.perf_counter()
    chain.iterate(MEASURED)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    spent = {
        name: moved["seconds"] - before[name]["seconds"]
        for name, moved in move_statistics(chain).items()
    }
    after = move_statistics(chain)["leaf"]
    scan = spent["leaf"] / wall
    return {
        "ms": 1000 * cpu / MEASURED,
        "rows_visited": (after["proposed"] - before["leaf"]["proposed"]) / MEASURED,
        "rows_moved": (after["accepted"] - before["leaf"]["accepted"]) / MEASURED,
        "scan": scan,
        "splits_and_merges": (spent["split"] + spent["merge"]) / wall,
        "fitted": (spent["fitted split"] + spent["fitted merge"]) / wall,
        **{f"bound_{cores}_cores": 1 / (1 - scan + scan / cores) for cores in (2, 4, 8)},
        "freeze_seconds": frozen,
    }


BENCHMARKS = (one_chain_shares,)
