"""Posteriors made by hand, so that what users get can be tested without running a chain."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mixwood._support.versions import versions
from mixwood.core import MoveStatistics, make_chain
from mixwood.likelihoods import Gaussian
from mixwood.model import Mixture
from mixwood.posterior.posterior import Posterior
from mixwood.priors import NGGP
from mixwood.run_spec import RunSpec
from mixwood.samplers import Gibbs
from mixwood.sampling import chain as chains


def in_order_of_appearance(labels):
    """Return labels renumbered 0, 1, 2, ... along the last axis."""
    renumbered = np.empty_like(labels)
    for index in np.ndindex(labels.shape[:-1]):
        _, first, inverse = np.unique(labels[index], return_index=True, return_inverse=True)
        renumbered[index] = np.argsort(np.argsort(first))[inverse]
    return renumbered


def _make_posterior(
    likelihood=None, prior=None, *, X=None, chains=2, draws=10, items=12, clusters=3, seed=0
):
    rng = np.random.default_rng(seed)
    likelihood, prior = likelihood or Gaussian(), prior or NGGP()
    X = likelihood.check(rng.normal(size=(items, 2)) if X is None else X)
    shape = (chains, draws)
    resolved = likelihood.resolve(X)
    own = np.random.default_rng(seed + 1)
    bases = np.array([resolved.draw_base(own) for _ in range(chains * draws)])
    labels = in_order_of_appearance(rng.integers(0, clusters, (*shape, X.shape[0])))
    spec = RunSpec(
        model=Mixture(likelihood, prior),
        resolved=resolved,
        data=X,
        sampler=Gibbs(),
        init="one",
        seed=np.random.SeedSequence(2**127 + seed),  # as large as the entropy that numpy gathers
        warmup=0,
        draws=draws,
        thin=1,
        chains=chains,
    )
    return Posterior(
        labels=labels,
        log_joint=rng.normal(-100, 5, shape),
        log_u=rng.normal(2, 1, shape),
        parameters={
            "log_alpha": rng.normal(size=shape),
            "sigma": rng.random(shape),
            "theta": rng.gamma(2, size=shape),
        },
        model=spec.model,
        resolved=spec.resolved,
        X=X,
        bases=bases.reshape(*shape, resolved.base_size),
        stats=[
            {
                "gibbs": MoveStatistics(
                    proposed=120,
                    accepted=17 + chain,
                    seconds=0.25,
                    mean_log_ratio=float("nan"),
                    sd_log_ratio=0.1,
                )
            }
            for chain in range(chains)
        ],
        settings={**spec.information, "max_seconds": None, **versions(), "seconds": 0.5},
    )


@pytest.fixture
def make_posterior():
    """Return the function that makes a posterior by hand."""
    return _make_posterior


def _chain_of(likelihood, X, labels, prior=None, seed=0, sampler=None):
    X = likelihood.check(X)
    model = Mixture(likelihood.resolve(X), prior or NGGP())
    return make_chain(model, X, labels, np.random.PCG64(seed), sampler or Gibbs())


@pytest.fixture
def chain_of():
    """Return the function that makes a compiled chain, by default of `Gibbs` under an `NGGP`."""
    return _chain_of


def _damaged(state, rng, rounds):
    """Yield states with bytes flipped, cut out, doubled or replaced by telling numbers."""
    telling = [b"\xff" * 8, b"\0" * 8, b"\x7f" * 8, b"\0\0\0\x80", np.float64(np.nan).tobytes()]
    telling += [np.float64(1e308).tobytes(), np.float64(-1e308).tobytes(), np.int32(-1).tobytes()]
    for _ in range(rounds):
        content = bytearray(state)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(content)))
            kind = rng.integers(5)
            if kind == 0:
                content[at] ^= 1 << rng.integers(8)
            elif kind == 1:
                content[at] = rng.integers(256)
            elif kind == 2:
                some = telling[rng.integers(len(telling))]
                content[at : at + len(some)] = some
            elif kind == 3:
                del content[at : at + int(rng.integers(1, 9))]
            else:
                content[at:at] = content[at : at + int(rng.integers(1, 9))]
            content = content or bytearray(1)
        yield bytes(content)


@pytest.fixture
def damaged():
    """Return the function that damages bytes in many ways."""
    return _damaged


@pytest.fixture
def same_path():
    """The environment for another Python that shall find the modules that this one finds."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


@pytest.fixture
def run_program(same_path):
    """Return a function that runs a program in another Python, and returns what it prints."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=same_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def interruptible():
    """Let Ctrl-C interrupt, whatever the tests were started from: the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def failing_chains(monkeypatch):
    """Let every chain fail after 12 iterations."""
    monkeypatch.setattr(chains, "SLICE_SECONDS", 0.0)  # one iteration at a time
    right = chains.RunningChain.advance

    def advance(self):
        if self.iterations >= 12:
            self.error, self._stopped = "out of numbers", True
        else:
            right(self)

    monkeypatch.setattr(chains.RunningChain, "advance", advance)
