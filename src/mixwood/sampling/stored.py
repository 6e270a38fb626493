"""Runs that are stored as they go: how one begins, and how it continues."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path

from mixwood._support.numbers import count
from mixwood._support.warn import warn
from mixwood.posterior.posterior import Posterior
from mixwood.run_spec import RunInformation
from mixwood.sampling.chain import ChainResult
from mixwood.sampling.executor import Job, run_in_folder
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import ARRAYS, LOCK, existing_run, new_run
from mixwood.store.load import read_checkpoints, read_posterior
from mixwood.store.lock import locked
from mixwood.store.manifest import Manifest, write_manifest

__all__ = ["begin", "continue_run", "warn_or_refuse"]


def begin(path: str | PathLike[str], job: Job, information: RunInformation) -> Posterior:
    """Make a run folder, and run what it describes.

    Parameters
    ----------
    path : str or path
        Where nothing is yet, or an empty folder.
    job : Job
        The chains, whose draws go to the folder.
    information : RunInformation
        What the posterior tells of how it was made.
    """
    manifest = Manifest.of_run(job.spec, information)
    shape = (job.spec.chains, job.spec.draws, job.spec.items)
    with ExitStack() as held:
        with new_run(path) as folder:
            prior, vectors = job.spec.model.prior, job.spec.vectors
            DrawArrays.create(folder / ARRAYS, prior, vectors, shape, clusters=job.spec.items)
            write_manifest(folder, manifest)
            held.enter_context(locked(folder / LOCK))  # before anybody sees it
        return continue_run(existing_run(path), manifest, job)


def continue_run(folder: Path, manifest: Manifest, job: Job) -> Posterior:
    """Run the chains that are not finished, and return what there is then."""
    before = read_checkpoints(folder, manifest)
    numbers = [k for k, one in enumerate(before) if one is None or one.draws < manifest.draws]
    for k in numbers:
        one = before[k]
        if one is not None and one.error is not None:
            raise RuntimeError(f"{folder}: chain {k} cannot continue ({one.error})")
    results = run_in_folder(job, numbers, folder) if numbers else []
    checkpoints = read_checkpoints(folder, manifest)
    shortest = min(0 if one is None else one.draws for one in checkpoints)
    advice = f"; mixwood.resume({str(folder)!r}) continues it"
    warn_or_refuse(shortest, manifest.draws, results, advice)
    return read_posterior(folder, manifest, checkpoints)


def warn_or_refuse(
    shortest: int, asked: int, results: Sequence[ChainResult], advice: str = ""
) -> None:
    """Warn if there are fewer draws than asked for, and raise if there are none."""
    errors = [result.error for result in results if result.error is not None]
    if shortest == 0:
        raise RuntimeError(
            errors[0]
            if errors
            else f"stopped before every chain had its first draw{advice or '; nothing is kept'}. "
            "Give it more time, a shorter warmup or fewer chains"
        )
    if shortest < asked:
        reason = f" ({errors[0]})" if errors else ""
        warn(
            f"stopped early{reason}: kept {count('draw', shortest, of=asked)} of each chain"
            f"{'' if errors else advice}",
            RuntimeWarning,
        )
