"""Run folders that earlier versions wrote: they load, and go on."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw

FIXTURES = Path(__file__).with_name("fixtures")


@pytest.fixture
def written(tmp_path):
    """Return a function that unpacks a folder that an earlier version wrote."""

    def unpack(name):
        folder = tmp_path / name
        with zipfile.ZipFile(FIXTURES / f"{name}.zip") as archive:
            archive.extractall(folder)
        return folder

    return unpack


def test_a_posterior_of_0_1_loads(written):
    post = mw.load(written("posterior_of_0_1"))
    assert post.labels.shape == (2, 6, 8)
    assert post.model == mw.Mixture(mw.Multinomial(beta=0.5), mw.PitmanYor())
    assert post.settings["sampler"] == "Gibbs(subset=None)"
    assert np.isfinite(post.log_density(np.asarray(post.X.toarray()))).all()


def test_a_run_of_0_1_loads_and_goes_on_with_the_moves_of_today(written):
    run = written("run_of_0_1")
    before = mw.load(run)
    assert (before.n_chains, before.n_draws) == (2, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was begun elsewhere
        longer = mw.resume(run, draws=20, progress=False)
    np.testing.assert_array_equal(longer.labels[:, :10], before.labels)
    np.testing.assert_array_equal(longer.log_joint[:, :10], before.log_joint)
    assert np.isfinite(longer.log_joint[:, 10:]).all()
    assert all(moves["fitted split"]["proposed"] == 0 for moves in longer.stats)  # as then
    assert mw.load(run).n_draws == 20


def test_a_version_to_come_is_refused_with_what_to_do(written):
    run = written("run_of_0_1")
    text = (run / "mixwood.json").read_text()
    text = text.replace('"format_version": 1', '"format_version": 99')
    (run / "mixwood.json").write_text(text.replace('"0.1.0.dev0"', '"9.9"', 1))
    for read in (mw.load, mw.resume):
        with pytest.raises(ValueError, match=r"version 99, written by mixwood '9.9'.*newer"):
            read(run)
