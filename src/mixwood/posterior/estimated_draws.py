"""What the draws say about one partition: point estimates, and how sure each row's cluster is.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.labels import by_size
from mixwood.posterior.draws import Draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood._support.types import FloatArray, IntArray
    from mixwood.estimates import CredibleBall
    from mixwood.posterior.component_merging import MergedClusters

__all__ = ["EstimateKey", "EstimatedDraws", "FoundEstimate"]

#: What a point estimate was asked for with: `loss`, `min_size`, `seed` and `max_clusters`.
EstimateKey: TypeAlias = tuple[str, int, int, int | None]


class FoundEstimate(NamedTuple):
    """A point estimate, and its certainty once somebody has asked for that."""

    labels: IntArray
    certainty: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDraws(Draws):
    """Draws, and the partitions to report for them; `mixwood.Posterior` is one."""

    #: The run folder that the draws are in, where estimates are kept; None if there is none.
    run_folder: Path | None = field(default=None, init=False)

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
            are weighted leaves. A row with missing entries that would be alone only because no
            cluster has more than half of its probability goes to the likeliest. Known labels
            are kept: where clusters of two are estimated to
            be one, the label of fewer rows gets a cluster of its own. With `min_size` they need
            not be.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=1, progress=False)
        >>> post.point_estimate()
        array([0, 0, 0, 1, 1, 1])
        """
        from mixwood.estimates import point_estimate
        from mixwood.likelihoods.known_labels import allowed_labels, leaves_of
        from mixwood.partitions import checked_loss
        from mixwood.posterior.membership import large_clusters, undecided_settled

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
            # Items of one known label are one item here.
            leaves = np.arange(self.n_items) if self.known is None else leaves_of(self.known)
            first = np.unique(leaves, return_index=True)[1]
            labels = point_estimate(
                self.labels if self.known is None else self.labels[:, :, first],
                loss,
                seed,
                max_clusters=most,
                n_jobs=n_jobs,
                sizes=np.bincount(leaves, self.loss_sizes).astype(np.int64),
            )
            if self.known is not None:
                labels = by_size(allowed_labels(labels[leaves], self.known), self.item_sizes)
            labels = undecided_settled(self, labels)
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
        return expected_loss(self.labels, given, loss, sizes=self.loss_sizes)

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
        return credible_ball(self.labels, center, level, loss, sizes=self.loss_sizes)

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
            Merge while two groups overlap by at least this, between 0 and 1. By default 0.5; or
            0.15 where some overlap by 0.3 and all groups left by less than 0.075.
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
        >>> arcs = np.concatenate([arc, arc + [0.0, 2.0]])
        >>> X = arcs + np.random.default_rng(0).normal(0, 0.1, (400, 2))
        >>> post = mw.sample(mw.Mixture(), X, draws=100, chains=2, seed=1, progress=False)
        >>> int(post.point_estimate().max()) + 1 > 2, post.merge().n_clusters
        (True, 2)
        """
        from mixwood.posterior.component_merging import merge

        return merge(self, self.point_estimate(loss, min_size, seed), n_clusters, threshold)
