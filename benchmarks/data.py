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


def adjusted_rand(first: np.ndarray, second: np.ndarray) -> float:
    """Return the adjusted Rand index of two partitions."""
    _, a = np.unique(first, return_inverse=True)
    _, b = np.unique(second, return_inverse=True)
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)

    def pairs(counts: np.ndarray) -> float:
        return float((counts * (counts - 1) / 2).sum())

    together, rows, columns = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / pairs(np.array([len(a)]))
    largest = (rows + columns) / 2
    return 1.0 if largest == expected else (together - expected) / (largest - expected)
