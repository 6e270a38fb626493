"""Runs that are killed, or find the disk full, lose nothing but the last moments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mixwood as mw
from mixwood.testing import seed_of

KILLS = Path(__file__).parents[2] / "fuzz" / "kills.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")


def killed(printed):
    """Return how often something was killed."""
    return int(printed.splitlines()[-1].split()[1])


def test_killed_work_ends_as_if_undisturbed(tmp_path, run_program):
    """A few cases; `make test-kills` has all of them."""
    cases = ("gaussian-tree", "multinomial-gibbs", "product-papertree", "groups", "extended")
    assert killed(run_program(KILLS, tmp_path, 12, 3, *cases)) >= 12


@pytest.mark.long
def test_work_of_every_kind_killed(tmp_path, run_program):
    assert killed(run_program(KILLS, tmp_path, 400, seed_of("killed often") % 1000)) >= 400


FULL = """
import json, resource, sys, warnings
import mixwood as mw
from mixwood.store import chain_store
chain_store.CHECKPOINT_SECONDS = 0.01
run, limit = sys.argv[1], int(sys.argv[2])
X, _ = mw.datasets.toy()
limited = False
def mark(self, draws, checkpoint, original=chain_store.ChainStore.mark):
    global limited
    original(self, draws, checkpoint)
    if limit and not limited and draws >= 20:
        limited = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
chain_store.ChainStore.mark = mark
try:
    mw.sample(mw.Mixture(mw.Gaussian(scale="data")), X[::10], sampler="gibbs", draws=3000,
              warmup=10, chains=1, seed=4, store=run, progress=False)
    print(json.dumps(None))
except OSError as error:
    print(json.dumps([str(error), error.filename]))
"""


def assert_resumable(run, message, whole):
    """Check an error that a full disk gave, and that the run goes on as if nothing had been."""
    assert message is not None
    assert str(run) in message[1]
    assert "cannot be written" in message[0]
    assert not list(run.rglob(".*unfinished"))
    with pytest.warns(RuntimeWarning, match="unfinished"):
        so_far = mw.load(run)
    assert so_far.n_draws >= 20
    post = mw.resume(run, progress=False)
    assert (post.labels == whole.labels).all()
    assert (post.log_joint == whole.log_joint).all()


@pytest.fixture(scope="module")
def whole():
    X, _ = mw.datasets.toy()
    options = {"sampler": "gibbs", "draws": 3000, "warmup": 10, "chains": 1, "seed": 4}
    return mw.sample(mw.Mixture(mw.Gaussian(scale="data")), X[::10], progress=False, **options)


def test_a_file_that_cannot_grow(tmp_path, whole, run_program):
    resource = pytest.importorskip("resource")
    assert resource.RLIMIT_FSIZE is not None
    run = tmp_path / "run"
    message = json.loads(run_program("-c", FULL, run, 1000))
    assert_resumable(run, message, whole)


def test_a_full_disk(tmp_path, whole, run_program):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    try:
        message = json.loads(run_program("-c", FULL, disk / "run", 0))
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        assert_resumable(disk / "run", message, whole)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


HOLD = """
import os, sys, time
import mixwood as mw
X, _ = mw.datasets.toy()
mw.sample(mw.Mixture(mw.Gaussian(scale="data")), X, draws=10**7, warmup=0, chains=1, seed=4,
          init="one", store=sys.argv[1], progress=False)
"""


def test_two_processes_on_one_folder(tmp_path, same_path):
    run = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(run)], env=same_path) as other:
        try:
            while not (run / "chains/0/lock").exists():
                assert other.poll() is None
            with pytest.raises(BlockingIOError, match="run is being written by another process"):
                mw.resume(run, progress=False)
            X, _ = mw.datasets.toy()
            post = mw.sample(
                mw.Mixture(mw.Gaussian(scale="data")),
                X[:5],
                draws=5,
                warmup=0,
                chains=1,
                progress=False,
            )
            with pytest.raises(BlockingIOError, match="another process"):
                post.save(run, overwrite=True)
        finally:
            other.kill()
    with pytest.warns(RuntimeWarning, match="stopped early"):  # a lock dies with its process
        post = mw.resume(run, progress=False, max_seconds=0.5)
    assert post.n_draws > 0
