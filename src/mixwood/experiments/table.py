"""The tables, in the paper's layout: our figures with the paper's next to them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from mixwood.experiments.protocol import Arm, Case, Run, pooled

if TYPE_CHECKING:
    from mixwood.experiments.running import Results

__all__ = ["Figures", "figures", "markdown", "paper_figures"]

#: Mean and standard deviation of each of `COLUMNS`; a sampler without proposals has no log_r.
Figures = dict[str, tuple[float, float]]

COLUMNS = {"max_log_lik": "max log-lik", "ess": "ESS", "log_r": "log r", "seconds": "time / iter"}


def paper_figures() -> dict[str, dict[str, Figures]]:
    """Return the figures of the paper's tables: case, sampler, column, (mean, deviation).

    Examples
    --------
    >>> paper_figures()["nips"]["tgMCMC"]["max_log_lik"]
    (-4243009.35, 1101.0383)
    """
    text = files("mixwood.experiments").joinpath("paper.toml").read_text(encoding="utf-8")
    return {
        case: {
            sampler: {name: (pair[0], pair[1]) for name, pair in columns.items()}
            for sampler, columns in samplers.items()
        }
        for case, samplers in tomllib.loads(text).items()
    }


def figures(runs: Sequence[Run]) -> Figures:
    """Return mean and standard deviation over repeats; of log r over all proposals.

    The paper's deviations of log r are of the size of those over proposals, not over repeats.
    """
    found = {
        name: _mean_and_deviation([run.summary[name] for run in runs])
        for name in COLUMNS
        if name != "log_r"
    }
    mean, deviation, proposals = pooled(
        [
            (run.summary["proposals"], run.summary["log_r"], run.summary["log_r_sd"])
            for run in runs
            if run.summary["proposals"]
        ]
    )
    return found | ({"log_r": (mean, deviation)} if proposals else {})


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    known = np.array([value for value in values if np.isfinite(value)])
    if len(known) == 0:
        return float("nan"), float("nan")
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else float("nan")


def markdown(cases: Sequence[Case], results: Results) -> str:
    """Return a table for each case."""
    return "\n".join(_table(case, results[case.name]) for case in cases)


def _table(case: Case, runs: dict[str, list[Run]]) -> str:
    theirs = paper_figures().get(case.name, {})
    head = ["", *(title for title in COLUMNS.values())]
    if theirs:
        head = ["", *(cell for title in COLUMNS.values() for cell in (title, "paper"))]
    rows = [head, ["---"] * len(head)]
    rows += [_row(arm, figures(runs[arm.name]), theirs) for arm in case.arms]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    rows[1] = ["-" * width for width in widths]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([f"{case.title}\n", *lines, ""])


def _row(arm: Arm, ours: Figures, theirs: dict[str, Figures]) -> list[str]:
    cells = [arm.name]
    for name in COLUMNS:
        cells.append(_cell(name, ours))
        if theirs:
            cells.append(_cell(name, theirs.get(arm.paper or "", {})))
    return cells


def _cell(name: str, found: Figures) -> str:
    """Return "mean (deviation)"; a dash where there is nothing."""
    mean, deviation = found.get(name, (float("nan"), float("nan")))
    if not np.isfinite(mean):
        return "-"
    if name == "seconds":
        shown = [
            np.format_float_positional(value, digits, fractional=False, trim="-")
            for value, digits in ((mean, 3), (deviation, 2))
        ]
    else:
        shown = [f"{value:,.1f}" for value in (mean, deviation)]
    return f"{shown[0]} ({shown[1]})" if np.isfinite(deviation) else shown[0]
