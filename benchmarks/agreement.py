"""`python -m benchmarks.agreement`: do chains from different starts tell one story, and how soon?

    python -m benchmarks.agreement [--data FOLDER] [--quick] [--only s1,s2] [--seconds 60]
        [--chains 8] [--tree fitted_moves=0,passes=1] [--starts ibhc,one,kmeans] [--jobs 1]

Chains of `Tree` from the default start, from one cluster and from groups of k-means, all else at
its defaults, each for so many CPU seconds, its start included. R-hat, and effective samples per
CPU second of all chains, in the second half of that time: of the number of clusters, the log joint,
the width, the size of the largest cluster, and of whether two rows are together, for 200 pairs.
Records go to benchmarks/results/agreement.jsonl, and are not made again by the same build. The
real sets need the folder that MIXWOOD_DATA names.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

import mixwood as mw
from benchmarks.record import RESULTS
from benchmarks.study_defaults.methods import Measures
from benchmarks.study_defaults.records import Key, Records, package_content
from benchmarks.study_defaults.sets import REAL, LabelledSet, load
from mixwood.core import bind_family, make_chain, move_statistics
from mixwood.posterior.summary import diagnostics
from mixwood.sampling.starting_point import starting_point
from mixwood.sampling.structure import best_structure

PATH = RESULTS / "agreement.jsonl"
#: Without a name, all of these; the others by --only.
SETS = (*(name for name in REAL if name != "birch1"), "toy", "four_groups_20")
LARGE = ("shared_covariance_16", "birch1", "tenk", "nips", "text")
QUICK = {"seconds": 5.0, "chains": 4}
SLOW = {"seconds": 60.0, "chains": 8}
SCALARS = ("n_clusters", "log_joint", "width", "largest")
PAIRS, MOST_DRAWS, WARMUP = 200, 2000, 500
#: Up to which R-hat chains agree; and the parts of the time after which it is asked.
AGREE, PARTS = 1.05, (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How chains are run: all that tells one record of a set from another."""

    seconds: float
    chains: int
    starts: tuple[str, ...] = ("ibhc", "one", "kmeans")
    tree: tuple[tuple[str, int], ...] = ()

    def start(self, number: int) -> str:
        """Return the start of a chain: by turns."""
        return self.starts[number % len(self.starts)]


@dataclass(frozen=True)
class Problem:
    """Rows, and an explicit model of them."""

    name: str
    model: mw.Mixture
    X: Any
    content: str


@dataclass(frozen=True)
class Trace:
    """What a chain was seen to do after warm-up: CPU seconds, and a line of values at each."""

    start: str
    times: Floats
    values: Floats  # the scalars, then the pairs
    iterations: int
    moves: dict[str, Any]

    def between(self, first: float, last: float) -> Floats:
        """Return the values seen in a part of the time."""
        return self.values[(self.times > first) & (self.times <= last)]


def documents(seed: int = 1) -> csr_array:
    """Return 5,000 documents of some 60 words out of 2,000, 25 subjects that share many words."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(2000, 0.5))
    subjects = np.array(
        [0.5 * common + 0.5 * rng.dirichlet(np.full(2000, 0.02)) for _ in range(25)]
    )
    chosen = rng.choice(25, 5000, p=rng.dirichlet(np.full(25, 1.0)))
    lengths = 1 + rng.poisson(60, 5000)
    pairs = zip(lengths, chosen, strict=True)
    return csr_array(np.array([rng.multinomial(n, subjects[k]) for n, k in pairs]))


def problem(name: str) -> Problem:
    """Return a set with the model that a user would have without a word; `nips` as in the paper."""
    model, X = mw.Mixture(), None
    if name == "nips":
        model, X = mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP()), mw.datasets.nips()[0]
    elif name == "text":
        model, X = mw.Mixture(mw.Multinomial()), documents()
    elif name == "toy":
        X = mw.datasets.toy()[0]
    if X is None:
        found = load(name)
        return explicit(name, model, found.X, found.fingerprint)
    rows = X.toarray() if issparse(X) else X
    labels = np.zeros(len(rows), dtype=np.int64)
    return explicit(name, model, X, LabelledSet(name, rows, labels).fingerprint)


def explicit(name: str, model: mw.Mixture, X: Any, content: str) -> Problem:
    """Return rows with the structure that the default chooses for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns left out
        located, data = model.likelihood.located_in(X)
        chosen = best_structure(model, located.candidates(data), data, np.random.SeedSequence(1))
    return Problem(name, mw.Mixture(chosen.likelihood, model.prior), data, content)


def start_of(one: Problem, start: str, seed: int) -> Any:
    """Return what chains start from: a name, or groups of k-means, another number for each seed."""
    if start != "kmeans":
        return start
    from sklearn.cluster import KMeans

    rows = one.X.multiply(1 / one.X.sum(axis=1)[:, None]).tocsr() if issparse(one.X) else one.X
    rows = rows if issparse(rows) else np.nan_to_num(rows - np.nanmean(rows, 0))
    groups = min((5, 15, 40)[seed % 3], max(2, rows.shape[0] // 5))
    return KMeans(groups, n_init=1, random_state=seed).fit_predict(rows)


def run(one: Problem, plan: Plan, number: int) -> Trace:
    """Run a chain for its CPU seconds and return what was seen."""
    began = time.process_time()
    seed, sampler = np.random.SeedSequence([23, number]), mw.Tree(**dict(plan.tree))
    family = bind_family(one.model, one.X, sampler)
    init = start_of(one, plan.start(number), number)
    point = starting_point(init, one.model, one.X, family, seed)
    stream = np.random.PCG64(seed)
    chain = make_chain(one.model, one.X, point.labels, stream, sampler, point.family)
    iterations = 0
    while iterations < WARMUP and time.process_time() - began < plan.seconds / 4:
        chain.iterate()
        iterations += 1
    chain.freeze()
    frozen = time.process_time()
    chain.iterate(2)
    each = (time.process_time() - frozen) / 2
    # Fixed from now on: which draws are kept must not depend on how long they take.
    thin = max(1, round(plan.seconds / MOST_DRAWS / max(each, 1e-6)))
    pairs = np.random.default_rng(0).integers(0, one.X.shape[0], (2, PAIRS))
    times: list[float] = []
    seen: list[Floats] = []
    looking = 0.0
    while not times or times[-1] < plan.seconds:
        chain.iterate(thin)
        iterations += thin
        now = time.process_time()
        times.append(now - began - looking)
        seen.append(look(one, chain, pairs))
        looking += time.process_time() - now
    moves = {name: dict(moved) for name, moved in move_statistics(chain).items()}
    return Trace(plan.start(number), np.array(times), np.array(seen), iterations, moves)


def look(one: Problem, chain: Any, pairs: NDArray[np.int64]) -> Floats:
    """Return the scalars, the width 0 where there is none, and who of the pairs are together."""
    labels = chain.state()["labels"]
    width = one.model.likelihood.base_width(chain.base[None]) if chain.base_size else None
    scalars = [
        chain.n_clusters,
        chain.log_joint(),
        0.0 if width is None else float(width[0]),
        np.bincount(labels).max(),
    ]
    return np.concatenate([scalars, labels[pairs[0]] == labels[pairs[1]]])


def r_hats(traces: Sequence[Trace], first: float, last: float) -> tuple[Floats, Floats] | None:
    """Return R-hat and the effective samples (bulk) of all values in a part of the time.

    As many draws of each chain, evenly spaced. Where nothing varies R-hat is 1, and effective
    samples are not defined. None if a chain has too few draws, or was warming up.
    """
    parts = [trace.between(first, last) for trace in traces]
    length = min(map(len, parts))
    if length < 10 or any(trace.times[0] > first for trace in traces if first > 0):
        return None
    draws = np.array([part[np.linspace(0, len(part) - 1, length).astype(int)] for part in parts])
    found = [diagnostics(draws[..., k]) for k in range(draws.shape[-1])]
    ess, _, r_hat = np.array(found).T
    constant = np.ptp(draws, axis=(0, 1)) == 0
    # Chains that stand still in different places have no variance within.
    return np.where(constant, 1.0, np.where(np.isnan(r_hat), np.inf, r_hat)), ess


def measures(traces: Sequence[Trace], plan: Plan) -> Measures:
    """Return the record of a set: what the chains agree on, what not, and what they did."""
    found = r_hats(traces, plan.seconds / 2, np.inf)
    if found is None:
        return {"r_hat": None, "chains": [_story(trace, plan) for trace in traces]}
    worst, ess = found
    cpu = sum(float(trace.times[-1]) for trace in traces) / 2
    asked = [(part * plan.seconds, r_hats(traces, part * plan.seconds / 2, part * plan.seconds))
             for part in PARTS]  # fmt: skip
    after = [t for t, each in asked if each is not None and np.nanmax(each[0]) <= AGREE]
    together, rates = worst[len(SCALARS) :], ess / cpu
    varies = np.isfinite(rates[len(SCALARS) :])
    return {
        "r_hat": dict(zip(SCALARS, map(float, worst), strict=False))
        | {"pairs": float(together.max()), "pairs_apart": int((together > AGREE).sum())},
        "ess_per_second": dict(zip(SCALARS, map(float, rates), strict=False))
        | {"pairs": float(np.median(rates[len(SCALARS) :][varies])) if varies.any() else None},
        "agreed_after": after[0] if after else None,
        "chains": [_story(trace, plan) for trace in traces],
    }


def _story(trace: Trace, plan: Plan) -> Measures:
    late = trace.between(plan.seconds / 2, np.inf)[:, : len(SCALARS)]
    moved = {
        name: [report["proposed"], report["accepted"], round(report["seconds"], 3)]
        for name, report in trace.moves.items()
    }
    return {
        "start": trace.start,
        "iterations": trace.iterations,
        **dict(zip(SCALARS, map(float, late.mean(axis=0)), strict=True)),
        "moves": moved,
    }


def key(one: Problem, plan: Plan) -> Key:
    """Return what tells a record from all others."""
    build = f"mixwood {mw.__version__} {package_content()}"
    options = asdict(plan) | {"starts": list(plan.starts), "tree": dict(plan.tree)}
    return {"set": one.name, "content": one.content, "options": options, "build": build}


def line(name: str, found: Measures) -> str:
    """Return a record as a line of a table."""
    if found["r_hat"] is None:
        return f"| {name} | too few draws |"
    r_hat, rates = found["r_hat"], found["ess_per_second"]
    numbers = [format(r_hat[each], ".2f") for each in (*SCALARS, "pairs")]
    numbers += [str(r_hat["pairs_apart"]), format(rates["n_clusters"], ".1f")]
    stories = ", ".join(f"{each['start']} {each['n_clusters']:.1f}" for each in found["chains"])
    after = found["agreed_after"]
    numbers += ["-" if after is None else format(after, ".3g"), stories]
    return f"| {name} | {' | '.join(numbers)} |"


HEAD = (
    "| set | R-hat of K | joint | width | largest | pairs, worst | pairs above 1.05 | "
    "ESS of K a second | agree after s | mean K of each chain |"
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement")
    parser.add_argument("--data", help="folder with sets/ (otherwise MIXWOOD_DATA)")
    parser.add_argument("--only", help=f"some of {','.join((*SETS, *LARGE))}")
    parser.add_argument("--quick", action="store_true", help=f"a fast pass: {QUICK}")
    parser.add_argument("--seconds", type=float, help="CPU seconds of each chain")
    parser.add_argument("--chains", type=int)
    parser.add_argument("--starts", default="ibhc,one,kmeans", help="by turns")
    parser.add_argument("--tree", default="", help="options of Tree, such as fitted_moves=0")
    parser.add_argument("--jobs", type=int, default=1, help="chains at once")
    given = parser.parse_args()
    for name, value in (QUICK if given.quick else SLOW).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    return given


def main() -> None:
    """Run what is not recorded, and print a table."""
    given = arguments()
    if given.data:
        os.environ["MIXWOOD_DATA"] = given.data
    options = (each.split("=") for each in given.tree.split(",") if each)
    plan = Plan(
        given.seconds,
        given.chains,
        tuple(given.starts.split(",")),
        tuple((name, int(value)) for name, value in options),
    )
    records = Records(PATH)
    print(f"{HEAD}\n{'|---' * HEAD.count(' | ')}|---|", flush=True)
    for name in given.only.split(",") if given.only else SETS:
        one = problem(name)
        found = records.find(key(one, plan))
        if found is None:
            with ProcessPoolExecutor(given.jobs, mp_context=get_context("fork")) as pool:
                traces = list(pool.map(partial(run, one, plan), range(plan.chains)))
            found = measures(traces, plan)
            records.add(key(one, plan), found)
        print(line(name, found), flush=True)


if __name__ == "__main__":
    main()
