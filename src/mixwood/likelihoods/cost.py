"""What a likelihood costs where clusters are very wide: said before it is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixwood._support.memory import available_bytes
from mixwood._support.numbers import duration, memory
from mixwood._support.warn import warn

if TYPE_CHECKING:
    from mixwood.likelihoods.base import Likelihood

__all__ = ["refuse_huge_matrices", "warn_of_cost"]

#: A cluster narrower than this costs what the number of rows says, which surprises nobody.
_WIDE = 10_000
#: Seconds before the first draw from which there is a warning. An iteration takes up to a quarter
#: of them, and a run has some thousand.
_LONG = 5.0
#: Seconds for each row and each number of `Likelihood.work`, to grow the tree that chains start
#: from. Measured for Gaussian, DiagonalGaussian and Categorical: 0.5 to 2 microseconds.
_SECONDS = 1e-6
#: Below this many columns square matrices need no second thought.
_NARROW = 1000
#: This many of them are needed at once to take the prior's scale from data.
_MATRICES = 4


def warn_of_cost(likelihood: Likelihood, n_rows: int) -> None:
    """Warn if a chain over `n_rows` rows is slow because clusters are so wide.

    The parameters must be explicit.
    """
    if likelihood.sparse_statistics:
        return
    try:
        work, numbers = likelihood.work, likelihood.statistic_size
    except TypeError:  # a likelihood of a user's that does not tell
        return
    seconds = _SECONDS * n_rows * work
    if work < _WIDE or seconds < _LONG:
        return
    needed = 16 * n_rows * numbers  # a tree has twice as many nodes as rows
    warn(
        f"this will take long: each cluster of {type(likelihood).__name__} on X keeps {numbers:,} "
        f"numbers. Expect about {duration(seconds)} before a chain's first draw, up to "
        f"{duration(seconds / 4)} per iteration, and {memory(needed)} of memory per chain. "
        f"{likelihood.advice_if_wide}",
        RuntimeWarning,
    )


def refuse_huge_matrices(width: int, name: str) -> None:
    """Raise a MemoryError if matrices of `width` squared do not fit into the memory there is."""
    if width <= _NARROW:
        return
    needed, available = 8 * _MATRICES * width**2, available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"{name} has {width:,} columns, and Gaussian has covariance matrices with the square "
            f"of that many entries: {memory(8 * width**2)} each, {_MATRICES} of them at once, "
            f"where {memory(available)} are free. Use DiagonalGaussian, or fewer columns (such as "
            "the first principal components)"
        )
