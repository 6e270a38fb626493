"""Where chains start: the partitions that `init` names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood.input.matrices import as_array
from mixwood.model import Mixture
from mixwood.trees.build import ibhc_labels, on_top_labels

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["checked_init", "initial_labels"]

NAMES = ("ibhc", "one", "singletons", "on-top")


def checked_init(init: Any, n: int) -> str | NDArray[np.int32]:
    """Return one of the names, or labels from 0 without gaps; else raise an error.

    Parameters
    ----------
    init : str or array of shape (n,)
        One of the names, or labels: any whole numbers, one per row.
    n : int
        How many rows.

    Examples
    --------
    >>> checked_init([5, 5, -1], 3)
    array([1, 1, 0], dtype=int32)
    """
    if isinstance(init, str):
        if init in NAMES:
            return init
        names = ", ".join(repr(name) for name in NAMES)
        raise ValueError(f"init must be one of {names} or {n} labels, got {shown(init)}")
    labels = as_array(init, "init")
    if labels.shape != (n,):
        raise ValueError(
            f"init must be a name or an array of {n} labels, one per row of X, "
            f"got shape {labels.shape}"
        )
    whole = labels.dtype.kind == "f" and bool(np.all(labels == np.floor(labels)))
    if labels.dtype.kind not in "iub" and not whole:
        raise TypeError(f"init must hold whole numbers, got dtype {labels.dtype}")
    _, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int32)


def initial_labels(
    init: Any,
    model: Mixture,
    family: _core.Family,
    points: int,
    seed: np.random.SeedSequence,
    max_leaves: int | None = None,
    threads: int = 1,
) -> NDArray[np.int32]:
    """Return where a chain starts.

    Parameters
    ----------
    init : str or array of shape (n,)
        As for `checked_init`.
    model : Mixture
        With an explicit likelihood.
    family : Family
        That likelihood, bound to the rows.
    points : int
        How many rows there are, those of weighted leaves one by one.
    seed : SeedSequence
        That of the chain.
    max_leaves : int, optional
        How many leaves the trees of "ibhc" may have.
    threads : int
        How many they may be grown on.
    """
    start = checked_init(init, family.n_rows)
    if not isinstance(start, str):
        return start
    if start == "one":
        return np.zeros(family.n_rows, dtype=np.int32)
    if start == "singletons":
        return np.arange(family.n_rows, dtype=np.int32)
    # A stream apart from the chain's own, which begins at `seed` itself.
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0))
    if start == "on-top":
        return on_top_labels(model, family, points, own)
    return ibhc_labels(model, family, points, own, max_leaves, threads)
