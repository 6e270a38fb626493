"""The variance of the noise about a linear relation that clusters are expected to have, learned."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from mixwood import likelihoods
from mixwood._support.types import FloatArray
from mixwood.reference.base.one_variance import OneVarianceBase

__all__ = ["RegressionBase", "Sums", "log_relation_marginal"]


class Sums(NamedTuple):
    """How many, ``Z'Z``, ``Z'y`` and ``y'y``, where a row of Z is 1 and the predictors."""

    n: float
    zz: FloatArray
    zy: FloatArray
    yy: float


def log_relation_marginal(stat: Sums, r: Any, g: Any, nu: Any, psi: Any) -> FloatArray:
    """Return ``log P(y | x)`` of a cluster, its sums in units of all rows.

    The parameters may be arrays. With ``A = diag(r, g, ..., g) + Z'Z`` and
    ``psi_n = psi + y'y - y'Z A^-1 Z'y``::

        P(y | x) = pi^(-n/2) (r g^p / |A|)^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
                   Gamma((nu+n)/2) / Gamma(nu/2)
    """
    r, g, nu, psi = np.broadcast_arrays(r, g, nu, psi)
    n, p = stat.n, len(stat.zy) - 1
    prior = np.stack([r, *([g] * p)], axis=-1)
    A = stat.zz + prior[..., None] * np.eye(p + 1)
    explained = (np.linalg.solve(A, stat.zy[:, None])[..., 0] * stat.zy).sum(axis=-1)
    psi_n = psi + stat.yy - explained
    value = -n / 2 * log(np.pi) + (np.log(r) + p * np.log(g) - np.linalg.slogdet(A)[1]) / 2
    value = value + nu / 2 * np.log(psi) - (nu + n) / 2 * np.log(psi_n)
    return np.asarray(value + gammaln((nu + n) / 2) - gammaln(nu / 2))


class RegressionBase(OneVarianceBase[Sums]):
    """The updates of ``(omega, nu', r)``; the precision of slopes is ``g = omega / slopes``."""

    def __init__(self, likelihood: likelihoods.Regression) -> None:
        super().__init__(likelihood, 1)
        self.slopes = likelihood.slopes

    def prepared(self, stats: Sequence[Sums]) -> Sequence[Sums]:
        return stats

    def log_marginals_of(self, prepared: Sequence[Sums], base: FloatArray) -> FloatArray:
        r, omega = self.r(base), np.exp(base[0])
        prior = r, omega / self.slopes, self.nu(base), self.psi(base)
        return np.array([float(log_relation_marginal(stat, *prior)) for stat in prepared])
