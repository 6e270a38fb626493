"""Checkpoints that are damaged or hostile: an error that names the file, no harm."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np
import pytest

import mixwood as mw
from mixwood.store.checkpoint import read_checkpoint, write_checkpoint
from mixwood.testing import seed_of


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
    "no draws": (lambda h: h.pop("draws"), "or not a checkpoint"),
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
    "no random": (lambda h: h.pop("random"), "or not a checkpoint"),
    "random of text": (lambda h: h.update(random="PCG64"), "or not a checkpoint"),
    "random too large": (lambda h: h["random"]["state"].update(inc=2**128), "PCG64"),
    "random negative": (lambda h: h["random"]["state"].update(state=-1), "PCG64"),
    "a class": (lambda h: h.update(stats={"$type": "os.system"}), "not a type"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers_of_checkpoints(run, case, assert_refused):
    change, words = HEADERS[case]
    rewritten(run / "chains/1/state", change)
    assert_refused(run, rf"chains.1.state.*{words}")


def test_a_state_of_another_iteration(run, resume):
    for chain in range(2):
        later = lambda h: h.update(iterations=13, draws=9)  # noqa: E731
        rewritten(run / f"chains/{chain}/state", later)
    with pytest.raises(ValueError, match=r"state cannot be resumed: .* iteration 12"):
        resume(run)


def test_the_longest_header_is_not_beyond_the_file(run, assert_refused):
    path = run / "chains/0/state"
    content = bytearray(path.read_bytes()[:-32])
    start = content.index(b"{")
    content[start - 8 : start] = (2**63).to_bytes(8, "little")
    path.write_bytes(bytes(content) + hashlib.sha256(content).digest())
    assert_refused(run, r"chains.0.state.*longer than the file")


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"mixwood chain", b"{}" * 100])
def test_files_that_are_no_checkpoints(run, content, assert_refused):
    (run / "chains/0/state").write_bytes(content)
    assert_refused(run, r"chains.0.state is damaged, or not a checkpoint")


def test_hostile_states_with_right_checksums(run, damaged, resume, error_of):
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


ARRAYS = ("labels", "log_joint", "log_u", "log_alpha", "sigma", "base")


def enlarge(shape):
    shape[1] = 10**15


def test_absurd_numbers_that_agree_with_each_other(run, change_json):
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
