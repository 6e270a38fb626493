"""`python -m benchmarks.consistency`: does the number of clusters settle on the truth?

Rows from 3 and from 7 Gaussian components in two columns, 100 to 10,000 of them: the posterior
probability that there are as many clusters as components, and the mean number of clusters, under
each prior, all else at its defaults. Records go to benchmarks/results/consistency.jsonl, and are
not made again; docs/pictures/consistency.py draws them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mixwood as mw
from benchmarks import record

PATH = record.RESULTS / "consistency.jsonl"
COMPONENTS, ROWS, SEEDS = (3, 7), (100, 1000, 10_000), 3
PRIORS: dict[str, Callable[[], Any]] = {
    "FiniteMixture": mw.FiniteMixture,
    "DirichletProcess": mw.DirichletProcess,
    "NGGP": mw.NGGP,
    "PitmanYor": mw.PitmanYor,
}


def rows_of(components: int, n: int, seed: int) -> np.ndarray:
    """Return rows of equally likely components, their centres at least four deviations apart."""
    rng = np.random.default_rng([components, seed])
    centres: list[np.ndarray] = []
    side = 6.0 * np.sqrt(components)
    while len(centres) < components:
        centre = rng.uniform(0, side, 2)
        if all(np.linalg.norm(centre - other) > 4 for other in centres):
            centres.append(centre)
    drawn = np.random.default_rng([components, n, seed])
    labels = drawn.integers(components, size=n)
    return np.array(centres)[labels] + drawn.standard_normal((n, 2))


def measure(prior: str, components: int, n: int, seed: int, draws: int) -> dict[str, Any]:
    """Return what one fit says about the number of clusters."""
    model = mw.Mixture(mw.Gaussian(), PRIORS[prior]())
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of chains that do not agree: R-hat is recorded
        post = mw.sample(
            model, rows_of(components, n, seed), draws=draws, warmup=draws // 2, chains=2,
            seed=seed, n_jobs=1, progress=False,
        )  # fmt: skip
    r_hat = float(post.summary().loc["n_clusters", "r_hat"])
    return {
        "p_truth": float((post.n_clusters == components).mean()),
        "mean_clusters": float(post.n_clusters.mean()),
        "r_hat": None if np.isnan(r_hat) else r_hat,
        "cpu": time.process_time() - began,
    }


def records() -> list[dict[str, Any]]:
    """Return what was measured before."""
    if not PATH.exists():
        return []
    return [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def summary(found: list[dict[str, Any]]) -> str:
    """Return the means over seeds as a table in Markdown."""
    lines = ["| components | prior | " + " | ".join(f"{n:,} rows" for n in ROWS) + " |"]
    lines.append("|---|---|" + "---|" * len(ROWS))
    for components in COMPONENTS:
        for prior in PRIORS:
            cells = []
            for n in ROWS:
                own = [
                    one for one in found
                    if (one["prior"], one["components"], one["n"]) == (prior, components, n)
                ]  # fmt: skip
                p, mean = ([one[key] for one in own] for key in ("p_truth", "mean_clusters"))
                cells.append(f"{np.mean(p):.2f} ({np.mean(mean):.1f})" if own else "-")
            lines.append(f"| {components} | {prior} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.consistency")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--draws", type=int, default=500, help="of each of two chains")
    given = parser.parse_args()
    found = records()
    for n in given.rows:
        for components in COMPONENTS:
            for prior in PRIORS:
                for seed in range(SEEDS):
                    key = {"prior": prior, "components": components, "n": n, "seed": seed}
                    key["draws"] = given.draws
                    if any(key.items() <= one.items() for one in found):
                        continue
                    one = key | measure(prior, components, n, seed, given.draws)
                    found.append(one)
                    with PATH.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(one) + "\n")
                    print(one, flush=True)
    print(f"\nP(K = truth), and the mean number of clusters\n\n{summary(found)}")


if __name__ == "__main__":
    main()
