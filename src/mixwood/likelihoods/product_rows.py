"""What the rows of a `Product` come with, and what chains draw for them, part by part."""

from __future__ import annotations

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.product_parts import Parts, modelled, name_of

__all__ = ["RowsOfParts"]


class RowsOfParts(Parts):
    """Constants, exposures, missing entries and latent numbers: those of the parts."""

    def row_constants(self, X: Data) -> FloatArray:
        """Return the sum of the parts' log factors."""
        assert isinstance(X, np.ndarray)
        total = np.zeros(len(X))
        for part in self._slices(X):
            if len(part.rows):
                total[part.rows] += part.likelihood.row_constants(part.data)
        return total

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return those that the parts draw, one part after the other."""
        assert isinstance(X, np.ndarray)
        rows, columns = [], []
        for part in self._slices(X):
            own_rows, own_columns = part.likelihood.missing_entries(part.data)
            rows.append(part.rows[own_rows])
            columns.append(np.array(part.columns)[own_columns])
        return np.concatenate(rows), np.concatenate(columns)

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return those of the parts that no other part draws."""
        assert self.columns is not None
        some = set(modelled(self.parts))
        return tuple(k for k, label in enumerate(self.columns) if label not in some)

    def exposures_in(self, X: Data) -> dict[str, FloatArray]:
        """Return those of the parts."""
        assert isinstance(X, np.ndarray)
        return {
            f"{name_of(part.key)}: {prefix}": exposures
            for part in self._slices(X)
            for prefix, exposures in part.likelihood.exposures_in(part.data).items()
        }

    def relations_in(self, X: Data) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return those of the parts, by the columns of the table."""
        assert isinstance(X, np.ndarray)
        return {
            f"{name_of(part.key)}: {prefix}": (
                part.columns[target],
                tuple(part.columns[k] for k in on),
            )
            for part in self._slices(X)
            for prefix, (target, on) in part.likelihood.relations_in(part.data).items()
        }

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return them in the units of the data."""
        assert isinstance(X, np.ndarray)
        found, end = [], 0
        for part in self._slices(X):
            start, end = end, end + part.likelihood.latent_size(part.data)
            found.append(part.likelihood.drawn_entries(part.data, latent[..., start:end]))
        return np.concatenate(found, axis=-1)

    def latent_size(self, X: Data) -> int:
        """Return how many numbers the parts draw."""
        assert isinstance(X, np.ndarray)
        return sum(part.likelihood.latent_size(part.data) for part in self._slices(X))

    def row_scales(self, X: Data, latent: FloatArray) -> FloatArray | None:
        """Return the least scale that a row has in any part, 1 where it has none."""
        assert isinstance(X, np.ndarray)
        found, end = None, 0
        for part in self._slices(X):
            start, end = end, end + part.likelihood.latent_size(part.data)
            own = part.likelihood.row_scales(part.data, latent[..., start:end])
            if own is None:
                continue
            if found is None:
                found = np.ones((*latent.shape[:-1], len(X)))
            found[..., part.rows] = np.minimum(found[..., part.rows], own)
        return found
