"""Writers of run folders that are killed: one whole run is to be seen at every moment."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from mixwood.store import folders
from mixwood.store.lock import locked_folder

PROGRAM = Path(__file__).with_name("killed_writers.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
@pytest.mark.parametrize("case", ["Replacing", "WithoutExchange", "New", "Forced"])
def test_a_killed_writer_leaves_one_whole_run_and_the_next_one_cleans_up(
    case, run_program, tmp_path
):
    assert int(run_program(PROGRAM, tmp_path, case).split()[1]) > 20


def hidden(run, kind="unfinished"):
    return run.with_name(f".{run.name}.{uuid.uuid4().hex}.{kind}")


def test_what_a_living_process_writes_is_left_alone(make_posterior, tmp_path):
    run = tmp_path / "run"
    living = hidden(run)
    living.mkdir()
    with locked_folder(living):
        make_posterior(draws=2).save(run)
        assert living.exists()
    make_posterior(draws=2).save(run, overwrite=True)
    assert os.listdir(tmp_path) == ["run"]


def test_only_folders_with_our_hidden_names_are_removed(make_posterior, tmp_path):
    names = [".run.unfinished", ".run.abc.unfinished", hidden(tmp_path / "other").name, "run-2"]
    for name in names:
        (tmp_path / name).mkdir()
    link = hidden(tmp_path / "run")
    link.symlink_to(tmp_path / "run-2")
    make_posterior(draws=2).save(tmp_path / "run")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, link.name, "run"])


def test_files_of_the_user_that_an_older_mixwood_left_hidden_come_back(make_posterior, tmp_path):
    run, left = tmp_path / "run", hidden(tmp_path / "run")
    make_posterior(draws=2).save(run)
    (run / "both").mkdir()
    (run / "notes.txt").write_text("newer")
    make_posterior(draws=2).save(left)
    (left / "both").mkdir()
    (left / "both" / "inner.txt").write_text("mine")
    (left / "notes.txt").write_text("older")
    (left / "more.txt").write_text("mine")
    make_posterior(draws=2).save(run, overwrite=True)
    assert os.listdir(tmp_path) == ["run"]
    assert (run / "both" / "inner.txt").read_text() == "mine"
    assert (run / "more.txt").read_text() == "mine"
    assert (run / "notes.txt").read_text() == "newer"


def test_files_that_cannot_be_linked_are_copied_or_moved(make_posterior, tmp_path, monkeypatch):
    def refuse(*_arguments, **_options):
        raise PermissionError("no links here")

    for what, replacement in ((os, "link"), (folders.shutil, "copy2")):
        run = tmp_path / "run"
        make_posterior(draws=2).save(run, overwrite=True)
        (run / "notes.txt").write_text("mine")
        (run / "photos").mkdir(exist_ok=True)
        (run / "photos" / "cat.jpg").write_bytes(b"cat")
        monkeypatch.setattr(what, replacement, refuse)  # the second time both
        make_posterior(draws=3).save(run, overwrite=True)
        assert (run / "notes.txt").read_text() == "mine"
        assert (run / "photos" / "cat.jpg").read_bytes() == b"cat"
        assert os.listdir(tmp_path) == ["run"]
