"""Data that come in blocks: weighted leaves of which only statistics are kept."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from math import lgamma

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.core import bind_family, make_chain
from mixwood.input.blocks import BLOCK_ROWS
from mixwood.likelihoods.weighted_leaves import joined
from mixwood.reference.priors import log_kappa, log_nonempty, psi
from mixwood.trees.streaming import LeafGrowth, RowSample, wants_sample

FAST = {"draws": 5, "warmup": 5, "chains": 2, "seed": 3, "progress": False}
ROWS = np.random.default_rng(0).normal(size=(20, 2))


def same(first, second):
    for field in fields(first):
        a, b = (getattr(leaves, field.name) for leaves in (first, second))
        if field.name == "likelihood":
            assert a == b
        else:
            np.testing.assert_array_equal(
                *(x.toarray() if hasattr(x, "toarray") else x for x in (a, b)), strict=True
            )


@pytest.mark.parametrize("seed", [0, 2])
def test_leaves_that_outgrow_a_block_are_judged_as_they_are(seed):
    """A large block and small ones after it: leaves have words far more often than these."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(8, 3.0), 3)
    model = mw.Mixture(mw.Multinomial(beta=0.5))
    growth = LeafGrowth(model, 6, np.random.SeedSequence(1))
    for number, n in enumerate([200, *[3] * 10]):
        counts = np.array([rng.multinomial(150, topics[k]) for k in rng.integers(0, 3, n)])
        growth.add(model.likelihood.fitted_to(csr_array(counts))[1], number)
        growth._forest.check()


def test_leaves_hold_the_sums_of_their_rows(family_case):
    likelihood, X = family_case(300)
    likelihood, X = likelihood.fitted_to(X)
    model = mw.Mixture(likelihood)
    leaves = mw.stream_leaves(model, lambda: iter([X[:70], X[70:200], X[200:]]), 40, seed=1)
    assert leaves.n_leaves <= 40
    assert leaves.n_items == 300
    family, constants = likelihood.bind(X), likelihood.row_constants(X)
    apart = family.log_alone()
    statistics = leaves.statistics
    if not isinstance(statistics, np.ndarray):
        statistics = statistics.toarray()
    for leaf in range(leaves.n_leaves):
        rows = np.flatnonzero(leaves.leaf_of_row == leaf)
        assert leaves.sizes[leaf] == len(rows)
        assert leaves.log_constants[leaf] == pytest.approx(constants[rows].sum())
        assert leaves.log_apart[leaf] == pytest.approx(apart[rows].sum())
        statistic = statistics[leaf]
        expected = family.statistics(rows)[: len(statistic)]
        np.testing.assert_allclose(statistic, expected, rtol=1e-9, atol=1e-9)
    # in the order in which their first rows came
    _, first = np.unique(leaves.leaf_of_row, return_index=True)
    assert np.all(np.diff(first) > 0)


def test_the_joint_is_that_of_the_rows_under_every_prior(prior, blobs):
    check_joint(mw.Gaussian(), blobs(60), prior)


def test_the_joint_is_that_of_the_rows_of_every_family(family_case):
    check_joint(*family_case(60), mw.NGGP())


def check_joint(likelihood, X, prior):
    """The joint of a partition of leaves is that of the rows, constants and all."""
    likelihood, X = likelihood.fitted_to(X)
    model = mw.Mixture(likelihood, prior)
    leaves = mw.stream_leaves(model, [X[:20], X[20:]], max_leaves=12, seed=1)
    post = mw.sample(model, leaves, **FAST)
    family, constant = likelihood.bind(X), likelihood.row_constants(X).sum()
    if likelihood.base_size > 0:
        family = family.at(post.bases[1, -1])
    labels = post.labels[1, -1][leaves.leaf_of_row]
    values = post.core_values()
    log_u, log_alpha, sigma = (v[1, -1] for v in (values.log_u, values.log_alpha, values.sigma))
    joint = 59 * log_u - psi(prior, log_u, log_alpha, sigma) - lgamma(60) + constant
    joint -= log_nonempty(prior, log_alpha)
    for k in range(labels.max() + 1):
        rows = np.flatnonzero(labels == k)
        joint += log_kappa(prior, len(rows), log_u, log_alpha, sigma) + family.log_marginal(rows)
    assert post.log_joint[1, -1] == pytest.approx(joint, rel=1e-9, abs=1e-8)


def test_blocks_may_come_in_any_form(tmp_path, blobs):
    X = blobs(1200)
    frame = pd.DataFrame(X, columns=["x", "y"])
    parts = [slice(0, 500), slice(500, 1000), slice(1000, 1200)]
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    arrow = pa.Table.from_pandas(frame)
    expected = mw.stream_leaves(mw.Mixture(), [X[p] for p in parts], 50, seed=0)
    for blocks in (
        lambda: (X[p] for p in parts),
        [frame[p] for p in parts],
        [arrow.slice(p.start, p.stop - p.start) for p in parts],
        arrow.to_reader(max_chunksize=500).read_all().to_batches(max_chunksize=500),
        [mapped[p] for p in parts],
    ):
        same(mw.stream_leaves(mw.Mixture(), blocks, 50, seed=0), expected)
    whole = mw.stream_leaves(mw.Mixture(), mapped, 50, seed=0)
    same(mw.stream_leaves(mw.Mixture(), X, 50, seed=0), whole)
    same(mw.stream_leaves(mw.Mixture(), frame, 50, seed=0), whole)
    counts = csr_array(np.random.default_rng(0).poisson(0.5, (300, 6)))
    model = mw.Mixture(mw.Multinomial())
    same(
        mw.stream_leaves(model, counts, 20, seed=0),
        mw.stream_leaves(model, counts.toarray(), 20, seed=0),
    )
    assert BLOCK_ROWS > 1200


def test_open_parameters_come_from_all_blocks_or_the_first(blobs):
    X = np.vstack([blobs(300), 100 + blobs(300)])
    parts = [X[:300], X[300:]]
    all_of_it = mw.stream_leaves(mw.Mixture(), parts, 30, seed=0).likelihood
    assert all_of_it == mw.Gaussian().resolve(X)  # as the sample has all rows
    first = mw.stream_leaves(mw.Mixture(), iter(parts), 30, seed=0).likelihood
    assert first == mw.Gaussian().resolve(X[:300])
    explicit = mw.Gaussian().resolve(X)
    assert not wants_sample(explicit)
    assert mw.stream_leaves(mw.Mixture(explicit), iter(parts), 30).likelihood == explicit


def test_leaves_go_on_growing_after_they_were_looked_at(blobs):
    model = mw.Mixture(mw.Gaussian().resolve(blobs(100)))
    looked_at, left_alone = (LeafGrowth(model, 20, np.random.SeedSequence(1)) for _ in range(2))
    for number in range(4):
        for growth in (looked_at, left_alone):
            growth.add(blobs(100, seed=number), number)
        assert looked_at.leaves().leaf_of_row.shape == (100 * (number + 1),)
    same(looked_at.leaves(), left_alone.leaves())


def test_a_sample_is_uniform():
    """However the rows are cut into blocks, and merged, each is kept as likely."""
    counts = np.zeros(60)
    for seed in range(400):
        sequence = np.random.SeedSequence(seed)
        parts = []
        for number, rows in enumerate(np.split(np.arange(60.0)[:, None], [5, 45])):
            parts.append(RowSample(sequence, size=12))
            parts[-1].add(rows, number)
        rows = RowSample.united(parts[0], RowSample.united(parts[1], parts[2])).rows
        assert len(rows) == len(np.unique(rows)) == 12
        counts[rows.ravel().astype(int)] += 1
    # 400 draws with probability 1/5 each: a chi-square of about 60 * 0.8
    assert ((counts - 80) ** 2 / 80).sum() < 100


def test_draws_do_not_depend_on_where_chains_run_and_can_be_saved(tmp_path, blobs):
    leaves = mw.stream_leaves(mw.Mixture(), blobs(900), 30, seed=0)
    post = mw.sample(mw.Mixture(), leaves, **FAST)
    assert post.labels.shape == (2, 5, leaves.n_leaves)
    np.testing.assert_array_equal(post.item_sizes, leaves.sizes)
    again = mw.sample(mw.Mixture(), pickle.loads(pickle.dumps(leaves)), n_jobs=1, **FAST)
    np.testing.assert_array_equal(again.labels, post.labels)
    stored = mw.sample(mw.Mixture(), leaves, store=tmp_path / "run", **FAST)
    np.testing.assert_array_equal(stored.labels, post.labels)
    np.testing.assert_array_equal(stored.log_joint, post.log_joint)
    longer = mw.resume(tmp_path / "run", draws=8, progress=False)
    whole = mw.sample(mw.Mixture(), leaves, **{**FAST, "draws": 8})
    np.testing.assert_array_equal(longer.labels, whole.labels)
    loaded = mw.load(tmp_path / "run")
    assert loaded.resolved == post.resolved
    same(loaded.X, replace(leaves, leaf_of_row=None))


def test_states_of_leaves_are_saved_to_the_last_bit(family_case):
    likelihood, X = family_case(80)
    likelihood, X = likelihood.fitted_to(X)
    model = mw.Mixture(likelihood)
    leaves = mw.stream_leaves(model, [X], max_leaves=20, seed=1)
    start = np.zeros(leaves.n_leaves, dtype=np.int32)
    chains = [make_chain(model, leaves, start, np.random.PCG64(k), mw.Tree()) for k in (1, 2)]
    for _ in range(30):
        chains[0].iterate()
    state = chains[0].save_state()
    chains[1].load_state(state)
    assert chains[1].save_state() == state
    chains[1].check()
    assert chains[1].log_joint() == chains[0].log_joint()


def test_rows_are_compared_with_clusters_of_leaves(blobs):
    """Prediction counts rows: the same clusters by leaves and by rows give the same density."""
    X = blobs(400)
    model = mw.Mixture(mw.Gaussian().resolve(X), mw.NGGP(1.0, 0.3))
    leaves = mw.stream_leaves(model, [X], max_leaves=25, seed=0)
    post = mw.sample(model, leaves, **FAST)
    parts = {name: getattr(post, name) for name in ("log_joint", "log_u", "parameters", "model")}
    parts["bases"] = post.bases
    rows = mw.Posterior(
        labels=post.labels[..., leaves.leaf_of_row], resolved=model.likelihood, X=X, **parts
    )
    new = blobs(30, seed=5)
    np.testing.assert_allclose(post.log_density(new), rows.log_density(new), rtol=1e-8)
    estimate = post.labels[0, 0]
    for new_cluster in (False, True):
        np.testing.assert_allclose(
            post.predict_proba(new, new=new_cluster).sum(axis=1), 1.0, rtol=1e-9
        )
    assert estimate.shape == (leaves.n_leaves,)
    assert post.sample_predictive(7, seed=1).shape == (7, 2)
    assert post.describe()["size"].sum() == 400


def test_parts_are_joined(blobs):
    X = blobs(600)
    model = mw.Mixture(mw.Gaussian().resolve(X))
    parts = [mw.stream_leaves(model, [X[k::3]], 20, seed=k) for k in range(3)]
    whole = joined(parts)
    assert whole.n_leaves == sum(part.n_leaves for part in parts)
    assert whole.n_items == 600
    assert "600 rows" in repr(whole)
    post = mw.sample(model, whole, sampler=mw.Tree(max_leaves=15), **FAST)  # collapsed once more
    assert post.labels.shape[2] == whole.n_leaves
    assert bind_family(model, whole).n_rows == whole.n_leaves


# --- what is refused


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([ROWS, np.ones((3, 4))], "block 1 has the wrong number of columns"),
        ([ROWS, ROWS, [[0.0, np.nan]]], "block 2 has 1 missing value"),
        ([ROWS, np.empty((0, 2))], "block 1 .*row"),
        ([ROWS, [["a", "b"]]], "block 1"),
        ([], "at least one block"),
    ],
)
@pytest.mark.parametrize("once", [False, True])
def test_a_bad_block_is_named(blocks, message, once):
    with pytest.raises((ValueError, TypeError), match=message):
        mw.stream_leaves(mw.Mixture(), iter(blocks) if once else blocks, max_leaves=10)


def test_wrong_arguments(blobs):
    with pytest.raises(TypeError, match="blocks must be an iterable"):
        mw.stream_leaves(mw.Mixture(), 3)
    with pytest.raises(ValueError, match="max_leaves must be at least 2"):
        mw.stream_leaves(mw.Mixture(), [blobs(5)], max_leaves=1)
    with pytest.raises(TypeError, match="model must be"):
        mw.stream_leaves(mw.Gaussian(), [blobs(5)])
    leaves = mw.stream_leaves(mw.Mixture(), [blobs(30)], max_leaves=9)
    with pytest.raises(TypeError, match=r"sampler must be mw\.Tree"):
        mw.sample(mw.Mixture(), leaves, sampler="splitmerge", **FAST)
    with pytest.raises(ValueError, match="X holds leaves of Gaussian rows"):
        mw.sample(mw.Mixture(mw.Poisson()), leaves, **FAST)
    post = mw.sample(mw.Mixture(), leaves, **FAST)
    with pytest.raises((ValueError, TypeError), match="leaves"):
        post.to_arviz(log_likelihood=True)
