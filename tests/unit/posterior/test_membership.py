"""How sure items are of their clusters, and estimates without small clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixwood as mw
from mixwood._support.labels import by_size, in_order_of_appearance
from mixwood.posterior import membership as module
from mixwood.posterior.membership import certainty, large_clusters, membership, undecided_settled
from mixwood.testing import seed_of


def posterior_of(labels, X=None, likelihood=None):
    labels = np.array([in_order_of_appearance(row) for row in labels])[None]
    likelihood = likelihood or mw.Poisson(shape=1.0, rate=[1.0])
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    zeros = np.zeros(labels.shape[:2])
    return mw.Posterior(labels, zeros, zeros, {}, model, likelihood, X)


def with_a_stray(make_posterior):
    """A posterior with clusters of 6 and 5 rows, in most draws, and one that is mostly alone."""
    posterior = make_posterior(draws=40)
    labels = np.tile([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], (2, 40, 1))
    labels[:, :6, 11] = 1
    labels[:, 6:12, 5] = 1
    return replace(posterior, labels=labels)


def plain_membership(labels, estimate, sizes):
    """The formula, in loops."""
    found = np.zeros((len(estimate), estimate.max() + 1))
    for row in labels:
        for i, c in enumerate(row):
            for k in range(found.shape[1]):
                found[i, k] += sizes[(row == c) & (estimate == k)].sum() / sizes[row == c].sum()
    return found / len(labels)


def test_certainty_by_hand():
    posterior = posterior_of([[0, 0, 0, 1], [0, 0, 1, 2], [0, 0, 0, 0]])
    sure = certainty(posterior, np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(sure, [(1 + 1 + 3 / 4) / 3] * 3 + [(1 + 1 + 1 / 4) / 3])


@pytest.mark.parametrize("at_once", [1, 100, 2**22])
@pytest.mark.parametrize("leaves", [False, True])
def test_membership_is_that_of_plain_loops(request, monkeypatch, at_once, leaves):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    rng = np.random.default_rng(seed_of(request.node.name))
    X = None
    if leaves:
        X = mw.stream_leaves(
            mw.Mixture(mw.Poisson()), [rng.poisson(5.0, (200, 1))], max_leaves=8, seed=0
        )
    n = 12 if X is None else X.n_leaves
    draws = np.array([in_order_of_appearance(row) for row in rng.integers(0, 5, (30, n))])
    posterior = posterior_of(draws, X)
    estimate = by_size(draws[3], posterior.item_sizes)
    expected = plain_membership(draws, estimate, posterior.item_sizes)
    found = membership(posterior, estimate)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(certainty(posterior, estimate), expected[np.arange(n), estimate])
    some = np.array([n - 1, 0, 4])
    np.testing.assert_allclose(membership(posterior, estimate, some), expected[some], atol=1e-12)


def test_the_certainty_of_very_many_clusters():
    n = 200
    draws = np.array([np.arange(n), np.arange(n) // 2])
    posterior = posterior_of(draws)
    np.testing.assert_allclose(certainty(posterior, np.arange(n)), 0.75)
    np.testing.assert_allclose(certainty(posterior, np.arange(n) // 2), 1.0)


def test_methods_are_of_the_estimate_that_is_asked_for(make_posterior):
    posterior = with_a_stray(make_posterior)
    for options in ({}, {"loss": "binder"}, {"min_size": 3}, {"loss": "binder", "seed": 4}):
        labels = posterior.point_estimate(**options)
        table = posterior.membership(**options)
        assert table.shape == (12, labels.max() + 1)
        sure = posterior.certainty(**options)
        np.testing.assert_allclose(sure, table[np.arange(12), labels])
        assert np.all((sure >= 0) & (sure <= 1 + 1e-12))


def test_beyond_memory_it_is_refused(make_posterior, monkeypatch):
    posterior = make_posterior()
    monkeypatch.setattr(module, "available_bytes", lambda: 100)
    with pytest.raises(MemoryError, match=r"the membership of 12 items in .* needs .* min_size="):
        posterior.membership()
    posterior.certainty()


# --- how many are large


def test_numbers_of_large_clusters_are_those_of_plain_loops(make_posterior, monkeypatch):
    posterior = make_posterior(items=30, clusters=9, draws=20)
    for at_once in (1, 2**20):
        monkeypatch.setattr("mixwood.posterior.group_counts._AT_ONCE", at_once)
        for m in (1, 2, 4, 31):
            expected = [[(np.bincount(row) >= m).sum() for row in c] for c in posterior.labels]
            found = posterior.n_clusters_at_least(m)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == np.int64


def test_leaves_count_as_many_rows_as_they_stand_for(blobs):
    X = blobs(150, 2, seed=5, clusters=3, apart=9)
    leaves = mw.stream_leaves(mw.Mixture(), [X], max_leaves=12, seed=1)
    post = mw.sample(mw.Mixture(), leaves, draws=5, warmup=5, chains=2, seed=2, progress=False)
    of_rows = post.labels[..., leaves.leaf_of_row]
    for m in (1, 2, 20, 60):
        expected = [[(np.bincount(row) >= m).sum() for row in chain] for chain in of_rows]
        np.testing.assert_array_equal(post.n_clusters_at_least(m), expected)


@pytest.mark.parametrize("m", [0, -3, 2.0, "two", None, True])
def test_wrong_numbers_are_named(make_posterior, m):
    for name, call in (
        ("m", lambda post: post.n_clusters_at_least(m)),
        ("min_size", lambda post: post.point_estimate(min_size=m)),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^{name} must be"):
            call(make_posterior())


# --- the least size of a cluster


def test_rows_of_small_clusters_go_where_they_are_likeliest():
    draws = [[0, 0, 0, 0, 1, 1, 1, 1, 1, 2]] * 6  # the last row alone, or with the first group
    draws += [[0, 0, 0, 0, 1, 1, 1, 1, 1, 0]] * 3 + [[0, 0, 0, 0, 1, 1, 1, 1, 1, 1]]
    posterior = posterior_of(draws)
    estimate = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 2])
    moved = large_clusters(posterior, estimate, 2)
    np.testing.assert_array_equal(moved, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0])  # equal: as they appear


def test_each_row_goes_to_its_best_cluster_of_those_that_stay(request):
    rng = np.random.default_rng(seed_of(request.node.name))
    for _ in range(20):
        draws = np.array([in_order_of_appearance(row) for row in rng.integers(0, 6, (15, 20))])
        posterior, estimate = posterior_of(draws), by_size(draws[0])
        sizes = np.bincount(estimate)
        for least in range(1, sizes[0] + 1):
            found = large_clusters(posterior, estimate, least)
            kept = np.flatnonzero(sizes >= least)
            table = plain_membership(draws, estimate, np.ones(20))[:, kept]
            best = table.argmax(axis=1)
            expected = np.where(np.isin(estimate, kept), estimate, best)
            assert np.bincount(found).min() >= least
            np.testing.assert_array_equal(found, by_size(expected))


def test_leaves_are_as_large_as_their_rows_are_many():
    X = np.repeat([[1.0], [50.0], [400.0]], [60, 30, 3], axis=0)
    leaves = mw.stream_leaves(mw.Mixture(mw.Poisson()), [X], max_leaves=9, seed=0)
    kind = np.array([int(np.median(X[leaves.leaf_of_row == k])) for k in range(leaves.n_leaves)])
    posterior = posterior_of([kind] * 5, leaves, mw.Poisson(shape=1.0, rate=[0.01]))
    assert np.bincount(posterior.point_estimate(), leaves.sizes).tolist() == [60, 30, 3]
    assert np.bincount(posterior.point_estimate(min_size=3), leaves.sizes).tolist() == [60, 30, 3]
    moved = posterior.point_estimate(min_size=4)
    assert np.bincount(moved, leaves.sizes).tolist() == [60, 33]  # nearer to 50 than to 1


def test_a_row_that_is_always_alone_goes_where_its_data_fit(family_case):
    likelihood, X = family_case(30)
    X = likelihood.check(X)
    resolved = likelihood.resolve(X)
    labels = np.arange(30) % 2
    labels[28:] = [2, 3]
    rng = np.random.default_rng(0)
    bases = np.array([resolved.draw_base(rng) for _ in range(5)]).reshape(1, 5, -1)
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    zeros = np.zeros((1, 5))
    posterior = mw.Posterior(
        np.tile(labels, (1, 5, 1)), zeros, zeros, {}, model, resolved, X, bases=bases
    )
    moved = posterior.point_estimate(min_size=2)
    family = resolved.bind(X)
    for item in (28, 29):
        rows = [np.flatnonzero(labels == k) for k in (0, 1)]
        fits = np.full(2, -np.inf)
        for base in bases[0]:
            here = family.at(base) if resolved.base_size else family
            logs = [here.log_marginal(np.append(r, item)) - here.log_marginal(r) for r in rows]
            fits = np.logaddexp(fits, logs)
        together = [moved[item] == moved[r[0]] for r in rows]
        assert together[int(fits.argmax())]
    without = replace(posterior, X=None)
    assert without.point_estimate(min_size=2)[28:].tolist() == [0, 0]


def torn(X):
    """A last row that is with each of three clusters of four in turn, 3, 4 and 2 times of ten."""
    where = np.repeat([0, 1, 2, 3], [3, 4, 2, 1])
    clusters = np.repeat([0, 1, 2], 4)
    return posterior_of([[*clusters, k] for k in where], X)


def test_an_undecided_row_that_lacks_entries_is_where_it_is_likeliest():
    X = np.ones((13, 1))
    alone = torn(X).point_estimate()
    assert np.bincount(alone).tolist() == [4, 4, 4, 1]  # of least expected loss
    X[12] = np.nan
    settled = torn(X).point_estimate()
    assert np.bincount(settled).tolist() == [5, 4, 4]
    assert settled[12] == settled[4]
    # A draw in which it is alone counts for its cluster; others count by how many rows they share.
    assert torn(X).certainty()[12] == pytest.approx((3 * 0.2 + 4 * 1.0 + 2 * 0.2 + 1) / 10)


def test_a_row_that_is_mostly_alone_stays_alone():
    X = np.ones((5, 1))
    X[4] = np.nan
    posterior = posterior_of([[0, 0, 0, 0, 1]] * 3 + [[0, 0, 0, 0, 0]] * 2, X)
    assert undecided_settled(posterior, np.array([0, 0, 0, 0, 1])).tolist() == [0, 0, 0, 0, 1]
    assert undecided_settled(posterior, np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_an_undecided_row_of_known_label_stays_apart():
    X = np.ones((13, 1))
    X[12] = np.nan
    known = np.full(13, -1)
    known[[0, 12]] = 0, 1
    posterior = replace(torn(X), known=known)
    estimate = np.array([*np.repeat([0, 1, 2], 4), 3])
    assert undecided_settled(posterior, estimate).tolist() == estimate.tolist()


def test_no_cluster_of_that_size_is_an_error(make_posterior):
    posterior = make_posterior()
    largest = int(np.bincount(posterior.point_estimate()).max())
    with pytest.raises(ValueError, match=f"min_size must be at most {largest}, .*got 13"):
        posterior.point_estimate(min_size=13)
    assert posterior.point_estimate(min_size=largest).shape == (12,)


def test_it_is_remembered(make_posterior, monkeypatch):
    posterior = make_posterior(draws=40)
    found = posterior.point_estimate(min_size=3)
    monkeypatch.setattr(module, "membership", None)
    monkeypatch.setattr("mixwood.estimates.point_estimate", None)
    np.testing.assert_array_equal(posterior.point_estimate(min_size=3), found)
    found[:] = -1  # the caller's own copy
    assert posterior.point_estimate(min_size=3).min() == 0
    assert posterior.point_estimate().min() == 0  # found on the way


def test_everything_that_takes_an_estimate_takes_its_least_size(make_posterior):
    posterior = with_a_stray(make_posterior)
    labels = posterior.point_estimate(min_size=3)
    K = labels.max() + 1
    assert posterior.point_estimate().max() == K
    assert posterior.predict_proba(posterior.X, min_size=3).shape == (12, K)
    assert posterior.predict(posterior.X, min_size=3).max() < K
    np.testing.assert_array_equal(posterior.credible_ball(min_size=3).center, labels)


def test_the_center_of_a_ball_is_numbered_by_size(make_posterior):
    posterior = make_posterior(draws=40)
    ball = posterior.credible_ball()
    np.testing.assert_array_equal(ball.center, posterior.point_estimate())
    for draw in ball.horizontal:
        np.testing.assert_array_equal(draw, in_order_of_appearance(draw))


# --- numbers of clusters


def test_clusters_have_one_number_everywhere(tmp_path):
    X = np.repeat([[0.0], [50.0], [100.0]], [5, 30, 15], axis=0) + np.arange(50)[:, None] % 5 / 10
    post = mw.sample(mw.Mixture(), X, draws=30, warmup=30, chains=2, seed=1, progress=False)
    expected = np.repeat([2, 0, 1], [5, 30, 15])
    assert post.labels[0, -1].tolist() == np.repeat([0, 1, 2], [5, 30, 15]).tolist()
    labels = post.point_estimate()
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(post.point_estimate("binder"), expected)
    np.testing.assert_array_equal(post.credible_ball().center, expected)
    np.testing.assert_array_equal(post.predict(X), expected)
    np.testing.assert_array_equal(post.membership().argmax(axis=1), expected)
    table = post.describe()
    assert table["size"].tolist() == [30, 15, 5]
    np.testing.assert_allclose(table["column 0 mean"], [50.2, 100.2, 0.2], atol=5)
    means = post.cluster_parameters()["mean"].mean[:, 0]
    np.testing.assert_allclose(means, [50.2, 100.2, 0.2], atol=5)
    post.save(tmp_path / "run")
    np.testing.assert_array_equal(mw.load(tmp_path / "run").point_estimate(), expected)
