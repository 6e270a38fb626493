"""The draws on disk: one array of labels and one per scalar, each file some draws of one chain.

Where the base measure is learned there is one more array, ``base``, a row of numbers per draw;
where missing entries are drawn, ``latent``.
Arrays of the prior's parameters have the prior's own names (`mixwood.priors.Prior.stored_name`).
Whoever writes and reads them knows the core's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixwood._support.labels import LABEL_TYPES, label_type
from mixwood._support.types import FloatArray
from mixwood.priors import Prior
from mixwood.store.atomic_files import sync_folder
from mixwood.store.zarr_array import (
    CHUNK_ENTRIES,
    Expected,
    StoredArray,
    make_group,
    open_group,
)

__all__ = ["DrawArrays", "draw_axes"]

GROUP = "draws"
#: How many draws of a scalar one file holds at least, and of the labels at most.
DRAWS_AT_ONCE = 1024
#: How many missing entries one file holds, if they are many.
LATENT_ENTRIES = 2**22


def draw_axes(prior: Prior, vectors: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the arrays that are kept beside the labels, and what axes they have beyond draws.

    `vectors` are the rows of numbers per draw (`mixwood.run_spec.draw_vectors`).
    """
    scalars = ("log_joint", "log_u", *map(prior.stored_name, prior.random_parameters))
    arrays: dict[str, tuple[int, ...]] = dict.fromkeys(scalars, ())
    return arrays | {name: (size,) for name, size in vectors.items()}


@dataclass(frozen=True)
class DrawArrays:
    """The arrays of all chains."""

    labels: StoredArray
    scalars: dict[str, StoredArray]
    prior: Prior

    @classmethod
    def create(
        cls,
        store: Path,
        prior: Prior,
        vectors: Mapping[str, int],
        shape: tuple[int, int, int],
        clusters: int,
    ) -> DrawArrays:
        """Make room for draws of the shape (chain, draw, item), with at most this many clusters."""
        folder = make_group(store, GROUP)
        items = shape[2]
        rows = max(1, min(DRAWS_AT_ONCE, CHUNK_ENTRIES // items))
        at_least = max(1, min(DRAWS_AT_ONCE, LATENT_ENTRIES // vectors.get("latent", 1)))
        length = rows * -(-at_least // rows)  # files of scalars end where one of labels does
        labels = StoredArray.create(
            folder / "labels",
            ("chain", "draw", "item"),
            label_type(clusters),
            shape,
            (1, rows, min(items, CHUNK_ENTRIES)),
        )
        scalars = {
            name: StoredArray.create(
                folder / name,
                ("chain", "draw", "number")[: 2 + len(more)],
                "float64",
                (*shape[:2], *more),
                (1, length, *more),
            )
            for name, more in draw_axes(prior, vectors).items()
        }
        sync_folder(folder)
        return cls(labels, scalars, prior)

    @classmethod
    def open(
        cls, store: Path, prior: Prior, vectors: Mapping[str, int], chains: int, items: int
    ) -> DrawArrays:
        """Return the arrays of a run, or raise a ValueError that names the file that is wrong."""
        expected = {
            name: Expected(("float64",), (chains, -1, *more))
            for name, more in draw_axes(prior, vectors).items()
        }
        expected["labels"] = Expected(LABEL_TYPES, (chains, -1, items))
        scalars = open_group(store, GROUP, expected)
        labels = scalars.pop("labels")
        for array in scalars.values():
            wrong = array.chunks[0] != 1 or array.chunks[2:] != array.shape[2:]
            if wrong or labels.chunks[0] != 1 or array.chunks[1] % labels.chunks[1]:
                raise ValueError(
                    f"{array.folder} has chunks of shape {array.chunks}: it is damaged"
                )
        return cls(labels, scalars, prior)

    def resize(self, draws: int) -> None:
        """Make room for this many draws per chain."""
        for array in (self.labels, *self.scalars.values()):
            array.resize((array.shape[0], draws, *array.shape[2:]))

    def has_room_for(self, draws: int) -> bool:
        """Tell whether every array is long enough for this many draws."""
        return all(array.shape[1] >= draws for array in (self.labels, *self.scalars.values()))

    @property
    def label_rows(self) -> int:
        """How many draws a file of labels holds."""
        return self.labels.chunks[1]

    @property
    def scalar_rows(self) -> int:
        """How many draws a file of scalars holds."""
        return next(iter(self.scalars.values())).chunks[1]

    def write_labels(self, chain: int, first: int, labels: NDArray[Any]) -> None:
        """Write draws from number `first` on, where a file begins, as many as one holds at most."""
        width = self.labels.chunks[2]
        for k in range(0, labels.shape[1], width):
            index = (chain, first // self.label_rows, k // width)
            self.labels.write_chunk(index, labels[None, :, k : k + width])

    def write_scalars(self, chain: int, first: int, values: Mapping[str, FloatArray]) -> None:
        """Write the scalars of draws, likewise."""
        for name, array in self.scalars.items():
            index = (chain, first // self.scalar_rows, *(0 for _ in array.shape[2:]))
            parameter = self._parameters.get(name)
            if parameter is None:
                stored = values[name]
            else:
                stored = self.prior.stored(parameter, values[self.prior.core_name(parameter)])
            array.write_chunk(index, stored[None])

    def sync(self) -> None:
        """Flush the names of new files to the disk."""
        for array in (self.labels, *self.scalars.values()):
            sync_folder(array.folder)

    def write(self, labels: NDArray[Any], scalars: Mapping[str, FloatArray]) -> None:
        """Write the draws of all chains."""
        for chain in range(labels.shape[0]):
            for first in range(0, labels.shape[1], self.label_rows):
                self.write_labels(chain, first, labels[chain, first : first + self.label_rows])
            for first in range(0, labels.shape[1], self.scalar_rows):
                rows = slice(first, first + self.scalar_rows)
                self.write_scalars(chain, first, {k: v[chain, rows] for k, v in scalars.items()})
        self.sync()

    def read_labels(self, chain: int, first: int, end: int) -> NDArray[Any]:
        """Return some draws of a chain."""
        region = [(chain, chain + 1), (first, end), (0, self.labels.shape[2])]
        return self.labels.read(region).reshape(end - first, -1)

    def read_scalars(self, chain: int, first: int, end: int) -> dict[str, FloatArray]:
        """Return the scalars of some draws of a chain."""
        found = {}
        for name, array in self.scalars.items():
            region = [(chain, chain + 1), (first, end), *((0, more) for more in array.shape[2:])]
            stored = array.read(region)[0]
            parameter = self._parameters.get(name)
            if parameter is None:
                found[name] = stored
            else:
                found[self.prior.core_name(parameter)] = self.prior.stored(parameter, stored)
        return found

    @property
    def _parameters(self) -> dict[str, str]:
        """Which of the prior's parameters an array is."""
        return {self.prior.stored_name(name): name for name in self.prior.random_parameters}
