"""The twin of weighted leaves: the compiled ones keep the same sums and have the same marginals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference import family_of
from mixwood.reference.families import dense
from mixwood.reference.leaves import leaf_of, united
from mixwood.testing.family_check import _check_identities, _check_scores, _Core


@pytest.fixture
def both(family_case):
    """The leaves of three blocks, compiled and plain."""
    likelihood, X = family_case(90)
    likelihood, X = likelihood.fitted_to(X)
    parts = [X[:20], X[20:60], X[60:]]
    leaves = mw.stream_leaves(mw.Mixture(likelihood), parts, max_leaves=15, seed=1)
    family, rows = family_of(likelihood), dense(X)
    plain = [leaf_of(family, rows[leaves.leaf_of_row == k]) for k in range(leaves.n_leaves)]
    return leaves, family, plain


def test_the_same_sums(both):
    leaves, _, plain = both
    np.testing.assert_array_equal(leaves.sizes, [leaf.size for leaf in plain])
    assert leaves.sizes.max() > 1
    np.testing.assert_allclose(leaves.weights, [leaf.weight for leaf in plain])
    # the compiled family leaves the constants of the rows out
    apart = leaves.log_apart + leaves.log_constants
    np.testing.assert_allclose(apart, [leaf.log_apart for leaf in plain], rtol=1e-9, atol=1e-9)


def test_the_same_marginals(both, seed):
    leaves, family, plain = both
    compiled, constants = leaves.bind(), leaves.log_constants
    alone = [family.log_marginal(leaf.statistic) for leaf in plain]
    np.testing.assert_allclose(compiled.log_alone() + constants, alone, rtol=1e-9, atol=1e-9)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        chosen = rng.permutation(leaves.n_leaves)[: rng.integers(1, leaves.n_leaves + 1)]
        cluster = united(family, [plain[k] for k in chosen])
        expected = family.log_marginal(cluster.statistic)
        value = compiled.log_marginal(chosen) + constants[chosen].sum()
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert cluster.size == leaves.sizes[chosen].sum()


def test_identities_of_the_compiled_leaves(both):
    """Ratios, order, merging, forgetting, with leaves for rows."""
    leaves, _, _ = both
    core, rng = _Core(leaves.bind()), np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(leaves.n_leaves)[:12].tolist()
        cut = int(rng.integers(1, len(order)))
        for check in (_check_identities, _check_scores):
            check(core, order[:cut], order[cut:], 1e-9)


def test_the_comparison_can_fail(both):
    """A leaf without the scatter, or the counts, of its rows is not the same leaf."""
    leaves, family, plain = both
    big = int(leaves.sizes.argmax())
    wrong = replace(leaves, statistics=0.9 * leaves.statistics)
    value = wrong.bind().log_marginal(np.array([big])) + leaves.log_constants[big]
    assert value != pytest.approx(family.log_marginal(plain[big].statistic), rel=1e-9, abs=1e-9)
