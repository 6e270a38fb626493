"""What it costs that the base measure is learned: an iteration against one with a fixed base.

Both start from where a chain with the learned base has come to, the fixed base being the one it
has there, so that they have the same clusters to go through. They iterate in turn; the fastest of
each counts: a ratio of CPU times within one run. `s2` and `nips` need MIXWOOD_DATA.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mixwood as mw
from benchmarks.data import data_folder, labelled_set
from mixwood.core import make_chain
from mixwood.likelihoods.learned import centre_spread

Measurement = dict[str, float]

REPEATS = 7
#: Per repeat: at least this long, in seconds of CPU, judged by the first.
BLOCK = 0.2
#: With as many visits to rows: how many is otherwise learned in warm-up, and chance has a say.
SAMPLERS = (mw.Tree(leaf_moves=1000), mw.Gibbs())


def _rows_16() -> NDArray[np.float64]:
    """Return 10,000 rows of 16 columns in 20 clusters."""
    rng = np.random.default_rng(16)
    labels = rng.integers(20, size=10_000)
    return 2 * rng.normal(size=(20, 16))[labels] + rng.normal(size=(10_000, 16))


def _cases() -> Iterator[tuple[str, Any, mw.Likelihood]]:
    yield "toy", mw.datasets.toy()[0], mw.Gaussian()
    yield "10,000 x 16", _rows_16(), mw.Gaussian()
    if folder := data_folder():
        yield "s2", labelled_set("s2")[0], mw.Gaussian()
        yield "nips", mw.datasets.nips(folder / "nips")[0], mw.Multinomial()


def _fixed_as_in(post: mw.Posterior, likelihood: mw.Likelihood) -> mw.Likelihood:
    """Return the likelihood with the base measure of the last draw."""
    last = {name: values[-1, -1] for name, values in post.base.items()}
    if isinstance(likelihood, mw.Multinomial):
        return mw.Multinomial(beta=float(last["beta"]))
    d, nu = len(last["covariance"]), float(last["nu"])
    tau = last.get("tau", centre_spread(d))
    scale = (nu - d - 1) * last["covariance"]
    return mw.Gaussian(scale=scale, nu=nu, r=float(post.width[-1, -1] / tau))


def base_cost() -> dict[str, Measurement]:
    """Compare iterations with the base learned and fixed."""
    found = {}
    for name, X, learned in _cases():
        run = {"draws": 1, "warmup": 20, "chains": 1, "seed": 1, "progress": False}
        post = mw.sample(mw.Mixture(learned), X, **run)
        likelihoods = {"learned": learned, "fixed": _fixed_as_in(post, learned)}
        for sampler in SAMPLERS:
            title = f"learned base, {name}, {type(sampler).__name__}"
            found[title] = _compared(X, post.labels[-1, -1], likelihoods, sampler)
    return found


def _compared(
    X: Any, labels: NDArray[Any], likelihoods: dict[str, mw.Likelihood], sampler: mw.Sampler
) -> Measurement:
    chains = {}
    for name, likelihood in likelihoods.items():
        model = mw.Mixture(likelihood.resolve(X))
        chains[name] = make_chain(model, X, labels.astype(np.int32), np.random.PCG64(1), sampler)
        chains[name].iterate(5)
        chains[name].freeze()
    began = time.process_time()
    chains["fixed"].iterate(5)
    iterations = max(5, round(5 * BLOCK / (time.process_time() - began)))
    milliseconds = dict.fromkeys(chains, np.inf)
    for _ in range(REPEATS):
        for name, chain in chains.items():
            began = time.process_time()
            chain.iterate(iterations)
            took = 1000 * (time.process_time() - began) / iterations
            milliseconds[name] = min(milliseconds[name], took)
    return {
        **{f"{name} ms": took for name, took in milliseconds.items()},
        **{f"{name} clusters": float(chain.n_clusters) for name, chain in chains.items()},
        "ratio": milliseconds["learned"] / milliseconds["fixed"],
    }


BENCHMARKS = (base_cost,)
