"""Checkpoints: everything that a chain needs to continue, in one file.

A magic word, the length of a header, the header (JSON), the state of the chain as the core
writes it, and a checksum of all that. The checksum finds damage; that no state does harm,
whatever its bytes, is up to the core.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mixwood.core import MoveStatistics
from mixwood.store.atomic_files import read_bytes, sync_folder, write_bytes
from mixwood.store.json_codec import decode, encode

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]

MAGIC = b"mixwood chain\r\n\x1a"
VERSION = 1
LARGEST = 2**40
_SUM_SIZE = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Checkpoint:
    """A chain after some iterations.

    Parameters
    ----------
    iterations, draws : int
        How far it has come.
    seconds : float
        How long that took, from the start of the run.
    random : dict
        The state of its bit generator.
    state : bytes
        Its own state; empty if it cannot continue.
    stats : dict
        What its moves did.
    error : str, optional
        Why it cannot continue.
    """

    iterations: int
    draws: int
    seconds: float
    random: Any
    state: bytes
    stats: dict[str, MoveStatistics] = field(default_factory=dict)
    error: str | None = None


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace the last checkpoint by this one."""
    content = {
        "version": VERSION,
        "iterations": checkpoint.iterations,
        "draws": checkpoint.draws,
        "seconds": checkpoint.seconds,
        "random": checkpoint.random,
        "stats": checkpoint.stats,
        "error": checkpoint.error,
    }
    header = json.dumps(encode(content, []), allow_nan=False).encode()
    start = MAGIC + len(header).to_bytes(8, "little") + header
    check = hashlib.sha256(start)
    check.update(checkpoint.state)
    write_bytes(path, start, checkpoint.state, check.digest())
    sync_folder(path.parent)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return a checkpoint, or raise a ValueError that names the file."""
    content = read_bytes(path, LARGEST)
    try:
        return _parsed(content)
    except (LookupError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{path} is damaged, or not a checkpoint: {error}") from error


def _parsed(content: bytes) -> Checkpoint:
    if not content.startswith(MAGIC):
        raise ValueError("it does not begin like one")
    body, check = content[:-_SUM_SIZE], content[-_SUM_SIZE:]
    if hashlib.sha256(body).digest() != check:
        raise ValueError("its checksum is wrong")
    start = len(MAGIC) + 8
    length = int.from_bytes(body[len(MAGIC) : start], "little")
    if length > len(body) - start:
        raise ValueError("its header is longer than the file")
    header = json.loads(body[start : start + length].decode("utf-8"))
    if not isinstance(header, dict) or type(header.get("version")) is not int:
        raise ValueError("its header has no version")
    if header["version"] != VERSION:
        raise ValueError(
            f"it has version {header['version']}, and this mixwood knows version {VERSION}: "
            "install a newer one"
        )
    return _checked(decode(header, []), body[start + length :])


def _checked(header: dict[str, Any], state: bytes) -> Checkpoint:
    """Return the checkpoint if every entry of the header is what it must be."""
    for key in ("iterations", "draws"):
        if type(header[key]) is not int or not 0 <= header[key] < 2**62:
            raise ValueError(f"{key} must be a whole number")
    if type(header["seconds"]) is not float or not 0 <= header["seconds"] < np.inf:
        raise ValueError("seconds must be a number")
    if not isinstance(header["stats"], dict):
        raise ValueError("stats must be a dict")
    if header["error"] is not None and type(header["error"]) is not str:
        raise ValueError("error must be text")
    inner = header["random"]["state"]
    for words, bits in ((inner["state"], 128), (inner["inc"], 128)):
        if type(words) is not int or not 0 <= words < 2**bits:
            raise ValueError("random is not the state of a PCG64 generator")
    random = {
        "bit_generator": "PCG64",
        "state": {"state": inner["state"], "inc": inner["inc"]},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return Checkpoint(
        header["iterations"],
        header["draws"],
        header["seconds"],
        random,
        state,
        header["stats"],
        header["error"],
    )
