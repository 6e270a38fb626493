"""The predictive density against ratios of enumerated evidences, ``p(X, x) / p(X)``."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest
from scipy.special import logsumexp

import mixwood as mw
from mixwood.input.matrices import stacked
from mixwood.posterior.predictive_mixture import draw_weights
from mixwood.reference import family_of, log_eppf, log_kappa, psi
from mixwood.reference.families import dense
from mixwood.reference.prediction import log_predictive_terms
from mixwood.reference.priors import Parameters
from mixwood.testing import all_partitions, enumerate_posterior, seed_of
from mixwood.testing.enumeration import cluster_sizes
from tests.conftest import PRIORS
from tests.statistical.conftest import LEARNED

# Those whose parameters are all fixed: the grid is over u alone.
FIXED = {name: PRIORS[name] for name in ("dp", "nggp", "py", "finite")}
FIXED["nig"] = mw.NormalizedInverseGaussian(alpha=1.5)


def resolved_model(likelihood, prior, X):
    X = likelihood.check(X)
    return mw.Mixture(likelihood.resolve(X), prior), X


def posterior_of(model, X, state):
    """Return a posterior of one chain whose draws are these states."""
    shape = (1, len(state["labels"]))
    return mw.Posterior(
        labels=np.reshape(state["labels"], (*shape, -1)),
        log_joint=np.zeros(shape),
        log_u=np.reshape(state["log_u"], shape),
        parameters={k: np.reshape(state[k], shape) for k in ("log_alpha", "sigma", "theta")},
        model=model,
        resolved=model.likelihood,
        X=X,
        bases=np.reshape(state["base"], (*shape, -1)) if "base" in state else None,
    )


def states_with_weights(model, X):
    """Return states on a grid of (Pi, u), and their log posterior masses; fixed parameters.

    Where u is integrated out of the predictive weights, one state a partition is enough.
    """
    prior, n = model.prior, X.shape[0]
    start = prior.start()
    log_alpha, sigma = start.log_alpha, start.sigma
    integrated = isinstance(prior, (mw.DirichletProcess, mw.PitmanYor))
    grid = [0.0] if integrated else np.arange(-50.0, 45.0, 0.25)
    family = model.likelihood.bind(X)
    labels, log_u, masses = [], [], []
    for partition in all_partitions(n):
        sizes = cluster_sizes(partition)
        data = sum(
            family.log_marginal(np.flatnonzero(partition == c)) for c in range(partition.max() + 1)
        )
        for v in grid:
            if integrated:
                law = log_eppf(prior, sizes)
            else:
                law = n * v - psi(prior, v, log_alpha, sigma) - lgamma(n)
                law += sum(log_kappa(prior, k, v, log_alpha, sigma) for k in sizes)
            labels.append(partition)
            log_u.append(v)
            masses.append(law + data)
    count = len(labels)
    state = {
        "labels": np.array(labels),
        "log_u": np.array(log_u),
        "log_alpha": np.full(count, log_alpha),
        "sigma": np.full(count, sigma),
        "theta": np.full(count, start.theta),
    }
    return state, np.array(masses) - logsumexp(masses)


def exact_log_density(model, X, rows):
    before = enumerate_posterior(model, X).log_evidence
    both = [stacked([X, rows[i : i + 1]]) for i in range(rows.shape[0])]
    return np.array([enumerate_posterior(model, Y).log_evidence - before for Y in both])


def split(X):
    """Return four rows to learn from, and all five to predict."""
    return X[:4], X


@pytest.mark.parametrize("prior", FIXED)
def test_log_density_is_a_ratio_of_evidences(small_case, prior):
    model, X = resolved_model(small_case[0], FIXED[prior], small_case[1])
    train, new = split(X)
    state, masses = states_with_weights(model, train)
    posterior = posterior_of(model, train, state)
    weights = draw_weights(posterior)
    # the weights have mean 1 under the posterior: so each part can be undone from the joint one
    assert logsumexp(masses + weights.log_total) == pytest.approx(0, abs=1e-9)
    parts = posterior.log_density(new, per_draw=True)[0] + weights.log_normalizer
    expected = exact_log_density(model, train, new)
    np.testing.assert_allclose(logsumexp(masses[:, None] + parts, axis=0), expected, atol=1e-8)


@pytest.mark.parametrize("prior", ["nggp", "nig", "finite"])
def test_normalizing_in_each_draw_would_be_noticed(cases, prior):
    model, X = resolved_model(cases["gaussian"][0], FIXED[prior], cases["gaussian"][1])
    train, new = split(X)
    state, masses = states_with_weights(model, train)
    posterior = posterior_of(model, train, state)
    weights = draw_weights(posterior)
    parts = posterior.log_density(new, per_draw=True)[0] + weights.log_normalizer
    biased = logsumexp(masses[:, None] + parts - weights.log_total[:, None], axis=0)
    assert np.abs(biased - exact_log_density(model, train, new)).max() > 1e-3


def test_log_density_of_draws_is_near_the_truth(some_pair, request):
    """With every prior's random parameters: draws of the exact posterior, within their noise."""
    model, X = resolved_model(some_pair[0].likelihood, some_pair[0].prior, some_pair[1])
    train, new = split(X)
    rng = np.random.default_rng(seed_of(request.node.name))
    exact = enumerate_posterior(model, train)
    posterior = posterior_of(model, train, exact.draw(20_000, rng))
    estimate = posterior.log_density(new)
    expected = exact_log_density(model, train, new)
    parts = np.exp(posterior.log_density(new, per_draw=True)[0] - estimate)
    weights = draw_weights(posterior)
    totals = np.exp(weights.log_total - weights.log_normalizer)
    noise = (parts - totals[:, None]).std(axis=0) / np.sqrt(len(parts))
    assert np.all(np.abs(estimate - expected) < 4.5 * noise + 1e-9)
    np.testing.assert_allclose(parts.mean(axis=0), 1, rtol=1e-10)


@pytest.mark.parametrize("case", LEARNED)
def test_each_draw_predicts_with_its_own_base(case, request):
    """Draws of the exact posterior, base measures among them, against ratios of evidences."""
    model, X = resolved_model(LEARNED[case][0], FIXED["dp"], LEARNED[case][1])
    train, new = X[:3], X[2:4]
    rng = np.random.default_rng(seed_of(request.node.name))
    exact = enumerate_posterior(model, train)
    posterior = posterior_of(model, train, exact.draw(1000, rng))
    parts = np.exp(posterior.log_density(new, per_draw=True)[0])
    noise = parts.std(axis=0) / np.sqrt(len(parts))
    expected = np.exp(exact_log_density(model, train, new))
    assert np.all(np.abs(parts.mean(axis=0) - expected) < 4.5 * noise + 1e-9)


def test_compiled_parts_are_those_of_the_twin(small_case, small_prior, request):
    model, X = resolved_model(small_case[0], small_prior, small_case[1])
    train, new = split(X)
    rng = np.random.default_rng(seed_of(request.node.name))
    state = enumerate_posterior(model, train).draw(5, rng)
    posterior = posterior_of(model, train, state)
    parts = posterior.log_density(new, per_draw=True)[0]
    parts += draw_weights(posterior).log_normalizer
    family, rows, table = family_of(model.likelihood), dense(new), dense(train)
    for s in range(5):
        labels = state["labels"][s]
        clusters = [table[labels == c] for c in range(labels.max() + 1)]
        at = Parameters(*(float(state[k][s]) for k in ("log_u", "log_alpha", "sigma", "theta")))
        expected = [log_predictive_terms(model.prior, family, clusters, row, at) for row in rows]
        np.testing.assert_allclose(parts[s], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prior", ["nggp", "py", "finite"])
def test_it_integrates_to_one(prior, seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(-2, 0.5, 20), rng.normal(3, 1, 15)])[:, None]
    model = mw.Mixture(mw.Gaussian(), FIXED[prior])
    post = mw.sample(model, X, draws=30, warmup=30, chains=2, seed=1, progress=False)
    # heavy tails: on x = sinh(t) the density falls like exp(-nu |t|)
    t = np.arange(-12, 12, 0.02)
    density = np.exp(post.log_density(np.sinh(t)[:, None])) * np.cosh(t)
    assert density.sum() * 0.02 == pytest.approx(1, abs=1e-6)


def test_it_integrates_to_one_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(0, 1, (15, 2)), rng.normal(4, 1, (15, 2))])
    post = mw.sample(mw.Mixture(), X, draws=10, warmup=30, chains=1, seed=1, progress=False)
    t = np.arange(-6, 6, 0.05)
    plane = np.stack(np.meshgrid(np.sinh(t), np.sinh(t)), axis=-1).reshape(-1, 2)
    jacobian = np.outer(np.cosh(t), np.cosh(t)).ravel()
    total = (np.exp(post.log_density(plane)) * jacobian).sum() * 0.05**2
    assert total == pytest.approx(1, abs=1e-4)


def test_counts_sum_to_one(cases):
    model, X = resolved_model(mw.Multinomial(beta=0.5), FIXED["nggp"], cases["multinomial"][1])
    post = mw.sample(model, X, draws=20, warmup=10, chains=1, seed=1, progress=False)
    rows = [[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)]
    assert np.exp(post.log_density(rows)).sum() == pytest.approx(1, abs=1e-10)
