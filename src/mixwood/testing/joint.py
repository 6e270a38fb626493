"""The joint-distribution test of Geweke, with independent replicates (Gandy and Scott)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mixwood._support.checks import whole_number
from mixwood._support.labels import in_order_of_appearance
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods import Likelihood
from mixwood.model import Mixture
from mixwood.priors import DirichletProcess
from mixwood.reference.families import Family, dense, family_of
from mixwood.testing.base_functions import RELATION, base_functions

__all__ = ["JointTest", "base_update_test", "joint_distribution_test"]

#: one state: labels (n,), the numbers log_u, log_alpha, sigma, theta, base (base_size,), and latent
SingleState = dict[str, Any]

#: takes (model, data, state, generator) and returns the state some iterations later
Step = Callable[[Mixture, Data, SingleState, np.random.Generator], Mapping[str, Any]]

#: takes (likelihood, data, labels, base, generator) and returns the base after an update
BaseStep = Callable[[Likelihood, Data, IntArray, FloatArray, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class JointTest:
    """What a test found: a p-value for each function of state and data that was compared."""

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
    missing: Any = None,
) -> JointTest:
    """Test that alternating sampler and data leaves the joint prior as it is.

    Each replicate draws parameters, partition and data from the prior, then `rounds` times
    runs the sampler given the data and draws the data given the partition. If the sampler is
    right, the end has the same law as the beginning, so functions of the final states are
    compared with those of fresh draws from the prior: counts by a chi-square test of their
    contingency table, the others by a two-sample Kolmogorov-Smirnov test.

    Unlike enumeration, it reaches any `n`, and it sees the hyperparameters, too. A base measure
    that is learned is drawn from its hyperprior, and is part of the state.

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
        ``log_alpha``, ``sigma``, ``theta`` and ``base``, and of ``latent`` with `missing` or
        where rows have scales.
    missing : bool array of shape (n, d), optional
        Entries that the sampler does not see, and has to draw: it begins at the true ones. In the
        end the data are those that it has completed.

    Returns
    -------
    JointTest
    """
    _check_explicit(model.likelihood)
    whole_number(n, "n", at_least=1)
    rng = np.random.default_rng(seed)
    advance = step or _compiled_step(sampler, iterations)
    finals = []
    for start in _prior_states(model, n, replicates, rng):
        X, state = _data(model.likelihood, start, rng)
        for left in reversed(range(rounds)):
            if missing is not None:
                X, state = _hidden(model.likelihood, X, missing, state)
            state = {**state, **advance(model, X, state, rng)}
            if "latent" not in state or left > 0:
                X, state = _data(model.likelihood, state, rng)
            elif missing is not None:
                X = _completed(model.likelihood, X, state)
                del state["latent"]  # they are in X now
        finals.append(_functions(model, X, state))
    fresh = [
        _functions(model, *_data(model.likelihood, state, rng))
        for state in _prior_states(model, n, replicates, rng)
    ]
    return _compared(finals, fresh)


def base_update_test(
    likelihood: Likelihood,
    labels: Any,
    *,
    replicates: int = 2000,
    applications: int = 3,
    seed: Any = 0,
    update: BaseStep | None = None,
) -> JointTest:
    """Test the update of a learned base measure alone, for a partition that stays.

    Each replicate draws a base measure from its hyperprior and data given that, then updates
    the base measure `applications` times given the data. If the update is right, base and data
    have the law that they had, so functions of both are compared with those of fresh pairs. The
    data are not drawn again, or what the base has to do with them would be forgotten.

    Parameters
    ----------
    likelihood : Likelihood
        With every parameter explicit, as in `joint_distribution_test`.
    labels : array of n integers
        The cluster of each row.
    replicates, applications : int
        How many data sets, and updates with each.
    seed : None, int, SeedSequence or Generator
        Where the randomness comes from.
    update : callable, optional
        Used instead of the compiled update: takes (likelihood, X, labels, base, rng) and returns
        the base after one update.

    Returns
    -------
    JointTest
    """
    _check_explicit(likelihood)
    labels, rng = in_order_of_appearance(labels), np.random.default_rng(seed)

    def functions(updates: int) -> list[dict[str, float | int]]:
        found = []
        for _ in range(replicates):
            base = likelihood.draw_base(rng)
            X = likelihood.simulate(labels, rng, base)
            if update is None and updates:
                base = _compiled_updates(likelihood, X, labels, base, rng, updates)
            elif update is not None:
                for _ in range(updates):
                    base = update(likelihood, X, labels, base, rng)
            found.append(_data_functions(likelihood, X, labels, base))
        return found

    return _compared(functions(applications), functions(0))


def _compared(
    finals: Sequence[Mapping[str, float | int]], fresh: Sequence[Mapping[str, float | int]]
) -> JointTest:
    p_values = {}
    for name in fresh[0]:
        a, b = (np.array([values[name] for values in part]) for part in (finals, fresh))
        relation = name.endswith(RELATION)
        p_values[name] = _compare_means(a, b) if relation else _compare(a, b)
    return JointTest(p_values, len(finals))


def _data(
    likelihood: Likelihood, state: SingleState, rng: np.random.Generator
) -> tuple[Data, SingleState]:
    """Draw rows, and with them latent numbers that belong to them, given the rest of a state."""
    labels = np.asarray(state["labels"], dtype=np.int64)
    X, latent = likelihood.simulate_with_latent(labels, rng, state["base"])
    others = {name: value for name, value in state.items() if name != "latent"}
    return X, {**others, "latent": latent} if len(latent) else others


def _hidden(
    likelihood: Likelihood, X: Data, missing: Any, state: SingleState
) -> tuple[FloatArray, SingleState]:
    """Return rows with entries missing, and the state with those in the core's units."""
    whole = dense(X)
    hidden = np.where(missing, np.nan, whole)
    rows, columns = likelihood.missing_entries(hidden)
    zero = likelihood.drawn_entries(hidden, np.zeros(len(rows)))
    unit = likelihood.drawn_entries(hidden, np.ones(len(rows))) - zero
    return hidden, {**state, "latent": (whole[rows, columns] - zero) / unit}


def _completed(likelihood: Likelihood, X: Data, state: SingleState) -> FloatArray:
    whole = np.array(X)
    whole[likelihood.missing_entries(X)] = likelihood.drawn_entries(X, state["latent"])
    return whole


def _check_explicit(likelihood: Likelihood) -> None:
    width = likelihood.width
    if width is None or likelihood.resolve_standard(width) != likelihood:
        raise ValueError(
            "model.likelihood must have every parameter explicit (redrawn data would change "
            f"the others), got {likelihood}; use likelihood.resolve_standard(width)"
        )


def _prior_states(model: Mixture, n: int, size: int, rng: np.random.Generator) -> list[SingleState]:
    draws = model.prior.draw(n, size, rng)
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")
    states = [{name: getattr(draws, name)[i] for name in names} for i in range(size)]
    return [{**state, "base": model.likelihood.draw_base(rng)} for state in states]


def _compiled_step(sampler: Any, iterations: int) -> Step:
    def step(
        model: Mixture, X: Data, state: SingleState, rng: np.random.Generator
    ) -> Mapping[str, Any]:
        from mixwood.core import make_chain  # the compiled core: only when asked
        from mixwood.samplers import as_sampler

        labels = np.asarray(state["labels"], dtype=np.int32)
        log_u, log_alpha, sigma, theta = (
            float(state[name]) for name in ("log_u", "log_alpha", "sigma", "theta")
        )
        one = np.zeros_like(labels)  # what a sampler learns and freezes must not see the state
        chain = make_chain(model, X, one, rng.bit_generator, as_sampler(sampler))
        chain.freeze()
        chain.set_state(labels, log_u, log_alpha, sigma, theta)
        chain.set_base(state["base"])
        if "latent" in state:
            chain.set_latent(state["latent"])
        chain.iterate(iterations)
        return chain.state()

    return step


def _compiled_updates(
    likelihood: Likelihood,
    X: Data,
    labels: IntArray,
    base: FloatArray,
    rng: np.random.Generator,
    updates: int,
) -> FloatArray:
    from mixwood.core import make_chain  # the compiled core: only when asked
    from mixwood.samplers import Gibbs

    model = Mixture(likelihood, DirichletProcess(1.0))
    chain = make_chain(model, X, labels.astype(np.int32), rng.bit_generator, Gibbs())
    chain.set_base(base)
    chain.update_base(updates)
    return np.asarray(chain.state()["base"])


def _functions(model: Mixture, X: Data, state: SingleState) -> dict[str, float | int]:
    """Return the functions of state and data that are compared."""
    prior = model.prior
    sizes = np.unique(state["labels"], return_counts=True)[1]
    values: dict[str, float | int] = {
        "n_clusters": len(sizes),
        "largest": int(sizes.max()),
        "log_u": float(state["log_u"]),
    }
    random = map(prior.core_name, prior.random_parameters)
    values |= {name: float(state[name]) for name in random}
    latent = state.get("latent", np.empty(0))
    return values | _data_functions(model.likelihood, X, state["labels"], state["base"], latent)


def _data_functions(
    likelihood: Likelihood,
    X: Data,
    labels: NDArray[Any],
    base: FloatArray,
    latent: FloatArray = np.empty(0),  # noqa: B008
) -> dict[str, float | int]:
    """Return ``sum_c log P(X_c)``, and functions of a learned base measure and the data."""
    clusters = np.unique(labels)
    try:
        family = family_of(likelihood)
    except TypeError:
        bound = likelihood.bind(X)
        parts = [bound.log_marginal(np.flatnonzero(labels == c)) for c in clusters]
        return {"log_likelihood": float(sum(parts) + likelihood.row_constants(X).sum())}
    family.set_base(base)
    table, of_scales = _with_scales(family, dense(X), latent)
    stats = [family.of(table[labels == c]) for c in clusters]
    log_likelihood = sum(family.log_marginal(stat) for stat in stats)
    return {"log_likelihood": log_likelihood, **of_scales, **base_functions(family, stats)}


def _with_scales(
    family: Family[Any], X: FloatArray, latent: FloatArray
) -> tuple[FloatArray, dict[str, float]]:
    """Return rows with what was drawn for them, and functions of their scales if they have some."""
    rows = family.with_latent(X, np.arange(len(X)))
    if len(latent) == 0:
        return rows, {}
    zero, unit = family.latent_units(rows)
    places = family.latent_places(rows)
    rows[places] = zero + unit * latent
    logs = np.log(latent[places[1] >= X.shape[1]])  # what is no entry of a row is a scale
    if len(logs) == 0:
        return rows, {}
    return rows, {"least scale": float(logs.min()), "mean log scale": float(logs.mean())}


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


def _compare_means(a: FloatArray, b: FloatArray) -> float:
    """Return the p-value of "same mean", by the t-test of Welch."""
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue)


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
