"""Draws and their pictures; what each one shows is in `mixwood.plots`, one file per picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixwood.posterior.grouped_draws import GroupedDraws

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PicturedDraws"]


class PicturedDraws(GroupedDraws):
    """Draws that draw themselves; see `mixwood.Posterior`."""

    def plot_fit(
        self,
        words: Any = None,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: Axes | None = None,
        *,
        max_quantities: int = 15,
    ) -> Axes:
        """Draw whether the model fits: how far quantities of the data are from expected ones.

        One line per quantity of `check_fit`, the oddest first: where it is, in standard deviations
        of replicated data, which lie between the dotted lines in 19 of 20 sets, all quantities
        together. Filled marks are what the model misses; the sentence is the title.

        Parameters
        ----------
        words, loss, min_size, seed
            As `check_fit` takes them.
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        max_quantities : int
            At most this many are drawn.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import mixwood as mw
        >>> from matplotlib.figure import Figure
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=20, chains=1, seed=1, progress=False)
        >>> post.plot_fit(ax=Figure().add_subplot()).get_xlabel()
        'standard deviations from expected'
        """
        from mixwood.plots import plot_fit

        fit = self.check_fit(words, loss, min_size, seed)
        return plot_fit(fit, ax, max_quantities=max_quantities)

    def plot_clusters(
        self,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: Axes | None = None,
        density: bool = True,
        max_items: int = 10_000,
        *,
        coordinates: Any = None,
        names: Any = None,
        palette: Any = None,
    ) -> Axes:
        """Draw the data by cluster of the point estimate.

        One column: a histogram, each item below it, and the predictive density. Two columns:
        the items, and contours of the predictive density within which lie 50, 90 and 99% of
        them. More: the plane that tells the clusters best apart, of standardized columns (of
        `Multinomial`, the square roots of a row's shares; of `Categorical`, indicators); the
        axes say how much of the separation of all clusters they show. Hollow marks are items
        whose `certainty` is below 0.9. A legend has the clusters' numbers, those of
        `describe`, and sizes; where it would not fit, the numbers are at the clusters. Weighted
        leaves are drawn at the mean of their rows, with an area by the number of them; leaves of
        a family made by `mixwood.conjugate_family` have no such place: give `coordinates`.

        Parameters
        ----------
        loss, seed
            Which point estimate, as `point_estimate` takes them.
        min_size : int
            Clusters of fewer rows are grey, and called "others".
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        density : bool
            Whether to draw the predictive density, a mean over at most 200 draws.
        max_items : int
            Of more items a random sample is drawn, and the title says so.
        coordinates : array or table of shape (n, 2), or a pair of column names, optional
            Where to draw the items instead: coordinates of your own (UMAP, t-SNE, longitude and
            latitude), or two columns of the data.
        names : sequence of str, or dict from int to str, optional
            What the clusters are called: all of them in order, or some by their numbers.
        palette : sequence of colours, or str, optional
            The colours of the clusters, or the name of a colour map of matplotlib. The default
            has 20, which colour-blind readers tell apart. Where there are more clusters than
            colours, no two that are neighbours in the picture share one.

        Returns
        -------
        matplotlib Axes

        Notes
        -----
        The plane is a discriminant plane: the covariance between the clusters' means against
        that within clusters, rows weighted by `certainty`, pairs of clusters by how well they
        are told apart already, so that no far cluster has the plane for itself. Clusters of one
        row, or of less than 0.5% of them, take no part in choosing it.

        Examples
        --------
        >>> import numpy as np
        >>> import mixwood as mw
        >>> from matplotlib.figure import Figure
        >>> X = np.random.default_rng(0).normal(size=(40, 3))
        >>> X[:20, 0] += 9.0
        >>> model = mw.Mixture(mw.DiagonalGaussian())
        >>> post = mw.sample(model, X, draws=50, chains=1, seed=1, progress=False)
        >>> ax = post.plot_clusters(ax=Figure().add_subplot(), names=["left", "right"])
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('first discriminant (100% of the separation)', 'first component of the rest')
        """
        from mixwood.plots import plot_clusters

        return plot_clusters(
            self, loss, min_size, seed, ax, density, max_items,
            coordinates=coordinates, names=names, palette=palette,
        )  # fmt: skip

    def plot_groups(
        self,
        order: Any = None,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: tuple[Axes, Axes] | None = None,
        *,
        names: Any = None,
        palette: Any = None,
        max_clusters: int = 30,
        draws: int = 1000,
    ) -> tuple[Axes, Axes]:
        """Draw the share of each cluster in each group: stacked bars, and a heat map below.

        The shares are the means of `group_weights`. In the heat map a cell is empty where the group
        has no row in the cluster of the estimate. With `order` given, as for windows of time, bars
        in the heat map mark births and deaths: where a cluster begins after the first group, and
        where it ends before the last.

        Parameters
        ----------
        order : sequence of names, or "similar", optional
            Which groups to draw, from left to right; or all, those of similar shares next to each
            other. The groups' own order by default: sorted, or that of a pandas Categorical.
        loss, min_size, seed, draws
            As for `group_weights`.
        ax : pair of matplotlib Axes, optional
            Where to draw the bars and the heat map; those of a new figure of pyplot by default.
        names, palette
            As for `plot_clusters`.
        max_clusters : int
            Of more clusters, the largest have a line, and the others share one.

        Returns
        -------
        pair of matplotlib Axes
            That of the bars and that of the heat map.

        Examples
        --------
        >>> import mixwood as mw
        >>> from matplotlib.figure import Figure
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> model = mw.Mixture(prior=mw.FiniteMixture())
        >>> post = mw.sample(model, X, groups=list("aaabbb"), draws=50, seed=1, progress=False)
        >>> bars, cells = post.plot_groups(order=["b", "a"], ax=tuple(Figure().subplots(2, 1)))
        >>> [label.get_text() for label in cells.get_xticklabels()]
        ['b', 'a']
        """
        from mixwood.plots import plot_groups

        return plot_groups(
            self, order, loss, min_size, seed, ax,
            names=names, palette=palette, max_clusters=max_clusters, draws=draws,
        )  # fmt: skip

    def plot_profile(
        self,
        words: Any = None,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: Axes | None = None,
        *,
        max_columns: int = 40,
        max_clusters: int = 40,
        names: Any = None,
        palette: Any = None,
        draws: int = 200,
    ) -> Axes:
        """Draw what the clusters are like: a heat map of clusters by columns.

        The colour is the posterior mean of a cluster's mean, rate or probability, as its
        distance from the mean of all rows: in standard deviations of the rows, for words in
        those between clusters. Where there is room, the parameter itself is written. Clusters
        are in the order of a tree that joins similar ones, drawn at the right. Each category of
        a column is one.

        Parameters
        ----------
        words : sequence of str, optional
            Names of the columns, for counts the vocabulary; `column_names` by default.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        max_columns, max_clusters : int
            Of more columns, those are drawn that set one cluster after the other apart most, in
            the order of a tree; of more clusters, the largest.
        names, palette
            Of the clusters, as `plot_clusters` takes them.
        draws : int
            At most this many draws of the partition are used, evenly spread over all.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import mixwood as mw
        >>> from matplotlib.figure import Figure
        >>> X = [[0.0, 1.0], [0.1, 1.3], [0.2, 1.1], [9.0, 1.2], [9.1, 1.1], [9.2, 1.0]]
        >>> post = mw.sample(mw.Mixture(), X, draws=20, chains=1, seed=1, progress=False)
        >>> post.plot_profile(ax=Figure().add_subplot()).get_title()
        '2 clusters, 2 columns'
        """
        from mixwood.plots import plot_profile

        return plot_profile(
            self, words, loss, min_size, seed, ax,
            max_columns=max_columns, max_clusters=max_clusters, names=names, palette=palette,
            draws=draws,
        )  # fmt: skip

    def plot_n_clusters(self, ax: Axes | None = None, min_size: int = 1) -> Axes:
        """Draw the posterior of the number of clusters; small marks are the single chains.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        min_size : int
            Count only clusters of at least this many rows; see `n_clusters_at_least`.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots import plot_n_clusters

        return plot_n_clusters(self, ax, min_size)

    def plot_trace(self, name: str = "log_joint", ax: Axes | None = None) -> Axes:
        """Draw how a quantity went, one line per chain.

        Parameters
        ----------
        name : str
            ``"log_joint"``, ``"n_clusters"``, ``"log_u"``, or one of the prior's random
            parameters: ``"alpha"``, ``"log_alpha"``, ``"sigma"``, ``"theta"``, ``"rate"``,
            ``"gamma"``.
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots import plot_trace

        return plot_trace(self, name, ax)

    def plot_similarity(self, ax: Axes | None = None, max_items: int = 1000) -> Axes:
        """Draw the probabilities that two items are in one cluster, as a heat map.

        Items are in the order of the leaves of a tree (average linkage), so that those often
        together are side by side.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        max_items : int
            Of more items a random sample is drawn, and the title says so.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots import plot_similarity

        return plot_similarity(self, ax, max_items)

    def plot_dendrogram(
        self,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: Axes | None = None,
        leaves: int = 60,
    ) -> Axes:
        """Draw a tree of the data under the model, coloured by the point estimate.

        The tree is one that `mixwood.ibhc` grows, the best of three, at the base measure of the
        draw with the largest joint density; it is not part of the posterior. Grey merges join
        items of different clusters.

        Parameters
        ----------
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them; the seed is also the tree's.
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        leaves : int
            At most this many are drawn; see `Hierarchy.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots import plot_dendrogram

        return plot_dendrogram(self, loss, min_size, seed, ax, leaves)
