"""Known errors of the rows of a `Product`: those of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.product_parts import Parts, Slice, checked_key
from mixwood.likelihoods.table_layout import labels_of

__all__ = ["ErrorsOfParts"]


class ErrorsOfParts(Parts):
    """Some of the parts may have errors, one for each row of the table; the others have none."""

    @property
    def has_errors(self) -> bool:
        """Whether one of the parts has."""
        return any(part.has_errors for part in self.parts.values())

    def for_new_rows(self) -> Self:
        """Return the same without errors."""
        return self._each({key: part.for_new_rows() for key, part in self.parts.items()})

    def of_rows(self, rows: IntArray, n: int, *, name: str = "errors") -> Self:
        """Return the same for some of the rows of the table."""
        return self._each(
            {key: part.of_rows(rows, n, name=name) for key, part in self.parts.items()}
        )

    def _each(self, parts: dict[Any, Likelihood]) -> Self:
        if all(parts[key] is part for key, part in self.parts.items()):
            return self
        return replace(self, parts=parts)  # type: ignore[type-var]

    def with_errors(self, errors: Any, n: int, *, name: str = "errors") -> Self:
        """Return the same for `n` new rows with errors of one part, or of several by their columns.

        An array is for the part that had errors, or for the only one that may have some.
        """
        if not isinstance(errors, Mapping):
            errors = {self._the_part_with_errors(name): errors}
            names = dict.fromkeys(errors, name)
        else:
            errors = {self._key_of(key, name): value for key, value in errors.items()}
            names = {key: f"{name}[{key!r}]" for key in errors}
        plain = self.for_new_rows()
        noisy = {
            key: plain.parts[key].with_errors(value, n, name=names[key])
            for key, value in errors.items()
        }
        return plain._each({**plain.parts, **noisy})

    def _the_part_with_errors(self, name: str) -> Any:
        had = [key for key, part in self.parts.items() if part.has_errors]
        may = had or [key for key, part in self.parts.items() if part.takes_errors]
        if not may:
            super().with_errors(None, 0, name=name)  # raises
        if len(may) > 1:
            raise ValueError(
                f"{name} must be a mapping from the columns of parts to the errors there, such as "
                f"{{{may[0]!r}: ...}}, since several parts may have some: {shown(may)}"
            )
        return may[0]

    def _key_of(self, columns: Any, name: str) -> Any:
        wanted = labels_of(checked_key(columns))
        for key in self.parts:
            if labels_of(key) == wanted:
                return key
        raise ValueError(
            f"{name} must have the columns of parts as keys, as they were given: "
            f"{shown(list(self.parts))}, got {columns!r}"
        )

    # --- densities

    def without_errors(self, X: Data) -> Data | None:
        """Return the rows without the columns of the parts that have errors."""
        assert isinstance(X, np.ndarray)
        if all(part.has_errors for part in self.parts.values()):
            return None
        rest = X.copy()
        for part in self._slices(X):
            if part.likelihood.has_errors:
                rest[:, part.columns] = np.nan
        return rest

    def log_densities_with_errors(
        self,
        statistics: FloatArray,
        X: Data,
        rng: np.random.Generator,
        base: FloatArray | None,
    ) -> FloatArray:
        """Return the sum of those of the parts that have errors."""
        table = np.zeros((len(np.asarray(X)), len(statistics)))
        for part, likelihood, own, own_base in self._with_errors(X, statistics, base):
            densities = likelihood.log_densities_with_errors(own, part.data, rng, own_base)
            table[part.rows] += densities
        return table

    def log_alone_with_errors(self, X: Data, base: FloatArray | None) -> FloatArray:
        """Return the sum of those of the parts that have errors."""
        total = np.zeros(len(np.asarray(X)))
        none = np.zeros((1, self.statistic_size))
        for part, likelihood, _, own_base in self._with_errors(X, none, base):
            total[part.rows] += likelihood.log_alone_with_errors(part.data, own_base)
        return total

    def _with_errors(
        self, X: Data, statistics: FloatArray, base: FloatArray | None
    ) -> Iterator[tuple[Slice, Likelihood, FloatArray, FloatArray | None]]:
        """Yield the parts with errors that have rows, as they are for these, and what is theirs."""
        assert isinstance(X, np.ndarray)
        for part, own, own_base in self._slices_with(X, statistics, base):
            if part.likelihood.has_errors and len(part.rows):
                yield part, part.likelihood.of_rows(part.rows, len(X)), own, own_base
