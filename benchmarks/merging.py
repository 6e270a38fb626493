"""`python -m benchmarks.merging [--seeds 11,12]`: where should the tree of merged clusters be cut?

Adjusted Rand of the point estimate, of `merge()`, of two fixed thresholds and of the best cut of
the tree with the true groups, means over seeds. Bent groups, groups with tails, and normals that
are apart, that overlap, and that touch. 200 draws of two chains after 200 at the defaults.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np

import mixwood as mw
from benchmarks import record
from mixwood.partitions import adjusted_rand

Rows = tuple[np.ndarray, np.ndarray]
Rng = np.random.Generator
THRESHOLDS = (0.3, 0.5)


def crescents(rng: Rng, sd: float) -> Rows:
    a, b = rng.uniform(0, np.pi, (2, 200))
    above = np.column_stack([np.cos(a), np.sin(a)])
    below = np.column_stack([1 - np.cos(b), 0.2 - np.sin(b)])
    return np.concatenate([above, below]) + rng.normal(0, sd, (400, 2)), np.repeat([0, 1], 200)


def ring(rng: Rng) -> Rows:
    angle = rng.uniform(0, 2 * np.pi, 250)
    around = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.25, (250, 2))
    return np.concatenate([around, rng.normal(0, 0.6, (150, 2))]), np.repeat([0, 1], [250, 150])


def skewed(rng: Rng) -> Rows:
    groups = [np.exp(rng.normal(0, 0.8, (200, 2))) + at for at in ((0, 0), (-9, 6))]
    return np.concatenate(groups), np.repeat([0, 1], 200)


def tails(rng: Rng) -> Rows:
    centres = np.array([[0, 0], [9, 1], [3, 9]])
    return np.repeat(centres, 120, axis=0) + rng.standard_t(4, (360, 2)), np.repeat(range(3), 120)


def triangle(rng: Rng, apart: float) -> Rows:
    centres = apart * np.array([[0, 0], [1, 0], [0.5, 0.75**0.5]])
    return np.repeat(centres, 150, axis=0) + rng.normal(size=(450, 2)), np.repeat(range(3), 150)


def fifteen(rng: Rng) -> Rows:
    centres = np.array([(4.2 * i + 2.1 * (j % 2), 3.7 * j) for i in range(5) for j in range(3)])
    return np.repeat(centres, 100, axis=0) + rng.normal(size=(1500, 2)), np.repeat(range(15), 100)


def two_widths(rng: Rng) -> Rows:
    wide = np.array([2.5, 0.0]) + 4 * rng.normal(size=(200, 2))
    return np.concatenate([rng.normal(size=(200, 2)), wide]), np.repeat([0, 1], 200)


KINDS: dict[str, Callable[[Rng], Rows]] = {
    "2 crescents, thin": lambda rng: crescents(rng, 0.05),
    "2 crescents, wide": lambda rng: crescents(rng, 0.12),
    "a ring and a ball": ring,
    "2 skewed, log-normal": skewed,
    "3 Student's t, 4 degrees": tails,
    "3 normals, 6 sd apart": lambda rng: triangle(rng, 6),
    "3 normals, 4 sd apart": lambda rng: triangle(rng, 4),
    "15 normals that touch": fifteen,
    "2 normals, one about the other": two_widths,
}


def measure(kind: str, seed: int) -> dict[str, float]:
    """Return the adjusted Rand of each way to cut, and the numbers of groups."""
    X, truth = KINDS[kind](np.random.default_rng(1000 + seed))
    options = {"draws": 200, "warmup": 200, "chains": 2, "seed": seed, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        likelihood = mw.Gaussian() if kind.startswith("3 Student") else mw.AutoGaussian()
        merged = mw.sample(mw.Mixture(likelihood), X, **options).merge()
    clusters = len(merged.sizes)
    rand = {k: float(adjusted_rand(truth, merged.cut(k))) for k in range(1, clusters + 1)}
    least = 1 - merged.linkage[:, 2]
    numbers = {"estimate": clusters, "merge()": merged.n_clusters}
    numbers |= {str(at): clusters - int(np.count_nonzero(least >= at)) for at in THRESHOLDS}
    numbers["best cut"] = max(rand, key=rand.__getitem__)
    found = {name: rand[k] for name, k in numbers.items()}
    return found | {f"groups, {name}": float(k) for name, k in numbers.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merging")
    parser.add_argument("--seeds", default="11,12,13,14,15")
    seeds = [int(seed) for seed in parser.parse_args().seeds.split(",")]
    means = {}
    for kind in KINDS:
        each = [measure(kind, seed) for seed in seeds]
        means[kind] = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
        shown = [name for name in means[kind] if not name.startswith("groups")]
        cells = [f"{means[kind][n]:.2f} ({means[kind][f'groups, {n}']:.1f})" for n in shown]
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
    print(record.write({f"merging, {kind}": values for kind, values in means.items()}))


if __name__ == "__main__":
    main()
