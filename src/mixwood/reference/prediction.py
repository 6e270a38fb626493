"""The predictive density given one draw, term by term."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from mixwood._support.types import FloatArray
from mixwood.priors import Prior
from mixwood.reference.families.base import Family, S
from mixwood.reference.priors import Parameters, twin_of

__all__ = ["log_predictive_terms", "log_predictive_weights"]


def log_predictive_weights(
    prior: Prior, sizes: Sequence[int], parameters: Parameters
) -> list[float]:
    """Return the log weight of each cluster for one more item, and of a new cluster last.

    ``(u/n) kappa(|c|+1,u)/kappa(|c|,u)`` and ``(u/n) kappa(1,u)``, which sum to 1 on average
    over the posterior of ``(Pi, u)``. For the Dirichlet and Pitman-Yor processes with ``u``
    integrated out: ``(|c| - sigma)/(theta + n)`` and ``(theta + K sigma)/(theta + n)``.

    Examples
    --------
    >>> from mixwood.priors import DirichletProcess
    >>> at = Parameters(log_u=0.0, log_alpha=np.log(2.0), sigma=0.0, theta=0.0)
    >>> weights = log_predictive_weights(DirichletProcess(alpha=2.0), [3, 1], at)
    >>> np.exp(weights).round(12).tolist()
    [0.5, 0.166666666667, 0.333333333333]
    """
    return twin_of(prior).log_predictive_weights(sizes, parameters)


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
