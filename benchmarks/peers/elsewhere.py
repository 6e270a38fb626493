"""Peers that live in another interpreter: data go there and come back through a folder."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers.interface import Contest, Fit

SCRIPTS = Path(__file__).parent / "scripts"


def run(command: list[str], script: str, contest: Contest, effort: int, seed: int) -> Fit:
    """Let a script fit: it reads the tables, and writes labels, densities and CPU seconds.

    Its arguments are the folder, the effort, the seed, and r, nu and alpha of the prior; mean
    and scale are the mean of the data and the identity for all. TimeoutError if its CPU time is
    limited and over.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "X.csv", contest.X, delimiter=",")
        np.savetxt(folder / "held_out.csv", contest.held_out, delimiter=",")
        numbers = [str(value) for value in (effort, seed, contest.r, contest.nu, contest.alpha)]
        done = subprocess.run(
            [*command, str(SCRIPTS / script), name, *numbers],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == -signal.SIGXCPU:
            raise TimeoutError(script)
        if done.returncode:
            raise RuntimeError(f"{script} failed:\n{done.stderr[-2000:]}")
        labels = np.loadtxt(folder / "labels.csv").astype(np.int64)
        seconds = float((folder / "seconds.csv").read_text())
        density = folder / "density.csv"
        return Fit(seconds, labels, np.loadtxt(density) if density.exists() else None)


def answers(command: list[str], code: str) -> bool:
    """Tell whether an interpreter is there and runs some code."""
    if shutil.which(command[0]) is None:
        return False
    done = subprocess.run([*command, code], capture_output=True, check=False)
    return done.returncode == 0
