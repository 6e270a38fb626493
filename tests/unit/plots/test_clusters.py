"""Pictures of the data: what is drawn, not only that nothing raised."""

from __future__ import annotations

import itertools
from dataclasses import replace

import matplotlib
import numpy as np
import pandas
import pytest
from matplotlib.colors import to_hex
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import mixwood as mw
from mixwood._support.numbers import percent
from mixwood.likelihoods import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Multinomial,
    Poisson,
    Product,
)
from mixwood.plots import overview, plot_clusters
from mixwood.plots.clusters import UNSURE
from mixwood.plots.plane import plane_of
from mixwood.plots.style import COLOURS, MIXED_COLOUR


def new_axes():
    return Figure(layout="constrained").add_subplot()


def as_one_cluster(posterior):
    """Return the plane of data with a single cluster: that of their components."""
    n = posterior.n_items
    return plane_of(posterior, np.arange(n), np.zeros(n, dtype=int), np.ones(n))


def with_labels(posterior, labels):
    """Return a posterior all of whose draws have these labels."""
    shape = (posterior.n_chains, posterior.n_draws, 1)
    return replace(posterior, labels=np.tile(labels, shape))


def marks(axes):
    """Return the points that were scattered, their colours and whether they are filled."""
    found = [c for c in axes.collections if not isinstance(c, ContourSet)]
    points = np.concatenate([c.get_offsets() for c in found])
    colours = [to_hex(c.get_edgecolor()[0]) for c in found for _ in c.get_offsets()]
    filled = [len(c.get_facecolor()) > 0 for c in found for _ in c.get_offsets()]
    return np.asarray(points), colours, filled


def contours(axes):
    """Return the lines, not the shades between them."""
    return [c for c in axes.collections if isinstance(c, ContourSet) and not c.filled]


def test_two_columns_are_drawn_as_they_are(make_posterior):
    X = np.random.default_rng(0).normal(size=(12, 2))
    posterior = make_posterior(Gaussian(), X=X)
    axes = plot_clusters(posterior, ax=new_axes())
    points, colours, filled = marks(axes)
    estimate = posterior.point_estimate()
    sure = posterior.certainty() >= UNSURE
    for row in range(12):
        (at,) = np.flatnonzero(np.all(np.isclose(points, X[row]), axis=1))
        assert colours[at].upper() == COLOURS[estimate[row]]
        assert filled[at] == sure[row]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column 0", "column 1")
    assert axes.get_title().startswith(f"12 items, {estimate.max() + 1} cluster")


def test_the_legend_names_the_clusters_unless_they_are_many(make_posterior):
    X = np.random.default_rng(0).normal(size=(25, 2))
    posterior = with_labels(make_posterior(Gaussian(), X=X), np.repeat([0, 1, 2], [12, 8, 5]))
    axes = plot_clusters(posterior, ax=new_axes())
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0 (12)", "1 (8)", "2 (5)"]
    drawn = [to_hex(handle.get_color()).upper() for handle in legend.legend_handles]
    assert drawn == list(COLOURS[:3])
    assert not axes.texts
    alone = plot_clusters(with_labels(posterior, np.arange(25)), ax=new_axes())
    assert alone.get_legend() is None
    written = [text.get_text() for text in alone.texts]
    assert len(written) > 5
    assert set(written) <= {str(k) for k in range(25)}
    for text in alone.texts:
        np.testing.assert_allclose(text.xy, X[int(text.get_text())])


def test_names_at_clusters_do_not_lie_on_each_other(make_posterior):
    corners = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    labels = np.arange(50) // 2
    X = corners[labels % 25] + [[0.0, 0.0], [0.01, 0.01]] * 25
    X[-2:] = X[:2]  # the last cluster is on the first
    axes = plot_clusters(with_labels(make_posterior(Gaussian(), X=X), labels), ax=new_axes())
    axes.get_figure().canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 24
    pairs = itertools.combinations(boxes, 2)
    assert not any(one.overlaps(other) for one, other in pairs)


def test_small_clusters_are_grey_and_called_others(make_posterior):
    X = np.random.default_rng(0).normal(size=(25, 2))
    labels = np.repeat([0, 1, 2, 3], [12, 8, 4, 1])
    posterior = with_labels(make_posterior(Gaussian(), X=X), labels)
    axes = plot_clusters(posterior, min_size=5, ax=new_axes())
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["0 (12)", "1 (8)", "others (5 in 2 clusters)"]
    points, colours, _ = marks(axes)
    grey = points[[colour.upper() == MIXED_COLOUR for colour in colours]]
    np.testing.assert_allclose(np.sort(grey[:, 0]), np.sort(X[20:, 0]))
    assert axes.get_title() == "25 items, 4 clusters"
    assert overview(posterior, min_size=5).axes[0].get_title().startswith("25 items, 4 clusters")
    all_grey = plot_clusters(posterior, min_size=13, ax=new_axes())
    assert {colour.upper() for colour in marks(all_grey)[1]} == {MIXED_COLOUR}


def test_far_others_do_not_shrink_the_clusters(make_posterior):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [30, 20, 2])
    X = rng.normal(size=(52, 4)) + 6 * (labels == 1)[:, None] + 400 * (labels == 2)[:, None]
    posterior = with_labels(make_posterior(DiagonalGaussian(), X=X), labels)
    axes = plot_clusters(posterior, min_size=5, ax=new_axes())
    points = marks(axes)[0]
    low, high = axes.get_xlim()
    assert np.count_nonzero((points[:, 0] < low) | (points[:, 0] > high)) == 2
    assert (
        "others (2 in 1 cluster,\n2 beyond the frame)"
        in axes.get_legend().get_texts()[-1].get_text()
    )
    whole = plot_clusters(posterior, ax=new_axes())
    low, high = whole.get_xlim()
    assert all(low < x < high for x in marks(whole)[0][:, 0])


def test_clusters_can_be_named_and_coloured(make_posterior):
    X = np.random.default_rng(0).normal(size=(12, 2))
    posterior = with_labels(make_posterior(Gaussian(), X=X), np.repeat([0, 1, 2], [6, 4, 2]))
    axes = plot_clusters(
        posterior, ax=new_axes(), names={1: "<b>"}, palette=["red", "lime", "blue"]
    )
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0 (6)", "<b> (4)", "2 (2)"]
    assert [to_hex(h.get_color()) for h in legend.legend_handles] == [
        "#ff0000",
        "#00ff00",
        "#0000ff",
    ]
    # A continuous map is spread over the clusters that have a colour.
    few = plot_clusters(posterior, ax=new_axes(), palette="viridis", min_size=3).get_legend()
    seen = [to_hex(h.get_color()) for h in few.legend_handles[:2]]
    assert seen == [to_hex(matplotlib.colormaps["viridis"](x)) for x in (0.02, 0.98)]
    for wrong, message in [
        (["a", "b"], "names must be 3 names, one per cluster of the estimate, got 2"),
        ({7: "a"}, "names must be of clusters 0 to 2, got one of 7"),
    ]:
        with pytest.raises(ValueError, match=message):
            plot_clusters(posterior, ax=new_axes(), names=wrong)
    with pytest.raises(TypeError, match="names must be a sequence"):
        plot_clusters(posterior, ax=new_axes(), names="abc")
    for wrong in ("no such map", [], ["no colour"], 7):
        with pytest.raises(ValueError, match="palette must be a sequence of colours"):
            plot_clusters(posterior, ax=new_axes(), palette=wrong)


def test_names_with_dollars_are_no_mathematics_and_long_ones_stay_within_the_axes(make_posterior):
    rng = np.random.default_rng(0)
    for K in (2, 25):  # a legend, and names at the clusters
        labels = np.repeat(np.arange(K), 3)
        X = pandas.DataFrame(
            rng.normal(size=(3 * K, 2)) + 9 * labels[:, None], columns=["$a$", "b"]
        )
        posterior = with_labels(make_posterior(Gaussian(), X=X), labels)
        axes = plot_clusters(posterior, ax=new_axes(), names={0: "$x_1$ of a very long name"})
        axes.get_figure().canvas.draw()
        named = axes.get_legend().get_texts() if K == 2 else axes.texts
        assert named[0].get_text().startswith("$x_1$")
        assert not any(text.get_parse_math() for text in (*named, axes.xaxis.label))
        inside = axes.get_window_extent()
        assert K == 2 or inside.x0 <= named[0].get_window_extent().x0


def test_the_user_says_where(make_posterior):
    rng = np.random.default_rng(0)
    X, own = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    posterior = replace(make_posterior(Gaussian(), X=X), columns=("a", "b", "c"))
    axes = plot_clusters(posterior, ax=new_axes(), coordinates=("c", "a"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("c", "a")
    for row in X:
        assert np.isclose(marks(axes)[0], row[[2, 0]]).all(axis=1).any()
    axes = plot_clusters(posterior, ax=new_axes(), coordinates=own, max_items=5)
    assert all(np.isclose(own, point).all(axis=1).any() for point in marks(axes)[0])
    assert not contours(axes)
    table = pandas.DataFrame(own, columns=["longitude", "latitude"])
    axes = plot_clusters(posterior, ax=new_axes(), coordinates=table)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("longitude", "latitude")
    for wrong, message in [
        (("a", "d"), r"coordinates must be columns of the data \(a, b, c\), got 'd'"),
        (own[:5], "coordinates must be 12 rows of two numbers"),
        (own[:, :1], "coordinates must be 12 rows of two numbers"),
        ("ab", "coordinates must be 12 rows of two numbers"),
        (own * np.nan, "coordinates must be finite numbers, row 0 is"),
    ]:
        with pytest.raises(ValueError, match=message):
            plot_clusters(posterior, ax=new_axes(), coordinates=wrong)


def test_columns_of_counts_of_leaves_and_of_categories_as_coordinates(make_posterior):
    counts = csr_array(np.arange(36).reshape(12, 3) % 5)
    axes = plot_clusters(
        make_posterior(Multinomial(), X=counts), ax=new_axes(), coordinates=("column 0", "column 2")
    )
    points = marks(axes)[0]
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(counts.toarray()[:, 0]))
    codes = make_posterior(Categorical(), X=np.arange(36).reshape(12, 3) % 4)
    with pytest.raises(ValueError, match="'column 1' has categories"):
        plot_clusters(codes, ax=new_axes(), coordinates=("column 1", "column 2"))


def test_the_plane_tells_clusters_apart_that_components_mix(make_posterior):
    """Two columns that vary much say nothing, two that vary little tell the clusters apart."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(3), [40, 30, 20])
    noise = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 8)) * 3
    X = noise + 0.3 * rng.normal(size=(90, 8))
    X[:, :2] = 0.2 * rng.normal(size=(90, 2)) + np.array([[0, 0], [1, 0], [0, 1]])[labels]
    posterior = with_labels(make_posterior(Gaussian(), X=X), labels)
    axes = plot_clusters(posterior, ax=new_axes())
    assert axes.get_xlabel().startswith("first discriminant (")
    points = plane_of(posterior, np.arange(90), labels, np.ones(90)).points
    components = as_one_cluster(posterior).points
    assert nearest_middle(points, labels) == 1
    assert nearest_middle(components, labels) < 0.7


def nearest_middle(points, labels):
    """Return the share of points whose own cluster's middle is the nearest."""
    middles = np.array([points[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    scaled = np.linalg.norm(points[:, None] - middles, axis=2)
    return np.mean(scaled.argmin(axis=1) == labels)


def test_contours_are_those_of_the_predictive_density(make_posterior):
    X = np.random.default_rng(0).normal(size=(40, 2))
    posterior = make_posterior(Gaussian(), X=X)
    (drawn,) = contours(plot_clusters(posterior, ax=new_axes()))
    at_items = posterior.log_density(X)
    shares = [np.mean(at_items >= level) for level in drawn.levels]
    np.testing.assert_allclose(shares, [0.99, 0.9, 0.5], atol=0.026)
    corners = np.concatenate([p.vertices for p in drawn.get_paths()[-1:]])
    np.testing.assert_allclose(posterior.log_density(corners), drawn.levels[-1], atol=0.05)
    assert not contours(plot_clusters(posterior, ax=new_axes(), density=False))


def test_one_column_has_a_histogram_and_a_density(make_posterior):
    X = np.random.default_rng(1).normal(size=(50, 1))
    posterior = make_posterior(Gaussian(), X=X)
    axes = plot_clusters(posterior, ax=new_axes())
    area = sum(bar.get_height() * bar.get_width() for bar in axes.patches)
    assert area == pytest.approx(1)
    points, _, _ = marks(axes)
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(X[:, 0]))
    curve = next(line for line in axes.lines if line.get_label() == "predictive density")
    grid, density = curve.get_data()
    np.testing.assert_allclose(density, np.exp(posterior.log_density(np.asarray(grid)[:, None])))
    low, high = axes.get_ylim()
    assert low < points[0, 1] < 0
    assert high > max(*density, *(bar.get_y() + bar.get_height() for bar in axes.patches))


def test_one_cluster_in_more_columns_is_drawn_by_components(make_posterior):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 5)) * [1, 10, 100, 1, 1] + rng.normal(size=(30, 1))
    posterior = make_posterior(Gaussian(), X=X, clusters=1)
    axes = plot_clusters(posterior, ax=new_axes())
    points, _, _ = marks(axes)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    values = np.linalg.svd(standard, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(points, axis=0), values[:2])
    assert not contours(axes)
    assert f"({values[0] ** 2 / (values**2).sum():.0%} of variance)" in axes.get_xlabel()


def test_components_of_wide_tables_and_of_sparse_counts_agree_with_the_plain_ones(make_posterior):
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.3, 2.0, size=(3, 600))[rng.integers(0, 3, 200)])
    counts[:, 0] += 1
    posterior = make_posterior(Multinomial(), X=counts)
    plane = as_one_cluster(posterior)
    roots = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    left, values, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
    plain = left[:, :2] * values[:2]
    np.testing.assert_allclose(np.abs(plane.points), np.abs(plain), atol=1e-8)
    assert not plane.own


@pytest.mark.parametrize(
    ("likelihood", "X"),
    [
        (Categorical(), np.arange(36).reshape(12, 3) % 4),
        (Bernoulli(), np.arange(36).reshape(12, 3) % 2),
        (Poisson(), np.arange(24).reshape(12, 2)),
        (
            DiagonalGaussian(),
            np.where(np.arange(36).reshape(12, 3) % 5, np.arange(36).reshape(12, 3), np.nan),
        ),
    ],
)
def test_other_data(make_posterior, likelihood, X):
    axes = plot_clusters(make_posterior(likelihood, X=X), ax=new_axes())
    points, _, _ = marks(axes)
    assert points.shape == (12, 2)
    assert np.all(np.isfinite(points))


def test_codes_of_a_mixed_table_are_indicators(make_posterior):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=30), rng.integers(0, 3, 30), rng.normal(size=30)])
    likelihood = Product({(0, 2): Gaussian(), 1: Categorical()})
    plane = as_one_cluster(make_posterior(likelihood, X=X))
    wide = np.column_stack([X[:, 0], X[:, [1]] == [0, 1, 2], X[:, 2]])
    values = np.linalg.svd((wide - wide.mean(axis=0)) / wide.std(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(plane.points, axis=0), values[:2])
    two_columns = make_posterior(Categorical(), X=X[:, [1, 1]])
    assert not as_one_cluster(two_columns).own


@pytest.mark.parametrize("d", [1, 2, 3])
def test_items_that_are_all_alike(make_posterior, d):
    posterior = make_posterior(Gaussian(), X=np.ones((6, d)), clusters=1)
    axes = plot_clusters(posterior, ax=new_axes())
    assert len(marks(axes)[0]) == 6
    assert axes.get_title() == "6 items, 1 cluster"


@pytest.mark.parametrize("d", [1, 2, 3])
def test_one_item(make_posterior, d):
    axes = plot_clusters(make_posterior(Gaussian(), X=np.ones((1, d))), ax=new_axes())
    assert axes.get_title() == "1 item, 1 cluster"


def test_hundreds_of_clusters(make_posterior):
    posterior = make_posterior(items=600, clusters=550, draws=1, chains=1)
    axes = plot_clusters(posterior, ax=new_axes())
    assert len(marks(axes)[0]) == 600
    axes.get_figure().canvas.draw()


def test_of_many_items_a_sample_is_drawn_and_the_title_says_so(make_posterior):
    posterior = make_posterior(items=300, draws=3)
    axes = plot_clusters(posterior, ax=new_axes(), max_items=50)
    assert len(marks(axes)[0]) == 50
    assert axes.get_title().startswith("50 of 300 items, ")


def test_column_names_are_on_the_axes(make_posterior):
    from dataclasses import replace

    posterior = replace(make_posterior(), columns=("width", "height"))
    axes = plot_clusters(posterior, ax=new_axes())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("width", "height")
    with pytest.raises(ValueError, match="a picture of the data needs the data X"):
        plot_clusters(replace(posterior, X=None), ax=new_axes())


@pytest.mark.parametrize("d", [1, 2, 5])
def test_overview_shows_every_item_and_every_draw(make_posterior, d):
    X = np.random.default_rng(0).normal(size=(12, d))
    posterior = make_posterior(Gaussian(), X=X)
    partition, counts, joints = overview(posterior).axes
    assert len(marks(partition)[0]) == 12
    assert sum(bar.get_height() for bar in counts.patches) == pytest.approx(1)
    np.testing.assert_array_equal([line.get_ydata() for line in joints.lines], posterior.log_joint)
    assert all(axes.get_xlabel() for axes in (partition, counts, joints))


# --- weighted leaves


@pytest.fixture
def blobs_of(blobs):
    return lambda d: blobs(150, d, seed=5, clusters=3, apart=9)


def leaves_and_posterior(likelihood, X, max_leaves=12):
    model = mw.Mixture(likelihood)
    leaves = mw.stream_leaves(model, [X], max_leaves=max_leaves, seed=1)
    fast = {"draws": 5, "warmup": 5, "chains": 1, "seed": 2, "progress": False}
    return leaves, mw.sample(model, leaves, **fast)


def test_leaves_are_drawn_at_their_means_and_as_large_as_their_rows_are_many(blobs_of):
    X = blobs_of(2)
    leaves, posterior = leaves_and_posterior(Gaussian(), X)
    axes = plot_clusters(posterior, ax=new_axes())
    points, _, _ = marks(axes)
    found = [c for c in axes.collections if not isinstance(c, ContourSet)]
    areas = np.concatenate([c.get_sizes() for c in found])
    expected = [X[leaves.leaf_of_row == k].mean(axis=0) for k in range(leaves.n_leaves)]
    for size, mean in zip(leaves.sizes, expected, strict=True):
        (at,) = np.flatnonzero(np.all(np.isclose(points, mean), axis=1))
        assert areas[at] == pytest.approx(size * areas.sum() / 150, rel=1e-6)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column 0", "column 1")
    assert axes.get_title().startswith(f"150 rows in {leaves.n_leaves} leaves, 3 clusters")
    assert len(contours(axes)) == 1


def test_bars_of_leaves_count_rows(blobs_of):
    X = blobs_of(1)
    leaves, posterior = leaves_and_posterior(Gaussian(), X)
    axes = plot_clusters(posterior, ax=new_axes())
    estimate = posterior.point_estimate()
    assert estimate.max() > 0
    for k in range(estimate.max() + 1):
        own = [bar for bar in axes.patches if to_hex(bar.get_facecolor()).upper() == COLOURS[k]]
        share = leaves.sizes[estimate == k].sum() / 150
        assert sum(bar.get_height() * bar.get_width() for bar in own) == pytest.approx(share)


def test_components_of_leaves_are_those_of_rows_at_their_means(blobs_of):
    X = blobs_of(4) * [1, 10, 100, 1]
    leaves, posterior = leaves_and_posterior(Gaussian(), X)
    plane = as_one_cluster(posterior)
    means = np.array([X[leaves.leaf_of_row == k].mean(axis=0) for k in range(leaves.n_leaves)])
    rows = means[leaves.leaf_of_row]
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    left, values, _ = np.linalg.svd(standard, full_matrices=False)
    plain = np.abs(left[:, :2] * values[:2])
    np.testing.assert_allclose(np.abs(plane.points)[leaves.leaf_of_row], plain, atol=1e-8)
    share = percent(values[0] ** 2 / (values**2).sum())
    assert f"({share} of variance)" in plane.names[0]
    assert not plane.own


@pytest.mark.parametrize("words", [9, 2000])
def test_leaves_of_counts_are_drawn_by_the_shares_of_their_words(words):
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.3, 2.0, size=(3, words))[rng.integers(0, 3, 200)])
    counts[:, 0] += 1
    leaves, posterior = leaves_and_posterior(Multinomial(), counts, max_leaves=80)
    plane = as_one_cluster(posterior)
    totals = np.array([counts[leaves.leaf_of_row == k].sum(axis=0) for k in range(leaves.n_leaves)])
    roots = np.sqrt(totals / totals.sum(axis=1, keepdims=True))[leaves.leaf_of_row]
    left, values, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
    plain = np.abs(left[:, :2] * values[:2])
    np.testing.assert_allclose(np.abs(plane.points)[leaves.leaf_of_row], plain, atol=1e-7)


def test_leaves_of_any_family_have_pictures(family_case):
    leaves, posterior = leaves_and_posterior(*family_case(90))
    figure = overview(posterior)
    figure.canvas.draw()
    points, _, _ = marks(figure.axes[0])
    assert points.shape == (leaves.n_leaves, 2)
    assert np.all(np.isfinite(points))
    posterior.plot_dendrogram(ax=new_axes())
    posterior.plot_similarity(ax=new_axes())
