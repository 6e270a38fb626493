"""What came out of a run: for people a few lines, for scripts one JSON object."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from mixwood._support.numbers import count, duration, number, percent
from mixwood.posterior.markers import markers_in_words

if TYPE_CHECKING:
    from pathlib import Path

    from mixwood.posterior.posterior import Posterior
    from mixwood.report import Digest

__all__ = ["as_json", "is_finished", "print_outcome", "report_command", "resume_command"]

#: The most clusters that are printed, and the most markers of each.
_MOST_CLUSTERS, _MOST_MARKERS = 12, 5
#: The most groups of rows, and the most clusters of each.
_MOST_GROUPS, _MOST_SHARES = 12, 4


def resume_command(folder: Path, draws: int | None = None) -> str:
    """Return the command that continues a run."""
    command = f"mixwood resume {shlex.quote(str(folder))}"
    return command if draws is None else f"{command} --draws {draws}"


def report_command(folder: Path) -> str:
    """Return the command that writes report and labels of a run."""
    return f"mixwood report {shlex.quote(str(folder))}"


def is_finished(posterior: Posterior) -> bool:
    """Tell whether every chain has all the draws that were asked for."""
    return posterior.n_draws >= int(posterior.settings.get("draws", 0))


def as_json(digest: Digest, folder: Path, report: Path | None, labels: Path | None = None) -> str:
    """Return the outcome as one JSON object; what is undefined is null."""
    posterior, about, verdict = digest.posterior, digest.about, digest.verdict
    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    said = digest.headline
    outcome: dict[str, Any] = {
        "folder": str(folder),
        "report": None if report is None else str(report),
        "labels": None if labels is None else str(labels),
        "source": about.source,
        "rows": round(float(posterior.item_sizes.sum())),
        "columns": None if posterior.X is None else int(posterior.X.shape[1]),
        "likelihood": type(posterior.resolved).__name__,
        "why": about.why,
        "prior": type(posterior.model.prior).__name__,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "finished": is_finished(posterior),
        "headline": " ".join(said.sentences),
        "group_size": said.least,
        "n_groups": said.groups.likeliest,
        "n_groups_probability": said.groups.probability,
        "n_groups_interval": said.groups.interval,
        "rows_outside_groups": said.outside,
        "n_clusters": said.clusters.likeliest,
        "probability": said.clusters.probability,
        "n_clusters_interval": said.clusters.interval,
        "n_clusters_probabilities": {
            str(k): share for k, share in zip(values, counts / counts.sum(), strict=True)
        },
        "estimate_n_groups": said.groups.estimate,
        "estimate_n_clusters": said.clusters.estimate,
        "clusters": _clusters(digest),
        "groups": _groups(digest),
        "adjusted_rand": digest.adjusted_rand,
        "converged": verdict.level == "good",
        "convergence": verdict.level,
        "fits": None if isinstance(digest.fit, str) else digest.fit.ok,
        "fit": digest.fit if isinstance(digest.fit, str) else digest.fit.sentence,
        "r_hat": verdict.r_hat,
        "effective_draws": verdict.effective_draws,
        "seconds": posterior.settings.get("seconds"),
        "settings": posterior.settings,
    }
    return json.dumps(_plain(outcome), allow_nan=False)


def _clusters(digest: Digest) -> list[dict[str, Any]]:
    """Return the clusters of the estimate: size, and what sets each apart."""
    sizes = np.rint(np.bincount(digest.estimate, digest.posterior.item_sizes))
    return [
        {"cluster": k, "size": int(size), "markers": [marker._asdict() for marker in markers]}
        for k, (size, markers) in enumerate(zip(sizes, digest.markers, strict=True))
    ]


def _print_clusters(digest: Digest) -> None:
    """Print a line per group of the estimate: its rows, and what sets it apart."""
    clusters = _clusters(digest)
    shown = [c for c in clusters if c["size"] >= digest.headline.least][:_MOST_CLUSTERS]
    if len(clusters) < 2 or not any(digest.markers):
        return
    for cluster in shown:
        said = markers_in_words(digest.markers[cluster["cluster"]], _MOST_MARKERS)
        apart = f": {said}" if said else ""
        typer.echo(f"Cluster {cluster['cluster']}, {count('row', cluster['size'])}{apart}.")
    if len(shown) < len(clusters):
        typer.echo(f"And {count('smaller cluster', len(clusters) - len(shown))}.")


def _groups(digest: Digest) -> list[dict[str, Any]] | None:
    """Return the groups of rows, if there are any: the mean share of each cluster."""
    groups = digest.posterior.groups
    if groups is None:
        return None
    shares = digest.thinned.group_weights()["mean"].unstack().to_numpy()
    return [
        {"group": name, "rows": int(size), "shares": own.tolist()}
        for name, size, own in zip(groups.names, groups.sizes, shares, strict=True)
    ]


def _print_groups(digest: Digest) -> None:
    """Print a line per group of rows: the clusters that it has most of."""
    groups = _groups(digest) or []
    for group in groups[:_MOST_GROUPS]:
        shares = np.array(group["shares"])
        largest = [k for k in np.argsort(-shares)[:_MOST_SHARES] if shares[k] >= 0.05]
        said = ", ".join(f"cluster {k} {percent(float(shares[k]))}" for k in largest)
        typer.echo(f"Group {group['group']}, {count('row', group['rows'])}: {said}.")
    if len(groups) > _MOST_GROUPS:
        typer.echo(f"And {count('more group', len(groups) - _MOST_GROUPS)}.")


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


def print_outcome(digest: Digest) -> None:
    """Print how many clusters, how sure, whether the chains agree, and the table of the chains."""
    posterior, about = digest.posterior, digest.about
    said = digest.headline
    for sentence in said.sentences:
        typer.echo(sentence)
    seconds = posterior.settings.get("seconds")
    time = "" if seconds is None else f" in {duration(seconds)}"
    typer.echo(f"{count('chain', posterior.n_chains)} of {count('draw', posterior.n_draws)}{time}.")
    _print_clusters(digest)
    _print_groups(digest)
    if about.known is not None:
        typer.echo(f"Adjusted Rand index with {about.known.name!r}: {digest.adjusted_rand:.3f}.")
    if "structure" in posterior.settings:
        typer.echo(f"Structure: {posterior.settings['structure']}.")
    typer.echo(f"{digest.verdict.headline} {digest.verdict.explanation}")
    if not isinstance(digest.fit, str):
        typer.echo(digest.fit.sentence)
    _print_table(digest.summary)


def _print_table(summary: Any) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from mixwood.report.digest import SUMMARY_FORMATS

    console = Console()
    if not console.is_terminal:
        console.width = 100
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    for column in summary.columns:
        table.add_column(column, justify="right")
    for name, row in summary.iterrows():
        cells = (SUMMARY_FORMATS.get(column, number)(value) for column, value in row.items())
        table.add_row(str(name), *cells)
    console.print(table)
