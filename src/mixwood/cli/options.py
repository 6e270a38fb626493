"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixwood.cli.names import SAMPLERS, STARTS, completion, lookup

__all__ = [
    "Chains",
    "Debug",
    "Draws",
    "Folder",
    "Jobs",
    "Json",
    "NoReport",
    "Quiet",
    "Seconds",
    "UntilAgree",
]

Draws = Annotated[int, typer.Option("--draws", min=1, help="Draws per chain.")]
Chains = Annotated[int, typer.Option("--chains", min=1, help="How many chains.")]
Warmup = Annotated[int, typer.Option("--warmup", min=0, help="Iterations before the first draw.")]
Thin = Annotated[int, typer.Option("--thin", min=1, help="Iterations from one draw to the next.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=-1, help="Chains at once; all processors by default.")
]
Seconds = Annotated[
    float | None,
    typer.Option("--max-seconds", min=0.001, help="Stop after this long; the run can be resumed."),
]
UntilAgree = Annotated[
    bool,
    typer.Option(
        "--until-agree",
        help="Go on after that many draws until the chains agree, or --max-seconds are over.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="The same seed gives the same draws.")
]
Sampler = Annotated[
    str,
    typer.Option(
        "--sampler",
        callback=lookup(SAMPLERS, "sampler"),
        autocompletion=completion(SAMPLERS),
        help=f"One of {', '.join(SAMPLERS)}.",
    ),
]
Start = Annotated[
    str,
    typer.Option(
        "--init",
        callback=lookup(STARTS, "init"),
        autocompletion=completion(STARTS),
        help=f"Where chains start: {', '.join(STARTS)}.",
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]
