"""The command line: `mixwood demo`, `mixwood --version`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixwood.experiments.command import reproduce

__all__ = ["app"]

app = typer.Typer(
    name="mixwood",
    help="Bayesian clustering when you do not know the number of clusters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        from mixwood import __version__

        typer.echo(f"mixwood {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Bayesian clustering when you do not know the number of clusters."""


def _free_folder(wanted: Path) -> Path:
    """Return `wanted`, or the first of wanted-2, wanted-3, ... that does not exist."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option(help="Where to write; a number is added if it exists.")
    ] = Path("mixwood-demo"),
    draws: Annotated[int, typer.Option(min=1, help="Draws of each chain.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 1,
) -> None:
    """Cluster 1,300 points that the package makes, and show what comes out."""
    import mixwood as mw
    from mixwood.plots import overview

    X, truth = mw.datasets.toy()
    typer.echo(f"{len(X):,} points in the plane, made from {truth.max() + 1} Gaussian clusters.")
    model = mw.Mixture(mw.Gaussian(), mw.NGGP())
    # Gibbs joins clusters easily and splits them slowly, so it starts from too many.
    posterior = mw.sample(model, X, draws=draws, seed=seed)
    target = _free_folder(folder)
    posterior.save(target)
    picture = target / "overview.png"
    overview(posterior).savefig(picture, dpi=150)
    _print_summary(posterior)
    typer.echo(f"\nfiles: {target}/   picture: {picture}")
    typer.echo(f'read them back: mixwood.load("{target}")')


def _print_summary(posterior: object) -> None:
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from mixwood.posterior import Posterior

    assert isinstance(posterior, Posterior)
    console = Console()
    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    likeliest = np.argsort(-counts)[:4]
    odds = ", ".join(f"{values[k]} ({counts[k] / counts.sum():.0%})" for k in likeliest)
    console.print(
        f"{posterior.n_chains} chains of {posterior.n_draws} draws in "
        f"{posterior.settings['seconds']:.1f} s. Number of clusters: {odds}."
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    summary = posterior.summary()
    table.add_column("")
    for column in summary.columns:
        table.add_column(column, justify="right")
    for name, row in summary.iterrows():
        cells = [value if isinstance(value, str) else f"{value:.4g}" for value in row]
        table.add_row(str(name), *cells)
    console.print(table)
