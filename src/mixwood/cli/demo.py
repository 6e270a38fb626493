"""`mixwood demo`: everything, on data that the package makes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixwood.cli import options

__all__ = ["demo"]


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where to write; a number is added if it exists.")
    ] = Path("mixwood-demo"),
    draws: options.Draws = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 1,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Cluster 1,300 points that the package makes, and show what comes out."""
    from mixwood.cli.messages import plain_errors

    with plain_errors(debug):
        import mixwood
        from mixwood.cli.folder import RunFolder, free_folder
        from mixwood.cli.running import OutputOptions, run_command
        from mixwood.plots import overview
        from mixwood.report import About, Known

        X, truth = mixwood.datasets.toy()
        clusters = int(truth.max()) + 1
        known = Known("the truth", truth.tolist(), [str(k) for k in range(clusters)])
        run = RunFolder(free_folder(folder), quiet)
        why = "the clusters were drawn as Gaussian"
        store = run.begin(About("the toy data", why, known, command="mixwood demo"))
        run.note(f"{len(X):,} points in the plane, made from {clusters} Gaussian clusters.")
        model = mixwood.Mixture(mixwood.Gaussian(), mixwood.NGGP())
        posterior = run_command(
            lambda: mixwood.sample(
                model, X, draws=draws, seed=seed, store=store, progress=not quiet
            ),
            run,
            OutputOptions(json=False, quiet=quiet, report=True),
        )
        picture = run.path / "overview.png"
        overview(posterior).savefig(picture, dpi=150)
        if not quiet:
            typer.echo(f"picture: {picture}")
