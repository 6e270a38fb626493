"""The pseudo-counts of zeros and of ones, one number in each column, learned."""

from __future__ import annotations

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.columns import ColumnsBase
from mixwood.reference.base.multinomial import log_dirichlet_marginals

__all__ = ["BernoulliBase"]


class BernoulliBase(ColumnsBase):
    """The updates of ``beta_j``, where ``a = b = beta_j``."""

    def __init__(self, likelihood: likelihoods.Bernoulli) -> None:
        assert likelihood.columns is not None
        super().__init__(likelihood.a, likelihood.columns)

    def log_column(
        self, n: FloatArray, total: FloatArray, column: int, parameter: FloatArray
    ) -> FloatArray:
        return log_dirichlet_marginals(np.stack([n - total, total], axis=-1), parameter)
