"""`mixwood report`: the report of a run folder, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixwood.cli import options

__all__ = ["report"]


def report(
    folder: options.Folder,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The HTML file; report.html in the folder by default.",
            show_default=False,
        ),
    ] = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the report of a run: one HTML file that needs nothing else."""
    from mixwood.cli.messages import plain_errors, say, warnings_to

    with plain_errors(debug), warnings_to(say):
        import mixwood
        from mixwood.cli.folder import RunFolder
        from mixwood.report import write_report

        posterior = mixwood.load(folder)
        run = RunFolder(folder, quiet)
        target = run.report if output is None else output
        if target.is_dir():
            raise FileExistsError(f"{target} is a folder; give the name of a file")
        write_report(posterior, target, run.about(posterior.n_items), str(folder))
        if not quiet:
            typer.echo(f"report: {target}")
