"""`mixwood resume`: a run continues where it stopped, or gets longer."""

from __future__ import annotations

from typing import Annotated

import typer

from mixwood.cli import options

__all__ = ["resume"]


def resume(
    folder: options.Folder,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draws per chain in total: more than before extends a finished run.",
            show_default=False,
        ),
    ] = None,
    max_seconds: options.Seconds = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    no_report: options.NoReport = False,
    debug: options.Debug = False,
) -> None:
    """Continue a run that was stopped, or extend a finished one."""
    from mixwood.cli.messages import plain_errors

    with plain_errors(debug):
        import mixwood
        from mixwood.cli.folder import RunFolder
        from mixwood.cli.running import OutputOptions, run_command

        run_command(
            lambda: mixwood.resume(
                folder, draws=draws, progress=not quiet, n_jobs=jobs, max_seconds=max_seconds
            ),
            RunFolder(folder, quiet),
            OutputOptions(json, quiet, not no_report),
        )
