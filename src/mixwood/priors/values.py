"""What goes in and out of a prior's methods: the core's values, draws, predictive weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mixwood._support.types import FloatArray, IntArray, Sizes

__all__ = ["PredictiveWeights", "PriorDraws", "PriorValues"]

V = TypeVar("V", float, FloatArray)


@dataclass(frozen=True)
class PriorValues(Generic[V]):
    """What the core carries besides the partition: numbers, or arrays with one entry per draw.

    Every prior has all four, 0 where it has no use for one; a finite mixture has its rate for
    ``alpha`` and ``-gamma`` for ``sigma``. Like ``u``, a mass can leave the range of floating
    point, hence the logarithms.

    Examples
    --------
    >>> PriorValues(log_u=0.0, log_alpha=0.7, sigma=0.0, theta=0.0).log_alpha
    0.7
    """

    log_u: V
    log_alpha: V
    sigma: V
    theta: V


@dataclass(frozen=True)
class PriorDraws:
    """Independent draws of a partition and the core's values, one per row."""

    labels: IntArray
    log_u: FloatArray
    log_alpha: FloatArray
    sigma: FloatArray
    theta: FloatArray


@dataclass(frozen=True)
class PredictiveWeights:
    """The log weights of each draw's clusters for one more row; arrays have one entry per draw.

    Attributes
    ----------
    log_factor, sigma : array
        A cluster of size k weighs ``log_factor + log(k - sigma)``.
    log_new : array
        The weight of a new cluster.
    log_total : array
        The log of the sum of all of them; 0 where ``u`` was integrated out.
    """

    log_factor: FloatArray
    sigma: FloatArray
    log_new: FloatArray
    log_total: FloatArray

    @property
    def log_normalizer(self) -> float:
        """The log of the mean total over all draws: 0 but for the noise of the draws."""
        return float(np.logaddexp.reduce(self.log_total) - np.log(len(self.log_total)))

    def log_old(self, draw: int | IntArray, sizes: Sizes) -> FloatArray:
        """Return the log weights of clusters of these sizes in these draws."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.log_factor[draw] + np.log(sizes - self.sigma[draw]))
