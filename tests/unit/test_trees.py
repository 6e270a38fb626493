"""bhc, ibhc and the Hierarchy they return, as a user meets them."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage, to_tree
from scipy.sparse import csr_array

import mixwood as mw
from mixwood.reference.gibbs import in_order_of_appearance
from mixwood.reference.priors import Parameters, log_kappa, psi, softplus
from mixwood.reference.trees import Forest
from mixwood.trees import LARGEST_GREEDY, bhc, ibhc, log_u_mode, on_top_labels, prior_parameters

CENTRES = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 5.0], [0.0, 10.0, -5.0]])


def classes(n=45):
    """Three classes far apart."""
    truth = np.arange(n) % 3
    return CENTRES[truth] + 0.3 * np.random.default_rng(0).normal(size=(n, 3)), truth


def is_pure(labels, truth):
    """Whether no cluster has rows of two classes."""
    return all(len(np.unique(truth[labels == k])) == 1 for k in np.unique(labels))


def same_partition(a, b):
    return np.array_equal(in_order_of_appearance(a), in_order_of_appearance(b))


def builders():
    return {
        "bhc": lambda model, X: bhc(model, X),
        "bhc-paper": lambda model, X: bhc(model, X, rule="paper"),
        "balanced": lambda model, X: ibhc(model, X, seed=1),
        "paper": lambda model, X: ibhc(model, X, rule="paper", seed=1),
        "trials": lambda model, X: ibhc(model, X, trials=3, seed=1),
    }


@pytest.fixture(params=list(builders()))
def build(request):
    return builders()[request.param]


@pytest.fixture
def model():
    return mw.Mixture(mw.Gaussian(), mw.DirichletProcess(1.0))


# --- what they find


def test_separated_classes_are_found(build, prior):
    X, truth = classes()
    tree = build(mw.Mixture(mw.Gaussian(), prior), X)
    np.testing.assert_array_equal(tree.labels, truth)
    assert tree.n_clusters == 3
    assert tree.labels.dtype == np.int64


def test_every_family_and_prior(family_case, prior, build):
    likelihood, X = family_case(25)
    tree = build(mw.Mixture(likelihood, prior), X)
    assert tree.labels.shape == (25,)
    np.testing.assert_array_equal(tree.labels, in_order_of_appearance(tree.labels))
    assert is_valid_linkage(tree.linkage(), throw=True)
    assert np.isfinite(tree.log_evidence_bound)
    tree._forest.check()
    # more of the same
    labels = tree.insert(X[:4])
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, tree.labels[25:])
    assert tree.n_items == 29
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree._forest.check()


def test_the_bound_is_the_formula(family_case, prior, build):
    """Every constant included: against the twin's potentials over the exported shape."""
    likelihood, X = family_case(12)
    tree = build(mw.Mixture(likelihood, prior), X)
    p = Parameters(tree.log_u, *(tree.parameters.get(k, 0.0) for k in ("log_alpha", "sigma")), 0.0)
    twin = Forest(tree.model, likelihood.check(X), p)
    nodes = [twin.leaf(row) for row in range(12)]
    for left, right, _, size in tree.linkage():
        nodes.append(twin.join(nodes[int(left)], nodes[int(right)]))
        assert len(nodes[-1].rows) == size
    expected = 11 * p.log_u - psi(prior, p.log_u, p.log_alpha, p.sigma)
    expected += nodes[-1].log_tree - sum(np.log(np.arange(1, 12)))
    assert tree.log_evidence_bound == pytest.approx(expected, abs=1e-7)
    np.testing.assert_allclose(
        tree.probability, [1 / (1 + np.exp(n.log_d)) for n in nodes[12:]], atol=1e-8
    )


def test_one_and_two_rows(build, model):
    one = build(model, [[1.0, 2.0]])
    assert one.labels.tolist() == [0]
    assert one.linkage().shape == (0, 4)
    assert one.probability.shape == (0,)
    assert one.cut(n_clusters=1).tolist() == [0]
    assert one.cut(probability=0.9).tolist() == [0]
    assert one.to_newick() == "0;"
    assert len(one.plot().get_xticklabels()) == 1
    assert "1 row;" in repr(one)
    two = build(model, [[0.0, 0.0], [1.0, 5.0]])
    assert two.linkage().shape == (1, 4)
    assert is_valid_linkage(two.linkage())


def test_equal_rows_are_one_cluster(build, model):
    tree = build(model, np.ones((12, 2)))
    assert tree.n_clusters == 1
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree.plot().figure.canvas.draw()


def test_sparse_counts_and_tables():
    counts = np.random.default_rng(0).poisson(1.0, (20, 8))
    model = mw.Mixture(mw.Multinomial(), mw.DirichletProcess(1.0))
    dense, sparse = ibhc(model, counts, seed=0), ibhc(model, csr_array(counts), seed=0)
    np.testing.assert_array_equal(dense.labels, sparse.labels)
    np.testing.assert_array_equal(dense.insert(counts[:3]), sparse.insert(csr_array(counts[:3])))


# --- the start


def test_u_starts_at_its_mode(prior):
    """On a fine grid no value of v has a higher density."""
    n, p = 200, prior_parameters(prior, 200)
    clusters = prior.expected_clusters(n)

    def log_density(v):
        total = n * v - psi(prior, v, p.log_alpha, p.sigma)
        # of prod kappa only tau^(K sigma - n) depends on u
        return total + (clusters * p.sigma - n) * softplus(v)

    grid = p.log_u + np.linspace(-3, 3, 601)
    assert max(map(log_density, grid)) <= log_density(p.log_u) + 1e-9


@pytest.mark.parametrize(
    "prior",
    [
        mw.NGGP(1e-90, 0.5),
        mw.NGGP(1e90, 0.5),
        mw.NGGP(1.0, 1e-6),
        mw.NGGP(1.0, 1 - 1e-9),
        mw.DirichletProcess(1e-90),
        mw.PitmanYor(1e-6, 0.9),
    ],
)
def test_extreme_priors_have_a_mode(prior):
    p = prior_parameters(prior, 30)
    assert np.isfinite(p.log_u)
    assert np.isfinite(log_kappa(prior, 3, p.log_u, p.log_alpha, p.sigma))


def test_mode_moves_with_the_clusters():
    prior = mw.NGGP(1.0, 0.5)
    p = prior_parameters(prior, 50)
    modes = [log_u_mode(prior, p, 50, k) for k in (1, 5, 20, 50)]
    assert modes == sorted(modes)
    assert modes[0] < modes[-1]


def test_bhc_is_deterministic(model):
    X = np.random.default_rng(0).normal(size=(60, 2))
    np.testing.assert_array_equal(bhc(model, X).linkage(), bhc(model, X).linkage())


def test_the_seed_decides():
    X = np.random.default_rng(0).normal(size=(60, 2))
    trees = [ibhc(mw.Mixture(), X, trials=2, seed=s) for s in (3, 3, 4)]
    np.testing.assert_array_equal(trees[0].linkage(), trees[1].linkage())
    assert trees[0].log_evidence_bound != trees[2].log_evidence_bound
    sequence = np.random.SeedSequence(3)
    again = [ibhc(mw.Mixture(), X, trials=2, seed=sequence) for _ in range(2)]
    for tree in again:
        np.testing.assert_array_equal(tree.linkage(), trees[0].linkage())
    ibhc(mw.Mixture(), X, seed=np.random.default_rng(0))


def test_a_given_order_needs_no_seed(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    order = np.arange(30)[::-1]
    trees = [ibhc(model, X, order=order) for _ in range(2)]
    np.testing.assert_array_equal(trees[0].linkage(), trees[1].linkage())
    assert ibhc(model, X, order=range(30)).n_items == 30


def test_the_best_trial_is_kept():
    """The trials of one seed begin alike, so more trials never have a lower bound."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    bounds = [ibhc(mw.Mixture(), X, trials=k, seed=5).log_evidence_bound for k in (1, 2, 4, 8)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]


def test_parameters_used_are_told(prior):
    X, _ = classes(20)
    first = ibhc(mw.Mixture(mw.Gaussian(), prior), X, seed=0)
    expected = prior_parameters(prior, 20)
    assert first.log_u == expected.log_u
    names = ["log_alpha" if name == "alpha" else name for name in prior.parameters]
    assert first.parameters == {name: getattr(expected, name) for name in names}


def test_the_bad_start_is_the_twins(prior):
    X, _ = classes(30)
    model = mw.Mixture(mw.Gaussian().resolve(X), prior)
    seed = np.random.SeedSequence(4)
    labels = on_top_labels(model, X, seed)
    twin = Forest(model, X, prior_parameters(prior, 30))
    twin.on_top(np.random.default_rng(seed).permutation(30).tolist())
    expected = np.empty(30)
    for k, tree in enumerate(twin.trees):
        expected[list(tree.rows)] = k
    np.testing.assert_array_equal(labels, in_order_of_appearance(expected))


# --- other forms


def test_leaf_numbers_are_row_numbers(build, model):
    X, _ = classes(30)
    tree = build(model, X)
    np.testing.assert_array_equal(tree.leaf, np.arange(30))
    by_scipy = fcluster(tree.linkage(), 3, "maxclust")
    assert same_partition(by_scipy, tree.cut(n_clusters=3))


def test_linkage_is_what_scipy_wants(build, prior):
    X = np.random.default_rng(1).normal(size=(80, 2))
    tree = build(mw.Mixture(mw.Gaussian(), prior), X)
    Z = tree.linkage()
    assert is_valid_linkage(Z, throw=True)
    assert (np.diff(Z[:, 2]) >= 0).all()
    assert Z[-1, 3] == 80
    assert to_tree(Z).get_count() == 80
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(80))
    assert ((tree.probability >= 0) & (tree.probability <= 1)).all()
    # a height is log(1 + d) = -log P(h), unless a merge below it is higher
    assert (Z[:, 2] >= -np.log(tree.probability) - 1e-9).all()


def test_cut_at_a_number(build, model):
    X = np.random.default_rng(1).normal(size=(30, 2))
    tree = build(model, X)
    Z = tree.linkage()
    for k in range(1, 31):
        labels = tree.cut(n_clusters=k)
        assert labels.dtype == np.int64
        assert len(np.unique(labels)) == k
        # by hand: the first n - k merges
        group = {leaf: [leaf] for leaf in range(30)}
        for step, (a, b, *_) in enumerate(Z[: 30 - k]):
            group[30 + step] = group.pop(int(a)) + group.pop(int(b))
        expected = np.empty(30)
        for name, rows in group.items():
            expected[rows] = name
        np.testing.assert_array_equal(labels, in_order_of_appearance(expected))


def test_cut_at_a_probability(build):
    X = np.random.default_rng(1).normal(size=(40, 2)) * [1, 4]
    tree = build(mw.Mixture(), X)
    Z, P = tree.linkage(), tree.probability
    for p in (0.0, 0.1, 0.5, 0.9, 0.999, 1.0):
        expected = np.full(40, -1)
        todo = [len(Z) + 39]
        while todo:  # from the root down
            node = todo.pop()
            if node >= 40 and P[node - 40] < p:
                todo += Z[node - 40, :2].astype(int).tolist()
                continue
            below = [node]
            while below:
                inner = below.pop()
                if inner < 40:
                    expected[inner] = node
                else:
                    below += Z[inner - 40, :2].astype(int).tolist()
        np.testing.assert_array_equal(tree.cut(probability=p), in_order_of_appearance(expected))
    assert tree.cut(probability=0).max() == 0


def test_cut_refuses_what_makes_no_sense(model):
    tree = bhc(model, [[0.0], [1.0], [5.0]])
    for arguments in ({}, {"n_clusters": 2, "probability": 0.5}):
        with pytest.raises(ValueError, match="exactly one"):
            tree.cut(**arguments)
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        tree.cut(n_clusters=4)
    with pytest.raises(ValueError, match="n_clusters"):
        tree.cut(n_clusters=0)
    with pytest.raises(TypeError, match="n_clusters"):
        tree.cut(n_clusters=1.5)
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            tree.cut(probability=p)


def parse_newick(text):
    """Return {leaf: distance from the root}."""
    assert text.endswith(";")
    depths, open_nodes, current, done = {}, [[]], None, text[:-1]
    for token in re.findall(r"[(),]|:[^(),]+|[^(),:]+", done):
        if token == "(":
            open_nodes.append([])
        elif token == ")":
            current = [leaf for child in open_nodes.pop() for leaf in child]
            open_nodes[-1].append(current)
        elif token.startswith(":"):
            for leaf in current:
                depths[leaf] = depths.get(leaf, 0.0) + float(token[1:])
        elif token != ",":
            current = [token]
            open_nodes[-1].append(current)
    assert len(open_nodes) == 1
    return depths


def test_newick_has_every_row_at_the_height_of_the_root(build, model):
    X = np.random.default_rng(1).normal(size=(50, 2))
    tree = build(model, X)
    depths = parse_newick(tree.to_newick())
    assert sorted(depths, key=int) == [str(row) for row in range(50)]
    np.testing.assert_allclose(list(depths.values()), tree.linkage()[-1, 2], rtol=1e-6)


def test_deep_trees_do_not_overflow_the_stack(model):
    """The published rule on one homogeneous cluster: a caterpillar."""
    X = np.random.default_rng(0).normal(size=(4000, 1))
    likelihood = mw.Gaussian(scale=[[1.0]], nu=7)
    tree = ibhc(mw.Mixture(likelihood, mw.DirichletProcess(1.0)), X, rule="paper", seed=0)
    assert len(parse_newick(tree.to_newick())) == 4000
    assert is_valid_linkage(tree.linkage(), throw=True)
    tree.plot()
    copy.deepcopy(tree)


# --- the picture


def test_plot_shows_the_tree(model):
    X, _ = classes(30)
    tree = bhc(model, X)
    axes = tree.plot()
    (lines,) = axes.collections
    assert len(lines.get_segments()) == 29
    assert sorted(int(t.get_text()) for t in axes.get_xticklabels()) == list(range(30))
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    colours = {tuple(c) for c in lines.get_colors()}
    assert len(colours) == 4  # three clusters, and what joins them
    tops = sorted(max(y for _, y in s) for s in lines.get_segments())
    np.testing.assert_allclose(tops, tree.linkage()[:, 2])


def test_plot_of_many_leaves_is_truncated(model):
    X, _ = classes(300)
    axes = ibhc(model, X, seed=0).plot(leaves=12)
    names = [t.get_text() for t in axes.get_xticklabels()]
    assert len(names) == 12
    points = sum(int(name.strip("()")) if name.startswith("(") else 1 for name in names)
    assert points == 300
    axes.figure.canvas.draw()


def test_plot_takes_axes_and_labels_and_leaves_pyplot_alone(model):
    import sys

    from matplotlib.figure import Figure

    X, truth = classes(30)
    tree = bhc(model, X)
    axes = Figure().add_subplot()
    before = "matplotlib.pyplot" in sys.modules
    assert tree.plot(axes, labels=tree.cut(n_clusters=2)) is axes
    assert len({tuple(c) for c in axes.collections[0].get_colors()}) == 3
    assert before == ("matplotlib.pyplot" in sys.modules)
    with pytest.raises(ValueError, match="labels"):
        tree.plot(labels=truth[:-1])
    with pytest.raises(ValueError, match="leaves"):
        tree.plot(leaves=1)
    with pytest.raises(ValueError, match="leaves"):
        tree.plot(leaves=10_000)


# --- errors


def test_wrong_arguments_are_named(model):
    X = np.zeros((4, 2))
    with pytest.raises(TypeError, match="model"):
        bhc(mw.Gaussian(), X)
    with pytest.raises(TypeError, match="model"):
        ibhc(mw.NGGP(), X)
    for wrong in ("greedy", None, 3, ["balanced"]):
        with pytest.raises(ValueError, match="rule must be"):
            ibhc(model, X, rule=wrong)
        with pytest.raises(ValueError, match="rule must be"):
            bhc(model, X, rule=wrong)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="trials"):
            ibhc(model, X, trials=wrong)
    with pytest.raises(TypeError, match="trials"):
        ibhc(model, X, trials=2.0)
    with pytest.raises(ValueError, match="max_leaves"):
        ibhc(model, X, max_leaves=1)
    with pytest.raises(TypeError, match="max_leaves"):
        ibhc(model, X, max_leaves="many")
    with pytest.raises(TypeError, match="seed"):
        ibhc(model, X, seed="one")
    for wrong in ([0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [[0, 1, 2, 3]], [0.0, 1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="order"):
            ibhc(model, X, order=wrong)
    for build in builders().values():
        with pytest.raises(ValueError, match="X has a missing value"):
            build(model, [[1.0, np.nan]])
        with pytest.raises(ValueError, match="X is empty"):
            build(model, np.zeros((0, 2)))


def test_bhc_refuses_many_rows_with_advice(model):
    with pytest.raises(ValueError, match=r"20,000.*ibhc"):
        bhc(model, np.random.default_rng(0).normal(size=(LARGEST_GREEDY + 1, 1)))


# --- growth


def everything(tree):
    return (
        tree.labels.tolist(),
        tree.linkage().tolist(),
        tree.probability.tolist(),
        tree.log_evidence_bound,
        tree.to_newick(),
        tree.n_items,
        repr(tree),
    )


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ([[1.0, 2.0]], "X_new has the wrong number of columns"),
        ([[1.0, 2.0, np.nan]], "X_new has a missing value"),
        ([[1.0, 2.0, np.inf]], "X_new has inf"),
        (np.zeros((0, 3)), "X_new is empty"),
        ([1.0, 2.0, 3.0], "X_new has one dimension"),
    ],
)
def test_refused_rows_leave_the_tree_as_it_was(build, model, wrong, error):
    X, _ = classes(30)
    tree = build(model, X)
    before = everything(tree)
    with pytest.raises(ValueError, match=error):
        tree.insert(wrong)
    assert everything(tree) == before
    tree._forest.check()
    assert tree.insert(X[:3]).tolist() == tree.labels[:3].tolist()


def test_codes_beyond_the_categories_are_refused():
    X = np.random.default_rng(0).integers(0, 3, (20, 2))
    tree = ibhc(mw.Mixture(mw.Categorical(), mw.DirichletProcess(1.0)), X, seed=0)
    before = everything(tree)
    with pytest.raises(ValueError, match="X_new has code 3"):
        tree.insert([[0, 3]])
    assert everything(tree) == before


def test_new_rows_join_their_classes(build, model):
    X, truth = classes(60)
    tree = build(model, X[:30])
    labels = np.concatenate([tree.insert(X[30:31]), tree.insert(X[31:])])
    np.testing.assert_array_equal(labels, truth[30:])
    np.testing.assert_array_equal(tree.labels, truth)
    assert tree.insert([[500.0, -500.0, 500.0]]).tolist() == [3]
    tree._forest.check()


def test_inserting_later_is_inserting(model):
    """At the same parameters, the same tree as if all rows had been there."""
    X = np.random.default_rng(2).normal(size=(40, 2)) * [1, 5]
    tree = ibhc(model, X[:25], order=np.arange(25))
    tree.insert(X[25:33])
    tree.insert(X[33:])
    twin = Forest(
        tree.model, X, Parameters(tree.log_u, tree.parameters["log_alpha"], 0.0, 0.0), "balanced"
    )
    twin.insert(range(40))
    assert {frozenset(t.rows) for t in twin.trees} == {
        frozenset(np.flatnonzero(tree.labels == k).tolist()) for k in range(tree.n_clusters)
    }
    bound = twin.log_evidence_bound(twin.joined())
    assert tree.log_evidence_bound == pytest.approx(bound, abs=1e-6)


def test_the_tree_keeps_rows_of_its_own(model):
    X, _ = classes(30)
    mine = X.copy()
    tree = ibhc(model, mine, seed=0)
    mine[:] = 0
    again = pickle.loads(pickle.dumps(tree))
    again.insert(X[:2])
    other = ibhc(model, X, seed=0)
    other.insert(X[:2])
    assert everything(again) == everything(other)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_read_and_grow_like_the_original(build, how):
    X = np.random.default_rng(3).normal(size=(50, 2))
    tree = build(mw.Mixture(), X[:35])
    tree.insert(X[35:40])
    other = how(tree)
    before = everything(tree)
    assert everything(other) == before
    new = other.insert(X[40:])
    assert everything(tree) == before
    np.testing.assert_array_equal(tree.insert(X[40:]), new)
    assert everything(tree) == everything(other)


def test_labels_cannot_be_overwritten(model):
    tree = bhc(model, classes(10)[0])
    with pytest.raises(ValueError, match="read-only"):
        tree.labels[0] = 5
    tree.leaf[0] = 5
    assert tree.leaf[0] == 0


# --- weighted leaves


def weighted_case(family, n):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    if family == "poisson":
        means = np.array([[1, 40, 3], [30, 2, 60], [80, 80, 20]])
        return mw.Poisson(), rng.poisson(means[truth]), truth
    if family == "multinomial":
        chances = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
        return mw.Multinomial(), rng.multinomial(50, chances[truth]), truth
    likelihood = {"gaussian": mw.Gaussian, "diagonal": mw.DiagonalGaussian}.get(
        family, mw.SphericalGaussian
    )
    return likelihood(), classes(n)[0], truth


@pytest.fixture(params=["poisson", "multinomial", "gaussian", "diagonal", "spherical"])
def weighted(request):
    return lambda n: weighted_case(request.param, n)


def test_beyond_max_leaves_the_tree_collapses(weighted):
    likelihood, X, truth = weighted(2400)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X, trials=2, max_leaves=50, seed=0)
    assert tree.n_leaves <= 50
    assert tree._X.shape[0] <= 50  # the others are not kept
    assert is_pure(tree.labels, truth)
    assert tree.n_clusters <= 6
    assert tree.leaf.shape == (2400,)
    assert np.unique(tree.leaf).tolist() == list(range(tree.n_leaves))
    # blocks stay together in every cut
    for labels in (tree.cut(n_clusters=tree.n_leaves), tree.cut(probability=0.99)):
        assert all(len(np.unique(labels[tree.leaf == k])) == 1 for k in range(tree.n_leaves))
    assert is_valid_linkage(tree.linkage(), throw=True)
    assert tree.linkage()[-1, 3] == tree.n_leaves
    assert tree.linkage(points=True)[-1, 3] == 2400
    np.testing.assert_array_equal(tree.linkage()[:, :3], tree.linkage(points=True)[:, :3])
    assert to_tree(tree.linkage()).get_count() == tree.n_leaves
    sizes = np.bincount(tree.leaf)
    for name in parse_newick(tree.to_newick()):
        if name.startswith("w"):
            number, size = map(int, name[1:].split("x"))
            assert size == sizes[np.flatnonzero(sizes > 1)[number]]
    tree.plot().figure.canvas.draw()
    assert "leaves" in repr(tree)
    tree._forest.check()


def test_streaming_stays_bounded(weighted):
    likelihood, X, truth = weighted(4500)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X[:300], max_leaves=40, seed=0)
    for start in range(300, 4500, 600):
        labels = tree.insert(X[start : start + 600])
        np.testing.assert_array_equal(labels, tree.labels[start:])
        assert tree.n_leaves <= 40
        assert tree._X.shape[0] <= 40
        tree._forest.check()
    assert is_pure(tree.labels, truth)
    assert tree.n_clusters <= 6
    assert tree.linkage(points=True)[-1, 3] == 4500
    # refused rows leave it as it was
    before = everything(tree)
    with pytest.raises(ValueError, match="X_new has the wrong number of columns"):
        tree.insert(np.ones((1, 2)))
    assert everything(tree) == before


def test_the_limit_holds_where_nothing_belongs_together():
    """Rows that are all far apart: more trees than leaves allowed."""
    X = 100 * np.random.default_rng(0).normal(size=(2600, 3))
    likelihood = mw.Gaussian(r=1e-4, nu=9, mean=np.zeros(3), scale=np.eye(3))
    model = mw.Mixture(likelihood, mw.NGGP(1.0, 0.5))
    assert ibhc(model, X[:200], seed=0).n_clusters > 150
    tree = ibhc(model, X[:1500], max_leaves=60, seed=0)
    for start in range(1500, 2600, 550):
        assert tree.n_leaves <= 60
        assert tree._X.shape[0] <= 60
        tree._forest.check()
        tree.insert(X[start : start + 550])
    assert tree.n_leaves <= 60
    assert tree.linkage(points=True)[-1, 3] == 2600


def test_the_bound_of_collapsed_trees_is_lower(weighted):
    """A weighted leaf gives up the clusters below it: the bound loses, and by little."""
    likelihood, X, _ = weighted(900)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    order = np.arange(900)
    full, few = (ibhc(model, X, order=order, max_leaves=m) for m in (900, 60))
    assert few.log_evidence_bound <= full.log_evidence_bound + 1e-6
    assert few.log_evidence_bound > full.log_evidence_bound - 0.05 * abs(full.log_evidence_bound)


def test_copies_of_weighted_trees_read_but_do_not_grow():
    likelihood, X, _ = weighted_case("poisson", 1500)
    model = mw.Mixture(likelihood, mw.DirichletProcess(1.0))
    tree = ibhc(model, X, max_leaves=30, seed=0)
    other = pickle.loads(pickle.dumps(tree))
    assert everything(other) == everything(tree)
    other.plot()
    before = everything(other)
    with pytest.raises(ValueError, match="weighted leaves"):
        other.insert(X[:2])
    assert everything(other) == before
    tree.insert(X[:2])
