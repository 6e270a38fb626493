"""Which clusters overlap so much that they may be one group of another shape, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixwood._support.numbers import count
from mixwood.posterior.component_merging import merge

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["overlap_in_words"]

#: Of more clusters the tree takes too long for one sentence.
_MOST_CLUSTERS = 200
#: The most clusters that the sentence names.
_MOST_NAMED = 12


def overlap_in_words(draws: Draws, estimate: IntArray) -> list[str]:
    """Return a sentence about the clusters of `estimate` that overlap, or none if none do.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
    >>> overlap_in_words(post, post.point_estimate())
    []
    """
    if not 1 < int(estimate.max()) + 1 <= _MOST_CLUSTERS:
        return []
    merged = merge(draws, estimate)
    groups = [group for group in merged.groups if len(group) > 1]
    if not groups:
        return []
    how = "In Python, post.merge() joins them and shows the tree of all merges."
    if sum(map(len, groups)) <= _MOST_NAMED:
        named = "; ".join(_listed(group) for group in groups)
        what = "one group" if len(groups) == 1 else "one group each"
        return [
            f"Clusters {named} overlap so much that they may be {what}, of another shape. {how}"
        ]
    few = count("group", merged.n_clusters)
    return [f"Many clusters overlap so much that they may be parts of {few} in all. {how}"]


def _listed(group: tuple[int, ...]) -> str:
    """Return the numbers of clusters: "0 and 3", "1, 2 and 4"."""
    *most, last = map(str, group)
    return f"{', '.join(most)} and {last}"
