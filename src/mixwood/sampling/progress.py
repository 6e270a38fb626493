"""What is shown of progress, on a terminal or in a notebook and nowhere else.

One line per chain, and before there are chains one line that says what is waited for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mixwood._support.numbers import count, number

if TYPE_CHECKING:
    from mixwood.run_spec import RunSpec

__all__ = ["Progress", "WaitingLine", "say"]


def _console() -> Any:
    """Return rich's console, or None where nothing is shown.

    Rich is imported only where it may say that there is a terminal or a notebook.
    """
    if not (sys.stderr.isatty() or "IPython" in sys.modules or os.environ.get("FORCE_COLOR")):
        return None
    from rich.console import Console

    console = Console(file=sys.stderr)
    return console if console.is_terminal or console.is_jupyter else None


def say(line: str) -> None:
    """Write a line where progress is shown, and nowhere else."""
    console = _console()
    if console is not None:
        console.print(line, highlight=False)


class WaitingLine(AbstractContextManager["WaitingLine"]):
    """A line that says what is waited for, and is gone when that is over.

    Nothing is shown, nor imported, before `tell` is called: short work stays silent.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._status: Any = None

    def tell(self, text: str) -> None:
        """Show this text from now on."""
        if not self._shown:
            return
        if self._status is not None:
            self._status.update(text)
            return
        console = _console()
        self._shown = console is not None
        if console is not None:
            self._status = console.status(text)
            self._status.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()


class Progress(AbstractContextManager["Progress"]):
    """Shows how far each chain is, its clusters, its joint and its speed."""

    def __init__(self, spec: RunSpec, numbers: Sequence[int], *, shown: bool) -> None:
        self._spec = spec
        self._numbers = numbers
        self._bar: Any = None
        console = _console() if shown else None
        if console is None:
            return
        # Imported only when something is shown.
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:>7,.0f}/{task.total:,.0f}"),
            TextColumn("{task.fields[clusters]:>12}"),
            TextColumn("joint {task.fields[joint]:>14}"),
            TextColumn("{task.fields[speed]:>8}/s"),
            TimeRemainingColumn(),
            console=console,
        )

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
            self._tasks = [
                self._bar.add_task(
                    f"chain {k}", total=self._spec.iterations, clusters="", joint="", speed=""
                )
                for k in self._numbers
            ]
        return self

    def update(self, chain: int, iterations: int, clusters: int, joint: float) -> None:
        """Tell how far a chain is, by its place among the numbers."""
        if self._bar is None:
            return
        task = self._bar.tasks[chain]
        speed = number(task.speed) if task.speed else ""
        phase = "warm-up" if iterations <= self._spec.warmup else "draws"
        self._bar.update(
            self._tasks[chain],
            completed=iterations,
            description=f"chain {self._numbers[chain]} {phase:<7}",
            clusters=count("cluster", clusters),
            joint=f"{joint:,.1f}",
            speed=speed,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
