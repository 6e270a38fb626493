"""Ctrl-C, SIGTERM and a killed process: the run is kept, and `mixwood resume` goes on with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw

#: Long enough that no machine is done before the signal comes.
ENDLESS = ["--draws", "100000", "--thin", "100", "--warmup", "5", "--chains", "1", "--seed", "3"]


def started(folder, *more):
    """Start a run in another process, and wait until it has draws on the disk."""
    arguments = ["fit", "trees.csv", "--exclude", "kind", "--output", "run", *ENDLESS, *more]
    running = subprocess.Popen(
        [sys.executable, "-m", "mixwood", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while draws_in(folder / "run") == 0:
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)
    return running


def draws_in(folder):
    """Return how many draws a run has on the disk by now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return mw.load(folder).n_draws
        except (OSError, RuntimeError, ValueError):
            return 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_which_can_go_on(mixwood, table, tmp_path, number, code):
    running = started(tmp_path, "--json")
    running.send_signal(number)
    output, messages = running.communicate(timeout=120)
    assert running.returncode == code, messages
    assert "Traceback" not in messages
    assert f"stopped by {number.name}" in messages
    assert "to continue: mixwood resume run" in messages
    assert "warning" not in messages
    outcome = json.loads(output)
    assert outcome["finished"] is False
    assert not (tmp_path / "run" / "report.html").exists()
    wanted = str(outcome["draws"] + 5)
    result = mixwood("resume", "run", "--draws", wanted, "--json")
    assert result.exit_code == 0, result.output
    resumed = json.loads(result.stdout)
    assert resumed["finished"] is True
    assert str(resumed["draws"]) == wanted
    assert Path(resumed["report"]).is_file()
    assert "Clusters of trees.csv" in Path(resumed["report"]).read_text(encoding="utf-8")
    assert "stopped by" in Path("run/run.log").read_text()


def test_after_a_kill_the_draws_are_those_of_a_run_never_stopped(mixwood, table, trees, tmp_path):
    running = started(tmp_path, "--label", "x")
    running.kill()
    running.communicate()
    made = draws_in(tmp_path / "run")
    result = mixwood("resume", "run", "--draws", made + 10, "--json", "--no-report")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert outcome["source"] == "trees.csv"
    assert outcome["adjusted_rand"] is not None
    whole = mw.sample(
        mw.Mixture(),
        trees[["y2"]],
        draws=outcome["draws"],
        warmup=5,
        thin=100,
        chains=1,
        seed=3,
        progress=False,
    )
    np.testing.assert_array_equal(mw.load("run").labels, whole.labels)


def test_a_finished_run_gets_longer(mixwood, table, quick):
    mixwood("fit", table, "--exclude", "kind", *quick, "--no-report", "-o", "run")
    before = mw.load("run").labels
    result = mixwood("resume", "run", "--draws", 40, "--no-report")
    assert result.exit_code == 0, result.output
    after = mw.load("run").labels
    assert after.shape[1] == 40
    np.testing.assert_array_equal(after[:, :20], before)


def test_what_cannot_be_resumed_says_why(mixwood, trees):
    mw.sample(mw.Mixture(), trees[["x"]], draws=9, warmup=0, seed=1, progress=False).save("saved")
    result = mixwood("resume", "saved")
    assert result.exit_code == 2
    assert "cannot be resumed" in result.stderr


def test_sigterm_while_the_start_grows_leaves_a_run_to_resume(
    mixwood, table, quick, monkeypatch, trees
):
    def grow_on(*_, **__):
        time.sleep(0.1)  # until the main thread waits
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(10**5):
            mw.ibhc(mw.Mixture(), trees[["x"]], seed=1)

    with monkeypatch.context() as patched:
        patched.setattr("mixwood.sampling.executor.starting_point", grow_on)
        result = mixwood("fit", table, "--exclude", "kind", *quick, "-o", "run")
    assert result.exit_code == 143, result.output
    assert "to continue: mixwood resume run" in result.stderr
    assert mixwood("resume", "run", "--no-report").exit_code == 0
    mixwood("fit", table, "--exclude", "kind", *quick, "--no-report", "-o", "whole")
    np.testing.assert_array_equal(mw.load("run").labels, mw.load("whole").labels)


def test_sigterm_while_the_estimate_is_searched_keeps_all_draws(mixwood, table, quick, monkeypatch):
    def interrupted(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal comes first")

    with monkeypatch.context() as patched:
        patched.setattr("mixwood.estimates._search", interrupted)
        result = mixwood("fit", table, "--exclude", "kind", *quick, "-o", "run")
    assert result.exit_code == 143, result.output
    assert "stopped by SIGTERM: all draws are kept" in result.stderr
    assert "to write it: mixwood report run" in result.stderr
    assert mixwood("report", "run").exit_code == 0
    assert mw.load("run").n_draws == 20
    assert Path("run/labels.csv").is_file()


def test_ctrl_c_ends_the_process_while_a_file_is_read(mixwood, table, quick, monkeypatch):
    fit = import_module("mixwood.cli.fit")  # the package has the command by that name

    handlers = []

    def read(*arguments):
        handlers.append(signal.getsignal(signal.SIGINT))
        return right(*arguments)

    right = fit.read
    monkeypatch.setattr(fit, "read", read)
    before = signal.getsignal(signal.SIGINT)
    assert mixwood("fit", table, *quick, "--no-report", "-o", "run").exit_code == 0
    assert handlers == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) == before
