"""The shapes of Gamma priors, one in each column, learned.

A rate that is tied follows, ``b_j = a_j / mean_j``, so that the prior mean of a column stays.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import TiedRate
from mixwood.reference.base.columns import ColumnsBase

__all__ = ["PoissonBase"]


class PoissonBase(ColumnsBase):
    """The updates of ``a_j``."""

    def __init__(self, likelihood: likelihoods.Poisson) -> None:
        self.tied = isinstance(likelihood.rate, TiedRate)
        self.given = likelihood.rate.mean if self.tied else likelihood.rate
        super().__init__(likelihood.shape, len(self.given))

    def rate(self, column: int | slice, shape: FloatArray) -> FloatArray:
        """Return the rates that go with shapes."""
        given = self.given[column]
        return np.asarray(shape / given if self.tied else given + 0 * shape)

    def log_column(
        self, n: FloatArray, total: FloatArray, column: int, parameter: FloatArray
    ) -> FloatArray:
        rate = self.rate(column, parameter)
        value = parameter * np.log(rate) - gammaln(parameter) + gammaln(parameter + total)
        return np.asarray(value - (parameter + total) * np.log(rate + n))
