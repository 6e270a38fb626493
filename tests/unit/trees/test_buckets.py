"""Rows put in bucket by bucket: valid trees, the same for any number of threads, the twin's."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood import _core
from mixwood.core import bind_family, make_chain
from mixwood.reference import buckets as twins
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters
from mixwood.samplers import Tree
from mixwood.trees.build import prior_parameters
from mixwood.trees.recipe import Recipe


def rows_of_classes(n, d=2, classes=6, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    return rng.uniform(-9, 9, (classes, d))[truth] + rng.normal(size=(n, d))


def empty_forest(likelihood, X, prior=None):
    """Return a forest over X at the u of growth, and what it was made of."""
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior or mw.NGGP(1.0, 0.5))
    values = prior_parameters(model.prior, X.shape[0])
    forest = Recipe(model, values, "balanced", None).forest(bind_family(model, X))
    forest.set_parameters(_core.GROWTH_LOG_U, values.log_alpha, values.sigma, values.theta)
    return forest, model, values


def node_sets(export):
    """Return the rows below each node of an exported tree, as a set of sets."""
    below = []
    for left, right, row in zip(export["left"], export["right"], export["row"], strict=True):
        below.append(frozenset([int(row)]) if left < 0 else below[left] | below[right])
    return set(below)


LIKELIHOODS = {
    "gaussian": mw.Gaussian(scale="data"),
    "diagonal": mw.DiagonalGaussian(scale="data"),
    "poisson": mw.Poisson(),
    "categorical": mw.Categorical(),
}


@pytest.mark.parametrize("kind", LIKELIHOODS)
def test_every_row_is_there_once_and_every_sum_is_that_of_its_rows(kind):
    X = rows_of_classes(1500)
    if kind in ("poisson", "categorical"):
        X = np.clip(np.round(X) + 9, 0, 20).astype(int)
    forest, _, _ = empty_forest(LIKELIHOODS[kind], X)
    forest.insert_in_buckets(np.random.default_rng(1).permutation(1500), 2)
    forest.check()
    export = forest.export()
    assert sorted(export["row"][export["left"] < 0]) == list(range(1500))
    assert export["size"].max() == 1500


def test_the_trees_do_not_depend_on_the_number_of_threads():
    X, order = rows_of_classes(3000, d=3), np.random.default_rng(1).permutation(3000)
    exports = []
    for threads in (1, 2, 5):
        forest, _, _ = empty_forest(mw.Gaussian(scale="data"), X)
        forest.insert_in_buckets(order, threads)
        exports.append(forest.export())
    for other in exports[1:]:
        for name, values in exports[0].items():
            np.testing.assert_array_equal(other[name], values, err_msg=name)


def both_forests(n, seed):
    """Return the nodes of the compiled trees, and of the twin's, in the same order of rows."""
    X = rows_of_classes(n, seed=seed)
    forest, model, values = empty_forest(mw.Gaussian(scale="data"), X)
    order = np.random.default_rng(seed).permutation(n)
    forest.insert_in_buckets(order)
    parameters = Parameters(_core.GROWTH_LOG_U, values.log_alpha, values.sigma, values.theta)
    twin = Forest(model, X, parameters)
    twins.insert_in_buckets(twin, order.tolist())
    compiled = node_sets(forest.export())
    return compiled, {frozenset(node.rows) for tree in twin.trees for node in tree.nodes()}


def test_the_trees_are_the_twins(monkeypatch):
    compiled, twin = both_forests(260, seed=2)
    assert twin <= compiled  # which is joined to one root besides
    # The comparison can fail: a twin with other buckets grows other trees.
    monkeypatch.setattr(twins, "COARSE_BELOW", 6)
    compiled, twin = both_forests(260, seed=2)
    assert not twin <= compiled


def test_rows_that_cannot_be_told_apart_end():
    """Whatever divides them leaves them all in one bucket."""
    for X in (np.zeros((700, 2)), np.repeat([[0.0, 0.0], [5.0, 5.0]], 400, axis=0)):
        likelihood = mw.Gaussian(r=0.1, nu=4, mean=np.zeros(2), scale=np.eye(2))
        forest, _, _ = empty_forest(likelihood, X)
        forest.insert_in_buckets(np.random.default_rng(0).permutation(len(X)))
        forest.check()
        assert forest.n_leaves == len(X)


def test_outliers_and_many_classes_are_valid():
    rng = np.random.default_rng(0)
    X = np.vstack([rows_of_classes(2000, classes=300), rng.uniform(-1e3, 1e3, (300, 2))])
    forest, _, _ = empty_forest(mw.Gaussian(scale="data"), X, mw.DirichletProcess(20.0))
    forest.insert_in_buckets(rng.permutation(len(X)))
    forest.check()
    assert forest.n_trees > 100  # more than every row is compared with


def test_refusals_leave_the_forest_as_it_was():
    forest, _, _ = empty_forest(mw.Gaussian(scale="data"), rows_of_classes(300))
    for wrong in ([0, 0], [300], [-1]):
        with pytest.raises(ValueError, match="row"):
            forest.insert_in_buckets(np.array(wrong))
    with pytest.raises(ValueError, match="threads"):
        forest.insert_in_buckets(np.arange(300), 0)
    assert forest.n_leaves == 0


# --- where they are used


def test_few_rows_go_in_one_by_one(same_partition):
    X, order = rows_of_classes(600), np.random.default_rng(0).permutation(600)
    assert len(X) < _core.FEWEST_IN_BUCKETS
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.NGGP(1.0, 0.5))
    tree = mw.ibhc(model, X, order=order)
    forest, _, values = empty_forest(mw.Gaussian(scale="data"), X)
    forest.insert(order)
    forest.set_parameters(values.log_u, values.log_alpha, values.sigma, values.theta)
    forest.join_trees()
    leaves = forest.leaves()
    assert same_partition(tree.labels, leaves["tree"][leaves["leaf_of_row"]])
    assert sorted(tree.linkage()[:, 3]) == sorted(forest.export()["size"][600:])


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_ibhc_of_many_rows_does_not_depend_on_n_jobs(monkeypatch, everything, rule):
    monkeypatch.setattr(_core, "FEWEST_IN_BUCKETS", 500)
    X = rows_of_classes(800)
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.NGGP(1.0, 0.5))
    one, two = (mw.ibhc(model, X, rule=rule, seed=1, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert everything(one) == everything(two)
    monkeypatch.setattr(_core, "FEWEST_IN_BUCKETS", 10**6)
    small = mw.ibhc(model, X, rule=rule, seed=1)
    # Only the balanced rule has buckets, and then other trees.
    assert (everything(small) == everything(one)) == (rule == "paper")


def test_documents_and_leaves_go_in_one_by_one():
    counts = np.random.default_rng(0).poisson(1.0, (40, 5)) + 1
    documents, _, _ = empty_forest(mw.Multinomial(), counts)
    rows, _, _ = empty_forest(mw.Poisson(), counts)
    assert rows.takes_buckets
    assert not documents.takes_buckets


def test_chains_over_many_rows_do_not_depend_on_the_number_of_threads():
    n = _core.FEWEST_IN_BUCKETS + 100
    X = rows_of_classes(n, d=1, classes=3)
    likelihood = mw.Gaussian(scale="data").resolve(X)
    model = mw.Mixture(likelihood, mw.NGGP(1.0, 0.5))
    states = []
    for threads in (1, 2):
        chain = make_chain(
            model, X, np.zeros(n, np.int32), np.random.PCG64(3), Tree(), threads=threads
        )
        chain.iterate(1)
        states.append(chain.state()["labels"])
    np.testing.assert_array_equal(states[0], states[1])
    with pytest.raises(ValueError, match="threads"):
        make_chain(model, X, np.zeros(n, np.int32), np.random.PCG64(3), Tree(), threads=0)
