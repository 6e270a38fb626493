"""Tables and parameters of the point estimate's clusters."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.posterior.cluster_summary import parameter_estimates


@pytest.fixture
def two_groups():
    """Draws that all have the same two clusters, far apart: nothing is uncertain but parameters."""

    def make(likelihood, X, draws=2000):
        X = likelihood.check(X)
        n = X.shape[0]
        labels = np.tile(np.arange(n) >= n // 2, (1, draws, 1)).astype(np.int32)
        zeros = np.zeros((1, draws))
        model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
        resolved = likelihood.resolve(X)
        bases = np.tile(resolved.start_base(), (1, draws, 1))
        return mw.Posterior(labels, zeros, zeros, {}, model, resolved, X, bases=bases)

    return make


def expected_parameters(posterior):
    """Return the posterior means of each cluster's parameters, in closed form, from the rows."""
    resolved, X = posterior.resolved, posterior.X
    X = X if isinstance(X, np.ndarray) else X.toarray()
    for rows in (X[: len(X) // 2], X[len(X) // 2 :]):
        n = np.sum(~np.isnan(rows), axis=0)
        total = np.nansum(rows, axis=0)
        match resolved:
            case mw.Poisson():
                yield {"rate": (resolved.shape + total) / (resolved.rate + n)}
            case mw.Bernoulli():
                yield {"probability": (resolved.a + total) / (resolved.a + resolved.b + n)}
            case mw.Multinomial():
                pseudo = resolved.beta + total
                yield {"probabilities": pseudo / pseudo.sum()}
            case mw.Categorical():
                table = np.zeros((X.shape[1], max(resolved.n_categories)))
                for j, levels in enumerate(resolved.n_categories):
                    column = rows[~np.isnan(rows[:, j]), j].astype(int)
                    pseudo = resolved.beta + np.bincount(column, minlength=levels)
                    table[j, :levels] = pseudo / pseudo.sum()
                yield {"probabilities": table}
            case mw.Gaussian():
                r, m, d = resolved.r, resolved.mean, X.shape[1]
                size, centre = len(rows), rows.mean(axis=0)
                scale = resolved.scale + (rows - centre).T @ (rows - centre)
                scale = scale + r * size / (r + size) * np.outer(centre - m, centre - m)
                covariance = scale / (resolved.nu + size - d - 1)
                yield {"mean": (r * m + total) / (r + size), "covariance": covariance}
            case mw.DiagonalGaussian():
                r, m = resolved.r, resolved.mean
                centre = total / n
                scale = resolved.scale + np.nansum((rows - centre) ** 2, axis=0)
                scale = scale + r * n / (r + n) * (centre - m) ** 2
                mean = (r * m + total) / (r + n)
                yield {"mean": mean, "variance": scale / (resolved.nu + n - 2)}
            case mw.SphericalGaussian():
                r, m, d = resolved.r, resolved.mean, X.shape[1]
                size, centre = len(rows), rows.mean(axis=0)
                scale = resolved.scale + np.sum((rows - centre) ** 2)
                scale += r * size / (r + size) * np.sum((centre - m) ** 2)
                variance = scale / (resolved.nu + size * d - 2)
                yield {"mean": (r * m + total) / (r + size), "variance": variance}


def test_parameters_have_the_means_of_conjugate_posteriors(fixed_case, two_groups):
    likelihood, X = fixed_case(30)
    posterior = two_groups(likelihood, X)
    found = posterior.cluster_parameters(draws=2000)
    for k, expected in enumerate(expected_parameters(posterior)):
        assert set(expected) == set(found)
        for name, value in expected.items():
            estimate = found[name]
            noise = 5 * estimate.sd[k] / np.sqrt(2000) + 1e-12
            assert np.all(np.abs(estimate.mean[k] - value) < noise), (name, k)
            assert np.all(estimate.lower[k] <= estimate.mean[k] + 1e-12)
            assert np.all(estimate.mean[k] <= estimate.upper[k] + 1e-12)


def test_more_probable_intervals_are_wider(make_posterior):
    posterior = make_posterior()
    wide = posterior.cluster_parameters(level=0.99)["mean"]
    narrow = posterior.cluster_parameters(level=0.5)["mean"]
    assert np.all(wide.lower < narrow.lower)
    assert np.all(narrow.upper < wide.upper)


def test_few_numbers_at_once_change_nothing_but_the_noise(two_groups, family_case, monkeypatch):
    likelihood, X = family_case(30)
    posterior = two_groups(likelihood, X, draws=300)
    whole = posterior.cluster_parameters()
    monkeypatch.setattr("mixwood.posterior.cluster_summary._NUMBERS_AT_ONCE", 1)
    for name, value in posterior.cluster_parameters().items():
        noise = 6 * whole[name].sd / np.sqrt(150) + 1e-12
        assert np.all(np.abs(value.mean - whole[name].mean) < noise)


# --- the table


def test_table_of_gaussian_clusters(make_posterior):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(12, 2)), columns=["a", "b"])
    posterior = mw.sample(
        mw.Mixture(mw.Gaussian()), X, draws=20, warmup=5, chains=1, seed=1, progress=False
    )
    table = posterior.describe()
    ends = ["", " low", " high"]
    numbers = [f"{c} {name}{end}" for name in ("mean", "sd") for c in "ab" for end in ends]
    assert list(table.columns) == ["size", "certainty", "markers", *numbers]
    assert table.index.name == "cluster"
    assert table["size"].sum() == 12
    assert np.all((table["a mean low"] <= table["a mean"]) & (table["a sd"] > 0))


@pytest.mark.parametrize(
    ("likelihood", "X", "columns"),
    [
        (mw.Poisson(), np.arange(12)[:, None], ["column 0 rate"]),
        (mw.Bernoulli(), np.arange(12)[:, None] % 2, ["column 0 probability"]),
        (mw.SphericalGaussian(), np.eye(12)[:, :2], ["column 1 mean", "column 0 sd"]),
        (mw.Categorical(), np.arange(12)[:, None] % 3, ["column 0 mode", "column 0 probability"]),
        (mw.Multinomial(), np.eye(12), ["words", "first word probability low"]),
    ],
)
def test_table_of_other_families(make_posterior, likelihood, X, columns):
    table = make_posterior(likelihood, X=X).describe()
    assert set(columns) <= set(table.columns)


def test_the_certainty_of_a_cluster_is_the_mean_of_its_rows(make_posterior):
    posterior = make_posterior(draws=30)
    labels, sure = posterior.point_estimate(), posterior.certainty()
    means = [sure[labels == k].mean() for k in range(labels.max() + 1)]
    np.testing.assert_allclose(posterior.describe()["certainty"], means, atol=5e-5)
    assert np.all(np.diff(posterior.describe()["size"]) <= 0)


def test_small_clusters_have_no_rows_in_the_table(make_posterior):
    posterior = make_posterior(draws=30, clusters=6)
    least = int(posterior.describe()["size"].max())
    table = posterior.describe(min_size=least)
    assert table["size"].min() >= least
    assert table["size"].sum() == 12
    assert len(posterior.cluster_parameters(min_size=least)["mean"].mean) == len(table)


def test_words_of_counts(two_groups):
    X = np.array([[9, 5, 0, 0]] * 3 + [[0, 0, 4, 8]] * 3)
    table = two_groups(mw.Multinomial(), X).describe(words=["cat", "dog", "sun", "sky"])
    assert [row.split(", ")[:2] for row in table["words"]] == [["cat", "dog"], ["sky", "sun"]]
    assert table["first word probability"][0] == pytest.approx(27.1 / 42.4, abs=0.02)


def test_modes_of_categories(two_groups):
    X = np.array([[2, 0]] * 3 + [[1, 1]] * 3)
    table = two_groups(mw.Categorical(), X).describe()
    assert table["column 0 mode"].tolist() == [2, 1]
    assert table["column 1 mode"].tolist() == [0, 1]


def test_it_is_reproducible(make_posterior):
    posterior = make_posterior()
    assert posterior.describe(seed=4).equals(posterior.describe(seed=4))


@pytest.mark.parametrize("words", [["one"], "ab", 7])
def test_wrong_words_are_refused(make_posterior, words):
    with pytest.raises(ValueError, match="words must be 2 names"):
        make_posterior().describe(words=words)


@pytest.mark.parametrize("arguments", [{"level": 1.5}, {"level": "high"}, {"draws": 0}])
def test_wrong_arguments_are_named(make_posterior, arguments):
    posterior = make_posterior()
    (name,) = arguments
    for call in (posterior.describe, posterior.cluster_parameters):
        with pytest.raises((ValueError, TypeError), match=f"{name} must"):
            call(**arguments)


def test_a_family_that_cannot_draw_says_so(make_posterior):
    class Closed(mw.Gaussian):
        def draw_parameters(self, statistics, rng, base=None):
            return mw.Likelihood.draw_parameters(self, statistics, rng, base)

    posterior = make_posterior(Closed())
    with pytest.raises(TypeError, match="Closed cannot draw the parameters"):
        parameter_estimates(posterior, posterior.point_estimate(), level=0.9, seed=0, n_draws=5)


def test_words_of_leaves_are_those_of_their_rows():
    counts = np.repeat([[9, 5, 0, 1, 0], [0, 1, 6, 0, 9]], 30, axis=0)
    model = mw.Mixture(mw.Multinomial())
    leaves = mw.stream_leaves(model, [counts], max_leaves=6, seed=0)
    options = {"draws": 20, "warmup": 10, "chains": 1, "seed": 1, "progress": False}
    post = mw.sample(model, leaves, **options)
    table = post.describe(words=["cat", "dog", "sun", "fog", "sky"])
    assert [row.split(", ")[:2] for row in table["words"]] == [["cat", "dog"], ["sky", "sun"]]
    assert table["size"].tolist() == [30, 30]
    with pytest.raises(ValueError, match="words must be 5 names"):
        post.describe(words=["cat"] * 9)
