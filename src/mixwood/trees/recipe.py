"""How the trees of `mixwood.bhc` and `mixwood.ibhc` grow, and let go of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mixwood.core import bind_family, make_forest
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items
from mixwood.model import Mixture
from mixwood.priors import PriorValues

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, IntArray

__all__ = ["Recipe", "grow", "without_collapsed"]

#: How many rows at least go in before the leaves beyond `max_leaves` are collapsed.
SMALLEST_BATCH = 1000
#: Among at most this many trees, near ones are joined after every insertion; among more, only
#: if at least as many rows went in.
ALWAYS_JOINED = 200


@dataclass(frozen=True)
class Recipe:
    """Everything that a tree depends on besides the rows and their order; likelihood resolved.

    The tree is judged at `parameters`, and grown at `growth` where that is given.
    """

    model: Mixture
    parameters: PriorValues[float]
    rule: str
    max_leaves: int | None
    search: str = "index"
    growth: PriorValues[float] | None = None

    def forest(self, family: _core.Family) -> _core.Forest:
        """Return an empty compiled forest over the rows of `family`."""
        return make_forest(self.model.prior, family, self.parameters, self.rule, self.search)

    def in_buckets(self, forest: _core.Forest, rows: int) -> bool:
        """Tell whether this many rows go into `forest` bucket by bucket, not one by one."""
        from mixwood import _core

        plain = self.rule == "balanced" and self.search == "index" and self.max_leaves is None
        return plain and rows >= _core.FEWEST_IN_BUCKETS and forest.takes_buckets


def grow(
    recipe: Recipe,
    forest: _core.Forest,
    rows: IntArray,
    *,
    greedy: bool = False,
    threads: int = 1,
) -> None:
    """Insert `rows` in this order; beyond `max_leaves` the tightest subtrees collapse.

    With `greedy` they are joined by `bhc` instead, all at once, into an empty forest. Many rows
    go in bucket by bucket (`Recipe.in_buckets`), on at most `threads` threads; the trees are the
    same for any number of them.

    Any tree is a tree of the model, so it may grow at other values than those it is judged by.
    The balanced rule always does, near ``u = 0``. At the posterior's own ``u`` of some ``n``,
    two near points may be better apart (``kappa(1)^2 / kappa(2)`` is ``alpha sigma tau^sigma /
    (1 - sigma)``), and a cluster of which no two points ever join is never found. In the end it
    joins trees that are better together where they are judged.
    """
    from mixwood import _core

    judged, p = recipe.parameters, recipe.growth or recipe.parameters
    log_u = _core.GROWTH_LOG_U if recipe.rule == "balanced" else p.log_u
    forest.set_parameters(log_u, p.log_alpha, p.sigma, p.theta)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    limit = recipe.max_leaves
    batch = max(len(rows), 1) if limit is None else max(limit, SMALLEST_BATCH)
    in_buckets = not greedy and recipe.in_buckets(forest, len(rows))
    if greedy and len(rows):
        forest.agglomerate(rows)
    if in_buckets:
        forest.insert_in_buckets(rows, threads)
    for start in range(0, 0 if greedy or in_buckets else len(rows), batch):
        forest.insert(rows[start : start + batch])
        if limit is not None:
            forest.collapse(limit)
    forest.set_parameters(judged.log_u, judged.log_alpha, judged.sigma, judged.theta)
    few_trees = forest.n_trees <= max(ALWAYS_JOINED, len(rows))
    if recipe.rule == "balanced" and not greedy and few_trees:
        forest.join_trees()


def without_collapsed(
    model: Mixture, X: Data | WeightedLeaves, forest: _core.Forest
) -> tuple[Data | WeightedLeaves, IntArray]:
    """Let go of the rows of collapsed leaves, but for the first of each.

    Parameters
    ----------
    model : Mixture
        With a resolved likelihood.
    X : array, csr_array or WeightedLeaves
        The rows, or leaves, that the forest is over; all of them are in it.
    forest : Forest
        Continues over the rows that are kept.

    Returns
    -------
    kept : array, csr_array or WeightedLeaves
        A row for each leaf, in the order of `X`.
    now : int array
        Of each row of `X`: which of the kept ones stands for its leaf.
    """
    leaf_of_row = forest.leaves()["leaf_of_row"]
    _, keep = np.unique(leaf_of_row, return_index=True)  # the first row of each leaf
    keep.sort()
    rows = np.full(leaf_of_row.shape[0], -1, dtype=np.int64)
    rows[keep] = np.arange(len(keep))
    of_leaf = np.empty(forest.n_leaves, dtype=np.int64)
    of_leaf[leaf_of_row[keep]] = np.arange(len(keep))
    kept = chosen_items(X, keep)
    forest.rebind(bind_family(model, kept), rows)
    return kept, of_leaf[leaf_of_row]
