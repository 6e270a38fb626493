"""Simulated cells: what Poisson and negative binomial clusters find, with and without exposures.

    python -m benchmarks.cells

Types of cells with rates of their own in every gene, library sizes that vary, and counts that vary
between cells of one type: with ``size`` small much, with a large one as Poisson counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import mixwood as mw
from mixwood.partitions import adjusted_rand

TYPES, GENES, CELLS = 4, 15, 250
#: How much library sizes vary (the deviation of their logarithms), and the size of counts.
SETTINGS = ((0.0, 1e6), (0.0, 3.0), (0.7, 1e6), (0.7, 3.0))


class Cells(NamedTuple):
    """Counts (cells, genes), the library size of each cell, and its type."""

    counts: NDArray[np.int64]
    depth: NDArray[np.float64]
    truth: NDArray[np.int64]


class Found(NamedTuple):
    """What a likelihood finds: clusters of the estimate, its agreement, CPU seconds of a chain."""

    clusters: int
    rand: float
    seconds: float


def cells(depth_sd: float, size: float, seed: int, n: int = CELLS) -> Cells:
    """Simulate cells; counts of a type have ``size`` at a depth of 1, more at a larger one."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(TYPES, size=n)
    depth = rng.lognormal(0.0, depth_sd, n) if depth_sd else np.ones(n)
    rate = rng.gamma(0.7, 8.0, (TYPES, GENES))
    own = size * depth[:, None]
    return Cells(rng.poisson(rng.gamma(own, rate[truth] * depth[:, None] / own)), depth, truth)


def likelihoods(depth: NDArray[np.float64]) -> dict[str, mw.Likelihood]:
    """Return what is compared, by name."""
    return {
        "Poisson": mw.Poisson(),
        "Poisson, exposure": mw.Poisson(exposure=depth),
        "NegativeBinomial": mw.NegativeBinomial(),
        "NegativeBinomial, exposure": mw.NegativeBinomial(exposure=depth),
    }


def find(data: Cells, likelihood: mw.Likelihood, draws: int = 150) -> Found:
    """Return what is found."""
    began = time.process_time()
    post = mw.sample(
        mw.Mixture(likelihood), data.counts, draws=draws, warmup=draws, chains=2, seed=1,
        progress=False,
    )  # fmt: skip
    seconds = (time.process_time() - began) / 2
    labels = post.point_estimate()
    return Found(int(labels.max()) + 1, adjusted_rand(data.truth, labels), seconds)


def lines(seeds: int = 2) -> Iterator[str]:
    """Yield the rows of a table, means over data sets."""
    yield "| depths (sd of ln), size | likelihood | clusters | adjusted Rand | CPU s a chain |"
    yield "|---|---|---|---|---|"
    for depth_sd, size in SETTINGS:
        sets = [cells(depth_sd, size, seed) for seed in range(seeds)]
        for name in likelihoods(sets[0].depth):
            found = [find(one, likelihoods(one.depth)[name]) for one in sets]
            clusters, rand, seconds = (np.mean(values) for values in zip(*found, strict=True))
            shown = "Poisson" if size >= 1e6 else f"{size:g}"
            yield f"| {depth_sd}, {shown} | {name} | {clusters:.1f} | {rand:.2f} | {seconds:.1f} |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
