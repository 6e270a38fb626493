"""The run folder as commands see it: besides draws, a record of the input, a log, what came out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from mixwood.cli.messages import say
from mixwood.store.folders import COMPANIONS, MANIFEST, Destination, is_ours

if TYPE_CHECKING:
    from mixwood.report import About

__all__ = ["RunFolder", "free_folder"]

_INPUT, _LOG, _REPORT, _LABELS = COMPANIONS


def free_folder(wanted: Path) -> Path:
    """Return `wanted`, or the first of wanted-2, wanted-3, ... that does not exist."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


class RunFolder:
    """What commands keep in a run folder besides the draws.

    Parameters
    ----------
    path : Path
        The folder.
    quiet : bool
        Whether what is noted is kept off the terminal.
    """

    def __init__(self, path: Path, quiet: bool) -> None:
        self.path = path
        self.report = path / _REPORT
        self.labels = path / _LABELS
        self._quiet = quiet
        self._new: Destination | None = None  # where `begin` lets a run be written

    def begin(self, about: About, *, replace: bool = False) -> Destination:
        """Return what `mixwood.sample` is given as `store`.

        Nothing is written before the run itself is, with everything that belongs to it: what fails
        before that leaves no folder, and an old run as it was.
        """
        self._new = Destination(self.path, replace, {_INPUT: about.text(), _LOG: ""})
        return self._new

    def other_files(self) -> list[str]:
        """Return the names of what is in the folder and is not a run's."""
        names = (entry.name for entry in self.path.iterdir())
        return sorted(name for name in names if not is_ours(name) and name not in COMPANIONS)

    @property
    def can_resume(self) -> bool:
        """Whether a run has begun here."""
        if self._new is not None and not self._new.written:
            return False
        return (self.path / MANIFEST).exists()

    def record(self, text: str) -> None:
        """Write to the log, which comes to the folder with the run."""
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n"
        if self._new is not None and not self._new.written:
            self._new.companions[_LOG] += line
            return
        path = self.path / _LOG
        try:
            with path.open("a", encoding="utf-8") as log:
                log.write(line)
        except OSError as error:  # of a full disk, which names no file
            reason = f"cannot be written: {error.strerror}"
            raise OSError(error.errno, reason, str(path)) from error

    def note(self, text: str) -> None:
        """Write to the log, and to the terminal unless that is to be quiet."""
        self.record(text)
        if not self._quiet:
            say(text)

    def warn(self, text: str) -> None:
        """Write to the log, and to the terminal in any case."""
        self.record(text)
        say(text)

    def write_labels(self, text: str) -> bool:
        """Write the table of labels; not over a file of that name that is the user's own."""
        from mixwood.report import is_labels_csv
        from mixwood.store.atomic_files import write_bytes

        if self.labels.exists() and not is_labels_csv(self.labels):
            say(f"warning: {self.labels} is left as it is: mixwood did not write it")
            return False
        write_bytes(self.labels, text.encode())
        return True

    def about(self, items: int) -> About:
        """Return what is known of the data of a run of this many items."""
        from mixwood.report import About

        record = self.path / _INPUT
        return About.read(record, items) if record.is_file() else About(source=self.path.name)
