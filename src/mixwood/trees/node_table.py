"""The nodes of a binary tree in arrays, and what can be read off them.

Everything but `newick` and the drawing is vectorized: sums and maxima along paths are found
by doubling, in ``log2(depth)`` rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from mixwood._support.types import FloatArray, IntArray

__all__ = ["Dendrogram"]


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """A binary tree over ``m`` leaves: nodes 0 to m-1 are the leaves, children come first.

    Attributes
    ----------
    children : int32 array of shape (m - 1, 2)
        Of the inner nodes m, m+1, ..., the last of which is the root.
    points : int64 array of shape (2m - 1,)
        How many points are below each node.
    log_d : float array of shape (m - 1,)
        The dissimilarity of each inner node's children.
    log_potential : float
        ``log phi(t)`` of the root.
    first_row : int64 array of shape (m,)
        The first row in each leaf; they increase.
    weighted : bool array of shape (m,)
        Which leaves are blocks of rows.
    leaf_of_row : int64 array of shape (n,)
    """

    children: NDArray[np.int32]
    points: IntArray
    log_d: FloatArray
    log_potential: float
    first_row: IntArray
    weighted: NDArray[np.bool_]
    leaf_of_row: IntArray

    @classmethod
    def from_export(cls, nodes: Mapping[str, NDArray[Any]], leaf_of_row: IntArray) -> Dendrogram:
        """Return what the compiled forest exported, leaves renumbered by their first rows.

        Parameters
        ----------
        nodes : mapping of str to array
            From ``_core.Forest.export``.
        leaf_of_row : int array of shape (n,)
            In which exported leaf each row is.
        """
        m = (len(nodes["left"]) + 1) // 2
        n = len(leaf_of_row)
        first_row = np.empty(m, dtype=np.int64)
        first_row[leaf_of_row[::-1]] = np.arange(n)[::-1]  # of equal indices the last one stays
        old = np.argsort(first_row)
        new = np.arange(2 * m - 1)
        new[old] = np.arange(m)
        left, right = nodes["left"][m:], nodes["right"][m:]
        log_tree = nodes["log_tree"]
        return cls(
            children=np.stack([new[left], new[right]], axis=1).astype(np.int32),
            points=np.concatenate([nodes["size"][:m][old], nodes["size"][m:]]),
            log_d=log_tree[left] + log_tree[right] - nodes["log_one"][m:],
            log_potential=float(log_tree[-1]),
            first_row=first_row[old],
            weighted=nodes["row"][:m][old] < 0,
            leaf_of_row=new[leaf_of_row],
        )

    @property
    def n_leaves(self) -> int:
        """How many leaves."""
        return len(self.first_row)

    @property
    def probability(self) -> FloatArray:
        """``P(h | X, t) = 1/(1 + d)`` of each inner node."""
        return np.asarray(np.exp(-np.logaddexp(0, self.log_d)))

    # --- along the paths

    def _ancestors(self) -> Iterator[NDArray[np.int32]]:
        """Yield the parents of all nodes, then the ancestors 2, 4, 8, ... levels up.

        What is above the root is one more node, ``2m - 1``, its own ancestor.
        """
        m = self.n_leaves
        above = np.full(2 * m, 2 * m - 1, dtype=np.int32)
        above[self.children.ravel()] = np.repeat(np.arange(m, 2 * m - 1), 2)
        while np.any(above[:-1] != 2 * m - 1):
            yield above
            above = above[above]

    def _highest_below(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each node the largest of the `values` of it and of all nodes below it."""
        largest = np.append(values, values[:1])
        for above in self._ancestors():
            np.maximum.at(largest, above, largest.copy())
        return largest[:-1]

    def topmost(self, whole: NDArray[np.bool_]) -> IntArray:
        """Return for each leaf its highest node, the leaf included, that is `whole`.

        Parents have higher numbers than their children, so that is the largest such number.
        """
        m = self.n_leaves
        nodes = np.arange(2 * m)
        nodes[m:-1][~whole] = -1
        nodes[-1] = -1
        for above in self._ancestors():
            np.maximum(nodes, nodes[above], out=nodes)
        return nodes[:m]

    @cached_property
    def heights(self) -> FloatArray:
        """``log(1 + d)`` of each inner node, or that of a node below where that is higher."""
        m = self.n_leaves
        own = np.concatenate([np.zeros(m), np.logaddexp(0, self.log_d)])
        return np.asarray(self._highest_below(own)[m:])

    @cached_property
    def merge_order(self) -> IntArray:
        """The inner nodes, counted from 0, from the lowest merge to the highest."""
        return np.asarray(np.argsort(self.heights, kind="stable"), dtype=np.int64)

    def _leaves_below(self) -> IntArray:
        """Return how many leaves each inner node has."""
        m = self.n_leaves
        counts = np.zeros(2 * m, dtype=np.int64)
        counts[:m] = 1
        for above in self._ancestors():
            counts += np.bincount(above, weights=counts, minlength=2 * m).astype(np.int64)
        return counts[m:-1]

    # --- in other forms

    def linkage(self, *, points: bool) -> FloatArray:
        """Return scipy's form; the last column counts points or leaves."""
        m, order = self.n_leaves, self.merge_order
        name = np.arange(2 * m - 1)
        name[m + order] = np.arange(m, 2 * m - 1)
        table = np.empty((m - 1, 4))
        table[:, :2] = np.sort(name[self.children[order]], axis=1)
        table[:, 2] = self.heights[order]
        as_points = points or not self.weighted.any()
        table[:, 3] = (self.points[m:] if as_points else self._leaves_below())[order]
        return table

    def leaf_names(self) -> list[str]:
        """Return row numbers, and ``w<k>x<points>`` for weighted leaves."""
        names = [str(row) for row in self.first_row.tolist()]
        for k, leaf in enumerate(np.flatnonzero(self.weighted).tolist()):
            names[leaf] = f"w{k}x{self.points[leaf]}"
        return names

    def newick(self) -> str:
        """Return the tree in Newick format."""
        m = self.n_leaves
        names, children = self.leaf_names(), self.children.tolist()
        if m == 1:
            return names[0] + ";"
        height = np.concatenate([np.zeros(m), self.heights])
        length = np.zeros(2 * m - 1)
        length[self.children] = height[m:, None] - height[self.children]
        lengths = [f":{x:.9g}" for x in length.tolist()]
        lengths[-1] = ";"
        pieces: list[str] = []
        todo: list[int | str] = [2 * m - 2]
        while todo:
            node = todo.pop()
            if isinstance(node, str):
                pieces.append(node)
            elif node < m:
                pieces.append(names[node] + lengths[node])
            else:
                left, right = children[node - m]
                pieces.append("(")
                todo += [")" + lengths[node], right, ",", left]
        return "".join(pieces)

    # --- drawn

    def plot(self, labels: IntArray, ax: Axes | None, most: int) -> Axes:
        """Draw at most `most` leaves, coloured by `labels` of the rows; return the axes."""
        from matplotlib.collections import LineCollection

        from mixwood.plots.style import axes_or_new, legible

        ax = axes_or_new(ax, (9, 4.5))
        shown = min(self.n_leaves, most)
        names, name_colours, colours, segments, places = self._drawing(labels, shown)
        ax.add_collection(LineCollection(segments, colors=colours, linewidths=1.2))
        top = max((float(y) for line in segments for _, y in line), default=0.0)
        ax.axhline(np.log(2), color="black", linestyle=":", linewidth=0.8)
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_xlim(0, 10 * shown)
        ax.set_ylim(0, 1.1 * max(top, 1.0))
        ax.set_xticks(places, names, rotation=90, fontsize="small" if shown <= 40 else "x-small")
        for label, its_colour in zip(ax.get_xticklabels(), name_colours, strict=True):
            label.set_color(legible(its_colour))
        whole = shown == self.n_leaves and not self.weighted.any()
        ax.set_xlabel("row" if whole else "row (or, in brackets, how many points)")
        ax.set_ylabel("height log(1 + d); dotted: P(one cluster) = 1/2")
        return ax

    def _drawing(
        self, labels: IntArray, shown: int
    ) -> tuple[list[str], list[str], list[str], list[list[tuple[float, float]]], list[float]]:
        """Return names and colours of the leaves, colours and corners of merges, leaf places."""
        from scipy.cluster.hierarchy import dendrogram

        from mixwood.plots.style import MIXED_COLOUR, colour

        m = self.n_leaves
        names = self._names_by_points()
        if shown == 1:
            return [names(0)], [colour(0)], [], [], [5.0]
        order = np.concatenate([np.arange(m), m + self.merge_order])  # linkage's nodes in ours
        first = 2 * m - shown  # linkage's number of the lowest merge that is drawn
        table = self.linkage(points=True)[first - m :]
        nodes = table[:, :2].astype(np.int64)
        leaves = np.unique(nodes[nodes < first])
        table[:, :2] = np.where(
            nodes < first, np.searchsorted(leaves, nodes), nodes - first + shown
        )
        table[:, 3] = shown  # scipy wants a count of leaves there, which the picture does not use
        # A node has one cluster's colour if the smallest and the largest label below it agree.
        of_leaf = np.empty(m, dtype=np.int64)
        of_leaf[self.leaf_of_row] = labels
        inner = np.full(m - 1, -len(labels), dtype=np.int64)
        largest = self._highest_below(np.concatenate([of_leaf, inner]))
        smallest = -self._highest_below(np.concatenate([-of_leaf, inner]))

        def of_node(node: int) -> str:
            one = largest[node] == smallest[node]
            return colour(int(largest[node])) if one else MIXED_COLOUR

        def of_merge(k: int) -> str:
            return of_node(order[k - shown + first])

        drawn: dict[str, Any] = dict(dendrogram(table, no_plot=True, link_color_func=of_merge))
        segments = [
            list(zip(across, up, strict=True))
            for across, up in zip(drawn["icoord"], drawn["dcoord"], strict=True)
        ]
        places = [5.0 + 10.0 * k for k in range(shown)]
        in_place = [int(order[leaves[k]]) for k in drawn["leaves"]]
        leaf_names, leaf_colours = map(names, in_place), map(of_node, in_place)
        return list(leaf_names), list(leaf_colours), drawn["color_list"], segments, places

    def _names_by_points(self) -> Any:
        """Return a function: a node's row number if it is a row, else its points in brackets."""

        def name(node: int) -> str:
            if node < self.n_leaves and not self.weighted[node]:
                return str(self.first_row[node])
            return f"({self.points[node]})"

        return name
