"""`python -m benchmarks.answer`: what comes out if nothing is tuned, beside what else a user takes.

    python -m benchmarks.answer [--sets iris,wine,...] [--methods mixwood,bic,...] [--seeds 3]
        [--limit 600] [--cached]

Every method as it comes, on four fifths of each set: adjusted Rand of those rows, number of
clusters, log density per row of the rest (in units of the columns' standard deviations), and CPU
seconds. Means over seeds, which also change what is held out. Fits are recorded one by one in
benchmarks/results/answer.jsonl, and not repeated by the same build. The sets need the folder that
MIXWOOD_DATA names.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import numpy as np
from sklearn import cluster, metrics, mixture  # here: imports are not on the clock

import mixwood as mw
from benchmarks.limits import run_within
from benchmarks.record import RESULTS
from benchmarks.study_defaults.methods import Measures, best_by_bic
from benchmarks.study_defaults.records import Key, Records, package_content
from benchmarks.study_defaults.sets import REAL, LabelledSet, load
from benchmarks.study_defaults.simulated import Floats
from mixwood.partitions import adjusted_rand

PATH = RESULTS / "answer.jsonl"
#: All but the largest.
SETS = tuple(name for name in REAL if name != "birch1")
MOST_GROUPS = 30

#: Labels of the rows that were fitted, and log densities of the others, if there is a model.
Answer = tuple[np.ndarray, np.ndarray | None]


def _mixwood(X: Floats, rest: Floats, seed: int) -> Answer:
    post = mw.sample(mw.Mixture(), X, seed=seed, n_jobs=1, progress=False)
    return post.point_estimate(n_jobs=1), post.log_density(rest)


def _bayesian(X: Floats, rest: Floats, seed: int) -> Answer:
    most = min(MOST_GROUPS, len(X) // 5)
    fit = mixture.BayesianGaussianMixture(n_components=most, max_iter=500, random_state=seed).fit(X)
    return fit.predict(X), fit.score_samples(rest)


def _bic(X: Floats, rest: Floats, seed: int) -> Answer:
    best, _ = best_by_bic(X, seed)
    return best.predict(X), best.score_samples(rest)


def _hdbscan(X: Floats, rest: Floats, seed: int) -> Answer:  # noqa: ARG001
    labels = cluster.HDBSCAN(copy=True).fit_predict(X)
    noise = labels < 0  # rows in no cluster are clusters of their own
    labels[noise] = labels.max() + 1 + np.arange(noise.sum())
    return labels, None


def _kmeans(X: Floats, rest: Floats, seed: int) -> Answer:  # noqa: ARG001
    best, score = np.zeros(len(X), dtype=np.int64), -np.inf
    for groups in range(2, min(MOST_GROUPS, len(X) // 5) + 1):
        labels = cluster.KMeans(groups, n_init=10, random_state=seed).fit_predict(X)
        found = metrics.silhouette_score(
            X, labels, sample_size=min(len(X), 5000), random_state=seed
        )
        if found > score:
            best, score = labels, found
    return best, None


METHODS: dict[str, Callable[[Floats, Floats, int], Answer]] = {
    "mixwood": _mixwood,
    "bic": _bic,
    "bayesian": _bayesian,
    "hdbscan": _hdbscan,
    "kmeans": _kmeans,
}
TITLES = {
    "mixwood": "mixwood",
    "bic": "Gaussian mixtures by BIC",
    "bayesian": "BayesianGaussianMixture",
    "hdbscan": "HDBSCAN",
    "kmeans": "KMeans by silhouette",
}


def measure(data: LabelledSet, method: str, seed: int) -> Measures:
    """Return what one fit gives, of the columns in units of their standard deviations."""
    order = np.random.default_rng(seed).permutation(len(data.X))
    fitted, held = np.split(order, [4 * len(order) // 5])
    X = (data.X - data.X.mean(axis=0)) / data.units
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, density = METHODS[method](X[fitted], X[held], seed)
    cpu = time.process_time() - began
    known = data.labels[fitted] >= 0
    return {
        "rand": adjusted_rand(data.labels[fitted][known], labels[known]) if known.any() else None,
        "density": None if density is None else float(np.mean(density)),
        "clusters": len(np.unique(labels)),
        "cpu": cpu,
    }


def key(data: LabelledSet, method: str, seed: int) -> Key:
    """Return what tells a record from all others."""
    ours = f"mixwood {mw.__version__} {package_content()}"
    build = ours if method == "mixwood" else f"scikit-learn {version('scikit-learn')}"
    return {
        "set": data.name,
        "content": data.fingerprint,
        "method": method,
        "seed": seed,
        "build": build,
    }


def fits(
    data: LabelledSet, method: str, records: Records, given: argparse.Namespace
) -> list[Measures]:
    """Return a fit for each seed, recorded or made now; fewer if one is over the limit."""
    found: list[Measures] = []
    for seed in range(1, given.seeds + 1):
        known = key(data, method, seed)
        one = records.find(known, given.limit)
        if one is None and not given.cached:
            answer = run_within(given.limit, partial(measure, data, method, seed))
            one = {"over": given.limit} if answer is None else answer
            records.add(known, one)
        if one is None or "over" in one:
            break
        found.append(one)
    return found


def cell(fits: list[Measures], name: str, form: str) -> str:
    """Return the mean of a measure, or a dash where there is none."""
    numbers = [fit[name] for fit in fits if fit[name] is not None]
    return format(float(np.mean(numbers)), form) if numbers else "-"


def table(found: dict[str, dict[str, list[Measures]]], name: str, form: str) -> str:
    """Return one measure as Markdown, a line for each set, and the means of all methods' sets."""
    methods = [method for method in METHODS if any(method in each for each in found.values())]
    lines = [f"| | {' | '.join(TITLES[m] for m in methods)} |", "|---" * (len(methods) + 1) + "|"]
    cells = {
        data: [cell(each.get(m, []), name, form) for m in methods] for data, each in found.items()
    }
    lines += [f"| {data} | {' | '.join(row)} |" for data, row in cells.items()]
    full = [row for row in cells.values() if "-" not in row] or [["-"] * len(methods)]
    if name != "density":  # which some have not
        means = [np.mean([float(row[k]) for row in full]) for k in range(len(methods))]
        lines.append(f"| **mean of {len(full)}** | {' | '.join(format(m, form) for m in means)} |")
    return "\n".join(lines)


def main() -> None:
    """Fit what was asked for, and print a table for each measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answer")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds of one fit")
    parser.add_argument("--cached", action="store_true", help="fit nothing: show what is recorded")
    parser.add_argument("--any-build", action="store_true", help="show other builds' records, too")
    given = parser.parse_args()
    records = Records(PATH, given.any_build)
    found: dict[str, dict[str, list[Measures]]] = {}
    for name in given.sets.split(","):
        data = load(name)
        found[name] = {m: fits(data, m, records, given) for m in given.methods.split(",")}
        print(name, {m: [cell(each, "rand", ".3f")] for m, each in found[name].items()}, flush=True)
    for title, name, form in (
        ("adjusted Rand", "rand", ".2f"),
        ("clusters", "clusters", ".1f"),
        ("log density per row held out", "density", ".2f"),
        ("CPU seconds", "cpu", ".1f"),
    ):
        print(f"\n{title}\n\n{table(found, name, form)}")


if __name__ == "__main__":
    main()
