"""The container of the draws."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest

from mixwood import hyper
from mixwood.likelihoods import Gaussian, Multinomial
from mixwood.model import Mixture
from mixwood.posterior.posterior import Posterior
from mixwood.priors import (
    NGGP,
    DirichletProcess,
    FiniteMixture,
    NormalizedInverseGaussian,
    PitmanYor,
)

# prior, its parameters, those of them that are random
PARAMETERS = {
    "DP": (DirichletProcess(), ("alpha",), ("alpha",)),
    "DP fixed": (DirichletProcess(alpha=1.5), ("alpha",), ()),
    "NGGP": (NGGP(), ("alpha", "sigma"), ("alpha", "sigma")),
    "NGGP fixed sigma": (NGGP(sigma=0.3), ("alpha", "sigma"), ("alpha",)),
    "NGGP fixed alpha": (NGGP(alpha=1.1), ("alpha", "sigma"), ("sigma",)),
    "NGGP fixed": (NGGP(alpha=1.1, sigma=0.3), ("alpha", "sigma"), ()),
    "NIG": (NormalizedInverseGaussian(), ("alpha", "sigma"), ("alpha",)),
    "NIG fixed": (NormalizedInverseGaussian(alpha=3), ("alpha", "sigma"), ()),
    "PY": (PitmanYor(), ("alpha", "sigma", "theta"), ("alpha", "sigma", "theta")),
    "PY fixed": (PitmanYor(theta=1.0, sigma=0.2), ("alpha", "sigma", "theta"), ("alpha",)),
    "finite": (FiniteMixture(), ("rate", "gamma"), ("rate",)),
    "finite fixed": (FiniteMixture(rate=3.0, gamma=0.5), ("rate", "gamma"), ()),
    "finite random": (
        FiniteMixture(gamma=hyper.LogNormal(1, 1)),
        ("rate", "gamma"),
        ("rate", "gamma"),
    ),
}


def test_shapes_and_types(make_posterior):
    posterior = make_posterior(chains=3, draws=7, items=11)
    assert (posterior.n_chains, posterior.n_draws, posterior.n_items) == (3, 7, 11)
    assert posterior.labels.shape == (3, 7, 11)
    assert posterior.labels.dtype == np.int8
    for name in ("n_clusters", "log_joint", "log_u", "u", "alpha", "sigma", "log_alpha"):
        assert getattr(posterior, name).shape == (3, 7)
    assert posterior.n_clusters.dtype == np.int64
    expected = [[len(np.unique(draw)) for draw in chain] for chain in posterior.labels]
    np.testing.assert_array_equal(posterior.n_clusters, expected)


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters_are_those_of_the_prior(make_posterior, case):
    prior, has, random = PARAMETERS[case]
    assert prior.random_parameters == random
    posterior = make_posterior(prior=prior)
    assert set(posterior.parameters) == {prior.core_name(name) for name in random}
    for name in ("alpha", "sigma", "theta", "rate", "gamma"):
        assert hasattr(posterior, name) == (name in has)
        if name not in has:
            with pytest.raises(AttributeError, match=rf"no {name}: .*{type(prior).__name__}"):
                getattr(posterior, name)
        elif name not in random:
            assert np.all(getattr(posterior, name) == getattr(prior, name))  # exactly
    if "alpha" in has:
        np.testing.assert_allclose(np.exp(posterior.log_alpha), posterior.alpha)


def test_logarithms_out_of_range_give_finite_numbers(make_posterior):
    posterior = make_posterior(chains=1, draws=3)
    extreme = dataclasses.replace(
        posterior,
        log_u=[[0.0, 1e5, -1e5]],
        parameters={**posterior.parameters, "log_alpha": [[0.0, 800.0, -800.0]]},
    )
    for values in (extreme.u, extreme.alpha):
        assert values[0, 0] == 1
        assert np.all(np.isfinite(values))
        assert np.all(values > 0)
    assert extreme.log_u[0, 1] == 1e5
    assert extreme.log_alpha[0, 2] == -800


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.zeros((2, 10))}, "labels must have axes"),
        ({"labels": np.zeros((2, 0, 12))}, "labels must have axes"),
        ({"log_joint": np.zeros((2, 9))}, "log_joint must have shape"),
        ({"log_u": np.zeros(10)}, "log_u must have shape"),
        ({"parameters": {"log_alpha": np.zeros((2, 10))}}, "sigma missing"),
        ({"X": np.zeros((11, 2))}, "X must have 12 rows"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(make_posterior, change, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(make_posterior(), **change)


def test_draws_cannot_be_changed_by_accident(make_posterior):
    posterior = make_posterior()
    with pytest.raises(ValueError, match="read-only"):
        posterior.labels[0, 0, 0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        posterior.log_u = None


def test_arrays_are_not_copied():
    labels = np.zeros((1, 2, 3), dtype=np.int8)
    posterior = Posterior(
        labels=labels,
        log_joint=np.zeros((1, 2)),
        log_u=np.zeros((1, 2)),
        parameters={},
        model=Mixture(Gaussian(scale="data"), NGGP(1.0, 0.5)),
        resolved=Gaussian(scale="data").resolve_standard(1),
        X=None,
    )
    assert np.shares_memory(posterior.labels, labels)
    assert labels.flags.writeable
    assert posterior.stats == []
    assert posterior.settings == {}


def test_repr_is_short_and_says_what_it_is(make_posterior):
    text = repr(make_posterior(Multinomial(), X=np.eye(12), prior=PitmanYor()))
    assert text.startswith("<mixwood.Posterior: 2 chains x 10 draws of 12 items; ")
    assert "Multinomial, PitmanYor" in text
    one = make_posterior(chains=1, draws=1, items=1)
    assert "1 chain x 1 draw of 1 item; 1 cluster;" in repr(one)


def test_data_that_were_left_out_are_asked_for_by_name(make_posterior):
    posterior = make_posterior()
    assert posterior.data_for("this") is posterior.X
    with pytest.raises(ValueError, match=r"prediction needs the data X.*include_data=False"):
        dataclasses.replace(posterior, X=None).data_for("prediction")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
@pytest.mark.parametrize("sparse", [False, True])
def test_copies(make_posterior, copied, sparse):
    posterior = make_posterior(Multinomial(), X=np.eye(12)) if sparse else make_posterior()
    _ = posterior.n_clusters
    other = copied(posterior)
    assert other.model == posterior.model
    assert other.resolved == posterior.resolved
    assert other.settings == posterior.settings
    np.testing.assert_array_equal(other.labels, posterior.labels)
    np.testing.assert_array_equal(other.n_clusters, posterior.n_clusters)
    np.testing.assert_array_equal(other.alpha, posterior.alpha)
    assert abs(other.X - posterior.X).sum() == 0


def test_hyperpriors_are_not_mistaken_for_numbers():
    prior = NGGP(alpha=hyper.Gamma(1, 1), sigma=hyper.Beta(1, 1))
    assert prior.random_parameters == ("alpha", "sigma")


def test_nothing_heavy_is_imported_with_the_container():
    code = (
        "import sys, mixwood.posterior.posterior, mixwood.input.matrices, mixwood.likelihoods\n"
        "heavy = {'arviz', 'xarray', 'zarr', 'matplotlib', 'pandas', 'sklearn', 'polars'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
