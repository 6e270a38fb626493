"""Data, ways to build a tree and ways to read one, for all tests of trees."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mixwood as mw
from mixwood._support.labels import in_order_of_appearance

CENTRES = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 5.0], [0.0, 10.0, -5.0]])

BUILDERS = {
    "bhc": lambda model, X: mw.bhc(model, X),
    "bhc-paper": lambda model, X: mw.bhc(model, X, rule="paper"),
    "balanced": lambda model, X: mw.ibhc(model, X, seed=1),
    "paper": lambda model, X: mw.ibhc(model, X, rule="paper", seed=1),
    "trials": lambda model, X: mw.ibhc(model, X, trials=3, seed=1),
}


def _classes(n=45):
    truth = np.arange(n) % 3
    return CENTRES[truth] + 0.3 * np.random.default_rng(0).normal(size=(n, 3)), truth


@pytest.fixture
def classes():
    """A function of n: rows in three classes far apart, and the classes."""
    return _classes


@pytest.fixture
def builders():
    """Functions of a model and data, by name."""
    return BUILDERS


@pytest.fixture(params=list(BUILDERS))
def build(request):
    return BUILDERS[request.param]


@pytest.fixture
def model():
    return mw.Mixture(mw.Gaussian(scale="data"), mw.DirichletProcess(1.0))


def _weighted_case(family, n):
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
    return likelihood(), _classes(n)[0], truth


@pytest.fixture(params=["poisson", "multinomial", "gaussian", "diagonal", "spherical"])
def weighted(request):
    """A function of n: a likelihood, rows in three classes, and the classes."""
    return lambda n: _weighted_case(request.param, n)


@pytest.fixture
def is_pure():
    """Whether no cluster has rows of two classes."""
    return lambda labels, truth: all(
        len(np.unique(truth[labels == k])) == 1 for k in np.unique(labels)
    )


@pytest.fixture
def same_partition():
    return lambda a, b: np.array_equal(in_order_of_appearance(a), in_order_of_appearance(b))


@pytest.fixture
def everything():
    """All that a user can read off a tree."""
    return lambda tree: (
        tree.labels.tolist(),
        tree.linkage().tolist(),
        tree.probability.tolist(),
        tree.log_evidence_bound,
        tree.to_newick(),
        tree.n_items,
        repr(tree),
    )


def _parse_newick(text):
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


@pytest.fixture
def parse_newick():
    """A function of the text: {leaf: distance from the root}."""
    return _parse_newick
