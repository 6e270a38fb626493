"""The published tree-guided sampler: time against Gibbs, with the parts apart, and its bias."""

from __future__ import annotations

import time

import numpy as np

import mixwood as mw
from mixwood.core import make_chain
from mixwood.testing import enumerate_posterior

Measurement = dict[str, float | str]


def _iteration(
    model: mw.Mixture, X: np.ndarray, labels: np.ndarray, sampler: object, seconds: float = 2.0
) -> tuple[float, dict[str, dict[str, float]], int]:
    """Return CPU milliseconds per iteration, what each move did in one, and the clusters."""
    resolved = mw.Mixture(model.likelihood.resolve(X), model.prior)
    chain = make_chain(resolved, X, labels.astype(np.int32), np.random.PCG64(0), sampler)
    chain.iterate(5)
    before = {report["move"]: report for report in chain.reports()}
    start, iterations = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds:
        chain.iterate()
        iterations += 1
    after = {report["move"]: report for report in chain.reports()}
    moves = {
        move: {
            key: (after[move][key] - before[move][key]) / iterations
            for key in ("proposed", "accepted", "seconds")
        }
        for move in after
    }
    # The core's clock keeps running while others use the processor: it gives the shares only.
    elapsed = sum(move["seconds"] for move in moves.values())
    for name, move in moves.items():
        move["ms"] = 1e3 * spent / iterations * move["seconds"] / elapsed
        move["log_ratio"] = after[name]["mean_log_ratio"]
    return 1e3 * spent / iterations, moves, chain.n_clusters


def _compared(model: mw.Mixture, X: np.ndarray, labels: np.ndarray) -> Measurement:
    """Return the time of an iteration of both samplers, and the parts of the published one's."""
    gibbs, _, _ = _iteration(model, X, labels, mw.Gibbs())
    paper, moves, clusters = _iteration(model, X, labels, mw.PaperTree())
    result: Measurement = {"gibbs_ms": gibbs, "paper_ms": paper, "ratio": paper / gibbs}
    result["clusters"] = float(clusters)
    for name in ("split", "merge", "local", "potentials"):
        result[f"{name}_ms"] = moves[name]["ms"]
    for name in ("split", "merge"):
        proposed = max(moves[name]["proposed"], 1e-9)
        result[f"{name}_us_a_proposal"] = 1e3 * moves[name]["ms"] / proposed
        result[f"{name}_acceptance"] = moves[name]["accepted"] / proposed
        result[f"{name}_mean_log_ratio"] = moves[name]["log_ratio"]
    result["local_share_of_rows"] = moves["local"]["proposed"] / len(X)
    return result


def paper_growth() -> dict[str, Measurement]:
    """Time an iteration on n points of 50 clusters on a grid in the plane, from those clusters."""
    results: dict[str, Measurement] = {}
    rows = []
    sizes = (10**3, 3 * 10**3, 10**4, 3 * 10**4)
    for n in sizes:
        rng = np.random.default_rng(0)
        labels = np.arange(n) % 50
        X = 8.0 * np.stack([labels // 10, labels % 10], axis=1) + rng.normal(size=(n, 2))
        likelihood = mw.Gaussian(r=0.01, scale=5 * np.eye(2))  # so that the clusters stay
        rows.append(_compared(mw.Mixture(likelihood, mw.NGGP(1.0, 0.5)), X, labels))
        results[f"published sampler, 50 clusters, n = {n}"] = rows[-1]
    logs = np.log(np.array(sizes, dtype=float))
    results["published sampler, exponents in n"] = {
        part: float(np.polyfit(logs, np.log([float(row[part]) for row in rows]), 1)[0])
        for part in ("gibbs_ms", "paper_ms", "split_us_a_proposal", "local_ms", "potentials_ms")
    }
    return results


def _pitman_yor_blobs(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points like the paper's 10K: labels from PY(3, 0.8), a Gaussian for each."""
    rng = np.random.default_rng(0)
    counts, labels = [1.0], [0]
    for i in range(1, n):
        weights = np.append(np.array(counts) - 0.8, 3 + 0.8 * len(counts))
        label = int(np.searchsorted(np.cumsum(weights), rng.random() * (i + 3), side="right"))
        if label == len(counts):
            counts.append(0.0)
        counts[label] += 1
        labels.append(label)
    codes = np.array(labels)
    return rng.uniform(-10, 10, (len(counts), d))[codes] + rng.normal(size=(n, d)), codes


def paper_ratios() -> dict[str, Measurement]:
    """An iteration in units of a Gibbs sweep: the paper has 0.35 on toy and 0.04 on 10K."""
    toy, truth = mw.datasets.toy()
    tenk, codes = _pitman_yor_blobs(10_000, 6)
    likelihood = mw.Gaussian(scale="paper")
    return {
        "published sampler, toy, DP": _compared(
            mw.Mixture(likelihood, mw.DirichletProcess(1.0)), toy, truth
        ),
        "published sampler, toy, NGGP": _compared(mw.Mixture(likelihood, mw.NGGP()), toy, truth),
        "published sampler, 10k-like": _compared(mw.Mixture(likelihood, mw.NGGP()), tenk, codes),
    }


class _GlobalAlone(mw.PaperTree):
    def options(self, n: int, columns: int = 1) -> dict[str, int]:
        return super().options(n, columns) | {"local_sweep": 0}


def paper_bias() -> dict[str, Measurement]:
    """Total variation distance to the posterior of six points: the table of the docs."""
    X = np.array([[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504]])
    likelihood = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])
    exact = enumerate_posterior(mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3)), X)
    samplers = {
        "gibbs": mw.Gibbs(),
        "global alone": _GlobalAlone(1),
        "local alone": mw.PaperTree(0, 2),
        "global and local": mw.PaperTree(1, 2),
        "defaults": mw.PaperTree(),
    }
    row: Measurement = {}
    for name, sampler in samplers.items():
        draws = 2_000_000
        labels = np.empty((draws, 6), np.int32)
        chain = make_chain(exact.model, X, labels[0] * 0, np.random.PCG64(0), sampler)
        chain.run(1000, 1, labels, *(np.empty(draws) for _ in range(5)), seconds=1e9)
        frequencies = np.bincount(exact.index_of(labels), minlength=len(exact.probabilities))
        row[name] = float(np.abs(frequencies / draws - exact.probabilities).sum() / 2)
    return {"published sampler, bias on six points": row}


BENCHMARKS = (paper_growth, paper_ratios, paper_bias)
