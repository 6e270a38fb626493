"""Data larger than a machine, on Dask (extra ``mixwood[dask]``).

Every partition is collapsed to weighted leaves where it is; only their statistics come together,
and `mixwood.sample` draws partitions of the leaves. What concerns rows (labels, log densities) is
computed back on the workers, and stays there until it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown, whole_number
from mixwood._support.numbers import count
from mixwood._support.seeding import seed_sequence
from mixwood.input.blocks import group_apart, is_column
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, joined
from mixwood.model import Mixture
from mixwood.trees.streaming import (
    LeafGrowth,
    RowSample,
    checked_block,
    fitted_to_block,
    wants_sample,
)

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray
    from mixwood.posterior.posterior import Posterior

__all__ = ["DistributedLeaves", "build_leaves", "log_density"]


@dataclass(frozen=True, eq=False, repr=False)
class DistributedLeaves:
    """The leaves of a Dask collection: their statistics here, the rest on the workers.

    Parameters
    ----------
    leaves : WeightedLeaves
        What `mixwood.sample` takes.
    leaf_of_row : dask.array.Array
        The leaf of each row, one chunk per partition, persisted on the workers.
    """

    leaves: WeightedLeaves
    leaf_of_row: Any

    def row_labels(self, labels: Any) -> Any:
        """Return the clusters of the rows, lazily.

        Parameters
        ----------
        labels : int array of shape (n_leaves,)
            The clusters of the leaves: one draw, or a point estimate.

        Returns
        -------
        dask.array.Array of shape (n,)
            Computed on the workers, partition by partition, when asked for.
        """
        own = np.asarray(labels)
        if own.shape != (self.leaves.n_leaves,):
            raise ValueError(
                f"labels must be {self.leaves.n_leaves} numbers, one per leaf, "
                f"got shape {own.shape}"
            )
        return self.leaf_of_row.map_blocks(lambda leaf: own[leaf], dtype=own.dtype)

    def __repr__(self) -> str:
        return (
            f"<mixwood.DistributedLeaves: {count('row', self.leaves.n_items)}, "
            f"{count('partition', len(self.leaf_of_row.chunks[0]))}, "
            f"{count('leaf', self.leaves.n_leaves, plural='leaves')}>"
        )


def build_leaves(
    model: Mixture,
    X: Any,
    leaves_per_partition: int = 1000,
    seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    *,
    groups: Any = None,
) -> DistributedLeaves:
    """Collapse every partition of a Dask collection to weighted leaves, on the workers.

    Parameters
    ----------
    model : Mixture
        Likelihood and prior.
    X : dask.array.Array or dask.dataframe.DataFrame
        One row per item. Arrays may have sparse blocks, where the likelihood takes them.
    leaves_per_partition : int
        At most this many leaves are kept of each partition.
    seed : int, SeedSequence, Generator or None
        The same seed, partitions and options give the same leaves, whatever the workers do.
    groups : str, int, dask.array.Array or dask.dataframe.Series, optional
        Which group each row is in: the name or number of a column, which is not clustered; or
        a collection of its own, with partitions of as many rows as those of `X`. See
        `mixwood.stream_leaves`.

    Returns
    -------
    DistributedLeaves

    Notes
    -----
    At most two passes over the data: one for a random sample of 20,000 rows, if parameters
    of the likelihood are left to the data, and one for the leaves. Partitions that are lost
    with a worker are redone by Dask, and come out the same. The active scheduler is used: that
    of a `distributed.Client`, or threads.

    Examples
    --------
    >>> import dask.array as da
    >>> X = da.random.default_rng(0).normal(size=(2000, 2), chunks=(500, 2))
    >>> found = build_leaves(Mixture(), X, leaves_per_partition=20, seed=0)
    >>> found.leaves.n_items, found.leaf_of_row.shape
    (2000, (2000,))
    """
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    limit = whole_number(leaves_per_partition, "leaves_per_partition", at_least=2)
    sequence = seed_sequence(seed)
    dask = _dask()
    if groups is not None:
        model.prior.for_groups(1)  # or it says why not
    blocks, width, in_groups = _partitions(X, groups)
    if wants_sample(model.likelihood):
        rows = _sample(dask, model, blocks, width, sequence).rows
        model = replace(model, likelihood=model.likelihood.resolve(rows))
        warn_of_left_out(model.likelihood.left_out)
    else:
        model = dask.delayed(_fitted)(model, blocks[0]).compute()
    parts = [
        dask.delayed(_leaves_of, nout=2, pure=True)(
            block, own, number, model, width, limit, sequence
        )
        for number, (block, own) in enumerate(zip(blocks, in_groups, strict=True))
    ]
    parts = dask.persist(*parts)
    found = dask.compute(*(part[0] for part in parts))
    return DistributedLeaves(joined(found), _row_array(parts, found))


def log_density(
    posterior: Posterior, X: Any, draws: int | None = None, *, groups: Any = None
) -> Any:
    """Return the log predictive density of each row, lazily.

    Parameters
    ----------
    posterior : Posterior
        Of leaves or of rows.
    X : dask.array.Array or dask.dataframe.DataFrame
        Rows like those that were fitted, for example themselves.
    draws : int, optional
        Use at most this many draws of each chain, evenly spaced; all by default.
    groups : str, int, dask.array.Array or dask.dataframe.Series, optional
        The groups of the rows, as for `build_leaves`; without them, those of a random row.

    Returns
    -------
    dask.array.Array of shape (n,)
        Computed on the workers, partition by partition, when asked for.
    """
    dask = _dask()
    blocks, _, in_groups = _partitions(X, groups)
    shared = dask.delayed(posterior if draws is None else posterior.thinned(draws))
    parts = [
        dask.delayed(_log_density_of)(shared, block, own)
        for block, own in zip(blocks, in_groups, strict=True)
    ]
    return _array_of(parts, [np.nan] * len(parts), np.float64)


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise ImportError("mixwood.distributed needs Dask: pip install 'mixwood[dask]'") from None
    return dask


def _partitions(X: Any, groups: Any) -> tuple[list[Any], int, list[Any]]:
    """Return partitions as delayed blocks of whole rows, their width, and the groups of each."""
    if hasattr(X, "to_delayed") and hasattr(X, "npartitions"):
        if hasattr(X, "columns"):
            blocks, width = list(X.to_delayed()), len(X.columns)
            return _groups_apart(blocks, width, groups)
        if getattr(X, "ndim", 0) == 2:
            blocks = list(X.rechunk({1: -1}).to_delayed().ravel())
            return _groups_apart(blocks, int(X.shape[1]), groups)
    raise TypeError(
        "X must be a Dask array with two axes or a Dask data frame, got "
        f"{shown(X)}; data in memory go to mw.sample, blocks to mw.stream_leaves"
    )


def _groups_apart(blocks: list[Any], width: int, groups: Any) -> tuple[list[Any], int, list[Any]]:
    """Return blocks without the column of groups, how wide they are, and the groups of each."""
    if groups is None:
        return blocks, width, [None] * len(blocks)
    if is_column(groups):
        apart = _dask().delayed(group_apart, nout=2, pure=True)
        pairs = [apart(block, groups, number) for number, block in enumerate(blocks)]
        return [pair[0] for pair in pairs], width - 1, [pair[1] for pair in pairs]
    if not hasattr(groups, "to_delayed") or groups.ndim != 1:
        raise TypeError(
            "groups must be the name or number of a column of X, or a Dask array or series with "
            f"the group of every row, got {shown(groups)}"
        )
    own = list(np.ravel(groups.to_delayed()))
    if len(own) != len(blocks):
        raise ValueError(
            f"groups must have the partitions of X, {len(blocks)}, got {len(own)}: rechunk them, "
            "or make them a column of X"
        )
    return blocks, width, own


def _sample(
    dask: Any, model: Mixture, blocks: Sequence[Any], width: int, seed: np.random.SeedSequence
) -> RowSample:
    """Return a sample of all rows, merged pair by pair on the workers."""
    parts = [
        dask.delayed(_sample_of, pure=True)(block, number, model, width, seed)
        for number, block in enumerate(blocks)
    ]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[len(parts) // 2 * 2 :]
        parts = [dask.delayed(RowSample.united, pure=True)(a, b) for a, b in pairs] + odd
    sample: RowSample = parts[0].compute()
    return sample


def _sample_of(
    block: Any, number: int, model: Mixture, width: int, seed: np.random.SeedSequence
) -> RowSample:
    sample = RowSample(seed)
    sample.add(checked_block(model, block, number, width), number)
    return sample


def _fitted(model: Mixture, block: Any) -> Mixture:
    return fitted_to_block(model, block, 0)[0]


def _leaves_of(
    block: Any,
    groups: Any,
    number: int,
    model: Mixture,
    width: int,
    limit: int,
    seed: np.random.SeedSequence,
) -> tuple[WeightedLeaves, NDArray[np.int32]]:
    growth = LeafGrowth(model, limit, seed)
    growth.add(checked_block(model, block, number, width), number, groups)
    leaves = growth.leaves()
    assert leaves.leaf_of_row is not None
    return replace(leaves, leaf_of_row=None), leaves.leaf_of_row


def _row_array(parts: Sequence[Any], leaves: Sequence[WeightedLeaves]) -> Any:
    """Return the leaf of each row as one array; leaves are numbered on from part to part."""
    delayed = _dask().delayed
    first = np.cumsum([0, *(part.n_leaves for part in leaves)])[:-1]
    sizes = [float(part.n_items) for part in leaves]
    numbered = [
        delayed(np.add)(part[1], np.int32(start)) for part, start in zip(parts, first, strict=True)
    ]
    return _array_of(numbered, sizes, np.int32)


def _array_of(parts: Sequence[Any], sizes: Sequence[float], dtype: type) -> Any:
    """Return delayed vectors, of these sizes or of NaN where that is not known, as one array."""
    import dask.array

    da: Any = dask.array
    lengths = [size if np.isnan(size) else int(size) for size in sizes]
    vectors = [
        da.from_delayed(part, (length,), dtype=dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(vectors, axis=0)


def _log_density_of(posterior: Posterior, block: Any, groups: Any) -> FloatArray:
    return np.asarray(posterior.log_density(block, groups=groups))
