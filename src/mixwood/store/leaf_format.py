"""Weighted leaves on disk: one matrix, and a likelihood that is marked as theirs.

The matrix has a column for each of the sums and then those of the statistic; it is sparse where
that is. Where something is learned from the rows themselves, each leaf is a row, which follows.
In `mixwood.json` the likelihood of the rows stands within a ``Leaves``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mixwood._support.types import Data
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.weighted_leaves import Members, WeightedLeaves

__all__ = ["as_matrix", "as_wrapped", "from_matrix", "unwrapped"]

#: How many columns come before the statistic: sizes, log constants, log_apart, weights.
SUMS = 4
#: A float holds every whole number up to here.
LARGEST = 2**53


def as_matrix(leaves: WeightedLeaves) -> Data:
    """Return leaves as the one matrix that is stored."""
    sums = np.column_stack(
        [leaves.sizes, leaves.log_constants, leaves.log_apart, leaves.weights]
    ).astype(np.float64)
    if isinstance(leaves.statistics, np.ndarray):
        rows = () if leaves.members is None else (leaves.rows,)
        return np.hstack([sums, leaves.statistics, *rows])
    from scipy.sparse import csr_array, hstack

    parts: Any = [csr_array(sums), leaves.statistics]
    return csr_array(hstack(parts, format="csr"))


def from_matrix(matrix: Data, likelihood: Likelihood, name: str) -> WeightedLeaves:
    """Return the leaves of a stored matrix, or raise a ValueError that names it."""
    try:
        if not isinstance(matrix, np.ndarray):
            matrix.check_format(full_check=True)  # compiled code trusts the indices
        first = matrix[:, :SUMS]
        sums = first if isinstance(first, np.ndarray) else first.toarray()
        sizes, log_constants, log_apart, weights = sums.T
        if not np.all((sizes > 0) & (sizes <= LARGEST)):
            raise ValueError(f"sizes must be positive, at most {LARGEST}")
        end = matrix.shape[1] - (likelihood.width or 0) * likelihood.learns_from_rows
        rows: dict[str, Any] = {}
        if likelihood.learns_from_rows:
            places = np.arange(len(sizes), dtype=np.int32)
            rows = {"rows": likelihood.check(matrix[:, end:]), "members": Members(places, sizes)}
        return WeightedLeaves(
            likelihood,
            sizes,
            log_constants,
            log_apart,
            weights,
            matrix[:, SUMS:end],
            **rows,
        )
    except ValueError as error:
        raise ValueError(f"{name} does not hold weighted leaves: {error}") from error


def as_wrapped(encoded: Any) -> dict[str, Any]:
    """Return the encoded likelihood of rows as that of leaves."""
    return {"$type": "Leaves", "parameters": {"of": encoded}}


def unwrapped(encoded: Any) -> tuple[Any, bool]:
    """Return the encoded likelihood of the rows, and whether it is there for leaves."""
    if isinstance(encoded, dict) and encoded.get("$type") == "Leaves":
        return encoded["parameters"]["of"], True
    return encoded, False
