"""The Dirichlet and Pitman-Yor processes.

The companion is ``theta`` (for the Dirichlet process, ``sigma = 0`` and theta is ``alpha``), and
given both parameters the sizes have probability ``prod_(j=1)^(K-1) (theta + j sigma) /
prod_(i=1)^(n-1) (theta + i) prod_c prod_(j=1)^(|c|-1) (j - sigma)``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, gammainc, log_expit

from mixwood import priors
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray
from mixwood.testing.axes import fixed_axis, log_u_axis
from mixwood.testing.parameters.base import ParameterLaw, State, discount_axis, mass_axis

__all__ = ["DirichletLaw", "PitmanYorLaw"]


class UrnLaw(ParameterLaw):
    """Of both processes: the weights of partitions, and u given theta."""

    def _log_table(self, clusters: int) -> FloatArray:
        weights = self.sigma.log_weight[:, None] + self.companion.log_weight
        sigma, theta = self.sigma.value[:, None], self.companion.value
        steps = [np.log(theta + j * sigma) for j in range(1, clusters)]
        items = [np.log(theta + i) for i in range(1, self.n)]
        return np.asarray(weights + sum(steps) - sum(items))

    def _draw_log_u(self, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        above = log_gamma_draws(np.full(len(theta), float(self.n)), rng)
        return above - log_gamma_draws(theta, rng)

    def _log_u_cdf(self, companion_masses: FloatArray, log_u: FloatArray) -> FloatArray:
        """Return the CDF of ``log u``, a mixture of Beta laws over theta."""
        theta = self.companion.value
        kept = companion_masses > 1e-14 * companion_masses.max()
        theta, weights = theta[kept], companion_masses[kept]
        axis = log_u_axis(40 / float(theta.min()))
        v, s = axis.value[:, None], np.logaddexp(0, axis.value)[:, None]
        log_density = self.n * log_expit(v) - theta * s - betaln(self.n, theta)
        masses = np.exp(log_density + axis.log_weight[:, None]) @ weights
        return axis.cdf(masses, log_u)


class DirichletLaw(UrnLaw):
    """The law of (u, alpha)."""

    def __init__(self, prior: priors.DirichletProcess, n: int) -> None:
        super().__init__(n, fixed_axis(0.0), np.zeros(1), mass_axis(prior.alpha))

    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        del clusters
        log_u, log_alpha = self._draw_log_u(companion, rng), np.log(companion)
        return {"log_u": log_u, "log_alpha": log_alpha, "sigma": sigma, "theta": 0.0 * sigma}

    def _other_transforms(
        self, clusters: int, companion_masses: FloatArray, state: State
    ) -> dict[str, FloatArray]:
        del clusters
        if self.companion.fixed:
            return {}
        return {"alpha": self.companion.cdf(companion_masses, np.exp(state["log_alpha"]))}


class PitmanYorLaw(UrnLaw):
    """The law of (u, sigma, theta) and the latent ``alpha ~ Gamma(theta/sigma + K, tau^sigma)``."""

    def __init__(self, prior: priors.PitmanYor, n: int) -> None:
        super().__init__(n, *discount_axis(prior.sigma), mass_axis(prior.theta))

    def _complete(
        self, sigma: FloatArray, companion: FloatArray, clusters: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        log_u = self._draw_log_u(companion, rng)
        shape = companion / sigma + clusters
        log_alpha = log_gamma_draws(shape, rng) - sigma * np.logaddexp(0, log_u)
        return {"log_u": log_u, "log_alpha": log_alpha, "sigma": sigma, "theta": companion}

    def _other_transforms(
        self, clusters: int, companion_masses: FloatArray, state: State
    ) -> dict[str, FloatArray]:
        theta, sigma = state["theta"], state["sigma"]
        rate = state["log_alpha"] + sigma * np.logaddexp(0, state["log_u"])
        result = {"alpha": np.asarray(gammainc(theta / sigma + clusters, np.exp(rate)))}
        if not self.companion.fixed:
            result["theta"] = self.companion.cdf(companion_masses, theta)
        return result
