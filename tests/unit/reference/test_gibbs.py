"""The twin's chain: its weights, its books and its joint."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance
from mixwood.reference import GibbsChain, family_of
from mixwood.reference.families import dense


def twin_of(likelihood, X, labels, prior, seed=0, subset=None):
    """Return the twin's chain, where `chain_of` of conftest.py makes a compiled one."""
    checked = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(checked), prior)
    return GibbsChain(model, checked, labels, np.random.default_rng(seed), subset)


def test_labels_in_order_of_appearance():
    np.testing.assert_array_equal(in_order_of_appearance([5, 5, 1, 9, 1]), [0, 0, 1, 2, 1])


def test_weights_are_ratios_of_joints(family_case, prior):
    """Moving a row changes the log joint by the difference of its log weights."""
    likelihood, X = family_case(7)
    labels = np.array([0, 1, 0, 2, 1, 0, 1])
    chain = twin_of(likelihood, X, labels, prior)
    values = (chain.log_u, chain.log_alpha, chain.sigma, chain.theta)
    i = 2
    chain.sizes[0] -= 1
    chain.stats[0] = chain.family.forget(chain.stats[0], chain.X[i])
    weights = chain.log_weights(i)
    joints = []
    for target in (0, 1, 2, 3):
        moved = labels.copy()
        moved[i] = target
        chain.set_state(moved, *values)
        joints.append(chain.log_joint())
    np.testing.assert_allclose(weights - weights[0], np.array(joints) - joints[0], atol=1e-8)


def test_a_row_alone_cannot_choose_the_cluster_it_left(prior):
    chain = twin_of(mw.Bernoulli(), [[0], [1], [1]], [0, 1, 1], prior)
    chain.sizes[0] -= 1
    assert chain.log_weights(0)[0] == -np.inf


def test_books_are_right_after_sweeps(family_case, prior):
    likelihood, X = family_case(15)
    chain = twin_of(likelihood, X, np.zeros(15), prior)
    family = family_of(chain.model.likelihood)
    for _ in range(8):
        chain.iterate()
        assert chain.sizes == np.bincount(chain.assignment).tolist()
        assert 0 not in chain.sizes
        for c, stat in enumerate(chain.stats):
            fresh = family.log_marginal(family.of(chain.X[chain.assignment == c]))
            assert family.log_marginal(stat) == pytest.approx(fresh, rel=1e-8)


def test_a_subset_sweep_leaves_the_others_where_they_are():
    X = np.random.default_rng(0).normal(size=(30, 2))
    chain = twin_of(mw.Gaussian(), X, np.arange(30), mw.NGGP(), subset=4)
    chain.iterate()
    together = np.bincount(chain.assignment)
    assert np.sum(together > 1) <= 4
    chosen = chain.order[:4].tolist()
    chain.iterate()
    assert sorted(chain.order) == list(range(30))
    assert chain.order[:4].tolist() != chosen


def test_sparse_data_are_taken():
    likelihood = mw.Multinomial()
    X = likelihood.check(np.array([[1, 0], [0, 2], [3, 1]]))
    chain = twin_of(likelihood, X, [0, 1, 0], mw.DirichletProcess())
    chain.iterate(3)
    np.testing.assert_array_equal(chain.X, dense(X))
    assert np.isfinite(chain.log_joint())


def test_labels_are_numbered_in_order_of_appearance():
    X = np.random.default_rng(1).normal(size=(20, 1))
    chain = twin_of(mw.Gaussian(), X, np.zeros(20), mw.PitmanYor())
    for _ in range(10):
        chain.iterate()
        labels = chain.labels
        np.testing.assert_array_equal(labels, in_order_of_appearance(labels))
