"""The run folder as commands see it: beside the draws a record of the input, a log, a report."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mixwood.cli.messages import say
from mixwood.store.folders import COMPANIONS, DESCRIPTION, LOCK, OURS
from mixwood.store.lock import locked

if TYPE_CHECKING:
    from mixwood.report import About

__all__ = ["RunFolder", "free_folder"]

_OURS = (*OURS, *COMPANIONS)


def free_folder(wanted: Path) -> Path:
    """Return `wanted`, or the first of wanted-2, wanted-3, ... that does not exist."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


class RunFolder:
    """What commands keep in a run folder beside the draws.

    Parameters
    ----------
    path : Path
        The folder.
    quiet : bool
        Whether what is noted is kept off the terminal.
    """

    def __init__(self, path: Path, quiet: bool) -> None:
        self.path = path
        self._quiet = quiet
        self._made: bool | None = None  # whether `begin` made the folder

        self._input, self._log, self.report = (path / name for name in COMPANIONS)

    def begin(self, about: About, *, replace: bool = False) -> None:
        """Make the folder, without the old run if that is to be replaced."""
        self._made = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        if replace:
            if (self.path / LOCK).exists():
                with locked(self.path / LOCK):  # no process is writing the old run
                    pass
            self._remove(*_OURS)
        about.write(self._input)

    def other_files(self) -> list[str]:
        """Return the names of what is in the folder and is not a run's."""
        return sorted(e.name for e in self.path.iterdir() if e.name not in _OURS)

    def go_on(self) -> None:
        """Raise unless there is a folder to go on with."""
        if not self.path.is_dir():
            raise FileNotFoundError(f"{self.path} does not exist, or is not a folder")

    def give_up(self) -> None:
        """Remove what `begin` wrote, if no run has begun."""
        if self._made is None or self.can_resume:
            return
        self._remove(*COMPANIONS)
        if self._made:
            with contextlib.suppress(OSError):  # someone else has put something there
                self.path.rmdir()

    @property
    def can_resume(self) -> bool:
        """Whether a run has begun here."""
        return (self.path / DESCRIPTION).exists()

    def _remove(self, *names: str) -> None:
        for name in names:
            entry = self.path / name
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)

    def record(self, text: str) -> None:
        """Write to the log."""
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def note(self, text: str) -> None:
        """Write to the log, and to the terminal unless it shall be quiet there."""
        self.record(text)
        if not self._quiet:
            say(text)

    def warn(self, text: str) -> None:
        """Write to the log, and to the terminal in any case."""
        self.record(text)
        say(text)

    def about(self, items: int) -> About:
        """Return what is known of the data of a run of so many items."""
        from mixwood.report import About

        if not self._input.is_file():
            return About(source=self.path.name)
        return About.read(self._input, items)
