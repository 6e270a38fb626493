"""Damaged states of chains: the core refuses them, or goes on with them. Nothing else.

Usage: states.py SECONDS [SEED], best under sanitizers: make fuzz-states. Each round takes a family,
a prior and a sampler, damages the state that a chain has saved, and lets a chain load it, move,
check itself and save again.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import mixwood as mw
from mixwood.core import make_chain
from tests.conftest import FAMILIES, PRIORS
from tests.fuzz.files import Choices, damaged

ROWS = 20
SAMPLERS = {
    "tree": mw.Tree(rebuild=3, redraw_moves=2, learn_moves=True),
    "blocks": mw.Tree(max_leaves=7),
    "gibbs": mw.Gibbs(),
    "splitmerge": mw.SplitMerge(),
    "papertree": mw.PaperTree(global_moves=3),
    "slice": mw.Slice(),
}
#: What is written for a number: edges of the types that a state has.
EDGES = [
    np.array(number, dtype=kind).tobytes()
    for kind, numbers in {
        "<i4": (-1, 0, 1, ROWS, 2**31 - 1, -(2**31)),
        "<i8": (-1, 0, ROWS, 2**62, -(2**63)),
        "<f8": (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 5e-324),
    }.items()
    for number in numbers
]
#: Damaged states per chain that saved one.
PER_CHAIN = 40


def _families():
    rng = np.random.default_rng(3)
    made = {name: make(np.random.default_rng(7), ROWS) for name, make in FAMILIES.items()}
    X = rng.normal(size=(ROWS, 2)) + 4 * rng.integers(0, 2, (ROWS, 1))
    holes = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    made["holes"] = mw.Gaussian(), holes
    made["student-t"] = mw.StudentT(), X
    made["errors"] = mw.Gaussian(errors=rng.uniform(0.1, 0.5, X.shape)), X
    return {name: likelihood.fitted_to(data) for name, (likelihood, data) in made.items()}


def chains(rng):
    """Yield, again and again, what makes a chain of each family and sampler, priors by turns."""
    families, priors = _families(), list(PRIORS.values())
    pairs = list(itertools.product(families, SAMPLERS))
    for turn in itertools.count():
        rng.shuffle(pairs)
        for k, (family, sampler) in enumerate(pairs):
            likelihood, X = families[family]
            prior, groups = priors[(turn + k) % len(priors)], None
            if isinstance(prior, mw.FiniteMixture) and sampler in ("tree", "gibbs", "splitmerge"):
                prior, groups = prior.for_groups(3), np.arange(ROWS) % 3
            model = mw.Mixture(likelihood, prior)

            def make(model=model, X=X, sampler=sampler, groups=groups):
                labels = np.zeros(ROWS, dtype=np.int32)
                stream = np.random.PCG64(1)
                return make_chain(model, X, labels, stream, SAMPLERS[sampler], groups=groups)

            yield f"{family}-{sampler}", make


def wrong(state, rng):
    """Return a state with a number that is at an edge, or with bytes changed anyhow."""
    if rng.random() < 0.5:
        return damaged(state, Choices(rng.bytes(80)))
    content = bytearray(state)
    for _ in range(rng.integers(1, 3)):
        some = EDGES[rng.integers(len(EDGES))]
        at = int(rng.integers(len(content)))
        content[at : at + len(some)] = some
    return bytes(content)


def attempt(make, chain, state):
    """Load a state, and go on; return what came of it, and the chain if it is still good."""
    try:
        chain.load_state(state)
    except ValueError:
        return "refused", make()
    try:
        chain.iterate(2)
        chain.freeze()
        chain.iterate(1)
        chain.check()
        chain.save_state()
    except RuntimeError:
        return "failed later", make()
    return "went on", chain


def main(seconds, seed=None):
    seed = time.time_ns() % 2**31 if seed is None else int(seed)
    print(f"seed {seed}", flush=True)
    rng = np.random.default_rng(seed)
    end, came, tried = time.process_time() + float(seconds), Counter(), set()
    for name, make in chains(rng):
        try:
            chain = make()
        except (TypeError, ValueError):  # a sampler that the family does not go with
            continue
        chain.iterate(3)
        good = chain.save_state()
        for k in range(PER_CHAIN):
            state = wrong(good, rng)
            Path("crash-state").write_bytes(f"{name} {k}\n".encode() + state)  # if it crashes
            what, chain = attempt(make, chain, state)
            came[what] += 1
        tried.add(name)
        if time.process_time() > end:
            break
    Path("crash-state").unlink()
    print(", ".join(f"{count:,} {what}" for what, count in came.items()), f"; {len(tried)} pairs")


if __name__ == "__main__":
    main(*sys.argv[1:])
