"""The table of scalar quantities."""

from __future__ import annotations

import dataclasses
import logging
import warnings

import numpy as np
import pytest

from mixwood import hyper
from mixwood.priors import (
    NGGP,
    DirichletProcess,
    FiniteMixture,
    NormalizedInverseGaussian,
    PitmanYor,
)

COLUMNS = ["mean", "sd", "q5", "q95", "ess_bulk", "ess_tail", "r_hat"]


@pytest.mark.parametrize(
    ("prior", "random"),
    [
        (DirichletProcess(), ["alpha"]),
        (DirichletProcess(alpha=1.0), []),
        (NGGP(), ["alpha", "sigma"]),
        (NGGP(sigma=0.5), ["alpha"]),
        (NormalizedInverseGaussian(), ["alpha"]),
        (PitmanYor(), ["alpha", "sigma", "theta"]),
        (PitmanYor(theta=1.0, sigma=0.5), ["alpha"]),
        (FiniteMixture(), ["rate"]),
        (FiniteMixture(rate=3.0), []),
        (FiniteMixture(gamma=hyper.Gamma(2, 1)), ["rate", "gamma"]),
    ],
)
def test_rows_and_columns(make_posterior, prior, random):
    table = make_posterior(prior=prior, draws=20).summary()
    assert list(table.columns) == COLUMNS
    assert list(table.index) == ["n_clusters", "log_joint", "log_u", *random, "width", "nu"]


def test_numbers(make_posterior):
    posterior = make_posterior(draws=200, clusters=5)
    table = posterior.summary()
    for name in table.index:
        draws = posterior.base[name] if name == "nu" else getattr(posterior, name)
        expected = [draws.mean(), draws.std(ddof=1), *np.quantile(draws, [0.05, 0.95])]
        np.testing.assert_allclose(table.loc[name, COLUMNS[:4]].astype(float), expected)
    # Independent draws: as many effective ones, more or less, and R-hat near 1.
    diagnostics = table.loc[["log_joint", "log_u"], ["ess_bulk", "ess_tail", "r_hat"]]
    assert ((diagnostics.iloc[:, :2] > 200) & (diagnostics.iloc[:, :2] < 800)).all(axis=None)
    assert (diagnostics["r_hat"] < 1.05).all()
    assert table.dtypes.map(str).eq("float64").all()


def test_diagnostics_do_not_depend_on_the_generation_of_arviz(make_posterior):
    """What ArviZ 0.23.4 and 1.3.0 both gave for a fixed sequence, to all digits."""
    draws = np.sin(np.arange(100.0) ** 1.5).reshape(2, 50)
    table = dataclasses.replace(make_posterior(draws=50), log_u=draws).summary()
    values = table.loc["log_u", ["ess_bulk", "ess_tail", "r_hat"]].astype(float)
    np.testing.assert_allclose(
        values, [38.11344065771548, 106.71086299139331, 1.043074666771993], rtol=1e-9
    )


def test_a_constant_has_no_diagnostics(make_posterior):
    posterior = make_posterior(clusters=1)
    table = posterior.summary()
    assert list(table.loc["n_clusters"])[:4] == [1.0, 0.0, 1.0, 1.0]
    assert table.loc["n_clusters", ["ess_bulk", "ess_tail", "r_hat"]].isna().all()
    assert table.loc["log_joint", "ess_bulk"] > 0
    assert table["r_hat"].max() > 0  # numbers all of them


@pytest.mark.parametrize(("chains", "draws"), [(1, 1), (1, 2), (1, 3), (2, 3), (4, 1), (1, 50)])
def test_few_draws_give_nan_in_silence(make_posterior, chains, draws, caplog):
    with warnings.catch_warnings(), caplog.at_level(logging.DEBUG):
        warnings.simplefilter("error")
        table = make_posterior(chains=chains, draws=draws).summary()
    assert not caplog.records
    row = table.loc["log_joint"]
    assert np.isfinite(row["mean"])
    assert np.isnan(row["sd"]) == (chains * draws == 1)
    assert np.isnan(row["r_hat"])
    assert np.isnan(row["ess_bulk"]) == (draws < 4)


def test_chains_that_stand_still_at_different_places(make_posterior, caplog):
    posterior = make_posterior(draws=10)
    stuck = dataclasses.replace(posterior, log_u=np.repeat([[1.0], [2.0]], 10, axis=1))
    with warnings.catch_warnings(), caplog.at_level(logging.DEBUG):
        warnings.simplefilter("error")
        row = stuck.summary().loc["log_u"]
    assert not caplog.records
    assert row["r_hat"] > 100


def test_draws_that_are_not_finite(make_posterior):
    posterior = make_posterior(draws=10)
    log_joint = posterior.log_joint.copy()
    log_joint[0, 3] = -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = dataclasses.replace(posterior, log_joint=log_joint).summary().loc["log_joint"]
    assert row["mean"] == -np.inf
    assert np.isnan(row["r_hat"])
