"""`load`: the posterior in a run folder, as far as the run has come."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.labels import LABEL_TYPES, label_buffers, one_array
from mixwood._support.numbers import count
from mixwood._support.warn import warn
from mixwood.posterior.posterior import Posterior
from mixwood.run_spec import draws_after
from mixwood.store.atomic_files import is_plain_folder
from mixwood.store.checkpoint import Checkpoint, read_checkpoint
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import CHAINS, MANIFEST, STATE, chain_folder, existing_run
from mixwood.store.kept_estimates import attach
from mixwood.store.manifest import FAULTS, Manifest, read_manifest

__all__ = ["load", "read_checkpoints", "read_posterior"]

#: How many labels are checked at once, which bounds the memory of the check.
_LABELS_AT_ONCE = 2**22


def load(path: str | os.PathLike[str]) -> Posterior:
    """Read the posterior in a run folder.

    Parameters
    ----------
    path : str or path
        A folder that `Posterior.save` or ``mixwood.sample(..., store=path)`` has written. The
        latter may still be writing, or have been interrupted: then the draws so far are read,
        all chains cut to the shortest, with a warning.

    Returns
    -------
    Posterior
        With everything in memory; the labels take one byte for each chain, draw and item, two
        if there are more than 128 clusters, four beyond 32,768. Point estimates that were
        found before, with these draws, are there too; what is found from now on is kept in
        the folder, unless that can only be read.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If what is there was not written by mixwood, is damaged, is of a newer format, has no
        draws yet, or does not fit into memory.
    """
    folder = existing_run(path)
    manifest = read_manifest(folder)
    checkpoints = read_checkpoints(folder, manifest)
    posterior = read_posterior(folder, manifest, checkpoints)
    if posterior.n_draws < manifest.draws:
        warn(
            f"{folder} is unfinished: it has {count('draw', posterior.n_draws, of=manifest.draws)} "
            "of every chain; mixwood.resume continues it",
            RuntimeWarning,
        )
    return posterior


def read_checkpoints(folder: Path, manifest: Manifest) -> list[Checkpoint | None]:
    """Return each chain's checkpoint, None where it has none yet; empty for a saved posterior."""
    if manifest.plan is None:
        return []
    found: list[Checkpoint | None] = []
    for chain in range(manifest.chains):
        place = chain_folder(folder, chain)
        if not os.path.lexists(place / STATE):
            found.append(None)
            continue
        for part in (folder / CHAINS, place):
            if not is_plain_folder(part):
                raise ValueError(f"{part} is not a folder")
        checkpoint = read_checkpoint(place / STATE)
        kept = draws_after(checkpoint.iterations, manifest.plan["warmup"], manifest.plan["thin"])
        if checkpoint.draws != kept:
            raise ValueError(f"{place / STATE} has {count('draw', checkpoint.draws)}, not {kept:,}")
        found.append(checkpoint)
    return found


def read_posterior(
    folder: Path, manifest: Manifest, checkpoints: list[Checkpoint | None]
) -> Posterior:
    """Return the draws that all chains have, with everything that belongs to them."""
    try:
        posterior = _posterior(folder, manifest, checkpoints)
    except FAULTS as error:
        if str(folder) in str(error):
            raise ValueError(str(error)) from error
        raise ValueError(f"{folder / MANIFEST} does not fit the draws: {error}") from error
    attach(posterior, folder)
    return posterior


def _posterior(folder: Path, manifest: Manifest, checkpoints: list[Checkpoint | None]) -> Posterior:
    settings, stats = manifest.settings, manifest.stats
    draws = manifest.draws
    if manifest.plan is not None:
        draws = min(0 if one is None else one.draws for one in checkpoints)
        settings = settings | {"seconds": max((c.seconds for c in checkpoints if c), default=0.0)}
        stats = [{} if one is None else one.stats for one in checkpoints]
    if draws == 0:
        raise ValueError(
            f"{folder} has no draws yet that all its chains have made; mixwood.resume continues it"
        )
    arrays = manifest.open_draws(folder)
    for array in (arrays.labels, *arrays.scalars.values()):
        if array.shape[1] < draws:
            raise ValueError(
                f"{array.folder} must have {count('draw', draws)}, got {array.shape[1]:,}"
            )
    # A saved posterior has the smallest type that holds its labels, a run one for any number.
    least = arrays.labels.dtype if manifest.plan is None else np.dtype(LABEL_TYPES[0])
    labels = _read_labels(arrays, (manifest.chains, draws, manifest.items), least)
    values = [arrays.read_scalars(chain, 0, draws) for chain in range(manifest.chains)]
    scalars = {name: np.stack([one[name] for one in values]) for name in values[0]}
    log_joint, log_u = scalars.pop("log_joint"), scalars.pop("log_u")
    bases, latents = scalars.pop("base", None), scalars.pop("latent", None)
    group_values = scalars.pop("groups", None)
    return Posterior(
        labels,
        log_joint,
        log_u,
        scalars,
        manifest.model,
        manifest.resolved,
        manifest.data,
        stats,
        settings,
        manifest.names,
        manifest.of_leaves,
        bases,
        manifest.known,
        latents,
        manifest.groups,
        group_values,
    )


def _read_labels(
    arrays: DrawArrays, shape: tuple[int, int, int], least: np.dtype[Any]
) -> NDArray[np.signedinteger]:
    """Return the labels of all chains, checked, in the type `least` or the one that they need."""
    chains, draws, items = shape
    place = arrays.labels.folder
    for chain in range(chains):  # before memory is asked for
        last = (chain, (draws - 1) // arrays.label_rows, 0)
        if not arrays.labels.chunk_path(last).exists():
            raise ValueError(f"{arrays.labels.chunk_path(last)} is missing")
    try:
        places = label_buffers(chains, draws, items, least)
    except MemoryError as error:
        raise MemoryError(f"{place}: {error}; xarray can open {place.parent.parent}") from error
    step = arrays.label_rows * max(1, _LABELS_AT_ONCE // (arrays.label_rows * items))
    for chain, room in enumerate(places):
        for start in range(0, draws, step):
            some = arrays.read_labels(chain, start, min(start + step, draws))
            _check_labels(some, chain, start, place)
            room.write(start, some)
    return one_array(places)


def _check_labels(some: NDArray[Any], chain: int, start: int, place: Path) -> None:
    """Raise unless every draw's labels are 0, 1, 2, ... in order of appearance."""
    # The largest label so far; a label is one of those seen, or the next one.
    seen = np.maximum.accumulate(some, axis=1)
    wrong = (some[:, 0] != 0) | (some < 0).any(axis=1)
    wrong |= (some[:, 1:] - 1 > seen[:, :-1]).any(axis=1)
    if wrong.any():
        raise ValueError(
            f"{place}: chain {chain}, draw {start + int(np.argmax(wrong))} is not numbered "
            "in order of appearance, 0, 1, 2, ..."
        )
