"""Warnings name the line of the user, whichever way they come about."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixwood as mw

X = np.random.default_rng(0).normal(size=(60, 2))
SMALL = mw.Gaussian(mean=np.zeros(2), scale=1e-30 * np.eye(2))
#: No pilots, which the time limit would count too.
FIXED = mw.Mixture(mw.Gaussian(scale="data"))
LONG = {"draws": 10**6, "warmup": 0, "chains": 1, "init": "one", "max_seconds": 0.8, "n_jobs": 1}


def places(act, words):
    """Do something, and return where the warnings with these words point."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return {warning.filename for warning in caught if words in str(warning.message)}


def test_sample():
    run = lambda: mw.sample(FIXED, X, progress=False, **LONG)  # noqa: E731
    assert places(run, "stopped early") == {__file__}


def test_a_stored_run(tmp_path):
    run = tmp_path / "run"
    store = lambda: mw.sample(FIXED, X, store=run, progress=False, **LONG)  # noqa: E731
    resume = lambda: mw.resume(run, max_seconds=0.8, progress=False)  # noqa: E731
    assert places(store, "stopped early") == {__file__}
    assert places(lambda: mw.load(run), "unfinished") == {__file__}
    assert places(resume, "stopped early") == {__file__}


def test_what_a_likelihood_has_to_say():
    run = lambda: mw.sample(mw.Mixture(SMALL), X, draws=1, warmup=0, progress=False)  # noqa: E731
    assert places(run, "scale is so small") == {__file__}


@pytest.mark.parametrize("method", ["fit", "fit_predict"])
def test_the_scikit_learn_face(method):
    pytest.importorskip("sklearn")
    model = mw.MixtureClustering(SMALL, draws=1, warmup=0, chains=1)
    assert places(lambda: getattr(model, method)(X), "scale is so small") == {__file__}


def test_a_choice_by_the_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": X[:, 0], "name": [f"row {k}" for k in range(len(X))]})
    product = lambda: mw.Product.from_frame(table)  # noqa: E731
    assert places(product, "columns left out") == {__file__}
