"""Checkpoints: everything that a chain needs to continue, in one file.

A sealed file: a header, the state of the chain as the core writes it, and a checksum. The checksum
finds damage; that no state does harm, whatever its bytes, is up to the core.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mixwood.core import MoveStatistics
from mixwood.store.atomic_files import read_bytes
from mixwood.store.json_codec import decode, encode
from mixwood.store.sealed_file import unsealed, write_sealed

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]

MAGIC = b"mixwood chain\r\n\x1a"
VERSION = 1
LARGEST = 2**40


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
    write_sealed(path, MAGIC, encode(content, []), checkpoint.state)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return a checkpoint, or raise a ValueError that names the file."""
    content = read_bytes(path, LARGEST)
    try:
        header, state = unsealed(content, MAGIC, VERSION)
        return _checked(decode(header, []), state)
    except (LookupError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{path} is damaged, or not a checkpoint: {error}") from error


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
