"""What comes in the way of a run: its folder moves or goes, is full, or may not be written."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw
from mixwood.report import write_report
from mixwood.sampling import chain as chains
from mixwood.store import chain_store, draw_store

X = np.random.default_rng(1).normal(size=(24, 2)) + 5 * (np.arange(24) % 2)[:, None]
FAST = {"sampler": "gibbs", "draws": 7, "warmup": 2, "chains": 1, "n_jobs": 1, "progress": False}


def sample(run, seed=1, **options):
    model = mw.Mixture(mw.Gaussian(scale="data"))
    return mw.sample(model, X, seed=seed, store=run, **FAST | options)


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """Let checkpoints come after every iteration, and files hold few draws."""
    monkeypatch.setattr(chains, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(chain_store, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(draw_store, "DRAWS_AT_ONCE", 3)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def whole():
    return sample(None)


@pytest.fixture
def at_draw(monkeypatch):
    """Return a function that does something once a chain has made so many draws."""

    def set_up(draws, act):
        marked = chain_store.ChainStore.mark

        def mark(self, made, checkpoint):
            marked(self, made, checkpoint)
            if made == draws:
                monkeypatch.setattr(chain_store.ChainStore, "mark", marked)
                act()

        monkeypatch.setattr(chain_store.ChainStore, "mark", mark)

    return set_up


GONE = "was moved, removed or replaced while its chains were running"


def test_a_folder_that_is_removed_ends_the_run(tmp_path, at_draw):
    run = tmp_path / "run"
    at_draw(5, lambda: shutil.rmtree(run))
    with pytest.raises(FileNotFoundError, match=GONE) as caught:
        sample(run)
    assert caught.value.filename == str(run)
    assert not os.listdir(tmp_path)


def test_a_folder_that_is_moved_can_be_resumed_where_it_is(tmp_path, at_draw, whole):
    run, other = tmp_path / "run", tmp_path / "other"
    at_draw(5, lambda: run.rename(other))
    with pytest.raises(FileNotFoundError, match=GONE):
        sample(run)
    post = mw.resume(other, progress=False)
    np.testing.assert_array_equal(post.log_joint, whole.log_joint)


def test_nothing_is_written_to_a_run_that_was_put_in_its_place(tmp_path, at_draw, whole):
    run, other = tmp_path / "run", tmp_path / "other"
    expected = sample(other, seed=2)

    def replace():
        run.rename(tmp_path / "moved")
        other.rename(run)

    at_draw(5, replace)
    with pytest.raises(FileNotFoundError, match=GONE):
        sample(run)
    np.testing.assert_array_equal(mw.load(run).log_joint, expected.log_joint)
    post = mw.resume(tmp_path / "moved", progress=False)
    np.testing.assert_array_equal(post.log_joint, whole.log_joint)


class FullDisk:
    """Writes fail from number `left` on, after half of what was to be written."""

    def __init__(self, monkeypatch):
        self.left = None
        write = os.write

        def limited(descriptor, content):
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                if self.left == 0:
                    content = memoryview(content)[: max(1, len(content) // 2)]
            return write(descriptor, content)

        monkeypatch.setattr(os, "write", limited)

    def when(self, step, act):
        """Do something with a disk that is full after some writes; return the error if it is."""
        self.left, found = step, None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                act()
        except OSError as error:
            found = error
        self.left = None
        assert found is None or (found.errno, str(found).count("cannot be written")) == (
            errno.ENOSPC,
            1,
        )
        return found


@pytest.fixture
def disk(monkeypatch):
    return FullDisk(monkeypatch)


def test_a_disk_that_is_full_at_any_write(tmp_path, disk, whole):
    """Every file of a run in turn is the one that cannot be written."""
    step, begun = 0, 0
    while True:
        run = tmp_path / str(step) / "run"
        run.parent.mkdir()
        error = disk.when(step, lambda to=run: sample(to))
        if error is None:
            break
        assert str(run.parent) in error.filename
        assert set(os.listdir(run.parent)) <= {"run"}
        assert not list(run.parent.rglob(".*unfinished"))
        if run.exists():
            begun += 1
            np.testing.assert_array_equal(mw.resume(run, progress=False).log_joint, whole.log_joint)
        else:
            sample(run)
        step += 1 + 2 * (step > 24)  # the others are alike
    assert begun > 10


def test_a_disk_that_is_full_when_results_are_written(tmp_path, disk):
    post = sample(tmp_path / "run")
    report = tmp_path / "run" / "report.html"
    report.write_text("of before")
    error = disk.when(0, lambda: write_report(post, report))
    assert error.filename == str(report)
    assert report.read_text() == "of before"
    error = disk.when(3, lambda: post.save(tmp_path / "saved"))
    assert str(tmp_path) in error.filename
    assert os.listdir(tmp_path) == ["run"]
    before = mw.load(tmp_path / "run").point_estimate()  # kept, or not, without a word
    assert disk.when(0, lambda: mw.load(tmp_path / "run").point_estimate(seed=5)) is None
    np.testing.assert_array_equal(mw.load(tmp_path / "run").point_estimate(), before)


def test_a_disk_that_is_full_when_a_run_is_extended(tmp_path, disk, whole):
    longer = sample(None, draws=12)
    for step in range(0, 12, 2):
        run = tmp_path / str(step)
        sample(run)
        disk.when(step, lambda to=run: mw.resume(to, draws=12, progress=False))
        again = mw.resume(run, draws=12, progress=False)
        np.testing.assert_array_equal(again.log_joint, longer.log_joint)
        np.testing.assert_array_equal(again.labels[:, :7], whole.labels)


AS_NOBODY = """
import os, sys
import mixwood as mw

def attempts(run):
    post = mw.load(run)
    post.point_estimate()
    yield lambda: mw.resume(run, draws=12, progress=False)
    yield lambda: post.save(run, overwrite=True)
    yield lambda: post.save(run + "-new")
    yield lambda: mw.sample(post.model, post.X, draws=2, store=run + "-newer", progress=False)

for act in attempts(sys.argv[2]):  # the interpreter's own files may be closed to others
    act()
if os.geteuid() == 0:
    os.setuid(65534)
for act in attempts(sys.argv[1]):
    try:
        act()
    except PermissionError as error:
        print(error.filename)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="users are changed here")
def test_a_folder_that_can_only_be_read(run_program, tmp_path):
    """It is read; what writes says which file could not be written, and changes nothing."""
    place = Path(tempfile.mkdtemp(prefix="mixwood-"))  # where anybody may look
    run = place / "run"
    try:
        sample(run)
        shutil.copytree(run, tmp_path / "run")
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
        for path in [place, *before]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        printed = run_program("-c", AS_NOBODY, run, tmp_path / "run").split()
        assert len(printed) == 4
        assert all(name.startswith(str(place)) for name in printed)
        assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before
    finally:
        for path in [place, *place.rglob("*")]:
            path.chmod(0o777)
        shutil.rmtree(place)
