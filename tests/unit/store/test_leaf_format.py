"""Weighted leaves on disk: folders of before are read and resumed, broken ones refused."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixwood as mw
from mixwood._support.versions import versions
from mixwood.store.leaf_format import as_matrix, from_matrix

#: Runs of 6 draws that mixwood wrote when leaves were a matrix and a likelihood called Leaves
#: (commit e64630f), and the 12 draws that it would have made.
FIXTURES = Path(__file__).parent / "fixtures"
LONGER = json.loads((FIXTURES / "leaves_longer.json").read_text("utf-8"))


@pytest.mark.parametrize("name", LONGER)
def test_runs_of_before_are_loaded_and_resumed(tmp_path, name):
    run = shutil.copytree(FIXTURES / name, tmp_path / "run")
    loaded, expected = mw.load(run), LONGER[name]
    assert isinstance(loaded.X, mw.WeightedLeaves)
    assert loaded.resolved == loaded.X.likelihood
    assert type(loaded.resolved) is type(loaded.model.likelihood)
    np.testing.assert_array_equal(loaded.labels[0], expected["labels"][:6])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was written elsewhere
        longer = mw.resume(run, draws=12, progress=False)
    np.testing.assert_array_equal(longer.labels[0], expected["labels"])
    if versions()["instruction_set"] == loaded.settings["instruction_set"]:
        np.testing.assert_array_equal(longer.log_joint[0], expected["log_joint"])
    else:
        np.testing.assert_allclose(longer.log_joint[0], expected["log_joint"], rtol=1e-9)


def without_later_fields(new, old):
    """Return `new` without the arguments that likelihoods have got since, which say nothing."""
    if not isinstance(new, dict) or not isinstance(old, dict):
        return new
    kept = {key: value for key, value in new.items() if key in old or value is not None}
    return {key: without_later_fields(value, old.get(key)) for key, value in kept.items()}


@pytest.mark.parametrize("name", LONGER)
def test_the_format_is_that_of_before(tmp_path, name):
    """What is loaded and saved has the same data and likelihood, byte for byte."""
    mw.load(FIXTURES / name).save(tmp_path / "again")
    before, now = FIXTURES / name, tmp_path / "again"
    old, new = (json.loads((run / "mixwood.json").read_text("utf-8")) for run in (before, now))
    for key in ("format_version", "resolved", "data", "model"):
        assert without_later_fields(new[key], old[key]) == old[key]
    assert new["resolved"]["$type"] == "Leaves"
    files = [path for path in (before / "arrays.zarr" / "data").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert (now / path.relative_to(before)).read_bytes() == path.read_bytes()


def test_leaves_without_their_data_still_are_leaves(tmp_path):
    mw.load(FIXTURES / "leaves_dense").save(tmp_path / "without", include_data=False)
    loaded = mw.load(tmp_path / "without")
    assert loaded.X is None
    assert loaded.of_leaves
    with pytest.raises(ValueError, match="counting the rows of leaves needs the data X"):
        loaded.point_estimate()
    loaded.save(tmp_path / "again")
    assert mw.load(tmp_path / "again").of_leaves


LEAVES = {name: mw.load(FIXTURES / name).X for name in LONGER}


def changed(matrix, row, column, value):
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix.copy()
    dense[row, column] = value
    return csr_array(dense) if hasattr(matrix, "toarray") else dense


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:, :-1], "statistics must be"),
        (lambda m: m[:, :2], "values to unpack"),
        (lambda m: changed(m, 1, 0, 0.0), "sizes must be positive"),
        (lambda m: changed(m, 1, 0, -1.5), "sizes must be positive"),
        (lambda m: changed(m, 1, 0, np.inf), "sizes must be positive"),
        (lambda m: changed(m, 1, 1, np.nan), "log_constants must be"),
        (lambda m: changed(m, 1, 3, np.inf), "weights must be"),
        (lambda m: changed(m, 1, 5, np.nan), "statistics must be finite"),
    ],
)
def test_a_broken_matrix_is_refused(name, change, message):
    leaves = LEAVES[name]
    matrix = change(as_matrix(leaves))
    with pytest.raises(ValueError, match=rf"(?s)place does not hold weighted leaves.*{message}"):
        from_matrix(matrix, leaves.likelihood, "place")


def test_words_that_are_not_there_are_refused():
    leaves = LEAVES["leaves_sparse"]
    matrix = as_matrix(leaves)
    matrix.indices[-1] = 99  # compiled code would write beyond its memory
    with pytest.raises(ValueError, match="place does not hold weighted leaves"):
        from_matrix(matrix, leaves.likelihood, "place")
