"""Data for the benchmarks: made here, or read from the folder that MIXWOOD_DATA names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np


def data_folder() -> Path | None:
    """Return the folder with real data, or None where the variable is not set."""
    folder = os.environ.get("MIXWOOD_DATA")
    return Path(folder) if folder else None


def labelled_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of one of the real sets; the last column is the label."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("set MIXWOOD_DATA to the folder that holds sets/ and nips/")
    with gzip.open(folder / "sets" / f"{name}.csv.gz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)
