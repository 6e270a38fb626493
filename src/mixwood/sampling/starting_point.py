"""Where a chain starts: its partition, and the base measure where that is learned.

The two find each other only from a good start. So `init="ibhc"` tries several: trees grown at
several base measures (`Likelihood.start_bases`), groups of near points, and all rows together. A
short pilot chain fits partition and base measure to each other, and the best is taken: that of
the highest joint density, the base measure integrated out roughly. With many rows the pilots see
some of them. What they find, trees grown at it, and trees at some of the first base measures are
then compared on more rows, where there are more clusters to be seen, and in the end on all.

Which ways to start do well is a matter of the data: pilots that follow others on such data try only
the best of theirs (`Way`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import entr, softmax

from mixwood.core import bind_family, make_chain
from mixwood.likelihoods.known_labels import allowed_labels
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, chosen_items, item_sizes, n_points
from mixwood.model import Mixture
from mixwood.samplers import Gibbs, Sampler, Tree
from mixwood.sampling.initial_partition import initial_labels
from mixwood.sampling.interruptible import at_once
from mixwood.sampling.near_points import group_counts, near_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.likelihoods.known_labels import Collapsed

__all__ = [
    "StartingPoint",
    "Way",
    "best_start",
    "for_part",
    "kept_together",
    "some_rows",
    "starting_point",
]

#: How many rows pilots see at most, and how long each is; and those that come after them.
PILOT_ROWS, PILOT_ITERATIONS = 1000, 10
SECOND_ROWS, SECOND_ITERATIONS = 20_000, 3
#: How often the base measure moves, given a partition, before that does.
BASE_UPDATES = 10
#: More and more groups of near points are tried until this many in a row were no better, from a
#: share of the clusters of the best tree on.
PATIENCE, FEWEST = 3, 0.5
#: How many ways to start are tried again, the best ones. (26 sets, some twenty ways: on other rows
#: the best of these eight was 0.7 nats below the best of all in the mean, 17 at worst; the best of
#: four 2.6, and 26.)
WAYS_AGAIN = 8


class StartingPoint(NamedTuple):
    """A partition, and the likelihood bound to all rows, at its base measure."""

    labels: NDArray[np.int32]
    family: _core.Family


class Way(NamedTuple):
    """A way to start: a tree at a base measure, or so many groups of points (0: one cluster)."""

    tree: bool
    number: int
    groups: int


class _State(NamedTuple):
    score: float
    labels: NDArray[np.int32]
    base: FloatArray


def starting_point(
    init: Any,
    model: Mixture,
    data: Data | WeightedLeaves,
    family: _core.Family,
    seed: np.random.SeedSequence,
    max_leaves: int | None = None,
    threads: int = 1,
    ways: Sequence[Way] = (),
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
    threads : int
        How many they may be grown on.
    ways : sequence of Way
        Those that "ibhc" tries first; all if there are none.
    """
    points = n_points(data)
    if family.base_size == 0:
        labels = initial_labels(init, model, family, points, seed, max_leaves, threads)
        return StartingPoint(labels, family)
    pilots = _Pilots(model, data, family, seed)
    if not (isinstance(init, str) and init == "ibhc"):
        labels = initial_labels(init, model, family, points, seed, max_leaves)
        return StartingPoint(labels, family.at(pilots.fit(family.base, labels, 0).base))
    few = some_rows(data, seed)
    if few is data:
        return best_start(model, data, family, seed, ways)[0]
    first = _Pilots.over_part(model, few, points, seed)
    # Not twice what could be done once.
    more = data if data.shape[0] <= 1.5 * SECOND_ROWS else some_rows(data, seed, SECOND_ROWS)
    second = pilots if more is data else _Pilots.over_part(model, more, points, seed)
    best = second.best_after(first, first.best(ways)[0])
    if more is not data:
        there = family.at(best.base)
        labels = initial_labels("ibhc", model, there, points, seed, max_leaves, threads)
        states = [
            pilots.fit(best.base, pilots.taken_in(second, best), 0),
            pilots.fit(best.base, labels, 0),
        ]
        best = max(states, key=lambda state: state.score)
    return StartingPoint(best.labels, family.at(best.base))


def kept_together(
    start: StartingPoint, family: _core.Family, known: IntArray, collapsed: Collapsed
) -> StartingPoint:
    """Return a start for the leaves of known labels from one that did not know of them.

    Parameters
    ----------
    start : StartingPoint
        Over the rows.
    family : Family
        The likelihood, bound to the leaves.
    known : array of shape (n,)
        The labels of the rows.
    collapsed : Collapsed
        The leaves.
    """
    labels = allowed_labels(start.labels, known)[collapsed.first_rows].astype(np.int32)
    return StartingPoint(labels, family.at(start.family.base))


def best_start(
    model: Mixture,
    data: Data | WeightedLeaves,
    family: _core.Family,
    seed: np.random.SeedSequence,
    ways: Sequence[Way] = (),
) -> tuple[StartingPoint, list[Way]]:
    """Return the best state that pilots over all of the rows come to, and the best ways to start.

    Parameters
    ----------
    model, data, family, seed, ways
        As for `starting_point`.
    """
    best, again = _Pilots(model, data, family, seed).best(ways)
    return StartingPoint(best.labels, family.at(best.base)), again


class _Pilots:
    """Short chains over some rows, each from a start of its own."""

    def __init__(
        self,
        model: Mixture,
        data: Data | WeightedLeaves,
        family: _core.Family,
        seed: np.random.SeedSequence,
    ) -> None:
        self._model, self._data, self._family, self._seed = model, data, family, seed
        self._points = n_points(data)
        self._sampler: Sampler = Tree() if isinstance(data, WeightedLeaves) else Gibbs()
        self._stream = np.random.PCG64(_child(seed, 1))
        self._n = int(data.shape[0])
        self._starts = model.likelihood.start_bases()

    @cached_property
    def _points_of_groups(self) -> list[FloatArray]:
        if isinstance(self._data, WeightedLeaves):
            return []
        return self._model.likelihood.start_points(self._data)

    @classmethod
    def over_part(
        cls, model: Mixture, few: Data | WeightedLeaves, points: int, seed: np.random.SeedSequence
    ) -> _Pilots:
        """Return those over a few of the rows: `points` are there in all."""
        there = for_part(model, few, points)
        return cls(there, few, bind_family(there, few), seed)

    def best(self, ways: Sequence[Way] = ()) -> tuple[_State, list[Way]]:
        """Return the best of the states that they come to, and the best ways to start."""
        found = dict(self._states() if len(ways) == 0 else self._tried_again(ways))
        again = sorted(found, key=lambda way: -found[way].score)[:WAYS_AGAIN]
        return found[again[0]], again

    def _states(self) -> Iterator[tuple[Way, _State]]:
        one = Way(tree=False, number=0, groups=0)
        trees = [Way(True, number, 0) for number in range(len(self._starts))]
        found = dict(self._all_at((*trees, one)))
        yield from found.items()
        clusters = int(max(found.values(), key=lambda state: state.score).labels.max()) + 1
        counts = [k for k in group_counts(self._n) if k >= FEWEST * clusters]
        for number in range(len(self._points_of_groups)):
            best, waited = found[one].score, 0
            for count in counts:
                way = Way(tree=False, number=number, groups=count)
                state = self._at(way)
                yield way, state
                best, waited = max(best, state.score), 0 if state.score > best else waited + 1
                if waited == PATIENCE:
                    break

    def _tried_again(self, ways: Sequence[Way]) -> Iterator[tuple[Way, _State]]:
        """Yield those that there are for these rows, and one cluster."""
        most = group_counts(self._n)[-1]

        def is_there(way: Way) -> bool:
            numbers = len(self._starts if way.tree else self._points_of_groups)
            return way.number < numbers and 0 < way.groups + way.tree <= most

        return self._all_at([*filter(is_there, ways), Way(tree=False, number=0, groups=0)])

    def _all_at(self, ways: Sequence[Way]) -> Iterator[tuple[Way, _State]]:
        return zip(ways, at_once(self._at, ways), strict=True)

    def _at(self, way: Way) -> _State:
        """Return where a pilot comes to that starts in this way, whichever others are tried."""
        starts = self._starts
        stream = np.random.PCG64(_child(self._seed, 1, *map(int, way)))
        if way.tree:
            base = starts[way.number]
            tree = self._tree(base, _child(self._seed, 2 + way.number))
            return self.fit(base, tree, stream=stream)
        if way.groups == 0:
            return self.fit(starts[0], np.zeros(self._n, dtype=np.int32), stream=stream)
        points = self._points_of_groups[way.number]
        # Where clusters share a covariance, more is said about it: groups find it the easier.
        base = starts[min(1, len(starts) - 1)]
        rng = np.random.default_rng(_child(self._seed, 1, *map(int, way)))
        return self.fit(base, near_points(points, way.groups, rng), stream=stream)

    def best_after(self, few: _Pilots, found: _State) -> _State:
        """Return the best of what pilots over fewer rows have found, and of trees over these."""
        # Where clusters share a covariance, each is as tight as the others: trees see them best.
        bases = [found.base, *self._starts[1::2]]
        states = [self.fit(found.base, self.taken_in(few, found), SECOND_ITERATIONS)]
        for number, base in enumerate(bases):
            own = _child(self._seed, 2 + number)
            states.append(self.fit(base, self._tree(base, own), SECOND_ITERATIONS))
        return max(states, key=lambda state: state.score)

    def _tree(self, base: FloatArray, seed: np.random.SeedSequence) -> NDArray[np.int32]:
        there = self._family.at(base)
        return initial_labels("ibhc", self._model, there, self._points, seed, None)

    def taken_in(self, few: _Pilots, found: _State) -> NDArray[np.int32]:
        """Return labels: each row joins the cluster of other pilots that it fits best."""
        weights = _log_weights(self._family.at(found.base), few._family, found.labels)
        labels = np.concatenate([table.argmax(axis=1) for table in weights])
        return np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def fit(
        self,
        base: FloatArray,
        labels: NDArray[np.int32],
        iterations: int = PILOT_ITERATIONS,
        *,
        stream: np.random.PCG64 | None = None,
    ) -> _State:
        """Return where a short chain comes to, on a stream of its own or the common one."""
        family = self._family.at(base)
        own = self._stream if stream is None else stream
        chain = make_chain(self._model, self._data, labels, own, self._sampler, family)
        chain.update_base(BASE_UPDATES)
        chain.iterate(iterations)
        volume = self._model.likelihood.log_base_volume(chain.base, self._points, chain.n_clusters)
        labels = chain.state()["labels"]
        score = chain.log_joint() + chain.log_base() + volume
        if not isinstance(self._data, WeightedLeaves):
            score += _log_choices(self._family.at(chain.base), labels)
        return _State(score, labels, chain.base)


def _log_choices(family: _core.Family, labels: NDArray[np.int32]) -> float:
    """Return about the log number of partitions that are as good as this one.

    Where clusters overlap, each row may be in this or in that: one such partition has a low
    density, all of them together have not. It is the sum of the entropies of the rows' clusters,
    each given the others.
    """
    if labels.max() == 0:
        return 0.0
    return sum(
        float(entr(softmax(table, axis=1)).sum()) for table in _log_weights(family, family, labels)
    )


def _log_weights(
    family: _core.Family, of_clusters: _core.Family, labels: NDArray[np.int32]
) -> Iterator[FloatArray]:
    """Yield the log weights of clusters of other rows for all rows of a family, part by part."""
    statistics = of_clusters.cluster_statistics(labels)
    log_sizes = np.log(np.bincount(labels))
    step = max(2**20 // len(statistics), 1)
    for start in range(0, family.n_rows, step):
        end = min(start + step, family.n_rows)
        yield family.log_predictive_table(statistics, start, end) + log_sizes


def for_part(model: Mixture, few: Data | WeightedLeaves, points: int) -> Mixture:
    """Return the model as a few of all the points see it."""
    share = float(item_sizes(few).sum()) / points
    return replace(model, likelihood=model.likelihood.over_part(share))


def some_rows(
    data: Data | WeightedLeaves, seed: np.random.SeedSequence, most: int = PILOT_ROWS
) -> Any:
    """Return as many of the rows, or leaves, as pilots see; `data` itself if that is all."""
    n = int(data.shape[0])
    if n <= most:
        return data
    rng = np.random.default_rng(_child(seed, 1))
    return chosen_items(data, np.sort(rng.choice(n, size=most, replace=False)))


def _child(seed: np.random.SeedSequence, *numbers: int) -> np.random.SeedSequence:
    """Return a stream apart from the chain's own, which begins at `seed` itself."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *numbers))
