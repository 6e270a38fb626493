"""Counts of rows that were not looked at equally long, or equally deep: a column of exposures.

An exposure is one positive number for each row, such as the time that events were counted for, or
the library size of a cell. It is a column of the data like any other, so that it stays with its
row, and new rows bring theirs along; but it is no count, and clusters have no parameter for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray
from mixwood.input.counts import whole_number_matrix
from mixwood.input.matrices import as_array, column_names, real_array, real_matrix
from mixwood.likelihoods.base import Column, Likelihood

__all__ = ["Exposed"]

#: What an exposure may be: its sums over rows keep their digits.
BOUNDS = (1e-9, 1e9)
#: What the column is called where the exposures are given as an array.
NAME = "exposure"


class Exposed(Likelihood):
    """A likelihood of counts that may have a column of exposures.

    `exposure` is None, the number or the name of that column, or an array of one number per row,
    which is then the last column of the data.
    """

    exposure: Any
    reads_counts = True
    skips_missing = True

    def _check_exposure(self) -> None:
        """Check the argument itself; data are not at hand yet."""
        given = self.exposure
        if given is None or isinstance(given, (str, int, np.integer)):
            if isinstance(given, bool):
                raise TypeError(f"exposure must be a column or numbers, got {given}")
            plain = int(given) if isinstance(given, np.integer) else given
            if isinstance(plain, int) and abs(plain) >= 2**31:
                raise ValueError(f"exposure must be the number of a column, got {shown(given)}")
            object.__setattr__(self, "exposure", plain)
            return
        values = real_array(as_array(given, "exposure"), "exposure")
        if values.ndim != 1:
            raise ValueError(
                "exposure must be the name or number of a column, or an array of one number per "
                f"row, got {shown(given)}"
            )
        _refuse_bad_exposures(values, "exposure", "")
        object.__setattr__(self, "exposure", values)

    def placed(self, names: Sequence[Any] | None) -> Self:
        """Return a copy with the number of the column where `exposure` is its name."""
        if not isinstance(self.exposure, str):
            return self
        if names is None:
            raise ValueError(
                f"exposure names the column {self.exposure!r}, but X has no names; give a table, "
                "or the number of the column"
            )
        if list(names).count(self.exposure) != 1:
            raise ValueError(
                f"exposure must name a column of X, got {self.exposure!r}; X has "
                f"{shown(list(names))}"
            )
        return replace(self, exposure=list(names).index(self.exposure))  # type: ignore[type-var]

    def names_in(self, X: Any) -> tuple[str, ...] | None:
        """Return the names of the columns; an array of exposures is one more."""
        names = column_names(X)
        if names is not None and (self._beside or self.width == len(names) + 1):
            return (*names, NAME)
        return names

    @property
    def _beside(self) -> bool:
        """Whether the exposures stand beside the data that they belong to."""
        return isinstance(self.exposure, np.ndarray)

    def _width(self, counts: int | None) -> int | None:
        """Return how many columns the data have, given how many of counts."""
        return counts if counts is None or self.exposure is None else counts + 1

    def _counted(self, width: int) -> int:
        """Return how many columns of counts there are among all."""
        return width if self.exposure is None else width - 1

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of whole, non-negative numbers, NaN where missing.

        Its column of exposures has positive numbers.
        """
        width = width if width is not None else self.width
        if self.exposure is None:
            return whole_number_matrix(X, name=name, width=width, missing=True)
        located = self.placed(self.names_in(X))
        if located._beside:
            own = None if width is None else width - 1
            counts = whole_number_matrix(X, name=name, width=own, missing=True)
            if len(located.exposure) != len(counts):
                raise ValueError(
                    f"exposure must be {len(counts)} numbers, one per row of {name}, got "
                    f"{len(located.exposure)}; new rows bring theirs along as a last column"
                )
            return np.ascontiguousarray(np.column_stack([counts, located.exposure]))
        matrix = real_matrix(X, name=name, width=width, missing=True)
        place = located._place(matrix.shape[1], name)
        counts = matrix.copy()
        counts[:, place] = 0.0
        whole_number_matrix(counts, name=name, missing=True)
        _refuse_bad_exposures(matrix[:, place], name, f", column {place}, the exposure")
        return matrix

    def _place(self, width: int, name: str = "X") -> int:
        """Return the number of the column, out of `width`, at least 0."""
        if self._beside:
            return width - 1
        if isinstance(self.exposure, str):
            self.placed(None)  # raises: there were no names
        place = int(self.exposure)
        if not -width <= place < width:
            raise ValueError(
                f"exposure must be the number of one of the {width} columns of {name}, or of those "
                f"of its part of a Product, got {place}"
            )
        if width == 1:
            raise ValueError(f"{name} has nothing but a column of exposures")
        return place % width

    def _explicit_exposure(self, X: Data) -> dict[str, Any]:
        """Return the argument as it is once the data are at hand: a number from 0 on."""
        return {} if self.exposure is None else {"exposure": self._place(int(X.shape[1]))}

    def _split(self, X: Data) -> tuple[FloatArray, FloatArray | None]:
        """Return the counts in checked `X`, and the exposures, if there are any."""
        assert isinstance(X, np.ndarray)
        if self.exposure is None:
            return np.ascontiguousarray(X), None
        place = self._place(X.shape[1])
        return np.ascontiguousarray(np.delete(X, place, axis=1)), np.ascontiguousarray(X[:, place])

    def _joined(self, counts: FloatArray, exposures: FloatArray) -> FloatArray:
        """Return rows with the column of exposures, if they have one, where it belongs."""
        if self.exposure is None:
            return counts
        return np.insert(counts, self._place(counts.shape[1] + 1), exposures, axis=1)

    def _drawn_exposures(
        self, size: int, rng: np.random.Generator, like: Data | None
    ) -> FloatArray:
        """Return exposures for new rows: those of `like`, or of random rows of it, or 1."""
        given = None if like is None else self._split(like)[1]
        if given is None or len(given) == size:
            return np.ones(size) if given is None else given
        return given[rng.integers(len(given), size=size)]

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return the column of exposures, if there is one."""
        if self._beside:
            raise ValueError(
                "exposure must be the name or the number of a column that is one of the part's own"
            )
        return () if self.exposure is None else (self._place(width),)

    def exposures_in(self, X: Data) -> dict[str, FloatArray]:
        """Return the exposures, if there are any."""
        exposures = self._split(X)[1]
        return {} if exposures is None else {"": exposures}

    def parameter_columns(self, columns: list[Column]) -> list[Column]:
        """Return the columns of counts."""
        if self.exposure is None:
            return columns
        place = self._place(len(columns))
        return columns[:place] + columns[place + 1 :]


def _refuse_bad_exposures(values: FloatArray, name: str, where: str) -> None:
    low, high = BOUNDS
    wrong = np.flatnonzero(~((values >= low) & (values <= high)))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"{name} has {values[row]:g} in row {row}{where}; exposures must be positive, within "
            f"{low:g} and {high:g}"
        )
