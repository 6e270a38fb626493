"""Where runs may be written, and how a folder comes about: in full, or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mixwood.store.atomic_files import read_json, sync_folder
from mixwood.store.lock import locked

__all__ = [
    "ARRAYS",
    "CHAINS",
    "COMPANIONS",
    "DESCRIPTION",
    "FORMAT",
    "LOCK",
    "OURS",
    "chain_folder",
    "check_destination",
    "existing_run",
    "new_run",
]

FORMAT = "mixwood run"
DESCRIPTION = "mixwood.json"
ARRAYS = "arrays.zarr"
CHAINS = "chains"
LOCK = "lock"
OURS = (DESCRIPTION, ARRAYS, CHAINS, LOCK)
#: What commands keep beside a run, perhaps before it begins: the input, a log, the report.
COMPANIONS = ("input.json", "run.log", "report.html")


def chain_folder(run: Path, chain: int) -> Path:
    """Return where the checkpoint of a chain is."""
    return run / CHAINS / str(chain)


def existing_run(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a run, or raise if there is none.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If what is there is no run.
    """
    folder = _resolved(path)
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist")
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, but a mixwood run is a folder with {DESCRIPTION}")
    if not (folder / DESCRIPTION).is_file():
        raise ValueError(f"{folder} is not a mixwood run: it has no {DESCRIPTION}")
    return folder


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads, links followed: what is renamed is then the folder itself."""
    return Path(os.path.realpath(Path(path).expanduser()))


def check_destination(path: str | os.PathLike[str], overwrite: bool = False) -> bool:
    """Raise FileExistsError unless a run may be written to `path`.

    For callers that run long before they save. Returns whether a run is replaced.
    """
    target = _resolved(path)
    if not target.exists():
        return False
    if not target.is_dir():
        raise FileExistsError(f"{target} is a file; give the name of a folder")
    if all(entry.name in COMPANIONS for entry in target.iterdir()):
        return False
    try:
        ours = read_json(target / DESCRIPTION).get("format") == FORMAT
    except ValueError:
        ours = False
    if not ours:
        raise FileExistsError(
            f"{target} holds other files, which are left alone; give a new folder or an empty one"
        )
    if not overwrite:
        raise FileExistsError(
            f"{target} holds a mixwood run already; give another folder, or overwrite=True"
        )
    return True


@contextmanager
def new_run(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """Give an empty folder to fill, which then becomes `path`.

    It is a new folder beside `path`, which takes its name in the end: a failure leaves what
    was there as it was.
    """
    target = _resolved(path)
    replaced = check_destination(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex}.unfinished")
    try:
        with ExitStack() as held:
            if replaced and (target / LOCK).exists():
                held.enter_context(locked(target / LOCK))
            unfinished.mkdir()
            yield unfinished
            sync_folder(unfinished)
            if target.exists():
                _replace(target, unfinished)
            else:
                unfinished.rename(target)
            sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _replace(target: Path, finished: Path) -> None:
    """Put `finished` in the place of `target`, keeping files there that are not ours."""
    old = target.with_name(f".{target.name}.{uuid.uuid4().hex}.old")
    try:
        target.rename(old)
        finished.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    for entry in old.iterdir():
        if entry.name not in OURS:
            entry.rename(target / entry.name)
    shutil.rmtree(old)
