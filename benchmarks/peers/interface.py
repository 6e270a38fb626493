"""What a peer is: a name, how much work it may do, and a fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Contest:
    """Data to cluster, the true clusters, rows held out; and the prior that all peers share.

    Normal-inverse-Wishart(mean of X, 0.01, I, d + 2) for the clusters, a Dirichlet process
    with mass 1 for the partition.
    """

    name: str
    X: np.ndarray
    truth: np.ndarray
    held_out: np.ndarray

    r: float = 0.01
    alpha: float = 1.0

    @property
    def nu(self) -> float:
        return self.X.shape[1] + 2.0

    @property
    def mean(self) -> np.ndarray:
        return self.X.mean(axis=0)

    @property
    def psi(self) -> np.ndarray:
        return np.eye(self.X.shape[1])

    @property
    def large(self) -> bool:
        return len(self.X) > 8000


@dataclass(frozen=True)
class Fit:
    """What came out: CPU seconds, labels, and the log density of each row held out."""

    seconds: float
    labels: np.ndarray
    log_density: np.ndarray | None = None


@dataclass(frozen=True)
class Peer:
    """A way to cluster.

    `efforts` and `large_efforts` are numbers of `unit`: what is asked of it, for small and large
    data. `missing` returns why it cannot run, or None.
    """

    name: str
    unit: str
    efforts: tuple[int, ...]
    large_efforts: tuple[int, ...]
    missing: Callable[[], str | None]
    fit: Callable[[Contest, int, int], Fit]


def needs(module: str) -> Callable[[], str | None]:
    """Return a `missing` for a peer that is a Python module."""

    def missing() -> str | None:
        from importlib.util import find_spec

        return None if find_spec(module) else f"pip install {module}"

    return missing


@contextmanager
def stopwatch() -> Iterator[list[float]]:
    """Count CPU seconds of this process, all threads."""
    seconds = [0.0]
    began = time.process_time()
    yield seconds
    seconds[0] = time.process_time() - began


def student_mixture(
    X: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray,
    kappa: np.ndarray,
    nu: np.ndarray,
    psi: np.ndarray,
) -> np.ndarray:
    """Return the log predictive density of rows under a mixture of Normal-Wishart posteriors.

    A row given component k is multivariate t with ``nu - d + 1`` degrees of freedom, mean m and
    scale ``psi (kappa + 1) / (kappa (nu - d + 1))``: what a variational posterior predicts.
    """
    from scipy.special import logsumexp
    from scipy.stats import multivariate_t

    d = X.shape[1]
    terms = []
    for k in np.flatnonzero(weights > 1e-12):
        degrees = nu[k] - d + 1
        shape = psi[k] * (kappa[k] + 1) / (kappa[k] * degrees)
        terms.append(np.log(weights[k]) + multivariate_t(means[k], shape, degrees).logpdf(X))
    return np.asarray(logsumexp(terms, axis=0)) - np.log(weights.sum())
