"""Labels of estimates are numbered by size; draws are kept in the smallest type for them."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

import mixwood as mw
from mixwood._support.labels import by_size, label_buffers, one_array
from mixwood.sampling import sinks


def test_clusters_are_numbered_by_size_and_equal_ones_as_they_appear():
    np.testing.assert_array_equal(by_size([4, 9, 9, 1, 4, 7]), [0, 1, 1, 2, 0, 3])
    np.testing.assert_array_equal(by_size([4, 9, 9, 1, 9]), [1, 0, 0, 2, 0])
    np.testing.assert_array_equal(by_size([4, 9, 9], sizes=[3, 1, 1]), [0, 1, 1])
    np.testing.assert_array_equal(by_size([4, 9, 9], sizes=[2, 1, 1]), [0, 1, 1])
    assert by_size([5]).dtype == np.int64
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels, sizes = rng.integers(0, 8, 20), rng.integers(1, 4, 20)
        numbered = by_size(labels, sizes)
        counts = np.bincount(numbered, sizes)
        first = [numbered.tolist().index(k) for k in range(len(counts))]
        order = sorted(range(len(counts)), key=lambda k: (-counts[k], first[k]))
        assert order == list(range(len(counts)))
        assert len({*zip(labels, numbered, strict=True)}) == len(counts)  # the same partition


def test_buffers_widen_when_they_must():
    narrow, wide = label_buffers(2, draws=3, n=4)
    for k in range(3):
        narrow.write(k, np.full((1, 4), k, dtype=np.int32))
        wide.write(k, np.full((1, 4), 100**k, dtype=np.int32))
    whole = one_array([narrow, wide])
    assert whole.dtype == np.int16
    np.testing.assert_array_equal(whole[:, :, 0], [[0, 1, 2], [1, 100, 10_000]])
    parts = label_buffers(2, draws=3, n=4)
    assert np.shares_memory(one_array(parts), parts[1].values)


def test_buffers_that_do_not_fit_are_in_a_file_and_widen_there(monkeypatch):
    monkeypatch.setattr("mixwood._support.labels.fits", lambda _: False)
    with pytest.warns(RuntimeWarning, match="temporary file"):
        parts = label_buffers(2, draws=3, n=4)
    whole = one_array(parts)
    assert isinstance(whole.base, mmap.mmap)
    assert np.shares_memory(whole, parts[1].values)
    parts[0].write(0, np.full((1, 4), 300, dtype=np.int32))
    assert isinstance(parts[0].values.base, mmap.mmap)
    assert parts[0].values[0].tolist() == [300] * 4


@pytest.mark.parametrize(("clusters", "kept"), [(3, np.int8), (300, np.int16)])
def test_draws_are_the_same_whatever_the_block(clusters, kept, monkeypatch):
    X = 1000.0 * np.arange(300)[:, None] % (1000 * clusters)
    likelihood = mw.Gaussian(r=1e-6, nu=3.0, mean=[0.0], scale=[[1.0]])
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1e9 if clusters > 3 else 1e-9))
    options = {"draws": 7, "warmup": 2, "chains": 2, "seed": 1, "progress": False}
    posts = []
    for at_once in (2**20, 1000, 1):
        monkeypatch.setattr(sinks, "LABELS_AT_ONCE", at_once)
        posts.append(mw.sample(model, X, init="singletons", **options))
    assert posts[0].labels.dtype == kept
    for other in posts[1:]:
        np.testing.assert_array_equal(posts[0].labels, other.labels)
