"""Which fraction of the data's variance should `Gaussian(scale="data")` expect of a cluster?

For each labelled set and each fraction: adjusted Rand of the draw of highest joint, from Gibbs
chains started at singletons. Run with MIXWOOD_DATA set: python -m benchmarks.study_scale
"""

from __future__ import annotations

import numpy as np

import mixwood as mw
from benchmarks.data import labelled_set
from mixwood.families.gaussian import shrunk_covariance
from mixwood.partitions import adjusted_rand

SETS = ("iris", "wine", "crabs", "thyroid", "hepta", "a1", "s1", "s2", "unbalance")
FRACTIONS = (0.003, 0.01, 0.03, 0.1, 0.3)


def score(X: np.ndarray, truth: np.ndarray, fraction: float) -> tuple[float, float]:
    d = X.shape[1]
    likelihood = mw.Gaussian(scale=shrunk_covariance(X) * fraction * 5, nu=d + 6)
    post = mw.sample(
        mw.Mixture(likelihood), X, mw.Gibbs(), draws=100, warmup=200, chains=2, seed=1,
        init="singletons", progress=False,
    )  # fmt: skip
    best = np.unravel_index(np.argmax(post.log_joint), post.log_joint.shape)
    return adjusted_rand(truth, post.labels[best]), float(post.n_clusters.mean())


def main() -> None:
    print("adjusted Rand (mean number of clusters)")
    print(f"{'':12}{'classes':>8}" + "".join(f"{fraction:>16}" for fraction in FRACTIONS))
    totals = np.zeros(len(FRACTIONS))
    for name in SETS:
        X, truth = labelled_set(name)
        rows = np.random.default_rng(0).permutation(len(X))[:2000]
        X, truth = X[rows], truth[rows]
        results = [score(X, truth, fraction) for fraction in FRACTIONS]
        totals += [rand for rand, _ in results]
        cells = "".join(f"{f'{rand:.2f} ({k:.1f})':>16}" for rand, k in results)
        print(f"{name:12}{len(np.unique(truth)):>8}{cells}", flush=True)
    print(f"{'mean':20}" + "".join(f"{total / len(SETS):>16.3f}" for total in totals))


if __name__ == "__main__":
    main()
