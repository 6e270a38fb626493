"""What sets clusters apart: right columns, right direction, right effects, honest probabilities."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.posterior.contrasts import contrasts


def with_two_clusters(likelihood, X, draws=400):
    """Return draws that all have the same clusters: only parameters are uncertain."""
    X = likelihood.check(X)
    n = X.shape[0]
    own = np.arange(n) >= n // 2
    labels = np.tile(own, (1, draws, 1)).astype(np.int32)
    zeros = np.zeros((1, draws))
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    resolved = likelihood.resolve(X)
    bases = np.tile(resolved.start_base(), (1, draws, 1))
    return mw.Posterior(labels, zeros, zeros, {}, model, resolved, X, bases=bases)


def test_the_columns_that_differ_are_named_with_effect_and_direction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * [1, 2, 5, 1]
    X[:100] += [4, 0, -10, 0]
    table = with_two_clusters(mw.DiagonalGaussian(), X).markers()
    first = table[table["cluster"] == 0].set_index("column")
    assert first.index.tolist() == ["column 0", "column 2"]
    assert first["how"].tolist() == ["high", "low"]
    np.testing.assert_allclose(first["effect"], [4, -2], atol=0.3)
    np.testing.assert_allclose(first["value"], X[:100, [0, 2]].mean(axis=0), atol=0.3)
    np.testing.assert_allclose(first["rest"], X[100:, [0, 2]].mean(axis=0), atol=0.3)
    assert first["probability"].tolist() == [1, 0]
    second = table[table["cluster"] == 1]
    assert second["how"].tolist() == ["low", "high"]


def test_units_do_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3)) + (np.arange(80) >= 40)[:, None] * [3, 1, 0]
    options = {"draws": 60, "warmup": 20, "chains": 1, "seed": 1, "progress": False}
    model = mw.Mixture(mw.Gaussian(scale="data"))
    plain, other = (mw.sample(model, table, **options).markers() for table in (X, 1000 * X + 7))
    assert plain["column"].tolist() == other["column"].tolist()
    np.testing.assert_allclose(plain["effect"], other["effect"], rtol=1e-3)


def test_the_rest_counts_its_clusters_by_their_rows():
    X = np.concatenate([np.zeros(10), np.full(30, 4.0), np.full(60, 10.0)])[:, None]
    X = X + np.random.default_rng(2).normal(size=X.shape) / 10
    labels = np.tile(np.repeat([0, 1, 2], [10, 30, 60]), (1, 300, 1)).astype(np.int32)
    base = with_two_clusters(mw.DiagonalGaussian(), X, draws=300)
    post = mw.Posterior(
        labels, base.log_joint, base.log_u, {}, base.model, base.resolved, base.X, bases=base.bases
    )
    table = post.markers().set_index("cluster")
    # The estimate's clusters are numbered by size: 10, 4, 0.
    np.testing.assert_allclose(table["rest"], [3, 600 / 70, 8], atol=0.2)


def test_probabilities_are_honest_where_nothing_differs():
    """Of columns without a difference, about 10% in each tail are below 10% and above 90%."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 300))
    post = with_two_clusters(mw.DiagonalGaussian(scale="data"), X, draws=300)
    (found,) = contrasts(post, post.point_estimate(), post.column_names, seed=0, n_draws=300)
    tails = np.mean(found.probability[0] > 0.9), np.mean(found.probability[0] < 0.1)
    assert min(tails) > 0.03
    assert max(tails) < 0.18
    assert abs(found.probability[0].mean() - 0.5) < 0.06


def test_words_are_ranked_by_distinctiveness_not_frequency():
    rng = np.random.default_rng(4)
    #        common, topic 1, topic 2, rare word of one row
    first = rng.multinomial(40, [0.79, 0.18, 0.02, 0.01], size=30)
    second = rng.multinomial(40, [0.79, 0.02, 0.18, 0.01], size=30)
    counts = np.concatenate([first, second])
    counts = np.column_stack([counts, np.eye(60, 1, dtype=int) * 2])
    words = ["the", "cat", "sun", "fog", "once"]
    post = with_two_clusters(mw.Multinomial(beta=0.1), csr_array(counts))
    table = post.markers(words=words)
    best = table.groupby("cluster").first()
    assert best["column"].tolist() == ["cat", "sun"]
    assert "the" not in set(table["column"])
    assert (table["effect"] > 0).all()  # what is missing does not mark
    described = post.describe(words=words)
    assert [row.split(", ")[0] for row in described["words"]] == ["cat", "sun"]
    assert "markers" not in described.columns
    p, q = first.sum(axis=0)[1] / first.sum(), second.sum(axis=0)[1] / second.sum()
    h = 2 * (np.arcsin(np.sqrt(p)) - np.arcsin(np.sqrt(q))) * np.sqrt(counts.sum() / 60)
    assert best["effect"][0] == pytest.approx(h, rel=0.1)


def test_a_mixed_table_has_markers_of_every_kind():
    rng = np.random.default_rng(6)
    own = np.arange(80) < 40
    table = pandas.DataFrame({
        "length": rng.normal(size=80) + 5 * own,
        "colour": np.where(own, "red", "blue"),
        "smoker": np.where(own, rng.random(80) < 0.9, rng.random(80) < 0.1),
        "visits": rng.poisson(np.where(own, 2, 20)),
        "noise": rng.normal(size=80),
    })  # fmt: skip
    post = mw.sample(
        mw.Mixture(mw.Product.from_frame(table)),
        table,
        draws=60,
        warmup=60,
        chains=1,
        seed=2,
        progress=False,
    )
    labels = post.point_estimate()
    assert mw.partitions.adjusted_rand(labels, own) > 0.9
    found = post.markers()
    red = found[found["cluster"] == labels[0]]
    said = {
        f"{how} {column}".strip() for how, column in zip(red["how"], red["column"], strict=True)
    }
    # A column of two categories is one of truth values.
    assert {"high length", "often colour = red", "low visits", "often smoker = True"} <= said
    assert not any("noise" in text or "blue" in text for text in said)
    # What is rare is told by what is usual instead, where that has a name.
    blue = found[found["cluster"] != labels[0]].set_index("column")
    assert blue.loc[["colour = blue", "smoker = False"], "how"].tolist() == ["often", "often"]
    assert blue.loc["colour = blue", "probability"] == 1
    assert blue.loc["smoker = False", "value"] > 0.7 > 0.3 > blue.loc["smoker = False", "rest"]
    text = post.describe()["markers"][int(labels[0])]
    assert "colour = red" in text
    assert len(text.split(", ")) <= 4


def test_one_cluster_has_no_markers(make_posterior):
    posterior = make_posterior(clusters=1)
    table = posterior.markers()
    assert len(table) == 0
    expected = ["cluster", "column", "how", "value", "rest", "effect", "probability"]
    assert list(table.columns) == expected
    assert posterior.describe()["markers"].tolist() == [""]


def test_every_family_has_markers(family_case):
    likelihood, X = family_case(30)
    found = with_two_clusters(likelihood, X, draws=40).markers(n=2, probability=0.5)
    assert np.isfinite(found[["value", "rest", "effect", "probability"]]).all(axis=None)
    assert (found.groupby("cluster").size() <= 2).all()


def test_they_are_reproducible_and_a_generator_serves_both_passes(make_posterior):
    posterior = make_posterior(draws=30)
    assert posterior.markers(seed=4).equals(posterior.markers(seed=4))
    made = [posterior.markers(probability=0.5, seed=np.random.default_rng(1)) for _ in range(2)]
    assert made[0].equals(made[1])


@pytest.mark.parametrize("arguments", [{"n": 0}, {"probability": 2}, {"draws": 0}, {"words": "a"}])
def test_wrong_arguments_are_named(make_posterior, arguments):
    (name,) = arguments
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        make_posterior().markers(**arguments)
