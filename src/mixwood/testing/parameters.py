"""The exact law of a prior's parameters given the sizes of the clusters, by quadrature.

Two axes suffice for every prior: ``sigma``, and one companion that with sigma fixes the
weights of partitions. The others follow from these in closed form.

- Dirichlet process and Pitman-Yor: the companion is ``theta`` (for the Dirichlet process,
  ``sigma = 0`` and theta is ``alpha``), and given both parameters the sizes have probability
  ``prod_(j=1)^(K-1) (theta + j sigma) / prod_(i=1)^(n-1) (theta + i)
  prod_c prod_(j=1)^(|c|-1) (j - sigma)``.
- NGGP: the companion is ``v = log u``, with ``alpha`` fixed or integrated out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammainc, gammaln, log_expit, logsumexp

from mixwood import hyper
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray
from mixwood.priors import DirichletProcess, PitmanYor, Prior
from mixwood.priors.expected import log_shifted
from mixwood.testing.axes import Axis, fixed_axis, gamma_axis, log_u_axis, sigma_axis

__all__ = ["ParameterLaw", "State"]

#: labels (N, n), and log_u, log_alpha, sigma, theta (N,)
State = Mapping[str, NDArray[Any]]


class ParameterLaw:
    """The parameters of a prior given cluster sizes, for partitions of `n` items."""

    def __init__(self, prior: Prior, n: int) -> None:
        self.prior, self.n = prior, n
        if isinstance(prior, DirichletProcess):
            self.sigma = fixed_axis(0.0)
            self.log_complement = np.zeros(1)
        else:
            self.sigma = _parameter_axis(prior.sigma)
            # exact also where sigma rounds to 1
            coordinate, value = self.sigma.coordinate, self.sigma.value
            self.log_complement = np.log1p(-value) if self.sigma.fixed else log_expit(-coordinate)
        if isinstance(prior, (DirichletProcess, PitmanYor)):
            mass = prior.alpha if isinstance(prior, DirichletProcess) else prior.theta
            self.companion = _parameter_axis(mass)
        else:
            self.companion = log_u_axis(_end_of_log_u(prior.alpha, self.sigma.value[0], n))
        self._table = lru_cache(maxsize=1)(self._log_table)  # up to 100 MB each
        self._masses = cache(self._posterior_masses)

    def log_probability(self, sizes: Sequence[int]) -> float:
        """Return the log probability of one partition with these sizes, parameters out."""
        table = self._table(len(sizes)) + self._log_sizes(sizes)[:, None]
        return float(logsumexp(table))

    def _log_table(self, clusters: int) -> FloatArray:
        """Return the log weights of (sigma, companion) that depend on sizes only through K."""
        weights = self.sigma.log_weight[:, None] + self.companion.log_weight
        sigma, companion = self.sigma.value[:, None], self.companion.value
        if isinstance(self.prior, (DirichletProcess, PitmanYor)):
            steps = [np.log(companion + j * sigma) for j in range(1, clusters)]
            items = [np.log(companion + i) for i in range(1, self.n)]
            return np.asarray(weights + sum(steps) - sum(items))
        alpha, s = self.prior.alpha, np.logaddexp(0, companion)
        # u^n tau^-n is expit(v)^n: the difference n v - n s would lose its digits far out
        weights = weights + self.n * log_expit(companion) - gammaln(self.n)
        weights = weights + clusters * (np.log(sigma) + sigma * s)
        if isinstance(alpha, hyper.Gamma):
            a, b = alpha.shape, alpha.rate
            weights = weights + a * np.log(b) - gammaln(a) + gammaln(a + clusters)
            return np.asarray(weights - (a + clusters) * log_shifted(b, sigma * s))
        with np.errstate(over="ignore"):
            return np.asarray(weights + clusters * np.log(alpha) - alpha * np.expm1(sigma * s))

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

    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Draw what follows in closed form from sigma and the companion."""
        zeros = np.zeros(len(sigma))
        prior = self.prior
        if isinstance(prior, (DirichletProcess, PitmanYor)):
            log_u = log_gamma_draws(zeros + self.n, rng) - log_gamma_draws(companion, rng)
            if isinstance(prior, DirichletProcess):
                log_alpha, theta = np.log(companion), zeros
            else:
                shape, theta = companion / sigma + clusters, companion
                log_alpha = log_gamma_draws(shape, rng) - sigma * np.logaddexp(0, log_u)
        else:
            log_u, theta = companion, zeros
            if isinstance(prior.alpha, hyper.Gamma):
                log_rate = log_shifted(prior.alpha.rate, sigma * np.logaddexp(0, log_u))
                log_alpha = log_gamma_draws(zeros + prior.alpha.shape + clusters, rng) - log_rate
            else:
                log_alpha = np.full(len(sigma), np.log(prior.alpha))
        return {"log_u": log_u, "log_alpha": log_alpha, "sigma": sigma, "theta": theta}

    def transforms(self, sizes: Sequence[int], state: State) -> dict[str, FloatArray]:
        """Return the probability integral transform of each random parameter given the sizes.

        Uniform on (0, 1) if the state has the exact law. Of ``log_u``, ``sigma``, ``theta``
        and the Dirichlet process's ``alpha`` it is marginal over the other parameters; of
        the other priors' ``alpha`` it is given (u, sigma, theta), which is sharper.
        """
        sizes = tuple(sizes)
        clusters = len(sizes)
        sigma_masses, companion_masses = self._masses(sizes)
        log_u, sigma = np.asarray(state["log_u"]), np.asarray(state["sigma"])
        log_alpha, theta = np.asarray(state["log_alpha"]), np.asarray(state["theta"])
        result = {"log_u": self._log_u_cdf(companion_masses, log_u)}
        if not self.sigma.fixed:
            result["sigma"] = self.sigma.cdf(sigma_masses, sigma)
        power = sigma * np.logaddexp(0, log_u)
        if isinstance(self.prior, DirichletProcess):
            if not self.companion.fixed:
                result["alpha"] = self.companion.cdf(companion_masses, np.exp(log_alpha))
        elif isinstance(self.prior, PitmanYor):
            if not self.companion.fixed:
                result["theta"] = self.companion.cdf(companion_masses, theta)
            result["alpha"] = gammainc(theta / sigma + clusters, np.exp(log_alpha + power))
        elif isinstance(self.prior.alpha, hyper.Gamma):
            log_rate = log_shifted(self.prior.alpha.rate, power)
            shape = self.prior.alpha.shape + clusters
            result["alpha"] = np.asarray(gammainc(shape, np.exp(log_alpha + log_rate)), np.float64)
        return result

    def _log_u_cdf(self, companion_masses: FloatArray, log_u: FloatArray) -> FloatArray:
        """Return the CDF of ``log u``: the companion's, or a mixture of Beta laws over theta."""
        if not isinstance(self.prior, (DirichletProcess, PitmanYor)):
            return self.companion.cdf(companion_masses, log_u)
        theta = self.companion.value
        kept = companion_masses > 1e-14 * companion_masses.max()
        theta, weights = theta[kept], companion_masses[kept]
        axis = log_u_axis(40 / float(theta.min()))
        v, s = axis.value[:, None], np.logaddexp(0, axis.value)[:, None]
        log_density = self.n * log_expit(v) - theta * s - betaln(self.n, theta)
        masses = np.exp(log_density + axis.log_weight[:, None]) @ weights
        return axis.cdf(masses, log_u)


def _parameter_axis(value: float | hyper.Gamma | hyper.Beta) -> Axis:
    if isinstance(value, hyper.Gamma):
        return gamma_axis(value)
    return sigma_axis(value) if isinstance(value, hyper.Beta) else fixed_axis(value)


def _end_of_log_u(alpha: float | hyper.Gamma, smallest_sigma: float, n: int) -> float:
    """Return how far ``v`` reaches: ``e^(-a sigma v)`` or ``exp(-alpha e^(sigma v))`` is gone."""
    if isinstance(alpha, hyper.Gamma):
        return float((40 / alpha.shape + abs(np.log(alpha.rate))) / smallest_sigma)
    return float(np.log1p((40 + 10 * n) / alpha) / smallest_sigma)
