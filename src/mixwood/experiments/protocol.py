"""What an experiment is made of, and one timed run of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood.core import make_chain
from mixwood.model import Mixture
from mixwood.samplers import Sampler

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray

__all__ = ["Arm", "Budget", "Case", "Experiment", "Run", "TimedChain", "timed_run"]

#: A trace is kept at this many times, evenly spaced on the logarithmic axis of the pictures.
TRACE_POINTS = 400


@dataclass(frozen=True)
class Arm:
    """A row of a table: a sampler, its name here, and its row in the paper if it has one."""

    name: str
    sampler: Sampler
    paper: str | None = None


@dataclass(frozen=True)
class Case:
    """A table: samplers on the same data, with the same model and from the same starts."""

    name: str
    title: str
    X: Data
    model: Mixture
    init: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True)
class Budget:
    """How long each run is, in CPU seconds of its thread, and how often it is repeated."""

    seconds: float
    repeats: int


@dataclass(frozen=True)
class Experiment:
    """An experiment: its tables, and its budgets by the names `quick`, `default` and `full`."""

    name: str
    title: str
    cases: tuple[Case, ...]
    budgets: dict[str, Budget]
    scatter: tuple[FloatArray, IntArray] | None = None


@dataclass(frozen=True)
class Run:
    """What is kept of one run.

    Parameters
    ----------
    summary : dict of str to float
        ``max_log_lik``, ``ess`` (of the number of clusters, second half of the run; NaN if that
        never changes), ``log_r`` and ``log_r_sd`` over ``proposals`` of splits and merges,
        ``seconds`` per iteration, ``iterations``, ``clusters`` (mean of the second half) and
        ``start_log_lik``.
    times, log_joint : array
        The trace: the log joint at some times, in CPU seconds.
    """

    summary: dict[str, float]
    times: FloatArray
    log_joint: FloatArray


@dataclass(repr=False)
class TimedChain:
    """A chain with a stopwatch: CPU seconds of this thread. Looking at it does not count.

    What the sampler prepares (a guide tree, the first trees) counts; the start does not: it
    is the same for all samplers.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = np.arange(6.0)[:, None]
    >>> model = Mixture(mw.Gaussian().resolve(X))
    >>> timed = TimedChain(model, X, np.zeros(6, np.int32), mw.Gibbs(), seed=1)
    >>> timed.iterate()
    >>> len(timed.times) == len(timed.log_joint) == len(timed.clusters) == 2
    True
    """

    model: Mixture
    X: Data
    labels: NDArray[np.int32]
    sampler: Sampler
    seed: int
    family: _core.Family | None = None
    times: list[float] = field(init=False)
    log_joint: list[float] = field(init=False)
    clusters: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._constant = float(np.sum(self.model.likelihood.row_constants(self.X)))
        self.times, self.log_joint, self.clusters = [], [], []
        self.seconds = 0.0
        began = time.thread_time()
        bits = np.random.PCG64(self.seed)
        self.chain = make_chain(self.model, self.X, self.labels, bits, self.sampler, self.family)
        self._look(time.thread_time() - began)

    def iterate(self) -> None:
        """Run one iteration and look at it."""
        began = time.thread_time()
        self.chain.iterate()
        self._look(time.thread_time() - began)

    def _look(self, spent: float) -> None:
        self.seconds += spent
        self.times.append(self.seconds)
        self.log_joint.append(self.chain.log_joint() + self._constant)
        self.clusters.append(self.chain.n_clusters)


def timed_run(
    timed: TimedChain, seconds: float, watch: Callable[[TimedChain], None] | None = None
) -> Run:
    """Run a chain until its `seconds` are over, the first half as warm-up.

    Parameters
    ----------
    timed : TimedChain
        At its start.
    seconds : float
        CPU seconds; at least two iterations run.
    watch : callable, optional
        Called with the chain after each iteration, off the clock.
    """
    warm = 0
    while timed.seconds < seconds or len(timed.times) < 3:
        timed.iterate()
        if not warm and timed.seconds >= seconds / 2:
            timed.chain.freeze()
            warm = len(timed.times)
        if watch is not None:
            watch(timed)
    second_half = np.array(timed.clusters[min(warm, len(timed.clusters) - 1) :], dtype=np.float64)
    iterations = len(timed.times) - 1
    summary = {
        "max_log_lik": max(timed.log_joint),
        "start_log_lik": timed.log_joint[0],
        "ess": effective_samples(second_half),
        "clusters": float(second_half.mean()),
        "iterations": float(iterations),
        "seconds": (timed.times[-1] - timed.times[0]) / iterations,
        **_log_ratios(timed.chain.reports()),
    }
    return Run(summary, *_thinned(np.array(timed.times), np.array(timed.log_joint)))


def effective_samples(values: FloatArray) -> float:
    """Return the effective sample size of one chain, NaN where it has none.

    Examples
    --------
    >>> effective_samples(np.ones(100))
    nan
    """
    if len(values) < 4 or np.all(values == values[0]):
        return float("nan")
    from mixwood.posterior.arviz import import_arviz

    return float(import_arviz().ess(values[None]))


def _log_ratios(reports: list[dict[str, Any]]) -> dict[str, float]:
    """Return mean and deviation of the log acceptance ratio over all splits and merges."""
    moves = [
        (report["proposed"], report["mean_log_ratio"], report["sd_log_ratio"])
        for report in reports
        if report["move"] in ("split", "merge") and np.isfinite(report["mean_log_ratio"])
    ]
    mean, deviation, proposals = pooled(moves)
    return {"log_r": mean, "log_r_sd": deviation, "proposals": proposals}


def pooled(groups: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Return mean, standard deviation and count of groups of (count, mean, deviation).

    Examples
    --------
    >>> pooled([(2, 1.0, 0.0), (2, 3.0, 0.0)])
    (2.0, 1.0, 4.0)
    """
    count = float(sum(group[0] for group in groups))
    if count == 0:
        return float("nan"), float("nan"), 0.0
    mean = sum(n * m for n, m, _ in groups) / count
    # A single proposal has no deviation of its own.
    squares = sum(n * (np.nan_to_num(sd) ** 2 + (m - mean) ** 2) for n, m, sd in groups)
    return float(mean), sqrt(squares / count), count


def _thinned(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the trace at `TRACE_POINTS` of its times, the first and the last among them."""
    if len(times) <= TRACE_POINTS:
        return times, values
    grid = np.geomspace(max(times[1], 1e-6), times[-1], TRACE_POINTS - 1)
    kept = np.unique(np.append(0, np.searchsorted(times, grid, side="right") - 1))
    return times[kept], values[kept]
