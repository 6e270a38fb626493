"""The exact tree-guided sampler: bad starts, overlap, real text, many clusters, many rows.

CPU seconds of one thread, guide trees and starts included, unless said.
"""

from __future__ import annotations

import time
from typing import Any, get_args

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder
from mixwood import samplers
from mixwood.core import bind_family, make_chain
from mixwood.experiments.protocol import TimedChain
from mixwood.posterior.arviz import import_arviz
from mixwood.sampling.initial_partition import initial_labels

Measurement = dict[str, float | str]
WARMUP = 300


class Run(TimedChain):
    """A chain whose stopwatch began before its start was made."""

    def __init__(self, model: mw.Mixture, X: Any, sampler: Any, seed: int, init: Any) -> None:
        data = model.likelihood.check(X)
        explicit = mw.Mixture(model.likelihood.resolve(data), model.prior)
        family = bind_family(explicit, data, sampler)
        begun = time.thread_time()
        own = np.random.SeedSequence(seed)
        labels = initial_labels(init, explicit, family, data.shape[0], own, sampler.start_leaves)
        spent = time.thread_time() - begun
        super().__init__(explicit, data, labels, sampler, seed, family)
        self.seconds += spent
        self.times = [self.seconds]

    def until(self, seconds: float) -> Run:
        """Run until this many seconds are over."""
        while self.seconds < seconds:
            self.iterate()
        return self

    def seconds_to(self, joint: float) -> float:
        """Return when the joint was first this high; infinity if never."""
        reached = np.flatnonzero(np.array(self.log_joint) >= joint)
        return self.times[reached[0]] if len(reached) else float("inf")


def bad_start() -> dict[str, Measurement]:
    """Toy data, the paper's bad start: seconds to within 20 of the best joint seen by anyone."""
    X, _ = mw.datasets.toy()
    model = mw.Mixture(mw.Gaussian(scale="paper"), mw.NGGP())
    plans = {"Tree": (range(10), 2.0), "Gibbs": (range(3), 10.0), "SplitMerge": (range(3), 10.0)}
    runs = {
        name: [
            Run(model, X, getattr(samplers, name)(), seed, "on-top").until(seconds)
            for seed in seeds
        ]
        for name, (seeds, seconds) in plans.items()
    }
    best = max(max(run.log_joint) for some in runs.values() for run in some)
    results: dict[str, Measurement] = {}
    for name, some in runs.items():
        times = [run.seconds_to(best - 20) for run in some]
        results[f"bad start, {name}"] = {
            "median_seconds": float(np.median(times)),
            "slowest_seconds": max(times),
            "runs": len(times),
            "below_best_at_the_end": best - float(np.mean([run.log_joint[-1] for run in some])),
        }
    return results


def overlapping_toy(shrink: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return the toy data with their means drawn together, so that neighbours overlap."""
    X, truth = mw.datasets.toy()
    means = np.array([X[truth == k].mean(axis=0) for k in range(truth.max() + 1)])
    return X - (1 - shrink) * means[truth], truth


def near_pairs(X: np.ndarray, count: int = 60) -> np.ndarray:
    """Return pairs of rows that are among each other's nearest hundred: in doubt, some of them."""
    rng = np.random.default_rng(0)
    pairs = []
    for row in rng.integers(0, len(X), count):
        nearest = np.argsort(((X - X[row]) ** 2).sum(axis=1))
        pairs.append((row, nearest[rng.integers(5, 60)]))
    return np.array(pairs)


def effective_samples(sampler: Any, seconds: float, seeds: tuple[int, ...] = (1, 2, 3)) -> Any:
    """Return effective samples per second of K, the joint and co-clustering, from the truth."""
    arviz = import_arviz()
    X, truth = overlapping_toy()
    pairs = near_pairs(X)
    rates = []
    for seed in seeds:
        run = Run(mw.Mixture(mw.Gaussian(scale="data")), X, sampler, seed, truth)
        for _ in range(WARMUP):
            run.iterate()
        run.chain.freeze()
        run.seconds, run.log_joint, run.clusters = 0.0, [], []
        together: list[np.ndarray] = []
        while run.seconds < seconds:
            run.iterate()
            labels = run.chain.state()["labels"]
            together.append(labels[pairs[:, 0]] == labels[pairs[:, 1]])

        def ess(values: Any) -> float:
            return float(arviz.ess(np.asarray(values, dtype=float)[None]))

        table = np.array(together, dtype=float)
        doubtful = [ess(column) for column in table.T if column.std() > 0]
        found = (ess(run.clusters), ess(run.log_joint), float(np.median(doubtful)), len(together))
        rates.append([value / run.seconds for value in found])
    means = np.mean(rates, axis=0)
    return {"K": means[0], "joint": means[1], "co_clustering": means[2], "ms": 1e3 / means[3]}


def overlap() -> dict[str, Measurement]:
    """Effective samples per CPU second on overlapping clusters, all exact samplers side by side."""
    kinds = [kind for kind in get_args(samplers.Sampler) if kind is not samplers.PaperTree]
    return {f"overlap, {kind.__name__}": effective_samples(kind(), 5.0) for kind in kinds}


def corpus() -> dict[str, Measurement]:
    """NIPS, NGGP(1, 0.5), Dirichlet(0.1), from `ibhc`: the largest joint after 60 and 120 s."""
    folder = data_folder()
    if folder is None:
        return {"corpus": {"missing": "set MIXWOOD_DATA to the folder with nips/"}}
    X = mw.datasets.nips(folder / "nips")[0]
    model = mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP(1.0, 0.5))
    runs = [Run(model, X, mw.Tree(), seed, "ibhc").until(60) for seed in range(5)]
    paper = -4_243_009.0
    after = [max(run.log_joint) for run in runs]
    longer = max(runs[0].until(120).log_joint)
    gibbs = max(Run(model, X, mw.Gibbs(), 0, "ibhc").until(120).log_joint)
    return {
        "corpus, Tree": {
            "mean_joint_60s": float(np.mean(after)),
            "sd_joint_60s": float(np.std(after, ddof=1)),
            "above_paper_60s": float(np.mean(after)) - paper,
            "seconds_to_paper": float(np.mean([run.seconds_to(paper) for run in runs])),
            "joint_120s": longer,
        },
        "corpus, Gibbs": {"joint_120s": gibbs, "tree_above_120s": longer - gibbs},
    }


def ten_thousand() -> dict[str, Measurement]:
    """10,000 rows of 6 columns, labels from PY(3, 0.8), the bad start: against Gibbs at 60 s."""
    likelihood = mw.Gaussian(r=0.1, nu=12, mean=np.zeros(6), scale=np.eye(6))
    X, _ = mw.simulate(mw.Mixture(likelihood, mw.PitmanYor(3.0, 0.8)), 10_000, seed=0)
    model = mw.Mixture(mw.Gaussian(scale="paper"), mw.NGGP())
    gibbs = Run(model, X, mw.Gibbs(), 0, "on-top").until(60)
    # The joint fluctuates by some 100 at stationarity: the level is the mean of the last quarter.
    level = float(np.mean(gibbs.log_joint[-len(gibbs.log_joint) // 4 :]))
    tree = Run(model, X, mw.Tree(), 0, "on-top").until(20)
    return {
        "10,000 rows": {
            "gibbs_level_60s": level,
            "gibbs_seconds_there": gibbs.seconds_to(level),
            "tree_seconds_there": tree.seconds_to(level),
            "tree_joint_20s": tree.log_joint[-1],
        }
    }


def iteration_growth() -> dict[str, Measurement]:
    """A default iteration against n, 50 clusters in the plane; guide trees apart."""
    results: dict[str, Measurement] = {}
    numbers, costs = (10**3, 10**4, 10**5, 10**6), []
    for n in numbers:
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 50, n)
        X = rng.uniform(-30, 30, (50, 2))[truth] + 0.3 * rng.normal(size=(n, 2))
        likelihood = mw.Gaussian(scale="data")
        data = likelihood.check(X)
        model = mw.Mixture(likelihood.resolve(data), mw.NGGP())
        family = bind_family(model, data)
        begun = time.process_time()
        bits = np.random.PCG64(0)
        chain = make_chain(model, data, truth.astype(np.int32), bits, mw.Tree(), family)
        tree_seconds = time.process_time() - begun
        chain.iterate(19)
        chain.freeze()
        before = {report["move"]: report["proposed"] for report in chain.reports()}
        begun = time.process_time()
        chain.iterate(90)
        costs.append((time.process_time() - begun) / 90)
        after = {report["move"]: report["proposed"] for report in chain.reports()}
        results[f"iteration, n = {n}"] = {
            "ms": 1e3 * costs[-1],
            "leaves_visited": (after["leaf"] - before["leaf"]) / 90,
            "clusters": chain.n_clusters,
            "guide_tree_seconds": tree_seconds,
        }
    exponent = float(np.polyfit(np.log(numbers), np.log(costs), 1)[0])
    results["iteration, exponent"] = {"time": exponent}
    return results


BENCHMARKS = (bad_start, overlap, corpus, ten_thousand, iteration_growth)
