"""The twin of the slice sampler: its jumps and its atoms."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy import integrate, stats

import mixwood as mw
from mixwood.likelihoods import CustomFamily
from mixwood.reference import SliceChain, Stream, family_of
from mixwood.reference.families import NegativeBinomial, dense
from mixwood.reference.slice import jumps_above
from mixwood.testing import seed_of


@pytest.fixture
def stream(request):
    return Stream(np.random.default_rng(seed_of(request.node.name)))


@pytest.mark.parametrize("sigma", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("least", [0.05, 0.9, 1.5])
def test_jumps_have_the_intensity_that_they_should(sigma, least, stream):
    """Poisson counts between the levels of a ladder, by quadrature."""
    rate, repetitions = 2.0, 500
    jumps = [x for _ in range(repetitions) for x in jumps_above(least, rate, sigma, stream)]
    assert min(jumps) > least
    levels = [least, least + 0.2, least + 0.6, least + 2.0, 60.0]
    found, _ = np.histogram(jumps, levels)
    for count, low, high in zip(found, levels[:-1], levels[1:], strict=True):
        mean, _ = integrate.quad(lambda x: x ** (-1 - sigma) * exp(-x), low, high)
        law = stats.poisson(repetitions * rate * mean)
        assert min(law.cdf(count), law.sf(count - 1)) > 1e-6


def test_the_mean_density_of_atoms_is_the_predictive(family_case, stream):
    likelihood, X = family_case(6)
    X = likelihood.check(X)
    family, rows = family_of(likelihood.resolve(X)), dense(X)
    stat = family.of(rows[:5])
    # without the constants of the row, which the densities leave out
    alone = family.observe(family.empty(), rows[5])
    of_parts = alone if type(alone) is tuple else (alone,)  # those of a product
    constant = sum(getattr(part, "log_constant", 0.0) for part in of_parts)
    if isinstance(family, NegativeBinomial):  # whose statistic is the rows
        constant = likelihood.resolve(X).row_constants(X)[5]
    expected = family.log_marginal(family.observe(stat, rows[5])) - family.log_marginal(stat)
    densities = [family.draw_atom(stat, stream)(rows[5]) for _ in range(2000)]
    ratios = np.exp(np.array(densities) + constant - expected)
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    assert abs(ratios.mean() - 1) < 5 * error


def test_the_floor_keeps_the_number_of_jumps_down():
    for prior in (mw.DirichletProcess(1e4), mw.NGGP(2.0, 0.95), mw.NGGP(0.01, 0.3)):
        model = mw.Mixture(mw.Bernoulli(columns=1), prior)
        chain = SliceChain(model, np.zeros((10, 1)), np.zeros(10), np.random.default_rng(0))
        assert len(chain.free_jumps(chain.floor())) < 300


def test_a_family_without_atoms_says_so(stream):
    def accumulate(x, statistic):
        statistic[0] += x[0]

    def log_marginal(n, statistic, parameters):
        return -statistic[0]

    family = family_of(CustomFamily(1, accumulate, log_marginal))
    with pytest.raises(TypeError, match="lacks draw_parameters and log_density"):
        family.draw_atom(family.empty(), stream)
