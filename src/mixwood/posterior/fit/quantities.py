"""What a check of fit looks at: quantities of the rows of clusters, given their parameters.

Each kind of column has a class, made for one draw: the rows in the order of their clusters, and
the clusters' parameters. `measure` takes rows, those of the data or replicated ones, and returns
for each of its `quantities` a score, nearly normal, by which data and replicates are compared, and
a value that a reader understands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray

__all__ = ["FEWEST_ROWS", "Blocks", "Checked", "Quantity"]

#: The fewest rows, and the least share of them, of clusters that are looked at by themselves.
FEWEST_ROWS, _LEAST_SHARE = 10, 0.01


class Quantity(NamedTuple):
    """One quantity: what it is, and of which columns (places in the data; none for all)."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Blocks:
    """Rows in the order of their clusters.

    Attributes
    ----------
    labels : int array of shape (n,)
        Increasing, from 0.
    """

    labels: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """The rows of each cluster."""
        return np.bincount(self.labels)

    @cached_property
    def present(self) -> IntArray:
        """The clusters that have rows."""
        return np.flatnonzero(self.sizes)

    @cached_property
    def ends(self) -> IntArray:
        """Where each cluster ends."""
        return np.cumsum(self.sizes)

    @cached_property
    def used(self) -> IntArray:
        """The clusters that are looked at by themselves; the largest, if all are small."""
        least = max(FEWEST_ROWS, _LEAST_SHARE * len(self.labels))
        used = np.flatnonzero(self.sizes >= least)
        return used if len(used) else np.array([self.sizes.argmax()])

    def of(self, cluster: int) -> slice:
        """Return where a cluster's rows are."""
        return slice(self.ends[cluster] - self.sizes[cluster], self.ends[cluster])

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over the rows of each used cluster, in units of roots of its rows."""
        starts = (self.ends - self.sizes)[self.present]
        sums = np.add.reduceat(values, starts, axis=0)[np.searchsorted(self.present, self.used)]
        return np.asarray(sums / np.sqrt(self.sizes[self.used])[:, None])


class Checked:
    """Columns of one kind, under the parameters of one draw."""

    quantities: Sequence[Quantity] = ()

    def measure(self, _rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the score and the value of each quantity."""
        return [], []

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return residuals whose products tell dependence, and the columns of each."""
        return np.empty((len(rows), 0)), []

    def responsible(self, _rows: FloatArray, /) -> dict[str, tuple[int, bool]]:
        """Return for some quantities the cluster where they are most extreme, if it has humps."""
        return {}
