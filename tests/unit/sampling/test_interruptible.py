"""What comes before the first draw can be stopped, too: by Ctrl-C, SIGTERM and the time limit."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import mixwood as mw
from mixwood import _core
from mixwood._support.threads import OutOfTimeError, in_threads
from mixwood.sampling.interruptible import at_once, interruptibly
from mixwood.sampling.progress import WaitingLine
from mixwood.testing import seed_of

X = np.random.default_rng(seed_of("interruptible")).normal(size=(40, 2))
MODEL = mw.Mixture(mw.Gaussian(scale="data"))
SETTINGS = {"draws": 10, "warmup": 5, "chains": 2, "seed": 1, "n_jobs": 1, "progress": False}
#: Trees that would take minutes: the work below ends because it is stopped.
MANY = 10**5


@pytest.fixture
def stopped():
    """What trees that never end have to say in the end."""
    return []


@pytest.fixture
def endless(monkeypatch, stopped):
    """Return a function that lets a function of the package grow trees for ever; and acts first."""

    def patch(name, act=lambda: None):
        def grow_on(*_, **__):
            act()
            try:
                for _ in range(MANY):
                    mw.ibhc(MODEL, X, seed=1)
            except _core.Interrupted:
                stopped.append("interrupted")
                raise

        monkeypatch.setattr(name, grow_on)

    return patch


def send_interrupt():
    time.sleep(0.1)  # until the main thread waits
    os.kill(os.getpid(), signal.SIGINT)


def chain_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("mixwood")]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("mixwood.sampling.executor.starting_point", MODEL),
        ("mixwood.sampling.sample.best_structure", mw.Mixture()),
    ],
)
def test_ctrl_c_while_a_start_grows(name, model, endless, stopped):
    endless(name, send_interrupt)
    with pytest.raises(KeyboardInterrupt):
        mw.sample(model, X, **SETTINGS)
    assert stopped == ["interrupted"]
    assert not chain_threads()


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("mixwood.sampling.executor.starting_point", MODEL),
        ("mixwood.sampling.sample.best_structure", mw.Mixture()),
    ],
)
def test_a_time_limit_while_a_start_grows(name, model, endless, stopped):
    endless(name)
    with pytest.raises(RuntimeError, match="stopped before every chain had its first draw"):
        mw.sample(model, X, **SETTINGS, max_seconds=0.05)
    assert stopped == ["interrupted"]


def test_a_stored_run_that_was_stopped_while_its_start_grew_is_resumed(
    endless, tmp_path, monkeypatch
):
    with monkeypatch.context():
        endless("mixwood.sampling.executor.starting_point")
        with pytest.raises(RuntimeError, match=r"mixwood\.resume\("):
            mw.sample(MODEL, X, **SETTINGS, max_seconds=0.05, store=tmp_path / "run")
        monkeypatch.undo()
    post = mw.resume(tmp_path / "run", progress=False)
    np.testing.assert_array_equal(post.labels, mw.sample(MODEL, X, **SETTINGS).labels)


def test_a_time_limit_cuts_an_iteration_that_never_ends():
    endless = mw.Tree(subtree_moves=10**9)
    with pytest.raises(RuntimeError, match="stopped before every chain had its first draw"):
        mw.sample(MODEL, X, endless, **SETTINGS, max_seconds=0.05)


def test_work_that_is_done_in_time_is_not_stopped():
    interrupts = []
    made = in_threads(
        len, ["a", "bc"], 1, lambda: interrupts.append(1), until=time.monotonic() + 60
    )
    assert (made, interrupts) == ([1, 2], [])


def test_what_is_waited_for_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(WaitingLine, "tell", lambda _, text: told.append(text))

    def work(_):
        mw.ibhc(MODEL, X, seed=1)
        told.clear()  # what was told while it grew
        while not told:
            time.sleep(0.001)

    interruptibly(work, [0], 1, what="growing", shown=False)
    assert told[0] == "growing: 40 rows put in"


def test_time_that_is_over_stops_the_work():
    with pytest.raises(OutOfTimeError):
        interruptibly(
            lambda _: [mw.ibhc(MODEL, X, seed=1) for _ in range(MANY)],
            [0],
            1,
            what="growing",
            shown=False,
            until=time.monotonic(),
        )


def test_a_line_shows_on_a_terminal_alone(capsys, monkeypatch):
    with WaitingLine(shown=True) as line:
        line.tell("growing: 7 rows put in")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as rich tells a terminal
    with WaitingLine(shown=True) as line:
        line.tell("growing: 7 rows put in")
    assert "growing: 7 rows put in" in capsys.readouterr().err
    with WaitingLine(shown=False) as line:
        line.tell("growing: 7 rows put in")
    assert capsys.readouterr().err == ""


def test_spare_threads_do_the_parts_of_the_work_at_once():
    meeting = threading.Barrier(2, timeout=60)  # which nobody leaves alone

    def meet(part):
        meeting.wait()
        return part

    made = interruptibly(lambda _: at_once(meet, "ab"), [0], 2, what="meeting", shown=False)
    assert made == [["a", "b"]]


def test_without_spare_threads_parts_are_done_one_by_one():
    def threads(_):
        return at_once(lambda _: threading.get_ident(), range(3))

    first, second = interruptibly(threads, [0, 1], 3, what="counting", shown=False)
    assert len(set(first)) == len(set(second)) == 1
    assert set(threads(0)) == {threading.get_ident()}


def test_what_stops_the_work_stops_its_parts(stopped):
    def grow_on(_):
        try:
            for _ in range(MANY):
                mw.ibhc(MODEL, X, seed=1)
        except _core.Interrupted:
            stopped.append("interrupted")
            raise

    with pytest.raises(OutOfTimeError):
        interruptibly(
            lambda _: at_once(grow_on, "ab"),
            [0],
            2,
            what="growing",
            shown=False,
            until=time.monotonic() + 0.05,
        )
    assert stopped == ["interrupted", "interrupted"]
    assert not chain_threads()


def test_the_choice_of_the_structure_does_not_depend_on_threads():
    settings = SETTINGS | {"chains": 1}
    one, three = (mw.sample(mw.Mixture(), X, **settings | {"n_jobs": n}) for n in (1, 3))
    assert one.settings["structure"] == three.settings["structure"]
    np.testing.assert_array_equal(one.log_joint, three.log_joint)
