"""What commands say, and how they end: plain lines on standard error, and exit codes.

0 success, 1 something failed, 2 wrong usage or wrong input, 130 after Ctrl-C, 143 after
SIGTERM.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer

__all__ = [
    "InputError",
    "Interruption",
    "ending_at_once",
    "interruptible",
    "plain_errors",
    "say",
    "warnings_to",
]


class InputError(ValueError):
    """Something the user gave is wrong; the message says what is right."""


class Interruption:
    """Whether a signal has asked the command to stop, and which."""

    signal: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """128 plus the number of the signal, as shells have it."""
        return 128 + int(self.signal or signal.SIGINT)


def say(text: str = "") -> None:
    """Print a line for people: standard output is kept for results."""
    typer.echo(text, err=True)


@contextmanager
def plain_errors(debug: bool) -> Iterator[None]:
    """End the command with a line or two and an exit code instead of a traceback."""
    if debug:
        yield
        return
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise typer.Exit(1) from None
    except (ValueError, TypeError, FileNotFoundError, FileExistsError, NotADirectoryError) as error:
        raise _ended(error, 2) from error
    except (RuntimeError, MemoryError, OSError, ImportError) as error:
        raise _ended(error, 1) from error
    except Exception as error:
        say(f"unexpected {type(error).__name__}; --debug shows where")
        raise _ended(error, 1) from error


def _ended(error: Exception, code: int) -> typer.Exit:
    say(f"error: {_described(error)}")
    for note in getattr(error, "__notes__", ()):
        say(note)
    return typer.Exit(code)


def _described(error: Exception) -> str:
    """Return the message of an error, or what its type says if it has none."""
    if str(error).strip():
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory: the data or the draws need more than this process may take"
    return f"{type(error).__name__}, without a message; --debug shows where"


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let SIGTERM stop the command as Ctrl-C does; tell afterwards whether either came."""
    state = Interruption()

    def stop(number: int, _frame: FrameType | None) -> None:
        state.signal = signal.Signals(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield state
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process as SIGTERM does: Python would wait for a reader in C to return."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def warnings_to(*listeners: Any) -> Iterator[None]:
    """Hand the text of the package's warnings to functions, instead of Python's own form."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        for listener in listeners:
            listener(f"warning: {message}")

    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield
