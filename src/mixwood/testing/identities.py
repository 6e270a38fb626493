"""The identities that every conjugate family obeys, checked in the core and in its twin."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from mixwood.families import Likelihood
from mixwood.families.base import Data, FloatArray, as_likelihood
from mixwood.reference.families import dense, family_of

__all__ = ["check_family"]


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

    def __init__(self, likelihood: Likelihood, X: Data) -> None:
        self.family = likelihood.bind(X)

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


def check_family(
    likelihood: Likelihood, X: Any, *, rtol: float = 1e-9, trials: int = 20, seed: Any = 0
) -> None:
    """Check the identities of a conjugate family on random subsets of the rows of `X`.

    Parameters
    ----------
    likelihood : Likelihood
        Open parameters are taken from `X`.
    X : array
        At least 2 rows.
    rtol : float
        How far two log marginals may differ, relative to their size (or to 1 if smaller).
    trials : int
        How many pairs of disjoint subsets are tried.
    seed : None, int, SeedSequence or Generator
        Chooses the subsets.

    Raises
    ------
    AssertionError
        Naming the identity that fails, and in which of the two it does. A family without a
        twin in `mixwood.reference` is checked in its compiled form alone.
    """
    checked = as_likelihood(likelihood).check(X)
    if checked.shape[0] < 2:
        raise ValueError(f"X must have at least 2 rows, got {checked.shape[0]}")
    resolved = likelihood.resolve(checked)
    core = _Core(resolved, checked)
    both: list[_Verbs] = [core]
    with suppress(TypeError):
        both.append(_Twin(resolved, checked))
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        order = rng.permutation(checked.shape[0])[:12].tolist()
        cut = int(rng.integers(1, len(order)))
        for verbs in both:
            _check_identities(verbs, order[:cut], order[cut:], rtol)
        if len(both) == 2:
            constants = resolved.row_constants(checked)[order].sum()
            _assert_close(
                core.log_marginal_of_rows(order) + constants,
                both[1].log_marginal_of_rows(order),
                rtol,
                "the twin equals the compiled family plus the constants of the rows",
                order,
            )


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
