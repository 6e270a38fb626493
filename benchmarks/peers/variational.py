"""bnpy: variational inference with births and merges, in a Python of its own."""

from __future__ import annotations

import os

from benchmarks.peers import elsewhere
from benchmarks.peers.interface import Contest, Fit, Peer

#: bnpy runs on Python 3.8 with numpy before 1.24 only; name one that has it by this variable.
PYTHON = os.environ.get("MIXWOOD_BNPY_PYTHON", "python3.8")


def _missing() -> str | None:
    if elsewhere.answers([PYTHON, "-c"], "import bnpy"):
        return None
    return "set MIXWOOD_BNPY_PYTHON to a Python 3.8 that has bnpy"


def _fit(contest: Contest, effort: int, seed: int) -> Fit:
    return elsewhere.run([PYTHON], "bnpy_fit.py", contest, effort, seed)


PEERS = (Peer("bnpy, from 30", "laps", (5, 50, 300), (5, 20), _missing, _fit),)
