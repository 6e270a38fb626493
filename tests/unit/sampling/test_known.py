"""`known=` and `weights=` of `sample`: what they do, keep and refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.likelihoods.known_labels import kept_by
from mixwood.posterior.leave_one_out import log_ordinates
from mixwood.testing import enumerate_posterior

FAST = {"draws": 20, "warmup": 20, "chains": 2, "seed": 3, "progress": False}
SAMPLERS = [mw.Tree(), mw.Gibbs()]


@pytest.fixture
def labelled(blobs):
    """Rows, and labels of a few that cut across what the rows look like."""
    X = blobs(60)
    known = np.full(60, -1)
    known[[0, 7, 31]], known[[1, 12]], known[44] = 5, 2, 9
    return X, known


def kept_in(post, known):
    rows = post.labels.reshape(-1, post.n_items)
    return all(kept_by(labels, known) is None for labels in rows)


@pytest.mark.parametrize("init", ["ibhc", "one", "singletons", "on-top"])
@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_labels_are_kept_from_every_start(labelled, sampler, init):
    X, known = labelled
    options = {**FAST, "warmup": 0, "draws": 5}
    post = mw.sample(mw.Mixture(), X, sampler=sampler, init=init, known=known, **options)
    assert post.labels.shape == (2, 5, 60)
    assert kept_in(post, known)
    assert kept_by(post.point_estimate(), known) is None
    np.testing.assert_array_equal(post.known >= 0, known >= 0)
    assert "6 known labels" in repr(post)
    assert post.settings["known"].startswith("6 of 60 rows in 3 groups")
    assert post.summary().attrs["known"] == post.settings["known"]


def test_the_joint_is_that_of_the_rows(labelled):
    """So runs with and without known labels can be compared."""
    X, known = labelled
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.DirichletProcess(alpha=1.0))
    post = mw.sample(model, X, known=known, **FAST)
    labels = post.labels[0, -1].astype(np.int32)
    over_rows = mw.Mixture(post.resolved, model.prior)
    chain = make_chain(over_rows, post.X, labels, np.random.PCG64(0), mw.Gibbs())
    chain.set_state(labels, float(post.log_u[0, -1]), 0.0, 0.0, 0.0)
    joint = chain.log_joint() + post.resolved.row_constants(post.X).sum()
    assert post.log_joint[0, -1] == pytest.approx(joint)


def test_nothing_known_is_as_without(labelled):
    X, _ = labelled
    without = mw.sample(mw.Mixture(), X, **FAST)
    post = mw.sample(mw.Mixture(), X, known=np.full(60, -1), **FAST)
    np.testing.assert_array_equal(post.labels, without.labels)
    assert post.known is None


def test_tables_and_counts_take_known_labels(family_case):
    likelihood, X = family_case(40)
    known = np.full(40, -1)
    known[[0, 3]], known[[5, 9]] = 0, 1
    post = mw.sample(mw.Mixture(likelihood), X, known=known, **FAST)
    assert kept_in(post, known)
    assert post.predict(X[:3]).shape == (3,)
    assert post.describe()["size"].sum() == 40


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_runs_are_saved_and_resumed(labelled, sampler, tmp_path):
    X, known = labelled
    weights = np.random.default_rng(1).uniform(0.3, 2, size=60)
    model = mw.Mixture(mw.Gaussian(), mw.DirichletProcess())
    options = {**FAST, "sampler": sampler, "known": known, "weights": weights}
    whole = mw.sample(model, X, **{**options, "draws": 37})
    mw.sample(model, X, store=tmp_path / "run", **{**options, "draws": 13})
    longer = mw.resume(tmp_path / "run", draws=37, progress=False)
    np.testing.assert_array_equal(longer.labels, whole.labels)
    np.testing.assert_array_equal(longer.log_joint, whole.log_joint)
    whole.save(tmp_path / "saved")
    for post in (mw.load(tmp_path / "run"), mw.load(tmp_path / "saved")):
        np.testing.assert_array_equal(post.known, whole.known)
        np.testing.assert_array_equal(post.item_sizes, whole.item_sizes)
        np.testing.assert_array_equal(post.point_estimate(), whole.point_estimate())
        assert post.settings["weights"].startswith("60 rows that count as ")


def test_weighted_rows_of_a_posterior_count(blobs):
    X = pd.DataFrame(blobs(40), columns=["x", "y"])
    weights = np.linspace(0.5, 3, 40)
    post = mw.sample(mw.Mixture(mw.Gaussian(), mw.DirichletProcess()), X, weights=weights, **FAST)
    assert post.n_items == 40
    assert post.column_names == ("x", "y")
    np.testing.assert_allclose(post.item_sizes, weights, atol=1e-6)
    assert post.describe()["size"].sum() == pytest.approx(weights.sum(), abs=5)
    assert post.predict_proba(X[:3]).sum(axis=1) == pytest.approx(np.ones(3))
    assert np.all(np.isfinite(post.log_density(X[:3])))
    assert post.certainty().shape == (40,)
    assert post.labels_table(X)["size"].tolist() == pytest.approx(weights.tolist(), abs=1e-6)
    assert post.credible_ball().radius >= 0
    with pytest.raises(ValueError, match=r"weighted leaves, and rows with weights=, have none"):
        log_ordinates(post)


def test_weights_of_one_change_nothing_but_the_way(blobs):
    """The same posterior: chains over leaves draw other numbers, but joints are alike."""
    X = blobs(50)
    model = mw.Mixture(mw.Gaussian(scale="data"), mw.DirichletProcess(alpha=1.0))
    options = {**FAST, "draws": 200}
    plain = mw.sample(model, X, **options)
    weighted = mw.sample(model, X, weights=np.ones(50), **options)
    assert weighted.log_joint.mean() == pytest.approx(plain.log_joint.mean(), abs=2)


def test_predictions_follow_the_formula_with_real_sizes():
    """One cluster of weight n and a Dirichlet process: n/(n + alpha) against alpha/(n + alpha)."""
    X, alpha = np.zeros((3, 1)), 2.0
    model = mw.Mixture(
        mw.Gaussian(r=1.0, nu=50.0, mean=[0.0], scale=[[0.01]]), mw.DirichletProcess(alpha=alpha)
    )
    weights = np.array([4.5, 3.25, 2.0])
    post = mw.sample(model, X, weights=weights, init="one", **FAST)
    one = post.labels.max(axis=2) == 0
    assert one.mean() > 0.9
    new = post.predict_proba(np.zeros((1, 1)), new=True)[0, -1]
    family = post.resolved.bind(np.zeros((2, 1)))
    leaves = post.X.bind()
    together = leaves.cluster_statistics(np.zeros(3, dtype=np.int32))
    old = weights.sum() * np.exp(family.log_predictive_table(together, 0, 1)[0, 0])
    fresh = alpha * np.exp(family.log_alone()[0])
    assert new == pytest.approx(fresh / (old + fresh), rel=0.15)


def test_leave_one_out_keeps_the_labels():
    """``1 / E[1/w]`` is the ratio of two evidences, each restricted to what is allowed."""
    X = np.array([[-1.2], [1.3], [1.1], [-0.9], [0.4]])
    model = mw.Mixture(
        mw.Gaussian(r=0.5, nu=4, mean=[0.0], scale=[[2.0]]), mw.DirichletProcess(alpha=2.0)
    )
    known = np.array([0, 1, -1, 0, 2])
    post = mw.sample(
        model, X, known=known, draws=4000, warmup=200, chains=1, seed=1, progress=False
    )
    values = -np.log(np.exp(-log_ordinates(post)).mean(axis=(0, 1)))
    whole = enumerate_posterior(model, X).restricted([[0, 3]], [0, 1, 4]).log_evidence
    for row in range(5):
        others = [k for k in range(5) if k != row]
        place = {k: p for p, k in enumerate(others)}
        blocks = [[place[0], place[3]]] if row not in (0, 3) else []
        apart = [place[k] for k in (3 if row == 0 else 0, 1, 4) if k in place]
        rest = enumerate_posterior(model, X[others]).restricted(blocks, apart).log_evidence
        assert values[row] == pytest.approx(whole - rest, abs=0.06), row


@pytest.mark.parametrize("argument", ["known", "weights"])
@pytest.mark.parametrize("sampler", ["splitmerge", "slice", "papertree"])
def test_samplers_that_cannot_refuse(sampler, argument, labelled):
    X, known = labelled
    given = {"known": known} if argument == "known" else {"weights": np.full(60, 2.0)}
    with pytest.raises(TypeError, match=r"sampler must be mw\.Tree\(\) or mw\.Gibbs\(\)"):
        mw.sample(mw.Mixture(), X, sampler=sampler, **given, **FAST)


def test_what_cannot_be_kept_is_refused(labelled):
    X, known = labelled
    with pytest.raises(ValueError, match="sampler must not have max_leaves with known="):
        mw.sample(mw.Mixture(), X, sampler=mw.Tree(max_leaves=20), known=known, **FAST)
    with pytest.raises(ValueError, match="init must keep what is known: rows 0 and 1 have diff"):
        mw.sample(mw.Mixture(), X, init=np.zeros(60, dtype=int), known=known, **FAST)
    with pytest.raises(ValueError, match="init must keep what is known: rows 0 and 7 have one"):
        mw.sample(mw.Mixture(), X, init=np.arange(60), known=known, **FAST)
    leaves = mw.stream_leaves(mw.Mixture(), [X], max_leaves=20, seed=1)
    with pytest.raises(ValueError, match="weights must be None where X is WeightedLeaves"):
        mw.sample(mw.Mixture(), leaves, weights=np.ones(leaves.n_leaves), **FAST)
    with pytest.raises(ValueError, match="known must be 20 labels, one per row of X"):
        mw.sample(mw.Mixture(), leaves, known=known, **FAST)


def test_known_labels_of_leaves(blobs):
    leaves = mw.stream_leaves(mw.Mixture(), [blobs(80)], max_leaves=15, seed=1)
    known = np.full(leaves.n_leaves, -1)
    known[[0, 3]], known[1] = 0, 1
    post = mw.sample(mw.Mixture(), leaves, known=known, **FAST)
    assert kept_in(post, known)
    assert post.describe()["size"].sum() == 80


@pytest.mark.parametrize(
    ("prior", "least", "refused"),
    [
        (mw.NGGP(), 0.9, True),
        (mw.NGGP(), 1.0, False),
        (mw.NGGP(sigma=0.3), 0.3, True),
        (mw.NGGP(sigma=0.3), 0.4, False),
        (mw.NormalizedInverseGaussian(), 0.5, True),
        (mw.PitmanYor(), 0.9, True),
        (mw.DirichletProcess(), 0.01, False),
        (mw.FiniteMixture(), 0.01, False),
    ],
)
def test_rows_lighter_than_a_discount_are_refused(prior, least, refused, blobs):
    weights = np.full(20, 2.0)
    weights[4] = least
    model, options = mw.Mixture(mw.Gaussian(scale="data"), prior), {**FAST, "draws": 5}
    if refused:
        with pytest.raises(ValueError, match=r"weights must be at least 1 with .* in row 4"):
            mw.sample(model, blobs(20), weights=weights, **options)
    else:
        assert np.all(np.isfinite(mw.sample(model, blobs(20), weights=weights, **options).u))


@pytest.mark.parametrize("argument", ["known", "weights"])
def test_entries_that_are_drawn_are_refused(argument, labelled):
    X, known = labelled
    X = X.copy()
    X[3, 1] = np.nan
    given = {"known": known} if argument == "known" else {"weights": np.full(60, 2.0)}
    with pytest.raises(ValueError, match=r"X has 1 missing value \(NaN\), and weighted leaves"):
        mw.sample(mw.Mixture(mw.Gaussian()), X, **given, **FAST)
    post = mw.sample(mw.Mixture(mw.DiagonalGaussian()), X, **given, **FAST)
    assert post.n_items == 60
