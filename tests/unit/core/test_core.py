"""The compiled families and chains, against calculations made another way."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood import _core
from mixwood.core import bind_family, make_chain

#: Fixed, for what is computed by hand.
PRIOR = mw.NGGP(1.0, 0.4)


def resolved(likelihood, X):
    X = likelihood.check(X)
    return mw.Mixture(likelihood.resolve(X), PRIOR), X


def test_density_alone_is_the_marginal_of_one_row(family_case):
    family = bind_family(*resolved(*family_case(20)))
    for row, value in enumerate(family.log_alone()):
        assert value == pytest.approx(family.log_marginal(np.array([row])), abs=1e-10)


def test_subtracting_undoes_merging(family_case):
    family = bind_family(*resolved(*family_case(20)))
    for split in (1, 2, 10, 18, 19):
        part, rest = np.arange(split), np.arange(split, 20)
        left = family.subtract(family.statistics(np.arange(20)), family.statistics(part))
        assert family.log_marginal_of(left) == pytest.approx(family.log_marginal(rest), abs=1e-9)


def test_gibbs_weights_are_ratios_of_marginals(family_case, chain_of):
    """Blocked kernels and leave-one-out shortcuts against marginals from scratch."""
    likelihood, X = family_case(40)
    labels = np.arange(40) % 4
    chain = chain_of(likelihood, X, labels, PRIOR)
    model, X = resolved(likelihood, X)
    family = bind_family(model, X)
    state = chain.state()
    log_tau = np.logaddexp(0, state["log_u"])
    for row in range(40):
        expected = []
        for k in range(4):
            others = np.array([i for i in np.flatnonzero(labels == k) if i != row])
            ratio = family.log_marginal(np.append(others, row)) - family.log_marginal(others)
            expected.append(np.log(len(others) - 0.4) + ratio)
        new = np.log(1.0 * 0.4) + 0.4 * log_tau
        expected.append(new + family.log_marginal(np.array([row])))
        np.testing.assert_allclose(chain.log_weights(row), expected, atol=1e-8)


def test_a_row_alone_cannot_join_itself(family_case, chain_of):
    likelihood, X = family_case(5)
    chain = chain_of(likelihood, X, [0, 1, 1, 2, 2], PRIOR)
    assert chain.log_weights(0)[0] == -np.inf


def test_books_are_right_after_many_sweeps(family_case, prior, chain_of):
    likelihood, X = family_case(60)
    chain = chain_of(likelihood, X, np.zeros(60), prior)
    for _ in range(30):
        chain.iterate(10)
        chain.check()


def test_log_joint_is_the_formula(family_case, chain_of):
    likelihood, X = family_case(15)
    chain = chain_of(likelihood, X, np.arange(15) % 3, PRIOR)
    chain.iterate(5)
    state = chain.state()
    family = bind_family(*resolved(likelihood, X))
    if family.base_size > 0:
        family = family.at(state["base"])
    v, sigma = state["log_u"], state["sigma"]
    log_tau = np.logaddexp(0, v)
    expected = 14 * v - np.expm1(sigma * log_tau) - sum(np.log(np.arange(1, 15)))
    for k in np.unique(state["labels"]):
        rows = np.flatnonzero(state["labels"] == k)
        rising = np.prod(np.arange(1, len(rows)) - sigma)
        expected += np.log(sigma * rising) + (sigma - len(rows)) * log_tau
        expected += family.log_marginal(rows)
    assert chain.log_joint() == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("start", ["one", "singletons", "pairs"])
def test_starts_are_taken_as_they_are(start, chain_of):
    X = np.random.default_rng(0).normal(size=(8, 2))
    labels = {"one": np.zeros(8), "singletons": np.arange(8), "pairs": np.arange(8) // 2}[start]
    chain = chain_of(mw.Gaussian(), X, labels, PRIOR)
    np.testing.assert_array_equal(chain.state()["labels"], labels)
    chain.check()


def test_a_subset_sweep_visits_that_many_rows(chain_of):
    X = np.random.default_rng(0).normal(size=(50, 2))
    likelihood = mw.Gaussian(scale="data")
    chain = chain_of(likelihood, X, np.zeros(50), PRIOR, sampler=mw.Gibbs(subset=7))
    chain.iterate(10)
    report = {r["move"]: r for r in chain.reports()}["gibbs"]
    assert report["proposed"] == 70
    assert 0 < report["accepted"] <= 70


def test_state_can_be_set_and_read_back(chain_of):
    X = np.random.default_rng(0).normal(size=(6, 2))
    chain = chain_of(mw.Gaussian(), X, np.zeros(6), mw.PitmanYor())
    labels = np.array([0, 1, 0, 2, 2, 1], dtype=np.int32)
    chain.set_state(labels, 1.5, -0.3, 0.2, 2.5)
    state = chain.state()
    np.testing.assert_array_equal(state["labels"], labels)
    assert (state["log_u"], state["log_alpha"], state["sigma"], state["theta"]) == (
        1.5,
        -0.3,
        0.2,
        2.5,
    )


def test_a_huge_u_gives_finite_joints(chain_of):
    """With a random mass, u runs to where exp overflows: everything stays in logs."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    chain = chain_of(mw.Gaussian(), X, np.zeros(6), mw.NGGP())
    chain.set_state(np.zeros(6, dtype=np.int32), 2000.0, -0.5 * 2000.0, 0.5, 0.0)
    assert np.isfinite(chain.log_joint())
    chain.iterate(50)
    assert np.isfinite(chain.log_joint())


def test_the_core_refuses_what_would_read_outside_its_arrays(chain_of):
    rows = np.zeros((3, 2))
    with pytest.raises(ValueError, match="d x d"):
        _core.gaussian(rows, 0.1, 8.0, np.eye(3), np.empty(0))
    holed = rows.copy()
    holed[1, 0] = np.nan
    for fill in ([], [1.0, 2.0], [np.inf]):
        with pytest.raises(ValueError, match="missing entry"):
            _core.gaussian(holed, 0.1, 8.0, np.eye(2), np.array(fill))
    with pytest.raises(ValueError, match="beyond"):
        _core.categorical(
            np.array([[5]], dtype=np.int32), np.array([0, 2], dtype=np.int32), np.ones(2)
        )
    starts = np.array([0, 1], dtype=np.int64)
    one = np.array([1], dtype=np.int32)
    with pytest.raises(ValueError, match="words"):
        _core.multinomial(starts, one, one, 1, 0.1)
    with pytest.raises(ValueError, match="rates"):
        _core.poisson(rows, np.ones(2), np.ones(3), False)
    family = _core.spherical_gaussian(rows, 0.1, 7.0)
    with pytest.raises(IndexError):
        family.log_marginal(np.array([3]))
    with pytest.raises(IndexError, match="negative size"):
        family.log_marginal_of(np.array([-1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="statistic"):
        family.log_marginal_of(np.zeros(1))
    chain = chain_of(mw.Gaussian(), np.eye(3), [0, 0, 1], PRIOR)
    for labels in ([0, 1], [0, 0, 3], [0, 0, -1]):
        with pytest.raises(ValueError, match="labels"):
            chain.set_state(np.array(labels, dtype=np.int32), 0.0, 0.0, 0.5, 0.0)
    with pytest.raises(IndexError):
        chain.log_weights(3)


def test_ordinates_of_two_rows_by_hand(chain_of):
    """n = 2: p(x_0 | x_1, u) = u/tau {(1-sigma) P(x_0 | x_1) + alpha sigma tau^sigma P(x_0)}."""
    X = np.array([[0.0], [1.0]])
    chain = chain_of(mw.Gaussian(), X, [0, 1], PRIOR)
    family = bind_family(*resolved(mw.Gaussian(), X))
    v = chain.state()["log_u"]
    tau = 1 + np.exp(v)
    single = np.exp(family.log_alone())
    both = np.exp(family.log_marginal(np.array([0, 1])))
    expected = np.exp(v) / tau * (0.6 * both / single[1] + 0.4 * tau**0.4 * single[0])
    assert chain.log_ordinates()[0] == pytest.approx(np.log(expected), abs=1e-10)


def test_a_refused_state_changes_nothing(chain_of):
    X = np.random.default_rng(0).normal(size=(4, 2))
    chain = chain_of(mw.Gaussian(), X, np.zeros(4), PRIOR)
    with pytest.raises(ValueError, match="labels"):
        chain.set_state(np.array([0, 0, 9, 0], dtype=np.int32), 0.0, 0.0, 0.5, 0.0)
    chain.check()
    chain.iterate(3)
    chain.check()


def test_a_weight_that_is_not_a_number_is_an_error(chain_of):
    X = np.random.default_rng(0).normal(size=(4, 2))
    chain = chain_of(mw.Gaussian(), X, np.arange(4) % 2, PRIOR)
    chain.set_state(np.array([0, 1, 0, 1], dtype=np.int32), 0.0, np.nan, 0.5, 0.0)
    with pytest.raises(RuntimeError, match="not numbers"):
        chain.iterate()


@pytest.mark.parametrize(
    "likelihood",
    [
        mw.Gaussian(mean=[0, 0], scale=np.eye(2)),
        mw.DiagonalGaussian(mean=[0, 0], scale=[1, 1]),
        mw.SphericalGaussian(mean=[0, 0], scale=1),
    ],
)
def test_statistics_of_more_points_than_rows(likelihood):
    """A weighted leaf may stand for more points than there are rows: no table ends there."""
    X = np.random.default_rng(0).normal(size=(700, 2))
    large = likelihood.resolve(X).bind(X)
    small = likelihood.resolve(X[:3]).bind(np.ascontiguousarray(X[:3]))
    statistic = large.statistics(np.arange(700))
    assert small.log_marginal_of(statistic) == pytest.approx(large.log_marginal_of(statistic))


def test_pitman_yor_comes_back_from_an_unlikely_theta():
    """A slice of log theta would go far to the left, and u then to where all is rounding."""
    X = np.random.default_rng(1).normal(size=(300, 1))
    model = mw.Mixture(mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[1.0]]), mw.PitmanYor())
    labels = np.arange(300, dtype=np.int32) // 5
    for seed in range(20):
        chain = make_chain(model, X, labels, np.random.PCG64(seed), mw.Gibbs())
        chain.set_state(labels, 3.0, 4.0, 0.86, 500.0)
        for _ in range(5):
            chain.iterate()
            assert chain.state()["log_u"] < 1000
