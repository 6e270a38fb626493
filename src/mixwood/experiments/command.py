"""`mixwood reproduce`: the paper's experiments from a terminal."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixwood._support.numbers import count, number

if TYPE_CHECKING:
    from mixwood.experiments.protocol import Budget, Experiment
    from mixwood.experiments.running import Results

__all__ = ["processor", "reproduce"]


class Name(StrEnum):
    """The experiments."""

    toy = "toy"
    tenk = "10k"
    nips = "nips"


def reproduce(
    name: Annotated[Name, typer.Argument(metavar="toy|10k|nips", help="Which experiment.")],
    quick: Annotated[bool, typer.Option("--quick", help="About a minute, to see it work.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As long as in the paper.")] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0.001, help="CPU seconds per run, instead of these.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats, instead of these.")] = None,
    folder: Annotated[
        Path, typer.Option(help="Where to write; runs that are there already are kept.")
    ] = Path("mixwood-reproduce"),
    data: Annotated[
        Path | None, typer.Option(help="The folder of the NIPS corpus (nips only).")
    ] = None,
) -> None:
    """Run one of the paper's experiments; show its table with the paper's figures next to ours.

    Runs are timed in CPU seconds of one thread, one after the other. An experiment that was
    interrupted continues where it stopped when it is started again with the same options.
    """
    from mixwood.experiments.running import run_experiment

    if quick and full:
        raise typer.BadParameter("give one of --quick and --full, not both")
    experiment = _experiment(name, data)
    budget = experiment.budgets["quick" if quick else "full" if full else "default"]
    budget = replace(budget, seconds=seconds or budget.seconds, repeats=repeats or budget.repeats)
    target = folder / experiment.name
    results = run_experiment(experiment, budget, target)
    _write(experiment, budget, results, target)


def _experiment(name: Name, data: Path | None) -> Experiment:
    from mixwood.experiments import nips, tenk, toy

    if name is not Name.nips:
        if data is not None:
            raise typer.BadParameter("--data is for nips only: the others make their data")
        return toy.experiment() if name is Name.toy else tenk.experiment()
    try:
        return nips.experiment(data)
    except FileNotFoundError as error:
        raise typer.BadParameter(str(error)) from None


def _write(experiment: Experiment, budget: Budget, results: Results, target: Path) -> None:
    """Write the tables and the picture, and show the tables."""
    from mixwood.experiments.pictures import draw
    from mixwood.experiments.table import markdown

    text = (
        f"# {experiment.title}\n\nFor each sampler {count('run', budget.repeats)} of "
        f"{number(budget.seconds)} CPU seconds, the first half as warm-up.\n{_conditions()}\n"
        "Mean (standard deviation) over runs; log r over all proposals.\n\n"
        + markdown(experiment.cases, results)
    )
    (target / "table.md").write_text(text, encoding="utf-8")
    summaries = {
        case: {arm: [run.summary for run in runs] for arm, runs in arms.items()}
        for case, arms in results.items()
    }
    (target / "summaries.json").write_text(json.dumps(summaries, indent=1) + "\n")
    pictures = draw(experiment, results)
    for picture, figure in pictures.items():
        figure.savefig(target / f"{picture}.png", dpi=110)
    typer.echo(text)
    names = ", ".join(f"{picture}.png" for picture in pictures)
    typer.echo(f"in {target}/: table.md, summaries.json, {names}")


def _conditions() -> str:
    from mixwood._support.versions import versions

    names = ", ".join(f"{key} {value}" for key, value in versions().items())
    return f"{datetime.now(UTC):%Y-%m-%d}, {processor()}, {names.replace('_', ' ')}."


def processor() -> str:
    """Return what the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
