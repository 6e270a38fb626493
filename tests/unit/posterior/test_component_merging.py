"""Clusters merged by their overlap: the tree, where it is cut, and what it finds in data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage

import mixwood as mw
from mixwood.partitions import adjusted_rand
from mixwood.plots.style import COLOURS, MIXED_COLOUR, legible
from mixwood.posterior import component_merging as module
from mixwood.posterior.component_merging import MergedClusters, merges, merges_to_make

# --- the tree


def chain_of_columns():
    """Four clusters of 100 rows: 0 and 2 share 40 rows, 1 and 3 share 20, 2 and 3 share 2."""
    t = np.zeros((400, 4))
    t[np.arange(400), np.repeat([0, 1, 2, 3], 100)] = 1
    t[80:100] = t[200:220] = [0.5, 0, 0.5, 0]
    t[190:200] = t[300:310] = [0, 0.5, 0, 0.5]
    t[299] = t[399] = [0, 0, 0.5, 0.5]
    return t


def test_those_that_share_most_are_merged_first():
    linkage, overlap, entropy = merges(chain_of_columns(), np.ones(400))
    assert linkage[:, :2].tolist() == [[0, 2], [1, 3], [4, 5]]
    assert linkage[:, 3].tolist() == [2, 2, 4]
    # A row that two share evenly is worth one bit, and 100 rows of each can be worth 200.
    np.testing.assert_allclose(overlap, [40 / 200, 20 / 200, 2 / 200])
    np.testing.assert_allclose(linkage[:, 2], 1 - overlap)
    np.testing.assert_allclose(entropy, np.array([0, 2, 22, 62]) / 400, atol=1e-15)


def test_entropy_is_that_of_the_merged_table(seed):
    rng = np.random.default_rng(seed)
    t, weights = rng.dirichlet(np.full(6, 0.3), 50), rng.integers(1, 9, 50)
    linkage, _, entropy = merges(t, weights.astype(float))
    columns = dict(enumerate(t.T))
    for step, (one, two, _, _) in enumerate(linkage):
        left = np.array(list(columns.values()))
        bits = -(left * np.log2(left)).sum(axis=0) @ weights / weights.sum()
        assert entropy[len(columns) - 1] == pytest.approx(bits)
        columns[6 + step] = columns.pop(int(one)) + columns.pop(int(two))
    assert entropy[0] == 0
    assert np.all(np.diff(entropy) >= 0)


def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    t, weights = rng.dirichlet(np.full(7, 0.2), 90), rng.random(90)
    order = rng.permutation(90)
    for one, other in zip(merges(t, weights), merges(t[order], weights[order]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_weight_is_as_many_rows(seed):
    rng = np.random.default_rng(seed)
    t, weights = rng.dirichlet(np.full(5, 0.3), 40), rng.integers(1, 6, 40)
    repeated = np.repeat(t, weights, axis=0)
    for one, other in zip(
        merges(t, weights.astype(float)), merges(repeated, np.ones(len(repeated))), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_scipy_takes_the_tree(seed):
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.full(12, 0.05), 300)
    linkage, overlap, _ = merges(t, np.ones(300))
    assert is_valid_linkage(linkage)
    assert is_monotonic(linkage)  # even where a merged pair overlaps more than the one before
    estimate = np.sort(t.argmax(axis=1))
    merged = MergedClusters(estimate, np.bincount(estimate), linkage, overlap, np.zeros(12), 3)
    for n in (1, 2, 5, 11, 12):
        by_scipy = fcluster(linkage, n, "maxclust")[estimate]
        if by_scipy.max() == n:  # merges of one height are made together there
            assert adjusted_rand(merged.cut(n), by_scipy) == 1
        assert merged.cut(n).max() == n - 1


def test_a_tail_of_two_groups_does_not_tie_them():
    """Two groups of 200, and 20 rows that may be of either or of a cluster of their own."""
    t = np.repeat([[1, 0, 0], [0, 1, 0], [0.4, 0.3, 0.3]], [200, 200, 20], axis=0)
    linkage, overlap, _ = merges(t, np.ones(420))
    assert linkage[0, :2].tolist() == [0, 2]
    assert overlap[0] > 0.3
    assert overlap[1] < 0.06


def test_the_number_of_pieces_does_not_thin_the_overlap():
    """A string of pieces, each of which shares as many rows with the next."""
    K, rows = 8, 100
    t = np.zeros((K * rows, K))
    for k in range(K):
        t[k * rows : (k + 1) * rows, k] = 1
        if k + 1 < K:
            t[(k + 1) * rows - 20 : (k + 1) * rows + 20, k : k + 2] = 0.5
    _, overlap, _ = merges(t, np.ones(len(t)))
    np.testing.assert_allclose(overlap, 0.2, atol=0.03)


def test_nor_do_many_neighbours_thicken_it():
    """A ball of equal pieces, each of which shares as many rows with every other."""
    K = 6
    pairs = [(k, j) for k in range(K) for j in range(k)]
    t = np.concatenate([np.repeat(np.eye(K), 100, axis=0), np.zeros((10 * len(pairs), K))])
    for place, pair in enumerate(pairs):
        t[100 * K + 10 * place : 100 * K + 10 * (place + 1), pair] = 0.5
    _, overlap, _ = merges(t, np.ones(len(t)))
    assert overlap[0] == pytest.approx(10 / 250)
    assert overlap.max() < 0.11  # and 0.2 if rows of all that meet did not count


@pytest.mark.parametrize(
    ("overlap", "made"),
    [
        ([], 0),
        ([0.9], 1),
        ([0.5], 1),
        ([0.49], 0),
        ([0.0, 0.0], 0),
        ([0.6, 0.4, 0.16, 0.07], 3),  # a clear gap
        ([0.6, 0.4, 0.16, 0.08], 1),
        ([0.6, 0.4, 0.16], 1),
        ([0.6, 0.4, 0.14, 0.0], 1),
        ([0.3, 0.2, 0.07], 2),
        ([0.29, 0.01], 0),  # two groups that touch, and another
    ],
)
def test_where_the_tree_is_cut(overlap, made):
    assert merges_to_make(np.array(overlap)) == made


# --- a posterior


def posterior_of(make_posterior, labels, **arguments):
    posterior = make_posterior(items=len(labels[0]), draws=len(labels), chains=1, **arguments)
    return replace(posterior, labels=np.array(labels)[None])


def halves(make_posterior):
    """Rows 0 to 9 and 10 to 19, whose border is now here now there; and far from them 20 to 27."""
    labels = [[0] * k + [1] * (20 - k) + [2] * 8 for k in (7, 8, 9, 10, 10, 10, 11, 12, 13)]
    return posterior_of(make_posterior, labels)


def test_groups_are_made_of_the_estimates_clusters(make_posterior):
    posterior = halves(make_posterior)
    estimate = posterior.point_estimate()
    assert np.bincount(estimate).tolist() == [10, 10, 8]
    merged = posterior.merge()
    assert merged.n_clusters == 2
    assert merged.groups == ((0, 1), (2,))
    assert merged.labels.tolist() == [0] * 20 + [1] * 8
    np.testing.assert_array_equal(merged.cut(3), estimate)
    assert merged.cut(1).tolist() == [0] * 28
    assert merged.sizes.tolist() == [10, 10, 8]
    linkage, overlap, entropy = merges(posterior.membership(), np.ones(28))
    np.testing.assert_allclose(merged.linkage, linkage)
    np.testing.assert_allclose(merged.overlap, overlap)
    np.testing.assert_allclose(merged.entropy, entropy)
    assert repr(merged) == "<mixwood.MergedClusters: 3 clusters in 2 groups of 20 and 8 rows>"


def test_groups_are_numbered_by_size(make_posterior):
    labels = [[0] * 12 + [1] * k + [2] * (20 - k) for k in (8, 9, 10, 11, 12)]
    merged = posterior_of(make_posterior, labels).merge()
    assert merged.sizes[0] == 12
    assert merged.groups == ((1, 2), (0,))
    assert merged.labels.tolist() == [1] * 12 + [0] * 20


def test_the_number_of_groups_is_what_was_asked_for(make_posterior):
    posterior = halves(make_posterior)
    for n in (1, 2, 3):
        merged = posterior.merge(n_clusters=n)
        assert merged.n_clusters == len(merged.groups) == n
        np.testing.assert_array_equal(merged.labels, merged.cut(n))
    first = posterior.merge().overlap[0]
    assert posterior.merge(threshold=first - 0.01).n_clusters == 2
    assert posterior.merge(threshold=first + 0.01).n_clusters == 3


def test_the_estimate_can_be_another(make_posterior):
    labels = [[0] * 12 + [1] * k + [2] * (20 - k) + [3] for k in (8, 9, 10, 11, 12)]
    posterior = posterior_of(make_posterior, labels)
    binder = posterior.merge(loss="binder", seed=3).estimate
    np.testing.assert_array_equal(binder, posterior.point_estimate("binder", seed=3))
    assert len(posterior.merge().sizes) == 4
    merged = posterior.merge(min_size=3)
    np.testing.assert_array_equal(merged.estimate, posterior.point_estimate(min_size=3))
    assert len(merged.sizes) == 3


def test_one_cluster_stays_one(make_posterior):
    posterior = posterior_of(make_posterior, [[0] * 9] * 4)
    merged = posterior.merge()
    assert merged.n_clusters == 1
    assert merged.groups == ((0,),)
    assert merged.linkage.shape == (0, 4)
    assert merged.entropy.tolist() == [0]
    assert merged.labels.tolist() == merged.cut(1).tolist() == [0] * 9
    assert repr(merged) == "<mixwood.MergedClusters: 1 cluster in 1 group of 9 rows>"
    assert len(merged.plot(ax=Figure().add_subplot()).get_xticklabels()) == 1


def test_data_are_not_needed(make_posterior):
    posterior = halves(make_posterior)
    assert replace(posterior, X=None).merge().groups == posterior.merge().groups


def test_leaves_are_as_many_rows(make_posterior, seed):
    X = np.repeat([[1.0], [50.0], [400.0]], [60, 30, 3], axis=0)
    leaves = mw.stream_leaves(mw.Mixture(mw.Poisson()), [X], max_leaves=9, seed=0)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (6, leaves.n_leaves))
    labels[:, :3] = [0, 1, 2]
    posterior = replace(
        make_posterior(mw.Poisson(), X=X, draws=6, chains=1, items=93),
        labels=labels[None],
        X=leaves,
    )
    merged = posterior.merge()
    linkage, _, entropy = merges(posterior.membership(), leaves.sizes.astype(float))
    np.testing.assert_allclose(merged.linkage, linkage)
    np.testing.assert_allclose(merged.entropy, entropy)
    assert merged.sizes.sum() == 93
    with pytest.raises(ValueError, match="needs the data X"):
        replace(posterior, X=None).merge()


def test_every_family(family_case, make_posterior):
    likelihood, X = family_case(30)
    merged = make_posterior(likelihood, X=X).merge()
    assert merged.labels.shape == (30,)


def test_of_many_rows_some_of_each_cluster_are_enough(make_posterior, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    border = rng.integers(1150, 1250, 30)
    labels = np.where(np.arange(3000) < border[:, None], 0, 1)
    labels[:, 2950:] = 2
    posterior = replace(
        make_posterior(X=rng.normal(size=(3000, 1)), draws=30, chains=1), labels=labels[None]
    )
    whole = posterior.merge()
    monkeypatch.setattr(module, "_ROWS", 600)
    monkeypatch.setattr(module, "_ROWS_PER_CLUSTER", 40)
    part = posterior.merge()
    np.testing.assert_allclose(part.overlap, whole.overlap, atol=0.02)
    np.testing.assert_allclose(part.entropy, whole.entropy, atol=0.02)
    np.testing.assert_array_equal(part.sizes, whole.sizes)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 4}, ValueError, "n_clusters must be at most 3, the number .* got 4"),
        ({"n_clusters": 1.5}, TypeError, "n_clusters must be a whole number, got 1.5"),
        ({"threshold": 0}, ValueError, "threshold must lie strictly between 0 and 1, got 0"),
        ({"threshold": "high"}, TypeError, "threshold must be a number, got 'high'"),
        ({"n_clusters": 2, "threshold": 0.2}, ValueError, "n_clusters and threshold both"),
        ({"loss": "square"}, ValueError, "loss must be"),
        ({"min_size": 11}, ValueError, "min_size must be at most 10"),
    ],
)
def test_errors_name_the_argument(make_posterior, arguments, error, message):
    with pytest.raises(error, match=message):
        halves(make_posterior).merge(**arguments)


def test_a_cut_is_checked(make_posterior):
    merged = halves(make_posterior).merge()
    with pytest.raises(ValueError, match=r"n must be at most 3, .* got 4"):
        merged.cut(4)
    with pytest.raises(TypeError, match="n must be a whole number"):
        merged.cut("all")


# --- the picture


def test_the_tree_is_drawn(make_posterior):
    merged = halves(make_posterior).merge()
    axes = merged.plot(ax=Figure().add_subplot())
    names = {label.get_text(): to_hex(label.get_color()) for label in axes.get_xticklabels()}
    first, second = COLOURS[0].lower(), COLOURS[1].lower()
    assert names == {"0\n(10)": first, "1\n(10)": first, "2\n(8)": legible(second)}
    (lines,) = axes.collections
    tops = [path.vertices[:, 1].max() for path in lines.get_paths()]
    np.testing.assert_allclose(tops, merged.linkage[:, 2])
    assert [to_hex(c) for c in lines.get_colors()] == [first, MIXED_COLOUR.lower()]
    (cut,) = axes.lines
    assert merged.linkage[0, 2] < cut.get_ydata()[0] < merged.linkage[1, 2]
    assert axes.get_title() == "3 clusters in 2 groups"


def test_very_many_clusters_are_drawn_without_names():
    linkage, overlap, entropy = merges(np.eye(90), np.ones(90))
    merged = MergedClusters(np.arange(90), np.ones(90, int), linkage, overlap, entropy, 90)
    axes = merged.plot(ax=Figure().add_subplot())
    assert list(axes.get_xticks()) == []
    assert len(axes.collections[0].get_paths()) == 89


# --- data


def merged_of(X, seed=1):
    model = mw.Mixture(mw.Gaussian())
    post = mw.sample(model, X, draws=100, warmup=100, chains=1, seed=seed, progress=False, n_jobs=1)
    return post.merge()


def crescents(rng, n):
    angle, kind = rng.uniform(0, np.pi, n), np.arange(n) % 2
    up = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(kind[:, None] == 0, up, [1, 0.2] - up)
    return X + rng.normal(0, 0.12, (n, 2)), kind


def heavy_tailed(rng, n):
    kind = np.arange(n) % 3
    return np.array([[0, 0], [20, 0], [10, 18]])[kind] + rng.standard_t(4, (n, 2)), kind


@pytest.mark.parametrize("data", [crescents, heavy_tailed])
@pytest.mark.parametrize("number", [0, 1])
def test_bent_and_heavy_tailed_groups_are_found(data, number):
    X, kind = data(np.random.default_rng(number), 400)
    merged = merged_of(X)
    assert len(merged.sizes) > kind.max() + 1
    assert adjusted_rand(merged.estimate, kind) < adjusted_rand(merged.labels, kind)
    assert merged.n_clusters == kind.max() + 1
    assert adjusted_rand(merged.labels, kind) > 0.98


@pytest.mark.parametrize("number", [0, 1])
def test_groups_apart_stay_apart(number):
    rng, kind = np.random.default_rng(number), np.arange(240) % 3
    merged = merged_of(np.array([[0, 0], [6, 0], [0, 6]])[kind] + rng.normal(size=(240, 2)))
    assert merged.overlap.max() < 0.1
    np.testing.assert_array_equal(merged.labels, merged.estimate)


def test_normals_that_touch_stay_apart():
    """Fifteen of them, as in the well-known set s2, none nearer than 4.5 standard deviations."""
    rng = np.random.default_rng(2)
    centres = [rng.uniform(0, 22, 2)]
    while len(centres) < 15:
        place = rng.uniform(0, 22, 2)
        if min(np.linalg.norm(place - other) for other in centres) > 4.5:
            centres.append(place)
    kind = np.arange(900) % 15
    merged = merged_of(np.array(centres)[kind] + rng.normal(size=(900, 2)))
    assert merged.n_clusters >= 14
    assert adjusted_rand(merged.labels, kind) > 0.9
