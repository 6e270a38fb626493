"""One clustering of rows that come in groups, in plain Python.

Row i belongs to group ``g(i)``. The components are shared; their weights are the group's own,
``w_j ~ Dirichlet(gamma_j, ..., gamma_j)`` over all M of them, ``M ~ Poisson(rate)`` given at least
one. As normalized jumps: ``w_jm = J_jm / T_j`` with ``J_jm ~ Gamma(gamma_j, 1)``, and ``u_j`` is
a Gamma(n_j) over ``T_j``. With ``n_jk`` rows of group j in cluster k, ``tau_j = 1 + u_j`` and
``chi = prod_j tau_j^-gamma_j``::

    p(X, Pi, u) = prod_j u_j^(n_j-1)/Gamma(n_j) * exp(-rate (1 - chi)) / (1 - e^-rate)
                  * prod_k { rate prod_j Gamma(gamma_j+n_jk)/Gamma(gamma_j) tau_j^-(gamma_j+n_jk)
                             * P(X_k) }

To see it, sum over M: the components without rows, each of which has ``E prod_j e^(-u_j J_j) =
chi``, are Poisson of mean ``rate chi`` given u. So ``kappa`` of a size becomes ``kappa`` of a
vector of counts, and the product form stays. Its factors ``tau_j^-n_jk`` are the same for every
partition.

Here the counts are a part of each cluster's statistic, and what kappa says of them a part of its
marginal: `GroupedFamily`. What is left of kappa is ``rate chi`` for every cluster. So every chain
of this package works with groups once its family is wrapped, which is not how the compiled core
does it.

The parameters given the partition, with K clusters. All ``u_j`` together know gamma so well that,
given them, it would hardly move. So M is drawn, ``M - K ~ Poisson(rate chi)``; given M::

    p(gamma) prod_j { Gamma(M gamma_j)/Gamma(M gamma_j + n_j)
                      prod_k Gamma(gamma_j+n_jk)/Gamma(gamma_j) }

has no ``u``: gamma, one for all groups or one for each, comes from it by slice on its logarithm;
``rate ~ Gamma(a+M, b+1)``, as its hyperprior has the density Gamma(a, b) times ``1 - e^-rate``; and
``u_j`` is a Gamma(n_j) over a Gamma(M gamma_j).

With one group it is `mixwood.FiniteMixture`, draw for draw, and so it is where M may be huge:
``v_j = log u_j`` by slice on ``n_j v_j - (n_j + K gamma_j) log tau_j + rate chi``, gamma by slice
likewise, and ``rate ~ Gamma(a+K, b + 1 - chi)``, integrated out when the others move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, expm1, fsum, lgamma, log
from typing import Any, TypeAlias

import numpy as np

from mixwood import hyper
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.model import Mixture
from mixwood.reference.base.laws import Law
from mixwood.reference.families import Family, dense
from mixwood.reference.gibbs import GibbsChain
from mixwood.reference.priors import Parameters, softplus, twin_of
from mixwood.reference.priors.finite_mixture import BOUNDS
from mixwood.reference.random import Stream
from mixwood.reference.split_merge import SplitMergeChain
from mixwood.reference.tree_sampler import TreeChain

__all__ = [
    "GroupParameters",
    "GroupedFamily",
    "GroupedGibbsChain",
    "GroupedSplitMergeChain",
    "GroupedTreeChain",
]

#: Above this expected number, components are not counted one by one.
MANY_COMPONENTS = 1000.0

#: the statistic of the rows without their groups, and how many are of each group
Stat: TypeAlias = tuple[Any, tuple[int, ...]]


@dataclass
class GroupParameters(Parameters):
    """The parameters of a chain with groups.

    ``log_u`` is the log of the sum of all ``u_j`` and ``sigma`` is minus the mean of all
    ``gamma_j``: what guide trees are grown at, which do not know of groups.
    """

    log_us: list[float] = field(default_factory=list)
    gammas: list[float] = field(default_factory=list)

    @property
    def log_chi(self) -> float:
        """The log of ``prod_j tau_j^-gamma_j``."""
        pairs = zip(self.gammas, self.log_us, strict=True)
        return -sum(gamma * softplus(v) for gamma, v in pairs)

    def pool(self) -> None:
        """Set what stands for all groups."""
        self.log_u = float(np.logaddexp.reduce(self.log_us))
        self.sigma = -fsum(self.gammas) / len(self.gammas)


class GroupedFamily(Family[Stat]):
    """A family whose rows have their group as a last entry."""

    def __init__(self, rows: Family[Any], groups: int) -> None:
        self.rows, self.groups = rows, groups
        self.gammas: list[float] = []  # those of the chain

    @property
    def base(self) -> FloatArray:  # type: ignore[override]
        """The parameters of the base measure that are learned."""
        return self.rows.base

    def set_base(self, base: FloatArray) -> None:
        """Take on the parameters of the base measure."""
        self.rows.set_base(base)

    def update_base(self, stats: Any, stream: Stream) -> None:
        """Move the base measure, which does not know of groups."""
        self.rows.update_base([stat for stat, _ in stats], stream)

    def empty(self) -> Stat:
        """Return the statistic of no rows."""
        return self.rows.empty(), (0,) * self.groups

    def observe(self, stat: Stat, row: FloatArray) -> Stat:
        """Return the statistic with `row` added."""
        return self.rows.observe(stat[0], row[:-1]), self._counted(stat, row, 1)

    def forget(self, stat: Stat, row: FloatArray) -> Stat:
        """Return the statistic without `row`."""
        return self.rows.forget(stat[0], row[:-1]), self._counted(stat, row, -1)

    def merge(self, a: Stat, b: Stat) -> Stat:
        """Return the statistic of two disjoint sets together."""
        counts = tuple(m + n for m, n in zip(a[1], b[1], strict=True))
        return self.rows.merge(a[0], b[0]), counts

    def log_marginal(self, stat: Stat) -> float:
        """Return ``log P(X_k) prod_j Gamma(gamma_j + n_jk)/Gamma(gamma_j)``."""
        pairs = zip(self.gammas, stat[1], strict=True)
        return self.rows.log_marginal(stat[0]) + sum(lgamma(g + n) - lgamma(g) for g, n in pairs)

    def _counted(self, stat: Stat, row: FloatArray, by: int) -> tuple[int, ...]:
        return tuple(n + by * (j == int(row[-1])) for j, n in enumerate(stat[1]))


class _Grouped(GibbsChain):
    """What a chain with groups does otherwise; to come before the chain among the bases.

    Parameters
    ----------
    model, X, labels, rng, options
        As for the chain; the prior is one that has groups.
    groups : array of n integers
        The group of each row, from 0 on.
    """

    parameters: GroupParameters
    family: GroupedFamily

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        *,
        groups: IntArray,
        **options: Any,
    ) -> None:
        self.group_sizes: list[int] = np.bincount(groups).tolist()
        rows = np.column_stack([dense(X), groups])
        super().__init__(model, rows, labels, rng, **options)

    def _make_family(self) -> GroupedFamily:
        return GroupedFamily(super()._make_family(), len(self.group_sizes))

    @property
    def prior(self) -> Any:
        """The prior in plain Python, that of a finite mixture."""
        return twin_of(self.model.prior)

    @property
    def log_us(self) -> list[float]:
        """The log of each group's auxiliary variable."""
        return self.parameters.log_us

    def set_groups(self, log_us: Any, gammas: Any = None) -> None:
        """Set the values of the groups; to follow `set_state`."""
        self.parameters.log_us = [float(v) for v in log_us]
        every = [-self.parameters.sigma] * len(self.group_sizes)
        self.parameters.gammas = every if gammas is None else [float(g) for g in gammas]
        self.family.gammas = self.parameters.gammas

    # --- what the prior says: the rest of kappa is in the marginals

    def log_chi(self) -> float:
        """Return the log of ``prod_j tau_j^-gamma_j``."""
        return self.parameters.log_chi

    def log_old(self, size: int) -> float:
        del size
        return 0.0

    def log_new(self) -> float:
        return self.log_alpha + self.log_chi()

    def log_phi(self, size: int, stat: Any) -> float:
        del size
        return self.log_alpha + self.log_chi() + self.family.log_marginal(stat)

    def log_joint(self) -> float:
        p, total = self.parameters, exp(self.log_alpha) * expm1(self.log_chi())
        for n, v in zip(self.group_sizes, p.log_us, strict=True):
            total += (n - 1) * v - lgamma(n) - n * softplus(v)
        total -= self.prior.log_nonempty(self.log_alpha)
        return float(total) + sum(map(self.log_phi, self.sizes, self.stats))

    # --- the parameters

    def _start_parameters(self) -> GroupParameters:
        at = self.prior.start()
        gamma, jumps = -at.sigma, len(self.sizes) + exp(at.log_alpha)
        log_us = [log(n) - log(gamma * jumps) for n in self.group_sizes]
        gammas = [gamma] * len(log_us)
        p = GroupParameters(0.0, at.log_alpha, at.sigma, 0.0, log_us=log_us, gammas=gammas)
        self.parameters, self.family.gammas = p, p.gammas
        self._slice_log_us()
        p.pool()
        return p

    def _update_prior(self) -> None:
        p, rate = self.parameters, self.prior.rate
        law_mean = rate.shape / rate.rate if isinstance(rate, hyper.Gamma) else rate
        if len(self.group_sizes) > 1 and law_mean <= MANY_COMPONENTS:
            self._update_by_components()
            return
        self._slice_log_us()
        if not isinstance(self.prior.gamma, float):
            law = Law(self.prior.gamma, BOUNDS)
            everyone = list(range(len(p.gammas)))
            for those in [[j] for j in everyone] if self.prior.per_group else [everyone]:
                self._slice_gamma(law, those)
        if isinstance(rate, hyper.Gamma):
            draw = self.stream.log_gamma_draw(rate.shape + len(self.sizes))
            p.log_alpha = draw - log(rate.rate - expm1(self.log_chi()))
        p.pool()
        self.family.gammas = p.gammas

    def _update_by_components(self) -> None:
        p, rate, components = self.parameters, self.prior.rate, len(self.sizes)
        time, end = self.stream.exponential(), exp(self.log_alpha + self.log_chi())
        while time < end:
            components += 1
            time += self.stream.exponential()
        if not isinstance(self.prior.gamma, float):
            law = Law(self.prior.gamma, BOUNDS)
            everyone = list(range(len(p.gammas)))
            for those in [[j] for j in everyone] if self.prior.per_group else [everyone]:
                self._slice_gamma_given(components, law, those)
        if isinstance(rate, hyper.Gamma):
            draw = self.stream.log_gamma_draw(rate.shape + components)
            p.log_alpha = draw - log(rate.rate + 1)
        for j, n in enumerate(self.group_sizes):
            above = self.stream.log_gamma_draw(n)
            p.log_us[j] = above - self.stream.log_gamma_draw(components * p.gammas[j])
        p.pool()
        self.family.gammas = p.gammas

    def _slice_gamma_given(self, components: int, law: Law, those: list[int]) -> None:
        """Move the gamma that `those` groups have, given the number of components."""
        p = self.parameters
        counts = [stat[1][j] for stat in self.stats for j in those]
        sizes = [self.group_sizes[j] for j in those]

        def log_density(log_gamma: float) -> float:
            gamma = exp(log_gamma)
            growth = sum(lgamma(n + gamma) - lgamma(gamma) for n in counts)
            all_of_them = components * gamma
            growth -= sum(lgamma(all_of_them + n) - lgamma(all_of_them) for n in sizes)
            return law.log_density(log_gamma) + growth

        gamma = exp(self.stream.slice_line(log_density, log(p.gammas[those[0]]), 1.0))
        for j in those:
            p.gammas[j] = gamma

    def _slice_log_us(self) -> None:
        p, clusters = self.parameters, len(self.sizes)
        for j, n in enumerate(self.group_sizes):
            gamma, rest = p.gammas[j], self._log_chi_without([j])

            def log_density(
                v: float, n: int = n, gamma: float = gamma, rest: float = rest
            ) -> float:
                s = softplus(v)
                growth = -n * softplus(-v) - clusters * gamma * s
                return growth - self._mass_term(gamma * s - rest)

            p.log_us[j] = self.stream.slice_line(
                log_density, p.log_us[j], 3 + 2 / (clusters * gamma)
            )

    def _slice_gamma(self, law: Law, those: list[int]) -> None:
        """Move the gamma that `those` groups have."""
        p, clusters = self.parameters, len(self.sizes)
        s, rest = sum(softplus(p.log_us[j]) for j in those), self._log_chi_without(those)
        counts = [stat[1][j] for stat in self.stats for j in those]

        def log_density(log_gamma: float) -> float:
            gamma = exp(log_gamma)
            growth = sum(lgamma(n + gamma) - lgamma(gamma) for n in counts)
            growth -= clusters * gamma * s
            return law.log_density(log_gamma) + growth - self._mass_term(gamma * s - rest)

        gamma = exp(self.stream.slice_line(log_density, log(p.gammas[those[0]]), 1.0))
        for j in those:
            p.gammas[j] = gamma

    def _log_chi_without(self, those: list[int]) -> float:
        p = self.parameters
        others = [j for j in range(len(p.gammas)) if j not in those]
        return -sum(p.gammas[j] * softplus(p.log_us[j]) for j in others)

    def _mass_term(self, z: float) -> float:
        """Return ``rate (1 - e^-z)``, or ``(a+K) log(b + 1 - e^-z)``, the rate integrated out."""
        rate = self.prior.rate
        if isinstance(rate, hyper.Gamma):
            return (rate.shape + len(self.sizes)) * log(rate.rate - expm1(-z))
        return exp(self.log_alpha) * -expm1(-z)


class GroupedGibbsChain(_Grouped):
    """Gibbs."""


class GroupedSplitMergeChain(_Grouped, SplitMergeChain):
    """Split-merge, then Gibbs."""


class GroupedTreeChain(_Grouped, TreeChain):
    """Blocks of a guide tree, which does not know of groups."""
