"""Where a chain starts: its partition, and the base measure where that is learned.

The two find each other only from a good start. So `init="ibhc"` grows a tree at each of several
base measures (`Likelihood.start_bases`), lets a short pilot chain fit both, and starts from the
state of the highest joint density. With many rows the pilots see some of them, and a last tree
is grown over all at the base measure that was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood.core import bind_family, make_chain
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items, item_sizes
from mixwood.model import Mixture
from mixwood.samplers import Gibbs, Sampler, Tree
from mixwood.sampling.initial_partition import initial_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood import _core
    from mixwood._support.types import Data

__all__ = ["StartingPoint", "starting_point"]

#: How many rows pilots see at most, and how long each is.
PILOT_ROWS = 1000
PILOT_ITERATIONS = 10
#: How often the base measure moves, given a partition, before that does.
BASE_UPDATES = 10


class StartingPoint(NamedTuple):
    """A partition, and the likelihood bound to all rows, at its base measure."""

    labels: NDArray[np.int32]
    family: _core.Family


class _State(NamedTuple):
    log_density: float
    labels: NDArray[np.int32]
    base: NDArray[np.float64]


def starting_point(
    init: Any,
    model: Mixture,
    data: Data | WeightedLeaves,
    family: _core.Family,
    seed: np.random.SeedSequence,
    max_leaves: int | None = None,
) -> StartingPoint:
    """Return where a chain starts.

    Parameters
    ----------
    init : str or array of shape (n,)
        As for `mixwood.sample`.
    model : Mixture
        With an explicit likelihood.
    data : array, csr_array or WeightedLeaves
        The rows.
    family : Family
        The likelihood, bound to the rows.
    seed : SeedSequence
        That of the chain.
    max_leaves : int, optional
        How many leaves the trees of "ibhc" may have.
    """
    points = int(item_sizes(data).sum())
    if family.base_size == 0:
        labels = initial_labels(init, model, family, points, seed, max_leaves)
        return StartingPoint(labels, family)
    if isinstance(init, str) and init == "ibhc":
        few = _some_of(data, seed)
        bound = family if few is data else bind_family(model, few)
        found = best_state(model, few, bound, seed)
        if few is data:
            return StartingPoint(found.labels, family.at(found.base))
        family = family.at(found.base)
    labels = initial_labels(init, model, family, points, seed, max_leaves)
    return StartingPoint(labels, family.at(_fitted(model, data, family, labels, seed, 0).base))


def best_state(
    model: Mixture,
    data: Data | WeightedLeaves,
    family: _core.Family,
    seed: np.random.SeedSequence,
) -> _State:
    """Return the best of the states that pilots come to, from all starts of the base measure."""
    points = int(item_sizes(data).sum())
    states = []
    for number, base in enumerate(model.likelihood.start_bases()):
        own = _child(seed, 2 + number)
        there = family.at(base)
        labels = initial_labels("ibhc", model, there, points, own, None)
        states.append(_fitted(model, data, there, labels, own, PILOT_ITERATIONS))
    return max(states, key=lambda state: state.log_density)


def _fitted(
    model: Mixture,
    data: Data | WeightedLeaves,
    family: _core.Family,
    labels: NDArray[np.int32],
    seed: np.random.SeedSequence,
    iterations: int,
) -> _State:
    """Return where a short chain comes to."""
    sampler: Sampler = Tree() if isinstance(data, WeightedLeaves) else Gibbs()
    stream = np.random.PCG64(_child(seed, 1))
    chain = make_chain(model, data, labels, stream, sampler, family)
    chain.update_base(BASE_UPDATES)
    chain.iterate(iterations)
    density = chain.log_joint() + chain.log_base()
    return _State(density, chain.state()["labels"], chain.base)


def _some_of(data: Data | WeightedLeaves, seed: np.random.SeedSequence) -> Data | WeightedLeaves:
    n = int(data.shape[0])
    if n <= PILOT_ROWS:
        return data
    rng = np.random.default_rng(_child(seed, 1))
    return chosen_items(data, np.sort(rng.choice(n, size=PILOT_ROWS, replace=False)))


def _child(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """Return a stream apart from the chain's own, which begins at `seed` itself."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
