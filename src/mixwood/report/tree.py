"""The hierarchy of a report: a tree of the items with what the page needs to draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.posterior import Posterior
    from mixwood.trees.hierarchy import Hierarchy

__all__ = ["MOST_LEAVES", "MOST_ROWS", "condensed", "tree_of"]

#: The tree of a report has at most this many items; of more, a sample is taken.
MOST_ROWS = 5000
#: At most this many leaves are drawn; lower parts of the tree are drawn as one leaf.
MOST_LEAVES = 600


def tree_of(
    posterior: Posterior, labels: IntArray, colours: list[str], names: list[str] | None = None
) -> dict[str, Any]:
    """Return the tree of (a sample of) the items as `condensed` does, with colours and names.

    Parameters
    ----------
    posterior : Posterior
        With data. The tree is grown by `mixwood.ibhc` under its model, at its best draw.
    labels : int array of shape (n,)
        The clusters to colour by.
    colours : list of str
        Of each cluster.
    names : list of n str, optional
        What the items are called; by their numbers otherwise.
    """
    from mixwood.plots.style import MIXED_COLOUR, sample_of
    from mixwood.posterior.tree import tree_of_items

    rows = sample_of(posterior.n_items, MOST_ROWS)
    hierarchy = tree_of_items(posterior, rows, "the tree of the report")
    tree = condensed(hierarchy, rows, labels)
    if names is not None:
        tree["names"] = [names[row] for row in tree["rows"]]
    return tree | {"colours": colours, "mixed": MIXED_COLOUR}


def condensed(hierarchy: Hierarchy, rows: IntArray, labels: IntArray) -> dict[str, Any]:
    """Return a tree, its highest merges only, as plain lists.

    Parameters
    ----------
    hierarchy : Hierarchy
        Without weighted leaves.
    rows : int array
        What to call its leaves.
    labels : int array
        The cluster of each row that `rows` may name.

    Returns
    -------
    dict
        ``rows`` and ``clusters`` of the items in the order in which the leaves are drawn;
        ``nodes``, each ``[start, end, height, probability, left, right]``: its items are those
        from start to end, and left and right are numbers of nodes, or null for a leaf of the
        drawing. Children come before parents; the last node is the root.
    """
    m = hierarchy.n_leaves
    merges = hierarchy.linkage()
    children = merges[:, :2].astype(np.int64)
    order, start, size = _spans(children, m)
    shown = min(m, MOST_LEAVES)
    first = 2 * m - shown  # merges from this node on are drawn
    drawn = [k for k in children[first - m :].ravel().tolist() if k < first] if m > 1 else [0]
    number = {node: k for k, node in enumerate([*sorted(drawn), *range(first, 2 * m - 1)])}
    nodes: list[list[float | int | None]] = []
    for node in number:
        span: list[float | int | None] = [int(start[node]), int(start[node] + size[node])]
        if node < first:
            # A leaf of the drawing that is a merge stands for its items, judged by its own merge.
            inner = node >= m
            height = float(merges[node - m, 2]) if inner else 0.0
            chance = float(hierarchy.probability[node - m]) if inner else None
            nodes.append([*span, _rounded(height), _rounded(chance), None, None])
        else:
            left, right = children[node - m].tolist()
            height, chance = float(merges[node - m, 2]), float(hierarchy.probability[node - m])
            nodes.append([*span, _rounded(height), _rounded(chance), number[left], number[right]])
    in_order = rows[order]
    return {
        "rows": in_order.tolist(),
        "clusters": labels[in_order].tolist(),
        "nodes": nodes,
    }


def _spans(children: IntArray, m: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the leaves in the order of a walk, and where each node's leaves begin, and how many.

    Parents have higher numbers than their children, so one pass up and one down is enough.
    """
    size = np.ones(2 * m - 1, dtype=np.int64)
    for k, (left, right) in enumerate(children.tolist()):
        size[m + k] = size[left] + size[right]
    start = np.zeros(2 * m - 1, dtype=np.int64)
    for k in range(m - 2, -1, -1):
        left, right = children[k].tolist()
        start[left] = start[m + k]
        start[right] = start[m + k] + size[left]
    order = np.empty(m, dtype=np.int64)
    order[start[:m]] = np.arange(m)
    return order, start, size


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
