"""Parts of a base measure that are learned: what data say of them before a chain runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["LearnedScale", "TiedRate"]


class _ByArrays:
    """Equal if all fields are, arrays entry by entry."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[key], theirs[key]) for key in mine)

    def __hash__(self) -> int:
        return hash(type(self))


@dataclass(frozen=True, eq=False)
class LearnedScale(_ByArrays):
    """The covariance that clusters are expected to have is sampled.

    Attributes
    ----------
    covariance : array of shape (d, d), (d,) or float
        That of all rows together; full, diagonal or spherical.
    floor : array of the same shape
        What the expected covariance of a cluster cannot fall below.
    """

    covariance: Any
    floor: Any


@dataclass(frozen=True, eq=False)
class TiedRate(_ByArrays):
    """The rate of a Gamma prior follows its sampled shape, so that its mean stays.

    Attributes
    ----------
    mean : array of shape (d,)
        The prior mean of each column.
    """

    mean: Any
