"""The twin's learned base measures: hyperpriors, marginals and updates, worked out another way."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood.likelihoods.learned import SPREAD_SD, LearnedScale, centre_spread
from mixwood.reference import Stream, TreeChain, family_of
from mixwood.reference.base.laws import Law, law_of
from mixwood.reference.families import dense
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters
from mixwood.testing import seed_of
from tests.conftest import FAMILIES


@pytest.fixture
def stream(request):
    return Stream(np.random.default_rng(seed_of(request.node.name)))


# --- laws of single numbers


@pytest.mark.parametrize(
    ("distribution", "density"),
    [
        (mw.hyper.LogNormal(3.0, 1.5), stats.norm(log(3.0), 1.5).logpdf),
        (mw.hyper.Gamma(2.5, 4.0), stats.loggamma(2.5, -log(4.0)).logpdf),
        (mw.hyper.Beta(2.0, 3.0), stats.genlogistic(1.0).logpdf),
    ],
)
def test_laws_are_those_of_the_logarithm(distribution, density):
    x = np.linspace(-2, 2, 9)
    own = np.array([Law(distribution).log_density(y) for y in x])
    if isinstance(distribution, mw.hyper.Beta):
        share = 1 / (1 + np.exp(-x))
        expected = stats.beta(2.0, 3.0).logpdf(share) + np.log(share * (1 - share))
    else:
        expected = density(x)
    np.testing.assert_allclose(own - own[0], expected - expected[0], atol=1e-12)


def test_laws_end_at_their_bounds():
    law = Law(mw.hyper.LogNormal(10, 2), (1.0, 2e4))
    assert law.log_density(-1e-9) == -np.inf
    assert np.isfinite(law.log_density(0.0))
    assert law.log_density(log(2e4) + 1e-9) == -np.inf


def test_a_law_of_the_wrong_kind_is_named():
    with pytest.raises(TypeError, match="has a Gamma or LogNormal, got Beta"):
        law_of(mw.hyper.Beta(1, 1))


# --- random variables


@pytest.mark.parametrize(("shape", "least"), [(3.0, 0.0), (3.0, 0.5), (3.0, 9.0), (1.0, 2.0)])
def test_gamma_above(shape, least, stream):
    draws = np.array([stream.gamma_above(shape, 2.0, least) for _ in range(2000)])
    assert draws.min() >= least
    law = stats.gamma(shape, scale=0.5)
    shares = (law.cdf(draws) - law.cdf(least)) / law.sf(least)
    assert stats.kstest(shares, "uniform").pvalue > 1e-4


def test_wishart_root(stream):
    roots = np.array([stream.wishart_root(3, 7.5) for _ in range(4000)])
    draws = np.einsum("nki,nkj->nij", roots, roots)
    np.testing.assert_allclose(draws.mean(axis=0), 7.5 * np.eye(3), atol=0.3)
    # the determinant is a product of chi-squares with nu, nu - 1, ... degrees
    expected = sum(stats.loggamma((7.5 - j) / 2, log(2.0)).mean() for j in range(3))
    logs = np.linalg.slogdet(draws)[1]
    assert logs.mean() == pytest.approx(expected, abs=5 * logs.std() / 63)


# --- families

LEARNED = [name for name in FAMILIES if name not in ("bernoulli",)]


def clusters_of(name):
    likelihood, X = FAMILIES[name](np.random.default_rng(3), 15)
    likelihood, X = likelihood.fitted_to(X)
    family, rows, labels = family_of(likelihood), dense(X), np.arange(15) % 4
    return likelihood, family, [family.of(rows[labels == c]) for c in range(4)]


@pytest.mark.parametrize("name", LEARNED)
def test_marginals_differ_from_the_family_by_what_the_base_has_no_part_in(name):
    likelihood, family, clusters = clusters_of(name)
    rng = np.random.default_rng(1)
    differences = []
    for _ in range(5):
        family.set_base(likelihood.draw_base(rng))
        here = []
        for part, own in family.learned_parts(clusters):
            assert part.learned is not None
            values = np.array([part.log_marginal(stat) for stat in own])
            here.append(values - part.learned.log_marginals(own, part.base))
        differences.append(here)
    for other in differences[1:]:
        np.testing.assert_allclose(other, differences[0], atol=1e-9)


@pytest.mark.parametrize("name", LEARNED)
def test_the_vector_is_what_the_likelihood_says(name):
    likelihood, family, clusters = clusters_of(name)
    np.testing.assert_array_equal(family.base, likelihood.start_base())
    before = family.base.copy()
    family.update_base(clusters, Stream(np.random.default_rng(2)))
    assert family.base.shape == (likelihood.base_size,)
    assert np.any(family.base != before)


def test_a_fixed_base_stays_and_takes_no_random_numbers():
    likelihood, X = mw.Gaussian(scale="data").fitted_to(np.eye(3))
    family, rng = family_of(likelihood), np.random.default_rng(0)
    before = rng.bit_generator.state
    family.update_base([family.of(X)], Stream(rng))
    assert family.base.size == 0
    assert rng.bit_generator.state == before


def test_hyperprior_of_a_covariance_is_wishart():
    covariance = np.array([[4.0, 1.0], [1.0, 1.0]])
    likelihood = mw.Gaussian(
        nu=mw.hyper.LogNormal(10, 2), mean=[0, 0], scale=LearnedScale(covariance, 1e-9 * covariance)
    )
    learned = family_of(likelihood).learned
    units = np.sqrt(np.diag(covariance))
    spread = covariance / np.outer(units, units)
    law = stats.wishart(4, 0.2 * spread / 4)
    rng = np.random.default_rng(0)
    bases = [likelihood.draw_base(rng) for _ in range(4)]
    own = np.array([learned.log_hyperprior(base) for base in bases])
    expected = [
        law.logpdf(learned.unpacked(base).omega)
        + stats.norm(log(10), 2).logpdf(base[-2])
        + stats.norm(0, SPREAD_SD).logpdf(base[-1])
        for base in bases
    ]
    np.testing.assert_allclose(own - own[0], np.array(expected) - expected[0], atol=1e-9)


@pytest.mark.parametrize(
    "likelihood",
    [
        mw.Gaussian(mean=[0, 0], scale=LearnedScale(np.eye(2), 0.08 * np.eye(2)), nu=7.0),
        mw.DiagonalGaussian().resolve_standard(2),
        mw.SphericalGaussian().resolve_standard(3),
    ],
    ids=["full", "diagonal", "spherical"],
)
def test_without_clusters_the_hyperprior_stays(likelihood, stream):
    rng = np.random.default_rng(0)
    family, updated = family_of(likelihood), []
    for _ in range(300):
        family.set_base(likelihood.draw_base(rng))
        for _ in range(3):
            family.update_base([], stream)
        updated.append(family.base)
    fresh = np.array([likelihood.draw_base(rng) for _ in range(1000)])
    for own, other in zip(np.array(updated).T, fresh.T, strict=True):
        assert stats.ks_2samp(own, other).pvalue > 1e-4


def test_r_is_tied_to_the_width():
    likelihood = mw.Gaussian(nu=8.0).resolve_standard(2)
    family = family_of(likelihood)
    for factor in (1.0, 4.0):
        family.set_base(np.array([0.3, 0.1, 0.5, log(5.0), log(factor)]))
        assert family.r == pytest.approx(factor * (0.3 + 0.5) / 2 / centre_spread(2))
    assert family.nu == pytest.approx(8.0)
    np.testing.assert_allclose(family.scale, 5 * np.array([[0.3, 0.1], [0.1, 0.5]]))


def test_empty_clusters_say_nothing():
    likelihood, family, clusters = clusters_of("gaussian")
    ends = []
    for own in (clusters, [*clusters[:2], family.empty(), *clusters[2:]]):
        family.set_base(likelihood.start_base())
        family.update_base(own, Stream(np.random.default_rng(5)))
        ends.append(family.base)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("name", ["gaussian", "diagonal", "spherical"])
def test_units_do_not_matter(name):
    """X and A X + b for diagonal A: the same random numbers, the same base."""
    likelihood, X = FAMILIES[name](np.random.default_rng(3), 15)
    factor = 100.0 if name == "spherical" else np.logspace(-3, 4, X.shape[1])
    labels, ends = np.arange(15) % 3, []
    for rows in (X, X * factor + 7):
        resolved, data = likelihood.fitted_to(rows)
        family = family_of(resolved)
        stats_ = [family.of(data[labels == c]) for c in range(3)]
        stream = Stream(np.random.default_rng(0))
        for _ in range(5):
            family.update_base(stats_, stream)
        ends.append(family.base)
    np.testing.assert_allclose(*ends, rtol=1e-6)


# --- chains


def test_a_guide_tree_stays_where_it_was_grown():
    """Trees are grown at a reference; the weights of the moves are those of the current base."""
    X = np.random.default_rng(0).normal(size=(8, 2))
    model = mw.Mixture(mw.Gaussian().resolve(X), mw.NGGP())
    reference = family_of(model.likelihood)
    reference.set_base(model.likelihood.draw_base(np.random.default_rng(1)))
    forest = Forest(model, X, Parameters(1.0, 0.0, 0.3, 0.0), family=reference)
    forest.agglomerate(range(8))
    node = forest.joined()
    expected = reference.log_marginal(reference.of(X[list(node.rows)]))
    assert node.log_marginal == pytest.approx(expected, abs=1e-9)
    guide = {
        "leaves": [2, 1, 1],
        "first": [0, 0, 4],
        "size": [8, 4, 4],
        "rows": np.arange(8),
        "log_dissimilarity": [0.3, 0.0, 0.0],
        "log_detachment": [-np.inf] * 3,
    }
    chain = TreeChain(
        model,
        X,
        np.arange(8) // 4,
        np.random.default_rng(2),
        guide=guide,
        subtree_moves=2,
        split_moves=2,
        leaf_moves=2,
    )
    before = chain.base.copy()
    chain.iterate(5)
    assert np.any(chain.base != before)
    assert chain.tree.log_d == guide["log_dissimilarity"]
    assert exp(chain.log_joint()) >= 0
