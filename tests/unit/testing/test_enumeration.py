"""The enumeration oracle, against closed forms, quadrature by other means and itself."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance
from mixwood.reference import log_eppf
from mixwood.testing import all_partitions, enumerate_posterior, seed_of
from mixwood.testing.enumeration import cluster_sizes
from mixwood.testing.parameters import parameter_law

# beside those of conftest: fixed and random, mild and awkward
AWKWARD = {
    "dp-sharp": mw.DirichletProcess(alpha=mw.hyper.Gamma(300, 2)),
    "dp-vague": mw.DirichletProcess(alpha=mw.hyper.Gamma(0.3, 0.01)),
    "nggp-near-dp": mw.NGGP(alpha=0.001, sigma=0.02),
    "nggp-many": mw.NGGP(alpha=1000.0, sigma=0.9),
    "nggp-fixed-alpha": mw.NGGP(alpha=1.0),
    "nggp-fixed-sigma": mw.NGGP(sigma=0.3),
    "nggp-vague": mw.NGGP(alpha=mw.hyper.Gamma(3, 0.01), sigma=mw.hyper.Beta(1, 1)),
    "nig": mw.NormalizedInverseGaussian(alpha=3.0),
    "py-fixed-theta": mw.PitmanYor(theta=0.01),
    "py-fixed-sigma": mw.PitmanYor(sigma=0.9),
}


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 2), (5, 52), (8, 4140)])
def test_there_are_as_many_partitions_as_bell_says(n, count):
    partitions = all_partitions(n)
    assert partitions.shape == (count, n)
    assert len(np.unique(partitions, axis=0)) == count
    for labels in partitions[:: max(1, count // 50)]:
        np.testing.assert_array_equal(in_order_of_appearance(labels), labels)


@pytest.mark.parametrize("n", [0, 9])
def test_partitions_of_too_many_are_refused(n):
    with pytest.raises(ValueError, match="n must be at"):
        all_partitions(n)


def total_probability(prior, n):
    law = parameter_law(prior, n)
    sizes = [cluster_sizes(labels) for labels in all_partitions(n)]
    of_shape = {shape: exp(law.log_probability(shape)) for shape in sorted(set(sizes), key=len)}
    return sum(of_shape[shape] for shape in sizes)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_all_partitions_sum_to_one(prior, n):
    assert total_probability(prior, n) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", AWKWARD)
def test_all_partitions_sum_to_one_for_awkward_priors(name):
    assert total_probability(AWKWARD[name], 5) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("sizes", [(1,), (3, 2, 1), (8,)])
@pytest.mark.parametrize(
    "prior", [mw.DirichletProcess(alpha=0.7), mw.PitmanYor(theta=0.6, sigma=0.45)]
)
def test_closed_forms(prior, sizes):
    law = parameter_law(prior, sum(sizes))
    assert law.log_probability(sizes) == pytest.approx(log_eppf(prior, sizes), abs=1e-12)


def test_random_alpha_of_the_dirichlet_process():
    sizes = (3, 1)
    value, _ = quad(
        lambda a: exp(log_eppf(mw.DirichletProcess(alpha=a), sizes)) * stats.gamma(2.0).pdf(a),
        1e-12,
        60,
    )
    law = parameter_law(mw.DirichletProcess(), 4)
    assert law.log_probability(sizes) == pytest.approx(log(value), abs=1e-7)


def test_random_sigma_of_pitman_yor():
    sizes = (3, 1, 1)
    value, _ = quad(
        lambda s: (
            exp(log_eppf(mw.PitmanYor(theta=1.5, sigma=s), sizes)) * stats.beta(2.0, 5.0).pdf(s)
        ),
        1e-9,
        1 - 1e-9,
    )
    law = parameter_law(mw.PitmanYor(theta=1.5), 5)
    assert law.log_probability(sizes) == pytest.approx(log(value), abs=1e-7)


def test_random_alpha_and_sigma_of_the_nggp_are_mixtures():
    """The random law is an average of fixed ones, here over a plain grid."""
    sizes, prior = (2, 1), mw.NGGP()
    sigmas = (np.arange(40) + 0.5) / 40
    alphas = stats.gamma(2.0).ppf((np.arange(200) + 0.5) / 200)
    weights = stats.beta(2.0, 4.0).pdf(sigmas) / 40
    total = 0.0
    for sigma, weight in zip(sigmas, weights, strict=True):
        values = [
            exp(
                parameter_law(mw.NGGP(alpha=float(a), sigma=float(sigma)), 3).log_probability(sizes)
            )
            for a in alphas[::10]
        ]
        total += weight * np.mean(values)
    assert exp(parameter_law(prior, 3).log_probability(sizes)) == pytest.approx(total, rel=0.02)


def test_predictive_of_the_nggp_with_u_integrated():
    """The example of model.md: NGGP(1, 0.5), n = 5, K = 1 gives P(new) = 0.254."""
    prior = mw.NGGP(alpha=1.0, sigma=0.5)
    new = parameter_law(prior, 6).log_probability((5, 1))
    assert exp(new - parameter_law(prior, 5).log_probability((5,))) == pytest.approx(
        0.254, abs=5e-4
    )


def test_posterior_by_hand():
    """Two coins: P(together) is (1/2)(1/6) against P(apart) (1/2)(1/4)."""
    model = mw.Mixture(mw.Bernoulli(a=1, b=1), mw.DirichletProcess(alpha=1.0))
    exact = enumerate_posterior(model, [[0], [1]])
    np.testing.assert_allclose(exact.probabilities, [0.4, 0.6])
    assert exact.log_evidence == pytest.approx(log(1 / 12 + 1 / 8))
    assert exact.model.likelihood.columns == 1


@pytest.mark.parametrize(
    ("likelihood", "X"),
    [
        (mw.Gaussian(scale="data"), [[0.1, 0.4], [-0.3, 1.9], [2.1, 0.2], [1.7, -0.8]]),
        (mw.Gaussian(), [[0.1], [-0.3], [2.1], [1.7]]),
        (mw.Poisson(), [[0, 3], [4, 1], [1, 2], [6, 0]]),
    ],
)
def test_posterior_sums_to_one(likelihood, X, prior):
    exact = enumerate_posterior(mw.Mixture(likelihood, prior), X)
    assert exact.probabilities.sum() == pytest.approx(1.0)
    assert exact.partitions.shape == (15, 4)


def test_evidence_is_a_chain_of_predictives():
    """p(X) of exchangeable rows does not depend on their order."""
    X = np.array([[0.3], [-1.2], [2.0], [0.4]])
    likelihood = mw.Gaussian(mean=[0.0], scale=[[1.0]])
    model = mw.Mixture(likelihood, mw.NGGP())
    value = enumerate_posterior(model, X).log_evidence
    assert enumerate_posterior(model, X[::-1]).log_evidence == pytest.approx(value, abs=1e-10)


def test_more_than_eight_rows_are_refused():
    with pytest.raises(ValueError, match="at most 8"):
        enumerate_posterior(mw.Mixture(mw.Bernoulli()), np.zeros((9, 1)))


def test_a_family_without_a_twin_is_enumerated_by_its_compiled_form():
    class Own(mw.Poisson):
        pass

    X = [[0, 2], [1, 3], [9, 9], [8, 7]]
    prior = mw.DirichletProcess()
    known = enumerate_posterior(mw.Mixture(mw.Poisson(shape=1.0), prior), X)
    own = enumerate_posterior(mw.Mixture(Own(shape=1.0), prior), X)
    np.testing.assert_allclose(own.probabilities, known.probabilities, rtol=1e-9)
    assert own.log_evidence == pytest.approx(known.log_evidence, abs=1e-9)


def test_partitions_are_found_whatever_their_names():
    exact = enumerate_posterior(mw.Mixture(mw.Bernoulli()), [[0], [1], [1]])
    index = exact.index_of([[2, 2, 0], [1, 0, 1], [0, 1, 2]])
    np.testing.assert_array_equal(exact.partitions[index], [[0, 0, 1], [0, 1, 0], [0, 1, 2]])


@pytest.mark.parametrize("n", [1, 6])
def test_draws_have_the_law_they_claim(prior, n, request):
    """Partitions by chi-square, parameters by their transforms; both from one set of draws."""
    X = np.array([-2.2, 1.3, 1.2, -2.3, -1.1, 2.8])[:n, None]
    likelihood = mw.Gaussian(nu=4, mean=[0.0], scale=[[2.0]])
    exact = enumerate_posterior(mw.Mixture(likelihood, prior), X)
    draws = exact.draw(20_000, np.random.default_rng(seed_of(request.node.name)))
    counts = np.bincount(exact.index_of(draws["labels"]), minlength=len(exact.partitions))
    common = exact.probabilities > 25 / 20_000
    observed = np.append(counts[common], counts[~common].sum())
    expected = 20_000 * np.append(exact.probabilities[common], exact.probabilities[~common].sum())
    if n > 1:
        assert stats.chisquare(observed, expected).pvalue > 1e-6
    transforms = exact.parameter_cdf(draws)
    for name, values in transforms.items():
        assert stats.kstest(values, "uniform").pvalue > 1e-6, name
    random = {prior.core_name(name).removeprefix("log_") for name in prior.random_parameters}
    assert set(transforms) == random | {"log_u"}


def test_transform_of_u_is_the_beta_law_of_the_dirichlet_process():
    law = parameter_law(mw.DirichletProcess(alpha=1.3), 4)
    log_u = np.linspace(-6, 30, 200)
    zeros = np.zeros(200)
    state = {"log_u": log_u, "log_alpha": zeros + log(1.3), "sigma": zeros, "theta": zeros}
    ratio = 1 / (1 + np.exp(-log_u))
    expected = stats.beta(4, 1.3).cdf(ratio)
    np.testing.assert_allclose(law.transforms((3, 1), state)["log_u"], expected, atol=1e-7)


def test_a_restricted_posterior_is_the_conditional_one():
    fixed = mw.Bernoulli(a=1, b=1)
    exact = enumerate_posterior(mw.Mixture(fixed), [[0], [1], [1], [0]])
    whole = exact.restricted([[0, 2], [3]])
    together = exact.partitions[:, 0] == exact.partitions[:, 2]
    np.testing.assert_array_equal(whole.partitions, exact.partitions[together])
    mass = exact.probabilities[together].sum()
    np.testing.assert_allclose(whole.probabilities, exact.probabilities[together] / mass)
    assert whole.log_evidence == pytest.approx(exact.log_evidence + np.log(mass))
    draws = whole.draw(50, np.random.default_rng(0))
    assert np.all(draws["labels"][:, 0] == draws["labels"][:, 2])
    assert set(whole.parameter_cdf(draws)) == {"log_u", "alpha", "sigma"}


def test_a_partition_without_a_probability_is_refused():
    exact = enumerate_posterior(mw.Mixture(mw.Bernoulli()), [[0], [1], [1]]).restricted([[0, 1]])
    with pytest.raises(ValueError, match=r"labels must be partitions .* got \[0, 1, 0\]"):
        exact.index_of([[0, 0, 1], [0, 1, 0]])
