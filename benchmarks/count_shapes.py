"""`python -m benchmarks.count_shapes`: how alike are means of clusters of counts, by default?

Simulated counts of one cluster and of several, under hyperpriors of the shape of `Poisson` and
`NegativeBinomial`: the probability of the true number of clusters, the mean number, adjusted Rand
of the estimate, and log density per row of a fifth that is held out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import mixwood as mw
from mixwood.partitions import adjusted_rand

HYPERPRIORS = ((1, 1.5), (0.3, 0.7), (0.2, 0.8), (0.1, 0.8))
Set = tuple[np.ndarray, np.ndarray]
Counts = Callable[[np.ndarray, tuple[int, ...]], np.ndarray]


def sets(rng: np.random.Generator, counts: Counts) -> dict[str, Set]:
    """Return sets of one cluster, and of several."""

    def mixture(means: list[list[float]], n: int = 400, noise: int = 0) -> Set:
        labels = rng.integers(len(means), size=n)
        beside = rng.uniform(1, 30, size=noise)
        expected = np.hstack([np.array(means)[labels], np.tile(beside, (n, 1))])
        return counts(expected, expected.shape), labels

    three = [[5, 20, 5], [15, 20, 5], [5, 8, 15]]
    return {
        "one, mean 10": mixture([[10]], 300),
        "one, means 3, 10, 40": mixture([[3, 10, 40]], 300),
        "one, mean 0.3, four columns": mixture([[0.3] * 4], 300),
        "three": mixture(three),
        "three, 20 columns of noise": mixture(three, noise=20),
        "two, 30% apart": mixture([[100, 200], [130, 240]]),
    }


def line(likelihood: mw.Likelihood, X: np.ndarray, labels: np.ndarray, seed: int) -> str:
    """Return what one fit finds."""
    order = np.random.default_rng(seed).permutation(len(X))
    fitted, held = np.split(order, [4 * len(X) // 5])
    post = mw.sample(
        mw.Mixture(likelihood),
        X[fitted],
        draws=200,
        warmup=200,
        chains=2,
        seed=seed,
        progress=False,
    )
    right = np.mean(post.n_clusters == len(np.unique(labels)))
    rand = adjusted_rand(labels[fitted], post.point_estimate())
    density = np.mean(post.log_density(X[held]))
    return f"{right:.2f} | {post.n_clusters.mean():.1f} | {rand:.2f} | {density:.3f}"


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore")  # short chains
    rng = np.random.default_rng(3)
    kinds: dict[str, tuple[type, Counts]] = {
        "Poisson": (mw.Poisson, lambda mean, shape: rng.poisson(mean, shape)),
        "NegativeBinomial": (
            mw.NegativeBinomial,
            lambda mean, shape: rng.negative_binomial(4, 4 / (4 + mean), shape),
        ),
    }
    print("| likelihood | set | shape | P(K = truth) | mean K | adjusted Rand | density |")
    print("|---|---|---|---|---|---|---|")
    for kind, (likelihood, counts) in kinds.items():
        for name, (X, labels) in sets(rng, counts).items():
            for median, sd in HYPERPRIORS:
                found = line(likelihood(shape=mw.hyper.LogNormal(median, sd)), X, labels, 1)
                print(f"| {kind} | {name} | LogNormal({median}, {sd}) | {found} |", flush=True)


if __name__ == "__main__":
    main()
