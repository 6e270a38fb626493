"""What every likelihood has in common.

A likelihood goes through three stages, each a plain function of the one before:

1. what the user wrote, perhaps with parameters left to the data (`Gaussian()`);
2. `resolve(X)`: the same class with every parameter a number or an array;
3. `bind(X)`: the compiled family over the rows of `X`, read-only, shared by all chains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood.checks import shown

if TYPE_CHECKING:
    from typing import Self

    from scipy.sparse import csr_array

    from mixwood import _core

__all__ = ["Data", "FloatArray", "IntArray", "Likelihood", "as_likelihood"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Data: TypeAlias = "FloatArray | csr_array"


class Likelihood(ABC):
    """The distribution of a cluster's items, with its conjugate prior integrated out."""

    #: whether a missing entry (NaN) is skipped, that is, integrated out
    skips_missing: ClassVar[bool] = False

    @abstractmethod
    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> Data:
        """Return `X` in the form the core reads, or raise an error that names `name`."""

    @abstractmethod
    def resolve(self, X: Data) -> Self:
        """Return a copy whose parameters are all explicit, taken from checked `X` where open."""

    @abstractmethod
    def resolve_standard(self, width: int) -> Self:
        """Return a copy whose open parameters are those of standardized data `width` wide."""

    @property
    @abstractmethod
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""

    @abstractmethod
    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of checked `X`; parameters must be explicit."""

    @abstractmethod
    def row_constants(self, X: Data) -> FloatArray:
        """Return for each row the log factor of its density that the compiled family leaves out."""

    def count(self, X: Data) -> int:
        """Return how many rows checked `X` stands for: those it has."""
        return int(X.shape[0])

    @abstractmethod
    def simulate(self, labels: IntArray, rng: np.random.Generator) -> Data:
        """Draw each cluster's parameters from the prior and one row for each label."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's arguments, as scikit-learn asks for them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        return all(np.array_equal(mine[key], theirs[key]) for key in mine)

    def __hash__(self) -> int:
        return hash(type(self))


def as_likelihood(value: Any) -> Likelihood:
    """Return `value` if it is a likelihood, or raise a TypeError that says what is."""
    if isinstance(value, Likelihood):
        return value
    raise TypeError(
        "likelihood must be a likelihood (an instance, for example mw.Gaussian()), "
        f"got {shown(value)}"
    )
