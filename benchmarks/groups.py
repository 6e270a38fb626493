"""`python -m benchmarks.groups worth|scale`: one clustering across samples.

`worth`: 20 samples of 100 rows in three columns with four clusters, four standard deviations from
the first, in proportions of their own (Dirichlet(1/2)), and a rare fifth that only 3 of the samples
have, 15% of their rows, at a distance from the first that is given. Fitted with groups, to all rows
pooled, and to each sample alone; how often the rare cluster is found (a cluster whose rows have
more than half in common with its), the error of the shares (mean absolute difference from the
truth, clusters matched to it one to one; counting rows by their true clusters has an error, too),
and the mean adjusted Rand index within samples.

`scale`: 100 groups of 1,000 rows in 10 columns, 20 clusters: processor time of iterations with
groups and without, by turns.

Records go to benchmarks/results/groups.jsonl.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import mixwood as mw
from benchmarks import record
from mixwood.core import make_chain
from mixwood.partitions import adjusted_rand

PATH = record.RESULTS / "groups.jsonl"
MEASURES = ("rare_found", "rare_overlap", "share_error", "rare_share_error", "adjusted_rand", "cpu")
SAMPLES, ROWS, WITH_RARE = 20, 100, 3
RUN: dict[str, Any] = {"draws": 250, "warmup": 250, "chains": 2, "n_jobs": 1, "progress": False}


def samples(seed: int, distance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, their samples and clusters (4 is the rare one), and the true shares."""
    rng = np.random.default_rng([24, seed])
    centres = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4], [-distance, 0, 0]], float)
    shares = np.zeros((SAMPLES, 5))
    shares[:, :4] = rng.dirichlet(np.full(4, 0.5), SAMPLES)
    shares[:WITH_RARE] *= 0.85
    shares[:WITH_RARE, 4] = 0.15
    groups = np.repeat(np.arange(SAMPLES), ROWS)
    labels = np.concatenate([rng.choice(5, ROWS, p=own) for own in shares])
    X = centres[labels] + rng.standard_normal((SAMPLES * ROWS, 3))
    return X, groups, labels, shares


def overlap(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return which share of the rows of both a cluster found and a true one have in common."""
    table = np.zeros((found.max() + 1, 5))
    np.add.at(table, (found, truth), 1)
    return table / (table.sum(1, keepdims=True) + table.sum(0) - table)


def matched(found: np.ndarray, truth: np.ndarray, estimated: np.ndarray) -> np.ndarray:
    """Return estimated shares (groups x clusters found) as shares of the true clusters."""
    rows, columns = linear_sum_assignment(-overlap(found, truth))
    result = np.zeros((len(estimated), 5))
    result[:, columns] = estimated[:, rows]
    return result


def counted(found: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return which share of each group's rows is in each cluster."""
    table = np.zeros((groups.max() + 1, found.max() + 1))
    np.add.at(table, (groups, found), 1)
    return table / table.sum(1, keepdims=True)


def fits(kind: str, seed: int, distance: float) -> dict[str, float]:
    X, groups, truth, shares = samples(seed, distance)
    model = mw.Mixture(mw.Gaussian(), mw.FiniteMixture())
    began = time.process_time()
    if kind == "alone":
        found, estimated = np.zeros(len(X), int), np.zeros((SAMPLES, 5))
        for j in range(SAMPLES):
            own = groups == j
            one = mw.sample(model, X[own], seed=seed, **RUN).point_estimate()
            found[own] = one + found.max() + 1
            estimated[j] = matched(one, truth[own], counted(one, np.zeros(ROWS, int)))[0]
        with_it = [groups == j for j in range(WITH_RARE)]
        best = max(overlap(found[own], truth[own])[:, 4].max() for own in with_it)
    else:
        own_groups = groups if kind == "groups" else None
        post = mw.sample(model, X, groups=own_groups, seed=seed, **RUN)
        found = post.point_estimate()
        table = counted(found, groups)
        if kind == "groups":
            table = post.group_weights()["mean"].unstack().to_numpy()
        estimated = matched(found, truth, table)
        best = overlap(found, truth)[:, 4].max()
    within = [adjusted_rand(found[groups == j], truth[groups == j]) for j in range(SAMPLES)]
    return {
        "rare_found": float(best > 0.5),
        "rare_overlap": float(best),
        "share_error": float(np.abs(estimated - shares).mean()),
        "rare_share_error": float(np.abs(estimated - shares)[:, 4].mean()),
        "share_error_of_true_clusters": float(np.abs(counted(truth, groups) - shares).mean()),
        "adjusted_rand": float(np.mean(within)),
        "clusters": float(found.max() + 1),
        "cpu": time.process_time() - began,
    }


def worth(seeds: int, distances: list[float]) -> None:
    done = _records("worth")
    for distance in distances:
        for seed in range(seeds):
            for kind in ("groups", "pooled", "alone"):
                key = {"what": "worth", "kind": kind, "seed": seed, "distance": distance}
                if any(key.items() <= one.items() for one in done):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _append(key | fits(kind, seed, distance))
        for kind in ("groups", "pooled", "alone"):
            own = [o for o in _records("worth") if (o["kind"], o["distance"]) == (kind, distance)]
            means = {name: np.mean([one[name] for one in own]) for name in MEASURES}
            print(distance, kind, len(own), {name: round(v, 4) for name, v in means.items()})


def scale(groups: int, rows: int) -> None:
    rng = np.random.default_rng(24)
    centres = 6 * rng.standard_normal((20, 10))
    shares = rng.dirichlet(np.full(20, 0.3), groups)
    of = np.repeat(np.arange(groups), rows)
    labels = np.concatenate([rng.choice(20, rows, p=own) for own in shares])
    X = centres[labels] + rng.standard_normal((len(labels), 10))
    prior = mw.FiniteMixture(gamma=mw.hyper.LogNormal(0.5, 1.0))
    likelihood, checked = mw.Gaussian().fitted_to(X)
    model = mw.Mixture(likelihood, prior)
    start = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    for name, sampler in (("tree", mw.Tree()), ("gibbs", mw.Gibbs(subset=5000))):
        chains = {
            grouped: make_chain(
                model, checked, start, np.random.PCG64(1), sampler, groups=of if grouped else None
            )
            for grouped in (False, True)
        }
        cpu: dict[bool, list[float]] = {False: [], True: []}
        for chain in chains.values():
            chain.iterate(5)
            chain.freeze()
        for _ in range(12):
            for grouped, chain in chains.items():
                began = time.process_time()
                chain.iterate(10)
                cpu[grouped].append((time.process_time() - began) / 10)
        plain, with_groups = (float(np.mean(cpu[grouped])) for grouped in (False, True))
        _append(
            {
                "what": "scale", "sampler": name, "groups": groups, "rows": rows, "columns": 10,
                "clusters": chains[True].n_clusters, "cpu_per_iteration": plain,
                "cpu_per_iteration_with_groups": with_groups, "ratio": with_groups / plain,
            }
        )  # fmt: skip


def _records(what: str) -> list[dict[str, Any]]:
    if not PATH.exists():
        return []
    found = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    return [one for one in found if one["what"] == what]


def _append(one: dict[str, Any]) -> None:
    one["commit"] = record.commit()
    with PATH.open("a", encoding="utf-8") as file:
        file.write(json.dumps(one) + "\n")
    print(one, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groups")
    parser.add_argument("what", choices=["worth", "scale"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--distance", type=float, nargs="*", default=[3.0, 3.5, 4.0])
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
    if given.what == "worth":
        worth(given.seeds, given.distance)
    else:
        scale(given.groups, given.rows)


if __name__ == "__main__":
    main()
