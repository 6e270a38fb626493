"""Counts that vary more than Poisson's: parameters, sizes that are learned, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.hyper import LogNormal
from mixwood.testing import check_family

RNG = np.random.default_rng(8)
COUNTS = RNG.negative_binomial(2, 0.3, (30, 2)).astype(float)


def test_identities_predictives_and_chains():
    report = check_family(
        mw.NegativeBinomial(size=2.0, shape=1.0),
        COUNTS[:6, :1],
        support="counts",
        replicates=300,
        seed=1,
    )
    assert not report.untried


def test_the_prior_mean_of_a_cluster_is_that_of_the_column():
    likelihood = mw.NegativeBinomial(size=3.0, shape=4.0).resolve(COUNTS)
    rates = likelihood.draw_parameters(np.zeros((200_000, 4)), np.random.default_rng(1))["rate"]
    np.testing.assert_allclose(rates.mean(axis=0), COUNTS.mean(axis=0), rtol=0.02)


def test_rows_have_the_variance_of_their_size():
    likelihood = mw.NegativeBinomial(size=2.0, shape=1.0).resolve(COUNTS)
    parameters = {"rate": np.array([[5.0, 1.0]]), "size": np.full((1, 2), 2.0)}
    rows = likelihood.draw_rows(parameters, np.zeros(100_000, dtype=int), np.random.default_rng(1))
    np.testing.assert_allclose(rows.mean(axis=0), [5.0, 1.0], rtol=0.03)
    np.testing.assert_allclose(rows.var(axis=0), [5 + 25 / 2, 1 + 1 / 2], rtol=0.05)


def test_the_joint_density_follows_the_sizes():
    """What rows add depends on the size alone, not on the partition; it is in `log_joint`."""
    from mixwood.reference import family_of

    likelihood, X = mw.NegativeBinomial().fitted_to(COUNTS)
    bound, twin = likelihood.bind(X), family_of(likelihood)
    base = np.log([0.7, 3.0, 2.0, 0.5])
    twin.set_base(base)
    there = bound.at(base).log_alone() + likelihood.row_constants(X)
    np.testing.assert_allclose(there, [twin.log_marginal((row,)) for row in X])


def test_spread_that_poisson_takes_for_clusters_is_one_cluster():
    X = np.random.default_rng(5).negative_binomial(2, 2 / 12, (150, 2))  # one cluster, mean 10
    found = {}
    for likelihood in (mw.Poisson(), mw.NegativeBinomial()):
        model = mw.Mixture(likelihood, mw.FiniteMixture())
        post = mw.sample(model, X, draws=60, warmup=60, chains=2, seed=1, progress=False)
        found[type(likelihood).__name__] = np.median(post.n_clusters)
    assert found["NegativeBinomial"] <= 2 < 3 <= found["Poisson"]
    sizes = post.base["size"].reshape(-1, 2)
    assert np.all((sizes.mean(axis=0) > 1) & (sizes.mean(axis=0) < 4))


def test_description_has_rates_and_deviations():
    model = mw.Mixture(mw.NegativeBinomial(), mw.FiniteMixture())
    post = mw.sample(model, COUNTS, draws=20, chains=1, seed=1, progress=False)
    table = post.describe()
    name = post.column_names[0]
    assert (table[f"{name} sd"] > np.sqrt(table[f"{name} rate"]) * 0.9).all()
    assert not [column for column in table if column.startswith(f"{name} size")]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: mw.NegativeBinomial(size=0), ValueError, "size"),
        (lambda: mw.NegativeBinomial(size=1e7), ValueError, "Poisson counts"),
        (
            lambda: mw.NegativeBinomial(size=LogNormal(1e9, 1)),
            ValueError,
            "size is learned between",
        ),
        (lambda: mw.NegativeBinomial(size="x"), TypeError, "size must be a positive number, or"),
        (lambda: mw.NegativeBinomial(shape=None), TypeError, "shape must be a positive number, or"),
        (lambda: mw.NegativeBinomial(mean=[1.0, -1.0]), ValueError, "mean must be positive"),
        (lambda: mw.NegativeBinomial(mean=0), ValueError, "mean"),
    ],
)
def test_bad_parameters_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


@pytest.mark.parametrize("how", [{"weights": np.ones(30)}, {"known": np.full(30, -1)}])
def test_learned_sizes_need_the_rows(how):
    model = mw.Mixture(mw.NegativeBinomial())
    if "known" in how:
        how["known"][:2] = 0
    with pytest.raises(ValueError, match=r"keep sums of rows alone.*size=5"):
        mw.sample(model, COUNTS, draws=2, chains=1, seed=1, progress=False, **how)
    fixed = mw.Mixture(mw.NegativeBinomial(size=2.0))
    post = mw.sample(fixed, COUNTS, draws=2, chains=1, seed=1, progress=False, **how)
    assert np.isfinite(post.log_joint).all()
