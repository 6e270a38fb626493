"""Data sets that the package makes or reads."""

from __future__ import annotations

from mixwood.families.base import FloatArray, IntArray

__all__ = ["toy"]


def toy(seed: int = 1) -> tuple[FloatArray, IntArray]:
    """Return 1,300 points in the plane from 13 Gaussian clusters of 100 each, and their clusters.

    The means are at least 3 apart in a square of side 20, the covariances random about
    0.5 times the identity: clearly separated for the eye, with some overlap.

    Parameters
    ----------
    seed : int
        Of the random generator; each seed gives another data set.

    Returns
    -------
    X : array of shape (1300, 2)
    labels : int array of shape (1300,)

    Examples
    --------
    >>> X, labels = toy()
    >>> X.shape, labels.max() + 1
    ((1300, 2), np.int64(13))
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    clusters, size, d = 13, 100, 2
    means: list[FloatArray] = []
    while len(means) < clusters:
        candidate = rng.uniform(-10, 10, d)
        if all(np.linalg.norm(candidate - other) > 3 for other in means):
            means.append(candidate)
    rows = []
    for mean in means:
        wishart = rng.standard_normal((d + 6, d))
        covariance = 2.5 * np.linalg.inv(wishart.T @ wishart)
        rows.append(rng.multivariate_normal(mean, covariance, size))
    order = rng.permutation(clusters * size)
    labels = np.repeat(np.arange(clusters), size)
    return np.concatenate(rows)[order], labels[order]
