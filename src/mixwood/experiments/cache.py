"""Runs kept on disk, one file each, so that an interrupted experiment can continue."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.experiments.protocol import Run

if TYPE_CHECKING:
    from mixwood._support.types import Data

__all__ = ["RunCache", "digest_of_data"]


@dataclass(frozen=True)
class RunCache:
    """A folder of runs, found by everything that decides what a run is.

    Examples
    --------
    >>> import tempfile
    >>> cache = RunCache(Path(tempfile.mkdtemp()))
    >>> cache.read({"sampler": "Gibbs()", "seed": 1}) is None
    True
    """

    folder: Path

    def path(self, identity: dict[str, Any]) -> Path:
        """Return the file of a run: named by a digest of its identity."""
        text = json.dumps(identity, sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"

    def read(self, identity: dict[str, Any]) -> Run | None:
        """Return the run, or None if it is not here (or its file is damaged)."""
        try:
            with self.path(identity).open("rb") as file, np.load(file) as arrays:
                stored = json.loads(str(arrays["description"]))
                if stored["identity"] != identity:
                    return None
                return Run(stored["summary"], arrays["times"], arrays["log_joint"])
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def write(self, identity: dict[str, Any], run: Run) -> None:
        """Keep a run; an interruption leaves no half-written file under its name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path(identity)
        description = json.dumps({"identity": identity, "summary": run.summary})
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            np.savez_compressed(
                file, description=description, times=run.times, log_joint=run.log_joint
            )
        os.replace(partial, path)


def digest_of_data(X: Data) -> str:
    """Return a short digest of dense or sparse data.

    Examples
    --------
    >>> digest_of_data(np.zeros((2, 2))) == digest_of_data(np.ones((2, 2)))
    False
    """
    parts = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    digest = hashlib.sha256(repr(X.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
