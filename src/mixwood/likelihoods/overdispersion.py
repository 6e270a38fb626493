"""Whether counts vary more than Poisson counts do, also if there are clusters of them.

All counts of a column together vary more than Poisson counts wherever there are clusters, so that
says nothing. What does is whether a few Poisson distributions explain them as well as a few that
vary more by a common size, by the Bayesian information criterion.
"""

from __future__ import annotations

import numpy as np

from mixwood._support.types import FloatArray

__all__ = ["varies_more"]

#: Of fewer entries nothing is concluded, nor where the variance is less than this times the mean.
FEWEST_ENTRIES, LEAST_RATIO = 60, 1.5
#: Mixtures that are compared: how many Poisson components at most, how many others, which sizes.
MOST_POISSON, MOST_OTHERS = 8, 3
SIZES = (0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0)
#: By how much the criterion has to be better: "very strong" evidence.
CLEARLY = 10.0
#: Steps of the EM algorithm.
STEPS = 60


def varies_more(values: FloatArray) -> bool:
    """Tell whether counts clearly vary more than a mixture of a few Poisson distributions.

    Parameters
    ----------
    values : array
        Whole numbers from 0 on.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> clusters = rng.poisson(np.repeat([1.0, 5.0, 20.0], 100))
    >>> one = rng.negative_binomial(2, 0.2, 300)
    >>> varies_more(clusters), varies_more(one)
    (False, True)
    """
    n = len(values)
    if n < FEWEST_ENTRIES or values.var() <= LEAST_RATIO * values.mean():
        return False
    x, counts = np.unique(values, return_counts=True)
    times = counts.astype(np.float64)
    poisson = min(_criterion(x, times, k, np.inf) for k in range(1, MOST_POISSON + 1))
    others = min(_criterion(x, times, k, s) for k in range(1, MOST_OTHERS + 1) for s in SIZES)
    return bool(others + CLEARLY < poisson)


def _criterion(x: FloatArray, times: FloatArray, components: int, size: float) -> float:
    """Return the information criterion of a mixture with one size, infinite for Poisson."""
    n = times.sum()
    middles = (np.arange(components) + 0.5) / components
    mean = np.maximum(x[np.searchsorted(np.cumsum(times), middles * n)], 0.1)
    mean += 0.05 * np.arange(components)  # ties would stay together
    share = np.full(components, 1 / components)
    for _ in range(STEPS):
        log_joint = np.log(share) + _log_kernel(x, mean, size)
        log_total = np.logaddexp.reduce(log_joint, axis=1)
        belongs = np.exp(log_joint - log_total[:, None]) * times[:, None]
        share = np.maximum(belongs.sum(axis=0), 1e-9) / n
        mean = np.maximum(x @ belongs / (share * n), 1e-6)
    log_likelihood = float(times @ (log_total + _log_constant(x, size)))
    parameters = 2 * components - 1 + np.isfinite(size)
    return float(parameters * np.log(n) - 2 * log_likelihood)


def _log_kernel(x: FloatArray, mean: FloatArray, size: float) -> FloatArray:
    """Return the part of log probabilities (values, components) that depends on the mean."""
    if np.isinf(size):
        return np.asarray(x[:, None] * np.log(mean) - mean)
    total = np.log(size + mean)
    return np.asarray(x[:, None] * (np.log(mean) - total) - size * (total - np.log(size)))


def _log_constant(x: FloatArray, size: float) -> FloatArray:
    from scipy.special import gammaln

    if np.isinf(size):
        return np.asarray(-gammaln(x + 1))
    return np.asarray(gammaln(x + size) - gammaln(size) - gammaln(x + 1))
