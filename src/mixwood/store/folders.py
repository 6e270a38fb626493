"""Where runs may be written, and how a folder is made: in full, or not at all.

A new run is written to a hidden folder next to its place, `.NAME.<32 hex digits>.unfinished`, and
takes the place when it is whole. If a run is there already, the two exchange their names, which is
one step for the file system (`exchange.py`), and the old run is removed under the hidden name. The
user's own files are linked into the new folder before that, so that they are in the visible one at
every moment. What a killed process leaves under hidden names is removed by whoever writes there
next; locks on the folders themselves tell what is left over from what is being written.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mixwood._support.checks import shown
from mixwood.store.atomic_files import is_plain_folder, read_json, sync_folder, write_bytes
from mixwood.store.exchange import exchange
from mixwood.store.lock import locked, locked_folder

__all__ = [
    "ARRAYS",
    "CHAINS",
    "COMPANIONS",
    "ESTIMATES",
    "FORMAT",
    "LOCK",
    "MANIFEST",
    "STATE",
    "Destination",
    "chain_folder",
    "check_destination",
    "existing_run",
    "is_ours",
    "new_run",
]

FORMAT = "mixwood run"
MANIFEST = "mixwood.json"
ARRAYS = "arrays.zarr"
CHAINS = "chains"
ESTIMATES = "estimates"
LOCK = "lock"
STATE = "state"
LABELS = "labels.csv"
#: What commands keep next to a run: the input, a log, the report, the labels.
COMPANIONS = ("input.json", "run.log", "report.html", LABELS)
_UNFINISHED_FILES = (f".{name}.unfinished" for name in (MANIFEST, ESTIMATES, *COMPANIONS))
_OURS = (MANIFEST, ESTIMATES, *_UNFINISHED_FILES, ARRAYS, CHAINS, LOCK)
_UNFINISHED = "unfinished"
_REPLACED = "replaced"


@dataclass
class Destination(os.PathLike[str]):
    """A path to write a run to, for commands: `mixwood.sample` takes it as `store`.

    Parameters
    ----------
    path : Path
        The run folder.
    overwrite : bool
        Whether a run that is there is replaced, its companions included.
    companions : dict of str to str
        Files of text that are in the new folder from its first moment on.
    """

    path: Path
    overwrite: bool = False
    companions: dict[str, str] = field(default_factory=dict)
    #: Whether the new folder is in its place.
    written: bool = field(default=False, init=False)

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def chain_folder(run: Path, chain: int) -> Path:
    """Return where the checkpoint of a chain is."""
    return run / CHAINS / str(chain)


def is_ours(name: str) -> bool:
    """Tell whether an entry of a run folder has a name that only a run's own parts have."""
    return name in _OURS


def existing_run(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a run, or raise if there is none.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If what is there is not a run.
    """
    folder = _resolved(path)
    _put_back(folder)
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist")
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, but a mixwood run is a folder with {MANIFEST}")
    if not (folder / MANIFEST).is_file():
        raise ValueError(f"{folder} is not a mixwood run: it has no {MANIFEST}")
    return folder


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads, links followed: what is renamed is then the folder itself."""
    return Path(os.path.realpath(Path(path).expanduser()))


def check_destination(
    path: str | os.PathLike[str],
    argument: str = "path",
    overwrite: bool = False,
    *,
    instead: str = "overwrite=True",
) -> bool:
    """Raise FileExistsError unless a run may be written to `path`, which callers name `argument`.

    For callers that run long before they save. Returns whether a run is replaced; where there is
    one that may not be, the message says what can be done `instead` of giving another folder.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{argument} must be the name of a folder, got {shown(path)}")
    target = _resolved(path)
    _put_back(target)
    if not target.exists():
        return False
    if not target.is_dir():
        raise FileExistsError(f"{target} is a file; give the name of a folder")
    # Labels by themselves may be the user's own: others call files so, too.
    if all(entry.name in COMPANIONS and entry.name != LABELS for entry in target.iterdir()):
        return False
    try:
        ours = read_json(target / MANIFEST).get("format") == FORMAT
    except ValueError:
        ours = False
    if not ours:
        raise FileExistsError(
            f"{target} holds other files, which are left alone; give a new folder or an empty one"
        )
    if not (overwrite or (isinstance(path, Destination) and path.overwrite)):
        raise FileExistsError(
            f"{target} holds a mixwood run already; give another folder, or {instead}"
        )
    return True


@contextmanager
def new_run(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """Give an empty folder to fill, which then becomes `path`.

    It is a new folder next to `path`, which takes its name in the end: a failure leaves what
    was there as it was.
    """
    target = _resolved(path)
    replaced = check_destination(path, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        if replaced and os.path.lexists(target / LOCK):
            held.enter_context(locked(target / LOCK))
        if target.exists():
            held.enter_context(locked_folder(target))
        _remove_leftovers(target)
        hidden = _hidden_folder(target, held)
        try:
            yield hidden
            _bring_along(target, hidden, path.companions if isinstance(path, Destination) else {})
            sync_folder(hidden)
            if target.exists():
                _replace(target, hidden)
            else:
                hidden.rename(target)
            if isinstance(path, Destination):
                path.written = True
            sync_folder(target.parent)
        finally:
            _remove(hidden, target)  # what was to become the run, or the run that it replaced


def _hidden(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}.{kind}")


def _hidden_folder(target: Path, held: ExitStack) -> Path:
    """Make a folder next to `target`, and lock it."""
    while True:  # as long as someone takes it for a leftover before it is locked
        folder = _hidden(target, _UNFINISHED)
        folder.mkdir()
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            held.enter_context(locked_folder(folder))
            if folder.exists():
                return folder


def _bring_along(target: Path, hidden: Path, companions: dict[str, str]) -> None:
    """Put what belongs next to the run into its new folder: the user's files, new companions."""
    for name, text in companions.items():
        write_bytes(hidden / name, text.encode())
    if not target.exists():
        return
    of_the_run_before = COMPANIONS if companions or (target / MANIFEST).exists() else ()
    for entry in target.iterdir():
        if is_ours(entry.name) or entry.name in of_the_run_before:
            continue
        place = hidden / entry.name
        with contextlib.suppress(OSError):  # then it is moved when the new folder is in its place
            if is_plain_folder(entry):
                shutil.copytree(entry, place, symlinks=True, copy_function=_link)
            else:
                _link(entry, place)


def _link(file: str | Path, place: str | Path) -> None:
    """Give a file a second name, or copy it where that cannot be."""
    try:
        os.link(file, place, follow_symlinks=False)
    except OSError:
        try:
            shutil.copy2(file, place, follow_symlinks=False)
        except OSError:
            Path(place).unlink(missing_ok=True)  # half a copy
            raise


def _replace(target: Path, finished: Path) -> None:
    """Let two folders exchange their names."""
    if exchange(target, finished):
        return
    # In three steps then. If the process ends after the first, `_put_back` undoes that.
    aside = _hidden(target, _REPLACED)
    try:
        target.rename(aside)
        finished.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    aside.rename(finished)


def _leftovers(target: Path, *kinds: str) -> Iterator[Path]:
    """Yield the hidden folders of `target` that no living process writes, each one locked."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{32}}\.({'|'.join(kinds)})")
    try:
        found = [entry for entry in target.parent.iterdir() if name.fullmatch(entry.name)]
    except OSError:  # that cannot be listed, or is not there
        return
    for folder in found:
        with contextlib.suppress(OSError), locked_folder(folder) as is_locked:
            if is_locked:
                yield folder


def _put_back(target: Path) -> None:
    """Give the name back to a run that was just being replaced when its process ended."""
    if target.exists():
        return
    for folder in _leftovers(target, _REPLACED):
        with contextlib.suppress(OSError):
            folder.rename(target)
        return


def _remove_leftovers(target: Path) -> None:
    for folder in _leftovers(target, _UNFINISHED, _REPLACED):
        with contextlib.suppress(OSError):  # the next one may be able to
            _remove(folder, target)


def _remove(hidden: Path, target: Path) -> None:
    """Remove a hidden folder, but for files of the user that `target` lacks: those go there."""
    if not hidden.exists():
        return
    if target.is_dir():
        for entry in hidden.iterdir():
            if not is_ours(entry.name) and entry.name not in COMPANIONS:
                _give_back(entry, target / entry.name)
    shutil.rmtree(hidden, ignore_errors=True)


def _give_back(entry: Path, place: Path) -> None:
    if not os.path.lexists(place):
        entry.rename(place)
    elif is_plain_folder(entry) and is_plain_folder(place):
        for inner in entry.iterdir():
            _give_back(inner, place / inner.name)
