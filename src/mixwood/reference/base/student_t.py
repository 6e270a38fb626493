"""The base measure of Student t clusters: that of Gaussian ones, then perhaps ``ln a``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.student_t import DF_BOUNDS
from mixwood.reference.base.gaussian import GaussianBase, Scale
from mixwood.reference.base.laws import law_of
from mixwood.reference.random import Stream

__all__ = ["StudentTBase"]


class StudentTBase(GaussianBase):
    """The updates of ``(Omega, nu', r)``; the degrees of freedom move along with the scales."""

    def __init__(self, likelihood: likelihoods.StudentT) -> None:
        super().__init__(likelihood)
        self.df_law = law_of(likelihood.df, DF_BOUNDS)

    def unpacked(self, base: FloatArray) -> Scale:
        return super().unpacked(base if self.df_law is None else base[:-1])

    def log_hyperprior(self, base: FloatArray) -> float:
        value = super().log_hyperprior(base)
        return value if self.df_law is None else value + self.df_law.log_density(float(base[-1]))

    def update(self, stats: Sequence[Any], base: FloatArray, stream: Stream) -> FloatArray:
        moved = super().update(stats, base, stream)
        return moved if self.df_law is None else np.append(moved, base[-1])
