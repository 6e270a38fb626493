"""Point estimates against all partitions, credible balls and co-clustering against plain loops."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mixwood as mw
import mixwood._support.memory
from mixwood import _core
from mixwood._support.labels import by_size
from mixwood.estimates import _Problem, credible_ball, distinct, point_estimate, similarity
from mixwood.partitions import expected_loss, losses
from mixwood.testing import all_partitions, seed_of

LOSSES = ("vi", "binder")


def noisy_copies(rng, n, draws, clusters, noise):
    """Return draws around one partition: each item is elsewhere with probability `noise`."""
    truth = rng.integers(0, clusters, n)
    moved = rng.random((draws, n)) < noise
    labels = np.where(moved, rng.integers(0, clusters, (draws, n)), truth)
    return truth, labels


# --- point estimates


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_no_partition_is_better(loss, n, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    every = all_partitions(n)
    for case in range(15):
        weights = rng.dirichlet(np.full(len(every), 0.05 if case % 2 else 1.0))
        draws = every[rng.choice(len(every), 30, p=weights)]
        best = min(expected_loss(draws, candidate, loss) for candidate in every)
        found = point_estimate(draws, loss, seed=case)
        assert expected_loss(draws, found, loss) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@given(
    draws=st.integers(2, 9).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1)
    ),
    seed=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_properties(loss, draws, seed):
    draws = np.array(draws)
    labels = point_estimate(draws, loss, seed)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, by_size(labels))
    value = expected_loss(draws, labels, loss)
    assert value <= min(expected_loss(draws, draw, loss) for draw in draws) + 1e-12
    shuffled = np.random.default_rng(seed).permutation(draws)
    again = expected_loss(draws, point_estimate((shuffled + 2) % 4, loss, seed), loss)
    assert again == pytest.approx(value, rel=0.05)  # another local optimum at worst


@pytest.mark.parametrize("loss", LOSSES)
def test_a_clear_case_is_found(loss):
    truth, draws = noisy_copies(np.random.default_rng(1), 300, 60, 6, 0.15)
    found = point_estimate(draws, loss)
    assert losses([truth], found, loss)[0] == 0


def value_of_search(rows, loss, seed, sweeps, rebuild, start=None):
    rows = rows.astype(np.int32)
    sizes = np.ones(rows.shape[1], np.int32)
    search = _core.PartitionSearch(rows, np.full(len(rows), 1 / len(rows)), sizes, loss, 20)
    labels = search.run(np.random.PCG64(seed), start, sweeps, rebuild)
    return expected_loss(rows, labels, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_search_without_visits_is_worse(loss, request):
    """The comparison with the best that is known can tell a broken search."""
    rng = np.random.default_rng(seed_of(request.node.name))
    _, draws = noisy_copies(rng, 300, 60, 6, 0.4)
    best = expected_loss(draws, point_estimate(draws, loss, max_clusters=20), loss)
    broken = min(value_of_search(draws, loss, seed, 0, False) for seed in range(10))
    whole = min(value_of_search(draws, loss, seed, 20, True) for seed in range(10))
    assert whole == pytest.approx(best, abs=1e-4)
    assert broken > best + 4e-4


def test_clusters_taken_apart_get_out_where_single_items_do_not():
    """Two halves that are always apart: from one cluster no single item wants to leave."""
    rows = np.tile(np.arange(40) % 2, (2, 1))
    start = np.zeros(40, np.int32)
    assert value_of_search(rows, "vi", 0, 20, False, start) == 1
    assert value_of_search(rows, "vi", 0, 20, True, start) == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_same_seed_same_answer_whatever_the_threads(loss):
    _, draws = noisy_copies(np.random.default_rng(2), 80, 40, 8, 0.5)
    one, two, three = (point_estimate(draws, loss, 7, n_jobs=k) for k in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_max_clusters_is_kept():
    _, draws = noisy_copies(np.random.default_rng(3), 50, 30, 6, 0.1)
    assert point_estimate(draws).max() + 1 == 6
    for most in (1, 3):
        assert point_estimate(draws, max_clusters=most).max() + 1 <= most


def test_more_clusters_than_any_draw_may_be_best():
    draws = [[0, 0, 1], [0, 1, 1], [0, 1, 0]]
    np.testing.assert_array_equal(point_estimate(draws, "binder"), [0, 1, 2])


def test_equal_draws_are_weighed_once():
    draws = np.array([[0, 0, 1], [0, 1, 2], [0, 0, 1], [0, 0, 1]], np.int32)
    rows, weights = distinct(draws)
    np.testing.assert_array_equal(rows, draws[:2])
    np.testing.assert_array_equal(weights, [0.75, 0.25])


# --- many draws


@pytest.fixture
def in_steps(monkeypatch):
    """Searches begin with 12 draws, continue with 48 and are polished with all."""
    monkeypatch.setattr("mixwood.estimates.FIRST_DRAWS", 12)
    monkeypatch.setattr("mixwood.estimates.FIRST_LABELS", 1)


def moving_bounds(rng, n, draws):
    """Return draws of intervals whose bounds move, and are absent at times: six groups or fewer."""
    x = np.sort(rng.uniform(0, 6, n))
    labels = np.empty((draws, n), int)
    for draw in labels:
        bounds = np.sort(rng.normal([1, 2, 3, 4, 5], 0.3))[rng.random(5) < 0.8]
        draw[:] = np.searchsorted(bounds, x + rng.normal(0, 0.1, n))
    return labels


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [400, 700])  # the latter are polished too
def test_a_search_in_steps_finds_what_one_with_all_draws_does(loss, count, monkeypatch, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    for _ in range(3):
        draws = moving_bounds(rng, 150, count)
        at_once, of_some = (
            expected_loss(draws, point_estimate(some, loss), loss) for some in (draws, draws[::10])
        )
        with monkeypatch.context() as patched:
            patched.setattr("mixwood.estimates.FIRST_LABELS", 1)
            found = expected_loss(draws, point_estimate(draws, loss), loss)
        # Another seed makes as much of a difference.
        assert found == pytest.approx(at_once, rel=5e-3)
        assert of_some > 1.001 * at_once  # or the draws left out would not matter


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("loss", LOSSES)
def test_steps_give_the_same_whatever_the_threads(loss):
    _, draws = noisy_copies(np.random.default_rng(2), 80, 130, 8, 0.5)
    one, two, three = (point_estimate(draws, loss, 7, n_jobs=k) for k in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    assert point_estimate(draws, loss, max_clusters=3).max() < 3


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("loss", LOSSES)
def test_steps_count_rows(loss):
    """Items of several rows, against the rows themselves."""
    rng = np.random.default_rng(8)
    _, draws = noisy_copies(rng, 40, 150, 5, 0.3)
    sizes = rng.integers(1, 6, 40)
    of_items = np.repeat(point_estimate(draws, loss, sizes=sizes), sizes)
    rows = np.repeat(draws, sizes, axis=1)
    expected = expected_loss(rows, point_estimate(rows, loss), loss)
    assert expected_loss(rows, of_items, loss) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [7, 90, 700])
def test_after_polishing_no_item_wants_to_move(loss, n, request):
    """Told by visits to one item after the other, whatever the number of items at once."""
    rng = np.random.default_rng(seed_of(request.node.name))
    _, draws = noisy_copies(rng, n, 70, 6, 0.5)
    rows, sizes = draws.astype(np.int32), rng.integers(1, 4, n).astype(np.int32)
    search = _core.PartitionSearch(rows, np.full(70, 1 / 70), sizes, loss, min(n, 60))
    start = rng.integers(0, min(n, 5), n).astype(np.int32)
    bits = np.random.PCG64(1)
    found = search.polish(bits, start, 20)
    before, after = (expected_loss(rows, one, loss, sizes=sizes) for one in (start, found))
    assert after < before
    np.testing.assert_array_equal(search.run(bits, found, 1, False), found)
    np.testing.assert_array_equal(search.polish(bits, start, 0), start)


def test_some_draws_are_taken_in_proportion():
    draws = np.repeat([[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 0, 0]], [600, 300, 99, 1], axis=0)
    rows, weights = distinct(draws.astype(np.int32))
    problem = _Problem(rows, weights, np.ones(3, np.int32), "vi", 3, None)
    few = problem.with_draws(3)
    np.testing.assert_array_equal(few.rows, rows[:2])
    np.testing.assert_allclose(few.weights, [2 / 3, 1 / 3])
    assert problem.with_draws(4) is problem


def _threads_of_search():
    return [t for t in threading.enumerate() if t.name.startswith("mixwood")]


@pytest.mark.usefixtures("interruptible")
def test_the_search_can_be_interrupted():
    _, draws = noisy_copies(np.random.default_rng(4), 4000, 400, 60, 0.9)
    main = threading.get_ident()

    def interrupt():
        time.sleep(0.3)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        point_estimate(draws, "binder", runs=1000)
    thread.join()
    deadline = time.monotonic() + 10  # a thread that was just starting ends on its own
    while (left := _threads_of_search()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"loss": "l2"}, ValueError, 'loss must be "vi" or "binder"'),
        ({"seed": "x"}, TypeError, "seed must be"),
        ({"max_clusters": 0}, ValueError, "max_clusters must be at least 1"),
        ({"runs": 0}, ValueError, "runs must be at least 1"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
    ],
)
def test_wrong_options_of_the_search(options, error, words):
    with pytest.raises(error, match=words):
        point_estimate([[0, 1], [0, 0]], **options)


def test_the_core_refuses_what_would_break_it():
    rows, weights, sizes = np.zeros((2, 3), np.int32), np.full(2, 0.5), np.ones(3, np.int32)
    for labels, w, most, words in [
        (rows - 1, weights, 3, "labels"),
        (rows + 3, weights, 3, "labels"),
        (rows, weights[:1], 3, "weights"),
        (rows, weights, 4, "max_clusters"),
        (rows[:, :0], weights, 0, "labels"),
    ]:
        with pytest.raises(ValueError, match=words):
            _core.PartitionSearch(
                np.ascontiguousarray(labels), w, sizes[: labels.shape[1]], "vi", most
            )
    for wrong in (sizes[:2], sizes - 1, sizes + (2**30)):
        with pytest.raises(ValueError, match="sizes"):
            _core.PartitionSearch(rows, weights, wrong, "vi", 3)
        with pytest.raises(ValueError, match="sizes"):
            _core.partition_losses(rows, rows[0], wrong, "vi")
    search = _core.PartitionSearch(rows, weights, sizes, "vi", 2)
    with pytest.raises(ValueError, match="labels"):
        search.run(np.random.PCG64(0), np.full(3, 2, np.int32), 1, True)
    with pytest.raises(ValueError, match="start"):
        search.run(np.random.PCG64(0), np.zeros(2, np.int32), 1, True)
    with pytest.raises(ValueError, match="labels"):
        search.polish(np.random.PCG64(0), np.full(3, 2, np.int32), 1)
    with pytest.raises(ValueError, match="start"):
        search.polish(np.random.PCG64(0), np.zeros(2, np.int32), 1)


# --- items that stand for several rows


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("largest", [4, 900_000])
def test_losses_are_those_of_the_rows(loss, largest, request):
    """Also beyond the sizes that the core has tabulated."""
    rng = np.random.default_rng(seed_of(request.node.name))
    for n in (1, 2, 4):
        sizes = rng.integers(largest // 2, largest + 1, n)
        draws = rng.integers(0, 3, (2, n))
        expected = losses(np.repeat(draws, sizes, axis=1), np.repeat(draws[0], sizes), loss)
        found = losses(draws, draws[0], loss, sizes=sizes)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_no_partition_that_keeps_items_whole_is_better(loss, n, request):
    """The estimate over weighted items is that over the rows they stand for."""
    rng = np.random.default_rng(seed_of(request.node.name))
    every = all_partitions(n)
    for case in range(12):
        sizes = rng.integers(1, (4, 40, 400)[case % 3], n)
        draws = every[rng.choice(len(every), 12, p=rng.dirichlet(np.full(len(every), 1.0)))]
        rows = np.repeat(draws, sizes, axis=1)
        values = [expected_loss(rows, np.repeat(c, sizes), loss) for c in every]
        found = point_estimate(draws, loss, seed=case, sizes=sizes)
        value = expected_loss(rows, np.repeat(found, sizes), loss)
        assert value == pytest.approx(min(values), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_larger_item_decides(loss):
    """The middle item is with either neighbour in most draws, with both in few."""
    draws = [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0]]
    np.testing.assert_array_equal(point_estimate(draws, loss, sizes=[5, 2, 1]), [0, 0, 1])
    np.testing.assert_array_equal(point_estimate(draws, loss, sizes=[1, 2, 5]), [1, 0, 0])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_of_the_sizes_does_not_matter(loss):
    """Beyond the table as within it."""
    rng = np.random.default_rng(7)
    _, draws = noisy_copies(rng, 60, 30, 6, 0.4)
    sizes = rng.integers(1, 30, 60)
    one, other = (point_estimate(draws, loss, sizes=sizes * unit) for unit in (1, 2**20))
    np.testing.assert_array_equal(one, other)


def test_the_ball_counts_rows(request):
    rng = np.random.default_rng(seed_of(request.node.name))
    draws = all_partitions(5)[rng.integers(0, 52, 40)]
    sizes = np.array([1, 7, 2, 30, 1])
    ball = credible_ball(draws, draws[0], 0.5, sizes=sizes)
    rows = credible_ball(np.repeat(draws, sizes, axis=1), np.repeat(draws[0], sizes), 0.5)
    assert ball.radius == pytest.approx(rows.radius)
    assert ball.radius != pytest.approx(credible_ball(draws, draws[0], 0.5).radius)
    for edge in ("horizontal", "vertical_upper", "vertical_lower"):
        own, of_rows = ({tuple(p) for p in getattr(b, edge)} for b in (ball, rows))
        assert {tuple(np.repeat(p, sizes)) for p in own} == of_rows


@pytest.mark.parametrize(
    "sizes",
    [[1, 2], [1, 0, 1], [1.0, 1.0, 1.0], "abc", [[1, 1, 1]], [2**30, 2**30, 1], [2**63 + 5] * 3],
)
def test_wrong_sizes(sizes):
    for call in (point_estimate, lambda draws, sizes: losses(draws, draws[0], sizes=sizes)):
        with pytest.raises(ValueError, match="sizes must"):
            call([[0, 0, 1]], sizes=sizes)


# --- of a posterior


def test_a_posterior_of_leaves_counts_rows():
    X = np.random.default_rng(6).normal(size=(300, 2)) + 3 * (np.arange(300) % 3)[:, None]
    leaves = mw.stream_leaves(mw.Mixture(), [X], max_leaves=20, seed=1)
    post = mw.sample(mw.Mixture(), leaves, draws=20, warmup=5, chains=1, seed=1, progress=False)
    labels = post.point_estimate()
    sizes = leaves.sizes
    assert post.expected_loss(labels) == expected_loss(post.labels, labels, sizes=sizes)
    of_rows = expected_loss(post.labels[..., leaves.leaf_of_row], labels[leaves.leaf_of_row])
    assert post.expected_loss(labels) == pytest.approx(of_rows)
    np.testing.assert_array_equal(labels, point_estimate(post.labels, sizes=sizes))
    assert post.credible_ball().radius == credible_ball(post.labels, labels, sizes=sizes).radius


def test_the_posterior_remembers_its_estimate(make_posterior, monkeypatch):
    posterior = make_posterior()
    labels = posterior.point_estimate()
    np.testing.assert_array_equal(labels, point_estimate(posterior.labels))
    labels[:] = -1  # the caller's own copy
    monkeypatch.setattr("mixwood.estimates.point_estimate", None)
    assert posterior.point_estimate().min() == 0
    assert posterior.credible_ball(0.5).center.min() == 0
    with pytest.raises(TypeError):
        posterior.point_estimate("binder")


def test_expected_loss_of_a_posterior(make_posterior):
    posterior = make_posterior()
    labels = posterior.point_estimate("binder")
    expected = expected_loss(posterior.labels, labels, "binder")
    assert posterior.expected_loss(labels, "binder") == expected
    with pytest.raises(ValueError, match="labels must have 12 labels"):
        posterior.expected_loss([0, 1])


# --- credible balls


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("level", [0.3, 0.5, 0.95])
def test_ball_against_plain_loops(loss, level, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    draws = all_partitions(5)[rng.integers(0, 52, 40)]
    center = point_estimate(draws, loss)
    ball = credible_ball(draws, center, level, loss)
    distance = losses(draws, center, loss)
    radii = sorted(r for r in distance if np.mean(distance <= r + 1e-12) >= level)
    assert ball.radius == pytest.approx(radii[0], abs=1e-12)
    inside = {
        tuple(d) for d, far in zip(draws, distance, strict=True) if far <= ball.radius + 1e-12
    }

    def edge(partitions):
        far = {p: losses([p], center, loss)[0] for p in partitions}
        return {p for p in far if far[p] >= max(far.values()) - 1e-12}

    few, many = (f(max(p) for p in inside) for f in (min, max))
    assert {tuple(p) for p in ball.horizontal} == edge(inside)
    assert {tuple(p) for p in ball.vertical_upper} == edge({p for p in inside if max(p) == few})
    assert {tuple(p) for p in ball.vertical_lower} == edge({p for p in inside if max(p) == many})
    assert f"{level:.0%} of the draws within" in repr(ball)
    assert len(repr(ball)) < 120


def test_ball_of_one_partition():
    ball = credible_ball([[0, 0, 1]] * 3, [5, 5, 2])
    assert ball.radius == 0
    np.testing.assert_array_equal(ball.horizontal, [[0, 0, 1]])
    with pytest.raises(ValueError, match="level must lie strictly between"):
        credible_ball([[0, 1]], [0, 1], level=1.0)
    with pytest.raises(ValueError, match="center must have 2 labels"):
        credible_ball([[0, 1]], [0, 1, 2])


# --- co-clustering


def naive_similarity(draws):
    return np.mean([np.equal.outer(d, d) for d in draws.reshape(-1, draws.shape[-1])], axis=0)


@given(n=st.integers(1, 40), count=st.integers(1, 20), k=st.integers(1, 9), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_similarity_equals_plain_comparison(n, count, k, seed):
    draws = np.random.default_rng(seed).integers(0, k, (2, count, n))
    table = similarity(draws)
    np.testing.assert_array_equal(table, table.T)
    assert np.all(np.diag(table) == 1)
    np.testing.assert_allclose(table, naive_similarity(draws), atol=1e-12)
    np.testing.assert_allclose(similarity(draws[::-1]), table, atol=1e-12)


def test_similarity_over_several_blocks_and_threads():
    draws = np.random.default_rng(5).integers(0, 7, (9, 1203))
    expected = naive_similarity(draws)
    for options in ({"n_jobs": 1}, {"n_jobs": 3}):
        np.testing.assert_allclose(similarity(draws, **options), expected, atol=1e-12)
    narrow = similarity(draws, dtype="float32")
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, atol=1e-7)
    rows = np.array([1200, 3, 700, 3])
    np.testing.assert_allclose(similarity(draws, rows=rows), expected[np.ix_(rows, rows)])


def test_similarity_of_more_draws_than_16_bits_count():
    draws = np.zeros((70_000, 3), np.int32)
    draws[:35_000, 2] = 1
    np.testing.assert_array_equal(similarity(draws)[0], [1, 1, 0.5])


def test_similarity_refuses_politely(make_posterior, monkeypatch):
    posterior = make_posterior()
    with pytest.raises(ValueError, match='dtype must be "float64" or "float32"'):
        posterior.similarity(dtype="int8")
    for rows in ([12], [-1], [0.5], [], [[1]]):
        with pytest.raises(ValueError, match="rows must be"):
            posterior.similarity(rows=rows)
    monkeypatch.setattr(mixwood._support.memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"12 items needs .* 0\.0 MiB are available; .*rows="):
        posterior.similarity()
    assert posterior.similarity(rows=[0, 5]).shape == (2, 2)
