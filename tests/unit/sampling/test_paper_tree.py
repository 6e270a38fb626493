"""`PaperTree` as a user meets it, and the books that its chain keeps."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.store.json_codec import decode, encode


@pytest.mark.parametrize("name", ["global_moves", "depth"])
def test_bad_parameters_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 0, got -1"):
        mw.PaperTree(**{name: -1})
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got 1.5"):
        mw.PaperTree(**{name: 1.5})


def test_any_whole_number_reaches_the_core():
    sampler = mw.PaperTree(global_moves=10**12, depth=10**12)
    assert sampler.options(50) == {"global_moves": 2**31 - 1, "depth": 50, "local_sweep": 1}


def test_it_is_written_and_read():
    sampler = mw.PaperTree(global_moves=3, depth=1)
    assert decode(encode(sampler, []), []) == sampler


def test_a_run_and_its_statistics(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 4 * rng.integers(0, 3, (60, 1))
    model = mw.Mixture(mw.Gaussian(scale="data"))
    options = {"draws": 40, "warmup": 10, "chains": 2, "seed": seed, "progress": False}
    post = mw.sample(model, X, mw.PaperTree(global_moves=10, depth=1), **options)
    assert post.labels.shape == (2, 40, 60)
    for stats in post.stats:
        assert list(stats) == ["split", "merge", "local", "parameters", "potentials"]
        for move in ("split", "merge"):
            assert 0 < stats[move]["accepted"] <= stats[move]["proposed"]
            assert np.isfinite([stats[move][f"{what}_log_ratio"] for what in ("mean", "sd")]).all()
            assert stats[move]["seconds"] > 0
        assert stats["split"]["proposed"] + stats["merge"]["proposed"] <= 50 * 10
        assert stats["local"]["proposed"] > stats["local"]["accepted"] > 0
    same = mw.sample(model, X, mw.PaperTree(10, 1), **options, n_jobs=1)
    np.testing.assert_array_equal(same.labels, post.labels)
    by_name = mw.sample(model, X, "papertree", **{**options, "draws": 2})
    assert by_name.settings["sampler"] == "PaperTree(global_moves=20, depth=2)"


@pytest.mark.parametrize("n", [1, 2])
def test_few_rows(n):
    post = mw.sample(
        mw.Mixture(mw.Gaussian(mean=[0.0], scale=[[1.0]])), np.zeros((n, 1)), mw.PaperTree(),
        draws=20, chains=1, seed=0, init="one", progress=False,
    )  # fmt: skip
    assert post.n_clusters.max() <= n


def test_trees_are_right_after_thousands_of_moves(fixed_case, prior, seed, chain_of):
    """Leaves are the cluster's rows; links, statistics, potentials recomputed from scratch."""
    likelihood, X = fixed_case(50)
    labels = np.random.default_rng(seed).integers(0, 5, 50)
    chain = chain_of(likelihood, X, labels, prior, seed, mw.PaperTree(20, 1))
    chain.check()
    for _ in range(15):
        chain.iterate(10)
        chain.check()
    reports = {report["move"]: report for report in chain.reports()}
    assert reports["split"]["proposed"] + reports["merge"]["proposed"] > 500
    # Under a finite mixture, whose new clusters are large or none, few of them are taken.
    fewest = 0 if isinstance(prior, mw.FiniteMixture) else 20
    assert reports["split"]["accepted"] + reports["merge"]["accepted"] > fewest
    assert reports["local"]["accepted"] > fewest


def test_trees_are_right_where_the_base_measure_moves(family_case, seed, chain_of):
    likelihood, X = family_case(50)
    labels = np.random.default_rng(seed).integers(0, 5, 50)
    chain = chain_of(likelihood, X, labels, mw.NGGP(), seed, mw.PaperTree(20, 1))
    for _ in range(5):
        chain.iterate(5)
        chain.check()


def test_weights_and_ordinates_are_those_of_gibbs(seed, chain_of):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(20, 2)), rng.integers(0, 3, 20)
    chains = [
        chain_of(mw.Gaussian(), X, labels, None, seed, sampler)
        for sampler in (mw.Gibbs(), mw.PaperTree())
    ]
    for row in range(20):
        np.testing.assert_allclose(*(chain.log_weights(row) for chain in chains))
    np.testing.assert_allclose(*(chain.log_ordinates() for chain in chains))
    assert chains[0].log_joint() == pytest.approx(chains[1].log_joint(), rel=1e-12)


def test_it_leaves_a_bad_start_where_gibbs_stays(seed):
    """The paper's toy figure: its likelihood and start, 13 clusters."""
    X, truth = mw.datasets.toy()
    model = mw.Mixture(mw.Gaussian(scale="paper"), mw.DirichletProcess(1.0))
    common = {"warmup": 0, "chains": 4, "seed": seed, "progress": False}
    best = np.median(mw.sample(model, X, draws=100, init=truth, **common).log_joint)
    far = {}
    for sampler, draws in ((mw.PaperTree(), 200), (mw.Gibbs(), 800)):
        post = mw.sample(model, X, sampler, draws=draws, init="on-top", **common)
        far[sampler.name] = best - post.log_joint[:, -1]
    assert np.sort(far["papertree"])[2] < 60, far  # three of four chains at the least
    assert np.median(far["gibbs"]) > 120, far
