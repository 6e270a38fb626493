"""mixwood as the field was measured on toy and tenk before: one run, one seed, memory too.

    python -m benchmarks.peers.one_run

A row is the time of an iteration (start and point estimate apart), the clusters and the adjusted
Rand index of the point estimate, and the largest memory of the process.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

import numpy as np

import mixwood as mw
from benchmarks.peers import contests
from mixwood.core import make_chain
from mixwood.estimates import point_estimate
from mixwood.partitions import adjusted_rand

RUNS = (
    ("toy", "DirichletProcess", "Tree", 200),
    ("toy", "DirichletProcess", "Gibbs", 200),
    ("toy", "defaults", "Tree", 200),
    ("tenk", "DirichletProcess", "Tree", 30),
    ("tenk", "NGGP", "Tree", 30),
    ("tenk", "PitmanYor", "Tree", 30),
    ("tenk", "defaults", "Tree", 30),
)


def row(data: str, prior: str, sampler: str, iterations: int) -> str:
    """Return a row of the table: the second half of the iterations is kept."""
    contest = contests.contest(data)
    likelihood = mw.Gaussian(r=contest.r, nu=contest.nu, mean=contest.mean, scale=contest.psi)
    if prior == "defaults":
        model = mw.Mixture()
    elif prior == "DirichletProcess":
        model = mw.Mixture(likelihood, mw.DirichletProcess(contest.alpha))
    else:
        model = mw.Mixture(likelihood, getattr(mw, prior)())
    resolved = mw.Mixture(model.likelihood.resolve(contest.X), model.prior)
    began = time.process_time()
    start = mw.ibhc(resolved, contest.X, seed=0).labels.astype(np.int32)
    first = time.process_time() - began
    moves = getattr(mw, sampler)()
    chain = make_chain(resolved, contest.X, start, np.random.PCG64(0), moves)
    draws = []
    began = time.process_time()
    for i in range(iterations):
        if i == iterations // 2:
            chain.freeze()
        chain.iterate()
        if i >= iterations // 2:
            draws.append(chain.state()["labels"])
    each = (time.process_time() - began) / iterations
    labels = point_estimate(np.array(draws))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"| mixwood, {prior}, {sampler} | {data} | {iterations} | {each:.2g} | {first:.2g} "
        f"| {labels.max() + 1:,} | {adjusted_rand(contest.truth, labels):.4f} | {memory:.0f} |"
    )


def main() -> None:
    """Print a row for each run, each in a fresh process."""
    print("| | data | iterations | s each | s to start | clusters | adjusted Rand | MB |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for run in RUNS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(row, run), flush=True)


if __name__ == "__main__":
    main()
