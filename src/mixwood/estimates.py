"""One partition for many: point estimates, credible balls and co-clustering from draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.cards import bars, card
from mixwood._support.checks import probability, shown, whole_number
from mixwood._support.labels import by_size, in_order_of_appearance
from mixwood._support.numbers import count, memory, number
from mixwood._support.seeding import chain_seed, seed_sequence
from mixwood._support.threads import in_threads
from mixwood._support.types import FloatArray, IntArray
from mixwood.input.matrices import as_array
from mixwood.partitions import checked_labels, checked_loss, checked_sizes, label_rows, losses

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["CredibleBall", "credible_ball", "point_estimate", "similarity"]

#: The expected loss at which a search ended, its number, and the labels.
_Found: TypeAlias = tuple[float, int, NDArray[np.int32]]

#: How many searches there are, and how many of them start from a draw rather than from nothing.
RUNS, RUNS_FROM_DRAWS = 12, 4
#: How many draws are tried as starts.
TRIED_DRAWS = 24
#: How many of the best searches continue after a few visits to all items, and for how many more.
FINALISTS, FIRST_SWEEPS, SWEEPS = 2, 2, 20
#: At most this many draws are searched at first, or as many as have this many labels; what that
#: finds is searched further with so many times more, and polished with all.
FIRST_DRAWS, FIRST_LABELS, MORE_DRAWS = 150, 500_000, 4


def point_estimate(
    draws: Any,
    loss: str = "vi",
    seed: Any = 0,
    *,
    max_clusters: int | None = None,
    runs: int = RUNS,
    n_jobs: int | None = None,
    sizes: Any = None,
) -> IntArray:
    """Return the partition of least expected loss that a search finds.

    Parameters
    ----------
    draws : int array of shape (..., n)
        Labels, for example `Posterior.labels`.
    loss : {"vi", "binder"}
        Which expected loss to minimize; see `mixwood.partitions`.
    seed : int, SeedSequence, Generator or None
        The same seed gives the same answer, whatever the number of threads.
    max_clusters : int, optional
        At most this many clusters; by default, a quarter more than any draw has, but
        at least 10.
    runs : int
        How many searches, a few of which start from draws; the best is taken.
    n_jobs : int, optional
        How many searches run at once, as many as processors by default.
    sizes : array of n integers, optional
        How many rows each item stands for, 1 by default: the loss is that of the rows.

    Returns
    -------
    int64 array of shape (n,)
        Labels 0 to K-1 from the largest cluster to the smallest; of equal ones, the first to
        appear comes first.

    Notes
    -----
    The search is that of Dahl, Johnson and Mueller (Search algorithms and loss functions for
    Bayesian clustering, 2022): items in random order are put where that raises the expected
    loss least, and visited again. The best of many such searches continue until no item moves;
    then whole clusters are taken apart and allocated again.

    Of many draws (more than 150, and more than 500,000 labels) the search uses some, evenly
    spread. What it finds is taken apart and allocated again with four times as many, and then
    polished with all: items that lower the expected loss by moving are moved, until there are
    none. The memory is in proportion to ``n`` times the draws.

    Examples
    --------
    >>> point_estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2]])
    array([0, 0, 1, 1])
    """
    rows, weights = distinct(label_rows(draws))
    problem = _Problem(
        rows,
        weights,
        checked_sizes(sizes, rows.shape[1]),
        checked_loss(loss),
        _most_clusters(rows, max_clusters),
        n_jobs,
    )
    count, sequence = whole_number(runs, "runs", at_least=1), seed_sequence(seed)
    seeds = [chain_seed(sequence, k) for k in range(count + FINALISTS + 2)]
    few = max(FIRST_DRAWS, FIRST_LABELS // rows.shape[1])
    found = _search(problem.with_draws(few), seeds[:-2])
    if len(rows) > few:
        found = _continue(problem.with_draws(MORE_DRAWS * few), found, seeds[-2], rebuild=True)
    if len(rows) > MORE_DRAWS * few:
        found = _continue(problem, found[:1], seeds[-1], rebuild=False)
    return by_size(found[0], problem.sizes)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Draws, each with its weight, and what is asked of a partition."""

    rows: NDArray[np.int32]
    weights: FloatArray
    sizes: NDArray[np.int32]
    loss: str
    most: int
    n_jobs: int | None

    def with_draws(self, draws: int) -> _Problem:
        """Return the same with at most this many draws, evenly spread over all."""
        if len(self.rows) <= draws:
            return self
        # Draws that were drawn often are taken as often in proportion.
        places = (np.arange(draws) + 0.5) / draws
        taken = np.searchsorted(np.cumsum(self.weights), places)
        kept, times = np.unique(taken, return_counts=True)
        return replace(self, rows=self.rows[kept], weights=times / draws)

    def expected_loss(self, labels: NDArray[np.int32]) -> float:
        return float(self.weights @ losses(self.rows, labels, self.loss, sizes=self.sizes))

    def core(self) -> _core.PartitionSearch:
        from mixwood import _core

        return _core.PartitionSearch(self.rows, self.weights, self.sizes, self.loss, self.most)


def _search(problem: _Problem, seeds: list[np.random.SeedSequence]) -> list[NDArray[np.int32]]:
    """Return what the best searches end at, the best first; the last seeds are for their end."""
    count = len(seeds) - FINALISTS
    tried = _best_draws(problem)
    starts = tried[: min(RUNS_FROM_DRAWS, (count + 1) // 2)]
    search = problem.core()

    def run(k: int, start: NDArray[np.int32] | None, sweeps: int, rebuild: bool) -> _Found:
        labels = search.run(np.random.PCG64(seeds[k]), start, sweeps, rebuild)
        return problem.expected_loss(labels), k, labels

    def begin(k: int) -> _Found:
        return run(k, starts[k] if k < len(starts) else None, FIRST_SWEEPS, False)

    def end(k: int) -> _Found:
        return run(count + k, first[k][2], SWEEPS, True)

    first = _in_order(in_threads(begin, range(count), problem.n_jobs, search.stop))
    last = in_threads(end, range(min(FINALISTS, count)), problem.n_jobs, search.stop)
    return [labels for _, _, labels in _in_order(last)]


def _continue(
    problem: _Problem,
    starts: list[NDArray[np.int32]],
    seed: np.random.SeedSequence,
    *,
    rebuild: bool,
) -> list[NDArray[np.int32]]:
    """Return better labels: clusters taken apart too (`rebuild`), or single items moved only."""
    search = problem.core()

    def run(k: int) -> _Found:
        bits = np.random.PCG64(chain_seed(seed, k))
        if rebuild:
            labels = search.run(bits, starts[k], SWEEPS, True)
        else:
            labels = search.polish(bits, starts[k], SWEEPS)
        return problem.expected_loss(labels) if len(starts) > 1 else 0.0, k, labels

    found = in_threads(run, range(len(starts)), problem.n_jobs, search.stop)
    return [labels for _, _, labels in _in_order(found)]


def _in_order(found: list[_Found]) -> list[_Found]:
    return sorted(found, key=lambda run: run[:2])


def distinct(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], FloatArray]:
    """Return each different row once, as first seen, and its share of all rows."""
    counts = Counter(row.tobytes() for row in rows)
    if len(counts) == len(rows):
        return rows, np.full(len(rows), 1 / len(rows))
    kept = np.frombuffer(b"".join(counts), dtype=np.int32).reshape(len(counts), -1)
    return kept, np.array(list(counts.values()), dtype=np.float64) / len(rows)


def _most_clusters(rows: NDArray[np.int32], max_clusters: int | None) -> int:
    n = int(rows.shape[1])
    if max_clusters is None:
        return min(n, max(10, ceil(1.25 * (int(rows.max()) + 1))))
    return min(n, whole_number(max_clusters, "max_clusters", at_least=1))


def _best_draws(problem: _Problem) -> list[NDArray[np.int32]]:
    """Return some draws of at most `most` clusters, those of least expected loss first.

    Those that were drawn most often are tried, or else draws taken evenly from all.
    """
    rows, weights = problem.rows, problem.weights
    fitting = np.flatnonzero(rows.max(axis=1) < problem.most)
    often = fitting[np.argsort(-weights[fitting], kind="stable")]
    if len(often) > TRIED_DRAWS and weights[often[0]] == weights[often[-1]]:
        often = often[np.linspace(0, len(often) - 1, TRIED_DRAWS).astype(np.int64)]
    tried = often[:TRIED_DRAWS]
    expected = [problem.expected_loss(rows[k]) for k in tried]
    return [rows[tried[k]] for k in np.argsort(expected, kind="stable")]


@dataclass(frozen=True, eq=False)
class CredibleBall:
    """The draws around a point estimate (Wade and Ghahramani, 2018), and those at its edge.

    Attributes
    ----------
    center : int64 array of shape (n,)
        The partition in the middle, its clusters numbered by size.
    radius : float
        The smallest loss from the center within which at least `level` of the draws are.
    level : float
    loss : str
    horizontal : list of int64 arrays
        The draws in the ball that are furthest from the center.
    vertical_upper : list of int64 arrays
        Of the draws in the ball with the fewest clusters, the furthest.
    vertical_lower : list of int64 arrays
        Of the draws in the ball with the most clusters, the furthest.
    """

    center: IntArray
    radius: float
    level: float
    loss: str
    horizontal: list[IntArray] = field(repr=False)
    vertical_upper: list[IntArray] = field(repr=False)
    vertical_lower: list[IntArray] = field(repr=False)

    def __repr__(self) -> str:
        few, many = (int(edge[0].max()) + 1 for edge in (self.vertical_upper, self.vertical_lower))
        unit = "bits" if self.loss == "vi" else "(Binder)"
        return (
            f"<mixwood.CredibleBall: {100 * self.level:.3g}% of the draws within "
            f"{number(self.radius)} {unit} of {count('cluster', int(self.center.max()) + 1)}; "
            f"they have {few:,} to {many:,}>"
        )

    def _repr_html_(self) -> str:
        shown = [
            ("estimate", self.center),
            ("fewest clusters", self.vertical_upper[0]),
            ("most clusters", self.vertical_lower[0]),
            ("furthest", self.horizontal[0]),
        ]
        rows = []
        for name, labels in shown:
            sizes = np.sort(np.bincount(labels))[::-1].tolist()
            rows.append((f"{name}: {len(sizes):,}", sizes))
        unit = "bits of variation of information" if self.loss == "vi" else "of Binder's loss"
        return card(
            f"Credible ball: {100 * self.level:.3g}% of the draws",
            [f"They are within {number(self.radius)} {unit} of the estimate."],
            picture=bars(rows),
        )


def credible_ball(
    draws: Any, center: Any, level: float = 0.95, loss: str = "vi", *, sizes: Any = None
) -> CredibleBall:
    """Return the smallest ball around a partition that holds `level` of the draws.

    Parameters
    ----------
    draws : int array of shape (..., n)
        Labels.
    center : array of n integers
        Labels, for example from `point_estimate`.
    level : float
        Between 0 and 1.
    loss : {"vi", "binder"}
        The distance.
    sizes : array of n integers, optional
        How many rows each item stands for; 1 by default.

    Examples
    --------
    >>> credible_ball([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 2]], [0, 0, 1], level=0.75)
    <mixwood.CredibleBall: 75% of the draws within 0.667 bits of 2 clusters; they have 2 to 3>
    """
    rows, weights = distinct(label_rows(draws))
    counted = checked_sizes(sizes, rows.shape[1])
    middle = by_size(checked_labels(center, "center", items=rows.shape[1]), counted)
    wanted = probability(level, "level")
    distance = losses(rows, middle, checked_loss(loss), sizes=counted)
    order = np.argsort(distance, kind="stable")
    held = np.cumsum(weights[order])
    # A little less than asked for, so that rounding of the sum costs no draw.
    radius = float(distance[order[np.searchsorted(held, wanted - 1e-9)]])
    inside = np.flatnonzero(distance <= radius + 1e-12)
    clusters = rows[inside].max(axis=1)

    def furthest(of: IntArray) -> list[IntArray]:
        return [
            in_order_of_appearance(rows[k]) for k in of[distance[of] >= distance[of].max() - 1e-12]
        ]

    return CredibleBall(
        center=middle,
        radius=radius,
        level=wanted,
        loss=loss,
        horizontal=furthest(inside),
        vertical_upper=furthest(inside[clusters == clusters.min()]),
        vertical_lower=furthest(inside[clusters == clusters.max()]),
    )


def similarity(
    draws: Any, rows: Any = None, dtype: str = "float64", n_jobs: int | None = None
) -> NDArray[Any]:
    """Return how often any two items are in one cluster.

    Parameters
    ----------
    draws : int array of shape (..., n)
        Labels.
    rows : array of m integers, optional
        Only these items, in this order; all by default.
    dtype : {"float64", "float32"}
        The latter takes half the memory.
    n_jobs : int, optional
        How many threads, as many as processors by default.

    Returns
    -------
    array of shape (n, n), or (m, m)
        Symmetric, 1 on the diagonal.

    Examples
    --------
    >>> similarity([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    from mixwood import _core

    if not isinstance(dtype, str | np.dtype) or str(dtype) not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32", got {shown(dtype)}')
    labels = label_rows(draws)
    if rows is not None:
        labels = labels[:, _item_numbers(rows, labels.shape[1])]
    n = labels.shape[1]
    _refuse_beyond_memory(n, n * n * np.dtype(dtype).itemsize + 2 * labels.size, dtype)
    if labels.max() >= 2**16:
        labels = np.stack([np.unique(row, return_inverse=True)[1] for row in labels])
        if labels.max() >= 2**16:
            raise ValueError("rows must be fewer: a draw has more than 65,536 clusters of them")
    narrow = labels.astype(np.uint16)
    table = np.empty((n, n), dtype=dtype)
    # The first rows have the most pairs to the right of the diagonal: small pieces even that out.
    piece = max(16, n // 64)
    in_threads(
        lambda first: _core.similarity_rows(narrow, first, min(first + piece, n), table),
        range(0, n, piece),
        n_jobs,
    )
    return table


def _item_numbers(rows: Any, n: int) -> IntArray:
    """Return `rows` as numbers of items, or raise if they are not."""
    numbers = as_array(rows, "rows")
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        raise ValueError(f"rows must be a list of item numbers, got {shown(rows)}")
    if numbers.min() < 0 or numbers.max() >= n:
        raise ValueError(f"rows must be item numbers from 0 to {n - 1}, got {shown(rows)}")
    return numbers.astype(np.int64)


def _refuse_beyond_memory(n: int, needed: int, dtype: str) -> None:
    from mixwood._support.memory import available_bytes

    available = available_bytes()
    if available is not None and needed > available:
        way_out = ', or for half of it with dtype="float32"' if dtype == "float64" else ""
        raise MemoryError(
            f"the similarity of {n:,} items needs {memory(needed)} of memory, and "
            f"{memory(available)} are available; ask for fewer items with rows=, for "
            f"example rows=np.random.default_rng(0).choice({n}, 2000, replace=False){way_out}"
        )
