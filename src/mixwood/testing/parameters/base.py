"""What the laws of the priors' parameters share.

Two axes suffice for every prior: ``sigma``, and one companion that with sigma fixes the
weights of partitions. The others follow from these in closed form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

from mixwood import hyper
from mixwood._support.types import FloatArray
from mixwood.testing.axes import Axis, fixed_axis, gamma_axis, sigma_axis

__all__ = ["ParameterLaw", "State", "discount_axis", "mass_axis"]

#: labels (N, n), and log_u, log_alpha, sigma, theta (N,)
State = Mapping[str, NDArray[Any]]


class ParameterLaw(ABC):
    """The parameters of a prior given cluster sizes, for partitions of `n` items.

    Parameters
    ----------
    n : int
        How many items.
    sigma : Axis
        The core's ``sigma``.
    log_complement : array
        ``log(1 - sigma)`` along that axis, exact also where sigma rounds to 1.
    companion : Axis
        What with sigma fixes the weights of partitions.
    """

    def __init__(self, n: int, sigma: Axis, log_complement: FloatArray, companion: Axis) -> None:
        self.n, self.sigma, self.companion = n, sigma, companion
        self.log_complement = log_complement
        self._table = lru_cache(maxsize=1)(self._log_table)  # up to 100 MB each
        self._masses = cache(self._posterior_masses)

    @abstractmethod
    def _log_table(self, clusters: int) -> FloatArray:
        """Return the log weights of (sigma, companion) that depend on sizes only through K."""

    @abstractmethod
    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Draw what follows in closed form from sigma and the companion."""

    @abstractmethod
    def _log_u_cdf(self, companion_masses: FloatArray, log_u: FloatArray) -> FloatArray:
        """Return the CDF of ``log u``, marginal over the other parameters."""

    @abstractmethod
    def _other_transforms(
        self, clusters: int, companion_masses: FloatArray, state: State
    ) -> dict[str, FloatArray]:
        """Return the probability integral transforms of what is neither u nor sigma."""

    def log_probability(self, sizes: Sequence[int]) -> float:
        """Return the log probability of one partition with these sizes, parameters out."""
        table = self._table(len(sizes)) + self._log_sizes(sizes)[:, None]
        return float(logsumexp(table))

    def _log_sizes(self, sizes: Sequence[int]) -> FloatArray:
        """Return ``log prod_c Gamma(|c|-sigma)/Gamma(1-sigma)`` along sigma."""
        total = np.zeros(len(self.sigma.value))
        for size in sizes:
            if size > 1:
                total = total + self.log_complement
            for j in range(2, size):
                total = total + np.log(j - self.sigma.value)
        return total

    def _posterior_masses(self, sizes: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Return the masses of sigma and of the companion, each marginal over the other."""
        table = self._table(len(sizes)) + self._log_sizes(sizes)[:, None]
        joint = np.exp(table - table.max())
        return joint.sum(axis=1), joint.sum(axis=0)

    def draw(
        self, sizes: Sequence[int], size: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Draw `size` times (log_u, log_alpha, sigma, theta) given the sizes."""
        clusters = len(sizes)
        sigma_masses, _ = self._masses(tuple(sizes))
        sigma = self.sigma.draw(sigma_masses, size, rng)
        nearest = self.sigma.interpolate(sigma, rng)
        companion = np.empty(size)
        table = self._table(clusters)
        for j in np.unique(nearest):
            chosen = np.flatnonzero(nearest == j)
            masses = np.exp(table[j] - table[j].max())
            companion[chosen] = self.companion.draw(masses, len(chosen), rng)
        return self._complete(sigma, companion, clusters, rng)

    def transforms(self, sizes: Sequence[int], state: State) -> dict[str, FloatArray]:
        """Return the probability integral transform of each random parameter given the sizes.

        Uniform on (0, 1) if the state has the exact law. Of ``log_u``, ``sigma``, ``theta``
        and the Dirichlet process's ``alpha`` it is marginal over the other parameters; of
        the other priors' ``alpha`` it is given (u, sigma, theta), which is sharper.
        """
        sizes = tuple(sizes)
        sigma_masses, companion_masses = self._masses(sizes)
        state = {name: np.asarray(values) for name, values in state.items()}
        result = {"log_u": self._log_u_cdf(companion_masses, state["log_u"])}
        if not self.sigma.fixed:
            result["sigma"] = self.sigma.cdf(sigma_masses, state["sigma"])
        return result | self._other_transforms(len(sizes), companion_masses, state)


def mass_axis(value: float | hyper.Gamma) -> Axis:
    """Return the axis of a mass, one point if it is fixed."""
    return gamma_axis(value) if isinstance(value, hyper.Gamma) else fixed_axis(value)


def discount_axis(value: float | hyper.Beta) -> tuple[Axis, FloatArray]:
    """Return the axis of a discount, and ``log(1 - sigma)`` along it."""
    if isinstance(value, hyper.Beta):
        axis = sigma_axis(value)
        return axis, np.asarray(log_expit(-axis.coordinate))
    axis = fixed_axis(value)
    return axis, np.log1p(-axis.value)
