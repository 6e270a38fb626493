"""`python -m benchmarks.agreement_defaults`: do chains agree in a run of the default length?

    python -m benchmarks.agreement_defaults [--data FOLDER] [--only s1,stray] [--seeds 1,7]

Four chains of 500 iterations and 1,000 draws of `Tree` from the default start, all at the defaults.
R-hat and effective samples (bulk) of the number of clusters, the log joint, the size of the largest
cluster and of whether two rows are together, for 200 pairs; CPU seconds of start, warm-up and
draws of all chains. Real sets, and some that are simulated here. Records go to
benchmarks/results/agreement_defaults.jsonl, and are not made again by the same build.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mixwood as mw
from benchmarks.agreement import AGREE, PAIRS, Problem, explicit, problem
from benchmarks.record import RESULTS
from benchmarks.study_defaults.methods import Measures
from benchmarks.study_defaults.records import Key, Records, package_content
from mixwood.core import bind_family, make_chain
from mixwood.posterior.summary import diagnostics
from mixwood.sampling.starting_point import starting_point

PATH = RESULTS / "agreement_defaults.jsonl"
CHAINS, WARMUP, DRAWS = 4, 500, 1000
REAL = ("unbalance", "s1", "s2", "hdbscan", "a1", "fuzzyx")
SCALARS = ("n_clusters", "log_joint", "largest")

Floats = NDArray[np.float64]


def nested(seed: int = 1, n: int = 3000, d: int = 2, k: int = 10, spread: float = 8) -> Floats:
    """Return normals of two widths, 0.25 and 1, about each of `k` centres."""
    rng = np.random.default_rng(seed)
    centres, chosen = rng.uniform(-spread, spread, (k, d)), rng.integers(0, k, n)
    widths = np.where(rng.random(n) < 0.6, 0.25, 1.0)
    return centres[chosen] + widths[:, None] * rng.standard_normal((n, d))


def nested8() -> Floats:
    """Return the same in eight columns."""
    return nested(4, 4000, 8, 6, 6)


def stray(seed: int = 2, n: int = 5000, d: int = 3, k: int = 8) -> Floats:
    """Return eight normals, and four times three rows at the edge of one."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, (k, d))
    chosen = rng.choice(k, n, p=rng.dirichlet(np.full(k, 1.0)))
    X = centres[chosen] + rng.standard_normal((n, d)) * rng.uniform(0.3, 1.2, (k, d))[chosen]
    for g in range(4):
        away = 3.4 * rng.standard_normal(d) / np.sqrt(d) * 1.5
        X[3 * g : 3 * g + 3] = centres[g] + away + 0.3 * rng.standard_normal((3, d))
    return X[rng.permutation(n)]


def overlap(seed: int = 3, n: int = 2000, d: int = 4, k: int = 14) -> Floats:
    """Return normals of several shapes that overlap."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-3, 3, (k, d))
    chosen = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    factors = rng.standard_normal((k, d, d)) * 0.3 + np.eye(d) * 0.6
    rows = rng.standard_normal((n, d))
    return centres[chosen] + np.einsum("nij,nj->ni", factors[chosen], rows)


def laplace(seed: int = 5, n: int = 5000, d: int = 2, k: int = 12) -> Floats:
    """Return groups that are more peaked than normals."""
    rng = np.random.default_rng(seed)
    centres, chosen = rng.uniform(-9, 9, (k, d)), rng.integers(0, k, n)
    rows = rng.standard_normal((n, d)) * np.sqrt(rng.exponential(1, (n, 1))) * 0.8
    return centres[chosen] + rows


def line(seed: int = 6, n: int = 1000, k: int = 9) -> Floats:
    """Return normals of several widths on a line."""
    rng = np.random.default_rng(seed)
    centres, chosen = np.sort(rng.uniform(0, 20, k)), rng.integers(0, k, n)
    return (centres[chosen] + rng.standard_normal(n) * rng.uniform(0.2, 1.2, k)[chosen])[:, None]


SIMULATED: dict[str, Callable[[], Floats]] = {
    "stray": stray, "laplace": laplace, "nested": nested, "overlap": overlap, "line": line,
    "nested8": nested8,
}  # fmt: skip


def load(name: str) -> Problem:
    """Return a set by its name, with the model that a user would have without a word."""
    if name not in SIMULATED:
        return problem(name)
    return explicit(name, mw.Mixture(), np.ascontiguousarray(SIMULATED[name]()), "1")


def run(one: Problem, number: int, seed: int) -> tuple[Floats, list[float]]:
    """Run a chain; return a line of values for each draw, and the CPU seconds of its parts."""
    times = [time.process_time()]
    sequence, sampler = np.random.SeedSequence([seed, number]), mw.Tree()
    family = bind_family(one.model, one.X, sampler)
    point = starting_point("ibhc", one.model, one.X, family, sequence)
    stream = np.random.PCG64(sequence)
    chain = make_chain(one.model, one.X, point.labels, stream, sampler, point.family)
    times.append(time.process_time())
    for _ in range(WARMUP):
        chain.iterate()
    chain.freeze()
    times.append(time.process_time())
    pairs = np.random.default_rng(0).integers(0, one.X.shape[0], (2, PAIRS))
    seen, looking = [], 0.0
    for _ in range(DRAWS):
        chain.iterate()
        began = time.process_time()
        labels = chain.state()["labels"]
        scalars = [chain.n_clusters, chain.log_joint(), np.bincount(labels).max()]
        seen.append(np.concatenate([scalars, labels[pairs[0]] == labels[pairs[1]]]))
        looking += time.process_time() - began
    times.append(time.process_time() - looking)
    return np.array(seen), np.diff(times).tolist()


def measures(one: Problem, seed: int) -> Measures:
    """Return the record of a set."""
    runs = [run(one, number, seed) for number in range(CHAINS)]
    draws = np.array([seen for seen, _ in runs])
    found = np.array([diagnostics(draws[..., k]) for k in range(draws.shape[-1])])
    r_hat = np.where(np.isnan(found[:, 2]), 1.0, found[:, 2])
    together = r_hat[len(SCALARS) :]
    return {
        "r_hat": dict(zip(SCALARS, map(float, r_hat), strict=False))
        | {"pairs": float(together.max()), "pairs_apart": int((together > AGREE).sum())},
        "ess": dict(zip(SCALARS, map(float, found[:, 0]), strict=False)),
        "seconds": np.sum([parts for _, parts in runs], axis=0).tolist(),
        "clusters": draws[..., 0].mean(axis=1).tolist(),
    }


def key(one: Problem, seed: int) -> Key:
    """Return what tells a record from all others."""
    options: dict[str, Any] = {"chains": CHAINS, "warmup": WARMUP, "draws": DRAWS, "seed": seed}
    build = f"mixwood {mw.__version__} {package_content()}"
    return {"set": one.name, "content": one.content, "options": options, "build": build}


def line_of(name: str, seed: int, found: Measures) -> str:
    """Return a record as a line of a table."""
    r_hat, clusters = found["r_hat"], ", ".join(format(k, ".1f") for k in found["clusters"])
    numbers = [format(r_hat[each], ".2f") for each in (*SCALARS, "pairs")]
    numbers += [str(r_hat["pairs_apart"]), format(found["ess"]["n_clusters"], ".0f")]
    numbers += [format(sum(found["seconds"]), ".1f"), clusters]
    return f"| {name}, {seed} | {' | '.join(numbers)} |"


HEAD = (
    "| set, seed | R-hat of K | joint | largest | pairs, worst | above 1.05 | ESS of K | CPU s | "
    "mean K of each chain |"
)


def main() -> None:
    """Run what is not recorded, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement_defaults")
    parser.add_argument("--data", help="folder with sets/ (otherwise MIXWOOD_DATA)")
    parser.add_argument("--only", help=f"some of {','.join((*REAL, *SIMULATED))}")
    parser.add_argument("--seeds", default="7")
    given = parser.parse_args()
    if given.data:
        os.environ["MIXWOOD_DATA"] = given.data
    records = Records(PATH)
    print(f"{HEAD}\n{'|---' * HEAD.count(' | ')}|---|", flush=True)
    for name in given.only.split(",") if given.only else (*REAL, *SIMULATED):
        one = load(name)
        for seed in map(int, given.seeds.split(",")):
            found = records.find(key(one, seed))
            if found is None:
                found = measures(one, seed)
                records.add(key(one, seed), found)
            print(line_of(name, seed, found), flush=True)


if __name__ == "__main__":
    main()
