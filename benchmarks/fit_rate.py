"""`python -m benchmarks.fit_rate`: how often `check_fit` is right.

Sets that the model is right for: groups that are apart (1 to 4 of 400 rows in two columns), in one
column with widths of their own, one correlated normal in four columns, groups of other shapes in
three columns and in two, some of which overlap, and round groups that overlap (five of unit width,
centres with a standard deviation of 4). Sets that it is wrong for: heavy tails (t, 4 degrees of
freedom), lopsided groups (exponential), crescents, values rounded to half a standard deviation, and
a pair of groups kept together. The share of sets that pass, what is named,
and CPU seconds per check. The defaults but for `Gaussian` (or `StudentT`
would be taken for heavy tails), and 100 draws of two chains after 100.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

import mixwood as mw
from benchmarks import record

RIGHT = ("apart", "one column", "one normal", "shapes", "ovals", "overlapping")
WRONG = ("heavy tails", "lopsided", "crescents", "rounded", "pair")


def rows_of(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows, and labels to be kept where there are any."""
    corners = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    noise = rng.normal(size=(400, 2))
    if kind in ("apart", "rounded", "heavy tails", "lopsided"):
        labels = rng.integers(rng.integers(1, 5), size=400)
        if kind == "heavy tails":
            noise = rng.standard_t(4, size=(400, 2))
        elif kind == "lopsided":
            noise = rng.exponential(size=(400, 2))
        X = corners[labels] * (1.5 if kind in ("heavy tails", "lopsided") else 1) + noise
        return (np.round(2 * X) / 2 if kind == "rounded" else X), None
    if kind == "one column":
        labels = rng.integers(3, size=400)
        X = np.array([0.0, 6.0, 10.0])[labels] + np.array([1.0, 0.5, 0.7])[labels] * noise[:, 0]
        return X[:, None], None
    if kind == "one normal":
        return rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)), None
    if kind in ("shapes", "ovals"):
        d = 3 if kind == "shapes" else 2
        labels, shapes = rng.integers(4, size=500), rng.normal(size=(4, d, d))
        turned = np.einsum("nij,nj->ni", shapes[labels], rng.normal(size=(500, d)))
        return rng.normal(0, 5, (4, d))[labels] + turned, None
    if kind == "overlapping":
        labels = rng.integers(5, size=500)
        return rng.normal(0, 4, (5, 2))[labels] + rng.normal(size=(500, 2)), None
    if kind == "crescents":
        a, b = rng.uniform(0, np.pi, (2, 200))
        upper = np.column_stack([np.cos(a), np.sin(a)])
        lower = np.column_stack([1 - np.cos(b), 0.5 - np.sin(b)])
        return np.vstack([upper, lower]) + 0.08 * noise, None
    noise[:150, 0] += 4.0
    noise[300:, 1] += 12.0
    return noise, np.repeat([0, 1], [300, 100])


def measure(kind: str, sets: int) -> dict[str, float | str]:
    """Return the share of sets that pass, and what is named in the others."""
    passed, named, seconds = 0, Counter[str](), 0.0
    for seed in range(sets):
        X, known = rows_of(kind, np.random.default_rng([seed, 23]))
        options: dict[str, Any] = {} if known is None else {"known": known}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            post = mw.sample(
                mw.Mixture(mw.Gaussian()), X, draws=100, warmup=100, chains=2, seed=seed, n_jobs=1,
                progress=False, **options,
            )  # fmt: skip
        post.point_estimate(n_jobs=1)
        began = time.process_time()
        fit = post.check_fit()
        seconds += time.process_time() - began
        passed += fit.ok
        named.update(fit.misses[:1])
    return {
        "sets": float(sets),
        "pass_share": passed / sets,
        "named": ", ".join(f"{kind} {n}" for kind, n in named.most_common()),
        "cpu_seconds": seconds / sets,
    }


def large() -> dict[str, float | str]:
    """Return CPU seconds of a check of 10,000 rows in ten columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 10))
    X[5000:] += 6.0
    post = mw.sample(mw.Mixture(), X, draws=20, warmup=20, chains=2, seed=1, progress=False)
    post.point_estimate()
    began = time.process_time(), time.perf_counter()
    post.check_fit()
    return {
        "cpu_seconds": time.process_time() - began[0],
        "wall_seconds": time.perf_counter() - began[1],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--kinds", nargs="+", default=[*RIGHT, *WRONG], choices=[*RIGHT, *WRONG])
    chosen = parser.parse_args()
    found = {"fit_10000x10": large()}
    for kind in chosen.kinds:
        found[f"fit_{kind}"] = measure(kind, chosen.sets if kind in RIGHT else chosen.sets // 4)
        print(kind, found[f"fit_{kind}"], flush=True)
    print(record.write(found))
