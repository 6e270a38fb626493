"""What `mixwood.sample` returns: the draws, and what to do with them.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from mixwood._support.checks import whole_number
from mixwood.posterior.predicting_draws import PredictingDraws

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood._support.types import IntArray
    from mixwood.posterior.cluster_summary import ParameterEstimate
    from mixwood.posterior.fit.check import FitCheck

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(PredictingDraws):
    """Draws from the posterior of a mixture, and everything a user does with them.

    Its arrays have axes (chain, draw): ``labels`` (and item), ``n_clusters``,
    ``log_joint``, ``u``, and ``alpha``, ``sigma``, ``theta``, ``rate``, ``gamma`` where the prior
    has them.
    The parameters are those of `mixwood.posterior.draws.Draws`; `mixwood.sample` fills them in.

    Examples
    --------
    >>> import mixwood as mw
    >>> X, _ = mw.datasets.toy()
    >>> mw.sample(mw.Mixture(), X, draws=10, warmup=10, chains=2, seed=0,
    ...           progress=False)  # doctest: +ELLIPSIS
    <mixwood.Posterior: 2 chains x 10 draws of 1,300 items; ...; Gaussian, NGGP>
    """

    def _repr_html_(self) -> str:
        from mixwood.report.notebook import posterior_card

        return posterior_card(self)

    def summary(self) -> Any:
        """Return a table of the scalar quantities, one row each.

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, sd, q5, q95, ess_bulk, ess_tail, r_hat``; rows ``n_clusters``,
            ``log_joint``, ``log_u`` and the prior's random parameters. Where all draws are
            equal the last three columns are NaN. Its ``attrs`` say in a line what was given
            as ``weights`` and ``known``.
        """
        from mixwood.posterior.summary import summary

        return summary(self)

    # --- how many

    def n_clusters_at_least(self, m: int) -> IntArray:
        """Return how many clusters of each draw have at least `m` rows.

        `n_clusters` counts clusters of every size, also those of one odd row.

        Parameters
        ----------
        m : int
            The least number of rows, from 1 on. A weighted leaf counts as many as it stands for.

        Returns
        -------
        int64 array of shape (chain, draw)

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> float((post.n_clusters_at_least(3) == 2).mean().round(1))  # two of three rows
        1.0
        >>> int(post.n_clusters_at_least(4).max())
        0
        """
        from mixwood.posterior.group_counts import groups_of_at_least

        least = whole_number(m, "m", at_least=1)
        return self.n_clusters.copy() if least == 1 else groups_of_at_least(self, least)[0]

    # --- its clusters

    def cluster_parameters(
        self,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> dict[str, ParameterEstimate]:
        """Return the parameters of the point estimate's clusters, with their uncertainty.

        Parameters
        ----------
        level : float
            The probability of the credible intervals, between 0 and 1.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them; the seed is also that of the
            parameters, which are drawn.
        draws : int
            At most this many draws of the partition are used, evenly spread over all.

        Returns
        -------
        dict of ParameterEstimate
            Each has ``mean``, ``sd``, ``lower`` and ``upper``, arrays whose first axis is that
            of the K clusters:

            ==================== ========================================================
            `Gaussian`           ``mean`` (K, d), ``covariance`` (K, d, d)
            `DiagonalGaussian`   ``mean`` (K, d), ``variance`` (K, d)
            `SphericalGaussian`  ``mean`` (K, d), ``variance`` (K,)
            `Poisson`            ``rate`` (K, d)
            `Bernoulli`          ``probability`` (K, d)
            `Categorical`        ``probabilities`` (K, d, L), 0 beyond a column's categories
            `Multinomial`        ``probabilities`` (K, V)
            ==================== ========================================================

        Notes
        -----
        The parameters of cluster ``k`` are those of a random member: for each draw an item of
        ``k`` is chosen at random, and parameters are drawn given all items of that draw's
        cluster that holds it. So the intervals account for the uncertainty of the partition
        and for that of the parameters.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> means = post.cluster_parameters()["mean"]
        >>> means.mean.shape, bool((means.lower < means.upper).all())
        ((2, 1), True)
        """
        from mixwood.posterior.cluster_summary import parameter_estimates

        self.data_for("cluster_parameters")
        estimate = self.point_estimate(loss, min_size, seed)
        return parameter_estimates(self, estimate, level=level, seed=seed, n_draws=draws)

    def describe(
        self,
        words: Any = None,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> Any:
        """Return a table of the point estimate's clusters, one row each.

        Parameters
        ----------
        words : sequence of str, optional
            Names of the columns, for counts the vocabulary; `column_names` by default.
        level : float
            The probability of the credible intervals, between 0 and 1.
        loss, min_size, seed, draws
            As in `cluster_parameters`, which has more, and says what the intervals mean.

        Returns
        -------
        pandas.DataFrame
            The largest cluster first. ``size``, the number of rows; ``certainty``, the mean of
            its rows' `certainty`; ``markers``, at most four columns that set it apart, from
            `markers`; and for each column of the data a parameter with the ends of its
            interval, ``low`` and ``high``: ``mean`` and ``sd``, ``rate``, or ``probability``.
            Categorical columns have their ``mode`` and its probability, counts their most
            distinctive ``words`` and the first one's probability. Numbers are rounded to what the
            intervals leave, three digits of their width; `cluster_parameters` has all digits.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> post.describe()["size"].tolist()
        [3, 3]
        """
        from mixwood.posterior.describe import describe

        self.data_for("describe")
        estimate = self.point_estimate(loss, min_size, seed)
        return describe(self, estimate, words=words, level=level, seed=seed, n_draws=draws)

    def markers(
        self,
        n: int = 10,
        probability: float = 0.9,
        words: Any = None,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 200,
    ) -> Any:
        """Return what sets each cluster of the point estimate apart from the rest.

        Parameters
        ----------
        n : int
            At most this many markers per cluster.
        probability : float
            How probable it must be that the cluster's parameter is above the rest's (or below).
        words : sequence of str, optional
            Names of the columns, for counts the vocabulary; `column_names` by default.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them; the seed is also that of the
            parameters, which are drawn.
        draws : int
            At most this many draws of the partition are used, evenly spread over all.

        Returns
        -------
        pandas.DataFrame
            One row per marker, the largest effect of each cluster first. ``cluster``;
            ``column``, a column, a word, or a category (``"colour = red"``); ``how``, for
            example ``"high"`` or ``"low"``; ``value`` and ``rest``, the posterior means of its
            mean, rate or probability in the cluster and in all others; ``effect``, by how much
            they differ, in standard deviations of a row; ``probability`` that the cluster's is
            above. Words and categories are markers only where they are more probable than
            elsewhere. Effects below 0.2 are left out. One cluster has no markers.

        Notes
        -----
        Effects of means are in units of the standard deviation within clusters; those of rates
        are differences of ``2 sqrt(rate)``, and those of probabilities of ``2 asin(sqrt(p))``
        (Cohen's h), for words times the root of the mean number of words in a row. So they can be
        compared, and words are ranked by how distinctive they are: not by frequency, and not by a
        ratio that rare words would win.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0, 1.0], [0.1, 1.3], [0.2, 1.1], [9.0, 1.2], [9.1, 1.1], [9.2, 1.0]]
        >>> model = mw.Mixture(mw.DiagonalGaussian())
        >>> post = mw.sample(model, X, draws=100, chains=2, seed=1, progress=False)
        >>> post.markers()[["cluster", "column", "how"]]
           cluster    column   how
        0        0  column 0   low
        1        1  column 0  high
        """
        from mixwood.posterior.describe import column_names
        from mixwood.posterior.markers import find_markers, markers_table

        names = column_names(self, words)
        estimate = self.point_estimate(loss, min_size, seed)
        found = find_markers(
            self, estimate, names, most=n, probability=probability, seed=seed, n_draws=draws
        )
        return markers_table(found)

    # --- its groups

    def group_weights(
        self,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> Any:
        """Return the share of each cluster of the point estimate in each group.

        Parameters
        ----------
        level : float
            The probability of the credible intervals, between 0 and 1.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them; the seed is also that of the
            shares, which are drawn.
        draws : int
            At most this many draws of the partition are used, evenly spread over all.

        Returns
        -------
        pandas.DataFrame
            One row per group and cluster: ``mean``, ``low`` and ``high`` of the share, and
            ``rows``, how many items of the group are in the cluster of the estimate.
            ``group_weights()["mean"].unstack()`` has groups by clusters. What is left of 1 belongs
            to no cluster of the data.

        Notes
        -----
        A share is the weight of a component in the group, not the fraction of its rows: groups of
        few rows have wide intervals, and borrow nothing but the components from the others.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> model = mw.Mixture(prior=mw.FiniteMixture())
        >>> post = mw.sample(model, X, groups=list("aaabbb"), draws=50, seed=1, progress=False)
        >>> post.group_weights()["rows"].unstack()
        cluster  0  1
        group
        a        3  0
        b        0  3
        """
        from mixwood.posterior.groups import group_weights, groups_of

        groups_of(self, "group_weights")  # before the estimate, which takes time
        estimate = self.point_estimate(loss, min_size, seed)
        return group_weights(self, estimate, level=level, seed=seed, n_draws=draws)

    def compare_groups(
        self,
        a: Any,
        b: Any,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> Any:
        """Return which clusters differ in share between two groups.

        Parameters
        ----------
        a, b
            The names of two groups.
        level, loss, min_size, seed, draws
            As for `group_weights`.

        Returns
        -------
        pandas.DataFrame
            One row per cluster, those whose difference is most certain first: the mean shares in
            ``a`` and ``b``, the mean ``difference`` with its interval ``low`` to ``high``, and the
            ``probability`` that the share in ``a`` is the larger.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> model = mw.Mixture(prior=mw.FiniteMixture())
        >>> post = mw.sample(model, X, groups=list("aaabbb"), draws=50, seed=1, progress=False)
        >>> bool(post.compare_groups("a", "b").loc[0, "probability"] > 0.9)
        True
        """
        from mixwood.posterior.groups import compare_groups, groups_of

        groups = groups_of(self, "compare_groups")
        groups.index(a, "a"), groups.index(b, "b")
        estimate = self.point_estimate(loss, min_size, seed)
        return compare_groups(self, estimate, a, b, level=level, seed=seed, n_draws=draws)

    # --- does it fit

    def check_fit(
        self, words: Any = None, loss: str = "vi", min_size: int = 1, seed: Any = 0
    ) -> FitCheck:
        """Tell whether the model fits, and if not, what of the data it misses.

        That chains agree says nothing about it: they may agree on clusters that are none. The
        rows of each cluster are compared with replicates, which the model itself draws. Of normal
        columns: spread, tails and lopsidedness, bent clusters, clusters that look like two, the
        share of rows in the dense half, and ties; of counts: the variance over the mean, and zeros;
        of words: how they repeat; and wherever columns are taken for independent, whether they go
        together within clusters.

        Parameters
        ----------
        words : sequence of str, optional
            Names of the columns; `column_names` by default.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them: by its numbers clusters are
            named. The seed is also that of the replicates.

        Returns
        -------
        FitCheck
            ``ok``, ``sentence``, ``probability`` and ``table``.

        Raises
        ------
        ValueError
            If the data are weighted leaves, or rows with weights.
        TypeError
            If the likelihood, a family of the user's, cannot draw rows.

        Notes
        -----
        Given the partition and the parameters of a draw, each row is drawn anew from its cluster,
        and the largest of all standardized quantities of the data is ranked among those of the
        replicates. Under the model the rank is uniform, however many quantities there are: a right
        model fails at most about one time in twenty. Of at most 2,000 rows, so that what is missed
        is large enough to be seen; missing entries are drawn.

        Normal clusters are put together as a reader sees them first, for a mixture of normals can
        cover every shape: a narrow cluster inside a wide one, rows on their own around a cluster,
        and chains of three or more long ones that overlap count as one. A cluster that is drawn as
        several since the data are *really* such a mixture is then called misfit, too.

        Ties are no matter of chance: columns are called tied where two rows of one cluster are
        equal with a probability of at least 2%.

        Examples
        --------
        >>> import numpy as np
        >>> import mixwood as mw
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(200, 2))
        >>> post = mw.sample(mw.Mixture(), X, draws=50, seed=1, progress=False)
        >>> post.check_fit().sentence
        'The model fits: the rows of each cluster look as it expects.'
        >>> X = rng.standard_t(2, size=(200, 1))
        >>> post = mw.sample(mw.Mixture(), X, draws=50, seed=1, progress=False)
        >>> post.check_fit().misses
        ('tails',)
        """
        from mixwood.posterior.describe import column_names
        from mixwood.posterior.fit.check import check_fit

        names = column_names(self, words)
        return check_fit(self, self.point_estimate(loss, min_size, seed), names, seed)

    # --- pictures

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
        'standard deviations from what the model expects'
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
        draws: int = 1000,
    ) -> tuple[Axes, Axes]:
        """Draw the share of each cluster in each group: stacked bars, and a heat map below.

        The shares are the means of `group_weights`. In the heat map a cell is empty where the group
        has no row in the cluster of the estimate: with time windows as groups, in their order,
        births and deaths of clusters are where a row of it begins and ends.

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
            self, order, loss, min_size, seed, ax, names=names, palette=palette, draws=draws
        )

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

        The tree is one that `mixwood.ibhc` grows, not part of the posterior; grey merges join
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

    # --- elsewhere

    def to_arviz(
        self,
        log_likelihood: bool = False,
        posterior_predictive: bool = False,
        rows: Any = None,
        clusters: Any = None,
        seed: Any = 0,
    ) -> Any:
        """Return the draws as ArviZ wants them.

        Parameters
        ----------
        log_likelihood : bool
            Whether to add the group ``log_likelihood`` that ``arviz.loo`` needs. It costs
            about one Gibbs sweep per draw and keeps one number for each item and draw.
        posterior_predictive : bool
            Whether to add the group ``posterior_predictive`` that ``arviz.plot_ppc`` draws: for at
            most 100 draws per chain, fewer of many rows, each row drawn anew from its cluster.
        rows : sequence of n names, or a table of n rows, optional
            What the rows are called, the coordinate ``item``: of a table of pandas its index.
            Numbers from 0 by default.
        clusters : True, sequence of str, or dict from int to str, optional
            Whether to add the coordinate ``cluster``, that of each row in the point estimate, by
            number or by these names.
        seed : int, SeedSequence, Generator or None
            Of the replicates.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The former from ArviZ before 1.0, the latter from then on. Group ``posterior``
            has ``n_clusters``, ``log_u`` and the prior's parameters; ``sample_stats`` has
            ``lp``, which is `log_joint`, and ``labels`` (dimension ``item``); ``observed_data``,
            where the data are a table of numbers, has one variable per column, as
            ``posterior_predictive`` has; of more than 40 columns, one with dimension ``column``.
            Nothing is copied but what is computed.

        Raises
        ------
        MemoryError
            If there is no memory for the log likelihood: take fewer draws.
        """
        from mixwood.posterior.arviz import to_arviz

        return to_arviz(
            self, log_likelihood=log_likelihood, posterior_predictive=posterior_predictive,
            rows=rows, clusters=clusters, seed=seed,
        )  # fmt: skip

    def save(
        self, path: str | PathLike[str], include_data: bool = True, overwrite: bool = False
    ) -> None:
        """Write everything to the folder `path`; `mixwood.load` reads it back.

        Parameters
        ----------
        path : str or path
            A folder, made if it does not exist.
        include_data : bool
            Whether to write `X` too. Without it, what needs the data (prediction, for
            example) is not possible after loading.
        overwrite : bool
            Whether to replace a posterior saved there before. Other files are never
            touched, and a folder with none of ours is refused.
        """
        from mixwood.store.save import save

        save(self, path, include_data=include_data, overwrite=overwrite)
