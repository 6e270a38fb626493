"""Intervals of cluster parameters hold a random member's true ones as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.posterior.cluster_summary import parameter_estimates

LIKELIHOOD = mw.Gaussian(r=0.15, nu=8, mean=[0.0], scale=[[6.0]])
MODEL = mw.Mixture(LIKELIHOOD, mw.DirichletProcess(alpha=1.0))
DRAWS, ITEMS, ROUNDS = 200, 20, 250


def simulated(rng):
    """Return data from the model, and the true parameters of each item's cluster."""
    labels = MODEL.prior.draw(ITEMS, 1, rng).labels[0]
    empty = np.zeros((labels.max() + 1, LIKELIHOOD.statistic_size))
    parameters = LIKELIHOOD.draw_parameters(empty, rng)
    X = LIKELIHOOD.draw_rows(parameters, labels, rng)
    return X, {name: values[labels] for name, values in parameters.items()}


def as_if_sure(post, estimate):
    """Return a posterior that knows only the point estimate: what would be too narrow."""
    labels = np.tile(estimate, (1, DRAWS, 1))
    values = (post.log_joint, post.log_u)
    return mw.Posterior(labels, *values, {}, post.model, post.resolved, post.X)


@pytest.fixture(scope="module")
def coverage():
    rng = np.random.default_rng(mw.testing.seed_of("coverage of cluster parameters"))
    hits = {"mean": [], "covariance": [], "mean if sure": []}
    for _ in range(ROUNDS):
        X, true = simulated(rng)
        post = mw.sample(
            MODEL, X, sampler="gibbs", draws=DRAWS, warmup=60, thin=3, chains=1, init="one",
            seed=rng, progress=False,
        )  # fmt: skip
        estimate, item = post.point_estimate(), rng.integers(ITEMS)
        for suffix, draws in {"": post, " if sure": as_if_sure(post, estimate)}.items():
            found = parameter_estimates(draws, estimate, level=0.9, seed=rng, n_draws=DRAWS)
            for name, value in found.items():
                low, high = value.lower[estimate[item]], value.upper[estimate[item]]
                inside = np.all((low <= true[name][item]) & (true[name][item] <= high))
                hits.setdefault(name + suffix, []).append(inside)
    return {name: np.mean(values) for name, values in hits.items()}


def test_intervals_cover_as_often_as_they_say(coverage):
    noise = np.sqrt(0.9 * 0.1 / ROUNDS)
    assert coverage["mean"] == pytest.approx(0.9, abs=4 * noise)
    assert coverage["covariance"] == pytest.approx(0.9, abs=4 * noise)


def test_intervals_that_take_the_estimate_for_the_truth_do_not(coverage):
    assert coverage["mean if sure"] < 0.8
