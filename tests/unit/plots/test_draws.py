"""Pictures of the draws: traces, the number of clusters, co-clustering, the tree."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import mixwood as mw
from mixwood.likelihoods import Gaussian
from mixwood.partitions import adjusted_rand
from mixwood.plots.similarity import leaf_order
from mixwood.posterior.estimated_draws import FoundEstimate
from mixwood.posterior.tree import tree_of_items
from mixwood.priors import DirichletProcess


def new_axes():
    return Figure(layout="constrained").add_subplot()


@pytest.mark.parametrize("name", ["n_clusters", "log_joint", "log_u", "alpha", "sigma"])
def test_trace_has_a_line_for_each_chain(make_posterior, name):
    posterior = make_posterior(chains=3)
    axes = posterior.plot_trace(name, ax=new_axes())
    np.testing.assert_array_equal(
        [line.get_ydata() for line in axes.lines], getattr(posterior, name)
    )
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "chain 0",
        "chain 1",
        "chain 2",
    ]
    assert axes.get_ylabel()


def test_trace_knows_what_there_is(make_posterior):
    posterior = make_posterior(prior=DirichletProcess(alpha=1.0), chains=12)
    with pytest.raises(
        ValueError, match=r"name must be one of n_clusters, log_joint, log_u\b.*, got"
    ):
        posterior.plot_trace("alpha", ax=new_axes())
    assert posterior.plot_trace(ax=new_axes()).get_legend() is None  # too many chains for it


def test_number_of_clusters(make_posterior):
    posterior = make_posterior(chains=3, draws=40)
    axes = posterior.plot_n_clusters(ax=new_axes())
    for bar in axes.patches:
        k = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_height() == pytest.approx(np.mean(posterior.n_clusters == k))
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1)
    assert len(axes.collections) == 3
    for marks, draws in zip(axes.collections, posterior.n_clusters, strict=True):
        for (left, share), (right, _) in marks.get_segments():
            assert share == pytest.approx(np.mean(draws == (left + right) / 2))


def test_number_of_large_clusters(make_posterior):
    posterior = make_posterior(chains=2, draws=40, clusters=6)
    numbers = posterior.n_clusters_at_least(3)
    axes = posterior.plot_n_clusters(ax=new_axes(), min_size=3)
    for bar in axes.patches:
        k = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_height() == pytest.approx(np.mean(numbers == k))
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1)
    assert axes.get_xlabel() == "number of clusters of at least 3 rows"


def test_many_numbers_of_clusters_share_bars(make_posterior):
    posterior = make_posterior(items=300, clusters=300, draws=30)
    widely = np.tile(np.arange(300) % 10, (2, 30, 1)).astype(np.int32)
    widely[:, 0] = np.arange(300)  # 300 clusters in one draw, 10 in the others
    posterior = replace(posterior, labels=widely)
    axes = posterior.plot_n_clusters(ax=new_axes())
    heights = [bar.get_height() for bar in axes.patches]
    assert len(heights) <= 60
    assert (heights[0], sum(heights)) == (pytest.approx(29 / 30), pytest.approx(1))
    assert "5 per bar" in axes.get_xlabel()


def test_number_of_clusters_of_one_chain_and_of_one_number(make_posterior):
    axes = make_posterior(chains=1, clusters=1).plot_n_clusters(ax=new_axes())
    assert [bar.get_height() for bar in axes.patches] == [1]
    assert not axes.collections
    low, high = axes.get_xlim()
    assert high - low > 2  # not one bar as wide as the picture


def test_similarity_is_that_of_the_draws_in_another_order(make_posterior):
    posterior = make_posterior(items=20)
    axes = posterior.plot_similarity(ax=new_axes())
    table = posterior.similarity()
    order = leaf_order(table)
    np.testing.assert_array_equal(axes.images[0].get_array(), table[np.ix_(order, order)])
    assert sorted(order) == list(range(20))
    assert axes.get_title().startswith("20 items")
    sample = posterior.plot_similarity(ax=new_axes(), max_items=7)
    assert sample.images[0].get_array().shape == (7, 7)
    assert sample.get_title().startswith("7 of 20 items")


def test_similarity_puts_blocks_side_by_side():
    truth = np.arange(30) % 3
    order = leaf_order(np.equal.outer(truth, truth) * 0.8 + np.eye(30) * 0.2)
    assert np.sum(np.diff(truth[order]) != 0) == 2


@pytest.mark.parametrize("items", [1, 2])
def test_similarity_of_hardly_any_item(make_posterior, items):
    axes = make_posterior(items=items).plot_similarity(ax=new_axes())
    assert axes.images[0].get_array().shape == (items, items)


def test_dendrogram_has_the_colours_of_the_estimate(make_posterior):
    from matplotlib.colors import to_hex

    from mixwood.plots.style import COLOURS, legible

    X = np.array([[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    posterior = make_posterior(Gaussian(), X=X)
    labels = np.array([0, 1, 0, 1, 0, 1])
    posterior.found_estimates["vi", 1, 0, None] = FoundEstimate(labels)
    axes = posterior.plot_dendrogram(ax=new_axes())
    colours = {text.get_text(): to_hex(text.get_color()).upper() for text in axes.get_xticklabels()}
    assert colours == {str(row): legible(COLOURS[row % 2]).upper() for row in range(6)}
    drawn = [to_hex(c).upper() for c in axes.collections[0].get_colors()]
    assert sorted(drawn) == sorted([COLOURS[0]] * 2 + [COLOURS[1]] * 2 + ["#BBBBBB"])
    # by the clusters' numbers, whichever row comes first
    posterior.found_estimates["vi", 1, 0, None] = FoundEstimate(1 - labels)
    axes = posterior.plot_dendrogram(ax=new_axes())
    colours = {text.get_text(): to_hex(text.get_color()).upper() for text in axes.get_xticklabels()}
    assert colours == {str(row): legible(COLOURS[1 - row % 2]).upper() for row in range(6)}


def test_dendrogram_is_grown_at_the_base_measure_that_was_learned():
    """At the first one, clusters are as wide as the data, and all rows would be one."""
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 6)) + 3.0 * (np.arange(6) // 2 == truth[:, None])
    model = mw.Mixture(mw.Gaussian())
    posterior = mw.sample(model, X, draws=60, warmup=100, chains=1, seed=1, progress=False)
    tree = tree_of_items(posterior, np.arange(120), "a test")
    first = mw.ibhc(mw.Mixture(posterior.resolved), X, seed=0)
    found = posterior.point_estimate()
    assert adjusted_rand(first.labels, found) < 0.5 < 0.9 < adjusted_rand(tree.labels, found)


def test_new_axes_are_pyplots_and_given_ones_leave_it_alone(make_posterior):
    posterior = make_posterior()
    from matplotlib import pyplot

    open_before = pyplot.get_fignums()
    posterior.plot_n_clusters(ax=new_axes())
    assert pyplot.get_fignums() == open_before
    axes = posterior.plot_n_clusters()
    assert axes.get_figure().number in pyplot.get_fignums()
    pyplot.close(axes.get_figure())
    assert "matplotlib.pyplot" in sys.modules


def test_trace_of_what_is_learned():
    X = np.random.default_rng(0).normal(size=(20, 2))
    options = {"draws": 5, "warmup": 5, "chains": 2, "seed": 1, "progress": False}
    learned = mw.sample(mw.Mixture(mw.Gaussian()), X, **options)
    lines = learned.plot_trace("width", ax=new_axes()).get_lines()
    np.testing.assert_array_equal([line.get_ydata() for line in lines], learned.width)
    assert learned.plot_trace("nu", ax=new_axes()).get_ylabel() == "nu"
    fixed = mw.sample(mw.Mixture(mw.Gaussian(scale="data")), X, **options)
    with pytest.raises(
        ValueError, match="must be one of n_clusters, log_joint, log_u, alpha, sigma, log_alpha"
    ):
        fixed.plot_trace("width")
