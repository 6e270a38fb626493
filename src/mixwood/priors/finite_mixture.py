"""A mixture of finitely many components, of which nobody knows how many."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import exp, expm1, lgamma, log, log1p
from typing import Any, ClassVar

import numpy as np

from mixwood import hyper
from mixwood._support.checks import moderate_number, shown
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.labels import in_order_of_appearance
from mixwood._support.numerics import softplus
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.base import Prior, checked_mass
from mixwood.priors.urns import draw_components, draw_finite_partitions
from mixwood.priors.values import PredictiveWeights, PriorDraws, PriorValues

__all__ = ["FiniteMixture"]

#: Where gamma may be. Below, ``log u`` runs to millions; beyond, log Gamma functions lose digits.
BOUNDS = (1e-6, 1e6)


class _NotGiven(float):
    """A gamma that nobody asked for: with groups it is random instead."""


_ONE = _NotGiven(1.0)


@dataclass(frozen=True, repr=False)
class FiniteMixture(Prior):
    """Finitely many components, but unknown how many: as data grow, their number is found.

    Parameters
    ----------
    rate : float or hyper.Gamma
        There are ``M ~ Poisson(rate)`` components, given that there is one at all. A random rate
        has the density of the Gamma times ``1 - exp(-rate)``, the probability of that; by
        default it is ``hyper.Gamma(1, 1/9)``, and then M is geometric: it is 1 with probability
        0.1, and 10 on average.
    gamma : float, hyper.Gamma or hyper.LogNormal
        The weights of the components are Dirichlet(gamma, ..., gamma), 1.0 by default: any
        weights are as likely as any others. Large: all components are about as large. Small: a
        few have nearly everything. Between 1e-6 and 1e6, also where it is random. With
        ``mixwood.sample(..., groups=)`` of several groups, each of which has its own weights, it
        is ``hyper.LogNormal(0.5, 1.0)`` by default: small where groups differ much.
    per_group : bool
        Whether every group has a gamma of its own, drawn from the same hyperprior, rather than
        one for all. Makes no difference without groups, nor for a gamma that is a number.

    Notes
    -----
    Levy intensity ``rate / Gamma(gamma) w^(gamma-1) e^-w``, which is a finite measure:
    ``psi(u) = rate (1 - (1+u)^-gamma)`` and
    ``kappa(k, u) = rate Gamma(k+gamma) / Gamma(gamma) (1+u)^-(k+gamma)``. Without items there may
    be no jump at all, so the law of partitions has the factor ``1 / (1 - e^-rate)``.

    A cluster is a component that has items, so there are at most M of them.

    Examples
    --------
    >>> FiniteMixture(rate=3.0)
    FiniteMixture(rate=3.0, gamma=1.0)
    >>> [round(FiniteMixture().expected_clusters(n), 2) for n in (10, 1000, 10**6)]
    [4.35, 9.82, 10.0]
    """

    rate: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(1, 1 / 9))
    gamma: float | hyper.Gamma | hyper.LogNormal = _ONE
    per_group: bool = False
    kernel: ClassVar[str] = "finite_mixture"
    parameters: ClassVar[tuple[str, ...]] = ("rate", "gamma")
    aliases: ClassVar[tuple[str, ...]] = ("finite", "mfm")

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checked_mass(self.rate, "rate"))
        if not isinstance(self.gamma, _NotGiven):
            object.__setattr__(self, "gamma", _checked_gamma(self.gamma))
        if not isinstance(self.per_group, bool):
            raise TypeError(f"per_group must be True or False, got {shown(self.per_group)}")

    def __repr__(self) -> str:
        own = ", per_group=True" if self.per_group else ""
        return f"FiniteMixture(rate={self.rate!r}, gamma={self.gamma!r}{own})"

    def for_groups(self, groups: int) -> FiniteMixture:
        """Return the prior as it is for this many groups: a gamma that was not given is random.

        Examples
        --------
        >>> FiniteMixture(rate=3.0).for_groups(20)
        FiniteMixture(rate=3.0, gamma=LogNormal(median=0.5, sd=1.0))
        >>> FiniteMixture(rate=3.0).for_groups(1)
        FiniteMixture(rate=3.0, gamma=1.0)
        """
        if groups == 1 or not isinstance(self.gamma, _NotGiven):
            return self
        return replace(self, gamma=hyper.LogNormal(0.5, 1.0))

    def draw_in_groups(self, codes: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a partition of items whose groups are given, labels in order of appearance.

        Every group has its own weights over the same components.

        Examples
        --------
        >>> prior = FiniteMixture(rate=3.0)
        >>> prior.draw_in_groups(np.array([0, 0, 1]), np.random.default_rng(1)).shape
        (3,)
        """
        groups = int(codes.max()) + 1
        gamma = self.for_groups(groups).gamma
        if isinstance(gamma, float):
            gammas = np.full(groups, float(gamma))
        else:
            drawn = hyper.draw(gamma, BOUNDS, rng, groups if self.per_group else 1)
            gammas = np.broadcast_to(np.asarray(drawn), groups)
        log_rate = _draw_log_rate(self.rate, 1, rng)
        components = int(min(draw_components(np.exp(log_rate), rng)[0], 1e6))
        labels = np.empty(len(codes), dtype=np.int64)
        for j in range(groups):
            own = np.flatnonzero(codes == j)
            jumps = log_gamma_draws(np.full(components, gammas[j]), rng)
            weights = np.exp(jumps - jumps.max())
            labels[own] = rng.choice(components, len(own), p=weights / weights.sum())
        return in_order_of_appearance(labels)

    def values_per_group(self) -> int:
        """Return 2 where every group has a gamma of its own, else 1."""
        return 2 if self.per_group and not isinstance(self.gamma, float) else 1

    # --- the core carries gamma as a negative sigma

    def start_values(self) -> dict[str, float]:
        """Return where a chain starts: fixed values, means of hyperpriors, a LogNormal's median.

        Examples
        --------
        >>> FiniteMixture().start_values()
        {'rate': 9.9, 'gamma': 1.0}
        """
        rate = _mean_rate(self.rate) if isinstance(self.rate, hyper.Gamma) else self.rate
        gamma = self.gamma if isinstance(self.gamma, float) else hyper.centre(self.gamma)
        return {"rate": rate, "gamma": gamma}

    def to_core(self, name: str, value: float) -> float:
        """Return the core's value for a parameter: ``log rate``, or ``-gamma`` as its sigma."""
        return -value if name == "gamma" else super().to_core(name, value)

    def from_core(self, name: str, values: FloatArray) -> FloatArray:
        """Return a parameter from the core's values of it."""
        return -values if name == "gamma" else super().from_core(name, values)

    def stored(self, name: str, values: FloatArray) -> FloatArray:
        """Return draws as they are stored from the core's, or the other way round."""
        return -values if name == "gamma" else values

    def core_arguments(self) -> dict[str, Any]:
        """Return the prior as the core's chains take it, with the law of a random gamma."""
        arguments = super().core_arguments() | {"sigma": None}
        if not isinstance(self.gamma, float):
            arguments["gamma"] = hyper.law(self.gamma, BOUNDS)
            if self.per_group:
                arguments["gamma_per_group"] = True
        return arguments

    # --- the random measure

    def psi(self, values: PriorValues[float]) -> float:
        """Return ``rate (1 - tau^-gamma)``."""
        return -exp(values.log_alpha) * expm1(values.sigma * softplus(values.log_u))

    def log_kappa(self, k: int, values: PriorValues[float]) -> float:
        """Return the log of ``rate Gamma(k+gamma) / Gamma(gamma) tau^-(k+gamma)``."""
        gamma = -values.sigma
        growth = lgamma(k + gamma) - lgamma(gamma)
        return values.log_alpha + growth - (k + gamma) * softplus(values.log_u)

    def log_nonempty(self, values: PriorValues[float]) -> float:
        """Return ``log(1 - e^-rate)``, also where the rate is too small for a float."""
        if values.log_alpha < -40:
            return values.log_alpha
        return log(-expm1(-exp(values.log_alpha)))

    def log_u_mode(self, values: PriorValues[float], n: int, clusters: float) -> float:
        """Return the highest mode of ``n v - (n + K gamma) s + rate tau^-gamma``, ``s = log tau``.

        There may be two. The slope is 0 only where ``n/u = gamma (K + rate tau^-gamma)``, so all
        are between ``n / (gamma (K + rate))`` and ``n / (gamma K)``: the range is searched, and
        what is around the best point again.
        """
        gamma, rate = -values.sigma, exp(values.log_alpha)

        def log_density(v: FloatArray) -> FloatArray:
            s = np.logaddexp(0, v)
            growth = -n * np.logaddexp(0, -v) - clusters * gamma * s
            return np.asarray(growth + rate * np.expm1(-gamma * s))

        high = log(n) - log(gamma * clusters)
        low = high - log1p(rate / clusters)
        first, points = low, 1001
        while high - low > 1e-9 * (1 + abs(first)):
            grid = np.linspace(low, high, points)
            best = int(np.argmax(log_density(grid)))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, points - 1)]
        return float((low + high) / 2)

    # --- the law of partitions

    def predictive_weights(
        self, values: PriorValues[FloatArray], n: int, clusters: IntArray
    ) -> PredictiveWeights:
        """Return ``(u/n) (|c| + gamma) / tau`` and ``(u/n) rate gamma tau^-(1+gamma)``."""
        log_u, gamma = values.log_u, -values.sigma
        log_factor = -np.logaddexp(0, -log_u) - np.log(n)
        log_new = log_factor + values.log_alpha + np.log(gamma) - gamma * np.logaddexp(0, log_u)
        log_old = log_factor + np.log(n + clusters * gamma)
        return PredictiveWeights(log_factor, values.sigma, log_new, np.logaddexp(log_new, log_old))

    def _expected_clusters(self, n: int) -> float:
        """Return the mean over the number of components and gamma of how many have items."""
        return _expected(self.rate, self.gamma, n)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw parameters, the number of components, a partition and u.

        The sum of M jumps is a Gamma(M gamma), whatever the partition, and given the sum u is a
        Gamma(n) over it.
        """
        if isinstance(self.gamma, float):
            gamma = np.full(size, self.gamma)
        else:
            gamma = np.asarray(hyper.draw(self.gamma, BOUNDS, rng, size))
        log_rate = _draw_log_rate(self.rate, size, rng)
        components = draw_components(np.exp(log_rate), rng)
        labels = draw_finite_partitions(components, gamma, n, rng)
        log_u = log_gamma_draws(np.full(size, float(n)), rng)
        log_u = log_u - log_gamma_draws(components * gamma, rng)
        return PriorDraws(labels, log_u, log_rate, -gamma, np.zeros(size))


def _checked_gamma(value: Any) -> float | hyper.Gamma | hyper.LogNormal:
    """Return a number within the bounds, or a hyperprior whose centre is."""
    low, high = BOUNDS
    random = isinstance(value, (hyper.Gamma, hyper.LogNormal))
    if isinstance(value, hyper.Beta):
        raise TypeError(
            "gamma must be a number, hyper.Gamma(shape, rate) or hyper.LogNormal(median, sd), "
            f"got {shown(value)}"
        )
    number = hyper.centre(value) if random else moderate_number(value, "gamma")
    if not low <= number <= high:
        what = f"a hyperprior around {number:g}" if random else shown(value)
        raise ValueError(f"gamma must lie between {low:g} and {high:g}, got {what}")
    return value if random else number


@lru_cache(maxsize=64)  # every tree of a run asks
def _expected(
    rate: float | hyper.Gamma, gamma: float | hyper.Gamma | hyper.LogNormal, n: int
) -> float:
    from mixwood.priors.components import component_points, occupied  # scipy: only when asked
    from mixwood.priors.expected import nodes

    counts, probabilities = component_points(rate)
    points, weights = nodes(gamma)
    # a vague hyperprior has thousands of points beyond the bounds
    gammas, which = np.unique(np.clip(points, *BOUNDS), return_inverse=True)
    means = [probabilities @ occupied(counts, float(each), n) for each in gammas]
    return float(weights @ np.array(means)[which])


def _mean_rate(law: hyper.Gamma) -> float:
    """Return the mean of the density Gamma(a, b) times ``1 - e^-rate``."""
    step = log1p(1 / law.rate)
    return law.mean * expm1(-(law.shape + 1) * step) / expm1(-law.shape * step)


def _draw_log_rate(law: float | hyper.Gamma, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw the logs of rates, which may be fixed.

    ``1 - e^-rate`` is the integral of ``rate e^(-t rate)`` over t from 0 to 1. So t is drawn first,
    with density ``(b + t)^-(a+1)``, then the rate is a Gamma(a + 1, b + t).
    """
    if isinstance(law, float):
        return np.full(size, log(law))
    a, b = law.shape, law.rate
    share = -expm1(-a * log1p(1 / b))
    t = b * np.expm1(-np.log1p(-rng.random(size) * share) / a)
    return np.asarray(log_gamma_draws(np.full(size, a + 1), rng) - np.log(b + t))
