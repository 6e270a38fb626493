"""The point estimates of a run, kept in its folder so that they are searched for once.

One sealed file, `estimates`: a header that names each estimate, and the labels and certainties.
It is tied to the draws by a checksum of their labels, so that a run that has got longer does not
have the estimates of a shorter one. What it holds can be found again: where it cannot be written
there is none, and where it is damaged a warning says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import whole_number
from mixwood._support.warn import warn
from mixwood.partitions import checked_loss
from mixwood.posterior.estimated_draws import EstimatedDraws, EstimateKey, FoundEstimate
from mixwood.store.atomic_files import read_bytes
from mixwood.store.folders import ESTIMATES
from mixwood.store.lock import locked_folder
from mixwood.store.sealed_file import unsealed, write_sealed

__all__ = ["attach", "keep", "write_estimates"]

MAGIC = b"mixwood estimates\r\n\x1a"
VERSION = 1
LARGEST = 2**40
_FAULTS = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)

_Found = dict[EstimateKey, FoundEstimate]


def attach(posterior: EstimatedDraws, folder: Path) -> None:
    """Give a posterior the estimates in its run folder, and let it keep there what it finds."""
    if os.path.lexists(folder / ESTIMATES):
        try:
            posterior.found_estimates.update(_read(posterior, folder))
        except _FAULTS as error:
            warn(
                f"{folder / ESTIMATES} is damaged, or not what mixwood writes ({error}): it is not "
                "used, and point estimates are searched for again",
                RuntimeWarning,
            )
    object.__setattr__(posterior, "run_folder", folder)


def keep(posterior: EstimatedDraws, folder: Path) -> None:
    """Add what `posterior` has found to the file in the folder of its run.

    Nothing is written where that is not possible: to a folder that can only be read, that is gone,
    or that another process is writing at this moment.
    """
    with contextlib.suppress(OSError), locked_folder(folder):
        try:  # another process may have found others
            found = _read(posterior, folder)
        except _FAULTS:
            found = {}
        write_estimates(posterior, folder, found | posterior.found_estimates)


def write_estimates(posterior: EstimatedDraws, folder: Path, found: _Found) -> None:
    """Write these estimates of `posterior`, replacing what was there."""
    header = {
        "version": VERSION,
        "draws": _digest(posterior.labels),
        "estimates": [
            {
                "loss": loss,
                "min_size": min_size,
                "seed": seed,
                "max_clusters": max_clusters,
                "certainty": one.certainty is not None,
            }
            for (loss, min_size, seed, max_clusters), one in found.items()
        ],
    }
    parts = []
    for one in found.values():
        parts.append(one.labels.astype("<i4").tobytes())
        if one.certainty is not None:
            parts.append(one.certainty.astype("<f8").tobytes())
    write_sealed(folder / ESTIMATES, MAGIC, header, *parts)


def _digest(labels: NDArray[Any]) -> str:
    """Return what only the same labels have."""
    check = hashlib.sha256(f"{labels.dtype.name} {labels.shape}".encode())
    for chain in labels:
        check.update(np.ascontiguousarray(chain).data)
    return check.hexdigest()


def _read(posterior: EstimatedDraws, folder: Path) -> _Found:
    """Return the estimates in the folder; none if they are of other draws."""
    header, content = unsealed(read_bytes(folder / ESTIMATES, LARGEST), MAGIC, VERSION)
    if header["draws"] != _digest(posterior.labels):
        return {}
    n, start = posterior.n_items, 0
    found: _Found = {}
    for described in header["estimates"]:
        labels = np.frombuffer(content, "<i4", n, start).astype(np.int64)
        start += 4 * n
        certainty = None
        if described["certainty"]:
            certainty = np.frombuffer(content, "<f8", n, start).astype(np.float64)
            start += 8 * n
        found[_key(described)] = FoundEstimate(*_checked(labels, certainty))
    if start != len(content):
        raise ValueError("it does not have the length that its header says")
    return found


def _key(described: dict[str, Any]) -> EstimateKey:
    most = described["max_clusters"]
    return (
        checked_loss(described["loss"]),
        whole_number(described["min_size"], "min_size", at_least=1),
        whole_number(described["seed"], "seed", at_least=0, at_most=None),
        None if most is None else whole_number(most, "max_clusters", at_least=1),
    )


def _checked(
    labels: NDArray[np.int64], certainty: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return both if the labels are 0 to K-1 and the certainties are probabilities."""
    if labels.min() < 0 or labels.max() >= len(labels) or not np.bincount(labels).all():
        raise ValueError("its labels must be 0 to K-1")
    if certainty is not None and not np.all((certainty >= 0) & (certainty <= 1 + 1e-9)):
        raise ValueError("its certainties must be probabilities")
    return labels, certainty
