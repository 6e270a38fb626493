"""A run from its start to its report, interruptions included: what `fit` and `resume` share."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mixwood._support.numbers import count
from mixwood.cli.messages import interruptible, say, warnings_to
from mixwood.cli.outcome import (
    as_json,
    is_finished,
    print_outcome,
    report_command,
    resume_command,
)

if TYPE_CHECKING:
    from mixwood.cli.folder import RunFolder
    from mixwood.posterior.posterior import Posterior

__all__ = ["OutputOptions", "finish", "run_command"]


@dataclass(frozen=True)
class OutputOptions:
    """How a command reports what came out."""

    json: bool
    quiet: bool
    report: bool
    labels: Path | None = None  # also there


def run_command(
    run: Callable[[], Posterior], folder: RunFolder, output: OutputOptions
) -> Posterior:
    """Run chains and tell what came out.

    After a signal, the command ends with the exit code of that signal and says how to continue.
    """
    posterior = None

    def tell(warning: str) -> None:
        if interruption.signal is None:
            folder.warn(warning)
        else:  # the user knows why it stopped early
            folder.record(warning)

    with interruptible() as interruption, warnings_to(tell):
        try:
            with _room_needed(folder, "continue", resume_command(folder.path)):
                posterior = run()
        except BaseException as error:
            if interruption.signal is None or not isinstance(
                error, (KeyboardInterrupt, RuntimeError)
            ):
                raise
        if interruption.signal is not None:
            _tell_interruption(interruption.signal.name, posterior, folder, output)
            raise typer.Exit(interruption.exit_code)
        assert posterior is not None
        try:
            with _room_needed(folder, "write it", report_command(folder.path)):
                finish(posterior, folder, output)
        except KeyboardInterrupt:
            name = "a key" if interruption.signal is None else interruption.signal.name
            folder.warn(f"stopped by {name}: all draws are kept, but not all was written of them")
            say(f"to write it: {report_command(folder.path)}")
            raise typer.Exit(interruption.exit_code) from None
    return posterior


@contextmanager
def _room_needed(folder: RunFolder, to: str, command: str) -> Iterator[None]:
    """Let the error of a disk that is full say what to do once there is room."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and folder.can_resume:
            error.add_note(f"the draws so far are kept; once there is room, to {to}: {command}")
        raise


def _tell_interruption(
    signal: str, posterior: Posterior | None, folder: RunFolder, output: OutputOptions
) -> None:
    from mixwood.report import Digest

    if not folder.can_resume:
        say(f"stopped by {signal} before there was anything to keep")
        return
    kept = "" if posterior is None else f", {count('draw', posterior.n_draws)} of each chain kept"
    folder.warn(f"stopped by {signal}{kept}")
    say(f"to continue: {resume_command(folder.path)}")
    if not output.json:
        return
    if posterior is None:
        typer.echo(json.dumps({"folder": str(folder.path), "draws": 0, "finished": False}))
    else:
        digest = Digest(posterior, folder.about(posterior.n_items))
        typer.echo(as_json(digest, folder.path, None))


def finish(posterior: Posterior, folder: RunFolder, output: OutputOptions) -> None:
    """Write labels and report, and print what came out."""
    from mixwood.report import Digest, write_page
    from mixwood.store.atomic_files import write_bytes

    digest = Digest(posterior, folder.about(posterior.n_items))
    folder.record(repr(posterior))
    folder.note("searching for the estimate")
    labels = folder.labels if folder.write_labels(digest.labels_csv) else None
    if output.labels is not None:
        labels = output.labels
        write_bytes(labels, digest.labels_csv.encode())
    if output.report:
        folder.note("making the report")
        write_page(digest, folder.report, str(folder.path))
    report = folder.report if output.report else None
    if output.json:
        typer.echo(as_json(digest, folder.path, report, labels))
    elif not output.quiet:
        print_outcome(digest)
        typer.echo(f"folder: {folder.path}" + ("" if report is None else f"   report: {report}"))
        if labels is not None:
            typer.echo(f"the cluster of each row: {labels}")
        typer.echo(f'read it back: mixwood.load("{folder.path}")')
        if not is_finished(posterior):
            typer.echo(f"continue: {resume_command(folder.path)}")
        elif digest.verdict.draws_advised is not None:
            longer = resume_command(folder.path, digest.verdict.draws_advised)
            typer.echo(f"run longer: {longer}")
