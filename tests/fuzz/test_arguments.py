"""Whatever is handed over: it works, or an error says which argument is wrong. Nothing else.

`make test` tries a few of each; `make fuzz` goes on for as long as it is told to.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixwood as mw
from mixwood import partitions
from tests.fuzz import handed_over as values
from tests.fuzz.trying import (
    CONSTRUCTORS,
    COUNTS,
    MODELS,
    PARTS,
    PRIORS,
    ROWS,
    SAMPLERS,
    attempt,
    fuzz,
    made,
    with_odd_ones,
)


@pytest.mark.parametrize("constructor", [one for one, given in CONSTRUCTORS.items() if given])
@fuzz
@given(data=st.data())
def test_constructors(constructor, data):
    _, arguments = data.draw(with_odd_ones(CONSTRUCTORS[constructor], {"parts": PARTS}))
    one = attempt(constructor, arguments, **arguments)
    if one is not None:
        assert repr(one)
        if isinstance(one, mw.Likelihood):
            assert one == copy.copy(one)


@fuzz
@given(prior=made(PRIORS), n=values.ODD | st.integers(1, 10**6))
def test_expected_clusters(prior, n):
    expected = attempt(prior.expected_clusters, ["n"], n=n)
    assert expected is None or 0.999 <= expected <= 1.001 * n


QUICK = {
    "draws": 3,
    "warmup": 2,
    "chains": 2,
    "seed": 1,
    "thin": 1,
    "max_seconds": 2.0,
    "n_jobs": 1,
}


@fuzz
@given(data=st.data())
def test_arguments_of_sample(data):
    good = {"model": mw.Mixture(), "X": ROWS, "sampler": "tree", "init": "one", **QUICK}
    odd = {"X": values.DATA, "init": values.LABELS, "sampler": made(SAMPLERS) | values.ODD}
    changed, arguments = data.draw(with_odd_ones(good, odd))
    if not {"draws", "warmup", "thin"}.isdisjoint(changed):
        arguments["max_seconds"] = 0.05
    post = attempt(mw.sample, [*changed, "draws"], **arguments, progress=False)
    assert post is None or np.isfinite(post.log_joint).all()


@fuzz
@given(
    model=MODELS,
    X=values.DATA,
    sampler=made(SAMPLERS),
    init=st.sampled_from(("ibhc", "one", "singletons", "on-top")),
)
def test_models_data_and_samplers_of_sample(model, X, sampler, init):
    arguments = {**QUICK, "chains": 1, "max_seconds": 0.5, "progress": False}
    post = attempt(
        mw.sample,
        ["X", "model", "init", "sampler", "parts"],
        model=model,
        X=X,
        sampler=sampler,
        init=init,
        **arguments,
    )
    if post is not None:
        assert post.labels.shape[2] == np.shape(X)[0] if hasattr(X, "shape") else True
        assert np.isfinite(post.log_joint).all()


@fuzz
@given(model=MODELS, X=values.DATA, greedy=st.booleans())
def test_models_and_data_of_trees(model, X, greedy):
    given = {"model": model, "X": X} | ({} if greedy else {"seed": 1})
    tree = attempt(mw.bhc if greedy else mw.ibhc, ["X", "model", "parts"], **given)
    if tree is not None:
        assert len(tree.labels) == tree.n_items
        assert tree.linkage().shape == (tree.n_leaves - 1, 4) or tree.n_leaves == 1
        assert tree.to_newick().endswith(";")


@fuzz
@given(data=st.data())
def test_arguments_of_ibhc(data):
    good = {
        "model": mw.Mixture(),
        "X": ROWS,
        "trials": 1,
        "rule": "paper",
        "order": None,
        "max_leaves": 5,
        "seed": 1,
        "search": "exact",
    }
    # Nobody waits for so many trials.
    odd = {"X": values.DATA, "order": values.LABELS, "trials": st.integers(-2, 4) | st.none()}
    changed, arguments = data.draw(with_odd_ones(good, odd))
    attempt(mw.ibhc, changed, **arguments)


@fuzz
@given(data=st.data())
def test_arguments_of_stream_leaves(data):
    good = {"model": mw.Mixture(), "blocks": [ROWS, ROWS + 1], "max_leaves": 4, "seed": 1}
    blocks = st.lists(st.just(ROWS) | values.DATA, max_size=3)
    odd = {
        "model": MODELS,
        "blocks": blocks | blocks.map(iter) | blocks.map(lambda b: lambda: b) | values.DATA,
    }
    changed, arguments = data.draw(with_odd_ones(good, odd))
    leaves = attempt(mw.stream_leaves, [*changed, "blocks"], **arguments)
    if leaves is not None:
        assert len(leaves.leaf_of_row) == leaves.n_items
        model = mw.Mixture(leaves.likelihood)
        post = attempt(mw.sample, ["X"], model=model, X=leaves, **QUICK, progress=False)
        assert post is None or np.isfinite(post.log_joint).all()


@fuzz
@given(data=st.data())
def test_arguments_of_simulate(data):
    good = {"model": mw.Mixture(), "n": 5, "seed": 1, "width": 2}
    small = st.integers(-2, 50) | st.none() | st.floats()  # large ones are only slow
    odd = {"model": MODELS | values.ODD, "n": small, "width": small}
    changed, arguments = data.draw(with_odd_ones(good, odd))
    attempt(mw.simulate, [*changed, "model"], **arguments)


@fuzz
@given(data=st.data())
def test_partitions(data):
    function = data.draw(st.sampled_from(("variation_of_information", "binder", "adjusted_rand")))
    changed, arguments = data.draw(
        with_odd_ones({"a": [0, 1], "b": [0, 0]}, dict.fromkeys("ab", values.LABELS))
    )
    attempt(getattr(partitions, function), [*changed, "a", "b"], **arguments)


def _posterior(likelihood, X):
    arguments = {**QUICK, "max_seconds": None, "draws": 4, "progress": False}
    return mw.sample(mw.Mixture(likelihood), X, **arguments)


POSTERIORS = {
    "gaussian": _posterior(mw.Gaussian(), ROWS),
    "multinomial": _posterior(mw.Multinomial(), COUNTS),
    "product": _posterior(mw.Product({0: mw.Categorical(), 1: mw.Gaussian()}), COUNTS),
}
ESTIMATE = {"loss": "vi", "min_size": 1, "seed": 1}
METHODS = {
    "point_estimate": {**ESTIMATE, "max_clusters": 3, "n_jobs": 1},
    "certainty": ESTIMATE,
    "membership": ESTIMATE,
    "n_clusters_at_least": {"m": 2},
    "expected_loss": {"labels": [0] * 8, "loss": "vi"},
    "credible_ball": {**ESTIMATE, "level": 0.9},
    "similarity": {"rows": [1, 2], "dtype": "float32", "n_jobs": 1},
    "log_density": {"X": ROWS},
    "predict_proba": {**ESTIMATE, "X": ROWS},
    "predict": {**ESTIMATE, "X": ROWS},
    "sample_predictive": {"size": 3, "seed": 1},
    "cluster_parameters": {**ESTIMATE, "level": 0.9, "draws": 4},
    "describe": {**ESTIMATE, "words": ["a", "b"], "level": 0.9, "draws": 4},
    "thinned": {"draws": 2},
}


@pytest.mark.parametrize("method", METHODS)
@fuzz
@given(data=st.data())
def test_methods_of_posterior(method, data):
    post = POSTERIORS[data.draw(st.sampled_from(sorted(POSTERIORS)))]
    good = METHODS[method] | ({"X": COUNTS} if "X" in METHODS[method] else {})
    small = st.integers(-2, 50) | st.none() | st.floats()
    odd = {"X": values.DATA, "labels": values.LABELS, "rows": values.LABELS, "size": small}
    changed, arguments = data.draw(with_odd_ones(good, odd))
    attempt(getattr(post, method), changed, **arguments)


TREE = mw.ibhc(mw.Mixture(), ROWS, seed=1)


@fuzz
@given(data=st.data())
def test_methods_of_hierarchy(data):
    changed, arguments = data.draw(with_odd_ones({"n_clusters": 2, "probability": None}))
    attempt(TREE.cut, changed, **arguments)
    new = data.draw(values.DATA)
    attempt(mw.ibhc(mw.Mixture(), ROWS, seed=1).insert, ["X_new"], X_new=new)
