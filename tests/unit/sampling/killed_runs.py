"""A program that kills runs at random moments and resumes them; see test_resume_killed.py.

Usage: killed_runs.py FOLDER CASE SEED KILLS. Chains run in forks of this process, which is
never a thread's: so every run is killed as a whole, and what resumes it knows nothing.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import mixwood as mw
from mixwood.store import chain_store

CHAINS = 2
SAMPLERS = {
    "Tree": (mw.Tree(), 100),
    "Gibbs": (mw.Gibbs(), 300),
    "SplitMerge": (mw.SplitMerge(subset=50), 200),
    "PaperTree": (mw.PaperTree(), 60),
    "Slice": (mw.Slice(), 300),
}


def settings(case):
    family, sampler = case.split("-")
    rng = np.random.default_rng(7)
    which = rng.integers(0, 4, 160)
    if family == "Gaussian":
        model = mw.Mixture(mw.Gaussian(scale="data"))
        X = rng.normal(size=(160, 2)) + 3 * which[:, None]
    else:
        model = mw.Mixture(mw.Multinomial(), mw.PitmanYor())
        X = rng.poisson(np.where(np.arange(8) % 4 == which[:, None], 4, 0.5))
    chosen, draws = SAMPLERS[sampler]
    warmup = draws // 4
    return model, X, {"sampler": chosen, "draws": draws, "warmup": warmup, "chains": CHAINS}


def in_a_fork(work):
    """Start a process that does one thing and ends."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return child


def ended_well(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def kill_and_resume(folder, case, seed, kills):
    """Return how many kills came before the run had ended."""
    chain_store.CHECKPOINT_SECONDS = 0.02
    model, X, options = settings(case)
    dice = random.Random(seed)
    whole, run = folder / "whole", folder / "run"

    def begin(place):
        mw.sample(model, X, seed=seed, store=place, progress=False, n_jobs=2, **options)

    began = time.monotonic()
    assert ended_well(in_a_fork(lambda: begin(whole)))
    duration = time.monotonic() - began
    effective = 0
    for _ in range(kills):
        exists = (run / "mixwood.json").exists()
        work = (lambda: mw.resume(run, progress=False)) if exists else (lambda: begin(run))
        child = in_a_fork(work)
        time.sleep(dice.uniform(0, 1.5 * duration / kills))
        os.kill(child, signal.SIGKILL)
        effective += os.waitpid(child, 0)[1] == signal.SIGKILL
    exists = (run / "mixwood.json").exists()
    last = (lambda: mw.resume(run, progress=False)) if exists else (lambda: begin(run))
    assert ended_well(in_a_fork(last))
    expected, found = mw.load(whole), mw.load(run)
    assert found.n_draws == options["draws"]
    for name in ("labels", "log_joint", "log_u", "alpha", "sigma"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    for one, other in zip(found.stats, expected.stats, strict=True):
        for move, report in one.items():
            for key in ("proposed", "accepted"):
                assert report[key] == other[move][key], (move, key)
    return effective


if __name__ == "__main__":
    warnings.simplefilter("error")
    place, name, number, times = sys.argv[1:]
    print("killed", kill_and_resume(Path(place), name, int(number), int(times)))
