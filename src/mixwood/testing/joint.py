"""The joint-distribution test of Geweke, with independent replicates (Gandy and Scott)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mixwood._support.checks import whole_number
from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods import Likelihood
from mixwood.model import Mixture
from mixwood.priors import Prior
from mixwood.reference.families import dense, family_of

__all__ = ["JointTest", "joint_distribution_test"]

#: one state: labels (n,) and the numbers log_u, log_alpha, sigma, theta
SingleState = dict[str, Any]

#: takes (model, data, state, generator) and returns the state some iterations later
Step = Callable[[Mixture, Data, SingleState, np.random.Generator], Mapping[str, Any]]


@dataclass(frozen=True)
class JointTest:
    """What `joint_distribution_test` found: a p-value for each function of the state."""

    p_values: Mapping[str, float]
    replicates: int

    def passed(self, level: float = 1e-6) -> bool:
        """Return whether no p-value is below `level`."""
        return min(self.p_values.values()) >= level


def joint_distribution_test(
    model: Mixture,
    n: int,
    sampler: Any = "gibbs",
    *,
    replicates: int = 2000,
    rounds: int = 5,
    iterations: int = 1,
    seed: Any = 0,
    step: Step | None = None,
) -> JointTest:
    """Test that alternating sampler and data leaves the joint prior as it is.

    Each replicate draws parameters, partition and data from the prior, then `rounds` times
    runs the sampler given the data and draws the data given the partition. If the sampler is
    right, the end has the same law as the beginning, so functions of the final states are
    compared with those of fresh draws from the prior: counts by a chi-square test of their
    contingency table, the others by a two-sample Kolmogorov-Smirnov test.

    Unlike enumeration, it reaches any `n`, and it sees the hyperparameters, too.

    Parameters
    ----------
    model : Mixture
        Its likelihood's parameters must be explicit: parameters taken from the data change
        when the data are redrawn. ``likelihood.resolve_standard(width)`` makes them so.
    n : int
        How many items.
    sampler : str or sampler
        What to test.
    replicates, rounds, iterations : int
        How many chains, rounds in each, and iterations of the sampler in a round.
    seed : None, int, SeedSequence or Generator
        Where the randomness comes from.
    step : callable, optional
        Used instead of the compiled `sampler`: takes (model, X, state, rng) and returns the
        state after some iterations; a state is a dict of ``labels``, ``log_u``,
        ``log_alpha``, ``sigma`` and ``theta``.

    Returns
    -------
    JointTest
    """
    _check_explicit(model.likelihood)
    whole_number(n, "n", at_least=1)
    rng = np.random.default_rng(seed)
    advance = step or _compiled_step(sampler, iterations)
    finals = []
    for start in _prior_states(model.prior, n, replicates, rng):
        state, X = start, model.likelihood.simulate(start["labels"], rng)
        for _ in range(rounds):
            state = {**state, **advance(model, X, state, rng)}
            labels = np.asarray(state["labels"], dtype=np.int64)
            X = model.likelihood.simulate(labels, rng)
        finals.append(_functions(model, X, state))
    fresh = [
        _functions(model, model.likelihood.simulate(state["labels"], rng), state)
        for state in _prior_states(model.prior, n, replicates, rng)
    ]
    p_values = {
        name: _compare(
            np.array([values[name] for values in finals]),
            np.array([values[name] for values in fresh]),
        )
        for name in fresh[0]
    }
    return JointTest(p_values, replicates)


def _check_explicit(likelihood: Likelihood) -> None:
    width = likelihood.width
    if width is None or likelihood.resolve_standard(width) != likelihood:
        raise ValueError(
            "model.likelihood must have every parameter explicit (redrawn data would change "
            f"the others), got {likelihood}; use likelihood.resolve_standard(width)"
        )


def _prior_states(prior: Prior, n: int, size: int, rng: np.random.Generator) -> list[SingleState]:
    draws = prior.draw(n, size, rng)
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")
    return [{name: getattr(draws, name)[i] for name in names} for i in range(size)]


def _compiled_step(sampler: Any, iterations: int) -> Step:
    def step(
        model: Mixture, X: Data, state: SingleState, rng: np.random.Generator
    ) -> Mapping[str, Any]:
        from mixwood.core import make_chain  # the compiled core: only when asked
        from mixwood.samplers import as_sampler

        labels = np.asarray(state["labels"], dtype=np.int32)
        values = [float(state[name]) for name in ("log_u", "log_alpha", "sigma", "theta")]
        one = np.zeros_like(labels)  # what a sampler learns and freezes must not see the state
        chain = make_chain(model, X, one, rng.bit_generator, as_sampler(sampler))
        chain.freeze()
        chain.set_state(labels, *values)
        chain.iterate(iterations)
        return chain.state()

    return step


def _functions(model: Mixture, X: Data, state: SingleState) -> dict[str, float | int]:
    """Return the functions of state and data that are compared."""
    prior = model.prior
    sizes = np.unique(state["labels"], return_counts=True)[1]
    values: dict[str, float | int] = {
        "n_clusters": len(sizes),
        "largest": int(sizes.max()),
        "log_u": float(state["log_u"]),
        "log_likelihood": _log_likelihood(model.likelihood, X, state["labels"]),
    }
    random = map(prior.core_name, prior.random_parameters)
    values |= {name: float(state[name]) for name in random}
    return values


def _log_likelihood(likelihood: Likelihood, X: Data, labels: NDArray[Any]) -> float:
    """Return ``sum_c log P(X_c)``."""
    try:
        family = family_of(likelihood)
    except TypeError:
        bound = likelihood.bind(X)
        parts = [bound.log_marginal(np.flatnonzero(labels == c)) for c in np.unique(labels)]
        return float(sum(parts) + likelihood.row_constants(X).sum())
    table = dense(X)
    return sum(family.log_marginal(family.of(table[labels == c])) for c in np.unique(labels))


def _compare(a: FloatArray, b: FloatArray) -> float:
    """Return the p-value of "same distribution": contingency table for counts, else KS."""
    if not np.issubdtype(a.dtype, np.integer):
        return float(stats.ks_2samp(a, b, method="asymp").pvalue)
    levels, joined = np.unique(np.concatenate([a, b]), return_inverse=True)
    table = np.stack(
        [
            np.bincount(joined[: len(a)], minlength=len(levels)),
            np.bincount(joined[len(a) :], minlength=len(levels)),
        ]
    )
    table = _pool_columns(table, least=50)
    return 1.0 if table.shape[1] < 2 else float(stats.chi2_contingency(table).pvalue)


def _pool_columns(table: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Join neighbouring columns until each holds at least `least` counts."""
    columns: list[NDArray[np.int64]] = []
    pending = np.zeros(2, dtype=np.int64)
    for column in table.T:
        pending = pending + column
        if pending.sum() >= least:
            columns.append(pending)
            pending = np.zeros(2, dtype=np.int64)
    if columns:
        columns[-1] = columns[-1] + pending
    return np.stack(columns or [pending], axis=1)
