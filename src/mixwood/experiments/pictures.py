"""The pictures: the data, and the log joint against time, averaged over repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixwood.experiments.protocol import Case, Experiment, Run
from mixwood.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mixwood._support.types import FloatArray, IntArray
    from mixwood.experiments.running import Results

__all__ = ["average_trace", "draw"]


def draw(experiment: Experiment, results: Results) -> dict[str, Figure]:
    """Return the pictures by name: `scatter` if there are points to show, and one per case."""
    pictures: dict[str, Figure] = {}
    if experiment.scatter is not None:
        pictures["scatter"], axes = _figure()
        _draw_scatter(axes, *experiment.scatter)
    for case in experiment.cases:
        pictures[case.name], axes = _figure()
        _draw_traces(axes, case, results[case.name])
    return pictures


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4, 3.8), layout="constrained")
    return figure, figure.subplots()


def _draw_scatter(axes: Axes, X: FloatArray, truth: IntArray) -> None:
    for k in range(int(truth.max()) + 1):
        members = truth == k
        axes.plot(X[members, 0], X[members, 1], ".", ms=2, color=COLOURS[k % len(COLOURS)])
    axes.set_title(f"{len(X):,} points, {int(truth.max()) + 1} clusters", fontsize=10)


def average_trace(runs: Sequence[Run], times: FloatArray) -> FloatArray:
    """Return the mean log joint over runs at `times`, each by its last state before then.

    Examples
    --------
    >>> run = Run({}, np.array([0.0, 1.0]), np.array([-9.0, -5.0]))
    >>> average_trace([run, run], np.array([0.5, 1.5]))
    array([-9., -5.])
    """
    states = [np.searchsorted(run.times, times, side="right") - 1 for run in runs]
    values = [run.log_joint[np.maximum(at, 0)] for run, at in zip(runs, states, strict=True)]
    return np.asarray(np.mean(values, axis=0))


def _draw_traces(axes: Axes, case: Case, runs: dict[str, list[Run]]) -> None:
    everything = [run for some in runs.values() for run in some]
    first = min(run.times[min(1, len(run.times) - 1)] for run in everything)
    last = max(run.times[-1] for run in everything)
    times = np.geomspace(max(first, 1e-4), last, 300)
    averages = {name: average_trace(some, times) for name, some in runs.items()}
    for k, (name, average) in enumerate(averages.items()):
        axes.plot(times, average, color=COLOURS[k % len(COLOURS)], lw=1.3, label=name)
    # The start is far below all that matters: show from where the slowest is after a while.
    best = max(float(average.max()) for average in averages.values())
    early = np.searchsorted(times, last / 30)
    worst = min(float(average[early]) for average in averages.values())
    room = max(best - worst, 1.0)
    axes.set(xscale="log", xlabel="CPU seconds", ylabel="mean log joint")
    axes.set_ylim(worst - 0.25 * room, best + 0.08 * room)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(case.title, fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="best")
