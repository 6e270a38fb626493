"""Single files: written so that they are there in full or not at all, read with suspicion."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from mixwood._support.checks import shown
from mixwood._support.memory import available_bytes

__all__ = ["is_plain_folder", "read_bytes", "read_json", "sync_folder", "write_bytes", "write_json"]

#: The largest JSON that is read: what is large is stored apart from it.
LARGEST_JSON = 2**28


def write_bytes(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file under another name, flush it to the disk, and rename it.

    The folder is to be flushed by `sync_folder`, once for all files in it.

    Raises
    ------
    OSError
        With the name of the file; what was there before is still there.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(unfinished, flags, 0o666)
        try:
            for part in parts:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write strict JSON."""
    write_bytes(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def is_plain_folder(path: Path) -> bool:
    """Tell whether there is a folder that is not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def read_bytes(path: Path, most: int) -> bytes:
    """Return what is in a file, or raise a ValueError that names it.

    Links, pipes and the like are refused, and so are files of more than `most` bytes.
    """
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is not a plain file")
        if status.st_size > (most := _readable(status.st_size, most)):
            raise ValueError(f"{path} has {status.st_size} bytes, more than the {most} it can have")
        with path.open("rb") as file:
            return file.read(status.st_size)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _readable(size: int, most: int) -> int:
    """Return how many bytes of a file of this size can be read at once."""
    available = available_bytes() if size > 2**26 else None
    return most if available is None else min(most, available)


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or raise a ValueError that names the file."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    text = read_bytes(path, LARGEST_JSON)
    try:
        content = json.loads(text.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold a JSON object, got {shown(content)}")
    return content
