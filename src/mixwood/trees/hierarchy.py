"""`Hierarchy`: the binary tree over the rows that `mixwood.bhc` and `mixwood.ibhc` build."""

from __future__ import annotations

from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.cards import card
from mixwood._support.checks import finite_number, shown, whole_number
from mixwood._support.labels import in_order_of_appearance
from mixwood._support.numbers import count
from mixwood.core import bind_family
from mixwood.input.matrices import stacked
from mixwood.likelihoods.weighted_leaves import (
    WeightedLeaves,
    log_constants,
    n_points,
    refuse_drawn_entries,
)
from mixwood.model import Mixture
from mixwood.trees.node_table import Dendrogram
from mixwood.trees.recipe import Recipe, grow, without_collapsed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["Hierarchy"]


class Hierarchy:
    """A binary tree over all rows; its clusters are subtrees.

    Made by `mixwood.bhc` and `mixwood.ibhc`. A leaf is a row or, if the tree was built with
    `max_leaves`, a block of rows of which only the sufficient statistics were kept (a
    weighted leaf). The tree can be copied and pickled; a copy builds its compiled part again
    when `insert` is first called, by putting in all rows again in the same order.

    Notes
    -----
    Every node has the potentials ``phi(h) = kappa(|c|, u) P(X_c)``, all in one cluster, and
    ``phi(t) = phi(h) + phi(t_l) phi(t_r)``, the clusters that the tree holds. With ``d =
    phi(t_l) phi(t_r) / phi(h)``, ``P(h | X, t) = 1 / (1 + d)`` is the probability that the
    merge is right.

    Examples
    --------
    >>> from mixwood.trees.build import bhc
    >>> tree = bhc(Mixture(), [[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    >>> tree.labels
    array([0, 1, 0, 1, 0, 1])
    >>> tree.insert([[0.15]])
    array([0])
    """

    def __init__(
        self,
        recipe: Recipe,
        X: Data | WeightedLeaves,
        forest: _core.Forest,
        order: IntArray,
        *,
        greedy: bool,
    ) -> None:
        self._recipe = recipe
        self._X = X  # the rows that are leaves, and one row of each weighted leaf
        self._points = n_points(X)  # rows, those of given leaves one by one
        self._forest: _core.Forest | None = None
        self._batches = [np.asarray(order, dtype=np.int64)]  # as they came
        self._greedy = greedy  # whether the first of them was joined by bhc
        self._place = np.arange(X.shape[0])  # of each row ever given: which row of _X
        self._log_constant = float(np.sum(log_constants(recipe.model.likelihood, X)))
        self._settle(forest)

    def _settle(self, forest: _core.Forest) -> None:
        """Read the clusters off the compiled forest and forget rows of collapsed leaves."""
        leaves = forest.leaves()
        leaf_of_row = leaves["leaf_of_row"]
        leaf_of_place = leaf_of_row[self._place]
        if forest.n_leaves < leaf_of_row.shape[0]:
            self._X, now = without_collapsed(self._recipe.model, self._X, forest)
            self._place = now[self._place]
            self._batches = []  # without the rows the tree cannot be built again
        self._leaf_of_row, self._cluster_of_leaf = leaf_of_place, leaves["tree"]
        self._forest = forest
        for name in ("labels", "_tree"):
            self.__dict__.pop(name, None)

    @cached_property
    def _tree(self) -> Dendrogram:
        """The nodes, trees joined to one root; made when first asked for."""
        if self._forest is None:
            self._forest = self._rebuilt()
        return Dendrogram.from_export(self._forest.export(), self._leaf_of_row)

    def __getstate__(self) -> dict[str, Any]:
        own = {"_forest": None, "_tree": self._tree, "_batches": list(self._batches)}
        return self.__dict__ | own

    # --- what it is

    @property
    def model(self) -> Mixture:
        """The model, with every parameter of its likelihood explicit."""
        return self._recipe.model

    @property
    def n_items(self) -> int:
        """How many rows are in the tree, those of weighted leaves included."""
        return len(self._place)

    @property
    def n_leaves(self) -> int:
        """How many leaves it has: as many as rows, unless some are weighted."""
        return len(self._cluster_of_leaf)

    @property
    def leaf(self) -> IntArray:
        """The leaf of each row, as `linkage` numbers them: its own number if none is weighted."""
        return self._tree.leaf_of_row.copy()

    @cached_property
    def labels(self) -> IntArray:
        """The cluster of each row, 0 to K-1 in order of appearance."""
        labels = in_order_of_appearance(self._cluster_of_leaf[self._leaf_of_row])
        labels.flags.writeable = False
        return labels

    @property
    def n_clusters(self) -> int:
        """How many clusters `labels` has."""
        return int(self.labels.max()) + 1

    @property
    def log_u(self) -> float:
        """The logarithm of the auxiliary variable ``u`` at which the tree is judged."""
        return self._recipe.parameters.log_u

    @property
    def parameters(self) -> dict[str, float]:
        """The prior's parameters at which the tree is judged: ``log_alpha``, ``sigma``, ..."""
        prior = self._recipe.model.prior
        return {
            prior.stored_name(name): float(prior.stored(name, np.asarray(self._core_value(name))))
            for name in prior.parameters
        }

    def _core_value(self, name: str) -> float:
        """Return a parameter as the core has it."""
        value: float = getattr(self._recipe.parameters, self.model.prior.core_name(name))
        return value

    @property
    def log_evidence_bound(self) -> float:
        """A lower bound of ``log p(X, u)`` at the ``u`` and parameters used.

        ``(n-1) log u - psi(u) - log Gamma(n) + log phi(t)``, every constant included; given that
        the random measure has a jump, where it may have none.
        """
        p, n = self._recipe.parameters, self._points
        psi_u = self._recipe.model.prior.psi(p)
        constants = (n - 1) * p.log_u - psi_u - lgamma(n) + self._log_constant
        constants -= self._recipe.model.prior.log_nonempty(p)
        return constants + self._tree.log_potential

    @property
    def probability(self) -> FloatArray:
        """``P(h | X, t)`` of each inner node, in the order of the rows of `linkage`."""
        return self._tree.probability[self._tree.merge_order]

    def __repr__(self) -> str:
        leaves = count("leaf", self.n_leaves, plural="leaves")
        weighted = "" if self.n_leaves == self.n_items else f" in {leaves}"
        return (
            f"<mixwood.Hierarchy: {count('row', self.n_items)}{weighted}; "
            f"{count('cluster', self.n_clusters)}; log evidence bound "
            f"{self.log_evidence_bound:,.2f}; {type(self.model.likelihood).__name__}, "
            f"{type(self.model.prior).__name__}>"
        )

    def _repr_html_(self) -> str:
        from mixwood.plots.inline import inline_picture

        leaves = "" if self.n_leaves == self.n_items else f", {self.n_leaves:,} leaves"
        facts = [
            ("log evidence bound", f"{self.log_evidence_bound:,.2f}"),
            (
                "model",
                f"{type(self.model.likelihood).__name__}, {type(self.model.prior).__name__}",
            ),
        ]
        picture = ""
        if self.n_leaves > 1:
            picture = inline_picture(
                "The tree", (6.4, 3.0), lambda ax: self.plot(ax=ax, leaves=min(self.n_leaves, 40))
            )
        return card(
            f"Hierarchy: {count('row', self.n_items)}{leaves}, "
            f"{count('cluster', self.n_clusters)}",
            facts=facts, picture=picture,
        )  # fmt: skip

    # --- what to make of it

    def linkage(self, points: bool = False) -> FloatArray:
        """Return the tree as scipy's hierarchical clustering has it.

        Parameters
        ----------
        points : bool
            Whether the last column counts points instead of leaves. It makes a difference
            only with weighted leaves, where scipy refuses a linkage that counts points.

        Returns
        -------
        array of shape (n_leaves - 1, 4)
            A merge in each row: the two nodes, its height, and its number of leaves. The
            height is ``log(1 + d)``, or that of a child where that is higher. Leaf ``i`` is
            row ``i`` if no leaf is weighted; else see `leaf`.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import is_valid_linkage
        >>> from mixwood.trees.build import bhc
        >>> bool(is_valid_linkage(bhc(Mixture(), [[0.0], [9.0], [0.1]]).linkage()))
        True
        """
        return self._tree.linkage(points=points)

    def cut(self, n_clusters: int | None = None, probability: float | None = None) -> IntArray:
        """Return other labels of the rows, from another cut through the tree.

        Give exactly one argument.

        Parameters
        ----------
        n_clusters : int, optional
            This many clusters: the ``n_clusters - 1`` highest merges of `linkage` are undone.
        probability : float, optional
            From 0 to 1: from the root down, the first nodes whose ``P(h | X, t)`` is at
            least this become clusters.

        Returns
        -------
        int array of shape (n_items,)
            In order of appearance.

        Examples
        --------
        >>> from mixwood.trees.build import bhc
        >>> tree = bhc(Mixture(), [[0.0], [9.0], [0.1]])
        >>> tree.cut(n_clusters=3)
        array([0, 1, 2])
        """
        if (n_clusters is None) == (probability is None):
            raise ValueError("cut needs exactly one of n_clusters and probability")
        tree = self._tree
        if n_clusters is not None:
            count = whole_number(n_clusters, "n_clusters", at_least=1)
            if count > tree.n_leaves:
                raise ValueError(
                    f"n_clusters must be at most the number of leaves, {tree.n_leaves}, got {count}"
                )
            whole = np.zeros(tree.n_leaves - 1, dtype=bool)
            whole[tree.merge_order[: tree.n_leaves - count]] = True
        else:
            p = finite_number(probability, "probability")
            if not 0 <= p <= 1:
                raise ValueError(f"probability must lie between 0 and 1, got {shown(probability)}")
            whole = tree.probability >= p
        return in_order_of_appearance(tree.topmost(whole)[tree.leaf_of_row])

    def to_newick(self) -> str:
        """Return the tree in Newick format.

        Leaves are named by their row number, weighted ones ``w<k>x<points>``; a branch is
        as long as the two heights of `linkage` differ.

        Examples
        --------
        >>> from mixwood.trees.build import bhc
        >>> bhc(Mixture(), [[0.0]]).to_newick()
        '0;'
        """
        return self._tree.newick()

    def plot(self, ax: Axes | None = None, labels: Any = None, leaves: int = 60) -> Axes:
        """Draw the tree; nothing is shown by itself.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure by default.
        labels : array of n_items integers, optional
            Clusters to colour, for example from `cut`; `labels` of the tree by default.
        leaves : int
            At most this many are drawn, 2 to 500: lower parts of a larger tree are drawn as
            leaves, with their number of points in brackets.

        Returns
        -------
        matplotlib Axes
        """
        if whole_number(leaves, "leaves", at_least=2) > 500:
            raise ValueError(f"leaves must be at most 500 to be drawn, got {leaves}")
        clusters = self.labels if labels is None else np.asarray(labels)
        if clusters.shape != (self.n_items,) or clusters.dtype.kind not in "iu":
            raise ValueError(
                f"labels must be {self.n_items} whole numbers, one per row, got {shown(labels)}"
            )
        numbers = np.unique(clusters, return_inverse=True)[1]  # colours by number, as elsewhere
        return self._tree.plot(numbers, ax, leaves)

    def as_draws(self) -> Draws:
        """Return the clusters as a single draw, at the parameters at which the tree is judged.

        So whatever is done with draws from a posterior can be done with it, such as prediction.
        """
        from mixwood.posterior.draws import Draws

        if self.n_leaves < self.n_items:
            raise ValueError(
                "a tree with weighted leaves does not keep the rows in them, so it cannot predict; "
                "build it without max_leaves"
            )
        return Draws(
            labels=self.labels[None, None].astype(np.int32),
            log_joint=np.full((1, 1), np.nan),
            log_u=np.full((1, 1), self.log_u),
            parameters={
                self.model.prior.core_name(name): np.full((1, 1), self._core_value(name))
                for name in self.model.prior.parameters
            },
            model=self.model,
            resolved=self.model.likelihood,
            X=self._X,
            bases=self.model.likelihood.start_base()[None, None],
        )

    # --- how it grows

    def insert(self, X_new: Any) -> IntArray:
        """Put more rows into the tree, one after the other.

        Parameters of likelihood and prior, and ``u``, stay as they are. The rows are checked
        first: if they are refused the tree is as it was. A call takes time in proportion to
        the leaves, some 0.3 s for a million, whatever the number of rows. With `max_leaves`
        memory is bounded but for the labels, some 16 bytes for each row ever given.

        Parameters
        ----------
        X_new : array, data frame or sparse matrix
            As wide as the data that the tree was built from.

        Returns
        -------
        int array, one per new row
            Their `labels`. Those of other rows may change too.
        """
        likelihood = self.model.likelihood
        if isinstance(self._X, WeightedLeaves):
            raise ValueError(
                "X_new cannot go into a tree over weighted leaves, of which no rows are kept; add "
                "the rows to the stream, and build the tree again"
            )
        new = likelihood.check(X_new, name="X_new", width=self._X.shape[1])
        if self._recipe.max_leaves is not None:
            refuse_drawn_entries(likelihood, new, "X_new")
        n_old, n_new = self._X.shape[0], new.shape[0]
        both = stacked([self._X, new])
        family = likelihood.bind(both)
        finite = np.isfinite(family.log_alone()[n_old:])
        if not finite.all():
            raise ValueError(
                f"X_new has a row ({int(np.argmin(finite))}) so extreme that its prior density is "
                "not a finite number"
            )
        constant = float(np.sum(likelihood.row_constants(new)))
        forest = self._forest if self._forest is not None else self._rebuilt()
        if self.n_leaves < self.n_items:
            _ = self._tree  # to be read even if something breaks
        self._forest = None  # if something breaks half-way, it is built again from the rows
        rows = np.arange(n_old, n_old + n_new)
        forest.rebind(family, np.arange(n_old))
        grow(self._recipe, forest, rows)
        self._X, self._place = both, np.concatenate([self._place, rows])
        self._batches.append(rows)
        self._log_constant += constant
        self._points += n_new
        self._settle(forest)
        return self.labels[-n_new:].copy()

    def _rebuilt(self) -> _core.Forest:
        """Return the compiled forest, built again from the rows in the order they came in."""
        if self.n_leaves < self.n_items:
            raise ValueError(
                "insert cannot continue from a copied or unpickled tree with weighted leaves: the "
                "rows in them are not kept. Insert into the original, or build without max_leaves"
            )
        forest = self._recipe.forest(bind_family(self.model, self._X))
        for k, rows in enumerate(self._batches):
            grow(self._recipe, forest, rows, greedy=self._greedy and k == 0)
        return forest
