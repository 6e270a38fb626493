"""What a posterior says of new rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import kstest

import mixwood as mw
from mixwood.posterior.posterior import Posterior
from mixwood.posterior.prediction import cluster_probabilities
from mixwood.posterior.predictive_mixture import draw_weights
from mixwood.testing import seed_of


@pytest.fixture
def some_posterior(make_posterior, family_case):
    """A posterior made by hand for each family, and rows like its own."""
    likelihood, rows = family_case(20)
    rows = likelihood.check(rows)
    return make_posterior(likelihood.resolve(rows), X=rows[:12]), rows[12:]


def brute_force(posterior, new, estimate):
    """Return the probabilities of clusters, the new one last, by the formula draw by draw."""
    resolved, X = posterior.resolved, posterior.X
    weights = draw_weights(posterior)
    bound = resolved.bind(resolved.check(new))
    bases = np.concatenate(posterior.bases)
    K = estimate.max() + 1
    sums = np.zeros((new.shape[0], K + 1))
    for s, labels in enumerate(posterior.labels.reshape(-1, posterior.n_items)):
        family = bound.at(bases[s]) if resolved.base_size else bound
        statistics = resolved.bind(X).cluster_statistics(labels)
        table = np.exp(family.log_predictive_table(statistics, 0, new.shape[0]))
        for c in range(labels.max() + 1):
            members = np.flatnonzero(labels == c)
            weight = np.exp(weights.log_factor[s]) * (len(members) - weights.sigma[s])
            for k in range(K):
                share = np.mean(estimate[members] == k)
                sums[:, k] += weight * share * table[:, c]
        sums[:, K] += np.exp(weights.log_new[s] + family.log_alone())
    return sums / sums.sum(axis=1, keepdims=True)


def test_probabilities_are_those_of_the_formula(some_posterior):
    posterior, new = some_posterior
    estimate = posterior.labels[0, 3].astype(np.int64)
    expected = brute_force(posterior, new, estimate)
    with_new = cluster_probabilities(posterior, new, estimate, new=True)
    np.testing.assert_allclose(with_new, expected, rtol=1e-9, atol=1e-14)
    without = cluster_probabilities(posterior, new, estimate)
    renormalized = expected[:, :-1] / expected[:, :-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(without, renormalized, rtol=1e-9, atol=1e-14)


def test_predict_uses_the_point_estimate(some_posterior, monkeypatch):
    posterior, new = some_posterior
    asked = []

    def estimate(self, loss="vi", min_size=1, seed=0):
        asked.append((loss, min_size, seed))
        return self.labels[0, 0].astype(np.int64)

    monkeypatch.setattr(Posterior, "point_estimate", estimate)
    proba = posterior.predict_proba(new, loss="binder", min_size=2, seed=5)
    labels = posterior.predict(new)
    assert asked == [("binder", 2, 5), ("vi", 1, 0)]
    assert labels.dtype == np.int64
    assert labels.tolist() == proba.argmax(axis=1).tolist()
    assert posterior.predict_proba(new, new=True).shape == (8, proba.shape[1] + 1)


def test_a_row_far_away_is_new_but_still_has_a_nearest_cluster(make_posterior):
    posterior = make_posterior(mw.DiagonalGaussian(nu=1000), X=np.eye(12) * 3)
    far = np.full((1, 12), 40.0)
    estimate = posterior.labels[0, 0].astype(np.int64)
    assert cluster_probabilities(posterior, far, estimate, new=True)[0, -1] > 0.99
    proba = cluster_probabilities(posterior, far, estimate)
    assert proba.sum() == pytest.approx(1)


def test_rows_and_order_of_rows_do_not_matter(make_posterior):
    posterior = make_posterior()
    new = np.random.default_rng(1).normal(size=(3000, 2))
    whole = posterior.log_density(new)
    np.testing.assert_allclose(posterior.log_density(new[::-1])[::-1], whole, rtol=1e-12)
    np.testing.assert_allclose(posterior.log_density(new[1500:1501]), whole[1500], rtol=1e-12)


def test_threads_do_not_change_results(make_posterior, monkeypatch):
    posterior = make_posterior()
    new = np.random.default_rng(1).normal(size=(4000, 2))
    results = []
    for processors in (1, 2, 5):
        monkeypatch.setattr("mixwood._support.threads.processors", lambda p=processors: p)
        results.append((posterior.log_density(new), posterior.log_density(new, per_draw=True)))
    for single, parts in results[1:]:
        np.testing.assert_array_equal(single, results[0][0])
        np.testing.assert_array_equal(parts, results[0][1])


def test_blocks_do_not_change_results(make_posterior, monkeypatch):
    posterior = make_posterior(draws=40, clusters=6)
    new = np.random.default_rng(1).normal(size=(50, 2))
    estimate = posterior.labels[0, 0].astype(np.int64)
    whole = (posterior.log_density(new), cluster_probabilities(posterior, new, estimate))
    monkeypatch.setattr("mixwood.posterior.predictive_mixture._CLUSTERS_AT_ONCE", 7)
    monkeypatch.setattr("mixwood.posterior.prediction._ROWS_AT_ONCE", 9)
    np.testing.assert_allclose(posterior.log_density(new), whole[0], rtol=1e-12)
    proba = cluster_probabilities(posterior, new, estimate)
    np.testing.assert_allclose(proba, whole[1], rtol=1e-10)
    parts = np.exp(posterior.log_density(new, per_draw=True))
    np.testing.assert_allclose(np.log(parts.mean(axis=(0, 1))), whole[0], rtol=1e-12)


def test_extreme_u_and_alpha_are_no_problem(make_posterior):
    posterior = make_posterior(prior=mw.NGGP())
    far = np.array([[0.0, 1e5, -1e5, 800.0, 1e4]])
    parameters = {"log_alpha": np.array([[0.0, -900.0, 900.0, -1e4, 1.0]]), "sigma": far * 0 + 0.3}
    odd = Posterior(
        labels=posterior.labels[:1, :5],
        log_joint=far,
        log_u=far,
        parameters=parameters,
        model=posterior.model,
        resolved=posterior.resolved,
        X=posterior.X,
        bases=posterior.bases[:1, :5],
    )
    assert np.all(np.isfinite(odd.log_density(np.zeros((3, 2)))))


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 1000),
    items=st.integers(1, 9),
    rows=st.integers(1, 5),
    prior=st.sampled_from([mw.NGGP(), mw.DirichletProcess(), mw.PitmanYor(), mw.NGGP(1.0, 0.5)]),
)
def test_properties(make_posterior, seed, items, rows, prior):
    posterior = make_posterior(prior=prior, items=items, seed=seed, draws=4)
    new = np.random.default_rng(seed).normal(size=(rows, 2))
    estimate = posterior.labels[1, 2].astype(np.int64)
    proba = cluster_probabilities(posterior, new, estimate, new=True)
    assert proba.shape == (rows, estimate.max() + 2)
    assert np.all(proba >= 0)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    parts = posterior.log_density(new, per_draw=True)
    np.testing.assert_allclose(
        np.log(np.exp(parts).mean(axis=(0, 1))), posterior.log_density(new), rtol=1e-9
    )


# --- what is refused


@pytest.mark.parametrize(
    ("new", "error", "message"),
    [
        (np.zeros((2, 3)), ValueError, "X has the wrong number of columns: 3"),
        (np.zeros(2), ValueError, "X has one dimension"),
        ([[0.0, np.inf]], ValueError, "X has inf"),
        ("words", TypeError, "X must be"),
        (np.zeros((0, 2)), ValueError, "X is empty"),
        ([["a", "b"]], TypeError, "X holds"),
        (csr_array(np.zeros((1, 2))), TypeError, "X is sparse"),
    ],
)
def test_wrong_rows_are_refused(make_posterior, new, error, message):
    with pytest.raises(error, match=message):
        make_posterior().log_density(new)


def test_unknown_categories_are_refused(make_posterior):
    posterior = make_posterior(mw.Categorical(), X=np.arange(12)[:, None] % 3)
    with pytest.raises(ValueError, match="X has code 5 in column 0"):
        posterior.log_density([[5]])


def test_columns_are_found_by_name(make_posterior):
    pandas = pytest.importorskip("pandas")
    posterior = make_posterior()
    named = Posterior(**{**vars_of(posterior), "columns": ("height", "width")})
    right = pandas.DataFrame({"height": [0.0], "width": [1.0]})
    assert named.log_density(right).shape == (1,)
    for table in (right[["width", "height"]], right.assign(id="a")[["id", "width", "height"]]):
        np.testing.assert_array_equal(named.log_density(table), named.log_density(right))
    with pytest.raises(ValueError, match=r"\['width'\] missing; it also has \['depth'\]"):
        named.log_density(right.rename(columns={"width": "depth"}))
    with pytest.raises(ValueError, match=r"each once; \['width'\] twice"):
        named.log_density(right[["height", "width", "width"]])


def vars_of(posterior):
    names = ("labels", "log_joint", "log_u", "parameters", "model", "resolved", "X", "columns")
    names += ("bases",)
    return {name: getattr(posterior, name) for name in names}


def test_without_data_there_is_no_prediction(make_posterior):
    posterior = Posterior(**{**vars_of(make_posterior()), "X": None})
    for call in (posterior.log_density, posterior.predict_proba):
        with pytest.raises(ValueError, match="needs the data X"):
            call([[0.0, 0.0]])
    with pytest.raises(ValueError, match="needs the data X"):
        posterior.sample_predictive(3)


# --- new rows


def test_draws_follow_the_density(make_posterior, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    X = np.concatenate([rng.normal(-3, 1, 8), rng.normal(3, 0.5, 6)])[:, None]
    for likelihood in (mw.Gaussian(), mw.DiagonalGaussian(), mw.SphericalGaussian()):
        posterior = make_posterior(likelihood, X=X)
        rows = posterior.sample_predictive(4000, seed=rng)[:, 0]
        t = np.arange(-14, 14, 0.005)
        density = np.exp(posterior.log_density(np.sinh(t)[:, None])) * np.cosh(t)
        cumulative = np.cumsum(density) / density.sum()
        p = kstest(np.interp(np.arcsinh(rows), t, cumulative), "uniform").pvalue
        assert p > 1e-4, likelihood
        # a predictive given the wrong draws does not pass
        other = make_posterior(likelihood, X=X + 0.4)
        density = np.exp(other.log_density(np.sinh(t)[:, None])) * np.cosh(t)
        cumulative = np.cumsum(density) / density.sum()
        assert kstest(np.interp(np.arcsinh(rows), t, cumulative), "uniform").pvalue < 1e-4


def test_draws_of_counts_follow_the_density(make_posterior, request):
    """Every possible row of small discrete data, by a chi-square statistic."""
    rng = np.random.default_rng(seed_of(request.node.name))
    grid = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(2)])
    cases = [
        (mw.Bernoulli(a=0.6, b=1.2), rng.integers(0, 2, (10, 3)), grid),
        (mw.Categorical(), rng.integers(0, 2, (10, 3)), grid),
        (
            mw.Multinomial(beta=0.4),
            csr_array(rng.multinomial(3, [0.5, 0.3, 0.2], 10)),
            np.array([[a, b, 3 - a - b] for a in range(4) for b in range(4 - a)]),
        ),
    ]
    for likelihood, X, possible in cases:
        posterior = make_posterior(likelihood, X=X)
        drawn = posterior.sample_predictive(4000, seed=rng)
        drawn = drawn if isinstance(drawn, np.ndarray) else drawn.toarray()
        expected = 4000 * np.exp(posterior.log_density(possible))
        assert expected.sum() == pytest.approx(4000)
        counts = (drawn[:, None] == possible).all(axis=2).sum(axis=0)
        assert counts.sum() == 4000
        chi_square = ((counts - expected) ** 2 / expected).sum()
        assert chi_square < 5 * len(possible), likelihood


def test_draws_of_poisson_counts_have_the_right_moments(make_posterior, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    X = rng.poisson(4.0, (10, 2))
    posterior = make_posterior(mw.Poisson(shape=1.0), X=X)
    drawn = posterior.sample_predictive(20_000, seed=rng)
    values = np.arange(200)
    table = np.stack([values, np.full(200, np.nan)], axis=1)  # the second column integrated out
    density = np.exp(posterior.log_density(table))
    assert density.sum() == pytest.approx(1, abs=1e-6)
    mean = (density * values).sum()
    spread = np.sqrt((density * (values - mean) ** 2).sum())
    assert drawn[:, 0].mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(20_000))
    assert drawn[:, 0].std() == pytest.approx(spread, rel=0.05)


def test_draws_in_the_plane_have_the_right_moments(make_posterior, request):
    rng = np.random.default_rng(seed_of(request.node.name))
    factor = np.array([[2.0, 0.0], [1.5, 0.5]])
    X = rng.normal(size=(30, 2)) @ factor.T + [5.0, -3.0]
    posterior = make_posterior(mw.Gaussian(nu=30), X=X, clusters=1)
    drawn = posterior.sample_predictive(40_000, seed=rng)
    t = np.arange(-9, 9, 0.1)
    plane = np.stack(np.meshgrid(np.sinh(t), np.sinh(t)), axis=-1).reshape(-1, 2) + X.mean(axis=0)
    density = np.exp(posterior.log_density(plane)) * np.outer(np.cosh(t), np.cosh(t)).ravel()
    density /= density.sum()
    mean = density @ plane
    covariance = np.einsum("n,ni,nj->ij", density, plane - mean, plane - mean)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0.08, atol=0.05)


def test_sample_predictive_is_reproducible(some_posterior):
    posterior, _ = some_posterior
    first, second = (posterior.sample_predictive(7, seed=3) for _ in range(2))
    if not isinstance(first, np.ndarray):
        first, second = first.toarray(), second.toarray()
    np.testing.assert_array_equal(first, second)
    assert first.shape == (7, posterior.X.shape[1])
    posterior.log_density(first)  # they are rows of the right kind


@pytest.mark.parametrize("size", [0, -1, 2.5, "many"])
def test_a_wrong_size_is_refused(make_posterior, size):
    with pytest.raises((ValueError, TypeError), match="size must be"):
        make_posterior().sample_predictive(size)


def test_statistics_have_the_size_that_the_likelihood_says(family_case):
    likelihood, X = family_case(6)
    X = likelihood.check(X)
    resolved = likelihood.resolve(X)
    assert resolved.statistic_size == resolved.bind(X).statistic_size


def test_data_are_bound_and_clusters_found_once(make_posterior, monkeypatch):
    """A user who asks row by row must not pay for all items each time."""
    from mixwood.posterior import draws, predictive_mixture

    calls = []

    def counted(name, original):
        def call(*arguments):
            calls.append(name)
            return original(*arguments)

        return call

    monkeypatch.setattr(draws, "bind_family", counted("bind", draws.bind_family))
    found = counted("find", predictive_mixture.predictive_mixture)
    monkeypatch.setattr(predictive_mixture, "predictive_mixture", found)
    posterior = make_posterior()
    first = posterior.log_density(posterior.X[:2])
    posterior.predict_proba(posterior.X[:1])
    posterior.sample_predictive(2, seed=1)
    posterior.describe()
    np.testing.assert_array_equal(posterior.log_density(posterior.X[:2]), first)
    assert sorted(calls) == ["bind", "find"]
    copy = pickle.loads(pickle.dumps(posterior))  # what is compiled does not travel
    np.testing.assert_array_equal(copy.log_density(posterior.X[:2]), first)
