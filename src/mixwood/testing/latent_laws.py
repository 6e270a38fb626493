"""The law of what chains draw of the rows, given a partition: for the oracle of few rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.product_parts import slices
from mixwood.reference.families import family_of
from mixwood.testing.missing import MissingLaw, rows_of
from mixwood.testing.scales import ScaleLaw

__all__ = ["LatentLaw", "PartsLaw", "latent_law"]


class _Part(NamedTuple):
    """A part of a product that draws something, and its rows."""

    law: MissingLaw | ScaleLaw
    rows: IntArray


class PartsLaw:
    """What parts of a product draw of rows; given the partition they are independent.

    Parameters
    ----------
    likelihood : Product
        With explicit parameters, none of them learned.
    X : array of shape (n, d)
        Checked.
    """

    def __init__(self, likelihood: Any, X: FloatArray) -> None:
        self.drawn: list[_Part] = []
        self.others: list[tuple[Likelihood, IntArray, Data]] = []
        for part in slices(likelihood.parts, likelihood.columns, X, "X"):
            own = part.likelihood.of_rows(part.rows, len(X))
            if len(part.rows) and own.latent_size(part.data):
                self.drawn.append(_Part(_own_law(own, part.data), part.rows))
            else:
                self.others.append((own, part.rows, part.data))
        self.size = sum(part.law.size for part in self.drawn)

    def log_likelihood(self, labels: IntArray) -> float:
        """Return ``sum_c log P(X_c)`` with all that is drawn integrated out."""
        total = sum(part.law.log_likelihood(_among(labels, part.rows)) for part in self.drawn)
        for likelihood, rows, data in self.others:
            family = family_of(likelihood)
            for members in rows_of(_among(labels, rows)):
                total += family.log_marginal(family.of(np.asarray(data)[list(members)]))
        return total

    def draw(self, labels: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw it given a partition, as the core has it, one part after the other."""
        return np.hstack(
            [part.law.draw(_among(labels, part.rows), size, rng) for part in self.drawn]
        )

    def transforms(self, labels: IntArray, latent: FloatArray) -> dict[str, FloatArray]:
        """Return each number's probability integral transform given the partition."""
        found: dict[str, FloatArray] = {}
        end = 0
        for k, part in enumerate(self.drawn):
            start, end = end, end + part.law.size
            own = part.law.transforms(_among(labels, part.rows), latent[:, start:end])
            found |= {f"{name} of part {k}": values for name, values in own.items()}
        return found


LatentLaw = MissingLaw | ScaleLaw | PartsLaw


def latent_law(likelihood: Likelihood, X: Data) -> LatentLaw | None:
    """Return the law of what chains draw of checked rows, or None if that is nothing."""
    if not likelihood.latent_size(X):
        return None
    if not likelihood.reads_tables:
        return _own_law(likelihood, X)
    if likelihood.base_size > 0:
        raise ValueError("what is drawn of rows is integrated out for fixed base measures only")
    return PartsLaw(likelihood, np.asarray(X))


def _own_law(likelihood: Likelihood, X: Data) -> MissingLaw | ScaleLaw:
    """Return that of a likelihood alone: scales are no entries."""
    if len(likelihood.missing_entries(X)[0]):
        return MissingLaw(likelihood, X)
    return ScaleLaw(likelihood, X)


def _among(labels: IntArray, rows: IntArray) -> IntArray:
    """Return the labels of some rows, without gaps."""
    return np.unique(labels[rows], return_inverse=True)[1]
