"""`mixwood report`: the report of a run folder, written again, and its labels."""

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
    """Write the report of a run, one HTML file that needs nothing else, and labels.csv."""
    from mixwood.cli.messages import plain_errors, say, warnings_to

    with plain_errors(debug), warnings_to(say):
        import mixwood
        from mixwood.cli.folder import RunFolder
        from mixwood.report import Digest, write_page

        posterior = mixwood.load(folder)
        run = RunFolder(folder, quiet)
        target = run.report if output is None else output
        if target.is_dir():
            raise FileExistsError(f"{target} is a folder; give the name of a file")
        digest = Digest(posterior, run.about(posterior.n_items))
        write_page(digest, target, str(folder))
        try:
            run.write_labels(digest.labels_csv)
        except OSError as error:  # of a folder that cannot be written, a report is still made
            say(f"warning: {error}")
        if not quiet:
            typer.echo(f"report: {target}")
