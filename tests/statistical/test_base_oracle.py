"""Learned base measures in the core: every sampler against the exact posterior."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.likelihoods.learned import LearnedScale
from mixwood.testing import (
    base_update_test,
    goodness_of_fit,
    joint_distribution_test,
    long_chain_test,
)
from tests.statistical.conftest import LEARNED, MANY

SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split_merge": mw.SplitMerge(scans=2),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2, redraw_moves=2),
}


def some_triples():
    """Each family with each sampler, and each prior a few times."""
    found = []
    for f, family in enumerate(LEARNED):
        for s, sampler in enumerate(SAMPLERS):
            prior = list(MANY)[(3 * f + 5 * s) % len(MANY)]
            found.append(pytest.param(family, sampler, prior, id=f"{family}-{sampler}-{prior}"))
    return found


@pytest.mark.parametrize(("family", "sampler", "prior"), some_triples())
def test_every_sampler_is_exact(family, sampler, prior, seed):
    likelihood, X = LEARNED[family]
    model = mw.Mixture(likelihood, MANY[prior])
    result = goodness_of_fit(model, X, SAMPLERS[sampler], replicates=6000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_rounded_values_keep_the_base_above_its_floor(sampler, seed):
    model = mw.Mixture(mw.Gaussian(r=0.1), MANY["nggp-random"])
    X = [[0.0], [0.0], [1.0], [3.0]]
    result = goodness_of_fit(model, X, SAMPLERS[sampler], replicates=6000, iterations=3, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("start", ["one", "singletons"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_long_chain_finds_the_posterior(sampler, start, seed):
    likelihood, X = LEARNED["gaussian"]
    model = mw.Mixture(likelihood, MANY["nggp"])
    result = long_chain_test(model, X, SAMPLERS[sampler], start=start, thin=3, seed=seed)
    assert result.passed(), result


# --- more columns than a grid can have

GAUSSIAN = mw.Gaussian().resolve_standard(2)
HIGH_FLOOR = mw.Gaussian(
    nu=4.0, mean=[0.0, 0.0], scale=LearnedScale(np.eye(2), np.diag([0.15, 0.1]))
)
WIDE = {
    "gaussian": GAUSSIAN,
    "three columns": mw.Gaussian().resolve_standard(3),
    "high floor": HIGH_FLOOR,
    "free r": mw.Gaussian(nu=9.0, r=mw.hyper.Gamma(2, 20)).resolve_standard(2),
    "fixed r": mw.Gaussian(nu=4.0, r=0.1).resolve_standard(2),
    "diagonal": mw.DiagonalGaussian().resolve_standard(2),
    "diagonal, free r": mw.DiagonalGaussian(r=mw.hyper.LogNormal(0.1, 1)).resolve_standard(2),
    "spherical": mw.SphericalGaussian().resolve_standard(2),
    "multinomial": mw.Multinomial().resolve_standard(4),
    "bernoulli": mw.Bernoulli().resolve_standard(3),
    "categorical": mw.Categorical().resolve_standard(3),
    "poisson": mw.Poisson().resolve_standard(2),
    "regression": mw.Regression(2).resolve_standard(3),
    "negative binomial": mw.NegativeBinomial().resolve_standard(2),
    "product": mw.Product({(2, 0): mw.Gaussian(), 1: mw.Bernoulli()}).resolve_standard(3),
}


@pytest.mark.parametrize("likelihood", WIDE)
def test_the_update_alone_leaves_the_joint_law(likelihood, seed):
    result = base_update_test(
        WIDE[likelihood], np.arange(8) // 2, replicates=500, applications=6, seed=seed
    )
    assert result.passed(), result


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_joint_distribution_stays(sampler, seed):
    model = mw.Mixture(GAUSSIAN, mw.NGGP())
    result = joint_distribution_test(
        model, 8, SAMPLERS[sampler], replicates=300, rounds=2, seed=seed
    )
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("likelihood", WIDE)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_joint_distribution_stays_in_the_long_run(sampler, likelihood, fresh_seed):
    model = mw.Mixture(WIDE[likelihood], mw.NGGP())
    result = joint_distribution_test(
        model, 12, SAMPLERS[sampler], replicates=4000, rounds=3, iterations=2, seed=fresh_seed
    )
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("likelihood", WIDE)
def test_the_update_alone_in_the_long_run(likelihood, fresh_seed):
    labels = np.random.default_rng(fresh_seed).integers(0, 5, 20)
    result = base_update_test(WIDE[likelihood], labels, replicates=20_000, seed=fresh_seed)
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.in_turn("sampler")
@pytest.mark.parametrize("family", LEARNED)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("prior", MANY)
def test_every_prior_family_and_sampler(prior, family, sampler, fresh_seed):
    likelihood, X = LEARNED[family]
    model = mw.Mixture(likelihood, MANY[prior])
    result = goodness_of_fit(model, X, SAMPLERS[sampler], iterations=6, seed=fresh_seed)
    assert result.passed(), result


# --- the published sampler is biased: that it runs is all that can be asked


@pytest.mark.parametrize("family", LEARNED)
def test_the_published_sampler_moves_the_base(family, seed):
    likelihood, X = LEARNED[family]
    likelihood, X = likelihood.fitted_to(X)
    model = mw.Mixture(likelihood, mw.NGGP())
    labels = np.zeros(X.shape[0], dtype=np.int32)
    chain = make_chain(model, X, labels, np.random.PCG64(seed), mw.PaperTree(3, 1))
    before = np.array(chain.state()["base"])
    chain.iterate(20)
    chain.check()
    after = chain.state()["base"]
    assert np.all(np.isfinite(after))
    assert np.any(after != before)
