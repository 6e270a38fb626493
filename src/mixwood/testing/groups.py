"""The exact posterior over all partitions of a few rows that come in groups.

By the number of components M and not by ``u``, so that it shares nothing with the samplers: given M
and the gammas, each group's rows are Dirichlet-multinomial over M components, and a partition into
K clusters can be labelled in ``M!/(M-K)!`` ways::

    P(Pi | M) = M!/(M-K)! prod_j Gamma(M gamma_j)/Gamma(M gamma_j + n_j)
                          prod_k Gamma(gamma_j + n_jk)/Gamma(gamma_j)

A random rate given M is Gamma(a + M, b + 1), and M then negative binomial given M >= 1. Given
M, ``u_j`` is a Gamma(n_j) over a Gamma(M gamma_j).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln, logsumexp

from mixwood import hyper, priors
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray, IntArray
from mixwood.model import Mixture
from mixwood.testing.enumeration import ExactPosterior, enumerate_posterior
from mixwood.testing.goodness import FitTest, Run, chi_square, total_variation
from mixwood.testing.parameters.finite_mixture import gamma_axis_of

__all__ = ["GroupLaw", "GroupedPosterior", "enumerate_groups", "goodness_of_fit_of_groups"]

#: More components than this are not thought of: their probability must be tiny.
MOST_COMPONENTS = 200
#: Where every group has its own gamma, the grid has only every sixth point of an axis.
COARSER = 6


class GroupLaw:
    """The law of partitions of rows in groups, and of the parameters given one.

    Parameters
    ----------
    prior : Prior
        One that has groups.
    groups : array of n integers
        The group of each row, from 0 on.
    """

    def __init__(self, prior: Any, groups: IntArray) -> None:
        self.prior, self.groups = prior, groups
        self.sizes = np.bincount(groups)
        axis = gamma_axis_of(prior.gamma)
        several = prior.per_group and not isinstance(prior.gamma, float)
        every = COARSER if several else 1
        points = range(0, len(axis.value), every)
        places = list(product(points, repeat=len(self.sizes) if several else 1))
        index = np.broadcast_to(np.array(places), (len(places), len(self.sizes)))
        self.coordinate, self.to_value = axis.coordinate[index], axis.to_value
        self.gammas = axis.value[index]
        self.log_weight = (axis.log_weight[np.array(places)] + np.log(every)).sum(axis=1)
        self.step = 0.0 if axis.fixed else every * float(axis.coordinate[1] - axis.coordinate[0])
        self.several = several
        self.components = np.arange(1, MOST_COMPONENTS + 1)
        self._by_components: dict[int, FloatArray] = {}

    def _log_components(self) -> FloatArray:
        """Return the log probability of each number of components."""
        M, rate = self.components, self.prior.rate
        if isinstance(rate, hyper.Gamma):
            a, b = rate.shape, rate.rate
            log_p = stats.nbinom.logpmf(M, a, b / (b + 1))
            return np.asarray(log_p - np.log(-np.expm1(-a * np.log1p(1 / b))))
        return np.asarray(stats.poisson.logpmf(M, rate) - np.log(-np.expm1(-rate)))

    def table(self, clusters: int) -> FloatArray:
        """Return the log of what depends on K alone, gammas by components."""
        if clusters not in self._by_components:
            M = self.components
            ways = np.where(
                clusters <= M, gammaln(M + 1) - gammaln(np.maximum(M - clusters, 0) + 1), -np.inf
            )
            total = self.log_weight[:, None] + self._log_components() + ways
            for j, n in enumerate(self.sizes):
                alone = self.gammas[:, j, None] * M
                total = total + gammaln(alone) - gammaln(alone + n)
            self._by_components[clusters] = total
        return self._by_components[clusters]

    def log_counts(self, counts: IntArray) -> FloatArray:
        """Return the log of ``prod_jk Gamma(gamma_j + n_jk)/Gamma(gamma_j)`` along the gammas."""
        total = np.zeros(len(self.gammas))
        for j, k in zip(*np.nonzero(counts), strict=True):
            gamma = self.gammas[:, j]
            total = total + gammaln(gamma + counts[j, k]) - gammaln(gamma)
        return total

    def counts(self, labels: NDArray[Any]) -> IntArray:
        """Return how many rows of each group (rows) are in each cluster (columns)."""
        counts = np.zeros((len(self.sizes), int(labels.max()) + 1), dtype=np.int64)
        np.add.at(counts, (self.groups, labels), 1)
        return counts

    def log_probability(self, labels: NDArray[Any]) -> float:
        """Return the log probability of a partition."""
        counts = self.counts(labels)
        table = self.table(counts.shape[1])
        return float(logsumexp(table + self.log_counts(counts)[:, None]))

    def draw(
        self, labels: NDArray[Any], size: int, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Draw the parameters given a partition, `size` times."""
        counts = self.counts(labels)
        table = self.table(counts.shape[1]) + self.log_counts(counts)[:, None]
        masses = np.exp(table - table.max())
        place = rng.choice(len(masses), size=size, p=masses.sum(axis=1) / masses.sum())
        cumulative = np.cumsum(masses, axis=1)[place]
        column = (rng.random(size)[:, None] * cumulative[:, -1:] > cumulative).sum(axis=1)
        M = self.components[column].astype(np.float64)
        off = rng.uniform(-0.5, 0.5, (size, len(self.sizes) if self.several else 1)) * self.step
        gammas = self.gammas[place]
        if self.step > 0:
            gammas = np.asarray(self.to_value(self.coordinate[place] + off))
        rate = self.prior.rate
        log_alpha = np.full(size, np.log(rate) if isinstance(rate, float) else 0.0)
        if isinstance(rate, hyper.Gamma):
            log_alpha = log_gamma_draws(rate.shape + M, rng) - np.log(rate.rate + 1)
        above = log_gamma_draws(np.tile(self.sizes.astype(np.float64), (size, 1)), rng)
        log_us = above - log_gamma_draws(M[:, None] * gammas, rng)
        return {
            "log_u": np.logaddexp.reduce(log_us, axis=1),
            "log_alpha": log_alpha,
            "sigma": -gammas.mean(axis=1),
            "theta": np.zeros(size),
            "groups": np.column_stack([log_us, gammas]) if self.several else log_us,
        }


class GroupedPosterior:
    """The posterior over all partitions of a few rows in groups.

    Attributes
    ----------
    exact : ExactPosterior
        Its partitions, with their probabilities.
    law : GroupLaw
        The law of the parameters.
    """

    def __init__(self, exact: ExactPosterior, law: GroupLaw) -> None:
        self.exact, self.law = exact, law

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw states from the joint posterior of the partition and the parameters."""
        state = self.exact.draw(size, rng)
        state["groups"] = np.empty((size, len(self.law.sizes) * (1 + self.law.several)))
        index = self.exact.index_of(state["labels"])
        for k in np.unique(index):
            chosen = np.flatnonzero(index == k)
            drawn = self.law.draw(self.exact.partitions[k], len(chosen), rng)
            for name, values in drawn.items():
                state[name][chosen] = values
        return state


def enumerate_groups(model: Mixture, X: Any, groups: Sequence[int]) -> GroupedPosterior:
    """Compute the posterior probability of every partition of the rows of `X`.

    Parameters
    ----------
    model : Mixture
        Its prior is one that has groups.
    X : array
        At most 8 rows, as for `enumerate_posterior`.
    groups : sequence of n integers
        The group of each row, from 0 on.

    Examples
    --------
    >>> from mixwood.likelihoods import Bernoulli
    >>> model = Mixture(Bernoulli(a=1, b=1), priors.FiniteMixture(rate=2.0, gamma=1.0))
    >>> enumerate_groups(model, [[0], [1]], [0, 1]).exact.probabilities.round(3).tolist()
    [0.476, 0.524]
    """
    prior = model.prior.for_groups(len(np.unique(groups)))
    law = GroupLaw(prior, np.asarray(groups))
    # Any prior has the same likelihoods: one that costs nothing, divided out again.
    plain = enumerate_posterior(replace(model, prior=priors.DirichletProcess(1.0)), X)
    log_plain = np.array([plain.parameters.log_probability(sizes) for sizes in plain.shapes])
    with np.errstate(divide="ignore"):
        log_joint = np.log(plain.probabilities) - log_plain[plain.shape_of]
    log_joint = log_joint + [law.log_probability(labels) for labels in plain.partitions]
    probabilities = np.exp(log_joint - logsumexp(log_joint))
    exact = replace(
        plain,
        probabilities=probabilities / probabilities.sum(),
        log_evidence=plain.log_evidence + float(logsumexp(log_joint)),
        model=replace(plain.model, prior=prior),
    )
    return GroupedPosterior(exact, law)


def goodness_of_fit_of_groups(
    model: Mixture,
    X: Any,
    groups: Sequence[int],
    sampler: Any = "gibbs",
    *,
    replicates: int = 20_000,
    iterations: int = 5,
    seed: Any = 0,
    run: Run | None = None,
) -> FitTest:
    """Test that a sampler leaves the exact posterior of rows in groups as it is.

    As `goodness_of_fit`; the parameters at the end are compared with fresh exact draws.

    Parameters
    ----------
    model, X, sampler, replicates, iterations, seed, run
        As in `goodness_of_fit`.
    groups : sequence of n integers
        The group of each row, from 0 on.

    Returns
    -------
    FitTest
    """
    rng = np.random.default_rng(seed)
    posterior = enumerate_groups(model, X, groups)
    exact, fresh = posterior.exact, posterior.draw(replicates, rng)
    starts = posterior.draw(replicates, rng)
    finals = (run or _compiled_run(exact, X, posterior.law.groups, sampler, iterations))(
        starts, rng
    )
    counts = np.bincount(exact.index_of(finals["labels"]), minlength=len(exact.partitions))
    return FitTest(
        p_value=chi_square(counts.astype(np.float64), exact.probabilities),
        parameter_p_values={
            name: float(stats.ks_2samp(now, then).pvalue)
            for name, now, then in _columns(posterior.law, finals, fresh)
        },
        total_variation=total_variation(counts / replicates, exact.probabilities),
        expected_noise=float(
            np.sum(np.sqrt(exact.probabilities)) / np.sqrt(2 * np.pi * replicates)
        ),
        replicates=replicates,
    )


def _columns(law: GroupLaw, *states: Any) -> list[tuple[Any, ...]]:
    """Return each random number of some states, with its name."""
    names = []
    if isinstance(law.prior.rate, hyper.Gamma):
        names.append("log_alpha")
    if law.step > 0:
        names.append("sigma")
    found = [(name, *(np.asarray(state[name]) for state in states)) for name in names]
    every = range(len(law.sizes) * (1 + law.several))
    return found + [
        (f"groups {j}", *(np.asarray(state["groups"])[:, j] for state in states)) for j in every
    ]


def _compiled_run(
    exact: ExactPosterior, X: Any, groups: IntArray, sampler: Any, iterations: int
) -> Run:
    def run(starts: dict[str, NDArray[Any]], rng: np.random.Generator) -> Any:
        from mixwood.core import make_chain  # the compiled core: only when asked
        from mixwood.samplers import as_sampler

        checked, labels = exact.model.likelihood.check(X), starts["labels"]
        chain = make_chain(
            exact.model, checked, labels[0], rng.bit_generator, as_sampler(sampler), groups=groups
        )
        chain.freeze()
        values = {name: starts[name] for name in starts if name != "labels"}
        return chain.replicate(labels, **values, iterations=iterations)

    return run
