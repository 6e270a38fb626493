"""The sets of the study by name: simulated, real, and `tenk`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import labelled_set
from benchmarks.peers.contests import tenk
from benchmarks.study_defaults.simulated import SIMULATED, Floats

#: In the order of their size, roughly: what is quick comes first.
REAL = (
    "galaxy", "iris", "wine", "crabs", "dense", "hepta", "thyroid", "flame", "faithful",
    "pathbased", "jain", "mk3", "fuzzyx", "hdbscan", "a1", "s1", "s2", "unbalance", "gvhd_pos",
    "digits", "birch1",
)  # fmt: skip
NAMES = (*SIMULATED, *REAL, "tenk")


@dataclass(frozen=True)
class LabelledSet:
    """Rows and their classes, -1 for a row of which none is known."""

    name: str
    X: Floats
    labels: NDArray[np.int64]

    @cached_property
    def units(self) -> Floats:
        """The columns' standard deviations, 1 for a constant one."""
        return np.where(np.ptp(self.X, axis=0) > 0, self.X.std(axis=0), 1.0)

    @cached_property
    def n_classes(self) -> int:
        """How many classes are known: 0 if none is."""
        return len(np.unique(self.labels[self.labels >= 0]))

    @cached_property
    def singular(self) -> bool:
        """Whether the rows lie in a subspace, where a density is as large as its floor allows."""
        standard = (self.X - self.X.mean(axis=0)) / self.units
        return bool(np.linalg.matrix_rank(standard, tol=1e-6 * len(standard)) < self.X.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Short text that changes with the rows or their classes."""
        content = self.X.tobytes() + self.labels.astype(np.int64).tobytes()
        return hashlib.sha256(content).hexdigest()[:8]

    def split(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which rows to fit, four of five, and which are held out."""
        order = np.random.default_rng(1).permutation(len(self.X))
        rows = 4 * len(order) // 5
        return order[:rows], order[rows:]


def load(name: str) -> LabelledSet:
    """Return a set by its name; the real ones need the folder that MIXWOOD_DATA names."""
    if name in SIMULATED:
        X, labels = SIMULATED[name]()
    elif name == "tenk":
        contest = tenk()  # as the field was measured on
        X, labels = contest.X, contest.truth
    elif name in REAL:
        X, labels = labelled_set(name)
    else:
        raise ValueError(f"set must be one of {', '.join(NAMES)}, got {name!r}")
    return LabelledSet(name, np.ascontiguousarray(X, np.float64), labels)
