"""The data: toy and tenk as the field was measured on before, and real sets."""

from __future__ import annotations

import numpy as np

from benchmarks.data import data_folder, labelled_set
from benchmarks.peers.interface import Contest

REAL = ("iris", "thyroid", "s2")


def contest(name: str) -> Contest:
    """Return a contest by name."""
    if name == "toy":
        return toy()
    return tenk() if name == "tenk" else real(name)


def names() -> tuple[str, ...]:
    """Return the contests that can be had here."""
    return ("toy", "tenk", *(REAL if data_folder() is not None else ()))


def _covariance(rng: np.random.Generator, d: int, size: float) -> np.ndarray:
    """Draw from an inverse Wishart with d + 6 degrees of freedom and mean `size` I."""
    rows = rng.standard_normal((d + 6, d))
    return size * 5 * np.linalg.inv(rows.T @ rows)


def toy() -> Contest:
    """1,300 points in the plane, 13 Gaussians; as many more held out."""
    rng, later = np.random.default_rng(1), np.random.default_rng(101)
    means: list[np.ndarray] = []
    while len(means) < 13:
        candidate = rng.uniform(-10, 10, 2)
        if all(np.linalg.norm(candidate - mean) > 3 for mean in means):
            means.append(candidate)
    rng.permutation(1300)  # the stream continues as in the measurements of others
    truth = np.repeat(np.arange(13), 100)
    rows, more = [], []
    for mean in means:
        covariance = _covariance(rng, 2, 0.5)
        rows.append(rng.multivariate_normal(mean, covariance, 100))
        more.append(later.multivariate_normal(mean, covariance, 100))
    order = rng.permutation(1300)
    return Contest("toy", np.concatenate(rows)[order], truth[order], np.concatenate(more))


def tiny() -> Contest:
    """A few rows, to see whether a peer runs at all."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    return Contest("tiny", X, np.zeros(200, dtype=np.int64), X[:5])


def tenk() -> Contest:
    """10,000 points in six dimensions, labels from PY(3, 0.8); the next 1,000 held out."""
    rng, later = np.random.default_rng(2), np.random.default_rng(102)
    n, more, theta, discount = 10_000, 1_000, 3.0, 0.8
    counts: list[float] = []
    labels = np.empty(n + more, dtype=np.int64)
    for i in range(n + more):
        weights = np.append(np.array(counts) - discount, theta + discount * len(counts))
        point = (rng if i < n else later).random() * (theta + i)
        k = min(int(np.searchsorted(np.cumsum(weights), point)), len(counts))
        if k == len(counts):
            counts.append(0.0)
        counts[k] += 1
        labels[i] = k
    X = np.empty((n + more, 6))
    known = labels[:n].max() + 1
    for k in range(len(counts)):
        # Clusters that the first rows have none of are drawn from the later stream.
        stream = rng if k < known else later
        mean = stream.normal(0, 10, 6)
        covariance = _covariance(stream, 6, 1.0)
        first, rest = np.flatnonzero(labels[:n] == k), n + np.flatnonzero(labels[n:] == k)
        if len(first):
            X[first] = rng.multivariate_normal(mean, covariance, len(first))
        if len(rest):
            X[rest] = later.multivariate_normal(mean, covariance, len(rest))
    return Contest("tenk", X[:n], labels[:n], X[n:])


def real(name: str) -> Contest:
    """A labelled set, columns standardized, every fifth row held out at random."""
    X, truth = labelled_set(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    held = order[: len(X) // 5]
    kept = order[len(X) // 5 :]
    return Contest(name, X[kept], truth[kept], X[held])
