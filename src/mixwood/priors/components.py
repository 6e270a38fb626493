"""How many components a finite mixture has, and how many of them have items.

There are ``M ~ Poisson(rate)`` components given ``M >= 1``. A random rate has the density of a
Gamma(a, b) times ``1 - e^-rate``, so that M is negative binomial given ``M >= 1``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mixwood import hyper
from mixwood._support.types import FloatArray
from mixwood.priors.expected import digamma_rise, nodes

__all__ = ["component_points", "occupied"]

#: Up to this many components each number of them is a point.
_EACH = 5000
#: The points and weights of a Gauss rule on (-1, 1).
_LEGENDRE = np.polynomial.legendre.leggauss(10)


def component_points(rate: float | hyper.Gamma) -> tuple[FloatArray, FloatArray]:
    """Return numbers of components and their probabilities; where there are many, a rule for those.

    Examples
    --------
    >>> counts, weights = component_points(hyper.Gamma(1, 1 / 9))
    >>> counts[:3].tolist(), weights[:3].round(6).tolist()  # geometric
    ([1.0, 2.0, 3.0], [0.1, 0.09, 0.081])
    """
    if isinstance(rate, hyper.Gamma):
        largest = (rate.shape + 12 * np.sqrt(rate.shape) + 60) / rate.rate
    else:
        largest = rate
    end = largest + 12 * np.sqrt(largest) + 60
    if end > _EACH:
        return _many(rate)
    if not isinstance(rate, hyper.Gamma):
        first = max(1.0, np.floor(rate - 12 * np.sqrt(rate)))
        counts = np.arange(first, np.ceil(end) + 1)
        return counts, _poisson(np.array([rate]), counts)[0]
    counts = np.arange(1.0, np.ceil(end) + 1)
    a, b = rate.shape, rate.rate
    log_weights = gammaln(a + counts) - gammaln(a) - gammaln(counts + 1)
    log_weights += -a * np.log1p(1 / b) - counts * np.log1p(b)
    return counts, np.exp(log_weights) / -np.expm1(-a * np.log1p(1 / b))


def _poisson(rates: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the probabilities of `counts`, given at least 1, a row for each rate."""
    rates = rates[:, None]
    log_weights = counts * np.log(rates) - rates - gammaln(counts + 1)
    return np.asarray(np.exp(log_weights - np.log(-np.expm1(-rates))))


def _many(rate: float | hyper.Gamma) -> tuple[FloatArray, FloatArray]:
    """Return points where there may be many components: two per large rate, with its variance."""
    rates, weights = nodes(rate)
    rates = np.maximum(rates, 1e-300)  # quadrature of a vague hyperprior may underflow
    if isinstance(rate, hyper.Gamma):
        weights = weights * -np.expm1(-rates)
        weights = weights / weights.sum()
    small = rates < 1000
    counts = np.arange(1.0, 1500)
    each = weights[small] @ _poisson(rates[small], counts)
    large, half = rates[~small], weights[~small] / 2
    spread = np.sqrt(large)
    return (
        np.concatenate([counts, large - spread, large + spread]),
        np.concatenate([each, half, half]),
    )


def occupied(components: FloatArray, gamma: float, n: int) -> FloatArray:
    """Return how many of M components have some of `n` items, expected under Dirichlet(gamma).

    That is M times one less the probability that none is in a given one, the product over
    ``i < n`` of ``((M-1) gamma + i) / (M gamma + i)``.

    Examples
    --------
    >>> occupied(np.array([1.0, 2.0]), 1.0, 2).round(6).tolist()
    [1.0, 1.333333]
    """
    # log Gamma(x + n) - log Gamma(x) is the integral of digamma; here the difference of two.
    at, weights = _LEGENDRE
    several = np.maximum(components, 1.5)[:, None]
    rise = digamma_rise(gamma * (several - (at + 1) / 2), n)
    expected = -components * np.expm1(-gamma * (rise @ (weights / 2)))
    return np.where(components == 1, 1.0, expected)
