"""The plain trees: potentials against enumeration, and BHC against a calculation by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_t

import mixwood as mw
from mixwood.reference.families import family_of
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters, log_kappa, log_nonempty, psi
from mixwood.testing.enumeration import all_partitions
from mixwood.trees.build import prior_parameters


def forest_of(likelihood, X, prior, rule="balanced", parameters=None):
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    return Forest(model, X, parameters or prior_parameters(prior, X.shape[0]), rule)


def log_evidence(forest):
    """log p(X, u), summed over all partitions."""
    p, prior, n = forest.parameters, forest.model.prior, len(forest.X)
    family = family_of(forest.model.likelihood)
    values = (p.log_u, p.log_alpha, p.sigma)
    terms = []
    for labels in all_partitions(n):
        total = 0.0
        for k in range(labels.max() + 1):
            rows = forest.X[labels == k]
            total += log_kappa(prior, len(rows), *values) + family.log_marginal(family.of(rows))
        terms.append(total)
    constant = (n - 1) * p.log_u - psi(prior, *values) - log_nonempty(prior, p.log_alpha)
    return constant - gammaln(n) + logsumexp(terms)


def random_tree(forest, rng):
    trees = [forest.leaf(row) for row in range(len(forest.X))]
    while len(trees) > 1:
        i, j = sorted(rng.choice(len(trees), 2, replace=False), reverse=True)
        trees.append(forest.join(trees.pop(int(i)), trees.pop(int(j))))
    return trees[0]


def trees_to_bound(forest, rng):
    yield from (random_tree(forest, rng) for _ in range(5))
    n = len(forest.X)
    for grow in (forest.agglomerate, forest.insert, forest.on_top):
        for rule in ("balanced", "paper"):
            forest.trees, forest.rule = [], rule
            grow(rng.permutation(n).tolist())
            yield forest.joined()


@pytest.mark.parametrize("n", [3, 5, 7])
def test_the_bound_is_below_the_evidence(prior, n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2)) + 3 * rng.integers(0, 2, (n, 1))
    forest = forest_of(mw.Gaussian(), X, prior)
    exact = log_evidence(forest)
    for tree in trees_to_bound(forest, rng):
        assert sorted(tree.rows) == list(range(n))
        assert forest.log_evidence_bound(tree) < exact


def test_the_bound_is_below_the_evidence_of_every_family(family_case):
    likelihood, X = family_case(5)
    forest = forest_of(likelihood, X, mw.NGGP())
    exact = log_evidence(forest)
    for tree in trees_to_bound(forest, np.random.default_rng(0)):
        assert forest.log_evidence_bound(tree) < exact


@pytest.mark.parametrize("n", [1, 2])
def test_the_bound_is_exact_for_one_and_two_rows(family_case, prior, n):
    likelihood, X = family_case(2)
    forest = forest_of(likelihood, X[:n], prior)
    forest.insert(range(n))
    assert forest.log_evidence_bound(forest.joined()) == pytest.approx(log_evidence(forest))


def test_potentials_sum_over_the_partitions_that_the_tree_holds(prior):
    """phi(t) of ((0 1) (2 3)): one term for each of its five tree-consistent partitions."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    forest = forest_of(mw.Gaussian(), X, prior)
    leaf = [forest.leaf(row) for row in range(4)]
    left, right = forest.join(leaf[0], leaf[1]), forest.join(leaf[2], leaf[3])
    tree = forest.join(left, right)

    def one(*rows):
        p, family = forest.parameters, forest.family
        kappa = log_kappa(prior, len(rows), p.log_u, p.log_alpha, p.sigma)
        return kappa + family.log_marginal(family.of(X[list(rows)]))

    held = [
        [(0, 1, 2, 3)],
        [(0, 1), (2, 3)],
        [(0,), (1,), (2, 3)],
        [(0, 1), (2,), (3,)],
        [(0,), (1,), (2,), (3,)],
    ]
    expected = logsumexp([sum(one(*c) for c in partition) for partition in held])
    assert tree.log_tree == pytest.approx(expected)
    # P(h | X, t) = phi(h) / phi(t) = 1 / (1 + d)
    assert np.exp(tree.log_one - tree.log_tree) == pytest.approx(1 / (1 + np.exp(tree.log_d)))


def direct_bhc(points, alpha, u, log_density, rule):
    """Heller and Ghahramani's greedy merges for a DP, with everything recomputed each time.

    phi of a set and a tree: kappa(k, u) = alpha Gamma(k) (1+u)^-k; trees are nested tuples.
    The balanced rule divides log d by the geometric mean of the sizes while one is below 1.
    """

    def leaves(tree):
        return [tree] if isinstance(tree, int) else [x for child in tree for x in leaves(child)]

    def phi_one(tree):
        rows = leaves(tree)
        k = len(rows)
        kappa = np.log(alpha) + gammaln(k) - k * np.log1p(u)
        return kappa + log_density(points[rows])

    def phi_tree(tree):
        if isinstance(tree, int):
            return phi_one(tree)
        return np.logaddexp(phi_one(tree), phi_tree(tree[0]) + phi_tree(tree[1]))

    trees: list = list(range(len(points)))
    merges = []
    while len(trees) > 1:
        scored = {
            pair: phi_tree(pair[0]) + phi_tree(pair[1]) - phi_one(pair)
            for pair in combinations(trees, 2)
        }
        weight = 0.5 if rule == "balanced" and min(scored.values()) <= 0 else 0.0
        sizes = {pair: len(leaves(pair[0])) * len(leaves(pair[1])) for pair in scored}
        best = min(scored, key=lambda pair: scored[pair] / sizes[pair] ** weight)
        merges.append((frozenset(leaves(best)), scored[best]))
        trees = [tree for tree in trees if tree not in best] + [best]
    return merges


def log_normal_gamma(x, m, r, nu, psi_):
    """log P(x_1, ..., x_k), one Student density after the other: no closed form of the twin."""
    total, x = 0.0, x.ravel()
    for value in x:
        scale = psi_ * (r + 1) / (r * nu)
        total += multivariate_t([m], [[scale]], df=nu).logpdf([value])
        psi_ += r / (r + 1) * (value - m) ** 2
        m = (r * m + value) / (r + 1)
        r, nu = r + 1, nu + 1
    return total


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_merges_agree_with_a_direct_calculation(rule):
    points = np.array([[-2.2], [1.3], [1.1], [-2.3], [-1.0], [2.8], [7.5], [7.9]])
    alpha, u, r, nu, scale = 1.3, 4.0, 0.1, 7.0, 1.5
    merges = direct_bhc(points, alpha, u, lambda x: log_normal_gamma(x, 0.5, r, nu, scale), rule)
    likelihood = mw.Gaussian(r=r, nu=nu, mean=[0.5], scale=[[scale]])
    parameters = Parameters(np.log(u), np.log(alpha), 0.0, 0.0)
    forest = forest_of(likelihood, points, mw.DirichletProcess(alpha), rule, parameters)
    forest.agglomerate(range(8))
    inner = [node for node in forest.joined().nodes() if node.children]
    inner.sort(key=lambda node: [rows for rows, _ in merges].index(frozenset(node.rows)))
    assert [frozenset(node.rows) for node in inner] == [rows for rows, _ in merges]
    np.testing.assert_allclose([node.log_d for node in inner], [d for _, d in merges], atol=1e-9)
    # the trees of the forest: what stands when the smallest d first exceeds 1
    stop = next(k for k, (_, log_d) in enumerate(merges) if log_d > 0)
    assert len(forest.trees) == 8 - stop
    assert 1 < len(forest.trees) < 8


def test_a_row_goes_to_the_nearest_tree_or_alone():
    X = np.array([[0.0], [0.1], [50.0], [0.05]])
    likelihood = mw.Gaussian(nu=7, mean=[0.0], scale=[[1.0]])
    forest = forest_of(likelihood, X, mw.NGGP(1.0, 0.3))
    forest.insert(range(4))
    assert sorted(sorted(tree.rows) for tree in forest.trees) == [[0, 1, 3], [2]]


def test_cutting_puts_every_piece_back(prior):
    """Whatever is cut, no row is lost or doubled, and a bad tree is taken apart."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(-4, 1, (12, 1)), rng.normal(4, 1, (12, 1))])
    for rule in ("balanced", "paper"):
        forest = forest_of(mw.Gaussian(scale="data"), X, prior, rule)
        # one tree that mixes both classes all the way down
        tree = forest.leaf(0)
        for row in (12, 1, 13, 2, 14):
            tree = forest.join(tree, forest.leaf(row))
        forest.trees = [tree]
        rest = [row for row in range(24) if row not in tree.rows]
        forest.insert(rest)
        rows = [row for tree in forest.trees for row in tree.rows]
        assert sorted(rows) == list(range(24))
        assert len(forest.trees) > 1


def test_the_paper_rule_stays_on_top_of_a_homogeneous_cluster():
    """d(l, r) of two large halves is the smallest: the published rule grows caterpillars."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    prior = mw.DirichletProcess(1.0)

    def depth(tree):
        return 1 + max(map(depth, tree.children), default=0)

    depths = {}
    for rule in ("balanced", "paper"):
        forest = forest_of(mw.Gaussian(scale=[[1.0]], nu=7), X, prior, rule)
        forest.insert(range(60))
        depths[rule] = max(depth(tree) for tree in forest.trees)
    assert depths["balanced"] < depths["paper"]
