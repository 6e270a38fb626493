"""Weighted leaves in plain Python: what is kept of rows that stay together.

A leaf ``l`` stands for the rows ``R_l``. What is kept of these is their statistic, which is the
sum (the merging) of theirs, and a few sums::

    t_l = sum_{i in R_l} t(x_i)         |l| = |R_l|

A cluster ``c`` of leaves is a cluster of all their rows, of which ``P`` sees only the statistic.
With ``t_c = sum_{l in c} t_l`` and ``|c| = sum_{l in c} |l|`` therefore::

    P(X_c) = f(t_c)                     phi(h_c) = kappa(|c|, u) f(t_c)

where ``f(t(X)) = P(X)`` is the family's marginal. Nothing of the joint is approximated: a chain
over leaves draws from the posterior of the rows given that every leaf stays in one cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mixwood._support.types import FloatArray, IntArray
from mixwood.reference.families import Family

__all__ = ["Leaf", "guide_of_rows", "leaf_of", "united"]


class Leaf(NamedTuple):
    """What is kept of the rows ``R_l`` of a leaf.

    Attributes
    ----------
    size : int
        ``|l|``, how many they are.
    log_apart : float
        ``sum_i log P(x_i)``; trees compare it with ``log P(X_l)``.
    weight : float
        What they weigh when trees are to have similar leaves: ``sum_i max(1, N_i)`` for rows of
        ``N_i`` words, else ``|l|``.
    statistic
        ``t_l``, as the family of the rows has it.
    """

    size: int
    log_apart: float
    weight: float
    statistic: Any


def leaf_of(family: Family[Any], rows: Iterable[FloatArray]) -> Leaf:
    """Return the leaf that stands for some rows.

    Examples
    --------
    >>> from mixwood import Poisson
    >>> from mixwood.reference import family_of
    >>> leaf = leaf_of(family_of(Poisson(rate=[1.0])), np.array([[3.0], [4.0]]))
    >>> leaf.size, leaf.statistic.total
    (2, array([7.]))
    """
    own = list(rows)
    words = family.has_row_totals
    return Leaf(
        size=len(own),
        log_apart=sum(family.log_marginal(family.of([row])) for row in own),
        weight=float(sum(max(1.0, row.sum()) if words else 1.0 for row in own)),
        statistic=family.of(own),
    )


def united(family: Family[Any], leaves: Iterable[Leaf]) -> Leaf:
    """Return the leaf, or cluster, that stands for the rows of several leaves.

    Examples
    --------
    >>> from mixwood import Poisson
    >>> from mixwood.reference import family_of
    >>> family = family_of(Poisson(rate=[1.0]))
    >>> first, second = leaf_of(family, np.ones((3, 1))), leaf_of(family, np.ones((2, 1)))
    >>> united(family, [first, second]).size
    5
    """
    size, log_apart, weight, statistic = 0, 0.0, 0.0, family.empty()
    for leaf in leaves:
        size += leaf.size
        log_apart += leaf.log_apart
        weight += leaf.weight
        statistic = family.merge(statistic, leaf.statistic)
    return Leaf(size, log_apart, weight, statistic)


def guide_of_rows(guide: Mapping[str, Any], leaf_of_row: IntArray) -> dict[str, Any]:
    """Return a guide tree over leaves as one over their rows, which never opens a leaf.

    With it `mixwood.reference.TreeChain` over the rows is the twin of a compiled chain over the
    leaves.

    Parameters
    ----------
    guide : mapping
        What the compiled chain over the leaves returns: ``rows`` are numbers of leaves, and
        ``first`` counts them; ``size`` counts rows.
    leaf_of_row : array of n integers
        The leaf of each row.

    Examples
    --------
    >>> guide = {"leaves": [2, 1, 1], "first": [0, 0, 1], "size": [3, 2, 1], "rows": [1, 0]}
    >>> own = guide_of_rows(guide, np.array([0, 1, 1]))
    >>> own["rows"].tolist(), own["first"].tolist()
    ([1, 2, 0], [0, 0, 2])
    """
    members = [np.flatnonzero(leaf_of_row == leaf) for leaf in guide["rows"]]
    before = np.cumsum([0, *map(len, members)])  # rows of the leaves before a place
    return {**guide, "rows": np.concatenate(members), "first": before[np.asarray(guide["first"])]}
