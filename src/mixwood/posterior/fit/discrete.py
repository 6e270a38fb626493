"""Counts, categories and words: what of their rows is compared with replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.fit.quantities import Blocks, Checked, Quantity

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray

__all__ = ["Binary", "Categories", "Counts", "Words"]


class Counts(Checked):
    """Columns of counts: Poisson in a cluster, or with a `size` that they vary more by.

    Of rows with exposures, the mean and the variance are so many times as large.
    """

    def __init__(
        self,
        rate: FloatArray,
        places: list[int],
        blocks: Blocks,
        size: FloatArray | None = None,
        exposures: FloatArray | None = None,
    ) -> None:
        self.columns = places
        rate = np.maximum(rate[blocks.labels], 1e-12)
        over = 1.0 if size is None else 1 + rate / size[blocks.labels]
        self._mean = rate if exposures is None else rate * exposures[:, None]
        self._sd = np.sqrt(self._mean * over)
        each = [(name, (j,)) for name in ("dispersion", "zeros") for j in places]
        self.quantities = [Quantity(*one) for one in each]

    def _residuals(self, rows: FloatArray, /) -> FloatArray:
        return np.asarray((rows[:, self.columns] - self._mean) / self._sd)

    def measure(self, rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the variance over the expected one of each column, and the share of zeros."""
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
