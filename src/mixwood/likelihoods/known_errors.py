"""What a likelihood says of rows that come with known errors: measurements of positions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray

__all__ = ["MayHaveErrors"]


class MayHaveErrors:
    """A likelihood whose rows may be measurements with known errors; as it stands, they are not."""

    #: whether rows may have errors
    takes_errors: ClassVar[bool] = False

    @property
    def has_errors(self) -> bool:
        """Whether the rows, or some of their columns, have errors."""
        return False

    # --- errors belong to rows

    def for_new_rows(self) -> Self:
        """Return the same for rows that are not the data, without errors."""
        return self

    def with_errors(self, errors: Any, n: int, *, name: str = "errors") -> Self:
        """Return the same for `n` new rows with errors, as the user gives them, or raise."""
        raise TypeError(
            f"{name} must be None: the likelihood {type(self).__name__} has no densities of rows "
            "with errors; mw.Gaussian() has"
        )

    def of_rows(self, rows: IntArray, n: int, *, name: str = "errors") -> Self:
        """Return the same for some of the `n` rows that it is for: with their errors alone."""
        return self

    def with_rows_of(self, other: Self) -> Self:
        """Return the same for the rows of `other`, which is of its kind: with their errors."""
        return self

    # --- densities, given parameters that are drawn

    def without_errors(self, X: Data) -> Data | None:
        """Return what of checked rows has no errors, the rest missing (NaN); None if all have."""
        return X

    def log_densities_with_errors(
        self,
        statistics: FloatArray,
        X: Data,
        rng: np.random.Generator,
        base: FloatArray | None,
    ) -> FloatArray:
        """Return the log density (m, C) in clusters of what has errors in the rows it is for.

        Given parameters that are drawn for each cluster, from its statistic.
        """
        raise NotImplementedError

    def log_alone_with_errors(self, X: Data, base: FloatArray | None) -> FloatArray:
        """Return the log density (m,) of the same in a new cluster, its parameters integrated out.

        Under one base measure; None where that is fixed.
        """
        raise NotImplementedError
