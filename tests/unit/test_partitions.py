"""Losses between partitions: against their textbook forms, and as metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixwood.partitions import (
    adjusted_rand,
    binder,
    expected_loss,
    losses,
    variation_of_information,
)

LOSSES = {"vi": variation_of_information, "binder": binder}


def naive_vi(a, b):
    """Return H(a) + H(b) - 2 I(a, b) from the joint distribution of the labels."""
    n = len(a)
    joint = {}
    for pair in zip(a, b, strict=True):
        joint[pair] = joint.get(pair, 0) + 1 / n

    def entropy(p):
        return -sum(q * np.log2(q) for q in p)

    first = [np.mean(np.asarray(a) == k) for k in set(a)]
    second = [np.mean(np.asarray(b) == k) for k in set(b)]
    mutual = entropy(first) + entropy(second) - entropy(joint.values())
    return entropy(first) + entropy(second) - 2 * mutual


def naive_binder(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.mean((a[:, None] == a) != (b[:, None] == b))


NAIVE = {"vi": naive_vi, "binder": naive_binder}


@st.composite
def partitions(draw, count):
    n = draw(st.integers(1, 12))
    return [draw(st.lists(st.integers(-3, 8), min_size=n, max_size=n)) for _ in range(count)]


@pytest.mark.parametrize("loss", LOSSES)
@given(ab=partitions(2))
@settings(max_examples=100, deadline=None)
def test_as_in_the_textbook(loss, ab):
    assert LOSSES[loss](*ab) == pytest.approx(NAIVE[loss](*ab), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@given(abc=partitions(3), names=st.permutations(range(12)))
@settings(max_examples=100, deadline=None)
def test_a_metric_whatever_the_names(loss, abc, names):
    distance = LOSSES[loss]
    a, b, c = abc
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a) >= 0
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
    renamed = [names[label + 3] for label in a]
    assert distance(renamed, b) == pytest.approx(distance(a, b), abs=1e-12)
    assert distance(renamed, a) == 0
    if naive_binder(a, b) > 0:
        assert distance(a, b) > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_the_ends_of_the_range(loss):
    one, alone = np.zeros(8, int), np.arange(8)
    assert LOSSES[loss](one, alone) == pytest.approx({"vi": 3, "binder": 7 / 8}[loss])


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_loss_is_the_mean_over_draws(loss):
    rng = np.random.default_rng(0)
    draws, candidate = rng.integers(0, 4, (2, 5, 9)), rng.integers(0, 4, 9)
    each = [[NAIVE[loss](d.tolist(), candidate.tolist()) for d in chain] for chain in draws]
    np.testing.assert_allclose(losses(draws, candidate, loss), each, atol=1e-12)
    assert expected_loss(draws, candidate, loss) == pytest.approx(np.mean(each))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: binder([0, 1], [0, 1, 2]), r"b must have 2 labels, one per item, got 3"),
        (lambda: binder([0.5, 1], [0, 1]), "a must be whole numbers"),
        (lambda: binder([0, 1], [[0], [1]]), "b must be whole numbers"),
        (lambda: expected_loss([0, 1], [0, 1]), r"draws must be .* shape \(\.\.\., n\)"),
        (lambda: expected_loss([[0, 1]], [0, 1], "l2"), 'loss must be "vi" or "binder", got'),
        (lambda: expected_loss([[0, 1]], []), "candidate must be whole numbers"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@given(ab=partitions(2))
@settings(max_examples=60, deadline=None)
def test_adjusted_rand_counts_pairs(ab):
    a, b = map(np.asarray, ab)
    pair = ~np.eye(len(a), dtype=bool)
    first, second = np.equal.outer(a, a)[pair], np.equal.outer(b, b)[pair]
    both, rows, columns = (float(x.sum()) for x in (first & second, first, second))
    expected = rows * columns / max(len(first), 1)
    most = (rows + columns) / 2
    value = 1.0 if most == expected else (both - expected) / (most - expected)
    assert adjusted_rand(a, b) == pytest.approx(value, abs=1e-12)
    assert adjusted_rand(a, a) == 1
