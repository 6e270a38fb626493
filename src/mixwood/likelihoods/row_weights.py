"""Rows that weigh more or less than one: each becomes a weighted leaf of its own.

A row ``x`` of weight ``w`` counts as ``w`` rows that stay together. Where ``t(x)`` is what the
likelihood keeps of a row, the leaf has the statistic ``w t(x)`` and the size ``w``, and a cluster
of such rows::

    t_c = sum_{i in c} w_i t(x_i)      |c| = sum_{i in c} w_i      phi(h_c) = kappa(|c|, u) f(t_c)

which for whole weights is what the duplicates have. Both factors are made of Gamma functions and
powers of ``|c|`` and ``t_c``, which need not be whole. ``kappa(k, u)`` is an integral of ``w^k``
against the jumps of the measure: it is finite for ``k > sigma`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood.input.matrices import as_array
from mixwood.likelihoods.weighted_leaves import (
    PARTS_OF_ONE,
    Members,
    WeightedLeaves,
    refuse_drawn_entries,
)

if TYPE_CHECKING:
    from mixwood.likelihoods.base import Likelihood

__all__ = ["checked_weights", "weighted_rows"]

#: The core counts rows, weights and all, up to here.
MOST_ROWS = 2**31


def checked_weights(
    weights: Any, n: int, *, name: str = "weights", zeros: bool = False
) -> FloatArray:
    """Return the weights of rows, or raise an error that names the argument.

    Parameters
    ----------
    weights : array of shape (n,)
        Positive numbers.
    n : int
        How many rows there are.
    name : str
        What the user calls them.
    zeros : bool
        Whether a weight may be 0.

    Examples
    --------
    >>> checked_weights([1, 2.5], 2)
    array([1. , 2.5])
    """
    given = as_array(weights, name)
    if given.shape != (n,):
        raise ValueError(f"{name} must be {n} numbers, one per row of X, got shape {given.shape}")
    if given.dtype.kind not in "iufb":
        raise TypeError(f"{name} must be numbers, got dtype {given.dtype}")
    values = given.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"{name} must be finite and not negative, got {values[row]:g} in row {row}"
        )
    none = np.flatnonzero(values * PARTS_OF_ONE < 0.5)
    if len(none) and not zeros:
        row = int(none[0])
        raise ValueError(
            f"{name} must be positive, got {values[row]:g} in row {row}: a row that weighs "
            f"nothing has no influence. Leave such rows out, X[{name} > 0], and ask post.predict "
            "for their clusters"
        )
    if len(none) == n:
        raise ValueError(f"{name} must not all be zero")
    if values.sum() >= MOST_ROWS:
        raise ValueError(f"{name} must sum to less than 2^31, got {values.sum():g}")
    return values


def weighted_rows(likelihood: Likelihood, X: Data, weights: FloatArray) -> WeightedLeaves:
    """Return rows as weighted leaves, one for each.

    Parameters
    ----------
    likelihood : Likelihood
        With every parameter explicit.
    X : array or csr_array
        Checked rows.
    weights : array of shape (n,)
        Checked weights.

    Examples
    --------
    >>> from mixwood.likelihoods import Poisson
    >>> leaves = weighted_rows(Poisson(rate=[1.0]), np.array([[3.0], [4.0]]), np.array([1.0, 2.0]))
    >>> leaves.sizes, leaves.statistics[:, 1]
    (array([1, 2]), array([3., 8.]))
    """
    weights = np.maximum(np.rint(weights * PARTS_OF_ONE), 1) / PARTS_OF_ONE
    if likelihood.counts_whole_rows and np.any(weights != np.floor(weights)):
        row = int(np.flatnonzero(weights != np.floor(weights))[0])
        raise ValueError(
            f"weights must be whole numbers for {type(likelihood).__name__}, which counts words, "
            f"got {weights[row]:g} in row {row}"
        )
    refuse_drawn_entries(likelihood, X, "X")
    family = likelihood.bind(X)
    rows = np.arange(X.shape[0], dtype=np.int32)
    statistics: Any
    if likelihood.sparse_statistics:
        from scipy.sparse import csr_array, diags_array

        statistics = csr_array(diags_array(weights) @ X)
    else:
        statistics = family.cluster_statistics(rows)
        factors = np.where(likelihood.means_in_statistic, 1.0, weights[:, None])
        statistics = statistics * factors
    learns = likelihood.learns_from_rows
    return WeightedLeaves(
        likelihood,
        weights,
        weights * likelihood.row_constants(X),
        weights * family.log_alone(),
        weights * _row_totals(likelihood, X),
        statistics,
        rows=X if learns else None,
        members=Members(rows, weights) if learns else None,
    )


def _row_totals(likelihood: Likelihood, X: Data) -> FloatArray:
    """Return what each row weighs where trees are to have similar leaves."""
    if not likelihood.has_row_totals:
        return np.ones(X.shape[0])
    return np.maximum(1.0, np.asarray(X.sum(axis=1), dtype=np.float64).ravel())
