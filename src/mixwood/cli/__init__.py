"""The command line, `mixwood`: one command per file.

What commands need of the package is imported when they run, so that `mixwood --help` and the
completion of the shell are quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from mixwood.cli.demo import demo
from mixwood.cli.fit import fit
from mixwood.cli.report import report
from mixwood.cli.resume import resume
from mixwood.experiments.command import reproduce

__all__ = ["app"]

app = typer.Typer(
    name="mixwood",
    help="Bayesian clustering when you do not know the number of clusters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# Commands of other parts of the package are imported above and named here.
for command in (fit, resume, report, demo, reproduce):
    app.command()(command)


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
