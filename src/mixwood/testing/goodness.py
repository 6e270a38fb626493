"""Goodness of fit of a sampler to the exact posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mixwood._support.checks import whole_number
from mixwood._support.types import FloatArray
from mixwood.model import Mixture
from mixwood.testing.enumeration import ExactPosterior, enumerate_posterior
from mixwood.testing.parameters import State

__all__ = [
    "FitTest",
    "LongChainTest",
    "Run",
    "chi_square",
    "goodness_of_fit",
    "long_chain_test",
    "total_variation",
]

#: takes exact starts and a Generator, returns final states in the same form
Run = Callable[[dict[str, NDArray[Any]], np.random.Generator], State]

#: takes labels to start from and a Generator, returns an array (draws, n) of labels in turn
RunLong = Callable[[NDArray[np.int32], np.random.Generator], NDArray[Any]]


@dataclass(frozen=True)
class FitTest:
    """What `goodness_of_fit` found.

    Attributes
    ----------
    p_value : float
        Of the chi-square test on partitions, cells of expected count below 25 pooled.
    parameter_p_values : dict
        Of Kolmogorov-Smirnov tests on the random parameters given the partition.
    total_variation : float
        Between the frequencies and the exact probabilities.
    expected_noise : float
        What that distance is for independent exact draws, ``sum sqrt(p) / sqrt(2 pi N)``.
    replicates : int
    """

    p_value: float
    parameter_p_values: Mapping[str, float]
    total_variation: float
    expected_noise: float
    replicates: int

    def passed(self, level: float = 1e-6) -> bool:
        """Return whether no p-value is below `level`."""
        return min(self.p_value, *self.parameter_p_values.values()) >= level


@dataclass(frozen=True)
class LongChainTest:
    """What `long_chain_test` found.

    Attributes
    ----------
    p_value : float
        Smallest p-value over cells of a t-test on batch means, times the number of cells.
    total_variation : float
        Between the frequencies of the chain and the exact probabilities.
    never_visited : float
        Exact probability of the partitions that the chain never saw.
    draws : int
    """

    p_value: float
    total_variation: float
    never_visited: float
    draws: int

    def passed(self, level: float = 1e-6) -> bool:
        """Return whether the p-value is not below `level`."""
        return self.p_value >= level


def _pooled_cells(probabilities: FloatArray, least: float) -> tuple[NDArray[np.int64], int]:
    """Return the cell of each partition and how many cells: those below `least` share one."""
    small = probabilities < least
    cells = np.cumsum(~small) - 1
    count = int(np.sum(~small))
    if small.any():
        if count and probabilities[small].sum() < least:  # too little together: join another
            cells[small] = cells[np.where(small, np.inf, probabilities).argmin()]
        else:
            cells[small] = count
            count += 1
    return np.asarray(cells, dtype=np.int64), count


def chi_square(counts: FloatArray, probabilities: FloatArray) -> float:
    """Return the p-value of counts, cells of expected count below 25 pooled."""
    total = counts.sum()
    cells, number = _pooled_cells(probabilities, 25 / total)
    if number < 2:
        return 1.0
    observed = np.bincount(cells, counts, number)
    expected = total * np.bincount(cells, probabilities, number)
    statistic = np.sum((observed - expected) ** 2 / expected)
    return float(stats.chi2.sf(statistic, number - 1))


def goodness_of_fit(
    model: Mixture,
    X: Any,
    sampler: Any = "gibbs",
    *,
    replicates: int = 60_000,
    iterations: int = 20,
    seed: Any = 0,
    blocks: Sequence[Sequence[int]] = (),
    apart: Sequence[int] = (),
    run: Run | None = None,
) -> FitTest:
    """Test that a sampler leaves the exact posterior as it is.

    Each replicate starts from an exact draw of the partition and the parameters, runs
    `iterations` times, and only its last state is kept. Replicates are independent and, if
    the sampler is right, exact again: there is no autocorrelation to account for.

    Parameters
    ----------
    model : Mixture
        The model.
    X : array
        At most 8 rows.
    sampler : str or sampler
        What to test.
    replicates, iterations : int
        How many chains, and how long each is.
    seed : None, int, SeedSequence or Generator
        Where the randomness comes from.
    blocks : sequence of sequences of int
        Rows that stay together: the posterior is taken given that.
    apart : sequence of int
        Rows of which no two are together: likewise.
    run : callable, optional
        Used instead of the compiled `sampler`: takes starts (a dict of ``labels`` (N, n) and
        ``log_u``, ``log_alpha``, ``sigma``, ``theta`` (N,), ``base`` (N, base_size) where the
        base measure is learned, ``latent`` where entries are missing) and a Generator, and
        returns the final states in the same form.

    Returns
    -------
    FitTest

    Examples
    --------
    >>> from mixwood.likelihoods import Bernoulli
    >>> stay = goodness_of_fit(Mixture(Bernoulli()), [[0], [1], [1]], replicates=1000,
    ...                        run=lambda starts, rng: starts)
    >>> stay.passed()
    True
    """
    whole_number(replicates, "replicates", at_least=1)
    whole_number(iterations, "iterations", at_least=1)
    rng = np.random.default_rng(seed)
    exact = enumerate_posterior(model, X).restricted(blocks, apart)
    starts = exact.draw(replicates, rng)
    finals = (run or _compiled_run(exact, X, sampler, iterations))(starts, rng)
    counts = np.bincount(exact.index_of(finals["labels"]), minlength=len(exact.partitions))
    transforms = exact.parameter_cdf(finals)
    return FitTest(
        p_value=chi_square(counts.astype(np.float64), exact.probabilities),
        parameter_p_values={
            name: float(stats.kstest(values, "uniform").pvalue)
            for name, values in transforms.items()
        },
        total_variation=total_variation(counts / replicates, exact.probabilities),
        expected_noise=float(
            np.sum(np.sqrt(exact.probabilities)) / np.sqrt(2 * np.pi * replicates)
        ),
        replicates=replicates,
    )


def total_variation(frequencies: FloatArray, probabilities: FloatArray) -> float:
    """Return the distance of two laws over the same cells."""
    return float(np.abs(frequencies - probabilities).sum() / 2)


def _compiled_run(exact: ExactPosterior, X: Any, sampler: Any, iterations: int) -> Run:
    def run(starts: dict[str, NDArray[Any]], rng: np.random.Generator) -> State:
        from mixwood.core import make_chain  # the compiled core: only when asked
        from mixwood.samplers import as_sampler

        checked, labels = exact.model.likelihood.check(X), starts["labels"]
        bits = rng.bit_generator
        chain = make_chain(exact.model, checked, labels[0], bits, as_sampler(sampler))
        chain.freeze()
        names = ("log_u", "log_alpha", "sigma", "theta", "base", "latent")
        values = {name: starts[name] for name in names if name in starts}
        return chain.replicate(labels, **values, iterations=iterations)

    return run


def long_chain_test(
    model: Mixture,
    X: Any,
    sampler: Any = "gibbs",
    *,
    start: str = "one",
    batches: int = 64,
    batch_draws: int = 400,
    thin: int = 5,
    seed: Any = 0,
    blocks: Sequence[Sequence[int]] = (),
    apart: Sequence[int] = (),
    run: RunLong | None = None,
) -> LongChainTest:
    """Test that one long chain from a bad start finds the exact posterior.

    An exact start cannot show a chain that is not irreducible; this can. After a warm-up of
    one batch, the frequency of each partition is averaged over `batches` batches. Batches
    much longer than the chain's memory are nearly independent and nearly normal, so their
    mean is compared with the exact probability by a t-test, cell by cell, and the smallest
    p-value is multiplied by the number of cells. Partitions expected fewer than 25 times
    per batch are pooled.

    Parameters
    ----------
    model, X, sampler, seed, blocks, apart
        As in `goodness_of_fit`.
    start : {"one", "singletons"}
        Where the chain starts.
    batches, batch_draws, thin : int
        How many batches, draws in each, and iterations between draws.
    run : callable, optional
        Used instead of the compiled `sampler`: takes the labels of the start and a
        Generator, and returns the labels of ``(batches + 1) * batch_draws`` draws.

    Returns
    -------
    LongChainTest
    """
    if start not in ("one", "singletons"):
        raise ValueError(f"start must be 'one' or 'singletons', got {start!r}")
    rng = np.random.default_rng(seed)
    exact = enumerate_posterior(model, X).restricted(blocks, apart)
    n = exact.partitions.shape[1]
    labels = np.zeros(n, np.int32) if start == "one" else np.arange(n, dtype=np.int32)
    draws = (batches + 1) * batch_draws
    history = (run or _compiled_chain(exact, X, sampler, draws, thin))(labels, rng)
    index = exact.index_of(np.asarray(history)[batch_draws:])
    cells, number = _pooled_cells(exact.probabilities, 25 / batch_draws)
    batch_of = np.repeat(np.arange(batches), batch_draws)
    table = np.zeros((batches, number))
    np.add.at(table, (batch_of, cells[index]), 1 / batch_draws)
    expected = np.asarray(np.bincount(cells, exact.probabilities, number), dtype=np.float64)
    counts = np.bincount(index, minlength=len(cells))
    return LongChainTest(
        p_value=_smallest_p_value(table, expected),
        total_variation=total_variation(counts / counts.sum(), exact.probabilities),
        never_visited=float(exact.probabilities[counts == 0].sum()),
        draws=len(index),
    )


def _smallest_p_value(table: FloatArray, expected: FloatArray) -> float:
    """Return the smallest p-value of a t-test on each column's mean, times the columns."""
    if len(expected) < 2:
        return 1.0
    error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    difference = np.abs(table.mean(axis=0) - expected)
    # a cell that never varies, always or never visited, has no error but is still wrong
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference > 0, difference / error, 0.0)
    p_values = 2 * stats.t.sf(t, len(table) - 1)
    return float(min(1.0, p_values.min() * len(expected)))


def _compiled_chain(exact: ExactPosterior, X: Any, sampler: Any, draws: int, thin: int) -> RunLong:
    def run(labels: NDArray[np.int32], rng: np.random.Generator) -> NDArray[Any]:
        from mixwood.core import make_chain  # the compiled core: only when asked
        from mixwood.samplers import as_sampler

        checked, bits = exact.model.likelihood.check(X), rng.bit_generator
        chain = make_chain(exact.model, checked, labels, bits, as_sampler(sampler))
        chain.freeze()
        history = np.empty((draws, len(labels)), dtype=np.int32)
        for row in history:
            chain.iterate(thin)
            row[:] = chain.state()["labels"]
        return history

    return run
