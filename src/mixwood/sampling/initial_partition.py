"""Where chains start: the partitions that `init` names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import Data
from mixwood.input.matrices import as_array
from mixwood.model import Mixture
from mixwood.samplers import Sampler, Tree

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["FixedStart", "Start", "TreeStart", "start_from"]

NAMES = ("ibhc", "one", "singletons", "on-top")


@dataclass(frozen=True)
class FixedStart:
    """A start that is the same for every chain."""

    labels: NDArray[np.int32]

    def __call__(
        self,
        seed: np.random.SeedSequence,  # noqa: ARG002
        family: _core.Family,  # noqa: ARG002
    ) -> NDArray[np.int32]:
        """Return the labels."""
        return self.labels


@dataclass(frozen=True)
class TreeStart:
    """A start from trees that each chain grows for itself, over the rows in an order of its own."""

    model: Mixture
    points: int
    on_top: bool
    max_leaves: int | None = None

    def __call__(self, seed: np.random.SeedSequence, family: _core.Family) -> NDArray[np.int32]:
        """Return the labels that the trees give; `family` is over the rows."""
        from mixwood.trees.build import ibhc_labels, on_top_labels

        # A stream apart from the chain's own, which begins at `seed` itself.
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0))
        if self.on_top:
            labels = on_top_labels(self.model, family, self.points, own)
        else:
            labels = ibhc_labels(self.model, family, self.points, own, self.max_leaves)
        return labels.astype(np.int32)


Start: TypeAlias = FixedStart | TreeStart


def start_from(init: Any, model: Mixture, X: Data, sampler: Sampler) -> Start:
    """Return what `init` means for a resolved model and checked data.

    Parameters
    ----------
    init : str or array of shape (n,)
        One of the names, or labels: any whole numbers, one a row.
    model : Mixture
        With an explicit likelihood.
    X : array or csr_array
        Checked data.
    sampler : Sampler
        If it keeps rows together, in few leaves, the trees need no more of them.
    """
    n = X.shape[0]
    if isinstance(init, str):
        if init == "one":
            return FixedStart(np.zeros(n, dtype=np.int32))
        if init == "singletons":
            return FixedStart(np.arange(n, dtype=np.int32))
        if init in NAMES:
            points = int(model.likelihood.row_sizes(X).sum())
            limit = sampler.max_leaves if isinstance(sampler, Tree) else None
            return TreeStart(model, points, init == "on-top", limit if (limit or 0) > 1 else None)
        names = ", ".join(repr(name) for name in NAMES)
        raise ValueError(f"init must be one of {names} or {n} labels, got {shown(init)}")
    labels = as_array(init, "init")
    if labels.shape != (n,):
        raise ValueError(
            f"init must be a name or an array of {n} labels, one a row of X, "
            f"got shape {labels.shape}"
        )
    whole = labels.dtype.kind == "f" and bool(np.all(labels == np.floor(labels)))
    if labels.dtype.kind not in "iub" and not whole:
        raise TypeError(f"init must hold whole numbers, got dtype {labels.dtype}")
    _, codes = np.unique(labels, return_inverse=True)
    return FixedStart(codes.astype(np.int32))
