"""Good run folders, to be damaged, and ways to damage and to try them."""

from __future__ import annotations

import json
import os
import shutil
import warnings

import numpy as np
import pytest

import mixwood as mw


@pytest.fixture
def saved(make_posterior, tmp_path):
    """The folder of a saved posterior with sparse data and a large array in its settings."""
    X = np.random.default_rng(1).poisson(1.0, (12, 3))
    posterior = make_posterior(mw.Multinomial(), mw.PitmanYor(), X=X, draws=5)
    posterior.settings["init"] = np.arange(500)
    posterior.save(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """The folder of a run that can be resumed; to be copied, not changed."""
    X = np.random.default_rng(0).normal(size=(30, 2)) + 5 * (np.arange(30) % 2)[:, None]
    run = tmp_path_factory.mktemp("original") / "run"
    options = {"draws": 8, "warmup": 4, "chains": 2, "seed": 1, "progress": False}
    mw.sample(mw.Mixture(mw.Gaussian()), X, store=run, **options)
    return run


@pytest.fixture
def run(stored, tmp_path, monkeypatch):
    """A copy of it."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    shutil.copytree(stored, tmp_path / "run")
    return tmp_path / "run"


def _change_json(path, change):
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


@pytest.fixture
def change_json():
    """Return a function that changes a JSON file in place."""
    return _change_json


def _resume(run, draws=11):
    return mw.resume(run, draws=draws, progress=False, max_seconds=10)


@pytest.fixture
def resume():
    """Return a function that resumes a run for a moment."""
    return _resume


def _assert_refused(run, place):
    with pytest.raises(ValueError, match=place):
        mw.load(run)
    with pytest.raises(ValueError, match=place):
        _resume(run)


@pytest.fixture
def assert_refused():
    """Return a function that checks that loading and resuming name the file."""
    return _assert_refused


def _error_of(act, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act(*arguments, **options)
        except (ValueError, OSError, RuntimeError) as error:
            return error
    return None


@pytest.fixture
def error_of():
    """Return a function that returns what an action raises, of all that it may raise; or None."""
    return _error_of
