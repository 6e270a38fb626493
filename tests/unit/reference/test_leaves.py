"""The twin of weighted leaves: the compiled ones keep the same sums and have the same marginals."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.likelihoods.weighted_leaves import SUMS, Leaves
from mixwood.reference import family_of
from mixwood.reference.families import dense
from mixwood.reference.leaves import leaf_of, united
from mixwood.testing import check_family


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
    sums = dict(zip(SUMS, dense(leaves.matrix).T, strict=False))
    np.testing.assert_array_equal(sums["size"], [leaf.size for leaf in plain])
    assert leaves.sizes.max() > 1
    np.testing.assert_allclose(sums["weight"], [leaf.weight for leaf in plain])
    # the compiled family leaves the constants of the rows out
    apart = sums["log_apart"] + sums["log_constant"]
    np.testing.assert_allclose(apart, [leaf.log_apart for leaf in plain], rtol=1e-9, atol=1e-9)


def test_the_same_marginals(both, seed):
    leaves, family, plain = both
    own = Leaves(leaves.likelihood)
    compiled, constants = own.bind(leaves.matrix), own.row_constants(leaves.matrix)
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
    assert check_family(Leaves(leaves.likelihood), leaves.matrix).passed


def test_the_comparison_can_fail(both):
    """A leaf without the scatter, or the counts, of its rows is not the same leaf."""
    leaves, family, plain = both
    big = int(leaves.sizes.argmax())
    row = np.array(dense(leaves.matrix)[big])
    row[len(SUMS) :] *= 0.9
    own = Leaves(leaves.likelihood)
    wrong = row[None] if isinstance(leaves.matrix, np.ndarray) else type(leaves.matrix)(row[None])
    value = own.bind(wrong).log_marginal(np.array([0])) + row[SUMS.index("log_constant")]
    assert value != pytest.approx(family.log_marginal(plain[big].statistic), rel=1e-9, abs=1e-9)
