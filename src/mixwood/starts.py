"""Where chains start: the partitions that `init` names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood.checks import shown
from mixwood.families.base import Data
from mixwood.model import Mixture

__all__ = ["FixedStart", "TreeStart", "start_from"]

NAMES = ("ibhc", "one", "singletons", "on-top")


@dataclass(frozen=True)
class FixedStart:
    """A start that is the same for every chain."""

    labels: NDArray[np.int32]

    def __call__(self, seed: np.random.SeedSequence) -> NDArray[np.int32]:  # noqa: ARG002
        """Return the labels."""
        return self.labels


@dataclass(frozen=True)
class TreeStart:
    """A start from trees that each chain grows for itself, over the rows in an order of its own."""

    model: Mixture
    X: Data
    on_top: bool

    def __call__(self, seed: np.random.SeedSequence) -> NDArray[np.int32]:
        """Return the labels that the trees give."""
        from mixwood.trees import ibhc, on_top_labels

        # A stream apart from the chain's own, which begins at `seed` itself.
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0))
        if self.on_top:
            labels = on_top_labels(self.model, self.X, own)
        else:
            labels = ibhc(self.model, self.X, seed=own).labels
        return labels.astype(np.int32)


def start_from(init: Any, model: Mixture, X: Data) -> FixedStart | TreeStart:
    """Return what `init` means for a resolved model and checked data.

    Parameters
    ----------
    init : str or array of shape (n,)
        One of the names, or labels: any whole numbers, one a row.
    model : Mixture
        With an explicit likelihood.
    X : array or csr_array
        Checked data.
    """
    n = X.shape[0]
    if isinstance(init, str):
        if init == "one":
            return FixedStart(np.zeros(n, dtype=np.int32))
        if init == "singletons":
            return FixedStart(np.arange(n, dtype=np.int32))
        if init in NAMES:
            return TreeStart(model, X, on_top=init == "on-top")
        names = ", ".join(repr(name) for name in NAMES)
        raise ValueError(f"init must be one of {names} or {n} labels, got {shown(init)}")
    labels = np.asarray(init)
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
