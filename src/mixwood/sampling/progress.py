"""What is shown of progress, on a terminal or in a notebook and nowhere else.

One line per chain, and before there are chains one line that says what is waited for.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mixwood._support.numbers import count, duration, number

if TYPE_CHECKING:
    from mixwood.run_spec import RunSpec

__all__ = ["Progress", "WaitingLine", "say"]

#: How long a text in a notebook stays before it changes, in seconds.
_EVERY = 0.2


def _console() -> Any:
    """Return rich's console, or None where nothing is shown.

    Rich is imported only where it may say that there is a terminal.
    """
    if not (sys.stderr.isatty() or os.environ.get("FORCE_COLOR")):
        return None
    from rich.console import Console

    console = Console(file=sys.stderr, force_jupyter=False)
    return console if console.is_terminal else None


def _in_notebook() -> bool:
    """Tell whether a kernel of Jupyter runs this: a terminal's IPython has none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _NotebookText:
    """Text below a cell that changes while the cell runs, and stays as it was last.

    One output with a name of its own, which needs no widgets: what is saved with the notebook
    is the last text.
    """

    def __init__(self, text: str) -> None:
        display = importlib.import_module("IPython.display").display  # only notebooks have it
        self._said = monotonic()
        self._handle = display({"text/plain": text}, raw=True, display_id=True)

    def show(self, text: str, *, now: bool = False) -> None:
        """Show another text, a few times a second at most unless `now`."""
        if now or monotonic() - self._said >= _EVERY:
            self._said = monotonic()
            self._handle.update({"text/plain": text}, raw=True)


def say(line: str) -> None:
    """Write a line where progress is shown, and nowhere else."""
    if _in_notebook():
        _NotebookText(line)
        return
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
        self._text: _NotebookText | None = None

    def tell(self, text: str) -> None:
        """Show this text from now on."""
        if not self._shown:
            return
        if self._text is not None:
            self._text.show(text)
            return
        if self._status is not None:
            self._status.update(text)
            return
        if _in_notebook():
            self._text = _NotebookText(text)
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
        if self._text is not None:
            self._text.show("", now=True)


class Progress(AbstractContextManager["Progress"]):
    """Shows how far each chain is, its clusters, its joint and its speed."""

    def __init__(self, spec: RunSpec, numbers: Sequence[int], *, shown: bool) -> None:
        self._spec = spec
        self._numbers = numbers
        self._bar: Any = None
        self._text: _NotebookText | None = None
        self._lines = [f"chain {k}" for k in numbers]
        self._notebook = shown and _in_notebook()
        console = _console() if shown and not self._notebook else None
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
        self._began = monotonic()
        if self._notebook:
            self._text = _NotebookText("\n".join(self._lines))
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
        if self._text is not None:
            done = iterations / max(self._spec.iterations, 1)
            self._lines[chain] = (
                f"chain {self._numbers[chain]} {_bar(done)} "
                f"{iterations:>7,}/{self._spec.iterations:,}  {count('cluster', clusters)}"
            )
            self._text.show("\n".join(self._lines))
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
        if self._text is not None:
            chains = count("chain", len(self._numbers))
            taken = duration(monotonic() - self._began)
            end = "stopped after" if kind is not None else "done in"
            self._text.show(f"{chains} {end} {taken}", now=True)
        if self._bar is not None:
            self._bar.stop()


def _bar(done: float, width: int = 24) -> str:
    """Return a bar of characters.

    Examples
    --------
    >>> _bar(0.5, 6)
    '███░░░'
    """
    full = round(width * min(max(done, 0.0), 1.0))
    return "█" * full + "░" * (width - full)
