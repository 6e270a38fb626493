"""The parameters of a user's own family that have hyperpriors, learned.

The base is the vector of their logarithms, of a parameter with a Beta hyperprior its logit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import is_learned
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import Law, slice_entry
from mixwood.reference.random import Stream

if TYPE_CHECKING:
    from mixwood.reference.families.counts import Counts

__all__ = ["CustomBase"]


class CustomBase(LearnedBase["Counts"]):
    """The updates of a user's parameters, one after the other, through the log marginal.

    Parameters
    ----------
    likelihood : CustomFamily
        Whose parameters these are.
    log_marginal : function of (stat, parameters)
        That of a cluster.
    """

    def __init__(
        self,
        likelihood: likelihoods.CustomFamily,
        log_marginal: Callable[[Counts, FloatArray], float],
    ) -> None:
        self.values, self.log_marginal = likelihood.values, log_marginal
        self.laws = [Law(value) for value in likelihood.parameters.values() if is_learned(value)]

    def log_hyperprior(self, base: FloatArray) -> float:
        own = zip(self.laws, base, strict=True)
        return sum(law.log_density(float(x)) for law, x in own)

    def log_marginals(self, stats: Sequence[Counts], base: FloatArray) -> FloatArray:
        parameters = self.values(base)
        return np.array([self.log_marginal(stat, parameters) for stat in stats])

    def update(self, stats: Sequence[Counts], base: FloatArray, stream: Stream) -> FloatArray:
        for place in range(len(self.laws)):
            base = slice_entry(
                base, place, 1.0, lambda base: self.log_posterior(stats, base), stream
            )
        return base
