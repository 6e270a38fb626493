"""`MixtureClustering`: the mixture as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "mw.MixtureClustering needs scikit-learn 1.6 or newer, which is an extra: "
        "pip install 'mixwood[sklearn]'"
    ) from error

from mixwood._support.numbers import count
from mixwood._support.seeding import seed_sequence
from mixwood.input.groups import checked_groups
from mixwood.input.matrices import is_table
from mixwood.likelihoods import AutoGaussian, Gaussian
from mixwood.likelihoods.base import as_likelihood
from mixwood.likelihoods.choose import choose, warn_of_unused
from mixwood.likelihoods.known_labels import known_of
from mixwood.likelihoods.row_weights import checked_weights
from mixwood.model import Mixture
from mixwood.posterior.prediction import cluster_probabilities, log_density
from mixwood.priors import NGGP, FiniteMixture, as_prior
from mixwood.sampling.sample import refuse_light_rows, sample
from mixwood.trees.build import ibhc

if TYPE_CHECKING:
    from typing import Self

    from mixwood._support.types import FloatArray, IntArray
    from mixwood.likelihoods.base import Likelihood
    from mixwood.posterior.draws import Draws
    from mixwood.priors import Prior
    from mixwood.samplers import Sampler

__all__ = ["MixtureClustering"]


class MixtureClustering(ClusterMixin, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian clustering that finds the number of clusters, for scikit-learn.

    Parameters
    ----------
    likelihood : Likelihood or "auto", optional
        The distribution of each cluster. By default what `mixwood.choose` chooses for a data
        frame, column by column, and `AutoGaussian()` for an array; both take missing entries.
        ``"auto"`` is the same.
    prior : Prior, optional
        The law of the partition, `NGGP()` by default.
    sampler : str or sampler
        As in `mixwood.sample`, like the next four.
    draws, warmup, chains : int
        Kept draws of each chain, iterations before them, and how many chains.
    init : str or array
        The partition to start from.
    loss : {"vi", "binder"}
        What the labels minimize in expectation.
    n_jobs : int, optional
        How many chains run at once.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from.
    progress : bool
        Whether to show progress.

    Attributes
    ----------
    labels_ : int64 array of shape (n,)
        The point estimate, 0 the largest cluster; after `partial_fit` the labels of the last
        batch, as `hierarchy_` numbers them.
    n_clusters_ : int
        How many clusters there are.
    probabilities_ : array of shape (n,)
        The posterior probability of each item's cluster, `Posterior.certainty`. Only after
        `fit`.
    posterior_ : Posterior
        All draws. Only after `fit`.
    hierarchy_ : Hierarchy
        The tree that grows. Only after `partial_fit`.
    likelihood_ : Likelihood
        The one that was given or chosen.
    choice_ : Choice
        What was chosen for each column and why, ``choice_.explain()``. Only where a data frame
        was looked at.
    n_features_in_, feature_names_in_
        How many columns the data have, and their names where they have some.

    Notes
    -----
    Parameters of likelihood and prior can be searched as ``likelihood__r`` or
    ``prior__alpha``; `score` is the mean log predictive density, so a search finds what
    predicts held-out rows best.

    Examples
    --------
    >>> model = MixtureClustering(draws=50, warmup=20, chains=2, random_state=0)
    >>> model.fit_predict([[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    array([0, 1, 0, 1, 0, 1])
    >>> model.predict([[0.3], [8.5]])
    array([0, 1])
    """

    def __init__(
        self,
        likelihood: Likelihood | str | None = None,
        prior: Prior | None = None,
        sampler: str | Sampler = "tree",
        draws: int = 1000,
        warmup: int = 500,
        chains: int = 4,
        init: Any = "ibhc",
        loss: str = "vi",
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.likelihood = likelihood
        self.prior = prior
        self.sampler = sampler
        self.draws = draws
        self.warmup = warmup
        self.chains = chains
        self.init = init
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the likelihood and the prior, as ``likelihood__r``.

        Where the likelihood is None or ``"auto"``, parameters of `Gaussian` are meant; where the
        prior is None, those of `NGGP`.
        """
        for name, default in (("likelihood", Gaussian), ("prior", NGGP)):
            nested = any(key.startswith(f"{name}__") for key in params)
            given = params.get(name, getattr(self, name))
            if nested and (given is None or isinstance(given, str)):
                params = {name: default(), **{k: v for k, v in params.items() if k != name}}
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Draw from the posterior given the rows of `X`, and find the point estimate.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            One row per item.
        y : array of shape (n,), optional
            Known labels, numbers or text; -1, None or NaN where the label is unknown. Rows of
            the same label end up in one cluster, rows of different labels in different ones:
            see ``known`` of `mixwood.sample`.
        sample_weight : array of shape (n,), optional
            How many rows each row stands for, which stay together: see ``weights`` of
            `mixwood.sample`. A row of weight 0 is left out, and gets its cluster by `predict`.
        groups : array of shape (n,), optional
            The group of each row (patient, batch, site, time window), whose clusters are shared
            and whose weights are its own: see ``groups`` of `mixwood.sample`. The prior must be
            `FiniteMixture`, and is if it is None.

        Returns
        -------
        self
        """
        self._decide(X)
        rows = self._validated(X, reset=True)
        n = int(rows.shape[0])
        if n == 1:
            raise ValueError("X has 1 sample, one row; clustering needs two or more")
        known = None if y is None else known_of(y, n)
        model = self._model(in_groups=groups is not None)
        weights = None if sample_weight is None else _row_weights(sample_weight, n, model.prior)
        kept = np.arange(n) if weights is None else np.flatnonzero(weights)
        in_groups = groups
        if weights is not None and len(kept) < n:
            weights, rows = weights[kept], _chosen_rows(rows, kept)
            known = None if known is None else known[kept]
            in_groups = None if groups is None else _chosen_groups(groups, kept, n)
        posterior = sample(
            model,
            rows,
            sampler=self.sampler,
            draws=self.draws,
            warmup=self.warmup,
            chains=self.chains,
            init=self.init,
            seed=self._seed(),
            n_jobs=self.n_jobs,
            progress=self.progress,
            weights=weights,
            known=known,
            groups=in_groups,
        )
        if posterior.columns is None and hasattr(self, "feature_names_in_"):
            posterior = replace(posterior, columns=tuple(self.feature_names_in_))
        self.posterior_ = posterior
        self._estimate = posterior.point_estimate(loss=self.loss)
        self.labels_ = self._estimate.copy()
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.probabilities_ = posterior.certainty(loss=self.loss)
        self.__dict__.pop("hierarchy_", None)
        if len(kept) < n:
            self._fill_in(X, kept, groups)
        return self

    def _fill_in(self, X: Any, kept: IntArray, groups: Any) -> None:
        """Give rows without weight the cluster that is predicted for them."""
        chances = self.predict_proba(X, groups=groups)
        labels, certainty = chances.argmax(axis=1).astype(np.int64), chances.max(axis=1)
        labels[kept], certainty[kept] = self.labels_, self.probabilities_
        self.labels_, self.probabilities_ = labels, certainty

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Put more rows into a tree that grows, `hierarchy_`, rather than draw a posterior.

        The first call grows it with `mixwood.ibhc`, whose likelihood takes open parameters
        from this first batch; further calls insert. What `fit` found before is forgotten.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            The next rows.
        y : ignored
            As scikit-learn's conventions want it.

        Returns
        -------
        self
            ``labels_`` are those of these rows.
        """
        first = not hasattr(self, "hierarchy_")
        if first:
            self._decide(X)
        rows = self._validated(X, reset=first)
        if first:
            self.hierarchy_ = ibhc(self._model(), rows, seed=self._seed())
            self.labels_ = self.hierarchy_.labels.copy()
            for name in ("posterior_", "probabilities_", "_estimate"):
                self.__dict__.pop(name, None)
        else:
            self.labels_ = self.hierarchy_.insert(rows)
        self.n_clusters_ = self.hierarchy_.n_clusters
        return self

    def predict_proba(self, X: Any, *, groups: Any = None) -> FloatArray:
        """Return how probable each cluster is for new rows, shape (m, n_clusters).

        See `Posterior.predict_proba`, also for `groups`; after `partial_fit` the clusters are those
        of the tree, at the parameters at which it is judged.
        """
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        tree = hasattr(self, "hierarchy_")
        estimate = self.hierarchy_.labels if tree else self._estimate
        return cluster_probabilities(self._fitted_draws(), rows, estimate, groups=groups)

    def predict(self, X: Any, *, groups: Any = None) -> IntArray:
        """Return the most probable cluster of each new row, shape (m,)."""
        return np.asarray(self.predict_proba(X, groups=groups).argmax(axis=1), dtype=np.int64)

    def score_samples(self, X: Any, *, groups: Any = None) -> FloatArray:
        """Return the log predictive density of each row, shape (m,)."""
        check_is_fitted(self)
        return log_density(self._fitted_draws(), self._validated(X, reset=False), groups)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log predictive density of the rows."""
        return float(self.score_samples(X).mean())

    def _model(self, *, in_groups: bool = False) -> Mixture:
        default = FiniteMixture() if in_groups else NGGP()
        return Mixture(self.likelihood_, default if self.prior is None else as_prior(self.prior))

    def _decide(self, X: Any) -> None:
        """Choose the likelihood for the rows that the estimator is fitted to."""
        self.__dict__.pop("choice_", None)
        if not self._is_open:
            self.likelihood_ = as_likelihood(self.likelihood)
        elif is_table(X) and len(X):
            self.choice_ = choose(X, name="X")
            warn_of_unused(self.choice_.columns)
            self.likelihood_ = self.choice_.likelihood
        else:
            self.likelihood_ = AutoGaussian()

    @property
    def _is_open(self) -> bool:
        """Whether the likelihood is left to `mixwood.choose`."""
        return self.likelihood is None or (
            isinstance(self.likelihood, str) and self.likelihood == "auto"
        )

    def _fitted_draws(self) -> Draws:
        if hasattr(self, "hierarchy_"):
            return self.hierarchy_.as_draws()
        return self.posterior_

    def _seed(self) -> Any:
        """Return the seed as `mixwood.sample` takes it."""
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        if not isinstance(self.random_state, np.random.Generator):  # which would draw
            seed_sequence(self.random_state, "random_state")
        return self.random_state

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """Return the rows as scikit-learn checks them; the likelihood looks closer."""
        likelihood = self.likelihood_
        if likelihood.reads_tables:
            if reset or not is_table(X):  # else columns are found by name, used ones alone
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        rows = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if likelihood.reads_sparse else False,
            ensure_all_finite="allow-nan",
        )
        if not likelihood.skips_missing:
            _refuse_missing(rows)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        likelihood = AutoGaussian() if self._is_open else as_likelihood(self.likelihood)
        tags.input_tags.allow_nan = likelihood.skips_missing
        tags.input_tags.sparse = likelihood.reads_sparse
        tags.input_tags.positive_only = likelihood.reads_counts
        return tags


def _row_weights(sample_weight: Any, n: int, prior: Prior) -> FloatArray | None:
    """Return the weights of rows, or None if all are 1."""
    weights = checked_weights(sample_weight, n, name="sample_weight", zeros=True)
    refuse_light_rows(prior, weights[weights > 0], "sample_weight")
    return None if np.all(weights == 1) else weights


def _chosen_groups(groups: Any, kept: IntArray, n: int) -> Any:
    """Return the groups of some of `n` rows; a pandas Categorical keeps its order."""
    checked_groups(groups, n)
    if hasattr(groups, "iloc"):
        return groups.iloc[kept]
    return groups[kept] if hasattr(groups, "categories") else np.asarray(groups, object)[kept]


def _chosen_rows(rows: Any, kept: IntArray) -> Any:
    """Return some rows of an array, a sparse matrix or a table."""
    if is_table(rows):
        return rows.iloc[kept] if hasattr(rows, "iloc") else rows[kept.tolist()]
    return rows[kept] if hasattr(rows, "dtype") else np.asarray(rows)[kept]


def _refuse_missing(rows: Any) -> None:
    """Raise at the first missing entry, and say which of our likelihoods take them."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return
    where = ""
    if isinstance(rows, np.ndarray):
        row, column = np.argwhere(np.isnan(rows))[0]
        where = f", the first in row {row}, column {column}"
    missing = count("missing value", int(np.isnan(values).sum()))
    raise ValueError(
        f"X has {missing} (NaN){where}; this likelihood needs "
        "all entries. MixtureClustering() and MixtureClustering(likelihood=mw.Gaussian()) take "
        "missing ones"
    )
