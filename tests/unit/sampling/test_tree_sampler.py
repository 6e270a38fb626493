"""`Tree` as a user meets it, the books that its chain keeps, and what it freezes."""

from __future__ import annotations

import pickle
from collections import defaultdict

import numpy as np
import pytest

import mixwood as mw
from mixwood.reference.tree_sampler import GuideTree
from mixwood.samplers import as_sampler
from mixwood.store.json_codec import decode, encode

X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * (np.arange(40) % 3)[:, None]
MODEL = mw.Mixture(mw.Gaussian(scale="data"))  # nothing to be learned, which takes time
FAST = {"draws": 15, "warmup": 5, "chains": 2, "seed": 3, "progress": False}


def leaves_of(chain):
    """Return the rows of each leaf of the guide tree."""
    tree = GuideTree(chain.guide())
    return [rows for v, rows in enumerate(tree.rows) if tree.is_leaf(v)]


# --- the class


@pytest.mark.parametrize("name", ["subtree_moves", "split_moves", "leaf_moves", "rebuild"])
def test_bad_numbers_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 0, got -1"):
        mw.Tree(**{name: -1})
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got 1.5"):
        mw.Tree(**{name: 1.5})


@pytest.mark.parametrize("name", ["max_leaves", "passes"])
def test_nothing_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        mw.Tree(**{name: 0})
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got 'all'"):
        mw.Tree(**{name: "all"})


@pytest.mark.parametrize(
    "more",
    [{"fitted_moves": 0}, {}, {"max_leaves": 9}, {"max_leaves": 9, "fitted_moves": 3}],
    ids=str,
)
def test_a_tree_that_moves_nothing_is_refused(more):
    message = r"sampler must move something in every iteration, got Tree\(subtree_moves=0"
    with pytest.raises(ValueError, match=message):
        mw.sample(MODEL, X, mw.Tree(0, 0, 0, **more), **FAST)


def test_fitted_moves_are_something_unless_rows_are_kept_together():
    alone = mw.Tree(0, 0, 0, fitted_moves=3)
    mw.sample(MODEL, X, alone, **FAST)
    for kept in ({"known": [0, 0] + [-1] * (len(X) - 2)}, {"weights": np.ones(len(X))}):
        with pytest.raises(ValueError, match="move something in every iteration where rows are"):
            mw.sample(MODEL, X, alone, **FAST, **kept)


def test_one_kind_of_move_is_enough():
    mw.sample(MODEL, X, mw.Tree(0, 0, 0, fitted_moves=0, redraw_moves=1), **FAST)
    mw.sample(MODEL, X, mw.Tree(0, 0, 1, fitted_moves=0), **FAST)


def test_two_passes_are_two_iterations():
    once = {"rebuild": 0, "passes": 1}
    short = mw.sample(MODEL, X, mw.Tree(**(once | {"passes": 2})), **FAST)
    long = mw.sample(MODEL, X, mw.Tree(**once), **(FAST | {"thin": 2, "warmup": 10}))
    np.testing.assert_array_equal(short.labels, long.labels)
    np.testing.assert_array_equal(short.log_joint, long.log_joint)


@pytest.mark.parametrize(
    ("n", "passes"), [(99, 1), (100, 4), (200, 3), (300, 2), (1000, 2), (1001, 1)]
)
def test_an_iteration_over_a_few_hundred_rows_has_several_passes(n, passes):
    assert mw.Tree().options(n)["passes"] == passes
    assert mw.Tree(passes=3).options(n)["passes"] == 3


@pytest.mark.parametrize(
    ("n", "columns", "in_warmup", "after_it"),
    [(150, 4, 20, 250), (6400, 16, 40, 400), (1797, 64, 170, 1000)],
)
def test_with_wide_matrices_trees_live_longer(n, columns, in_warmup, after_it):
    options = mw.Tree().options(n, columns)
    assert (options["warmup_rebuild"], options["rebuild"]) == (in_warmup, after_it)
    options = mw.Tree(rebuild=7).options(n, columns)
    assert (options["warmup_rebuild"], options["rebuild"]) == (7, 7)


def test_matrices_have_the_columns_that_take_part():
    rows = np.random.default_rng(1).normal(size=(40, 3))
    wide = mw.Gaussian().resolve(rows)
    assert wide.matrix_size == 3
    assert mw.DiagonalGaussian().resolve(rows).matrix_size == 1
    parts = mw.Product({(0, 1): mw.Gaussian(), 2: mw.Gaussian()})
    assert parts.resolve(parts.check(rows)).matrix_size == 2


def test_any_whole_number_reaches_the_core(chain_of):
    sampler = mw.Tree(0, 0, 0, rebuild=10**12, max_leaves=10**12)
    chain_of(mw.Gaussian(), X, np.zeros(40), sampler=sampler).iterate(3)


def test_it_is_written_and_read_and_has_a_name():
    sampler = mw.Tree(3, 1, max_leaves=7)
    assert decode(encode(sampler, []), []) == sampler
    assert as_sampler("tree") == mw.Tree()


# --- runs


def test_a_run_and_its_statistics():
    post = mw.sample(MODEL, X, mw.Tree(6, 7, 8, rebuild=4, fitted_moves=2, redraw_moves=3), **FAST)
    assert post.settings["sampler"].startswith("Tree(subtree_moves=6, split_moves=7")
    for stats in post.stats:
        moves = ["subtree", "split", "merge", "idle", "fitted split", "fitted merge", "redraw"]
        assert list(stats) == [*moves, "leaf", "parameters", "guide tree"]
        assert stats["redraw"]["proposed"] == 20 * 3
        assert sum(stats[move]["proposed"] for move in ("fitted split", "fitted merge")) == 20 * 2
        assert stats["subtree"]["proposed"] == 20 * 6
        assert sum(stats[move]["proposed"] for move in ("split", "merge", "idle")) == 20 * 7
        # every leaf once where warm-up ends, and a tree there, too
        assert stats["leaf"]["proposed"] == 20 * 8 + 40
        assert stats["guide tree"]["proposed"] == 1 + 1 + 15 // 4
        for move in ("subtree", "leaf"):
            assert 0 < stats[move]["accepted"] < stats[move]["proposed"]
        for move in ("split", "merge"):
            assert 0 <= stats[move]["accepted"] <= stats[move]["proposed"]
            assert np.isfinite(stats[move]["mean_log_ratio"])


def test_a_run_is_pickled_saved_and_loaded(tmp_path):
    post = mw.sample(MODEL, X, "tree", **FAST)
    post.save(tmp_path / "run")
    for copy in (pickle.loads(pickle.dumps(post)), mw.load(tmp_path / "run")):
        np.testing.assert_array_equal(copy.labels, post.labels)
        assert copy.settings["sampler"] == post.settings["sampler"]
        np.testing.assert_equal(copy.stats, post.stats)


def test_a_chain_told_to_stop_has_its_books_in_order(chain_of):
    chain = chain_of(
        mw.Gaussian(), X, np.zeros(40), sampler=mw.Tree(10**9, 10**9, 10, redraw_moves=10**9)
    )
    chain.stop()
    chain.iterate()
    chain.check()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("max_leaves", [None, 1, 2])
def test_very_few_rows(n, max_leaves, chain_of):
    likelihood = mw.Gaussian(mean=[0.0], scale=[[1.0]])
    sampler = mw.Tree(5, 5, 5, 2, max_leaves=max_leaves, redraw_moves=5)
    chain = chain_of(likelihood, np.arange(n)[:, None], np.zeros(n), sampler=sampler)
    chain.iterate(20)
    chain.freeze()
    chain.iterate(20)
    chain.check()
    post = mw.sample(mw.Mixture(likelihood), np.arange(n)[:, None], mw.Tree(), **FAST)
    assert np.all(np.isfinite(post.log_joint))


@pytest.mark.parametrize("likelihood", [mw.Gaussian(), mw.Poisson(), mw.Multinomial()], ids=str)
@pytest.mark.filterwarnings("ignore:.*a constant:UserWarning")  # that columns say nothing
def test_rows_that_are_all_equal(likelihood):
    post = mw.sample(mw.Mixture(likelihood), np.ones((30, 2)), mw.Tree(), **FAST)
    assert np.all(np.isfinite(post.log_joint))


# --- how many moves


def proposals(chain, iterations):
    """Return how many moves of each kind an iteration proposes."""
    kinds = {"subtree": "subtrees", "split": "splits", "merge": "splits", "idle": "splits"}
    kinds |= {"fitted split": "fitted", "fitted merge": "fitted"}
    counts = defaultdict(float)
    for sign in (-1, 1):
        for report in chain.reports():
            if report["move"] in kinds:
                counts[kinds[report["move"]]] += sign * report["proposed"] / iterations
        if sign < 0:
            chain.iterate(iterations)
    return counts


def in_one_cluster(chain_of, sampler, warmup=200):
    one = np.random.default_rng(1).normal(size=(300, 16))
    chain = chain_of(mw.Gaussian(), one, np.zeros(300), sampler=sampler)
    chain.iterate(warmup)
    chain.freeze()
    return chain


def test_moves_that_are_always_refused_become_few(chain_of):
    learned = proposals(in_one_cluster(chain_of, mw.Tree(passes=1, learn_moves=True)), 400)
    default = proposals(in_one_cluster(chain_of, mw.Tree(passes=1, learn_moves=False)), 400)
    assert default["subtrees"] == default["splits"] == 20
    assert 0.9 < default["fitted"] < 3
    for kind, most in (("subtrees", 0.7), ("splits", 0.8), ("fitted", 0.5)):
        assert 0 < learned[kind] < most * default[kind]


def test_passes_in_which_nothing_changes_become_few(chain_of):
    chain = in_one_cluster(chain_of, mw.Tree(learn_moves=True))  # of 300 rows, two passes
    before = chain.reports()
    chain.iterate(200)
    (scans,) = (
        later["proposed"] - one["proposed"]
        for one, later in zip(before, chain.reports(), strict=True)
        if one["move"] == "leaf"
    )
    assert 1.0 < scans / (200 * 300) < 1.6


@pytest.mark.parametrize(("n", "learns"), [(600, False), (601, True)])
def test_of_few_rows_all_moves_are_made(n, learns):
    assert mw.Tree().options(n)["learn_moves"] == learns
    assert not mw.Tree(learn_moves=False).options(n)["learn_moves"]
    assert mw.Tree(learn_moves=True).options(n)["learn_moves"]


def test_nothing_is_learned_without_its_scan(chain_of):
    chain = in_one_cluster(chain_of, mw.Tree(passes=1, leaf_moves=0, learn_moves=True), 40)
    assert proposals(chain, 50)["subtrees"] == 20


def test_numbers_that_are_chosen_stay(chain_of):
    sampler = mw.Tree(9, 11, fitted_moves=1, passes=1, rebuild=50, learn_moves=True)
    counts = proposals(in_one_cluster(chain_of, sampler), 100)
    assert counts == {"subtrees": 9, "splits": 11, "fitted": 1}
    trees = in_one_cluster(chain_of, sampler, 100).reports()[-1]
    assert trees["proposed"] == 2  # at 50 and at 100


def test_after_warm_up_nothing_is_learned(chain_of):
    chain = in_one_cluster(chain_of, mw.Tree(passes=1, learn_moves=True), 20)
    first, later = proposals(chain, 1000), proposals(chain, 1000)
    for kind, count in first.items():
        assert abs(later[kind] - count) < 0.15 * count + 0.1


# --- the books


def test_books_are_right_after_many_moves(seed, chain_of):
    """10^5 moves, a new tree now and then; the partition on the tree recounted from its rows."""
    X = np.random.default_rng(seed).normal(size=(80, 2)) * 2
    sampler = mw.Tree(100, 100, 50, rebuild=25)
    chain = chain_of(mw.Gaussian(), X, np.zeros(80), mw.NGGP(3.0, 0.5), seed, sampler=sampler)
    for turn in range(45):
        chain.iterate(10)
        chain.check()
        if turn == 10:
            chain.freeze()
    reports = {report["move"]: report for report in chain.reports()}
    assert sum(reports[m]["proposed"] for m in ("subtree", "split", "merge", "idle", "leaf")) >= 1e5
    assert min(reports[m]["accepted"] for m in ("subtree", "split", "merge", "leaf")) > 100


def test_a_scan_leaves_out_most_rows_that_are_sure_of_their_cluster(seed, chain_of):
    """Many far clusters, and two that overlap: after warm-up an iteration visits some rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 60, 2500)
    centres = np.stack([30.0 * (np.arange(60) % 8), 30.0 * (np.arange(60) // 8)], axis=1)
    centres[1] = centres[0] + 2.0
    X = centres[truth] + rng.normal(size=(2500, 2))
    likelihood = mw.Gaussian(r=0.01, nu=6, scale=np.eye(2) * 5)
    chain = chain_of(likelihood, X, truth, seed=seed, sampler=mw.Tree())
    chain.iterate(10)
    chain.freeze()
    visits = [{r["move"]: r for r in chain.reports()}["leaf"]["proposed"]]
    for _ in range(10):
        chain.iterate()
        visits.append({r["move"]: r for r in chain.reports()}["leaf"]["proposed"])
    chain.check()
    assert np.all(np.diff(visits) < 2500)
    assert np.all(np.diff(visits) == visits[-1] - visits[-2])
    assert abs(chain.n_clusters - 59.5) < 5


@pytest.mark.parametrize("max_leaves", [None, 12])
def test_books_are_right_for_every_family(family_case, max_leaves, seed, chain_of):
    likelihood, X = family_case(50)
    labels = np.random.default_rng(seed).integers(0, 6, 50)
    sampler = mw.Tree(20, 20, 20, rebuild=6, max_leaves=max_leaves)
    chain = chain_of(likelihood, X, labels, seed=seed, sampler=sampler)
    for _ in range(12):
        chain.iterate(5)
        chain.check()


def test_the_guide_tree_is_one_tree_over_the_rows(family_case, chain_of):
    likelihood, X = family_case(30)
    guide = chain_of(likelihood, X, np.zeros(30), sampler=mw.Tree()).guide()
    tree = GuideTree(guide)
    assert sorted(tree.rows[0]) == list(range(30))
    for v in range(len(tree.leaves)):
        if tree.is_leaf(v):
            assert len(tree.rows[v]) == 1
            assert guide["log_dissimilarity"][v] == -np.inf
        else:
            left, right = tree.children(v)
            assert guide["parent"][left] == guide["parent"][right] == v
            assert tree.rows[left] + tree.rows[right] == tree.rows[v]
            assert np.isfinite(guide["log_dissimilarity"][v])


# --- weighted leaves


@pytest.mark.parametrize("max_leaves", [1, 5, 39])
def test_rows_of_a_leaf_stay_together(max_leaves, chain_of):
    sampler = mw.Tree(5, 5, 5, 7, max_leaves=max_leaves)
    chain = chain_of(mw.Gaussian(), X, np.arange(40), sampler=sampler)
    sets = {frozenset(rows) for rows in leaves_of(chain)}
    assert len(sets) <= max_leaves
    for _ in range(30):
        chain.iterate()
        labels = chain.state()["labels"]
        assert all(len(set(labels[list(rows)])) == 1 for rows in sets)
    chain.freeze()
    chain.iterate(20)
    assert {frozenset(rows) for rows in leaves_of(chain)} == sets
    assert chain.n_clusters <= max_leaves


def test_as_many_leaves_as_rows_are_plain_ones():
    runs = [
        mw.sample(MODEL, X, mw.Tree(5, 5, 5, max_leaves=leaves), **FAST)
        for leaves in (None, 40, 1000)
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)


# --- freezing


def test_a_frozen_chain_grows_trees_that_do_not_see_its_state(chain_of):
    """Same stream, other partitions: same trees. The draws of u take the same uniforms here."""
    trees = []
    for labels in (np.zeros(40), np.arange(40), np.arange(40) % 3):
        prior = mw.DirichletProcess(alpha=1.0)
        likelihood, sampler = mw.Gaussian(scale="data"), mw.Tree(0, 0, 0, rebuild=1, fitted_moves=0)
        chain = chain_of(likelihood, X, np.zeros(40), prior, sampler=sampler)
        chain.freeze()
        chain.set_state(labels.astype(np.int32), -1.0, 0.0, 0.0, 0.0)
        chain.iterate(3)
        trees.append(chain.guide())
    for tree in trees[1:]:
        for name in ("parent", "rows", "log_dissimilarity", "log_detachment"):
            np.testing.assert_array_equal(tree[name], trees[0][name])


def spread_of_dissimilarities(chain):
    """Return by how much d of a pair of leaves varies over trees: it depends on u."""
    seen = defaultdict(list)
    for _ in range(40):
        chain.iterate()
        tree = GuideTree(chain.guide())
        for v, rows in enumerate(tree.rows):
            if len(rows) == 2:
                seen[frozenset(rows)].append(tree.log_d[v])
    return max(np.ptp(values) for values in seen.values())


def test_reference_values_follow_the_chain_until_they_are_frozen(chain_of):
    chain = chain_of(mw.Gaussian(), X[:6], np.zeros(6), sampler=mw.Tree(2, 2, 2, rebuild=1))
    assert spread_of_dissimilarities(chain) > 0.1
    chain.freeze()
    assert spread_of_dissimilarities(chain) < 1e-9
    chain.freeze()  # a second time changes nothing
    assert spread_of_dissimilarities(chain) < 1e-9


def test_without_rebuild_the_tree_stays(chain_of):
    chain = chain_of(mw.Gaussian(), X, np.zeros(40), sampler=mw.Tree(2, 2, 2, rebuild=0))
    before = chain.guide()
    chain.iterate(100)
    np.testing.assert_array_equal(chain.guide()["parent"], before["parent"])
