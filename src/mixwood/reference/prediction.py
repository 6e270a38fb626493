"""The predictive density given one draw, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from scipy.special import logsumexp

from mixwood._support.types import FloatArray
from mixwood.priors import DirichletProcess, PitmanYor, Prior
from mixwood.reference.families.base import Family, S
from mixwood.reference.priors import Parameters, log_kappa

__all__ = ["log_predictive_terms", "log_predictive_weights"]


def log_predictive_weights(
    prior: Prior, sizes: Sequence[int], parameters: Parameters
) -> list[float]:
    """Return the log weight of each cluster for one item more, and of a new cluster last.

    ``(u/n) kappa(|c|+1,u)/kappa(|c|,u)`` and ``(u/n) kappa(1,u)``, which sum to 1 on average
    over the posterior of ``(Pi, u)``. For the Dirichlet and Pitman-Yor processes with ``u``
    integrated out: ``(|c| - sigma)/(theta + n)`` and ``(theta + K sigma)/(theta + n)``.

    Examples
    --------
    >>> from mixwood.priors import DirichletProcess
    >>> at = Parameters(log_u=0.0, log_alpha=log(2.0), sigma=0.0, theta=0.0)
    >>> weights = log_predictive_weights(DirichletProcess(alpha=2.0), [3, 1], at)
    >>> np.exp(weights).round(12).tolist()
    [0.5, 0.166666666667, 0.333333333333]
    """
    n, clusters = sum(sizes), len(sizes)
    v, log_alpha, sigma = parameters.log_u, parameters.log_alpha, parameters.sigma
    if isinstance(prior, (DirichletProcess, PitmanYor)):
        theta = parameters.theta if isinstance(prior, PitmanYor) else float(np.exp(log_alpha))
        old = [log(size - sigma) - log(theta + n) for size in sizes]
        return [*old, log(theta + clusters * sigma) - log(theta + n)]
    kappas = [log_kappa(prior, size, v, log_alpha, sigma) for size in sizes]
    larger = [log_kappa(prior, size + 1, v, log_alpha, sigma) for size in sizes]
    old = [v - log(n) + more - k for more, k in zip(larger, kappas, strict=True)]
    return [*old, v - log(n) + log_kappa(prior, 1, v, log_alpha, sigma)]


def log_predictive_terms(
    prior: Prior,
    family: Family[S],
    clusters: Sequence[FloatArray],
    row: FloatArray,
    parameters: Parameters,
) -> float:
    """Return the log of the sum over clusters of weight times ``P(x | X_c)``, a new one too.

    `clusters` holds the rows of each cluster. Averaged over draws and divided by the average
    sum of the weights alone, it is the predictive density of `row`.
    """
    weights = log_predictive_weights(prior, [len(rows) for rows in clusters], parameters)
    terms = []
    for rows in [*clusters, row[:0].reshape(0, len(row))]:
        stat = family.of(rows)
        joined = family.log_marginal(family.observe(stat, row))
        terms.append(joined - (family.log_marginal(stat) if len(rows) else 0.0))
    return float(logsumexp(np.array(weights) + np.array(terms)))
