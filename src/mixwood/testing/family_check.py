"""`check_family`: whether a conjugate family is right, in the core and in its twin."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.base import as_likelihood
from mixwood.reference.families import dense, family_of
from mixwood.testing.bases import TooManyParametersError
from mixwood.testing.predictives import check_atoms, check_predictives

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["FamilyReport", "check_family"]


class _Verbs(Protocol):
    """One family over the rows of a data set, the compiled one or the twin."""

    name: str

    def statistics(self, rows: Sequence[int]) -> Any:
        """Return the statistic of some rows."""

    def observe(self, stat: Any, row: int) -> Any:
        """Return the statistic with a row added."""

    def forget(self, stat: Any, row: int) -> Any:
        """Return the statistic without a row."""

    def merge(self, a: Any, b: Any) -> Any:
        """Return the statistic of two disjoint sets together."""

    def log_marginal(self, stat: Any) -> float:
        """Return the log marginal of a statistic."""

    def log_marginal_of_rows(self, rows: Sequence[int]) -> float:
        """Return the log marginal of some rows, computed directly."""


class _Twin:
    """The plain family, over rows by their number."""

    name = "twin"

    def __init__(self, likelihood: Likelihood, X: Data) -> None:
        self.family, self.X = family_of(likelihood), dense(X)

    def statistics(self, rows: Sequence[int]) -> Any:
        return self.family.of(self.X[list(rows)])

    def observe(self, stat: Any, row: int) -> Any:
        return self.family.observe(stat, self.X[row])

    def forget(self, stat: Any, row: int) -> Any:
        return self.family.forget(stat, self.X[row])

    def merge(self, a: Any, b: Any) -> Any:
        return self.family.merge(a, b)

    def log_marginal(self, stat: Any) -> float:
        return self.family.log_marginal(stat)

    def log_marginal_of_rows(self, rows: Sequence[int]) -> float:
        return self.log_marginal(self.statistics(rows))


class _Core:
    """The compiled family; its log marginals leave the constants of the rows out."""

    name = "compiled"

    def __init__(self, family: _core.Family) -> None:
        self.family = family

    def statistics(self, rows: Sequence[int]) -> FloatArray:
        return np.asarray(self.family.statistics(np.array(rows, dtype=np.int64)))

    def observe(self, stat: Any, row: int) -> Any:
        return self.family.observe(stat, row)

    def forget(self, stat: Any, row: int) -> Any:
        return self.family.forget(stat, row)

    def merge(self, a: Any, b: Any) -> Any:
        return self.family.merge(a, b)

    def log_marginal(self, stat: Any) -> float:
        return float(self.family.log_marginal_of(stat))

    def log_marginal_of_rows(self, rows: Sequence[int]) -> float:
        return float(self.family.log_marginal(np.array(rows, dtype=np.int64)))


@dataclass(frozen=True)
class FamilyReport:
    """What `check_family` has tried; it raises where something fails.

    Attributes
    ----------
    passed : tuple of str
        What was tried and holds.
    untried : tuple of str
        What was not tried, and why.
    """

    passed: tuple[str, ...]
    untried: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"ok         {line}" for line in self.passed]
        return "\n".join(lines + [f"not tried  {line}" for line in self.untried])


def check_family(
    likelihood: Likelihood,
    X: Any = None,
    *,
    support: Any = None,
    rtol: float = 1e-9,
    trials: int = 20,
    replicates: int = 1000,
    seed: Any = 0,
) -> FamilyReport:
    """Check that a conjugate family, perhaps one of your own, is right.

    Parameters
    ----------
    likelihood : Likelihood
        Open parameters are taken from `X`.
    X : array, optional
        At least 2 rows; drawn from the likelihood by default, if it can.
    support : {"real", "positive", "counts"}, (low, high), or array of shape (m, d), optional
        What a row can be: its one column a real or positive number, a count, or between two
        numbers; or a list of all rows there can be. With it, the predictives are integrated
        (or summed) and must give 1. No other check finds a marginal with a wrong constant.
    rtol : float
        How far two log marginals may differ, relative to their size (or to 1 if smaller).
    trials : int
        How many pairs of disjoint subsets are tried.
    replicates : int
        How many short chains over the first 4 rows, of `Gibbs` and, if parameters of clusters
        can be drawn, of `Slice`, are compared with the posterior by enumeration; 0 for none.
    seed : None, int, SeedSequence or Generator
        Chooses the subsets.

    Returns
    -------
    FamilyReport
        What was tried; print it.

    Raises
    ------
    AssertionError
        Naming the identity that fails, and in which of the two forms it does: the compiled
        one, or its twin in plain Python. A family without a twin in `mixwood.reference` is
        checked in its compiled form alone.

    Examples
    --------
    >>> import mixwood as mw
    >>> check_family(mw.Poisson(), [[0], [4], [2], [1]], support="counts")
    ok         order, merging, forgetting and ratios of marginals (compiled, twin)
    ok         rows against clusters: the core's scores are ratios of marginals
    ok         the compiled family is its twin plus the constants of the rows
    ok         predictives sum to 1 over the support
    ok         rows drawn from clusters follow the predictives
    ok         densities given drawn parameters average to the predictives
    ok         Gibbs chains leave the enumerated posterior as it is
    ok         Slice chains leave the enumerated posterior as it is
    """
    rng = np.random.default_rng(seed)
    if X is None:
        X = _drawn(likelihood, rng)
    resolved, checked = as_likelihood(likelihood).fitted_to(X)
    if checked.shape[0] < 2:
        raise ValueError(f"X must have at least 2 rows, got {checked.shape[0]}")
    core = _Core(resolved.bind(checked))
    both: list[_Verbs] = [core]
    with suppress(TypeError):
        both.append(_Twin(resolved, checked))
    for _ in range(trials):
        order = rng.permutation(checked.shape[0])[:12].tolist()
        cut = int(rng.integers(1, len(order)))
        for verbs in both:
            _check_identities(verbs, order[:cut], order[cut:], rtol)
        _check_scores(core, order[:cut], order[cut:], rtol)
        if len(both) == 2:
            constants = resolved.row_constants(checked)[order].sum()
            _assert_close(
                core.log_marginal_of_rows(order) + constants,
                both[1].log_marginal_of_rows(order),
                rtol,
                "the twin equals the compiled family plus the constants of the rows",
                order,
            )
    forms = ", ".join(verbs.name for verbs in both)
    passed = [
        f"order, merging, forgetting and ratios of marginals ({forms})",
        "rows against clusters: the core's scores are ratios of marginals",
    ]
    if len(both) == 1:
        return FamilyReport(tuple(passed), ("everything else: there is no twin in plain Python",))
    passed.append("the compiled family is its twin plus the constants of the rows")
    untried: list[str] = []
    check_predictives(resolved, checked, support, rng, passed, untried)
    samplers = ["gibbs"]
    if core.family.has_atoms and core.family.latent_size == 0:
        check_atoms(resolved, checked, rng)
        passed.append("densities given drawn parameters average to the predictives")
        samplers.append("slice")
    for sampler in samplers:
        _check_chains(resolved, checked, sampler, replicates, rng, passed, untried)
    return FamilyReport(tuple(passed), tuple(untried))


def _drawn(likelihood: Likelihood, rng: np.random.Generator) -> Data:
    """Return rows of three clusters, drawn from the prior."""
    standard = as_likelihood(likelihood).resolve_standard(likelihood.width or 1)
    try:
        return standard.simulate(np.arange(24) % 3, rng)
    except TypeError as error:
        raise TypeError(f"X must be given: {error}") from None


def _check_chains(
    resolved: Likelihood,
    X: Data,
    sampler: str,
    replicates: int,
    rng: np.random.Generator,
    passed: list[str],
    untried: list[str],
) -> None:
    """Check that compiled chains leave the posterior of a few rows as it is."""
    from mixwood.model import Mixture
    from mixwood.priors import DirichletProcess
    from mixwood.testing.goodness import goodness_of_fit

    what = f"{sampler.capitalize()} chains leave the enumerated posterior as it is"
    if replicates == 0:
        untried.append(f"{what}: replicates=0")
        return
    model = Mixture(resolved, DirichletProcess(alpha=1.0))
    try:
        result = goodness_of_fit(
            model, X[:4], sampler, replicates=replicates, iterations=3, seed=rng
        )
    except TooManyParametersError as error:
        untried.append(f"{what}: {error}")
        return
    if not result.passed():
        raise AssertionError(f"{what}: fails, {result}")
    passed.append(what)


def _check_identities(verbs: _Verbs, first: list[int], second: list[int], rtol: float) -> None:
    """Check one pair of disjoint sets of rows."""
    rows = first + second
    direct = verbs.log_marginal_of_rows(rows)
    whole = verbs.statistics(rows)

    def check(value: float, expected: float, identity: str) -> None:
        _assert_close(value, expected, rtol, f"{identity} ({verbs.name} family)", rows)

    check(verbs.log_marginal(verbs.statistics([])), 0.0, "an empty cluster has log marginal 0")
    check(verbs.log_marginal(whole), direct, "the log marginal is that of the statistic")
    backwards = verbs.log_marginal_of_rows(rows[::-1])
    check(backwards, direct, "the order of rows does not matter")
    merged = verbs.merge(verbs.statistics(first), verbs.statistics(second))
    check(verbs.log_marginal(merged), direct, "merging equals adding")
    stat, log_predictives = verbs.statistics([]), 0.0
    for row in rows:
        larger = verbs.observe(stat, row)
        log_predictives += verbs.log_marginal(larger) - verbs.log_marginal(stat)
        stat = larger
    check(log_predictives, direct, "log predictives are ratios of log marginals")
    for row in second:
        stat = verbs.forget(stat, row)
    expected = verbs.log_marginal_of_rows(first)
    check(verbs.log_marginal(stat), expected, "forgetting undoes observing")


def _assert_close(
    value: float, expected: float, rtol: float, identity: str, rows: list[int]
) -> None:
    if not abs(value - expected) <= rtol * max(1.0, abs(expected)):
        raise AssertionError(f"{identity}: fails for rows {rows}, {value!r} against {expected!r}")


def _check_scores(core: _Core, first: list[int], second: list[int], rtol: float) -> None:
    """Check what Gibbs sweeps compute against what the marginals say."""
    before = core.statistics(first)
    table = core.family.log_predictive_table(before[None], 0, core.family.n_rows)
    for row in second:
        expected = core.log_marginal(core.observe(before, row)) - core.log_marginal(before)
        what = "the score of a row against a cluster is a ratio of marginals"
        _assert_close(float(table[row, 0]), expected, rtol, f"{what} (row {row})", first)
