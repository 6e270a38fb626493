"""The commands in a terminal: progress shows there, and the shell completes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

import pytest


@pytest.fixture
def command():
    """The command as another process would start it."""
    return [sys.executable, "-m", "mixwood"]


def test_progress_shows_in_a_terminal_and_results_stay_apart(command, table, tmp_path):
    terminal, line = pty.openpty()
    arguments = ["fit", "trees.csv", "--exclude", "kind", "--draws", "1500", "--chains", "2"]
    running = subprocess.Popen(
        [*command, *arguments, "--seed", "1", "--no-report", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=line,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"},
    )
    os.close(line)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 2**14)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(terminal)
    result, _ = running.communicate()
    assert running.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    assert re.search(r"chain 0 .*[\d,]+/2,000 .*\d clusters? .*joint", text)
    assert "chain 1" in text
    assert json.loads(result)["n_clusters"] >= 1


def test_no_progress_in_a_file(command, table, quick, tmp_path):
    arguments = ["fit", "trees.csv", "--exclude", "kind", "--no-report", *quick]
    done = subprocess.run(
        [*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stdout + done.stderr
    assert "chain 0" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("mixwood f", ["fit"]),
        ("mixwood fit x.csv --likelihood sph", ["spherical-gaussian"]),
        ("mixwood fit x.csv --sampler sp", ["split-merge"]),
    ],
)
def test_the_shell_completes(command, typed, expected):
    words = {
        "_MIXWOOD_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | words)
    assert done.stdout.split() == expected


def test_completion_installs_itself(command, tmp_path):
    bash = "/bin/bash"
    if not os.path.exists(bash):
        pytest.skip("no bash is installed")
    line = " ".join(f"'{part}'" for part in command)
    done = subprocess.run(
        [bash, "-c", f"{line} --install-completion; exit $?"],
        capture_output=True,
        text=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "mixwood" in (tmp_path / ".bashrc").read_text()
    assert list(tmp_path.rglob("mixwood.sh"))
