"""What a likelihood says of single rows: what they come with, and what chains draw for them."""

from __future__ import annotations

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray

__all__ = ["MayDrawForRows"]


class MayDrawForRows:
    """A likelihood whose rows may have given columns and latent parts; as it stands, none."""

    # --- what rows come with

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return the columns, out of `width`, that rows come with, as a count has an exposure.

        They are not drawn, and clusters say nothing about them.
        """
        return ()

    def exposures_in(self, X: Data) -> dict[str, FloatArray]:
        """Return the exposures of the rows of checked `X`, by what names of parameters begin with.

        None where counts are of rows that were looked at equally long.
        """
        return {}

    def relations_in(self, X: Data) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return the target and the predictors of linear relations between columns of `X`.

        By what names of parameters begin with; none where columns are not explained by others.
        """
        return {}

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return drawn missing entries (..., count), which the core has in units of its own."""
        return latent

    # --- what chains draw for them: missing entries, or other latent numbers

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return the rows and columns of the entries of checked `X` that chains draw.

        In the order in which the core has them; none where missing entries are not drawn.
        """
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def latent_size(self, X: Data) -> int:
        """Return how many latent numbers chains draw for the rows of checked `X`."""
        return len(self.missing_entries(X)[0])

    def row_scales(self, X: Data, latent: FloatArray) -> FloatArray | None:
        """Return the scales of rows (..., n) among drawn latent numbers, None without any.

        A row's precision is its scale times that of its cluster: far below 1 it is an outlier.
        """
        return None
