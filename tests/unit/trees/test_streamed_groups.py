"""Blocks whose rows come in groups: leaves that keep how many rows of each group they have."""

from __future__ import annotations

from dataclasses import fields, replace
from math import lgamma

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.input.blocks import with_groups
from mixwood.likelihoods.weighted_leaves import joined
from mixwood.trees.streaming import LeafGrowth

FAST = {"draws": 20, "warmup": 10, "chains": 2, "seed": 3, "progress": False}
MODEL = mw.Mixture(mw.DiagonalGaussian(scale="data"), mw.FiniteMixture())


def data(n=600):
    """Rows of three groups, the last of which is in the last rows only."""
    rng = np.random.default_rng(2)
    groups = np.array(["b", "a"])[rng.integers(0, 2, n)]
    groups[-n // 10 :] = "c"
    far = rng.random(n) < np.select([groups == "a", groups == "b"], [0.8, 0.2], 1.0)
    return rng.normal(size=(n, 2)) + 12 * far[:, None], groups


def table(groups):
    """How many rows of each group (across) each leaf has (down)."""
    counts = np.zeros((groups.n_items, len(groups)))
    members = groups.members(None)
    counts[members.items, members.codes] = members.counts
    return counts


def counted(leaves, groups):
    """The same from the rows."""
    names = sorted(set(groups))
    counts = np.zeros((leaves.n_leaves, len(names)))
    np.add.at(counts, (leaves.leaf_of_row, [names.index(name) for name in groups]), 1)
    return counts


@pytest.mark.parametrize("max_leaves", [2, 30, 5000])
def test_leaves_count_their_rows_by_group(max_leaves):
    X, groups = data(4000)
    parts = np.split(np.arange(4000), [700, 701, 2900])
    leaves = mw.stream_leaves(MODEL, [X[p] for p in parts], max_leaves, seed=1, groups=groups)
    assert leaves.groups.names == ("a", "b", "c")
    np.testing.assert_array_equal(table(leaves.groups), counted(leaves, groups))
    np.testing.assert_array_equal(table(leaves.groups).sum(axis=1), leaves.sizes)
    assert leaves.groups.counts.dtype == np.int64
    assert "3 groups" in repr(leaves)
    # the trees do not look at them
    pooled = mw.stream_leaves(MODEL, [X[p] for p in parts], max_leaves, seed=1)
    assert pooled.groups is None
    np.testing.assert_array_equal(pooled.leaf_of_row, leaves.leaf_of_row)


def test_groups_may_come_in_any_form():
    X, groups = data()
    parts = [slice(0, 250), slice(250, 600)]
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(patient=groups)
    codes = np.unique(groups, return_inverse=True)[1]
    expected = mw.stream_leaves(MODEL, [X[p] for p in parts], 40, seed=0, groups=list(groups))
    for blocks, given in (
        ([frame[p] for p in parts], "patient"),
        ([pa.Table.from_pandas(frame[p]) for p in parts], "patient"),
        (lambda: (frame[p].astype({"patient": "category"}) for p in parts), "patient"),
        ([X[p] for p in parts], pd.Series(groups, index=np.arange(600)[::-1])),
        ([X[p].tolist() for p in parts], groups),
        ([np.column_stack([X[:, 0], codes, X[:, 1]])[p] for p in parts], 1),
        ([np.column_stack([X, codes])[p].tolist() for p in parts], np.int64(2)),
    ):
        found = mw.stream_leaves(MODEL, blocks, 40, seed=0, groups=given)
        names = (0, 1, 2) if isinstance(given, (int, np.int64)) else ("a", "b", "c")
        assert found.groups.names == names
        assert all(type(name) is type(names[0]) for name in found.groups.names)
        np.testing.assert_array_equal(found.groups.codes, expected.groups.codes)
        np.testing.assert_array_equal(found.groups.counts, expected.groups.counts)
        np.testing.assert_array_equal(found.statistics, expected.statistics)
    counts = np.random.default_rng(0).poisson(0.5, (300, 6))
    model = mw.Mixture(mw.Multinomial(), mw.FiniteMixture())
    words = mw.stream_leaves(model, csr_array(counts), 20, seed=0, groups=0)
    assert words.shape[1] == 5
    assert words.groups.sizes.tolist() == np.bincount(counts[:, 0]).tolist()


def test_categories_keep_their_order():
    levels = pd.CategoricalDtype(["mid", "hi", "lo"])
    blocks = [
        pd.DataFrame({"x": [0.0, 1.0], "level": pd.Series(own, dtype=levels)})
        for own in (["lo", "mid"], ["hi", "lo"])
    ]
    leaves = mw.stream_leaves(MODEL, blocks, 4, seed=0, groups="level")
    assert leaves.groups.names == ("mid", "hi", "lo")
    assert leaves.groups.sizes.tolist() == [1, 1, 2]


def test_the_joint_is_that_of_the_rows():
    """Of a partition of leaves, with every row's group, constants and all."""
    X, groups = data(80)
    prior = mw.FiniteMixture(gamma=mw.hyper.Gamma(2, 2), per_group=True)
    model = mw.Mixture(MODEL.likelihood.resolve(X), prior)
    leaves = mw.stream_leaves(model, [X[:30], X[30:]], 12, seed=1, groups=groups)
    assert (table(leaves.groups) > 0).sum(axis=1).max() > 1  # some are of two groups
    for sampler in (mw.Tree(), mw.Gibbs(), mw.Tree(max_leaves=6)):
        post = mw.sample(model, leaves, sampler, **FAST)
        labels = post.labels[1, -1][leaves.leaf_of_row]
        log_u, gammas = np.split(post.group_values[1, -1], 2)
        rate, log_tau = post.rate[1, -1], np.logaddexp(0, log_u)
        joint = rate * np.expm1(-gammas @ log_tau) - np.log(-np.expm1(-rate))
        family = model.likelihood.bind(X)
        for k in range(labels.max() + 1):
            joint += np.log(rate) + family.log_marginal(np.flatnonzero(labels == k))
        for j, name in enumerate("abc"):
            n = int((groups == name).sum())
            joint += (n - 1) * log_u[j] - lgamma(n)
            for k in range(labels.max() + 1):
                there = int(((groups == name) & (labels == k)).sum())
                joint += lgamma(gammas[j] + there) - lgamma(gammas[j])
                joint -= (gammas[j] + there) * log_tau[j]
        joint += model.likelihood.row_constants(X).sum()
        assert post.log_joint[1, -1] == pytest.approx(joint, rel=1e-9)


@pytest.fixture(scope="module", name="streamed")
def _streamed():
    X, groups = data(3000)
    parts = np.split(np.arange(3000), 5)
    leaves = mw.stream_leaves(MODEL, [X[p] for p in parts], 60, seed=0, groups=groups)
    return leaves, mw.sample(MODEL, leaves, **FAST)


def test_what_a_posterior_of_leaves_says(streamed):
    """It has leaves, and speaks of rows; about what the rows themselves say."""
    X, groups = data(3000)
    leaves, post = streamed
    assert post.groups.names == ("a", "b", "c")
    assert post.X.groups is None  # kept once
    assert post.settings["groups"] == post.groups.in_words() == "3 groups of 300 to 1,365 rows"
    shares = post.group_weights()
    assert shares["rows"].unstack().sum(axis=1).tolist() == post.groups.sizes.tolist()
    far = int(post.point_estimate()[leaves.leaf_of_row[np.argmax(X[:, 0])]])
    exact = mw.sample(MODEL, X, groups=groups, **FAST).group_weights()
    assert shares.loc[("a", far), "mean"] == pytest.approx(0.8, abs=0.05)
    assert shares.loc[("b", far), "mean"] == pytest.approx(0.2, abs=0.05)
    np.testing.assert_allclose(
        np.sort(shares["mean"].unstack()), np.sort(exact["mean"].unstack()), atol=0.02
    )
    assert post.compare_groups("a", "b").loc[far, "probability"] > 0.99
    centres = np.array([[12.0, 12.0], [0.0, 0.0]])
    a, b, new = (post.log_density(centres, groups=name) for name in ("a", "b", "new"))
    assert b[0] < new[0] < a[0]
    densities = [np.exp(post.log_density(X[:9], groups=name)) for name in "abc"]
    pooled = post.groups.sizes / 3000 @ np.array(densities)
    np.testing.assert_allclose(post.log_density(X[:9]), np.log(pooled), rtol=1e-6)


def test_saved_loaded_and_resumed(streamed, tmp_path):
    leaves, post = streamed
    post.save(tmp_path / "saved")
    again = mw.load(tmp_path / "saved")
    pd.testing.assert_frame_equal(again.group_weights(), post.group_weights())
    for field in fields(post.groups):
        first, second = (getattr(draws.groups, field.name) for draws in (post, again))
        np.testing.assert_array_equal(first, second)
    mw.sample(MODEL, leaves, **{**FAST, "draws": 8}, store=tmp_path / "run")
    resumed = mw.resume(tmp_path / "run", draws=20, progress=False)
    np.testing.assert_array_equal(resumed.labels, post.labels)
    np.testing.assert_array_equal(resumed.group_values, post.group_values)
    np.testing.assert_array_equal(resumed.log_joint, post.log_joint)


def test_known_labels_of_leaves(streamed):
    leaves, _ = streamed
    known = np.where(np.arange(leaves.n_leaves) < 3, 0, -1)
    post = mw.sample(MODEL, leaves, known=known, **FAST)
    assert (post.labels[..., :3] == post.labels[..., :1]).all()
    assert post.group_weights()["rows"].sum() == 3000


def test_parts_are_joined():
    """As workers have them: not every part has every group."""
    X, groups = data()
    model = replace(MODEL, likelihood=MODEL.likelihood.resolve(X))
    parts = [np.flatnonzero(np.isin(groups, own)) for own in (["b"], ["c", "a"])]
    found = [mw.stream_leaves(model, [X[p]], 9, seed=0, groups=groups[p]) for p in parts]
    both = joined(found)
    assert both.groups.names == ("a", "b", "c")
    expected = np.zeros((both.n_leaves, 3))
    expected[: found[0].n_leaves, 1:2] = table(found[0].groups)
    expected[found[0].n_leaves :, [0, 2]] = table(found[1].groups)
    np.testing.assert_array_equal(table(both.groups), expected)


def test_one_group_is_no_group():
    X, _ = data()
    pooled = mw.stream_leaves(MODEL, [X], 20, seed=0)
    one = mw.stream_leaves(MODEL, [X], 20, seed=0, groups=["all"] * 600)
    first, second = (mw.sample(MODEL, leaves, **FAST) for leaves in (pooled, one))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_allclose(first.rate, second.rate)


def test_growth_goes_on_after_it_was_looked_at():
    X, groups = data()
    growth = LeafGrowth(
        replace(MODEL, likelihood=MODEL.likelihood.resolve(X)), 20, np.random.SeedSequence(1)
    )
    for number, p in enumerate(np.split(np.arange(600), 4)):
        growth.add(X[p], number, groups[p])
        leaves = growth.leaves()
        np.testing.assert_array_equal(table(leaves.groups), counted(leaves, groups[: p[-1] + 1]))


def test_refusals(streamed):
    X, groups = data()
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(patient=groups)
    with pytest.raises(TypeError, match=r"groups= needs a prior .* mw.FiniteMixture\(\), got NGGP"):
        mw.stream_leaves(mw.Mixture(), [X], groups=groups)
    blocks = [frame[["x", "y"]].assign(site=1), frame[["x", "y"]]]
    with pytest.raises(ValueError, match="got 'site'; block 1 has x, y"):
        mw.stream_leaves(MODEL, iter(blocks), groups="site")
    with pytest.raises(ValueError, match="0 to 1 in block 0, got 2"):
        mw.stream_leaves(MODEL, [X], groups=2)
    with pytest.raises(ValueError, match="number of a column where blocks have no names, got 'x'"):
        mw.stream_leaves(MODEL, [X], groups="x")
    with pytest.raises(ValueError, match=r"must be the name or number of a column .*, got"):
        mw.stream_leaves(MODEL, [X], groups=groups[:, None])
    for blocks, given, told in (
        ([X, X], groups, "got 600 names, and block 1 goes on to row 1,200"),
        ([X[:500]], groups, "got 600 names for 500 rows"),
    ):
        with pytest.raises(ValueError, match=told):
            mw.stream_leaves(MODEL, blocks, groups=given)
    frame.loc[7, "patient"] = None
    with pytest.raises(ValueError, match=r"groups, in block 1, must have a group .* in row 7"):
        mw.stream_leaves(MODEL, [frame[:7], frame], groups="patient")
    leaves, _ = streamed
    with pytest.raises(ValueError, match="groups must be None where X is WeightedLeaves"):
        mw.sample(MODEL, leaves, groups=groups, **FAST)
    with pytest.raises(TypeError, match="groups= needs a prior"):
        mw.sample(replace(MODEL, prior=mw.NGGP()), leaves, **FAST)
    with pytest.raises(TypeError, match="does not work with groups="):
        mw.sample(MODEL, leaves, mw.Slice(), **FAST)
    with pytest.raises(ValueError, match="groups must be those of 60 leaves"):
        replace(leaves, groups=replace(leaves.groups, counts=None, ends=None))


def test_a_pass_over_arrays_without_groups_is_as_it_was():
    X, _ = data()
    assert [own for _, own in with_groups([X], None)] == [None]
