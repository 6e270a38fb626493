"""Draws, what their clusters are like, and whether the model fits.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixwood._support.checks import whole_number
from mixwood.posterior.predicting_draws import PredictingDraws

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.cluster_summary import ParameterEstimate
    from mixwood.posterior.fit.check import FitCheck

__all__ = ["DescribedDraws"]


class DescribedDraws(PredictingDraws):
    """Draws with their clusters in numbers and words; see `mixwood.Posterior`."""

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
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=2, progress=False)
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
        >>> rng = np.random.default_rng(2)
        >>> X = rng.normal(size=(200, 2))
        >>> post = mw.sample(mw.Mixture(), X, draws=50, seed=1, progress=False)
        >>> post.check_fit().sentence
        'The model fits: the rows of each cluster look as it expects.'
        >>> X = rng.standard_t(2, size=(600, 1))
        >>> model = mw.Mixture(mw.Gaussian())
        >>> post = mw.sample(model, X, draws=50, seed=1, progress=False)
        >>> "tails" in post.check_fit().misses
        True
        """
        from mixwood.posterior.describe import column_names
        from mixwood.posterior.fit.check import check_fit

        names = column_names(self, words)
        return check_fit(self, self.point_estimate(loss, min_size, seed), names, seed)
