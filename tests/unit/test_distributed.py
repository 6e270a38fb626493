"""Data on a Dask cluster: real processes, which may be killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import mixwood as mw

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
dask_distributed = pytest.importorskip("distributed")

from mixwood import distributed  # noqa: E402 (needs Dask)

FAST = {"draws": 5, "warmup": 5, "chains": 2, "seed": 3, "progress": False}
#: A test that waits longer than so many seconds for the cluster has failed.
PATIENCE = 120


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the cluster says is not ours
        with dask_distributed.LocalCluster(
            processes=True,
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit="2GiB",
            silence_logs=50,
        ) as running:
            yield running


@pytest.fixture
def client(cluster):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with dask_distributed.Client(cluster, timeout=PATIENCE) as running:
            yield running


@pytest.fixture(autouse=True)
def within_patience(interruptible):
    """Nothing hangs: after `PATIENCE` seconds the test is interrupted."""
    main = threading.main_thread().ident
    timer = threading.Timer(PATIENCE, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    yield
    timer.cancel()


@pytest.fixture(scope="module", name="X")
def _points(blobs):
    return blobs(2000)


def test_the_leaves_are_those_of_the_partitions(client, X):
    """What the workers build is what one machine builds, whoever does it."""
    array = da.from_array(X, chunks=(500, 1))  # columns apart, too
    found = distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=30, seed=1)
    assert found.leaves.n_items == 2000
    assert found.leaves.n_leaves <= 4 * 30
    assert found.leaves.likelihood == mw.Gaussian().resolve(X)
    assert found.leaf_of_row.chunks == ((500,) * 4,)
    assert "4 partitions" in repr(found)
    leaf_of_row = found.leaf_of_row.compute()
    np.testing.assert_array_equal(np.bincount(leaf_of_row), found.leaves.sizes)
    # the same without a cluster
    with dask.config.set(scheduler="threads"):
        here = distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=30, seed=1)
        np.testing.assert_array_equal(here.leaves.statistics, found.leaves.statistics)
        np.testing.assert_array_equal(here.leaf_of_row.compute(), leaf_of_row)

    post = mw.sample(mw.Mixture(), found.leaves, **FAST)
    labels = found.row_labels(post.labels[0, -1])
    assert labels.dtype == post.labels.dtype
    np.testing.assert_array_equal(labels.compute(), post.labels[0, -1][leaf_of_row])
    densities = distributed.log_density(post, array)
    np.testing.assert_allclose(densities.compute(), post.log_density(X), rtol=1e-9)


def test_densities_of_some_of_the_draws(client, X):
    array = da.from_array(X, chunks=(500, 2))
    found = distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=30, seed=1)
    for post in (mw.sample(mw.Mixture(), data, **FAST) for data in (found.leaves, X[:200])):
        some = distributed.log_density(post, array, draws=2).compute()
        np.testing.assert_allclose(some, post.thinned(2).log_density(X), rtol=1e-9)
        assert not np.allclose(some, post.log_density(X), rtol=1e-9)
        with pytest.raises(ValueError, match="draws must be at least 1"):
            distributed.log_density(post, array, draws=0)


def test_data_frames(client, X):
    frame = dd.from_pandas(pd.DataFrame(X, columns=["x", "y"]), npartitions=3)
    found = distributed.build_leaves(mw.Mixture(), frame, leaves_per_partition=30, seed=1)
    assert found.leaves.n_items == 2000
    post = mw.sample(mw.Mixture(), found.leaves, **FAST)
    assert distributed.log_density(post, frame).compute().shape == (2000,)
    table = pd.DataFrame(X, columns=["x", "y"]).assign(kind=np.where(X[:, 0] > 6, "a", "b"))
    model = mw.Mixture(mw.Product({("x", "y"): mw.Gaussian(), "kind": mw.Categorical()}))
    mixed = dd.from_pandas(table, npartitions=2)
    assert distributed.build_leaves(model, mixed, 30, seed=1).leaves.n_items == 2000


def killing(block, marker):
    """Return the block; whoever does this first is killed."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


def test_a_killed_worker_changes_nothing(client, tmp_path, X):
    array = da.from_array(X, chunks=(500, 2))
    expected = distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=30, seed=1)
    rows = expected.leaf_of_row.compute()
    # in the middle of the work
    marker = str(tmp_path / "killed")
    fatal = array.map_blocks(killing, marker, dtype=float, meta=np.empty((0, 2)))
    found = distributed.build_leaves(mw.Mixture(), fatal, leaves_per_partition=30, seed=1)
    assert Path(marker).exists()
    np.testing.assert_array_equal(found.leaves.statistics, expected.leaves.statistics)
    # and after it: what was only there is made again
    victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(found.leaf_of_row.compute(), rows)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((5, 2), np.nan), "block 1 has 10 missing values"),
        (np.ones((5, 3)), "block 1 has the wrong number of columns"),
        (np.ones((0, 2)), "block 1 .*row"),
    ],
    ids=["missing", "width", "empty"],
)
@pytest.mark.parametrize("explicit", [False, True], ids=["open", "explicit"])
def test_a_bad_partition_is_named(client, bad, message, explicit, X):
    likelihood = mw.Gaussian().resolve(X) if explicit else mw.Gaussian()
    parts = [dask.delayed(part) for part in (X[:50], bad, X[50:90])]
    array = da.concatenate([da.from_delayed(part, (np.nan, 2), dtype=float) for part in parts])
    with pytest.raises(ValueError, match=message):
        distributed.build_leaves(mw.Mixture(likelihood), array, leaves_per_partition=10)


def test_wrong_arguments(X):
    with pytest.raises(TypeError, match="X must be a Dask array"):
        distributed.build_leaves(mw.Mixture(), X)
    with pytest.raises(TypeError, match="X must be a Dask array"):
        distributed.build_leaves(mw.Mixture(), da.from_array(X[:, 0]))
    array = da.from_array(X[:100])
    with pytest.raises(ValueError, match="leaves_per_partition must be at least 2"):
        distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=1)
    found = distributed.build_leaves(mw.Mixture(), array, leaves_per_partition=10, seed=0)
    with pytest.raises(ValueError, match="labels must be"):
        found.row_labels([0, 1])


# --- chains on a cluster


def test_chains_on_dask_are_those_of_threads(client, X):
    post = mw.sample(mw.Mixture(), X[:60], **FAST)
    with joblib.parallel_config("dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = mw.sample(mw.Mixture(), X[:60], **FAST)
    np.testing.assert_array_equal(there.labels, post.labels)
    np.testing.assert_array_equal(there.log_joint, post.log_joint)


class CountedArray(np.ndarray):
    """An array that counts how often it is sent anywhere."""

    sent = 0

    def __reduce_ex__(self, protocol):
        CountedArray.sent += 1
        return np.asarray(self).__reduce_ex__(protocol)


def test_data_are_sent_once_to_dask(client, X):
    from mixwood.run_spec import RunSpec
    from mixwood.sampling.executor import Job, run_in_memory

    spec = RunSpec(
        model=mw.Mixture(),
        resolved=mw.Gaussian().resolve(X),
        data=X.view(CountedArray),
        sampler=mw.Tree(),
        init="ibhc",
        seed=np.random.SeedSequence(1),
        warmup=1,
        draws=1,
        thin=1,
        chains=4,
    )
    job = Job(spec=spec, max_seconds=None, n_jobs=None, progress=False)
    assert sys.getsizeof(job) >= X.nbytes
    CountedArray.sent = 0
    with joblib.parallel_config("dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sinks, results = run_in_memory(job)
    assert len(sinks) == len(results) == 4
    assert CountedArray.sent == 1


def test_rows_in_groups(client, X):
    """The column of groups stays out of the data; each leaf has the counts of its rows."""
    groups = np.array(["b", "c", "a"])[np.arange(2000) // 900]
    model = mw.Mixture(prior=mw.FiniteMixture())
    table = pd.DataFrame(X, columns=["x", "y"]).assign(site=groups)
    frame = dd.from_pandas(table, npartitions=4)
    found = distributed.build_leaves(model, frame, 30, seed=1, groups="site")
    assert found.leaves.groups.names == ("a", "b", "c")
    leaf_of_row = found.leaf_of_row.compute()
    members = found.leaves.groups.members(None)
    for leaf, code, number in zip(*members, strict=True):
        name = found.leaves.groups.names[code]
        assert number == np.count_nonzero((leaf_of_row == leaf) & (groups == name))
    assert members.counts.sum() == 2000
    post = mw.sample(model, found.leaves, **FAST)
    expected = post.log_density(X, groups=groups)
    density = distributed.log_density(post, frame, groups="site").compute()
    np.testing.assert_allclose(density, expected, rtol=1e-9)
    # an array, and groups of their own; or their codes as a column of it
    array, own = da.from_array(X, chunks=(500, 1)), da.from_array(groups, chunks=500)
    apart = distributed.build_leaves(model, array, 30, seed=1, groups=own)
    np.testing.assert_array_equal(apart.leaves.groups.counts, found.leaves.groups.counts)
    density = distributed.log_density(post, array, groups=own).compute()
    np.testing.assert_allclose(density, expected, rtol=1e-9)
    codes = da.from_array(np.column_stack([np.arange(2000) // 900, X]), chunks=(500, 3))
    column = distributed.build_leaves(model, codes, 30, seed=1, groups=0)
    assert column.leaves.groups.names == (0, 1, 2)
    np.testing.assert_array_equal(column.leaves.groups.sizes, [900, 900, 200])
    with pytest.raises(ValueError, match="groups must have the partitions of X, 4, got 1"):
        distributed.build_leaves(model, array, groups=own.rechunk(2000))
    with pytest.raises(TypeError, match="groups must be the name or number of a column"):
        distributed.build_leaves(model, array, groups=groups)
    with pytest.raises(TypeError, match="groups= needs a prior"):
        distributed.build_leaves(mw.Mixture(), array, groups=own)
