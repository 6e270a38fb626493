"""Draws in ArviZ's containers, of both generations: no test here may depend on which."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings

import numpy as np
import pytest

from mixwood.likelihoods import Bernoulli, Gaussian, Multinomial, Poisson
from mixwood.posterior.arviz import import_arviz
from mixwood.priors import (
    NGGP,
    DirichletProcess,
    FiniteMixture,
    NormalizedInverseGaussian,
    PitmanYor,
)


def groups_of(container):
    """Return the names of the groups, without leading slashes."""
    names = container.groups() if callable(container.groups) else container.groups
    return {name.strip("/") for name in names} - {""}


def test_the_container_is_that_of_the_installed_arviz(make_posterior):
    container = make_posterior().to_arviz()
    generation = int(import_arviz().__version__.split(".")[0])
    assert type(container).__name__ == ("InferenceData" if generation < 1 else "DataTree")


@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess(),
        NGGP(sigma=0.5),
        NormalizedInverseGaussian(),
        PitmanYor(),
        FiniteMixture(),
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_groups_and_values(make_posterior, prior):
    posterior = make_posterior(prior=prior)
    container = posterior.to_arviz()
    assert groups_of(container) == {"posterior", "sample_stats", "observed_data"}
    draws = container["posterior"]
    assert set(draws.data_vars) == {"n_clusters", "log_u", *prior.parameters, "width", "nu"}
    for name in draws.data_vars:
        assert draws[name].dims == ("chain", "draw")
        expected = posterior.base[name] if name == "nu" else getattr(posterior, name)
        np.testing.assert_array_equal(draws[name].values, expected)
    stats = container["sample_stats"]
    np.testing.assert_array_equal(stats["lp"].values, posterior.log_joint)
    np.testing.assert_array_equal(stats["labels"].values, posterior.labels)
    assert stats["labels"].dims == ("chain", "draw", "item")
    for axis, length in (("chain", 2), ("draw", 10), ("item", 12)):
        np.testing.assert_array_equal(stats[axis].values, np.arange(length))
    assert draws.attrs["inference_library"] == "mixwood"


def test_arviz_itself_reads_the_container(make_posterior):
    posterior = make_posterior(draws=100, clusters=5)
    table = import_arviz().summary(posterior.to_arviz(), var_names=["n_clusters", "log_u", "sigma"])
    ours = posterior.summary()
    assert list(table.index) == ["n_clusters", "log_u", "sigma"]
    # Newer versions round what they print, and keep it as text.
    np.testing.assert_allclose(
        table["ess_bulk"].astype(float), ours.loc[table.index, "ess_bulk"].astype(float), atol=1
    )


def test_conversion_is_silent(make_posterior, caplog):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_posterior(chains=1, draws=1, items=1).to_arviz()
    assert not caplog.records


def test_log_likelihood_needs_the_data(make_posterior):
    posterior = dataclasses.replace(make_posterior(), X=None)
    with pytest.raises(ValueError, match="needs the data X"):
        posterior.to_arviz(log_likelihood=True)


def test_data_and_names_of_rows_and_clusters(make_posterior):
    posterior = make_posterior(draws=4)
    names = [f"row {k}" for k in range(posterior.n_items)]
    container = posterior.to_arviz(rows=names, clusters={0: "large"})
    observed = container["observed_data"]
    for j, column in enumerate(posterior.column_names):
        np.testing.assert_array_equal(observed[column].values, posterior.X[:, j])
        assert np.shares_memory(observed[column].values, posterior.X)
    assert observed["item"].values.tolist() == names
    estimate = posterior.point_estimate()
    assert ((observed["cluster"].values == "large") == (estimate == 0)).all()
    stats = container["sample_stats"]
    assert np.shares_memory(stats["labels"].values, posterior.labels)
    assert stats["labels"].sel(item="row 3").shape == (2, 4)
    with pytest.raises(ValueError, match="rows must be 12 names"):
        posterior.to_arviz(rows=["a"])
    with pytest.raises(ValueError, match="clusters must be names of the"):
        posterior.to_arviz(clusters={99: "none"})


# --- the log likelihood: these need the compiled core ----------------------------------


def log_kappa(prior, k, log_u, log_alpha, sigma):
    """Return log kappa(k, u), as model.md writes it."""
    from scipy.special import gammaln

    log_tau = np.logaddexp(0, log_u)
    if isinstance(prior, DirichletProcess):
        return log_alpha + gammaln(k) - k * log_tau
    ratio = gammaln(k - sigma) - gammaln(1 - sigma)
    return log_alpha + np.log(sigma) + ratio + (sigma - k) * log_tau


def ordinates_by_hand(posterior, index):
    """Return the (n,) values of one draw, from marginals of sets of rows."""
    family = posterior.resolved.bind(posterior.X)
    if family.base_size > 0:
        family = family.at(posterior.bases[index])
    constants = posterior.resolved.row_constants(posterior.X)
    prior, labels, log_u = posterior.model.prior, posterior.labels[index], posterior.log_u[index]
    sigma = posterior.sigma[index] if hasattr(posterior, "sigma") else 0.0

    def kappa(k):
        return log_kappa(prior, k, log_u, posterior.log_alpha[index], sigma)

    def marginal(rows):
        return family.log_marginal(np.asarray(rows, dtype=np.int64))

    values = []
    for i in range(posterior.n_items):
        terms = [kappa(1) + marginal([i])]
        for label in np.unique(np.delete(labels, i)):
            rows = [j for j in np.flatnonzero(labels == label) if j != i]
            joined = marginal([*rows, i]) - marginal(rows)
            terms.append(kappa(len(rows) + 1) - kappa(len(rows)) + joined)
        values.append(
            log_u - np.log(posterior.n_items - 1) + np.logaddexp.reduce(terms) + constants[i]
        )
    return np.array(values)


COUNTS = np.random.default_rng(1).poisson(2.0, (9, 3))


@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess(),
        DirichletProcess(alpha=0.7),
        NGGP(),
        NGGP(alpha=1.0, sigma=0.3),
        NormalizedInverseGaussian(),
        PitmanYor(),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("likelihood", "X"),
    [
        (Gaussian(), None),
        (Gaussian(scale="data"), None),
        (Poisson(), COUNTS),
        (Multinomial(), COUNTS),
        (Bernoulli(), COUNTS > 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_log_likelihood_is_the_density_given_the_others(make_posterior, prior, likelihood, X):
    posterior = make_posterior(likelihood, prior, X=X, draws=3, items=9, clusters=4)
    values = posterior.to_arviz(log_likelihood=True)["log_likelihood"]["X"]
    assert values.dims == ("chain", "draw", "item")
    assert values.shape == (2, 3, 9)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(values[index], ordinates_by_hand(posterior, index), rtol=1e-9)


def all_partitions(items):
    """Yield every partition of a list, as lists of clusters."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in all_partitions(rest):
        yield [[first], *partition]
        for k in range(len(partition)):
            yield [*partition[:k], [first, *partition[k]], *partition[k + 1 :]]


def log_partition_law(prior, sizes):
    """Return the log probability of a partition into clusters of these sizes (model.md)."""
    from scipy.special import gammaln

    n, K = sum(sizes), len(sizes)
    if isinstance(prior, DirichletProcess):
        normalizer = K * np.log(prior.alpha) + gammaln(prior.alpha) - gammaln(prior.alpha + n)
        return normalizer + sum(gammaln(size) for size in sizes)
    theta, sigma = prior.theta, prior.sigma
    normalizer = gammaln(theta) - gammaln(theta + n) + K * np.log(sigma)
    normalizer += gammaln(theta / sigma + K) - gammaln(theta / sigma)
    return normalizer + sum(gammaln(size - sigma) - gammaln(1 - sigma) for size in sizes)


@pytest.mark.parametrize(
    "prior", [DirichletProcess(alpha=1.5), PitmanYor(theta=0.8, sigma=0.4)], ids=repr
)
def test_leave_one_out_is_exact(prior):
    """The harmonic mean of exp(log likelihood) is p(X)/p(X without i), found by enumeration."""
    import mixwood as mw

    X = np.array([[0], [1], [9], [1], [7]])
    model = mw.Mixture(mw.Poisson(shape=1.0, rate=0.5), prior)
    name = f"test_leave_one_out_is_exact {prior}"
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    posterior = mw.sample(model, X, "gibbs", 10_000, 100, 2, seed, init="one", progress=False)
    family = posterior.resolved.bind(posterior.X)
    constants = posterior.resolved.row_constants(posterior.X)

    def log_evidence(rows):
        terms = [
            log_partition_law(prior, [len(c) for c in partition])
            + sum(family.log_marginal(np.array(c, dtype=np.int64)) for c in partition)
            for partition in all_partitions(rows)
        ]
        return np.logaddexp.reduce(terms) + constants[rows].sum()

    rows = list(range(len(X)))
    exact = [log_evidence(rows) - log_evidence([j for j in rows if j != i]) for i in rows]
    container = posterior.to_arviz(log_likelihood=True)
    values = container["log_likelihood"]["X"].values.reshape(-1, len(X))
    harmonic = np.log(len(values)) - np.logaddexp.reduce(-values, axis=0)
    np.testing.assert_allclose(harmonic, exact, atol=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loo = import_arviz().loo(container, pointwise=True)
    pointwise = loo.loo_i if hasattr(loo, "loo_i") else loo.elpd_i  # the older and the newer name
    np.testing.assert_allclose(np.ravel(pointwise), exact, atol=0.02)


def two_groups(likelihood, columns=2):
    import mixwood as mw

    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, columns)) + np.repeat([0.0, 8.0], 30)[:, None]
    return mw.sample(mw.Mixture(likelihood), X, draws=120, chains=2, seed=1, progress=False)


def test_replicates_look_like_the_data_and_keep_their_clusters():
    posterior = two_groups(Gaussian())
    container = posterior.to_arviz(posterior_predictive=True)
    replicates = container["posterior_predictive"]["column 1"]
    assert replicates.dims == ("chain", "draw", "item")
    assert replicates.shape == (2, 100, 60)
    assert set(replicates["draw"].values) <= set(range(120))
    groups = posterior.X[:, 1].reshape(2, 30)
    drawn = replicates.values.reshape(200, 2, 30)
    np.testing.assert_allclose(drawn.mean(axis=(0, 2)), groups.mean(axis=1), atol=0.2)
    np.testing.assert_allclose(drawn.std(axis=(0, 2)), groups.std(axis=1), rtol=0.25)
    same = posterior.to_arviz(posterior_predictive=True)["posterior_predictive"]["column 1"]
    np.testing.assert_array_equal(same.values, replicates.values)


def test_many_columns_are_one_variable():
    container = two_groups(mw_diagonal(), 41).to_arviz(posterior_predictive=True)
    assert container["observed_data"]["X"].dims == ("item", "column")
    replicates = container["posterior_predictive"]["X"]
    assert replicates.dims == ("chain", "draw", "item", "column")
    assert replicates["column"].values[40] == "column 40"


def mw_diagonal():
    from mixwood.likelihoods import DiagonalGaussian

    return DiagonalGaussian(scale="data")


def test_arviz_compares_and_draws_replicates():
    """`loo`, `compare` and `plot_ppc` (in the newer ArviZ, `plot_ppc_dist`) read the container."""
    full, spherical = two_groups(Gaussian()), two_groups(mw_diagonal())
    arviz = import_arviz()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large Pareto k; and matplotlib's of a backend
        models = {
            "full": full.to_arviz(log_likelihood=True, posterior_predictive=True),
            "diagonal": spherical.to_arviz(log_likelihood=True),
        }
        loo = arviz.loo(models["full"])
        assert np.isfinite(loo.elpd_loo if hasattr(loo, "elpd_loo") else loo.elpd)
        assert set(arviz.compare(models).index) == {"full", "diagonal"}
        named = vars(arviz)
        if "plot_ppc" in named:
            axes = arviz.plot_ppc(models["full"], num_pp_samples=5, show=False)
            assert len(np.ravel(axes)) == 2
        else:
            arviz.plot_ppc_dist(models["full"], num_samples=5, backend="matplotlib")


def test_a_log_likelihood_for_which_there_is_no_memory_is_refused(make_posterior, monkeypatch):
    from mixwood.posterior import arviz

    monkeypatch.setattr(arviz, "fits", lambda _needed: False)
    with pytest.raises(MemoryError, match="thinned"):
        make_posterior().to_arviz(log_likelihood=True)


def test_sparse_counts_have_no_observed_data_and_are_refused_as_replicates():
    import mixwood as mw

    X = np.random.default_rng(0).poisson(1.0, (12, 5))
    model = mw.Mixture(mw.Multinomial())
    posterior = mw.sample(model, X, draws=5, chains=1, seed=1, progress=False)
    assert "observed_data" not in groups_of(posterior.to_arviz())
    with pytest.raises(ValueError, match="sparse counts"):
        posterior.to_arviz(posterior_predictive=True)
