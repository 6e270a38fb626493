"""What the priors' methods say: as the twin does, and whatever the parameters are called."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np
import pytest

import mixwood as mw
from mixwood import hyper
from mixwood.posterior.draws import Draws
from mixwood.priors import Prior, PriorValues
from mixwood.reference import log_kappa, psi
from mixwood.reference.prediction import log_predictive_weights
from mixwood.reference.priors import Parameters
from mixwood.store.draw_store import draw_axes

LOG_U = [-800.0, -3.0, 0.0, 2.5, 400.0, 4000.0]


@pytest.mark.parametrize("log_u", LOG_U)
def test_the_measure_is_the_twins(prior, log_u):
    p = prior.start(log_u)
    assert p.log_u == log_u
    assert prior.psi(p) == pytest.approx(psi(prior, log_u, p.log_alpha, p.sigma), rel=1e-13)
    for k in (1, 2, 30):
        expected = log_kappa(prior, k, log_u, p.log_alpha, p.sigma)
        assert prior.log_kappa(k, p) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("log_u", [-3.0, 2.5, 400.0])
def test_predictive_weights_are_the_twins(prior, log_u):
    sizes, p = [5, 1, 3], prior.start(log_u)
    arrays = PriorValues(**{name: np.array([value, value]) for name, value in vars(p).items()})
    weights = prior.predictive_weights(arrays, 9, np.array([3, 3]))
    *old, new = log_predictive_weights(prior, sizes, Parameters(**vars(p)))
    np.testing.assert_allclose(weights.log_old(1, np.array(sizes)), old, rtol=1e-11)
    assert weights.log_new[0] == pytest.approx(new, rel=1e-11)
    total = np.logaddexp.reduce([*old, new])
    np.testing.assert_allclose(weights.log_total, total, atol=1e-11)


@pytest.mark.parametrize("clusters", [1, 4, 20])
def test_the_mode_of_u_has_no_slope(prior, clusters):
    """On ``v = log u`` the density is ``u^n e^-psi(u) prod_c kappa(|c|, u)``."""
    n, start = 20, prior.start()
    sizes = [1] * (clusters - 1) + [n - clusters + 1]

    def log_density(v):
        p = PriorValues(v, start.log_alpha, start.sigma, start.theta)
        return n * v - prior.psi(p) + sum(prior.log_kappa(k, p) for k in sizes)

    mode = prior.log_u_mode(start, n, clusters)
    for step in (-0.01, 0.01):
        assert log_density(mode + step) < log_density(mode)


def test_the_core_is_told_hyperpriors_and_starts():
    assert mw.NGGP(alpha=1.5).core_arguments() == {
        "prior": "generalized_gamma",
        "alpha": None,
        "sigma": (2.0, 4.0),
        "theta": None,
        "start": {"alpha": 1.5, "sigma": 2 / 6, "theta": 0.0},
    }
    assert mw.PitmanYor(sigma=0.5).core_arguments() == {
        "prior": "pitman_yor",
        "alpha": None,
        "sigma": None,
        "theta": (2.0, 1.0),
        "start": {"alpha": 4.0, "sigma": 0.5, "theta": 2.0},
    }
    assert mw.DirichletProcess().core_arguments() == {
        "prior": "dirichlet_process",
        "alpha": (2.0, 1.0),
        "sigma": None,
        "theta": None,
        "start": {"alpha": 2.0, "sigma": 0.0, "theta": 0.0},
    }


@dataclass(frozen=True)
class Renamed(Prior):
    """A prior that calls its parameters otherwise, one of which the core carries negated."""

    rate: float | hyper.Gamma = 3.0
    gamma: float | hyper.Gamma = 0.5
    kernel: ClassVar[str] = "renamed"
    parameters: ClassVar[tuple[str, ...]] = ("rate", "gamma")

    def start_values(self):
        return {
            name: value if isinstance(value, float) else value.mean
            for name, value in self.get_params().items()
        }

    def to_core(self, name, value):
        return -value if name == "gamma" else super().to_core(name, value)

    def from_core(self, name, values):
        return -values if name == "gamma" else super().from_core(name, values)

    def _none(self, *arguments):
        raise NotImplementedError

    psi = log_kappa = log_u_mode = predictive_weights = draw = _expected_clusters = _none


def drawn(prior, **parameters):
    return Draws(
        labels=[[[0, 1], [0, 0]]],
        log_joint=np.zeros((1, 2)),
        log_u=np.zeros((1, 2)),
        parameters=parameters,
        model=mw.Mixture(mw.Poisson(), prior),
        resolved=mw.Poisson(shape=1.0, rate=[1.0]),
        X=None,
    )


def test_a_prior_names_its_parameters_itself():
    prior = Renamed(gamma=hyper.Gamma(2, 1))
    assert prior.start(1.0) == PriorValues(1.0, log(3.0), -2.0, 0.0)
    arguments = prior.core_arguments()
    assert arguments["start"] == {"alpha": 3.0, "sigma": -2.0, "theta": 0.0}
    assert (arguments["alpha"], arguments["sigma"]) == (None, (2.0, 1.0))
    assert list(draw_axes(prior, {})) == ["log_joint", "log_u", "gamma"]
    draws = drawn(prior, sigma=[[-0.25, -4.0]])
    np.testing.assert_array_equal(draws.prior_parameter("gamma"), [[0.25, 4.0]])
    np.testing.assert_array_equal(draws.prior_parameter("rate"), [[3.0, 3.0]])
    values = draws.core_values()
    np.testing.assert_array_equal(values.sigma, [[-0.25, -4.0]])
    np.testing.assert_array_equal(values.log_alpha, np.full((1, 2), log(3.0)))
    np.testing.assert_array_equal(values.theta, np.zeros((1, 2)))
    assert draws.gamma.tolist() == [[0.25, 4.0]]
    for name in ("alpha", "log_alpha", "sigma", "theta"):
        with pytest.raises(AttributeError, match=r"Renamed, has only rate, gamma"):
            getattr(draws, name)


def test_fixed_values_of_the_core_are_told_too(prior):
    random = {prior.core_name(name): [[0.3, 0.4]] for name in prior.random_parameters}
    draws = drawn(prior, **random)
    values = draws.core_values()
    start = prior.start()
    for name in ("log_alpha", "sigma", "theta"):
        expected = random.get(name, np.full((1, 2), getattr(start, name)))
        np.testing.assert_array_equal(getattr(values, name), expected)
    if "alpha" in prior.parameters:
        np.testing.assert_array_equal(draws.log_alpha, values.log_alpha)


def test_a_prior_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Prior()
