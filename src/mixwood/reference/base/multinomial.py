"""The pseudo-count of words, learned: the base is ``(ln beta,)``."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import Law, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.counts import Counts

__all__ = ["MultinomialBase", "log_dirichlet_marginals"]


def log_dirichlet_marginals(counts: FloatArray, beta: FloatArray) -> FloatArray:
    """Return the log probability of sequences of categories, along the last axis of `counts`.

    ``Gamma(L beta) / Gamma(L beta + N) prod_l Gamma(beta + N_l) / Gamma(beta)``.
    """
    mass, beta = counts.shape[-1] * np.asarray(beta), np.asarray(beta)[..., None]
    value = np.sum(gammaln(beta + counts) - gammaln(beta), axis=-1)
    return np.asarray(value + gammaln(mass) - gammaln(mass + counts.sum(axis=-1)))


class MultinomialBase(LearnedBase["Counts"]):
    """The update of ``beta`` given the clusters."""

    def __init__(self, likelihood: likelihoods.Multinomial) -> None:
        self.law = Law(likelihood.beta)

    def log_hyperprior(self, base: FloatArray) -> float:
        return self.law.log_density(base[0])

    def log_marginals(self, stats: Sequence[Counts], base: FloatArray) -> FloatArray:
        totals = np.array([stat.total for stat in stats])
        return log_dirichlet_marginals(totals, np.full(len(totals), exp(base[0])))

    def update(self, stats: Sequence[Counts], base: FloatArray, stream: Stream) -> FloatArray:
        return slice_entry(base, 0, 1.0, lambda base: self.log_posterior(stats, base), stream)
