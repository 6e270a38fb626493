"""Joint-distribution tests: sampler and data in turn leave the prior as it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import mixwood as mw
from mixwood.reference import GibbsChain, priors
from mixwood.testing import joint_distribution_test
from tests.conftest import PRIORS

# Other fixed values than where partitions are enumerated: so each prior is tested at two.
EVERY_PRIOR = PRIORS | {
    "dp": mw.DirichletProcess(alpha=1.5),
    "nggp": mw.NGGP(alpha=1.0, sigma=0.4),
    "nggp-fixed-sigma": mw.NGGP(sigma=0.4),
    "py": mw.PitmanYor(theta=1.0, sigma=0.4),
    "finite": mw.FiniteMixture(rate=4.0, gamma=2.0),
    "finite-fixed-rate": mw.FiniteMixture(rate=3.0, gamma=mw.hyper.LogNormal(1.0, 0.7)),
}

FAMILIES = {
    "gaussian": mw.Gaussian().resolve_standard(2),
    "diagonal": mw.DiagonalGaussian().resolve_standard(2),
    "spherical": mw.SphericalGaussian().resolve_standard(2),
    "multinomial": mw.Multinomial(beta=0.5).resolve_standard(4),
    "bernoulli": mw.Bernoulli().resolve_standard(4),
    "categorical": mw.Categorical().resolve_standard(3),
    "poisson": mw.Poisson().resolve_standard(2),
    "regression": mw.Regression(2).resolve_standard(3),
    "negative binomial": mw.NegativeBinomial().resolve_standard(2),
    "product": mw.Product({(2, 0): mw.Gaussian(), 1: mw.Bernoulli()}).resolve_standard(3),
}


def some(names, fast):
    """Return the names as parameters: those in `fast` for every day, the others for long runs."""
    return [n if n in fast else pytest.param(n, marks=pytest.mark.long) for n in names]


# Every update of a parameter is in one of the fast ones.
EACH_PRIOR = some(
    EVERY_PRIOR, ("dp-random", "nggp-random", "nig-random", "py-random", "finite-random")
)
EACH_FAMILY = some(FAMILIES, ("gaussian", "multinomial"))


@pytest.mark.parametrize("prior", EACH_PRIOR)
def test_every_prior(prior, seed):
    model = mw.Mixture(mw.Gaussian(scale="data").resolve_standard(1), EVERY_PRIOR[prior])
    result = joint_distribution_test(model, 10, "gibbs", replicates=1200, rounds=4, seed=seed)
    assert result.passed(), result


@pytest.mark.parametrize("family", EACH_FAMILY)
def test_every_family(family, seed):
    model = mw.Mixture(FAMILIES[family], mw.NGGP())
    result = joint_distribution_test(model, 10, "gibbs", replicates=800, rounds=4, seed=seed)
    assert result.passed(), result


def test_more_items_than_enumeration_reaches(seed):
    model = mw.Mixture(mw.Poisson().resolve_standard(3), mw.PitmanYor())
    result = joint_distribution_test(model, 80, "gibbs", replicates=600, rounds=3, seed=seed)
    assert result.passed(), result


# Every kind of move, and new guide trees within each round.
TREE = mw.Tree(3, 3, 3, rebuild=1)


@pytest.mark.parametrize("prior", ["dp-random", "nggp-random", "py-random", "finite-random"])
def test_tree_leaves_the_hyperparameters_right(prior, seed):
    model = mw.Mixture(mw.Gaussian().resolve_standard(1), EVERY_PRIOR[prior])
    result = joint_distribution_test(
        model, 10, TREE, replicates=500, rounds=2, iterations=2, seed=seed
    )
    assert result.passed(), result


def test_tree_with_more_items_than_enumeration_reaches(seed):
    model = mw.Mixture(mw.Bernoulli().resolve_standard(4), mw.NGGP())
    sampler = mw.Tree(20, 20, 20, rebuild=1)
    result = joint_distribution_test(
        model, 60, sampler, replicates=400, rounds=2, iterations=2, seed=seed
    )
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prior", EVERY_PRIOR)
def test_tree_with_every_prior_and_family(prior, family):
    model = mw.Mixture(FAMILIES[family], EVERY_PRIOR[prior])
    seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    print(f"seed {seed}")
    result = joint_distribution_test(
        model, 15, mw.Tree(5, 5, 5, rebuild=1), replicates=2000, rounds=4, iterations=2, seed=seed
    )
    assert result.passed(), result


def test_a_wrong_hyperparameter_update_fails(seed, monkeypatch):
    """alpha ~ Gamma(a, ...) in place of Gamma(a + K, ...)."""
    model = mw.Mixture(mw.Bernoulli(a=1, b=1, columns=1), mw.DirichletProcess())
    twin = type(priors.twin_of(model.prior))
    right = twin.draw_log_alpha

    def wrong(self, law, parameters, clusters, stream):
        return right(self, law, parameters, 0, stream)

    monkeypatch.setattr(twin, "draw_log_alpha", wrong)

    def step(model, X, state, rng):
        chain = GibbsChain(model, X, state["labels"], rng)
        names = ("log_u", "log_alpha", "sigma", "theta")
        chain.set_state(state["labels"], *(state[name] for name in names))
        chain.iterate()
        return {name: getattr(chain, name) for name in ("labels", *names)}

    result = joint_distribution_test(model, 6, replicates=400, rounds=3, seed=seed, step=step)
    assert not result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("sampler", [mw.Gibbs(), TREE], ids=lambda sampler: sampler.name)
@pytest.mark.parametrize("prior", EVERY_PRIOR)
def test_p_values_are_not_too_small_over_fresh_seeds(prior, sampler):
    """One-sided: discrete test functions have ties, which make p-values too large."""
    model = mw.Mixture(mw.Gaussian().resolve_standard(1), EVERY_PRIOR[prior])
    seeds = np.random.SeedSequence().generate_state(50, np.uint64).tolist()
    print(f"\n{prior}: seeds {seeds}")
    results = [
        joint_distribution_test(model, 10, sampler, replicates=300, rounds=4, seed=seed)
        for seed in seeds
    ]
    for name in results[0].p_values:
        values = [result.p_values[name] for result in results]
        excess = stats.kstest(values, "uniform", alternative="greater").pvalue
        print(f"{prior}, {name}: smallest {min(values):.2g}, too small {excess:.2g}")
        assert excess > 1e-5, name
