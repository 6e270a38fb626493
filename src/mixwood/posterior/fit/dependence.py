"""Whether columns that the model takes for independent go together within clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.fit.quantities import Blocks, Checked, Quantity

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray

__all__ = ["Dependence"]

#: It is looked for among this many residuals at most.
_MOST_FEATURES = 100


class Dependence:
    """Whether columns that the model takes for independent go together within clusters.

    Products of residuals are summed over the rows of each cluster, and their squares over clusters
    and over the residuals of two columns: with normal ones a chi-squared number, made normal by
    its cube root (Wilson and Hilferty). The largest over all pairs of columns is the score.
    """

    def __init__(self, parts: list[Checked], rows: FloatArray, blocks: Blocks) -> None:
        owners = [owner for part in parts for owner in part.features(rows)[1]]
        chosen = (
            np.linspace(0, len(owners) - 1, min(len(owners), _MOST_FEATURES)).round().astype(int)
        )
        self._parts, self._blocks, self._chosen = parts, blocks, chosen
        every = [owners[k] for k in chosen]
        self.owners = sorted(set(every))
        self._of = np.array([[owner == one for one in self.owners] for owner in every], float)
        self.quantities = [Quantity("dependence", ())] if len(self.owners) > 1 else []

    def _pairs(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scores and correlations of all pairs of columns."""
        F = np.hstack([part.features(rows)[0] for part in self._parts])[:, self._chosen]
        squares = np.zeros((F.shape[1], F.shape[1]))
        for c in self._blocks.used:
            own = F[self._blocks.of(c)]
            squares += (own.T @ own) ** 2 / len(own)
        first, second = np.triu_indices(len(self.owners), 1)
        total = (self._of.T @ squares @ self._of)[first, second]
        widths = self._of.sum(axis=0)
        degrees = len(self._blocks.used) * widths[first] * widths[second]
        spread = 2 / (9 * degrees)
        scores = (np.cbrt(total / degrees) - 1 + spread) / np.sqrt(spread)
        rows_used = self._blocks.sizes[self._blocks.used].sum()
        narrow = np.minimum(widths[first], widths[second])
        return scores, np.minimum(np.sqrt(total / rows_used / narrow), 1.0)

    def measure(self, rows: FloatArray) -> tuple[list[float], list[float]]:
        """Return the score of the pair that goes together most, and its correlation."""
        if not self.quantities:
            return [], []
        scores, correlations = self._pairs(rows)
        most = int(scores.argmax())
        return [float(scores[most])], [float(correlations[most])]

    def pair(self, rows: FloatArray) -> tuple[int, ...]:
        """Return the columns that go together most."""
        first, second = np.triu_indices(len(self.owners), 1)
        most = int(self._pairs(rows)[0].argmax())
        return (*self.owners[first[most]], *self.owners[second[most]])
