"""Links, pipes, absurd sizes, damage to any file of a run: an error that names it, no harm."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import mixwood as mw
from mixwood.testing import seed_of


@pytest.mark.parametrize(
    "place", ["mixwood.json", "chains/0/state", "arrays.zarr/draws/labels/c.0.0.0", "arrays.zarr"]
)
def test_links_are_refused(run, place, assert_refused):
    (run / place).rename(run.parent / "elsewhere")
    (run / place).symlink_to(run.parent / "elsewhere")
    assert_refused(run, place.split("/")[-1].replace(".", r"\."))


@pytest.mark.parametrize("place", ["chains", "chains/0"])
def test_links_to_folders_are_refused(run, place, assert_refused):
    (run / place).rename(run.parent / "elsewhere")
    (run / place).symlink_to(run.parent / "elsewhere")
    assert_refused(run, place)


def test_nothing_is_written_through_a_link(run, resume):
    target = run.parent / "mine"
    target.write_text("mine")
    for place in ("chains/0/.state.unfinished", "arrays.zarr/draws/log_u/.c.0.0.unfinished"):
        (run / place).symlink_to(target)
        with pytest.raises(OSError, match="cannot be written"):
            resume(run)
        (run / place).unlink(missing_ok=True)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("place", ["lock", "chains/1/lock"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_a_lock_that_is_not_a_file(run, place, kind, resume):
    lock, target = run / place, run.parent / "mine"
    lock.unlink()
    if kind == "folder":
        lock.mkdir()
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to(target)
    if kind == "link":
        target.write_text("mine")
    with pytest.raises(ValueError, match=rf"{place} must be a plain file"):
        resume(run)
    assert target.exists() == (kind == "link")


@pytest.mark.parametrize("place", ["chains", "chains/0"])
def test_nothing_is_written_into_a_linked_folder(run, place, resume):
    shutil.rmtree(run / place)
    (run.parent / "elsewhere").mkdir()
    (run / place).symlink_to(run.parent / "elsewhere")
    with pytest.raises(ValueError, match=rf"{place} is a link"):
        resume(run)
    assert not [p for p in (run.parent / "elsewhere").rglob("*") if p.is_file()]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("place", ["chains/1/state", "arrays.zarr/draws/log_u/c.0.0"])
def test_a_pipe_is_not_waited_for(run, place, assert_refused):
    (run / place).unlink()
    os.mkfifo(run / place)
    assert_refused(run, "is not a plain file")


@pytest.mark.parametrize("size", [2**30, 2**43])
@pytest.mark.parametrize("place", ["chains/1/state", "arrays.zarr/draws/log_u/c.0.0"])
def test_files_of_absurd_sizes_are_not_read(run, place, size, monkeypatch, assert_refused):
    monkeypatch.setattr("mixwood.store.atomic_files.available_bytes", lambda: 2**28)
    os.truncate(run / place, size)
    assert_refused(run, rf"{place.split('/')[-1]} has {size} bytes")


def test_any_damage_to_any_file(run, damaged, resume, error_of):
    """Only a ValueError or an OSError that names the file comes out, or the run goes on."""
    rng = np.random.default_rng(seed_of("any damage"))
    places = sorted(p for p in run.rglob("*") if p.is_file() and p.name != "lock")
    copy, refused = run.with_name("copy"), 0
    for _ in range(60):
        shutil.copytree(run, copy)
        place = copy / places[rng.integers(len(places))].relative_to(run)
        place.write_bytes(next(damaged(place.read_bytes(), rng, 1)))
        for act in (mw.load, resume):
            error = error_of(act, copy)
            if isinstance(error, RuntimeError):  # a plan of so much warm-up that time was over
                assert "first draw" in str(error)
            elif error is not None:
                assert str(copy) in str(error)
                assert any(name in str(error) for name in (place.name, place.parent.name)), error
                refused += 1
        shutil.rmtree(copy)
    assert refused > 40
