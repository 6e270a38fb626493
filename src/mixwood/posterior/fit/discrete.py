"""Counts, categories and words: what of their rows is compared with replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.fit.quantities import Blocks, Checked, Quantity

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray

__all__ = ["Binary", "Categories", "Counts", "Words"]


class Counts(Checked):
    """Columns that are Poisson in a cluster."""

    def __init__(self, rate: FloatArray, places: list[int], blocks: Blocks) -> None:
        self.columns = places
        self._rate = np.maximum(rate[blocks.labels], 1e-12)
        each = [(name, (j,)) for name in ("dispersion", "zeros") for j in places]
        self.quantities = [Quantity(*one) for one in each]

    def _residuals(self, rows: FloatArray, /) -> FloatArray:
        return np.asarray((rows[:, self.columns] - self._rate) / np.sqrt(self._rate))

    def measure(self, rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the variance over the mean of each column, and the share of zeros."""
        over = (self._residuals(rows) ** 2).mean(axis=0)
        zeros = (rows[:, self.columns] == 0).mean(axis=0)
        return [*np.log(np.maximum(over, 1e-12)), *zeros], [*over, *zeros]

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return the residuals."""
        return self._residuals(rows), [(j,) for j in self.columns]


class Binary(Checked):
    """Columns of two values, independent in a cluster: only dependence can tell misfit."""

    def __init__(self, probability: FloatArray, places: list[int], blocks: Blocks) -> None:
        self.columns = places
        self._p = np.clip(probability[blocks.labels], 1e-12, 1 - 1e-12)

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return the residuals."""
        return (rows[:, self.columns] - self._p) / np.sqrt(self._p * (1 - self._p)), [
            (j,) for j in self.columns
        ]


class Categories(Binary):
    """Columns of categories, independent in a cluster."""

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return the residuals of each category's indicator."""
        found: list[FloatArray] = []
        owners: list[tuple[int, ...]] = []
        for j, column in enumerate(self.columns):
            p = self._p[:, j]
            real = np.flatnonzero(p.max(axis=0) > 1e-11)
            p = p[:, real]
            found.append((np.equal(rows[:, column, None], real) - p) / np.sqrt(p))
            owners += [(column,)] * len(real)
        return np.hstack(found), owners


class Words(Checked):
    """Rows of words, each drawn by itself: those used once are used again more often in texts."""

    quantities = (Quantity("repeats", ()),)

    def measure(self, rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the share of words that are in their row already."""
        total = max(float(rows.sum()), 1.0)
        share = 1 - np.count_nonzero(rows) / total
        return [share], [share]
