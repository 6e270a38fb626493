"""Run folders that can be resumed, damaged and hostile: an error that names the file, no harm."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import warnings

import numpy as np
import pytest

import mixwood as mw
from mixwood.store.checkpoint import read_checkpoint, write_checkpoint
from mixwood.testing import seed_of

X = np.random.default_rng(0).normal(size=(30, 2)) + 5 * (np.arange(30) % 2)[:, None]
ARRAYS = ("labels", "log_joint", "log_u", "log_alpha", "sigma")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    run = tmp_path_factory.mktemp("original") / "run"
    mw.sample(mw.Mixture(), X, draws=8, warmup=4, chains=2, seed=1, store=run, progress=False)
    return run


@pytest.fixture
def run(original, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def resume(run, draws=11):
    return mw.resume(run, draws=draws, progress=False, max_seconds=0.3)


def assert_refused(run, place):
    """Check that loading and resuming name the file."""
    with pytest.raises(ValueError, match=place):
        mw.load(run)
    with pytest.raises(ValueError, match=place):
        resume(run)


# --- what is not a plain file ------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["mixwood.json", "chains/0/state", "arrays.zarr/draws/labels/c.0.0.0", "arrays.zarr"]
)
def test_links_are_refused(run, place):
    (run / place).rename(run.parent / "elsewhere")
    (run / place).symlink_to(run.parent / "elsewhere")
    assert_refused(run, place.split("/")[-1].replace(".", r"\."))


@pytest.mark.parametrize("place", ["chains", "chains/0"])
def test_links_to_folders_are_refused(run, place):
    (run / place).rename(run.parent / "elsewhere")
    (run / place).symlink_to(run.parent / "elsewhere")
    assert_refused(run, place)


def test_nothing_is_written_through_a_link(run):
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
def test_a_lock_that_is_not_a_file(run, place, kind):
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
def test_nothing_is_written_into_a_linked_folder(run, place):
    shutil.rmtree(run / place)
    (run.parent / "elsewhere").mkdir()
    (run / place).symlink_to(run.parent / "elsewhere")
    with pytest.raises(ValueError, match=rf"{place} is a link"):
        resume(run)
    assert not [p for p in (run.parent / "elsewhere").rglob("*") if p.is_file()]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("place", ["chains/1/state", "arrays.zarr/draws/log_u/c.0.0"])
def test_a_pipe_is_not_waited_for(run, place):
    (run / place).unlink()
    os.mkfifo(run / place)
    assert_refused(run, "is not a plain file")


@pytest.mark.parametrize("size", [2**30, 2**43])
@pytest.mark.parametrize("place", ["chains/1/state", "arrays.zarr/draws/log_u/c.0.0"])
def test_files_of_absurd_sizes_are_not_read(run, place, size, monkeypatch):
    monkeypatch.setattr("mixwood.store.atomic_files.available_bytes", lambda: 2**28)
    os.truncate(run / place, size)
    assert_refused(run, rf"{place.split('/')[-1]} has {size} bytes")


# --- bombs -------------------------------------------------------------------------------


def change_json(path, change):
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


def test_a_chunk_that_would_be_huge_is_not_decompressed(run):
    from numcodecs.zstd import compress

    chunk = run / "arrays.zarr/draws/log_u/c.0.0"
    good = chunk.read_bytes()
    bombs = [compress(np.zeros(2**27, dtype=np.uint8), 3, True), compress(b"", 3, True), b"\0" * 50]
    frame = bytearray(good)
    frame[4] |= 0xC0  # the size takes eight bytes
    bombs.append(bytes(frame[:5]) + (2**62).to_bytes(8, "little") + bytes(frame[5:]))
    frame = bytearray(good)
    frame[4] &= ~0x04  # no checksum
    bombs.append(bytes(frame))
    for bomb in bombs:
        chunk.write_bytes(bomb)
        assert_refused(run, r"log_u.c\.0\.0 is damaged")


@pytest.mark.parametrize("entries", [[1, 10**6, 10**6], [1, 2**40, 30], [1, 0, 30], [1, "a", 30]])
def test_absurd_chunks(run, entries):
    change_json(
        run / "arrays.zarr/draws/labels/zarr.json",
        lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=entries),
    )
    assert_refused(run, r"labels.zarr\.json has chunks")


def test_absurd_numbers_that_agree_with_each_other(run):
    for name in ARRAYS:
        change_json(run / f"arrays.zarr/draws/{name}/zarr.json", lambda d: enlarge(d["shape"]))
    change_json(run / "mixwood.json", lambda d: d.update(draws=10**15))
    for chain in range(2):
        path = run / f"chains/{chain}/state"
        large = dataclasses.replace(read_checkpoint(path), iterations=10**15 + 4, draws=10**15)
        write_checkpoint(path, large)
    with pytest.raises(ValueError, match="is missing"):
        mw.load(run)
    with pytest.raises(ValueError, match=r"cannot be resumed|is missing"):
        mw.resume(run, draws=10**15 + 1, progress=False, max_seconds=1)


def enlarge(shape):
    shape[1] = 10**15


def test_more_draws_than_memory(run, monkeypatch):
    labels = mw.load(run).labels
    assert labels.dtype == np.int8
    monkeypatch.setattr("mixwood.store.load.available_bytes", lambda: labels.nbytes)
    np.testing.assert_array_equal(mw.load(run).labels, labels)
    monkeypatch.setattr("mixwood.store.load.available_bytes", lambda: labels.nbytes - 1)
    with pytest.raises(ValueError, match=r"labels: the label draws need .* xarray"):
        mw.load(run)


# --- checkpoints -------------------------------------------------------------------------


def rewritten(path, change):
    """Change the header of a checkpoint, the checksum made anew."""
    content = path.read_bytes()[:-32]
    start = content.index(b"{")
    length = int.from_bytes(content[start - 8 : start], "little")
    header = json.loads(content[start : start + length])
    change(header)
    text = json.dumps(header).encode()
    body = content[: start - 8] + len(text).to_bytes(8, "little") + text + content[start + length :]
    path.write_bytes(body + hashlib.sha256(body).digest())


HEADERS = {
    "a newer version": (lambda h: h.update(version=2), "install a newer one"),
    "no version": (lambda h: h.pop("version"), "version"),
    "version of text": (lambda h: h.update(version="1"), "version"),
    "no draws": (lambda h: h.pop("draws"), "no checkpoint"),
    "other draws": (lambda h: h.update(draws=7), "7 draws, not 8"),
    "negative iterations": (lambda h: h.update(iterations=-1), "iterations"),
    "iterations true": (lambda h: h.update(iterations=True), "iterations"),
    "seconds of text": (lambda h: h.update(seconds="1"), "seconds"),
    "seconds infinite": (
        lambda h: h.update(seconds={"$type": "float", "value": "inf"}),
        "seconds",
    ),
    "stats a list": (lambda h: h.update(stats=[]), "stats"),
    "error a number": (lambda h: h.update(error=5), "error"),
    "no random": (lambda h: h.pop("random"), "no checkpoint"),
    "random of text": (lambda h: h.update(random="PCG64"), "no checkpoint"),
    "random too large": (lambda h: h["random"]["state"].update(inc=2**128), "PCG64"),
    "random negative": (lambda h: h["random"]["state"].update(state=-1), "PCG64"),
    "a class": (lambda h: h.update(stats={"$type": "os.system"}), "not a type"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers_of_checkpoints(run, case):
    change, words = HEADERS[case]
    rewritten(run / "chains/1/state", change)
    assert_refused(run, rf"chains.1.state.*{words}")


def test_a_state_of_another_iteration(run):
    for chain in range(2):
        later = lambda h: h.update(iterations=13, draws=9)  # noqa: E731
        rewritten(run / f"chains/{chain}/state", later)
    with pytest.raises(ValueError, match=r"state cannot be resumed: .* iteration 12"):
        resume(run)


def test_the_longest_header_is_not_beyond_the_file(run):
    path = run / "chains/0/state"
    content = bytearray(path.read_bytes()[:-32])
    start = content.index(b"{")
    content[start - 8 : start] = (2**63).to_bytes(8, "little")
    path.write_bytes(bytes(content) + hashlib.sha256(content).digest())
    assert_refused(run, r"chains.0.state.*longer than the file")


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"mixwood chain", b"{}" * 100])
def test_files_that_are_no_checkpoints(run, content):
    (run / "chains/0/state").write_bytes(content)
    assert_refused(run, r"chains.0.state is damaged, or no checkpoint")


def test_hostile_states_with_right_checksums(run, damaged):
    """Whatever the state: an error that names the file, or chains that run."""
    rng = np.random.default_rng(seed_of("hostile states"))
    path = run / "chains/0/state"
    good, refused = read_checkpoint(path), 0
    for state in damaged(good.state, rng, 40):
        write_checkpoint(path, dataclasses.replace(good, state=state))
        error = error_of(resume, run, draws=9)
        if isinstance(error, ValueError):
            assert str(path) in str(error)
            refused += 1
    assert refused > 20


def error_of(act, *arguments, **options):
    """Return what an action raises, of all that it may raise; or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act(*arguments, **options)
        except (ValueError, OSError, RuntimeError) as error:
            return error
    return None


def test_any_damage_to_any_file(run, damaged):
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
                refused += 1
        shutil.rmtree(copy)
    assert refused > 40


def test_a_chain_number_is_not_a_path(run):
    """Nothing in a file says where another file is."""
    change_json(run / "mixwood.json", lambda d: d.update(chains="../../x"))
    assert_refused(run, r"mixwood\.json is not valid: chains")
