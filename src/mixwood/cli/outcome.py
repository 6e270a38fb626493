"""What came out of a run: for people a few lines, for scripts one JSON object."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from mixwood.posterior import Posterior
    from mixwood.report import About

__all__ = ["as_json", "is_finished", "print_outcome", "resume_command"]


def resume_command(folder: Path, draws: int | None = None) -> str:
    """Return the command that goes on with a run."""
    command = f"mixwood resume {shlex.quote(str(folder))}"
    return command if draws is None else f"{command} --draws {draws}"


def is_finished(posterior: Posterior) -> bool:
    """Tell whether every chain has all the draws that were asked for."""
    return posterior.n_draws >= int(posterior.settings.get("draws", 0))


def as_json(posterior: Posterior, about: About, folder: Path, report: Path | None) -> str:
    """Return the outcome as one JSON object; what is undefined is null."""
    from mixwood.report import judge

    verdict = judge(posterior)
    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    chances = counts / counts.sum()
    likeliest = int(np.argmax(chances))
    estimate = posterior.point_estimate()
    outcome: dict[str, Any] = {
        "folder": str(folder),
        "report": None if report is None else str(report),
        "source": about.source,
        "rows": posterior.n_items,
        "columns": None if posterior.X is None else int(posterior.X.shape[1]),
        "likelihood": type(posterior.model.likelihood).__name__,
        "why": about.why,
        "prior": type(posterior.model.prior).__name__,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "finished": is_finished(posterior),
        "n_clusters": int(values[likeliest]),
        "probability": float(chances[likeliest]),
        "n_clusters_probabilities": {
            str(k): float(p) for k, p in zip(values, chances, strict=True)
        },
        "estimate_n_clusters": int(np.max(estimate)) + 1,
        "adjusted_rand": None if about.known is None else about.known.adjusted_rand(estimate),
        "converged": verdict.level == "good",
        "convergence": verdict.level,
        "r_hat": verdict.r_hat,
        "effective_draws": verdict.effective_draws,
        "seconds": posterior.settings.get("seconds"),
        "settings": posterior.settings,
    }
    return json.dumps(_plain(outcome), allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def print_outcome(posterior: Posterior, about: About) -> None:
    """Print how many clusters, how sure, whether the chains agree, and the table of the chains."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from mixwood.report import judge

    summary = posterior.summary()
    verdict = judge(posterior, summary)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    likeliest = np.argsort(-counts)[:4]
    odds = ", ".join(f"{values[k]} ({counts[k] / counts.sum():.0%})" for k in likeliest)
    seconds = posterior.settings.get("seconds")
    time = "" if seconds is None else f" in {seconds:.1f} s"
    console.print(
        f"{posterior.n_chains} chains of {posterior.n_draws} draws{time}. "
        f"Number of clusters: {odds}."
    )
    if about.known is not None:
        agreement = about.known.adjusted_rand(posterior.point_estimate())
        console.print(f"Adjusted Rand index with {about.known.name!r}: {agreement:.3f}.")
    console.print(f"{verdict.headline} {verdict.explanation}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for column in summary.columns:
        table.add_column(column, justify="right")
    for name, row in summary.iterrows():
        cells = [value if isinstance(value, str) else f"{value:.4g}" for value in row]
        table.add_row(str(name), *cells)
    Console().print(table)
