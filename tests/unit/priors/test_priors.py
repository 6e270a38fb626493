"""What a prior accepts, refuses and says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mixwood as mw
from mixwood import hyper


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: mw.DirichletProcess(alpha=-1), ValueError, "alpha must be positive, got -1"),
        (lambda: mw.DirichletProcess(alpha=0), ValueError, "alpha"),
        (lambda: mw.DirichletProcess(alpha=float("nan")), ValueError, "alpha must be finite"),
        (lambda: mw.DirichletProcess(alpha=float("inf")), ValueError, "alpha must be finite"),
        (lambda: mw.DirichletProcess(alpha="one"), TypeError, "alpha must be a number"),
        (lambda: mw.DirichletProcess(alpha=True), TypeError, "alpha"),
        (lambda: mw.DirichletProcess(alpha=hyper.Beta(1, 1)), TypeError, "hyper.Gamma"),
        (lambda: mw.NGGP(sigma=0), ValueError, "sigma must lie strictly between 0 and 1"),
        (lambda: mw.NGGP(sigma=1), ValueError, "sigma"),
        (lambda: mw.NGGP(sigma=1.5), ValueError, "sigma"),
        (lambda: mw.NGGP(sigma=hyper.Gamma(1, 1)), TypeError, "hyper.Beta"),
        (lambda: mw.NormalizedInverseGaussian(alpha=-2), ValueError, "alpha"),
        (lambda: mw.PitmanYor(theta=0), ValueError, "theta"),
        (lambda: mw.PitmanYor(sigma=-0.1), ValueError, "sigma"),
        (lambda: mw.FiniteMixture(rate=0), ValueError, "rate must be positive, got 0"),
        (lambda: mw.FiniteMixture(rate=hyper.Beta(1, 1)), TypeError, "rate must be .*hyper.Gamma"),
        (lambda: mw.FiniteMixture(rate="many"), TypeError, "rate must be a number"),
        (lambda: mw.FiniteMixture(gamma=-1), ValueError, "gamma must be positive, got -1"),
        (lambda: mw.FiniteMixture(gamma=1e-7), ValueError, "gamma must lie between 1e-06 and 1e"),
        (lambda: mw.FiniteMixture(gamma=1e7), ValueError, "gamma must lie between"),
        (lambda: mw.FiniteMixture(gamma=None), TypeError, "gamma must be a number"),
        (lambda: mw.FiniteMixture(gamma=hyper.Beta(1, 1)), TypeError, "gamma .*hyper.LogNormal"),
        (
            lambda: mw.FiniteMixture(gamma=hyper.LogNormal(1e9, 1)),
            ValueError,
            r"gamma must lie between 1e-06 and 1e\+06, got a hyperprior around 1e\+09",
        ),
        (lambda: hyper.Gamma(0, 1), ValueError, "shape"),
        (lambda: hyper.Gamma(1, -1), ValueError, "rate"),
        (lambda: hyper.Beta(0, 1), ValueError, "a must be positive"),
        (lambda: mw.NGGP().expected_clusters(0), ValueError, "n must be at least 1"),
        (lambda: mw.NGGP().expected_clusters(1.5), TypeError, "n must be a whole number"),
    ],
)
def test_wrong_parameters_are_named(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_defaults_are_those_of_the_contract():
    assert mw.DirichletProcess().alpha == hyper.Gamma(2, 1)
    assert mw.NGGP() == mw.NGGP(hyper.Gamma(2, 1), hyper.Beta(2, 4))
    assert mw.NormalizedInverseGaussian().alpha == hyper.Gamma(2, 1)
    assert mw.PitmanYor() == mw.PitmanYor(hyper.Gamma(2, 1), hyper.Beta(2, 5))
    assert mw.NormalizedInverseGaussian().sigma == 0.5
    assert mw.FiniteMixture() == mw.FiniteMixture(hyper.Gamma(1, 1 / 9), 1.0)


def test_chains_start_at_prior_means():
    assert mw.NGGP().start_values() == {"alpha": 2.0, "sigma": pytest.approx(1 / 3)}
    assert mw.DirichletProcess(0.7).start_values() == {"alpha": 0.7}
    assert mw.PitmanYor(2.0, 0.5).start_values() == {"alpha": 4.0, "sigma": 0.5, "theta": 2.0}


def test_priors_are_values(prior):
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert hash(prior) == hash(pickle.loads(pickle.dumps(prior)))
    with pytest.raises(AttributeError):
        prior.alpha = 3.0


def test_numpy_numbers_are_numbers():
    assert mw.NGGP(np.float32(1), np.float64(0.5)) == mw.NGGP(1, 0.5)
