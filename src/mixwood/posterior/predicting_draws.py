"""Draws and what they say about rows that nobody has seen, entries that are missing, outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.posterior.estimated_draws import EstimatedDraws

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.posterior.imputed import Imputed
    from mixwood.posterior.target import TargetPrediction

__all__ = ["PredictingDraws"]


class PredictingDraws(EstimatedDraws):
    """Draws with predictions: densities, clusters and new rows; see `mixwood.Posterior`."""

    # --- missing entries

    def imputed(self) -> Imputed:
        """Return the draws of the entries that are missing in the data, or of true positions.

        `mixwood.Gaussian` draws them along with the clusters; other likelihoods skip them. Of a
        `mixwood.Product`, those of parts that draw them, in rows that have others of the part's
        entries. Where rows have known errors, all entries that have one are drawn: the true
        positions. Columns that are left out, as constants or combinations of others, are not drawn.

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

    # --- rows that are far out

    def outliers(self, df: Any = None, most: int | None = 20) -> Any:
        """Return the rows that are farthest out in their clusters, by the scales of rows.

        For `mixwood.StudentT`, alone or as a part of a `mixwood.Product`. The variance of a row
        about the centre of its cluster is that of the cluster over the row's scale: about 1 for an
        ordinary row, 0.1 for one some three times as far out.

        Parameters
        ----------
        df : pandas or polars table, optional
            With the rows of the data in the same order: the result has its columns, and its index
            for names of rows. Without it rows are numbered.
        most : int, optional
            How many rows; None for all.

        Returns
        -------
        pandas.DataFrame
            With ``cluster`` (of the point estimate), ``scale`` (the posterior mean), ``q5`` and
            ``q95``; the least scale first. Of a product the least that a row has in any part.

        Raises
        ------
        ValueError
            If rows have no scales.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [0.3], [0.1], [0.2], [2.0], [0.0]]
        >>> model = mw.Mixture(mw.StudentT(df=2), mw.DirichletProcess(alpha=0.1))
        >>> post = mw.sample(model, X, draws=50, chains=2, seed=1, progress=False)
        >>> post.outliers(most=1).index.tolist()
        [6]
        """
        from mixwood._support.checks import whole_number
        from mixwood.posterior.labels_table import table_for
        from mixwood.posterior.outliers import outliers, row_scales

        most = None if most is None else whole_number(most, "most", at_least=1)
        row_scales(self)  # before the estimate, which takes time
        table = table_for(self, df)
        return outliers(self, self.point_estimate(), table, most)

    # --- new rows

    def log_density(
        self, X: Any, per_draw: bool = False, *, groups: Any = None, errors: Any = None
    ) -> FloatArray:
        """Return the log posterior predictive density of new rows, ``log p(x | X)``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data. Missing entries are integrated out where the
            likelihood skips them.
        per_draw : bool
            Whether to return each draw's part instead of the density itself; not of rows in
            groups.
        groups : array of shape (m,), or one name, optional
            The groups of the new rows, where the data came in groups; of a group not seen before,
            all components are equally likely. None: a group is as likely as its share of the data.
        errors : array of shape (m,), (m, d) or (m, d, d), or mapping, optional
            Known errors of the new rows, for `mixwood.Gaussian` and not `per_draw`: variances or
            covariances, as its own `errors` are given. None: positions without error. In a
            `mixwood.Product`, from the columns of a part to such an array; or that alone, for the
            one part that has errors.

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

        if per_draw and errors is not None:
            raise ValueError("per_draw must be False where new rows have errors")
        return log_density_per_draw(self, X) if per_draw else log_density(self, X, groups, errors)

    def predict_proba(
        self,
        X: Any,
        new: bool = False,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        *,
        groups: Any = None,
        errors: Any = None,
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
        groups : array of shape (m,), or one name, optional
            The groups of the new rows, as for `log_density`.
        errors : array or mapping, optional
            Their errors, as for `log_density`.

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
        return cluster_probabilities(self, X, estimate, new=new, groups=groups, errors=errors)

    def predict(
        self,
        X: Any,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        *,
        groups: Any = None,
        errors: Any = None,
    ) -> IntArray:
        """Return the most probable cluster of the point estimate for each new row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them.
        groups : array of shape (m,), or one name, optional
            The groups of the new rows, as for `log_density`.
        errors : array or mapping, optional
            Their errors, as for `log_density`.

        Returns
        -------
        int64 array of shape (m,)
            Labels as in the point estimate: 0 to K-1. See `predict_proba`.
        """
        probabilities = self.predict_proba(
            X, loss=loss, min_size=min_size, seed=seed, groups=groups, errors=errors
        )
        return np.asarray(probabilities.argmax(axis=1), dtype=np.int64)

    def predict_target(self, X: Any, level: float = 0.9, *, groups: Any = None) -> TargetPrediction:
        """Predict the target of new rows from their other columns, under `mixwood.Regression`.

        Parameters
        ----------
        X : array or data frame of shape (m, d) or (m, d - 1)
            New rows, with or without the target; if it is there, it is not looked at.
        level : float
            How much of the probability the intervals hold.
        groups : array of shape (m,), or one name, optional
            The groups of the new rows, as for `log_density`.

        Returns
        -------
        TargetPrediction
            With ``mean``, ``lower``, ``upper`` and ``new``, arrays of shape (m,): the expectation,
            the ends of the central interval, and how probable a cluster of its own is.

        Notes
        -----
        A mixture of t distributions, one for each cluster of each draw and one for a new cluster,
        by their weights in `log_density`. Where the predictors have a likelihood of their own, in
        a `mixwood.Product`, the weights follow from them; they are the same for all rows
        otherwise. Of all chains together 200 draws are used. Quantiles are those of the mixture:
        nothing is drawn.

        A new cluster knows nothing of the target: the interval is very wide where one is likely.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[k / 10, 3 * k / 10 + 0.1 * (-1) ** k] for k in range(20)]
        >>> model = mw.Mixture(mw.Regression(1))
        >>> post = mw.sample(model, X, draws=50, chains=1, seed=1, progress=False)
        >>> post.predict_target([[1.0]]).mean.round(1)
        array([3.])
        """
        from mixwood.posterior.target import predict_target

        return predict_target(self, X, level=level, groups=groups)

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
