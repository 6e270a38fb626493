"""What a conjugate family of the reference can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.reference.base.base import LearnedBase
from mixwood.reference.random import Stream

__all__ = ["Density", "Family", "S", "dense"]

S = TypeVar("S")
#: From a row to its log density.
Density: TypeAlias = Callable[[FloatArray], float]


def dense(X: Data) -> FloatArray:
    """Return checked data as a dense array of floats."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


class Family(ABC, Generic[S]):
    """What a conjugate family can do with its statistics."""

    #: whether rows are samples of any size, which weigh as much as they count
    has_row_totals: ClassVar[bool] = False

    #: what is learned of the base measure; None where its parameters are fixed
    learned: LearnedBase[S] | None = None
    #: the parameters of the base measure that are learned, as a flat vector
    base: FloatArray = np.empty(0)

    def set_base(self, base: FloatArray) -> None:
        """Take on the parameters of the base measure that a vector holds.

        Statistics do not depend on them: those at hand stay right.
        """
        self.base = np.array(base, dtype=np.float64)

    def update_base(self, stats: Sequence[S], stream: Stream) -> None:
        """Move the parameters of the base measure that are learned, given the clusters."""
        if self.learned is not None:
            self.set_base(self.learned.update(stats, self.base, stream))

    @abstractmethod
    def empty(self) -> S:
        """Return the statistic of no rows."""

    @abstractmethod
    def observe(self, stat: S, row: FloatArray) -> S:
        """Return the statistic with `row` added."""

    @abstractmethod
    def forget(self, stat: S, row: FloatArray) -> S:
        """Return the statistic without `row`, which must be in it."""

    @abstractmethod
    def merge(self, a: S, b: S) -> S:
        """Return the statistic of two disjoint sets together."""

    @abstractmethod
    def log_marginal(self, stat: S) -> float:
        """Return ``log P(X_c)``."""

    def learned_parts(self, stats: Sequence[S]) -> list[tuple[Family[Any], list[Any]]]:
        """Return what learns its own part of the base, in that order, with its statistics."""
        return [(self, list(stats))]

    def draw_atom(self, stat: S, stream: Stream) -> Density:  # noqa: ARG002
        """Draw a cluster's parameters, an atom; return the log density of a row given them.

        Given the cluster's statistic; that of no rows gives a draw from the prior. Variables
        are drawn in the order of the compiled core. Constants that depend on the row alone are
        left out.

        Examples
        --------
        >>> from mixwood.likelihoods import Bernoulli
        >>> from mixwood.reference import family_of
        >>> coins = family_of(Bernoulli(a=1, b=1, columns=1))
        >>> log_density = coins.draw_atom(coins.empty(), Stream(np.random.default_rng(1)))
        >>> round(float(np.exp(log_density(np.zeros(1))) + np.exp(log_density(np.ones(1)))), 12)
        1.0
        """
        raise TypeError(f"mixwood.reference cannot draw the atoms of {type(self).__name__}")

    # --- rows with a latent part, which chains draw; here, they have none

    #: how many numbers are appended to every row: latent ones, or what it comes with
    extra: int = 0
    #: whether all latent numbers are drawn at once, too, given atoms
    redraws_at_once: bool = False

    #: whether latent numbers are drawn one row at a time given atoms, rather than given statistics
    given_atoms: bool = False

    def draw_given(self, stat: S, stream: Stream) -> Any:
        """Draw the atom of a cluster that is given then."""
        raise NotImplementedError

    def log_known_given(self, atom: Any, stat: S, row: FloatArray) -> float:
        """Return ``log P(what is known of the row | an atom)``; of a part without, `log_known`."""
        raise NotImplementedError

    def completed_given(self, atom: Any, stat: S, row: FloatArray, stream: Stream) -> FloatArray:
        """Return the row with its latent part drawn, given the rest of it and the same."""
        raise NotImplementedError

    def with_latent(self, X: FloatArray, rows: IntArray) -> FloatArray:  # noqa: ARG002
        """Return rows as the family has them: NaN for each latent number that is no entry.

        `rows` are their numbers in the table.
        """
        return np.hstack([X, np.full((len(X), self.extra), np.nan)])

    def latent_places(self, given: FloatArray) -> tuple[IntArray, IntArray]:  # noqa: ARG002
        """Return the rows and columns of the latent numbers, in the order of the core."""
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def latent_units(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Return zero and unit of each, as the core has them."""
        return np.empty(0), np.empty(0)

    def known_part(self, given: FloatArray, row: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return what is known of a row as it is now."""
        return given

    def redrawn(
        self,
        X: FloatArray,
        labels: IntArray,  # noqa: ARG002
        stats: Sequence[S],  # noqa: ARG002
        stream: Stream,  # noqa: ARG002
    ) -> FloatArray:
        """Return rows with all latent numbers drawn again, given atoms of the clusters."""
        return X

    def lacks(self, row: FloatArray) -> bool:  # noqa: ARG002
        """Return whether a row has a latent part, such as missing entries, that chains draw."""
        return False

    def filled(self, row: FloatArray) -> FloatArray:
        """Return the row as a chain begins with it, its latent part filled in."""
        return row

    def log_known(self, stat: S, row: FloatArray) -> float:
        """Return ``log P(what is known of the row | the rows of stat)``."""
        return self.log_marginal(self.observe(stat, row)) - self.log_marginal(stat)

    def completed(self, stat: S, row: FloatArray, stream: Stream) -> FloatArray:  # noqa: ARG002
        """Return the row with what is missing drawn, given the rest of it and the rows of stat."""
        return row

    def of(self, rows: Iterable[FloatArray]) -> S:
        """Return the statistic of some rows."""
        stat = self.empty()
        for row in rows:
            stat = self.observe(stat, row)
        return stat
