"""Data that come in blocks and are not kept: `stream_leaves`.

Each block's rows go into one forest by the rules of `mixwood.ibhc`. When there are more leaves than
allowed the tightest subtrees collapse, and the rows below them are let go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood.core import make_forest
from mixwood.input.blocks import as_table, block_reader, with_groups
from mixwood.input.groups import GroupNames, Members
from mixwood.input.matrices import stacked
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, refuse_drawn_entries
from mixwood.model import Mixture
from mixwood.trees.recipe import without_collapsed

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray
    from mixwood.likelihoods.base import Likelihood

__all__ = [
    "LeafGrowth",
    "RowSample",
    "checked_block",
    "fitted_to_block",
    "stream_leaves",
    "wants_sample",
]

#: Leaves beyond `max_leaves`, at least, that are waited for before they collapse.
SMALLEST_ROUND = 2000
#: This many rows, drawn from all of them, are looked at for parameters that are left to the data.
SAMPLE_ROWS = 20_000
#: How many numbers of statistics leave the core at once, where they become sparse.
EXPORTED = 4_000_000


def stream_leaves(
    model: Mixture,
    blocks: Any,
    max_leaves: int = 10_000,
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    *,
    groups: Any = None,
) -> WeightedLeaves:
    """Read data block by block and keep only the statistics of small blocks of similar rows.

    Memory is bounded, but for 4 bytes per row that say which leaf it is in (some 9 at the peak).
    Give the result to `mixwood.sample` instead of the rows.

    Parameters
    ----------
    model : Mixture
        Likelihood and prior.
    blocks : iterable of blocks, array, or function
        The data: an iterable of blocks (arrays, data frames, sparse matrices, Arrow batches);
        one large array, for example a memory-mapped one, which is cut into blocks; or a
        function without arguments that returns an iterator over blocks.
    max_leaves : int
        At most this many leaves are kept.
    seed : int, SeedSequence, Generator or None
        For the order in which the rows of a block go in. The same seed, blocks and options
        give the same leaves.
    groups : str, int or array of shape (n,), optional
        Which group (patient, batch, site, time window) each row is in: the name or number of a
        column of every block, which is not clustered; or names, in the order in which the rows
        come. A leaf may have rows of several groups: it keeps how many of each. Needs the prior
        `FiniteMixture`; see `mixwood.sample`, which then needs no groups.

    Returns
    -------
    WeightedLeaves

    Notes
    -----
    Parameters of the likelihood that are left to the data (``scale="data"`` of `Gaussian`)
    are taken from a random sample of 20,000 rows: that is a first pass over the blocks, the
    leaves are a second one. An iterator can be read only once: then they are taken from the
    first block, so this should be like the rest; and so are those of `Product`, always. If all
    parameters are explicit there is one pass.

    Examples
    --------
    >>> import numpy as np
    >>> from mixwood import FiniteMixture
    >>> blocks = (np.random.default_rng(k).normal(size=(1000, 2)) + 9 * (k % 2) for k in range(10))
    >>> leaves = stream_leaves(Mixture(), blocks, max_leaves=50, seed=0)
    >>> leaves.n_items, leaves.n_leaves <= 50
    (10000, True)
    >>> windows = np.arange(10_000) // 2500
    >>> model = Mixture(prior=FiniteMixture())
    >>> mixed = stream_leaves(model, np.ones((10_000, 1)) * windows[:, None], 9, groups=windows)
    >>> mixed.groups.names, mixed.groups.sizes.tolist()
    ((0, 1, 2, 3), [2500, 2500, 2500, 2500])
    """
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    limit = whole_number(max_leaves, "max_leaves", at_least=2)
    sequence = seed_sequence(seed)
    if groups is not None:
        model.prior.for_groups(1)  # or it says why not
    start, again = block_reader(blocks)
    rest = with_groups(start(), groups)
    block, own = next(rest, (None, None))
    if block is None:
        raise ValueError("blocks must hold at least one block, got none")
    if again and wants_sample(model.likelihood):
        data = checked_block(model, block, 0, None)
        sample = RowSample(sequence)
        sample.add(data, 0)
        for number, (block, _) in enumerate(rest, start=1):
            sample.add(checked_block(model, block, number, data.shape[1]), number)
        explicit = replace(model, likelihood=model.likelihood.resolve(sample.rows))
        warn_of_left_out(explicit.likelihood.left_out)
        rest = with_groups(start(), groups)
        next(rest)
    else:
        explicit, data = fitted_to_block(model, block, 0)
    growth = LeafGrowth(explicit, limit, sequence)
    growth.add(data, 0, own)
    for number, (block, own) in enumerate(rest, start=1):
        growth.add(checked_block(explicit, block, number, data.shape[1]), number, own)
    return growth.leaves()


def wants_sample(likelihood: Likelihood) -> bool:
    """Tell whether parameters are left to the data, and can be taken from a sample of rows.

    Those of `Product` are taken from a table, which samples are not.

    Examples
    --------
    >>> import mixwood as mw
    >>> wants_sample(mw.Gaussian()), wants_sample(mw.Multinomial(columns=9))
    (True, False)
    """
    if likelihood.reads_tables:
        return False
    width = likelihood.width
    return width is None or likelihood.resolve_standard(width) != likelihood


def fitted_to_block(model: Mixture, block: Any, number: int) -> tuple[Mixture, Data]:
    """Return the model with open parameters taken from a block, and the block, checked."""
    explicit, data = model.likelihood.fitted_to(as_table(block), name=f"block {number}")
    return replace(model, likelihood=explicit), data


def checked_block(model: Mixture, block: Any, number: int, width: int | None) -> Data:
    """Return a block as the core reads it, or raise an error that names the block."""
    wide = None if model.likelihood.reads_tables else width  # it knows its own columns
    return model.likelihood.check(as_table(block), name=f"block {number}", width=wide)


class RowSample:
    """A uniform sample of the rows of all blocks: those with the smallest random keys."""

    def __init__(self, seed: np.random.SeedSequence, size: int = SAMPLE_ROWS) -> None:
        self._seed = seed
        self._size = size
        self._keys: FloatArray = np.empty(0)
        self._rows: Data | None = None

    @property
    def rows(self) -> Data:
        """The rows of the sample."""
        assert self._rows is not None
        return self._rows

    def add(self, data: Data, number: int) -> None:
        """Look at the rows of block `number`."""
        keys = np.asarray(_block_stream(self._seed, 0, number).random(data.shape[0]))
        self.merge(keys, data)

    @staticmethod
    def united(first: RowSample, second: RowSample) -> RowSample:
        """Return the sample of two sets of blocks."""
        union = RowSample(first._seed, first._size)
        for part in (first, second):
            union.merge(part._keys, part.rows)
        return union

    def merge(self, keys: FloatArray, data: Data) -> None:
        """Look at rows with these keys."""
        if len(keys) > self._size:  # first among themselves: fewer rows are copied
            smallest = np.sort(np.argpartition(keys, self._size)[: self._size])
            keys, data = keys[smallest], data[smallest]
        both = data if self._rows is None else stacked([self._rows, data])
        self._keys = np.concatenate([self._keys, keys])
        kept = slice(None) if len(self._keys) <= self._size else self._smallest()
        self._keys, self._rows = self._keys[kept], both[kept]

    def _smallest(self) -> IntArray:
        return np.sort(np.argpartition(self._keys, self._size)[: self._size])


class LeafGrowth:
    """Leaves that grow block by block.

    Parameters
    ----------
    model : Mixture
        With a resolved likelihood.
    max_leaves : int
        How many are left after each block.
    seed : SeedSequence
        Each block has a stream of its own, by its number.
    """

    def __init__(self, model: Mixture, max_leaves: int, seed: np.random.SeedSequence) -> None:
        self._model = model
        self._max_leaves = max_leaves
        self._seed = seed
        self._forest: _core.Forest | None = None
        self._kept: Data | None = None  # a row for each leaf
        self._constants: FloatArray = np.empty(0)  # of each leaf
        # For each block, of the leaves before it and of its rows, the leaf they are in after it.
        self._steps: list[NDArray[np.int32]] = []
        self._n_before: list[int] = []
        self._names = GroupNames()
        self._members: Members | None = None  # how many rows of which group each leaf has

    def add(self, data: Data, number: int, groups: Any = None) -> None:
        """Put in the rows of a checked block, which is that of this number, and their groups."""
        refuse_drawn_entries(self._model.likelihood, data, f"block {number}")
        n_old = 0 if self._kept is None else self._kept.shape[0]
        both = data if self._kept is None else stacked([self._kept, data])
        family = self._model.likelihood.bind(both)
        finite = np.isfinite(family.log_alone()[n_old:])
        if not finite.all():
            raise ValueError(
                f"block {number} has a row ({int(np.argmin(finite))}) so extreme that its prior "
                "density is not a finite number; rescale the data or change the likelihood's "
                "parameters"
            )
        if self._forest is None:
            self._forest = self._empty_forest(family)
        else:
            self._forest.rebind(family, np.arange(n_old))
        order = n_old + _block_stream(self._seed, 1, number).permutation(data.shape[0])
        portion = max(self._max_leaves, SMALLEST_ROUND)
        for first in range(0, len(order), portion):
            self._forest.insert(order[first : first + portion])
            self._forest.collapse(self._max_leaves)
        kept, now = without_collapsed(self._model, both, self._forest)
        assert not isinstance(kept, WeightedLeaves)
        self._kept = kept
        constants = np.concatenate([self._constants, self._model.likelihood.row_constants(data)])
        self._constants = np.bincount(now, constants, kept.shape[0]).astype(np.float64)
        if groups is not None:
            self._count(groups, data.shape[0], number, now)
        self._steps.append(now.astype(np.int32))
        self._n_before.append(n_old)

    def _count(self, groups: Any, n: int, number: int, now: IntArray) -> None:
        """Count a block's rows by leaf and group, those before it where their leaves are now."""
        codes = self._names.codes(groups, n, f"groups, in block {number},")
        rows = Members(len(now) - n + np.arange(n), codes, np.ones(n, dtype=np.int64))
        if self._members is not None:
            rows = Members.together([self._members, rows])
        self._members = rows.into(now)

    def _empty_forest(self, family: _core.Family) -> _core.Forest:
        from mixwood import _core

        prior = self._model.prior
        return make_forest(prior, family, prior.start(_core.GROWTH_LOG_U), "balanced")

    def leaves(self) -> WeightedLeaves:
        """Return the leaves, numbered in the order in which their first rows came."""
        assert self._forest is not None
        leaf_of_row = self._leaf_of_row()
        number = self._forest.leaves()["leaf_of_row"]  # the core's, of each of ours
        sums, statistics = self._exported()
        return WeightedLeaves(
            self._model.likelihood,
            sums["size"][number],
            self._constants,
            sums["log_apart"][number],
            sums["weight"][number],
            statistics[number],
            leaf_of_row,
            groups=None if self._members is None else self._names.groups(self._members),
        )

    def _leaf_of_row(self) -> NDArray[np.int32]:
        """Return the leaf of each row: what happened after its block, followed from the end.

        All steps become one, and each is let go when it is read.
        """
        assert self._kept is not None
        last = np.arange(self._kept.shape[0], dtype=np.int32)
        end = sum(map(len, self._steps)) - sum(self._n_before)
        leaf_of_row = np.empty(end, dtype=np.int32)
        while self._steps:
            now, n_old = last[self._steps.pop()], self._n_before.pop()
            start = end - (len(now) - n_old)
            leaf_of_row[start:end], last, end = now[n_old:], now[:n_old], start
        self._steps, self._n_before = [leaf_of_row], [0]
        return leaf_of_row

    def _exported(self) -> tuple[dict[str, NDArray[Any]], Data]:
        """Return sums and statistics of the leaves as the core numbers them."""
        assert self._forest is not None
        words = self._model.likelihood.sparse_statistics
        count = self._forest.n_leaves
        portion = max(1, EXPORTED // (self._model.likelihood.width or 1)) if words else count
        sums: dict[str, list[NDArray[Any]]] = {"size": [], "log_apart": [], "weight": []}
        statistics: list[Data] = []
        for first in range(0, count, portion):
            part = self._forest.leaf_sums(first, min(first + portion, count))
            for name, values in sums.items():
                values.append(part[name])
            statistics.append(_word_totals(part["statistics"]) if words else part["statistics"])
        return {name: np.concatenate(parts) for name, parts in sums.items()}, stacked(statistics)


def _word_totals(statistics: FloatArray) -> Data:
    from scipy.sparse import csr_array

    return csr_array(statistics[:, :-1])


def _block_stream(seed: np.random.SeedSequence, purpose: int, number: int) -> np.random.Generator:
    key = (*seed.spawn_key, purpose, number)
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
