"""What `mixwood.sample` returns: the draws, and what to do with them.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mixwood._support.checks import whole_number
from mixwood.posterior.draws import Draws

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.estimates import CredibleBall
    from mixwood.posterior.cluster_summary import ParameterEstimate
    from mixwood.posterior.component_merging import MergedClusters
    from mixwood.posterior.imputed import Imputed

__all__ = ["EstimateKey", "FoundEstimate", "Posterior"]

#: What a point estimate was asked for with: `loss`, `min_size`, `seed` and `max_clusters`.
EstimateKey: TypeAlias = tuple[str, int, int, int | None]


class FoundEstimate(NamedTuple):
    """A point estimate, and its certainty once somebody has asked for that."""

    labels: IntArray
    certainty: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Draws):
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

    #: The run folder that the draws are in, where estimates are kept; None if there is none.
    run_folder: Path | None = field(default=None, init=False)

    def summary(self) -> Any:
        """Return a table of the scalar quantities, one row each.

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, sd, q5, q95, ess_bulk, ess_tail, r_hat``; rows ``n_clusters``,
            ``log_joint``, ``log_u`` and the prior's random parameters. Where all draws are
            equal the last three columns are NaN.
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

    # --- one partition

    @cached_property
    def found_estimates(self) -> dict[EstimateKey, FoundEstimate]:
        """The point estimates found so far."""
        return {}

    def _remember(self, key: EstimateKey, found: FoundEstimate) -> None:
        self.found_estimates[key] = found
        if self.run_folder is not None:
            from mixwood.store.kept_estimates import keep

            keep(self, self.run_folder)

    def __getstate__(self) -> dict[str, Any]:
        # A copy, which may be somewhere else, leaves the folder alone.
        return super().__getstate__() | {"run_folder": None}

    def point_estimate(
        self,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        *,
        max_clusters: int | None = None,
        n_jobs: int | None = None,
    ) -> IntArray:
        """Return one partition for all draws: that of least expected loss.

        Found by a randomized greedy search (see `mixwood.estimates.point_estimate`), and
        remembered: to ask again with the same whole number as seed costs nothing. It is kept
        by `save`, and in the folder of a stored or loaded run.

        Parameters
        ----------
        loss : {"vi", "binder"}
            The variation of information, in bits, or Binder's loss, the share of pairs of
            items on which two partitions disagree; `mixwood.partitions` has the formulas.
            Binder's tends to more and smaller clusters.
        min_size : int
            The least number of rows in a cluster. The rows of smaller ones are moved, each to
            the one of the others where its `membership` is highest; a row that no draw has
            with any of their rows, to the one that its data fit best.
        seed : int, SeedSequence, Generator or None
            The same seed gives the same answer, whatever the number of threads.
        max_clusters : int, optional
            At most this many clusters; by default, a quarter more than any draw has.
        n_jobs : int, optional
            How many threads, as many as processors by default.

        Returns
        -------
        int64 array of shape (n,)
            The cluster of each item, 0 to K-1 from the largest to the smallest; of equal ones,
            the first to appear comes first. Loss and sizes count rows, also where the items
            are weighted leaves.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> post.point_estimate()
        array([0, 0, 0, 1, 1, 1])
        """
        from mixwood.estimates import point_estimate
        from mixwood.partitions import checked_loss
        from mixwood.posterior.membership import large_clusters

        most = (
            None if max_clusters is None else whole_number(max_clusters, "max_clusters", at_least=1)
        )
        least = whole_number(min_size, "min_size", at_least=1)
        key = (checked_loss(loss), least, seed, most) if type(seed) is int else None
        if key in self.found_estimates:
            return self.found_estimates[key].labels.copy()
        if least > 1:
            every = self.point_estimate(loss, seed=seed, max_clusters=most, n_jobs=n_jobs)
            labels = large_clusters(self, every, least)
        else:
            labels = point_estimate(
                self.labels,
                loss,
                seed,
                max_clusters=most,
                n_jobs=n_jobs,
                sizes=self.item_sizes,
            )
        if key is not None:
            self._remember(key, FoundEstimate(labels))
        return labels.copy()

    def certainty(self, loss: str = "vi", min_size: int = 1, seed: Any = 0) -> FloatArray:
        """Return how probable it is that each item belongs to its cluster of the point estimate.

        The one quantity behind hollow marks in pictures, the column ``certainty`` of `describe`,
        and ``probabilities_`` of `MixtureClustering`.

        Parameters
        ----------
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        array of shape (n,)
            From 0 to 1. It does not tell whether a cluster is really two: for that, see
            `similarity` and `credible_ball`.

        Notes
        -----
        The clusters of a draw are not those of the estimate. The draw's cluster ``c`` of an item
        is spread over the estimate's clusters by where its rows are: with ``k`` the item's own
        cluster, the certainty is ``E[|c and k| / |c|]``, the expectation over all draws. It is
        what `predict_proba` is for new rows, and the own cluster's entry of `membership`. A draw
        in which an item is alone counts for its cluster, whichever that is: rows that
        `min_size` has moved look surer than they are.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> bool((post.certainty() > 0.9).all())
        True
        """
        from mixwood.posterior.membership import certainty

        labels = self.point_estimate(loss, min_size, seed)
        key = (loss, min_size, seed, None)
        found = self.found_estimates.get(key)
        if found is not None and found.certainty is not None:
            return found.certainty.copy()
        sure = certainty(self, labels)
        if found is not None:
            self._remember(key, FoundEstimate(labels, sure))
        return sure.copy()

    def membership(self, loss: str = "vi", min_size: int = 1, seed: Any = 0) -> FloatArray:
        """Return how probable each cluster of the point estimate is for each item.

        Parameters
        ----------
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        array of shape (n, K)
            Rows sum to 1. The entry of an item's own cluster is its `certainty`; the next
            largest tells where else it may belong.

        Raises
        ------
        MemoryError
            If there is not enough memory for n times K numbers.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> post.membership().round(1)[[0, -1]]
        array([[1., 0.],
               [0., 1.]])
        """
        from mixwood.posterior.membership import membership

        return membership(self, self.point_estimate(loss, min_size, seed))

    def labels_table(
        self, df: Any = None, loss: str = "vi", min_size: int = 1, seed: Any = 0
    ) -> Any:
        """Return a table with the cluster of each row of the data, and how sure it is.

        Parameters
        ----------
        df : pandas or polars table of n rows, optional
            What the result begins with: your own table, or only those columns of it that name
            the rows, ``df[["id"]]``. Its index and all its columns are kept; one that has the
            name of a column below is called ``"cluster (table)"``, for example. The rows must be
            those of the data, in the same order. A posterior does not keep the table that it was
            made from: without `df` the rows are numbered from 0.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        pandas.DataFrame
            One row per row of the data (of weighted leaves, one per leaf with its ``size``), in
            the same order. After the columns of `df` come ``cluster``, from 0, the largest;
            ``certainty``, the probability that the row belongs to it; ``runner_up``, the cluster
            that is next likeliest; and ``runner_up_probability``. The last two are missing where
            no other cluster has any probability, as in an estimate of one cluster.

        Notes
        -----
        ``certainty`` is `certainty`, the others are from `membership`, in blocks of rows: memory
        for all its entries is not needed. ``to_csv`` writes text as it is; if a spreadsheet will
        open the file and the text is not your own, see `mixwood.report.labels_csv`.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> import pandas as pd
        >>> table = post.labels_table(pd.DataFrame({"name": list("abcdef")}))
        >>> table[["name", "cluster"]].iloc[[0, -1]]
          name  cluster
        0    a        0
        5    f        1
        >>> bool((table["certainty"] > 0.9).all())
        True
        """
        from mixwood.posterior.labels_table import labels_table, table_for

        table = table_for(self, df)  # before the estimate, which takes time
        return labels_table(self, self.point_estimate(loss, min_size, seed), table)

    def imputed(self) -> Imputed:
        """Return the draws of the entries that are missing in the data.

        `mixwood.Gaussian` draws them along with the clusters; other likelihoods skip them. Of a
        `mixwood.Product`, those of parts that draw them, in rows that have others of the part's
        entries. Columns that are left out, as constants or combinations of others, are not drawn.

        Returns
        -------
        Imputed
            With ``rows``, ``columns``, ``names``, ``values`` (chain, draw, entries), ``mean()``,
            ``sd()`` and ``table()``.

        Raises
        ------
        ValueError
            If nothing is missing, or nothing is drawn of what is.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0, 0.1], [0.2, 0.1], [0.1, None], [9.0, 9.2], [9.1, 9.1], [9.2, 9.0]]
        >>> model = mw.Mixture(mw.Gaussian())
        >>> post = mw.sample(model, X, draws=50, chains=2, seed=1, progress=False)
        >>> found = post.imputed()
        >>> found
        <mixwood.Imputed: 1 entry, 2 x 50 draws of each>
        >>> found.rows, found.columns
        (array([2]), array([1]))
        """
        from mixwood.posterior.imputed import imputed

        return imputed(self)

    def expected_loss(self, labels: Any, loss: str = "vi") -> float:
        """Return the mean loss of a partition against all draws.

        Parameters
        ----------
        labels : array of n integers
            For example what another method found.
        loss : {"vi", "binder"}
            As in `point_estimate`, which minimizes it.
        """
        from mixwood.partitions import checked_labels, expected_loss

        given = checked_labels(labels, "labels", self.n_items)
        return expected_loss(self.labels, given, loss, sizes=self.item_sizes)

    def credible_ball(
        self, level: float = 0.95, loss: str = "vi", min_size: int = 1, seed: Any = 0
    ) -> CredibleBall:
        """Return how far the draws are from the point estimate, and those at the edge.

        Parameters
        ----------
        level : float
            The share of the draws that the ball holds.
        loss : {"vi", "binder"}
            The distance, and what the center minimizes.
        min_size, seed
            Which point estimate is the center, as `point_estimate` takes them.

        Returns
        -------
        mixwood.estimates.CredibleBall
            ``center``, ``radius``, and at the edge ``horizontal`` (the furthest draws),
            ``vertical_upper`` (of those with the fewest clusters) and ``vertical_lower`` (of
            those with the most).
        """
        from mixwood.estimates import credible_ball

        center = self.point_estimate(loss, min_size, seed)
        return credible_ball(self.labels, center, level, loss, sizes=self.item_sizes)

    def similarity(
        self, rows: Any = None, dtype: str = "float64", n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Return the posterior probability that two items are in one cluster, for all pairs.

        Parameters
        ----------
        rows : array of m integers, optional
            Only these items, in this order; all by default.
        dtype : {"float64", "float32"}
            The latter takes half the memory.
        n_jobs : int, optional
            How many threads, as many as processors by default.

        Returns
        -------
        array of shape (n, n), or (m, m)
            Symmetric, 1 on the diagonal.
        """
        from mixwood.estimates import similarity

        return similarity(self.labels, rows, dtype, n_jobs)

    def merge(
        self,
        n_clusters: int | None = None,
        threshold: float | None = None,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
    ) -> MergedClusters:
        """Merge the clusters of the point estimate that overlap: components are not clusters.

        Several components that overlap may cover one group that is bent or has heavy tails. The
        two clusters that overlap most are merged, again and again until one is left, which makes
        a tree; it is cut as you say, or where the rest hardly overlaps.

        Parameters
        ----------
        n_clusters : int, optional
            Merge until this many groups are left.
        threshold : float, optional
            Merge while two groups overlap by at least this, between 0 and 1. By default 0.3; and
            if some do, 0.15, provided that all groups left overlap by less than half of that.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        mixwood.posterior.component_merging.MergedClusters
            ``labels``, ``groups`` (which clusters form each), ``n_clusters``, ``linkage``,
            ``overlap``, ``entropy``; ``cut(n)`` for other numbers of groups, and ``plot()``.

        Notes
        -----
        The overlap of two clusters is how much the entropy of `membership` falls if they are
        merged, over how much it would fall if nothing told them apart. It is 0.49 for two
        normals of one size whose centres are 3 standard deviations apart, 0.22 at 4 and 0.08 at
        5. Overlap cannot tell two groups that touch from one of another shape: look at the tree.
        Weighted leaves stay together and so overlap less than their rows: give `n_clusters`.

        Examples
        --------
        >>> import numpy as np
        >>> import mixwood as mw
        >>> angle = np.linspace(0, np.pi, 200)
        >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> X = arc + np.random.default_rng(0).normal(0, 0.1, (200, 2))
        >>> post = mw.sample(mw.Mixture(), X, draws=100, chains=2, seed=1, progress=False)
        >>> int(post.point_estimate().max()) + 1 > 1, post.merge().n_clusters
        (True, 1)
        """
        from mixwood.posterior.component_merging import merge

        return merge(self, self.point_estimate(loss, min_size, seed), n_clusters, threshold)

    # --- new rows

    def log_density(self, X: Any, per_draw: bool = False) -> FloatArray:
        """Return the log posterior predictive density of new rows, ``log p(x | X)``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data. Missing entries are integrated out where the
            likelihood skips them.
        per_draw : bool
            Whether to return each draw's part instead of the density itself.

        Returns
        -------
        array of shape (m,), or (chain, draw, m) with `per_draw`
            The mean over all draws of the exponentials of the parts is the density. A part
            by itself is no density: it integrates to the draw's total weight over the mean
            total weight of all draws.

        Notes
        -----
        With the clusters ``c`` of a draw, the expectation being over all draws::

            p(x | X) = E[(u/n) {kappa(1,u) P(x) + sum_c kappa(|c|+1,u)/kappa(|c|,u) P(x | X_c)}]

        divided by the mean of the same expression without ``P(x)`` and ``P(x | X_c)``, which
        is 1 but for the noise of the draws. To normalize in each draw would be biased for
        every prior but the Dirichlet and Pitman-Yor processes; these have ``u`` integrated
        out, see `PitmanYor`. Every constant is included.

        Clusters that many draws share are computed once. The cost is that of comparing each
        new row with each distinct cluster, some 25 ns in two columns. ``n`` enters only
        through the statistics: one pass over the items for each draw.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> near, far = post.log_density([[0.1], [100.0]])
        >>> bool(near > far)
        True
        """
        from mixwood.posterior.prediction import log_density, log_density_per_draw

        return log_density_per_draw(self, X) if per_draw else log_density(self, X)

    def predict_proba(
        self, X: Any, new: bool = False, loss: str = "vi", min_size: int = 1, seed: Any = 0
    ) -> FloatArray:
        """Return how probable it is that new rows belong to each cluster of the point estimate.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data.
        new : bool
            Whether to add a last column: the probability of a new cluster.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        array of shape (m, K), or (m, K + 1) with `new`
            Rows sum to 1: without `new` the probabilities are given that the row belongs to
            one of the K clusters.

        Notes
        -----
        The clusters of a draw are not those of the estimate. What a draw gives to its cluster
        ``c`` is spread over the estimate's clusters ``k`` in proportion to where its items
        are::

            p(k | x)   ~  E[(u/n) sum_c kappa(|c|+1,u)/kappa(|c|,u) P(x | X_c) |c and k| / |c|]
            p(new | x) ~  E[(u/n) kappa(1,u) P(x)]

        with the expectation over all draws; each row is normalized once, after it.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> post.predict_proba([[0.1], [9.1]]).round(2)
        array([[1., 0.],
               [0., 1.]])
        """
        from mixwood.posterior.prediction import cluster_probabilities

        self.data_for("predict_proba")  # before the estimate, which takes time
        estimate = self.point_estimate(loss, min_size, seed)
        return cluster_probabilities(self, X, estimate, new=new)

    def predict(self, X: Any, loss: str = "vi", min_size: int = 1, seed: Any = 0) -> IntArray:
        """Return the most probable cluster of the point estimate for each new row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.

        Returns
        -------
        int64 array of shape (m,)
            Labels as in the point estimate: 0 to K-1. See `predict_proba`.
        """
        probabilities = self.predict_proba(X, loss=loss, min_size=min_size, seed=seed)
        return np.asarray(probabilities.argmax(axis=1), dtype=np.int64)

    def sample_predictive(self, size: int, seed: Any = None) -> Data:
        """Draw new rows from the posterior predictive distribution.

        Parameters
        ----------
        size : int
            How many rows, at least 1.
        seed : None, int, SeedSequence or Generator
            Where the randomness comes from.

        Returns
        -------
        array of shape (size, d), or csr_array for counts
            Independent draws from the density of `log_density`: a cluster of a draw, or a new
            one, by its weight; parameters given the cluster's items; a row given these. Rows
            of `Multinomial` have the totals of random rows of the data.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> post.sample_predictive(3, seed=1).shape
        (3, 1)
        """
        from mixwood.posterior.prediction import sample_predictive

        return sample_predictive(self, size, seed)

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
            its rows' `certainty`; and for each column of the data a parameter with the ends of
            its interval, ``low`` and ``high``: ``mean`` and ``sd``, ``rate``, or
            ``probability``. Categorical columns have their ``mode`` and its probability,
            counts their most probable ``words`` and the first one's probability.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> post.describe()["size"].tolist()
        [3, 3]
        """
        from mixwood.posterior.cluster_summary import describe

        self.data_for("describe")
        estimate = self.point_estimate(loss, min_size, seed)
        return describe(self, estimate, words=words, level=level, seed=seed, n_draws=draws)

    # --- pictures

    def plot_clusters(
        self,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        ax: Axes | None = None,
        density: bool = True,
        max_items: int = 10_000,
    ) -> Axes:
        """Draw the data by cluster of the point estimate.

        One column: a histogram, each item below it, and the predictive density. Two columns:
        the items, and contours of the predictive density within which lie 50, 90 and 99% of
        them. More: the first two principal components, of standardized columns (of
        `Multinomial`, the square roots of a row's shares; of `Categorical`, indicators). Hollow
        marks are items whose `certainty` is below 0.9. The legend has
        the clusters' numbers, those of `describe`, if there are at most 20. Weighted leaves are
        drawn at the mean of their rows, with an area by the number of them; leaves of a family
        made by `mixwood.conjugate_family` have no such place, and are refused.

        Parameters
        ----------
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.
        ax : matplotlib Axes, optional
            Where to draw; those of a new figure of pyplot by default.
        density : bool
            Whether to draw the predictive density, a mean over at most 200 draws.
        max_items : int
            Of more items a random sample is drawn, and the title says so.

        Returns
        -------
        matplotlib Axes
        """
        from mixwood.plots import plot_clusters

        return plot_clusters(self, loss, min_size, seed, ax, density, max_items)

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

    def to_arviz(self, log_likelihood: bool = False) -> Any:
        """Return the draws as ArviZ wants them.

        Parameters
        ----------
        log_likelihood : bool
            Whether to add the group ``log_likelihood`` that ``arviz.loo`` needs. It costs
            about one Gibbs sweep per draw and keeps one number for each item and draw.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The former from ArviZ before 1.0, the latter from then on. Group ``posterior``
            has ``n_clusters``, ``log_u`` and the prior's parameters; ``sample_stats`` has
            ``lp``, which is `log_joint`, and ``labels`` (dimension ``item``).
        """
        from mixwood.posterior.arviz import to_arviz

        return to_arviz(self, log_likelihood=log_likelihood)

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
