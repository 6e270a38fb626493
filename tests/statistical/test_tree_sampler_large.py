"""Where nothing can be enumerated: the tree-guided sampler and Gibbs must agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import mixwood as mw

BATCHES = 16


def overlapping(rng, n=300):
    """Return clusters in the plane whose borders are in doubt, and which row is of which."""
    truth = rng.integers(0, 5, n)
    centres = np.array([[0, 0], [3, 0], [1.5, 2.6], [4.5, 2.6], [0, 4.5]])
    return centres[truth] + rng.normal(size=(n, 2)), truth


def draws_of(model, X, truth, sampler, draws, seed):
    """Return functions of the draws, (chains, draws, functions): K, joint, who is with whom."""
    post = mw.sample(
        model, X, sampler, draws=draws, warmup=draws // 8, chains=4, init=truth,
        seed=seed, progress=False,
    )  # fmt: skip
    pairs = np.random.default_rng(0).integers(0, len(X), (2, 60))
    together = post.labels[:, :, pairs[0]] == post.labels[:, :, pairs[1]]
    return np.concatenate([np.stack([post.n_clusters, post.log_joint], axis=2), together], axis=2)


def smallest_p_value(a, b):
    """Return the smallest p-value of a t-test on batch means, times the number of functions."""
    means, errors = [], []
    for draws in (a, b):
        chains, length, functions = draws.shape
        batches = draws.reshape(chains * BATCHES, length // BATCHES, functions).mean(axis=1)
        means.append(batches.mean(axis=0))
        errors.append(batches.var(axis=0, ddof=1) / len(batches))
    difference, error = np.abs(means[0] - means[1]), np.sqrt(errors[0] + errors[1])
    t = np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
    p_values = 2 * stats.t.sf(t, 4 * BATCHES - 1)
    print(f"t of K {t[0]:.2f}, joint {t[1]:.2f}, pairs at most {t[2:].max():.2f}")
    print(f"K {means[0][0]:.3f} and {means[1][0]:.3f}")
    return p_values.min() * len(p_values)


def compare(draws, seed):
    X, truth = overlapping(np.random.default_rng(seed))
    likelihood = mw.Gaussian(r=0.1, nu=8, mean=[2.0, 2.0], scale=[[5.0, 0.0], [0.0, 5.0]])
    model = mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3))
    tree = draws_of(model, X, truth, mw.Tree(20, 20, 300, rebuild=50), draws, seed)
    gibbs = draws_of(model, X, truth, "gibbs", draws, seed + 1)
    return (model, X, truth), tree, gibbs


def test_tree_agrees_with_gibbs(seed):
    (model, X, truth), tree, gibbs = compare(2400, seed)
    assert smallest_p_value(tree, gibbs) > 1e-6
    # It can fail: the same under a larger mass.
    other = mw.Mixture(model.likelihood, mw.NGGP(alpha=4.0, sigma=0.3))
    assert smallest_p_value(draws_of(other, X, truth, "gibbs", 2400, seed), tree) < 1e-6


@pytest.mark.long
def test_tree_agrees_with_gibbs_in_the_long_run():
    seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    print(f"seed {seed}")
    _, tree, gibbs = compare(40_000, seed)
    assert smallest_p_value(tree, gibbs) > 1e-4
