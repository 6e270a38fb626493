"""The heat map of clusters by columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mixwood.likelihoods import Categorical, DiagonalGaussian, Multinomial, Regression
from mixwood.plots import plot_profile
from mixwood.plots.style import COLOURS


def new_axes():
    return Figure(layout="constrained").add_subplot()


def with_labels(posterior, labels):
    shape = (posterior.n_chains, posterior.n_draws, 1)
    return replace(posterior, labels=np.tile(labels, shape))


@pytest.fixture
def four_clusters(make_posterior):
    """Of decreasing size; 0 and 2 are alike, 1 and 3 are."""
    labels = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])
    means = np.array([[0, 0, 5], [50, 9, 5], [1, 0, 5], [49, 9, 5]])
    X = means[labels] + np.random.default_rng(0).normal(size=(100, 3))
    return with_labels(make_posterior(DiagonalGaussian(), X=X), labels), X, labels


def names_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_cells_are_standardized_means_and_say_the_mean(four_clusters):
    posterior, X, labels = four_clusters
    axes = plot_profile(posterior, ax=new_axes(), names={3: "rare"})
    rows = names_of(axes.yaxis)
    assert sorted(rows) == ["0 (40)", "1 (30)", "2 (20)", "rare (10)"]
    assert names_of(axes.xaxis) == ["column 0", "column 1", "column 2"]
    order = [int(row.split()[0].replace("rare", "3")) for row in rows]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset((0, 2)), frozenset((1, 3))}
    drawn = axes.images[0].get_array()
    means = np.array([X[labels == k].mean(axis=0) for k in order])
    expected = (means - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(drawn, expected, atol=0.25)
    written = np.array([float(text.get_text()) for text in axes.texts if not text.get_gid()])
    np.testing.assert_allclose(written.reshape(4, 3), means, atol=2)
    chips = [to_hex(text.get_color()).upper() for text in axes.texts if text.get_gid() == "chip"]
    assert chips == [COLOURS[k] for k in order]
    assert axes.get_title() == "4 clusters, 3 columns"
    axes.get_figure().canvas.draw()


@pytest.mark.parametrize(("width", "sizes"), [(6, {8.3}), (2.1, {6.0}), (1.4, set())])
def test_letters_shrink_until_values_fit_their_cells(four_clusters, width, sizes):
    axes = plot_profile(four_clusters[0], ax=Figure(figsize=(width, 4)).add_subplot())
    assert {text.get_fontsize() for text in axes.texts if not text.get_gid()} == sizes


def test_of_many_columns_the_telling_ones_are_drawn(make_posterior):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    X = rng.normal(size=(60, 50))
    X[:, 7] += 9 * (labels == 1)
    X[:, 31] -= 9 * (labels == 2)
    posterior = with_labels(make_posterior(DiagonalGaussian(), X=X), labels)
    axes = plot_profile(posterior, ax=new_axes(), max_columns=4, max_clusters=2)
    assert {"column 7", "column 31"} <= set(names_of(axes.xaxis))
    assert axes.get_title() == "2 of 3 clusters, 4 of 50 columns"
    assert len(names_of(axes.yaxis)) == 2


def test_words_and_categories_are_columns(make_posterior):
    labels = np.repeat([0, 1], [7, 5])
    counts = np.where(labels[:, None] == 0, [9, 1, 3], [1, 9, 3])
    words = ["<b>", "sun", "the"]
    posterior = with_labels(make_posterior(Multinomial(), X=counts), labels)
    axes = plot_profile(posterior, words, ax=new_axes(), max_columns=2)
    assert set(names_of(axes.xaxis)) == {"<b>", "sun"}
    assert axes.get_title() == "2 clusters, 2 of 3 words"
    codes = np.column_stack([labels * 2, np.arange(12) % 2])
    posterior = with_labels(make_posterior(Categorical(), X=codes), labels)
    axes = plot_profile(posterior, ax=new_axes())
    assert "column 0 = 2" in names_of(axes.xaxis)
    assert "columns and categories" in axes.get_title()


def test_one_cluster_and_wrong_arguments(make_posterior):
    posterior = make_posterior(clusters=1)
    axes = plot_profile(posterior, ax=new_axes())
    assert axes.get_title() == "1 cluster, 2 columns"
    np.testing.assert_allclose(axes.images[0].get_array(), 0, atol=1e-9)
    for wrong in ({"max_columns": 0}, {"max_clusters": 0}, {"palette": "no map"}, {"words": "a"}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} must"):
            plot_profile(posterior, ax=new_axes(), **wrong)


def test_every_family_has_a_profile(family_case, make_posterior):
    likelihood, X = family_case(30)
    post = make_posterior(likelihood, X=X)
    if isinstance(likelihood, Regression):  # whose columns clusters have no level of
        with pytest.raises(ValueError, match="a profile needs means, rates or probabilities"):
            plot_profile(post, ax=new_axes())
        return
    axes = plot_profile(post, ax=new_axes())
    assert np.isfinite(axes.images[0].get_array()).all()
