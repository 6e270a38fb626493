"""What is compared: fits of a whole set, and of four fifths of it for the rest's log density.

`before` is the fixed base measure that was the default once, `after` the default; `full`,
`diagonal` and `spherical` are the structures that it chooses from; `dirichlet`, `pitman_yor` and
`finite` are the default with another prior; `bic` is what else a user would take, Gaussian mixtures
of scikit-learn, of the structure and size of the best BIC.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mixwood as mw
from benchmarks.study_defaults.sets import LabelledSet
from benchmarks.study_defaults.simulated import Floats
from mixwood.partitions import adjusted_rand

MODELS: dict[str, Callable[[], mw.Mixture]] = {
    "before": lambda: mw.Mixture(mw.Gaussian(scale="data", r=0.1)),
    "after": lambda: mw.Mixture(),
    "full": lambda: mw.Mixture(mw.Gaussian()),
    "diagonal": lambda: mw.Mixture(mw.DiagonalGaussian()),
    "spherical": lambda: mw.Mixture(mw.SphericalGaussian()),
    "dirichlet": lambda: mw.Mixture(prior=mw.DirichletProcess()),
    "pitman_yor": lambda: mw.Mixture(prior=mw.PitmanYor()),
    "finite": lambda: mw.Mixture(prior=mw.FiniteMixture()),
}
METHODS = (*MODELS, "bic")
PARTS = ("whole", "held out")
STRUCTURES = ("full", "tied", "diag", "spherical")
MOST_COMPONENTS = 30
#: A component with a variance below this, in units of the columns', is no cluster. The floor that
#: scikit-learn adds is a tenth of it.
SPIKE = 1e-5

#: What is recorded of a fit: numbers, texts, lists of numbers.
Measures = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How long the chains are, and how long they may take."""

    draws: int = 1000
    warmup: int = 500
    chains: int = 4
    seconds: float | None = None
    n_jobs: int = 1


def measure(data: LabelledSet, method: str, part: str, options: Options) -> Measures:
    """Return what one fit gives; the rows held out are scored in units of the columns' sd."""
    whole = part == "whole"
    if method == "bic":
        return _whole_bic(data) if whole else _held_out_bic(data)
    return _whole(data, method, options) if whole else _held_out(data, method, options)


def _sample(X: Floats, method: str, options: Options) -> mw.Posterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a time limit, of what the summary says anyway
        return mw.sample(
            MODELS[method](),
            X,
            draws=options.draws,
            warmup=options.warmup,
            chains=options.chains,
            max_seconds=options.seconds,
            n_jobs=options.n_jobs,
            seed=1,
            progress=False,
        )


def _whole(data: LabelledSet, method: str, options: Options) -> Measures:
    began = time.process_time()
    post = _sample(data.X, method, options)
    sampled = time.process_time()
    estimate = post.point_estimate(n_jobs=options.n_jobs)
    done = time.process_time()
    table = post.summary()
    sizes, counts = np.unique(post.n_clusters, return_counts=True)
    rows = [name for name in ("n_clusters", "log_joint", "width", "nu") if name in table.index]
    return {
        **_against_classes(data, estimate),
        "structure": type(post.resolved).__name__,
        "mode": int(sizes[counts.argmax()]),
        "mode_probability": float(counts.max() / counts.sum()),
        # The smallest over chains: of a single cluster, and of as many as there are classes.
        "p_one": float((post.n_clusters == 1).mean(axis=1).min()),
        "p_classes": float((post.n_clusters == data.n_classes).mean(axis=1).min()),
        "means": {name: float(table.loc[name, "mean"]) for name in rows},
        "r_hat": {name: float(table.loc[name, "r_hat"]) for name in rows},
        "draws": post.n_draws,
        "cpu": sampled - began,
        "estimate_cpu": done - sampled,
    }


def _held_out(data: LabelledSet, method: str, options: Options) -> Measures:
    fit, rest = data.split()
    began = time.process_time()
    post = _sample(data.X[fit], method, options)
    cpu = time.process_time() - began
    density = post.log_density(data.X[rest]).mean() + np.log(data.units).sum()
    return {"density": float(density), "draws": post.n_draws, "cpu": cpu}


def _against_classes(data: LabelledSet, estimate: Any) -> Measures:
    known = data.labels >= 0
    rand = adjusted_rand(data.labels[known], estimate[known]) if known.any() else None
    sizes = np.bincount(estimate)
    small = int((sizes < max(2, 0.005 * len(estimate))).sum())
    return {"rand": rand, "clusters": len(sizes), "small": small}


def best_by_bic(X: Floats, seed: int = 1) -> tuple[Any, Any]:
    """Return the mixture of the best BIC over four structures and up to 30 components.

    And the best of those without a component that has shrunk to its floor: on rounded data BIC
    takes spikes on tied values for clusters. mclust leaves them out.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    fits = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for structure in STRUCTURES:
            for components in range(1, min(MOST_COMPONENTS, len(X) // 5) + 1):
                mixture = GaussianMixture(components, covariance_type=structure, n_init=3)
                fits.append(mixture.set_params(random_state=seed).fit(X))
    scores = np.array([mixture.bic(X) for mixture in fits])
    variances, directions = np.linalg.eigh(np.atleast_2d(np.cov(X.T)))
    directions = directions[:, variances > SPIKE]  # a constant column makes no spikes
    spiked = np.array([_least_variance(mixture, directions) < SPIKE for mixture in fits])
    regular = scores if spiked.all() else np.where(spiked, np.inf, scores)
    return fits[scores.argmin()], fits[regular.argmin()]


def _least_variance(mixture: Any, directions: Floats) -> float:
    """Return the least variance of a component along directions (columns, orthonormal)."""
    d = len(directions)
    of = mixture.covariances_
    full = {
        "full": lambda: of,
        "tied": lambda: of,
        "diag": lambda: of[:, None, :] * np.eye(d),
        "spherical": lambda: of[:, None, None] * np.eye(d),
    }[mixture.covariance_type]()
    return float(np.linalg.eigvalsh(directions.T @ full @ directions).min())


def _whole_bic(data: LabelledSet) -> Measures:
    began = time.process_time()
    X = data.X / data.units  # its start, its floor and its spherical covariances ask for that
    best, regular = (
        {
            **_against_classes(data, mixture.predict(X)),
            "structure": mixture.covariance_type,
            "mode": mixture.n_components,
        }
        for mixture in best_by_bic(X)
    )
    return {**best, "regular": regular, "cpu": time.process_time() - began}


def _held_out_bic(data: LabelledSet) -> Measures:
    fit, rest = data.split()
    X = data.X / data.units
    began = time.process_time()
    best, regular = ({"density": float(of.score(X[rest]))} for of in best_by_bic(X[fit]))
    return {**best, "regular": regular, "cpu": time.process_time() - began}
