"""A tree of the items as the draws see them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.likelihoods.weighted_leaves import chosen_items
from mixwood.posterior.predictive_mixture import flat_bases
from mixwood.trees.build import ibhc_at

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.draws import Draws
    from mixwood.trees.hierarchy import Hierarchy

__all__ = ["tree_of_items"]


def tree_of_items(draws: Draws, items: IntArray, purpose: str, seed: Any = 0) -> Hierarchy:
    """Return a tree of some of the items, grown at the base measure of the best draw.

    Where the base measure is learned, a tree grown before anything is known of it may join all
    items: clusters are then as wide as the data.

    Parameters
    ----------
    draws : Draws
        With data.
    items : int array
        Which items.
    purpose : str
        What the tree is for, should there be no data.
    seed : int, SeedSequence, Generator or None
    """
    X = draws.data_for(purpose)
    best = np.array([int(np.argmax(draws.log_joint))])
    bases = flat_bases(draws, best)
    model = replace(draws.model, likelihood=draws.resolved)
    base = np.empty(0) if bases is None else bases[0]
    return ibhc_at(model, chosen_items(X, items), base, seed=seed)
