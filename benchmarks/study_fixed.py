"""Fixed bases and priors: adjusted Rand and held-out log density on real data, over small grids.

    MIXWOOD_DATA=... python -m benchmarks.study_fixed STUDY [SET ...]

`scale`: which share of the data's variance `Gaussian(scale="data")` should expect of a cluster;
`diagonal`, `spherical`: the same for the other two. `r`: how many rows the prior mean is worth.
`priors`: the prior on partitions and its hyperpriors. `tree`: how much of each move `Tree` makes.
The log density is that of rows held out in three folds, per row, in units of the columns' standard
deviations; adjusted Rand is that of the point estimate over all rows, where there are classes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

import mixwood as mw
from benchmarks.data import labelled_set
from mixwood.core import make_chain
from mixwood.likelihoods.spread import shrunk_covariance
from mixwood.partitions import adjusted_rand
from mixwood.posterior.arviz import import_arviz

SETS = (
    "galaxy", "faithful", "iris", "thyroid", "crabs", "hepta", "gvhd_pos", "s1", "s2", "a1",
    "unbalance", "wine",
)  # fmt: skip
LARGEST = 1500
FOLDS = 3
DRAWS = 150
NU_MINUS_D = 6.0  # default degrees of freedom: nu = d + 6 for full covariances
NU = 7.0  # and for variances
FIXED = mw.Gaussian(scale="data", r=0.1)

Choice = Callable[[np.ndarray], mw.Mixture]


def gaussian(X: np.ndarray, fraction: float) -> mw.Likelihood:
    return mw.Gaussian(scale=shrunk_covariance(X) * fraction * (NU_MINUS_D - 1), r=0.1)


def diagonal(X: np.ndarray, fraction: float) -> mw.Likelihood:
    return mw.DiagonalGaussian(scale=X.var(axis=0, ddof=1) * fraction * (NU - 2))


def spherical(X: np.ndarray, fraction: float) -> mw.Likelihood:
    return mw.SphericalGaussian(scale=X.var(axis=0, ddof=1).mean() * fraction * (NU - 2))


def scales(likelihood: Callable[[np.ndarray, float], mw.Likelihood]) -> dict[str, Choice]:
    """Return constant fractions; and 0.1, or more if needed to fill one of this many cells."""

    def fixed(c: float) -> Choice:
        return lambda X: mw.Mixture(likelihood(X, c))

    def cells(number: float) -> Choice:
        return lambda X: mw.Mixture(likelihood(X, max(0.1, number ** (-2 / X.shape[1]))))

    return {f"c = {c}": fixed(c) for c in (0.01, 0.03, 0.1, 0.3, 0.5)} | {
        f"{k} cells": cells(k) for k in (5, 10, 15, 20, 30, 50)
    }


def with_prior(prior: object) -> Choice:
    """Return the likelihood `FIXED` with a prior."""
    return lambda _: mw.Mixture(FIXED, prior)


def with_mean_worth(r: float) -> Choice:
    """Return the default prior with the likelihood `FIXED` but for `r`."""
    return lambda _: mw.Mixture(mw.Gaussian(scale="data", r=r))


PRIORS: dict[str, Choice] = {
    "NGGP()": with_prior(mw.NGGP()),
    "NGGP, sigma Beta(1, 4)": with_prior(mw.NGGP(sigma=mw.hyper.Beta(1, 4))),
    "NGGP, sigma Beta(1, 9)": with_prior(mw.NGGP(sigma=mw.hyper.Beta(1, 9))),
    "NGGP, alpha Gamma(1, 1)": with_prior(mw.NGGP(alpha=mw.hyper.Gamma(1, 1))),
    "DP()": with_prior(mw.DirichletProcess()),
    "DP, alpha Gamma(1, 1)": with_prior(mw.DirichletProcess(mw.hyper.Gamma(1, 1))),
    "NIG()": with_prior(mw.NormalizedInverseGaussian()),
    "PY()": with_prior(mw.PitmanYor()),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `LARGEST` rows in random order, in units of standard deviations."""
    X, truth = labelled_set(name)
    rows = np.random.default_rng(0).permutation(len(X))[:LARGEST]
    X, truth = X[rows], truth[rows]
    return (X - X.mean(axis=0)) / X.std(axis=0), truth


def draw(model: mw.Mixture, X: np.ndarray) -> mw.Posterior:
    return mw.sample(model, X, draws=DRAWS, warmup=DRAWS, chains=2, seed=1, progress=False)


def score(choice: Choice, X: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Return held-out log density per row, adjusted Rand (NaN without classes), and clusters."""
    densities = []
    for fold in range(FOLDS):
        out = np.arange(len(X)) % FOLDS == fold
        post = draw(choice(X[~out]), X[~out])
        densities.append(post.log_density(X[out]))
    post = draw(choice(X), X)
    estimate = post.point_estimate()
    rand = adjusted_rand(truth, estimate) if truth.min() >= 0 else float("nan")
    return float(np.concatenate(densities).mean()), rand, float(estimate.max() + 1)


def compare(choices: dict[str, Choice], names: Sequence[str]) -> None:
    """Print the log density less that of the best choice, adjusted Rand and clusters."""
    found = np.empty((len(names), len(choices), 3))
    for s, name in enumerate(names):
        X, truth = load(name)
        seen: dict[str, tuple[float, float, float]] = {}  # with few columns choices coincide
        for c, choice in enumerate(choices.values()):
            model = repr(choice(X))
            if model not in seen:
                seen[model] = score(choice, X, truth)
            found[s, c] = seen[model]
        best = found[s, :, 0].max()
        classes = len(np.unique(truth)) if truth.min() >= 0 else "-"
        print(f"\n{name}, {X.shape[0]} x {X.shape[1]}, classes: {classes}")
        for choice, (density, rand, clusters) in zip(choices, found[s], strict=True):
            print(f"  {choice:28}{density - best:9.3f}{rand:8.2f}{clusters:6.0f}", flush=True)
    loss = found[:, :, 0] - found[:, :, 0].max(axis=1, keepdims=True)
    print("\nmean over sets: log density less the best, the worst of it; adjusted Rand")
    for c, choice in enumerate(choices):
        rand = np.nanmean(found[:, c, 1])
        print(f"  {choice:28}{loss[:, c].mean():9.3f}{loss[:, c].min():9.3f}{rand:8.3f}")


def tree(names: Sequence[str]) -> None:
    """Print, for settings of `Tree`, effective samples of K and the joint per CPU second."""
    arviz = import_arviz()
    settings = {
        "default": mw.Tree(),
        "20 subtrees": mw.Tree(subtree_moves=20),
        "200 subtrees": mw.Tree(subtree_moves=200),
        "20 splits": mw.Tree(split_moves=20),
        "200 splits": mw.Tree(split_moves=200),
        "rebuild 50": mw.Tree(rebuild=50),
        "rebuild never": mw.Tree(rebuild=0),
        "Gibbs": mw.Gibbs(),
    }
    for name in names:
        X, _ = load(name)
        model = mw.Mixture(FIXED.resolve(X), mw.NGGP())
        print(f"\n{name}: ESS of K and of the joint per second, mean joint, ms")
        for title, sampler in settings.items():
            print(f"  {title:16}" + _rates(arviz, model, X, sampler), flush=True)


def _rates(arviz: object, model: mw.Mixture, X: np.ndarray, sampler: object) -> str:
    rows = []
    for seed in (1, 2):
        bits = np.random.PCG64(seed)
        chain = make_chain(model, X, np.zeros(len(X), np.int32), bits, sampler)
        chain.iterate(500)
        chain.freeze()
        clusters, joints, seconds = [], [], 0.0
        while seconds < 2:
            began = time.process_time()
            chain.iterate()
            seconds += time.process_time() - began
            clusters.append(float(chain.n_clusters))
            joints.append(chain.log_joint())
        ess = [float(arviz.ess(np.array(v)[None])) / seconds for v in (clusters, joints)]  # type: ignore[attr-defined]
        rows.append((*ess, np.mean(joints), 1e3 * seconds / len(joints)))
    k, joint, level, ms = np.mean(rows, axis=0)
    return f"{k:8.1f}{joint:8.1f}{level:12.1f}{ms:8.2f}"


def main(study: str, *names: str) -> None:
    if study == "tree":
        tree(names or ("thyroid", "crabs", "gvhd_pos", "s2", "wine"))
        return
    choices = {
        "scale": scales(gaussian),
        "diagonal": scales(diagonal),
        "spherical": scales(spherical),
        "priors": PRIORS,
        "r": {f"r = {r}": with_mean_worth(r) for r in (0.1, 0.03, 0.01, 0.003)},
    }
    compare(choices[study], names or SETS)


if __name__ == "__main__":
    main(*sys.argv[1:])
