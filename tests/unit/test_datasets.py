"""Data sets: what is made, and how missing or wrong files are told."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import mixwood as mw
import mixwood.datasets


def test_toy_is_the_same_every_time():
    X, labels = mw.datasets.toy()
    again, _ = mw.datasets.toy()
    np.testing.assert_array_equal(X, again)
    assert X.shape == (1300, 2)
    np.testing.assert_array_equal(np.bincount(labels), np.full(13, 100))
    other, _ = mw.datasets.toy(seed=2)
    assert not np.array_equal(X, other)


def test_tenk_is_the_same_every_time():
    X, labels = mw.datasets.tenk()
    again, _ = mw.datasets.tenk()
    np.testing.assert_array_equal(X, again)
    assert X.shape == (10_000, 6)
    sizes = np.bincount(labels)
    assert len(sizes) > 1000  # PY(3, 0.8): thousands of clusters, most of one point
    assert np.mean(sizes == 1) > 0.5
    assert sizes.max() > 300
    assert not np.array_equal(X, mw.datasets.tenk(seed=2)[0])


def write_corpus(folder, header=(2, 3, 3), entries=((1, 1, 5), (1, 3, 1), (2, 2, 7))):
    lines = [*map(str, header), *(" ".join(map(str, entry)) for entry in entries)]
    with gzip.open(folder / "docword.nips.txt.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    (folder / "vocab.nips.txt").write_text("a\nb\nc\n")


def test_penguins_are_as_they_were_measured():
    table = mw.datasets.penguins()
    assert table.shape == (344, 7)
    measured = table.select_dtypes("number")
    assert measured.columns.tolist() == [
        "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g",
    ]  # fmt: skip
    assert np.flatnonzero(measured.isna().all(axis=1)).tolist() == [3, 339]
    assert table["sex"].isna().sum() == 11
    measured.iloc[0] = 0.0  # a table of one's own
    assert mw.datasets.penguins()["body_mass_g"].min() == 2700


def test_nips_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(mixwood.datasets, "NIPS_SIZES", (2, 3, 3))
    (tmp_path / "nips").mkdir()
    write_corpus(tmp_path / "nips")
    monkeypatch.setenv("MIXWOOD_DATA", str(tmp_path))
    X, words = mw.datasets.nips()
    np.testing.assert_array_equal(X.toarray(), [[5, 0, 1], [0, 7, 0]])
    assert words == ["a", "b", "c"]


def test_nips_says_what_is_missing_or_wrong(tmp_path, monkeypatch):
    monkeypatch.delenv("MIXWOOD_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="MIXWOOD_DATA"):
        mw.datasets.nips()
    with pytest.raises(FileNotFoundError, match="UCI"):
        mw.datasets.nips(tmp_path)
    write_corpus(tmp_path)
    with pytest.raises(ValueError, match="1500, 12419, 746316"):
        mw.datasets.nips(tmp_path)
    monkeypatch.setattr(mixwood.datasets, "NIPS_SIZES", (2, 3, 4))
    write_corpus(tmp_path, header=(2, 3, 4))
    with pytest.raises(ValueError, match="4 entries"):
        mw.datasets.nips(tmp_path)
