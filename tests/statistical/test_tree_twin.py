"""The compiled forest and its plain twin: same rows, same trees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import vstack

import mixwood as mw
from mixwood.core import bind_family
from mixwood.reference.hierarchical_clustering import Forest
from mixwood.reference.priors import Parameters
from mixwood.trees.build import prior_parameters
from mixwood.trees.recipe import Recipe


class TieBreaker(Forest):
    """The twin, where choices whose values agree but for rounding are made as told.

    In discrete data ties are everywhere, and the last bit decides which way the compiled
    forest goes. `answers` are the choices at ties, in their order; where `wanted` nodes are
    given, a choice leads to one of those.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.answers, self.asked, self.wanted = [], [], frozenset()

    def choose(self, options, values):
        best = min(values)
        near = [k for k, v in enumerate(values) if v - best <= 1e-9 * (1 + abs(best))]
        if len(near) == 1:
            return near[0]
        if self.wanted:
            hits = (k for k in near if frozenset(options[k].rows) in self.wanted)
            return next(hits, near[0])
        answer = self.answers[len(self.asked)] if len(self.asked) < len(self.answers) else 0
        self.asked.append(len(near))
        return near[answer]

    def _merge_nearest(self, trees, distance, largest=0.0):
        result = self._merge_wanted(trees, distance, largest, set())
        assert result is not None, "no way to break ties gives the compiled trees"
        return result

    def _merge_wanted(self, trees, distance, largest, failed):
        """Join nearest pairs; go back where a tie was broken in another order."""
        pairs = [self.join(*pair) for pair in combinations(trees, 2)]
        best = min(map(distance, pairs), default=np.inf)
        if best == np.inf or best > largest:
            return trees
        state = frozenset(tree.rows for tree in trees)
        near = [p for p in pairs if distance(p) - best <= 1e-9 * (1 + abs(best))]
        for pair in near if state not in failed else ():
            if frozenset(pair.rows) in self.wanted:
                others = [tree for tree in trees if tree not in pair.children]
                result = self._merge_wanted([*others, pair], distance, largest, failed)
                if result is not None:
                    return result
        failed.add(state)
        return None

    def insert_like(self, row, wanted):
        """Insert one row, at ties such that all nodes are `wanted` ones."""
        before, cuts_left = list(self.trees), self.cuts_left
        self.answers, self.wanted = [], frozenset()
        for _ in range(1000):
            self.trees, self.cuts_left, self.asked = list(before), cuts_left, []
            self.insert([row])
            if all(frozenset(n.rows) in wanted for tree in self.trees for n in tree.nodes()):
                return
            # the next sequence of answers, counted like a number from the last digit on
            answers = (self.answers + [0] * len(self.asked))[: len(self.asked)]
            while answers and answers[-1] + 1 == self.asked[len(answers) - 1]:
                answers.pop()
            if not answers:
                break
            self.answers = [*answers[:-1], answers[-1] + 1]
        pytest.fail(f"no way to break ties gives the compiled trees at row {row}")


def both_forests(likelihood, X, prior, rule="balanced", parameters=None):
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), prior)
    parameters = parameters or prior_parameters(prior, X.shape[0])
    core = Recipe(model, parameters, rule, None).forest(bind_family(model, X))
    return core, TieBreaker(model, X, parameters, rule), model.likelihood.row_constants(X)


def core_nodes(core, constants):
    """Return {rows: (log P, log phi(h), log phi(t))} of all nodes, and the trees' rows."""
    flat = core.export()
    sets: list[frozenset[int]] = []
    for left, right, row in zip(flat["left"], flat["right"], flat["row"], strict=True):
        sets.append(frozenset([int(row)]) if left < 0 else sets[left] | sets[right])
    constant = [sum(constants[list(rows)]) for rows in sets]
    values = np.stack([flat["log_marginal"], flat["log_one"], flat["log_tree"]], axis=1)
    nodes = dict(zip(sets, values + np.array(constant)[:, None], strict=True))
    trees = np.asarray(flat["tree"])
    rows = np.asarray(flat["row"])[: len(trees)]
    return nodes, {frozenset(rows[trees == k].tolist()) for k in range(core.n_trees)}


def own_nodes(core):
    """Return the rows of every node within the trees, without those that join the trees."""
    nodes, trees = core_nodes(core, np.zeros(len(core.export()["leaf_of_row"])))
    return {rows for rows in nodes if any(rows <= tree for tree in trees)}


def assert_same_trees(core, twin, constants):
    core.check()
    nodes, trees = core_nodes(core, constants)
    twin.wanted = nodes.keys()
    assert trees == {frozenset(tree.rows) for tree in twin.trees}
    root = twin.joined()
    expected = {
        frozenset(node.rows): (node.log_marginal, node.log_one, node.log_tree)
        for node in root.nodes()
    }
    assert nodes.keys() == expected.keys()
    for rows, values in expected.items():
        np.testing.assert_allclose(nodes[rows], values, rtol=1e-8, atol=1e-8)
    potential = core.log_potential() + constants[list(root.rows)].sum()
    assert potential == pytest.approx(root.log_tree, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_same_trees_by_insertion(family_case, prior, rule, seed):
    likelihood, X = family_case(30)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        core, twin, constants = both_forests(likelihood, X, prior, rule)
        order = rng.permutation(30)
        for row in order:
            core.insert(np.array([row]))
            twin.insert_like(int(row), own_nodes(core))
        assert_same_trees(core, twin, constants)
        at_once, _, _ = both_forests(likelihood, X, prior, rule)
        at_once.insert(order)
        assert own_nodes(at_once) == own_nodes(core)


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_same_trees_after_every_row(rule, seed):
    """Overlapping classes, where trees are cut often."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2)) + 2.5 * rng.integers(0, 4, (40, 1))
    core, twin, constants = both_forests(mw.Gaussian(), X, mw.NGGP(2.0, 0.4), rule)
    for row in rng.permutation(40):
        core.insert(np.array([row]))
        twin.insert_like(int(row), own_nodes(core))
        assert_same_trees(core, twin, constants)


def assert_same_when_grown(how, core, twin, constants, order):
    getattr(core, how)(order)
    twin.wanted = own_nodes(core)
    getattr(twin, how)(order.tolist())
    assert_same_trees(core, twin, constants)


@pytest.mark.parametrize("rule", ["balanced", "paper"])
def test_same_trees_by_agglomeration(family_case, prior, rule, seed):
    forests = both_forests(*family_case(20), prior, rule)
    order = np.random.default_rng(seed).permutation(20)
    assert_same_when_grown("agglomerate", *forests, order)


def test_same_trees_on_top(family_case, seed):
    forests = both_forests(*family_case(30), mw.NGGP())
    order = np.random.default_rng(seed).permutation(30)
    assert_same_when_grown("on_top", *forests, order)


def test_same_trees_joined(family_case, seed):
    likelihood, X = family_case(30)
    core, twin, constants = both_forests(likelihood, X, mw.NGGP(0.5, 0.2))
    for row in np.random.default_rng(seed).permutation(30):
        core.insert(np.array([row]))
        twin.insert_like(int(row), own_nodes(core))
    core.join_trees()
    twin.wanted = own_nodes(core)
    twin.join_trees()
    assert_same_trees(core, twin, constants)


def test_same_potentials_at_new_parameters(family_case, prior):
    likelihood, X = family_case(20)
    core, twin, constants = both_forests(likelihood, X, prior)
    for row in range(20):
        core.insert(np.array([row]))
        twin.insert_like(row, own_nodes(core))
    p = twin.parameters
    values = (p.log_u + 1.5, p.log_alpha - 0.5, p.sigma * 0.7, p.theta * 0.7)
    core.set_parameters(*values)
    twin.parameters = Parameters(*values)

    def again(tree):
        return twin.join(*map(again, tree.children)) if tree.children else twin.leaf(tree.rows[0])

    twin.trees = [again(tree) for tree in twin.trees]
    assert_same_trees(core, twin, constants)


#: What hypothesis does to a forest, in any order.
ACTIONS = st.one_of(
    st.tuples(st.just("insert"), st.integers(1, 12)),
    st.tuples(st.just("on_top"), st.integers(1, 6)),
    st.tuples(st.just("agglomerate"), st.integers(1, 8)),
    st.tuples(st.just("collapse"), st.integers(2, 20)),
    st.tuples(st.just("join_trees"), st.none()),
    st.tuples(st.just("set_parameters"), st.integers(0, 100)),
    st.tuples(st.just("rebind"), st.integers(1, 10)),
)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    actions=st.lists(ACTIONS, min_size=1, max_size=12), rule=st.sampled_from(("balanced", "paper"))
)
def test_books_are_right_after_any_operations(family_case, actions, rule):
    """Potentials, statistics, links and free list, recomputed from scratch by check()."""
    likelihood, X = family_case(60)
    X = likelihood.check(X)
    model = mw.Mixture(likelihood.resolve(X), mw.NGGP(1.0, 0.4))
    parameters = prior_parameters(model.prior, 60)
    data, unused = X[:30], list(range(30))
    core = Recipe(model, parameters, rule, None).forest(bind_family(model, data))
    points = 0
    for name, number in actions:
        if name in ("insert", "on_top", "agglomerate"):
            rows, unused = unused[:number], unused[number:]
            getattr(core, name)(np.array(rows, dtype=np.int64))
            points += len(rows)
        elif name == "collapse":
            core.collapse(number)
            assert core.n_leaves <= number
        elif name == "join_trees":
            core.join_trees()
        elif name == "set_parameters":
            sigma = 0.05 + 0.009 * number
            core.set_parameters(number / 10, 1 - number / 50, sigma, 0.0)
        elif data.shape[0] < 60:  # more rows, in another order
            n = data.shape[0]
            more = X[n : min(n + number, 60)]
            shift = more.shape[0]
            rows = [more, data]
            data = np.concatenate(rows) if isinstance(data, np.ndarray) else vstack(rows, "csr")
            core.rebind(model.likelihood.bind(data), np.arange(n) + shift)
            unused = [row + shift for row in unused] + list(range(shift))
        core.check()
        assert_consistent(core, points, data.shape[0] - len(unused))


def assert_consistent(core, points, n_placed):
    flat = core.export()
    m = core.n_leaves
    assert len(flat["left"]) == max(2 * m - 1, 0)
    if m == 0:
        return
    inner = np.arange(m, 2 * m - 1)
    assert (flat["left"][:m] == -1).all()
    assert (flat["left"][m:] < inner).all()
    assert (flat["right"][m:] < inner).all()
    assert flat["size"][-1] == points
    np.testing.assert_array_equal(
        flat["size"][m:], flat["size"][flat["left"][m:]] + flat["size"][flat["right"][m:]]
    )
    placed = flat["leaf_of_row"][flat["leaf_of_row"] >= 0]
    assert len(placed) == n_placed == points
    np.testing.assert_array_equal(np.bincount(placed, minlength=m), flat["size"][:m])
    assert set(flat["tree"].tolist()) == set(range(core.n_trees))
    core.check()
