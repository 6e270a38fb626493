"""All runs of an experiment: timed ones one after the other, their starts side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.numbers import count
from mixwood.core import bind_family
from mixwood.experiments.cache import RunCache, digest_of_data
from mixwood.experiments.protocol import Arm, Budget, Case, Experiment, Run, TimedChain, timed_run

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Results", "run_experiment"]

#: The runs of each case, by the names of its arms.
Results = dict[str, dict[str, list[Run]]]


class Display:
    """Progress: a bar over all CPU seconds on a terminal, a line for each run everywhere."""

    def __init__(self, runs: int, seconds: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._runs, self._done, self._seconds = runs, 0, seconds
        self._console = Console(file=sys.stderr, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=runs * seconds)

    @contextmanager
    def shown(self) -> Iterator[Display]:
        """Show the bar while the block runs."""
        with self._bar:
            yield self

    def advance(self, what: str, timed: TimedChain) -> None:
        """Tell how far the current run is."""
        done = self._done * self._seconds + min(timed.seconds, self._seconds)
        clusters = count("cluster", timed.clusters[-1])
        state = f"{what}: {clusters}, log joint {timed.log_joint[-1]:,.1f}"
        self._bar.update(self._task, completed=done, description=state)

    def finish(self, what: str, run: Run, cached: bool) -> None:
        """Tell that a run is done."""
        self._done += 1
        self._bar.update(self._task, completed=self._done * self._seconds)
        told = f"max log-lik {run.summary['max_log_lik']:,.1f}{' (kept)' if cached else ''}"
        self._console.print(f"{self._done}/{self._runs} {what}: {told}", soft_wrap=True)


def run_experiment(experiment: Experiment, budget: Budget, folder: Path) -> Results:
    """Run what is not in the folder's cache yet, and return all runs.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    budget : Budget
        CPU seconds of each run, and repeats.
    folder : path
        The runs are kept in its folder ``runs``.
    """
    cache = RunCache(folder / "runs")
    total = budget.repeats * sum(len(case.arms) for case in experiment.cases)
    with Display(total, budget.seconds).shown() as display:
        return {case.name: _run_case(case, budget, cache, display) for case in experiment.cases}


def _run_case(
    case: Case, budget: Budget, cache: RunCache, display: Display
) -> dict[str, list[Run]]:
    data = case.model.likelihood.check(case.X)
    prepared = replace(
        case, X=data, model=replace(case.model, likelihood=case.model.likelihood.resolve(data))
    )
    identities = {
        (seed, arm.name): _identity(case, digest_of_data(data), arm, seed, budget.seconds)
        for seed in range(budget.repeats)
        for arm in case.arms
    }
    known = {key: cache.read(identity) for key, identity in identities.items()}
    seeds = sorted({seed for (seed, _), run in known.items() if run is None})
    family = bind_family(prepared.model, data)
    starts = _starts(prepared, seeds, family)
    runs: dict[str, list[Run]] = {arm.name: [] for arm in case.arms}
    # Repeat after repeat, so that a machine that is busy for a while is busy for all samplers.
    for seed in range(budget.repeats):
        for arm in case.arms:
            what = f"{case.name}, {arm.name}, seed {seed}"
            identity = identities[seed, arm.name]
            # Asked again: another arm of this case may be the same run.
            run = known[seed, arm.name] or cache.read(identity)
            cached = run is not None
            if run is None:
                timed = TimedChain(prepared.model, data, starts[seed], arm.sampler, seed, family)
                run = timed_run(timed, budget.seconds, partial(display.advance, what))
                cache.write(identity, run)
            display.finish(what, run, cached)
            runs[arm.name].append(run)
    return runs


def _identity(case: Case, data: str, arm: Arm, seed: int, seconds: float) -> dict[str, Any]:
    """Return everything that decides what a run is."""
    from mixwood._support.versions import versions

    return {
        "data": data,
        "likelihood": repr(case.model.likelihood),
        "prior": repr(case.model.prior),
        "init": case.init,
        "sampler": repr(arm.sampler),
        "seed": seed,
        "seconds": seconds,
        **versions(),
    }


def _starts(case: Case, seeds: list[int], family: _core.Family) -> dict[int, NDArray[np.int32]]:
    """Return the partition that each repeat starts from, the same for all samplers."""
    from joblib import Parallel, delayed

    from mixwood.sampling.initial_partition import initial_labels

    made = Parallel(n_jobs=-1, prefer="threads")(
        delayed(initial_labels)(
            case.init, case.model, family, family.n_rows, np.random.SeedSequence(seed)
        )
        for seed in seeds
    )
    return dict(zip(seeds, made, strict=True))
