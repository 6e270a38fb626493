"""The sizes of negative binomial columns, and the shapes of their Beta priors, learned."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TypeAlias

import numpy as np
from scipy.special import betaln, gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import is_learned
from mixwood.likelihoods.negative_binomial import SIZE_BOUNDS
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.laws import Law, slice_entry
from mixwood.reference.random import Stream

__all__ = ["NegativeBinomialBase", "Rows"]

#: A cluster, by its rows: what they add depends on the size, so no sum of them will do.
Rows: TypeAlias = tuple[FloatArray, ...]


class NegativeBinomialBase(LearnedBase[Rows]):
    """The updates of size and shape, column by column; a cluster is the tuple of its rows.

    The base has the logs of the sizes of all columns, then those of the shapes, as far as they
    are learned.
    """

    def __init__(self, likelihood: likelihoods.NegativeBinomial) -> None:
        self.mean, self.exposure = np.asarray(likelihood.mean), likelihood.exposure
        self.fixed = likelihood.size, likelihood.shape
        self.laws: dict[str, Law] = {}
        if is_learned(likelihood.size):
            self.laws["size"] = Law(likelihood.size, SIZE_BOUNDS)
        if is_learned(likelihood.shape):
            self.laws["shape"] = Law(likelihood.shape)

    def sizes_and_shapes(self, base: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return those of all columns."""
        d = len(self.mean)
        learned = {name: np.exp(base[k * d : (k + 1) * d]) for k, name in enumerate(self.laws)}
        size, shape = (
            learned[name] if name in learned else np.full(d, value)
            for name, value in zip(("size", "shape"), self.fixed, strict=True)
        )
        return size, shape

    def entries(self, stat: Rows, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the present counts of one column, and their exposures."""
        if not stat:
            return np.empty(0), np.empty(0)
        rows = np.array(stat)
        exposures = np.ones(len(rows)) if self.exposure is None else rows[:, self.exposure]
        counts = rows if self.exposure is None else np.delete(rows, self.exposure, axis=1)
        present = ~np.isnan(counts[:, column])
        return counts[present, column], exposures[present]

    def log_column(
        self, stat: Rows, column: int, size: FloatArray, shape: FloatArray
    ) -> FloatArray:
        """Return ``log P`` of one column of a cluster; `size` and `shape` may be arrays."""
        x, e = self.entries(stat, column)
        size, shape = np.asarray(size), np.asarray(shape)
        each = size[..., None] * e
        rows = np.sum(gammaln(x + each) - gammaln(each) - gammaln(x + 1), axis=-1)
        a = 1 + size * shape / self.mean[column]
        return np.asarray(rows + betaln(a + size * e.sum(), shape + x.sum()) - betaln(a, shape))

    def log_hyperprior(self, base: FloatArray) -> float:
        laws = [law for law in self.laws.values() for _ in self.mean]
        return sum(law.log_density(float(x)) for law, x in zip(laws, base, strict=True))

    def log_marginals(self, stats: Sequence[Rows], base: FloatArray) -> FloatArray:
        size, shape = self.sizes_and_shapes(base)
        return np.array(
            [
                sum(float(self.log_column(s, j, size[j], shape[j])) for j in range(len(self.mean)))
                for s in stats
            ]
        )

    def update(self, stats: Sequence[Rows], base: FloatArray, stream: Stream) -> FloatArray:
        d = len(self.mean)
        for j in range(d):
            for k, law in enumerate(self.laws.values()):

                def log_posterior(
                    base: FloatArray, j: int = j, place: int = k * d + j, law: Law = law
                ) -> float:
                    prior = law.log_density(float(base[place]))
                    if prior == -inf:
                        return prior
                    size, shape = self.sizes_and_shapes(base)
                    terms = [float(self.log_column(s, j, size[j], shape[j])) for s in stats]
                    return prior + sum(terms)

                base = slice_entry(base, k * d + j, 1.0, log_posterior, stream)
        return base
