"""The base measures that the parts of a `Product` learn, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.likelihoods.base import Parameters
from mixwood.likelihoods.product_parts import Parts, name_of
from mixwood.likelihoods.table_layout import labels_of

__all__ = ["LearnedByParts"]


class LearnedByParts(Parts):
    """Where chains start, what they learn, and what it is called: that of each part."""

    @property
    def base_size(self) -> int:
        """The parts' learned base measures, one after the other."""
        return sum(part.base_size for part in self.parts.values())

    def start_base(self) -> FloatArray:
        """Return where a chain starts."""
        return np.concatenate([part.start_base() for part in self.parts.values()])

    def start_bases(self) -> FloatArray:
        """Return the starts of the parts side by side; those with fewer repeat theirs."""
        starts = [part.start_bases() for part in self.parts.values()]
        count = max(len(rows) for rows in starts)
        return np.hstack([rows[np.arange(count) % len(rows)] for rows in starts])

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the parts' points side by side, 0 where a row has nothing for a part."""
        assert isinstance(X, np.ndarray)
        sides = []
        for part in self._slices(X):
            points = part.likelihood.start_points(part.data)[:1]
            for found in points:
                all_rows = np.zeros((len(X), found.shape[1]))
                all_rows[part.rows] = found
                sides.append(all_rows)
        return [np.hstack(sides)] if sides else []

    def over_part(self, share: float) -> Self:
        """Return the product of the parts for pilots over a share of the rows."""
        parts = {key: one.over_part(share) for key, one in self.parts.items()}
        return replace(self, parts=parts)  # type: ignore[type-var]

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return the sum of the parts', of those that learn something."""
        return sum(
            part.log_base_volume(own, n, clusters)
            for _, part, own in self._bases(base)
            if part.base_size
        )

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperpriors of the parts."""
        return np.concatenate([part.draw_base(rng) for part in self.parts.values()])

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what the parts learn, each named by its columns: ``x, y: covariance``."""
        return {
            f"{name_of(key)}: {name}": values
            for key, part, own in self._bases(base)
            for name, values in part.base_draws(own).items()
        }

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance within clusters, the mean over the columns with one."""
        found = [
            (len(labels_of(key)), width)
            for key, part, own in self._bases(base)
            if (width := part.base_width(own)) is not None
        ]
        if not found:
            return None
        return np.asarray(sum(n * width for n, width in found) / sum(n for n, _ in found))
