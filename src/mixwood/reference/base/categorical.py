"""The pseudo-counts of categories, one in each column, learned."""

from __future__ import annotations

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.columns import ColumnsBase
from mixwood.reference.base.multinomial import log_dirichlet_marginals

__all__ = ["CategoricalBase"]


class CategoricalBase(ColumnsBase):
    """The updates of ``beta_j``."""

    def __init__(self, likelihood: likelihoods.Categorical) -> None:
        assert likelihood.n_categories is not None
        super().__init__(likelihood.beta, len(likelihood.n_categories))
        self.n_categories = likelihood.n_categories

    def log_column(
        self, n: FloatArray, total: FloatArray, column: int, parameter: FloatArray
    ) -> FloatArray:
        return log_dirichlet_marginals(total[..., : self.n_categories[column]], parameter)
