"""The draws that the twin makes of uniforms, against scipy's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mixwood.reference import Stream
from mixwood.testing import seed_of


@pytest.fixture
def stream(request):
    return Stream(np.random.default_rng(seed_of(request.node.name)))


def p_value_of(draws, distribution):
    return stats.kstest(draws, distribution.cdf).pvalue


def test_uniforms_are_those_of_the_generator():
    stream, rng = Stream(np.random.default_rng(3)), np.random.default_rng(3)
    assert [stream.uniform() for _ in range(3)] == rng.random(3).tolist()
    assert stream.positive_uniform() == 1 - rng.random()


def test_exponential(stream):
    assert p_value_of([stream.exponential() for _ in range(4000)], stats.expon()) > 1e-6


def test_normal(stream):
    assert p_value_of([stream.normal() for _ in range(4000)], stats.norm()) > 1e-6


@pytest.mark.parametrize("shape", [0.02, 0.5, 1.0, 1.7, 40.0])
def test_log_gamma_draw(stream, shape):
    draws = [stream.log_gamma_draw(shape) for _ in range(3000)]
    assert p_value_of(draws, stats.loggamma(shape)) > 1e-6


def test_a_tiny_shape_does_not_underflow(stream):
    draws = np.array([stream.log_gamma_draw(1e-4) for _ in range(200)])
    assert np.all(np.isfinite(draws))
    assert draws.min() < -1000


def test_pick(stream):
    weights = np.array([1.0, 4.0, 0.0, 3.0])
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights) - 1e4
    counts = np.bincount([stream.pick(log_weights) for _ in range(4000)], minlength=4)
    assert counts[2] == 0
    assert stats.chisquare(counts[weights > 0], 4000 * weights[weights > 0] / 8).pvalue > 1e-6


def test_shuffle_front_draws_without_replacement(stream):
    counts = np.zeros((4, 4))
    order = np.arange(4)
    for _ in range(3000):
        stream.shuffle_front(order, 2)
        assert sorted(order) == [0, 1, 2, 3]
        counts[order[0], order[1]] += 1
    assert np.all(np.diag(counts) == 0)
    assert stats.chisquare(counts[~np.eye(4, dtype=bool)]).pvalue > 1e-6


@pytest.mark.parametrize("width", [0.5, 3.0])
def test_slice_on_the_line_keeps_a_density(stream, width):
    target = stats.loggamma(2.5)
    starts = [stream.log_gamma_draw(2.5) for _ in range(3000)]
    ends = np.array([stream.slice_line(target.logpdf, x, width) for x in starts])
    assert p_value_of(ends, target) > 1e-6
    assert np.corrcoef(starts, ends)[0, 1] < 0.9  # and it does move


def test_slice_on_the_unit_interval_keeps_a_density(stream):
    target = stats.beta(2.0, 4.0)
    starts = target.ppf([stream.positive_uniform() for _ in range(3000)])
    ends = np.array([stream.slice_unit(target.logpdf, x) for x in starts])
    assert p_value_of(ends, target) > 1e-6
    assert np.corrcoef(starts, ends)[0, 1] < 0.9
