"""A program that kills writers of run folders at every step; see test_killed_writers.py.

Usage: killed_writers.py FOLDER CASE. The writer runs in a fork of this process that ends, without
a word, at its first change to the file system, in the next fork at its second, and so on until one
comes through. After each: is a whole run to be seen, are the user's files there, and does the
next writer leave nothing but them?
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np

import mixwood as mw
from mixwood.store import folders
from mixwood.store.folders import Destination

CHANGES = (
    "fcntl.flock",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "shutil.copyfile",
    "shutil.rmtree",
)
KILLED = 9
X = np.array([[0.0], [0.1], [9.0], [9.1]])


def posterior(seed, store=None):
    options = {"draws": 2, "warmup": 0, "chains": 1, "init": "one", "progress": False}
    return mw.sample(
        mw.Mixture(mw.Gaussian(scale="data")), X, seed=seed, store=store, n_jobs=1, **options
    )


def end_at(step):
    """Let this process end before change number `step` to the file system."""
    left = step

    def hook(event, arguments):
        nonlocal left
        if event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            if left == 0:
                os._exit(KILLED)
            left -= 1

    sys.addaudithook(hook)


def killed_at(step, act):
    """Do something in another process; return whether that was killed before it was done."""
    child = os.fork()
    if child == 0:
        try:
            end_at(step)
            act()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED), code
    return code == KILLED


def seed_of(run):
    """Return which run it is, by its description."""
    return json.loads((run / "mixwood.json").read_text())["settings"]["seed"]["entropy"]


def assert_own_files(run):
    assert (run / "notes.txt").read_text() == "mine"
    assert (run / "photos" / "old" / "cat.jpg").read_bytes() == b"cat"
    assert os.readlink(run / "link") == "nowhere"


def assert_alone(run):
    assert os.listdir(run.parent) == [run.name], os.listdir(run.parent)


class Replacing:
    """`Posterior.save` with overwrite=True, over a run with files of the user."""

    runs = (None, posterior(1), posterior(2), posterior(3))  # by seed
    before = 1  # which run the writer of run 2 finds: in turn 1 and 3

    def prepare(self, run):
        self.runs[self.before].save(run)
        (run / "notes.txt").write_text("mine")
        (run / "photos" / "old").mkdir(parents=True)
        (run / "photos" / "old" / "cat.jpg").write_bytes(b"cat")
        (run / "link").symlink_to("nowhere")

    def act(self, run):
        self.runs[2].save(run, overwrite=True)

    def check(self, run):
        assert run.is_dir()
        assert_own_files(run)
        found = mw.load(run)
        assert seed_of(run) in (self.before, 2)
        np.testing.assert_array_equal(found.log_joint, self.runs[seed_of(run)].log_joint)

    def after(self, run):
        """Be the next writer, who leaves all as it was before the one that was killed."""
        self.before = 4 - self.before
        self.runs[self.before].save(run, overwrite=True)
        assert seed_of(run) == self.before
        assert mw.load(run).n_draws == 2
        assert_own_files(run)


class WithoutExchange(Replacing):
    """The same where names cannot be exchanged in one step: whoever looks next mends it."""

    def act(self, run):
        folders.exchange = lambda *_: False
        super().act(run)

    def check(self, run):
        mw.load(run)
        super().check(run)


class New(Replacing):
    """`Posterior.save` to a place where nothing is."""

    def prepare(self, run):
        pass

    def act(self, run):
        self.runs[2].save(run)

    def check(self, run):
        if run.exists():
            np.testing.assert_array_equal(mw.load(run).log_joint, self.runs[2].log_joint)

    def after(self, run):
        self.runs[3].save(run, overwrite=True)
        assert mw.load(run).n_draws == 2
        assert_alone(run)
        shutil.rmtree(run)


class Forced(Replacing):
    """What `mixwood fit --force` does: the record of the input comes and goes with its run."""

    def prepare(self, run):
        self.runs[1].save(run)
        for name, text in (("input.json", "1"), ("run.log", "old"), ("report.html", "old")):
            (run / name).write_text(text)

    def act(self, run):
        posterior(2, Destination(run, True, {"input.json": "2", "run.log": "new"}))

    def check(self, run):
        seed = seed_of(run)
        assert seed in (self.before, 2)
        assert (run / "input.json").read_text() == str(seed)
        assert (run / "run.log").read_text() == ("new" if seed == 2 else "old")
        assert (run / "report.html").exists() == (seed != 2)
        if seed == 2:
            found = mw.resume(run, progress=False)
            np.testing.assert_array_equal(found.log_joint, self.runs[2].log_joint)
        else:
            assert mw.load(run).n_draws == 2

    def after(self, run):
        self.before = 4 - self.before
        entry = str(self.before)
        posterior(self.before, Destination(run, True, {"input.json": entry, "run.log": "old"}))
        assert mw.load(run).n_draws == 2
        assert (run / "input.json").read_text() == entry
        assert not (run / "report.html").exists()
        (run / "report.html").write_text("old")


def main(place, name):
    """Kill, check, write again; return how often it was killed."""
    os.fsync = lambda _: None
    case, run, step = globals()[name](), Path(place, "run"), 0
    case.prepare(run)
    while killed_at(step, lambda: case.act(run)):
        case.check(run)
        case.after(run)
        assert set(os.listdir(place)) <= {run.name}, os.listdir(place)
        step += 1
    case.check(run)
    assert_alone(run)
    return step


if __name__ == "__main__":
    warnings.simplefilter("error")
    print("killed", main(*sys.argv[1:]))
