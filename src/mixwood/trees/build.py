"""Bayesian hierarchical clustering, greedy (`bhc`) and incremental (`ibhc`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood._support.threads import thread_count
from mixwood.core import bind_family
from mixwood.likelihoods.weighted_leaves import (
    WeightedLeaves,
    item_sizes,
    n_points,
    read_data,
    refuse_drawn_entries,
)
from mixwood.model import Mixture
from mixwood.priors import Prior, PriorValues
from mixwood.trees.hierarchy import Hierarchy
from mixwood.trees.recipe import Recipe, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray

__all__ = ["bhc", "ibhc", "ibhc_at", "ibhc_labels", "on_top_labels"]

#: The most rows that `bhc` takes: it keeps a number for each pair.
LARGEST_GREEDY = 20_000


def bhc(model: Mixture, X: Any, rule: str = "balanced") -> Hierarchy:
    """Cluster the rows of `X` hierarchically: again and again join the two nearest trees.

    Deterministic. Time and memory grow with the square of the number of rows.

    Parameters
    ----------
    model : Mixture
        Likelihood and prior. Random parameters of the prior are taken at their means, and
        ``u`` at its conditional mode for the expected number of clusters.
    X : array, data frame or sparse matrix of shape (n, d), or WeightedLeaves
        At most 20,000 rows, or leaves.
    rule : {"balanced", "paper"}
        Which trees are the nearest: as published those of smallest ``d``, at the ``u`` given
        above. Then large trees join first even where that is barely right, and one broad
        cluster takes in its neighbours. The balanced rule divides ``log d`` by the geometric
        mean of the two sizes, and joins at a small ``u``, as `ibhc` does.

    Returns
    -------
    Hierarchy
        Its `labels` are the trees when every dissimilarity ``d`` exceeded 1, that is, when the
        merges left had a probability below 1/2.

    Notes
    -----
    Heller and Ghahramani's algorithm, with the potentials that Lee and Choi gave for every
    normalized random measure; see `Hierarchy`.

    Examples
    --------
    >>> tree = bhc(Mixture(), [[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    >>> tree.n_clusters
    2
    """
    _check_rule(rule)
    given, data = _checked(model, X)
    n = data.shape[0]
    if n > LARGEST_GREEDY:
        raise ValueError(
            f"X has {n:,} rows and bhc takes at most {LARGEST_GREEDY:,}, since it looks at every "
            "pair of rows; use mw.ibhc, whose time grows nearly linearly"
        )
    points = n_points(data)
    recipe = Recipe(given, prior_parameters(given.prior, points), rule, None)
    forest = recipe.forest(bind_family(given, data))
    rows = np.arange(n)
    grow(recipe, forest, rows, greedy=True)
    return Hierarchy(recipe, _own(data, X), forest, rows, greedy=True)


def ibhc(
    model: Mixture,
    X: Any,
    trials: int = 1,
    rule: str = "balanced",
    order: Any = None,
    max_leaves: int | None = None,
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    search: str = "index",
    n_jobs: int | None = None,
) -> Hierarchy:
    """Cluster the rows of `X` hierarchically, one row after the other.

    Each row goes into the nearest tree, or becomes a new one; where that leaves a node that
    is better seen as two clusters, the tree is cut there and the pieces are put in again (a
    bounded number of times for each row, so it ends).

    Parameters
    ----------
    model : Mixture
        Likelihood and prior.
    X : array, data frame or sparse matrix of shape (n, d), or WeightedLeaves
        One row per item; or leaves, which are then the items.
    trials : int
        How many trees are built. The first grows at the means of the prior's random
        parameters and the conditional mode of ``u``; before each further one they are drawn
        given the clusters of the last. The tree of the highest evidence bound at the first
        values is kept: bounds at different ones cannot be compared.
    rule : {"balanced", "paper"}
        How a row finds its place in a tree. The published rule grows deep trees, so that its
        time is quadratic. The balanced one goes to the child in which the row is the more
        typical while a node is judged one cluster, grows at a small ``u``, and in the end
        joins trees that are better together.
    order : array of shape (n,), optional
        The order in which rows go in, a permutation of ``0..n-1``; random by default, and
        another for each trial.
    max_leaves : int, optional
        Beyond this many leaves, the tightest subtrees are collapsed into one weighted leaf
        each, of which only the statistics are kept: first pairs of leaves that are judged
        one cluster, then pairs that are better apart, and when there are more trees than
        this, the smallest trees with their nearest. Between two such rounds `max_leaves`
        rows, and at least 1,000, go in.
    seed : int, SeedSequence, Generator or None
        For the orders and the parameters. The same seed, data and options give the same tree.
    search : {"index", "exact"}
        How a row finds its nearest tree once there are dozens of them: through an index of
        the trees, which may miss the nearest, or with a look at every one.
    n_jobs : int, optional
        How many threads trees of many rows are grown on, as many as processors by default.
        The tree does not depend on it.

    Returns
    -------
    Hierarchy

    Notes
    -----
    From 32,768 rows on (not documents, not `WeightedLeaves`, without `max_leaves`, by the
    balanced rule and the index), rows do not go in one by one. The first ``4 sqrt(n)`` of them
    grow a coarse tree that sorts all rows into buckets; each bucket grows trees of its own, in
    the same way; and these go into the whole one after the other, the largest first. That takes
    a fraction of the time, and the buckets grow side by side.

    Examples
    --------
    >>> tree = ibhc(Mixture(), [[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]], trials=3, seed=1)
    >>> tree.labels
    array([0, 1, 0, 1, 0, 1])
    """
    n_trials = whole_number(trials, "trials", at_least=1)
    threads = thread_count(n_jobs)
    _check_rule(rule)
    if not (isinstance(search, str) and search in ("index", "exact")):
        raise ValueError(f"search must be 'index' or 'exact', got {shown(search)}")
    if max_leaves is not None:
        max_leaves = whole_number(max_leaves, "max_leaves", at_least=2)
    rng = np.random.default_rng(seed_sequence(seed))
    given, data = _checked(model, X)
    n = data.shape[0]
    fixed_order = None if order is None else _permutation(order, n)

    if max_leaves is not None and max_leaves < n and not isinstance(data, WeightedLeaves):
        refuse_drawn_entries(given.likelihood, data, "X")
    family = bind_family(given, data)
    data = _own(data, X)
    first = prior_parameters(given.prior, n_points(data))
    parameters = first
    best: Hierarchy | None = None
    for trial in range(n_trials):
        recipe = Recipe(given, first, rule, max_leaves, search, growth=parameters)
        rows = rng.permutation(n) if fixed_order is None else fixed_order
        forest = recipe.forest(family)
        grow(recipe, forest, rows, threads=threads)
        tree = Hierarchy(recipe, data, forest, rows, greedy=False)
        if best is None or tree.log_evidence_bound > best.log_evidence_bound:
            best = tree
        if trial + 1 < n_trials:
            sizes = np.bincount(tree.labels, weights=item_sizes(data)).tolist()
            parameters = _redrawn(given.prior, parameters, sizes, rng)
    assert best is not None
    return best


def ibhc_at(model: Mixture, X: Any, base: FloatArray, trials: int = 3, seed: Any = 0) -> Hierarchy:
    """Return the best of some trees that `ibhc` grows at a base measure which others have found.

    Parameters
    ----------
    model, X, seed
        As for `ibhc`.
    base : array
        The learned base measure; empty where it is fixed.
    trials : int
        How many trees are grown, of rows in other orders. That of the highest evidence bound is
        returned.
    """
    given, data = _checked(model, X)
    family = bind_family(given, data)
    if len(base):
        family = family.at(np.ascontiguousarray(base))
    recipe = Recipe(given, prior_parameters(given.prior, n_points(data)), "balanced", None)
    rng = np.random.default_rng(seed_sequence(seed))
    trees = []
    for _ in range(trials):
        rows, forest = rng.permutation(data.shape[0]), recipe.forest(family)
        grow(recipe, forest, rows, threads=thread_count(None))
        trees.append(Hierarchy(recipe, data, forest, rows, greedy=False))
    return max(trees, key=lambda tree: tree.log_evidence_bound)


def ibhc_labels(
    model: Mixture,
    family: _core.Family,
    points: int,
    seed: np.random.SeedSequence,
    max_leaves: int | None = None,
    threads: int = 1,
) -> NDArray[np.int32]:
    """Return the labels that `ibhc` would find, without its tree.

    Parameters
    ----------
    model : Mixture
        With a resolved likelihood.
    family : Family
        The likelihood bound to the rows.
    points : int
        How many rows there are, those of weighted leaves one by one.
    seed : SeedSequence
        For the order.
    max_leaves : int, optional
        As for `ibhc`.
    threads : int
        How many it may take.
    """
    parameters = prior_parameters(model.prior, points)
    recipe = Recipe(model, parameters, "balanced", max_leaves)
    forest = recipe.forest(family)
    order = np.random.default_rng(seed).permutation(family.n_rows)
    grow(recipe, forest, order, threads=threads)
    return forest.labels()


def on_top_labels(
    model: Mixture, family: _core.Family, points: int, seed: np.random.SeedSequence
) -> NDArray[np.int32]:
    """Return the clusters of the paper's bad start; parameters as for `ibhc_labels`.

    In random order each row goes on top of its nearest tree, or becomes one; never a cut.
    """
    recipe = Recipe(model, prior_parameters(model.prior, points), "balanced", None)
    forest = recipe.forest(family)
    forest.on_top(np.random.default_rng(seed).permutation(family.n_rows))
    return forest.labels()


def prior_parameters(prior: Prior, n: int) -> PriorValues[float]:
    """Return prior means, and ``u`` at its mode for the expected number of clusters.

    Parameters
    ----------
    prior : Prior
        Random parameters are taken at their means.
    n : int
        How many rows.

    Examples
    --------
    >>> from mixwood.priors import DirichletProcess
    >>> values = prior_parameters(DirichletProcess(alpha=2.0), 10)
    >>> round(float(np.exp(values.log_u)), 9)
    5.0
    """
    values = prior.start()
    return replace(values, log_u=prior.log_u_mode(values, n, prior.expected_clusters(n)))


def _redrawn(
    prior: Prior, values: PriorValues[float], sizes: list[int], rng: np.random.Generator
) -> PriorValues[float]:
    """Move ``u`` and the random parameters once, given the sizes of the clusters."""
    from mixwood import _core

    arguments = prior.core_arguments()
    del arguments["start"]
    moved = _core.update_parameters(
        **arguments,
        values=[values.log_u, values.log_alpha, values.sigma, values.theta],
        sizes=sizes,
        bit_generator=rng.bit_generator,
    )
    return PriorValues(*moved)


def _checked(model: Mixture, X: Any) -> tuple[Mixture, Data | WeightedLeaves]:
    """Return the model with an explicit likelihood, and checked data."""
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    resolved, data = read_data(model.likelihood, X)
    return replace(model, likelihood=resolved), data


def _check_rule(rule: Any) -> None:
    if not (isinstance(rule, str) and rule in ("balanced", "paper")):
        raise ValueError(f"rule must be 'balanced' or 'paper', got {shown(rule)}")


def _own(data: Data | WeightedLeaves, X: Any) -> Data | WeightedLeaves:
    """Return items that the caller cannot write to later."""
    if isinstance(data, WeightedLeaves):
        return data
    return data.copy() if data is X or getattr(data, "base", None) is not None else data


def _permutation(order: Any, n: int) -> IntArray:
    rows = np.asarray(order)
    if rows.shape != (n,) or rows.dtype.kind not in "iu":
        raise ValueError(
            f"order must be an array of {n} row numbers, one per row of X, got {shown(order)}"
        )
    if not np.array_equal(np.sort(rows), np.arange(n)):
        raise ValueError(f"order must hold each of the numbers 0 to {n - 1} once")
    return rows.astype(np.int64)
