"""Linear relations: what of the targets is compared with replicates.

With ``e`` the residual of a target in standard deviations of its cluster: what `normal` has of a
column, and ``curve``, whether residuals follow the squares of predictors, ``sum e q`` with q a
square less what is linear in the predictors; its squares are added up over predictors and clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.fit.normal import Normal
from mixwood.posterior.fit.quantities import Blocks, Checked, Quantity

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray

__all__ = ["Relation"]


class Relation(Checked):
    """A target that is linear in predictors, each cluster's otherwise.

    Parameters
    ----------
    coefficients : array of shape (C, p + 2)
        Intercept, slopes and deviation of each cluster.
    target : int
        Its column.
    on : sequence of p int
        The predictors' columns.
    blocks : Blocks
    """

    def __init__(
        self, coefficients: FloatArray, target: int, on: tuple[int, ...], blocks: Blocks
    ) -> None:
        self._target, self._on, self._blocks = target, list(on), blocks
        self._of_row = coefficients[blocks.labels]
        standard = {
            "mean": np.zeros((len(coefficients), 1)),
            "variance": np.ones((len(coefficients), 1)),
        }
        self._normal = Normal(standard, [0], blocks)
        own = [quantity.name for quantity in self._normal.quantities]
        self.quantities = [Quantity(name, (target,)) for name in (*own, "curve")]

    def _residuals(self, rows: FloatArray) -> FloatArray:
        expected = self._of_row[:, 0] + (self._of_row[:, 1:-1] * rows[:, self._on]).sum(axis=1)
        return np.asarray((rows[:, self._target] - expected) / self._of_row[:, -1])[:, None]

    def measure(self, rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the score and the value of each quantity."""
        e = self._residuals(rows)
        scores, values = self._normal.measure(e)
        total = sum(
            self._curve(rows[self._blocks.of(c)][:, self._on], e[self._blocks.of(c), 0])
            for c in self._blocks.used
        )
        rows_used = float(self._blocks.sizes[self._blocks.used].sum())
        return [*scores, float(np.cbrt(total))], [*values, float(np.sqrt(total / rows_used))]

    def _curve(self, x: FloatArray, e: FloatArray) -> float:
        """Return the sum over predictors of squared correlations with squares, times the rows."""
        x = x - x.mean(axis=0)
        x = x / np.maximum(x.std(axis=0), 1e-300)
        linear = np.column_stack([np.ones(len(x)), x])
        squares = x * x
        squares = squares - linear @ np.linalg.lstsq(linear, squares, rcond=None)[0]
        length = (squares**2).sum(axis=0)
        some = length > 1e-9 * len(x)  # of a predictor with two values nothing is left
        return float(((e @ squares[:, some]) ** 2 / length[some]).sum())

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return the residuals."""
        return self._residuals(rows), [(self._target,)]

    def responsible(self, rows: FloatArray, /) -> dict[str, tuple[int, bool]]:
        """Return the flattest and the most peaked cluster, and if they have humps."""
        found = self._normal.responsible(self._residuals(rows))
        return {name: found[name] for name in ("humps", "peaks", "asymmetry")}
