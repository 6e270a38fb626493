"""Components are not clusters: the clusters of a point estimate, merged where they overlap.

A mixture covers a group that is bent, or has heavy tails, by several components that overlap. Here
the clusters of the estimate are merged one pair after the other, always the two that overlap most,
until all are one. This is the entropy criterion of Baudry et al. (2010), measured relative to what
it can be; where to cut the tree is judged by the overlap, as Hennig (2010) does.

**Soft assignments.** ``t_ik``, the probability that row ``i`` belongs to cluster ``k``, is
`Posterior.membership`. The chain draws the cluster of each row from its law given all other rows,
so a row between two components is in either as often as that law says, and the mean over the draws
estimates the soft assignment itself. `Posterior.predict_proba` at the data's own rows is nearly the
same table, but there a row helps to make the density by which it is judged, and clusters of few
rows look more distinct than they are. In both, a draw's cluster is spread over the estimate's by
where its rows are, so that clusters whose borders differ from draw to draw overlap more.

**Overlap.** The entropy ``sum_i sum_k -t_ik log t_ik`` tells how unclear it is where rows
belong. To merge clusters ``k`` and ``l`` lowers it by ``sum_i L(t_ik, t_il)`` with::

    L(a, b) = (a + b) log(a + b) - a log a - b log b

If nothing told their rows apart it would be lowered by ``L(n_k, n_l)``, with ``n_k = sum_i t_ik``;
``L`` is concave and homogeneous, so it cannot be more. The quotient of the two is the overlap: 0 if
no row is in doubt, 1 if all are, as far as the sizes allow. For two normals of one size it is 0.49
if their centres are 3 standard deviations apart, 0.22 at 4, and 0.08 at 5.

After a merge, ``t`` is the sum of both, but ``n`` counts only the rows of those clusters that meet
the other group. A bent group meets its next piece with one end: relative to all its rows the
overlap would shrink with the number of its pieces, though they meet as before. The largest cluster
counts in any case, so that a small one, of the tails of two far groups, does not tie them when it
has been merged with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from mixwood._support.checks import probability, whole_number
from mixwood._support.labels import by_size
from mixwood._support.numbers import count
from mixwood.posterior.membership import membership

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood._support.types import FloatArray, IntArray, Sizes
    from mixwood.posterior.draws import Draws

__all__ = ["MergedClusters", "merge", "merges", "merges_to_make"]

#: Overlaps by which clusters are told to be one group or two; see `merges_to_make`. Two normals of
#: one size overlap so much if their centres are 3, 3.7, 4.4 and 5 standard deviations apart.
SURE, PIECES, LIKELY, APART = 0.5, 0.3, 0.15, 0.075
#: The overlap is measured with at most this many draws, of all chains together, and this many rows,
#: the same number of each cluster; but the last, or all if there are fewer, whatever their number.
_DRAWS, _ROWS, _ROWS_PER_CLUSTER = 1000, 10_000, 10


@dataclass(frozen=True, eq=False, repr=False)
class MergedClusters:
    """The clusters of a point estimate, merged by their overlap; see `Posterior.merge`.

    Attributes
    ----------
    estimate : int64 array of shape (n,)
        The point estimate, K clusters.
    sizes : int64 array of shape (K,)
        How many rows its clusters have.
    linkage : array of shape (K - 1, 4)
        The tree over the K clusters, in the form of `scipy.cluster.hierarchy`. The height of a
        merge is 1 minus the overlap, and never less than that of the merge before.
    overlap : array of shape (K - 1,)
        How much the two overlapped that were merged.
    entropy : array of shape (K,)
        How unclear the group of a row is, in bits, on average; of 1 group, which is 0, to K.
    n_clusters : int
        How many groups are left.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
    >>> merged = post.merge()
    >>> merged
    <mixwood.MergedClusters: 2 clusters in 2 groups of 3 and 3 rows>
    >>> merged.groups, merged.labels
    (((0,), (1,)), array([0, 0, 0, 1, 1, 1]))
    >>> merged.cut(1)
    array([0, 0, 0, 0, 0, 0])
    """

    estimate: IntArray
    sizes: IntArray
    linkage: FloatArray
    overlap: FloatArray
    entropy: FloatArray
    n_clusters: int

    @property
    def labels(self) -> IntArray:
        """The group of each item, from the largest, 0, to the smallest; shape (n,)."""
        return self.cut(self.n_clusters)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The clusters of the estimate that form each group."""
        number = self.group_of_cluster(self.n_clusters)
        members = [np.flatnonzero(number == g).tolist() for g in range(self.n_clusters)]
        return tuple(tuple(clusters) for clusters in members)

    def cut(self, n: int) -> IntArray:
        """Return the group of each item if there are `n` groups.

        Parameters
        ----------
        n : int
            How many: from 1 to K, the number of clusters of the estimate.

        Returns
        -------
        int64 array of shape (n_items,)
            From the largest group, 0, to the smallest; of equal ones, that of the cluster with
            the lowest number comes first.
        """
        return self.group_of_cluster(_checked_number(n, "n", len(self.sizes)))[self.estimate]

    def group_of_cluster(self, n: int) -> IntArray:
        """Return the group of each cluster of the estimate if there are `n` groups, shape (K,)."""
        K = len(self.sizes)
        above = np.arange(2 * K - 1)  # of each node of the tree, the one that stands for it
        for step in reversed(range(K - n)):
            above[self.linkage[step, :2].astype(np.int64)] = above[K + step]
        return by_size(above[:K], self.sizes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree of merges, coloured by group, with a dashed line where it is cut.

        Below the tree are the numbers of the estimate's clusters, those of `Posterior.describe`,
        and their sizes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots.merging import plot_merging

        return plot_merging(self, ax)

    def __repr__(self) -> str:
        sizes = np.bincount(self.group_of_cluster(self.n_clusters), self.sizes)
        shown = [f"{int(size):,}" for size in sizes[:5]] + ["..."] * (len(sizes) > 5)
        listed = ", ".join(shown[:-1]) + " and " * (len(shown) > 1) + shown[-1]
        return (
            f"<mixwood.MergedClusters: {count('cluster', len(self.sizes))} in "
            f"{count('group', self.n_clusters)} of {listed} rows>"
        )


def merge(
    draws: Draws,
    estimate: IntArray,
    n_clusters: int | None = None,
    threshold: float | None = None,
) -> MergedClusters:
    """Return the clusters of `estimate` merged by their overlap; see `Posterior.merge`."""
    if n_clusters is not None and threshold is not None:
        raise ValueError("n_clusters and threshold both tell where to cut: give one of them")
    if n_clusters is not None:
        wanted = _checked_number(n_clusters, "n_clusters", int(estimate.max()) + 1)
    if threshold is not None:
        least = probability(threshold, "threshold")
    items, weights = _some_of_every_cluster(estimate, draws.item_sizes)
    few = draws.thinned(max(_DRAWS // draws.n_chains, 1))
    linkage, overlap, entropy = merges(membership(few, estimate, items), weights)
    least_so_far = 1 - linkage[:, 2]
    if n_clusters is not None:
        made = len(entropy) - wanted
    elif threshold is not None:
        made = int(np.count_nonzero(least_so_far >= least))
    else:
        made = merges_to_make(least_so_far)
    return MergedClusters(
        estimate=estimate,
        sizes=np.rint(np.bincount(estimate, draws.item_sizes)).astype(np.int64),
        linkage=linkage,
        overlap=overlap,
        entropy=entropy,
        n_clusters=len(entropy) - made,
    )


def merges_to_make(overlap: FloatArray) -> int:
    """Return how many merges to make, given the overlaps in their order, which never rise.

    All of at least `SURE`. Where some overlap by `PIECES`, also those of at least `LIKELY`,
    provided that those left overlap by less than `APART`: the pieces of groups overlap now more,
    now less, but groups do not. Without such a gap nothing tells pieces of one group from groups
    that touch.

    Examples
    --------
    >>> merges_to_make(np.array([0.6, 0.4, 0.2, 0.01]))  # pieces of two groups
    3
    >>> merges_to_make(np.array([0.6, 0.4, 0.2, 0.1]))  # some of these may be groups that touch
    1
    """
    sure, likely = (int(np.count_nonzero(overlap >= least)) for least in (SURE, LIKELY))
    left = overlap[likely:]
    gap = len(left) > 0 and left[0] < APART
    return likely if gap and overlap[0] >= PIECES else sure


def _checked_number(value: int, name: str, clusters: int) -> int:
    number = whole_number(value, name, at_least=1)
    if number > clusters:
        raise ValueError(
            f"{name} must be at most {clusters:,}, the number of clusters of the estimate, "
            f"got {number:,}"
        )
    return number


def _some_of_every_cluster(estimate: IntArray, sizes: Sizes) -> tuple[IntArray, FloatArray]:
    """Return items evenly from each cluster, all where they are few, and what each stands for."""
    K = int(estimate.max()) + 1
    most = max(_ROWS // K, _ROWS_PER_CLUSTER)
    order, ends = np.argsort(estimate, kind="stable"), np.cumsum(np.bincount(estimate))
    items, weights = [], []
    for members in np.split(order, ends[:-1]):
        places = np.linspace(0, len(members) - 1, min(most, len(members))).round().astype(np.int64)
        chosen = members[places]
        items.append(chosen)
        weights.append(sizes[chosen] * (sizes[members].sum() / sizes[chosen].sum()))
    return np.concatenate(items), np.concatenate(weights)


def merges(t: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return all merges of the columns of soft assignments, until one is left.

    Parameters
    ----------
    t : array of shape (m, K)
        Of each row the probabilities of the clusters.
    weights : array of shape (m,)
        How many rows each stands for.

    Returns
    -------
    linkage, overlap, entropy : arrays of shapes (K - 1, 4), (K - 1,) and (K,)
        As in `MergedClusters`.

    Examples
    --------
    >>> linkage, overlap, entropy = merges(np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.ones(2))
    >>> linkage
    array([[0., 1., 0., 2.],
           [2., 3., 1., 3.]])
    >>> overlap, entropy
    (array([1., 0.]), array([0. , 0. , 0.5]))
    """
    K = t.shape[1]
    tree = _Tree(t.copy(), weights)
    linkage, overlap, falls = np.empty((K - 1, 4)), np.empty(K - 1), np.empty(K - 1)
    for step in range(K - 1):
        nodes, overlap[step], falls[step], leaves = tree.merge_next(K + step)
        linkage[step] = *nodes, 1 - overlap[step], leaves
    linkage[:, 2] = np.maximum.accumulate(linkage[:, 2])
    entropy = np.concatenate([[0.0], np.cumsum(falls[::-1])]) / (weights.sum() * np.log(2))
    return linkage, overlap, entropy


class _Tree:
    """Groups of clusters, each in the place of one of its clusters, and how much they overlap.

    Parameters
    ----------
    t, weights : arrays of shape (m, K) and (m,)
        As in `merges`; columns of `t` become those of groups.
    """

    def __init__(self, t: FloatArray, weights: FloatArray) -> None:
        self._t, self._weights, self._rows = t, weights, weights @ t
        K = t.shape[1]
        self._node = np.arange(K)  # the number of each group in the tree, -1 where there is none
        self._group = np.arange(K)  # the place of each cluster's group
        self._falls = np.array([self._falls_with(k) for k in range(K)])
        self._shared = self._falls.copy()  # by single clusters
        self._overlap = np.array([self._overlaps_with(k) for k in range(K)])

    def merge_next(self, node: int) -> tuple[list[int], float, float, int]:
        """Merge the two that overlap most; return their nodes, overlap, fall, and clusters."""
        one, two = sorted(divmod(int(self._overlap.argmax()), len(self._node)))
        nodes = sorted((int(self._node[one]), int(self._node[two])))
        found, fall = float(self._overlap[one, two]), float(self._falls[one, two])
        self._t[:, one] += self._t[:, two]
        self._t[:, two] = 0.0
        self._group[self._group == two] = one
        self._node[one], self._node[two] = node, -1
        self._falls[one] = self._falls[:, one] = self._falls_with(one)
        self._overlap[two] = self._overlap[:, two] = -np.inf
        self._overlap[one] = self._overlap[:, one] = self._overlaps_with(one)
        return nodes, found, fall, int(np.count_nonzero(self._group == one))

    def _falls_with(self, k: int) -> FloatArray:
        """Return by how much the entropy falls if group `k` is merged with each other, (K,)."""
        rows, groups = np.flatnonzero(self._t[:, k]), np.flatnonzero(self._node >= 0)
        their = self._t[np.ix_(rows, groups)]
        place, group = np.nonzero(their)  # few, as most rows are near few groups
        own = self._t[rows[place], k]
        falls = self._weights[rows[place]] * _confusion(own, their[place, group])
        return np.maximum(np.bincount(groups[group], falls, len(self._node)), 0.0)

    def _overlaps_with(self, k: int) -> FloatArray:
        """Return how much group `k` and each other overlap, -inf where there is none, (K,)."""
        own, K = self._group == k, len(self._node)
        shared = np.zeros((K, int(own.sum())))  # of each group, by the clusters of this one
        np.add.at(shared, self._group, self._shared[:, own])
        of_clusters = self._shared[own].sum(axis=0)
        meeting, most, largest = (np.zeros(K) for _ in range(3))
        np.add.at(meeting, self._group, self._rows * of_clusters)
        np.maximum.at(most, self._group, of_clusters)
        np.maximum.at(largest, self._group, self._rows)
        here = _rows_that_meet(shared @ self._rows[own], shared.max(axis=1), self._rows[own].max())
        there = _rows_that_meet(meeting, most, largest)
        others = (self._node >= 0) & (np.arange(K) != k)
        overlap = np.full(K, -np.inf)
        overlap[others] = self._falls[k, others] / _confusion(here, there)[others]
        return np.asarray(np.minimum(overlap, 1.0))


def _rows_that_meet(meeting: FloatArray, most: FloatArray, largest: Any) -> FloatArray:
    """Return how many rows of a group are where it meets another.

    Its clusters count by how much they share with the other, relative to the one that shares
    `most`; `meeting` is the sum of their rows times what they share. The largest cluster counts in
    any case.
    """
    shared = np.divide(meeting, most, out=np.zeros(len(most)), where=most > 0)
    return np.asarray(np.maximum(shared, largest))


def _confusion(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``L(a, b)`` of this module's formulas."""
    return np.asarray(entr(a) + entr(b) - entr(a + b))
