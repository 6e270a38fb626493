"""The index through which a row finds its nearest tree among many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.core import bind_family
from mixwood.testing import seed_of
from mixwood.trees.build import ibhc, prior_parameters
from mixwood.trees.recipe import Recipe


@pytest.fixture
def many_classes(request):
    """A function of n: Gaussian rows in 150 classes far apart, and the classes."""
    rng = np.random.default_rng(seed_of(request.node.name))

    def make(n):
        truth = np.arange(n) % 150
        centres = 25.0 * np.stack(np.unravel_index(truth, (6, 5, 5)), axis=1)
        return centres - 60 + 0.3 * rng.normal(size=(n, 3)), truth

    return make


@pytest.fixture
def model():
    return mw.Mixture(
        mw.Gaussian(r=1e-4, nu=9, mean=np.zeros(3), scale=np.eye(3)), mw.NGGP(1.0, 0.5)
    )


def forest_of(model, X, search, rule="balanced"):
    data = model.likelihood.check(X)
    resolved = mw.Mixture(model.likelihood.resolve(data), model.prior)
    parameters = prior_parameters(resolved.prior, data.shape[0])
    return Recipe(resolved, parameters, rule, None, search).forest(bind_family(resolved, data))


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_separated_classes_are_found_either_way(many_classes, model, rule):
    X, truth = many_classes(600)
    exact, index = (ibhc(model, X, rule=rule, seed=0, search=s) for s in ("exact", "index"))
    for k in range(exact.n_clusters):
        assert len(np.unique(truth[index.labels == k])) == 1
    np.testing.assert_array_equal(index.labels, exact.labels)


def test_it_rarely_misses_and_can_miss():
    """The counts that the benchmark reports: a tree is missed sometimes, so they are no zeros."""
    rng = np.random.default_rng(seed_of("test_it_rarely_misses_and_can_miss"))
    likelihood = mw.Gaussian(r=0.01, nu=9, mean=np.zeros(3), scale=np.eye(3))
    X = 20 * rng.normal(size=(900, 3))
    core = forest_of(mw.Mixture(likelihood, mw.NGGP(1.0, 0.5)), X, "compared")
    core.insert(np.arange(900))
    searches, differing = core.search_counts
    assert searches > 500
    assert 0 < differing < 0.1 * searches


def test_few_trees_need_no_index(model):
    X = np.random.default_rng(0).normal(size=(200, 3))
    core = forest_of(model, X, "compared")
    core.insert(np.arange(200))
    assert core.n_trees < 32
    assert core.search_counts == (0, 0)


def test_its_books_are_right_after_any_operations(family_case):
    """Trees that come, grow, are cut and go, by the index's own hand or behind its back."""
    likelihood, X = family_case(300)
    # at a huge u nearly every row is a tree of its own, at a small one they join
    core = forest_of(mw.Mixture(likelihood, mw.NGGP(1.0, 0.9)), X, "compared")
    rows = iter(np.random.default_rng(0).permutation(300).reshape(10, 30))
    for log_u in (60.0, 60.0, 60.0, 60.0, 2.0, 8.0, 60.0):
        core.set_parameters(log_u, 0.0, 0.9, 0.0)
        core.insert(next(rows))
        core.check()
    core.on_top(next(rows))
    core.check()
    core.agglomerate(next(rows))
    core.insert(next(rows))
    core.check()
    core.join_trees()
    core.check()
    assert core.search_counts[0] > 0


def test_the_search_is_named_when_wrong(model):
    for wrong in ("fast", None, 1, ["index"]):
        with pytest.raises(ValueError, match="search must be 'index' or 'exact'"):
            ibhc(model, np.zeros((4, 3)), search=wrong)
    with pytest.raises(ValueError, match="search must be"):
        forest_of(model, np.zeros((4, 3)), "fast")


def test_documents_find_the_nearest_of_all_trees(request):
    """The table of counts follows whatever happens to the trees: it never errs."""
    rng = np.random.default_rng(seed_of(request.node.name))
    laws = rng.dirichlet(np.full(60, 0.05), size=40)
    X = csr_array(np.array([rng.multinomial(12, laws[k % 40]) for k in range(400)]))
    core = forest_of(mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP(1.0, 0.5)), X, "compared")
    core.insert(np.arange(200))
    core.join_trees()
    core.insert(np.arange(200, 300))
    core.collapse(100)
    core.insert(np.arange(300, 400))
    core.check()
    searches, differing = core.search_counts
    assert searches > 400
    assert differing == 0
