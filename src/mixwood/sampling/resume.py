"""`resume`: read what a stored run is, and run it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mixwood._support.checks import positive_number, whole_number
from mixwood._support.numbers import count
from mixwood._support.threads import thread_count
from mixwood._support.versions import differing, versions
from mixwood._support.warn import warn
from mixwood.posterior.posterior import Posterior
from mixwood.run_spec import RunInformation
from mixwood.sampling.executor import Job
from mixwood.sampling.initial_partition import checked_init
from mixwood.sampling.stored import continue_run
from mixwood.store.folders import ARRAYS, LOCK, MANIFEST, existing_run
from mixwood.store.load import read_checkpoints
from mixwood.store.lock import locked
from mixwood.store.manifest import FAULTS, Manifest, change_draws, check_resumable, read_manifest

__all__ = ["resume"]


def resume(
    path: str | PathLike[str],
    draws: int | None = None,
    progress: bool = True,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
) -> Posterior:
    """Continue a run that ``mixwood.sample(..., store=path)`` began.

    However the run ended, by Ctrl-C, a time limit, a full disk, a killed process or a power
    cut, its chains continue from their last checkpoints, and the draws are those of a run that
    was never interrupted, number for number.

    Parameters
    ----------
    path : str or path
        The run folder.
    draws : int, optional
        How many draws each chain is to have in all; as many as first asked for by default.
        More than that extends a finished run.
    progress : bool
        Whether to show progress on a terminal or in a notebook.
    n_jobs : int, optional
        How many chains run at once, as for `sample`.
    max_seconds : float, optional
        Stop after this long; the run can be resumed again.

    Returns
    -------
    Posterior
        All draws, the earlier ones included.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    BlockingIOError
        If another process is writing the run.
    ValueError
        If the folder is not a run that can be resumed, or is damaged.

    Warns
    -----
    RuntimeWarning
        If version, instruction set or system are not what they were: the draws are then as
        good, but not the same number for number.

    Examples
    --------
    >>> import mixwood as mw
    >>> from tempfile import TemporaryDirectory
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> with TemporaryDirectory() as place:
    ...     run = f"{place}/run"
    ...     post = mw.sample(mw.Mixture(), X, draws=20, seed=1, store=run, progress=False)
    ...     longer = mw.resume(run, draws=50, progress=False)
    >>> longer.n_draws
    50
    >>> bool((longer.labels[:, :20] == post.labels).all())
    True
    """
    folder = existing_run(path)
    limit = None if max_seconds is None else positive_number(max_seconds, "max_seconds")
    asked = None if draws is None else whole_number(draws, "draws", at_least=1)
    thread_count(n_jobs)  # or it says what is wrong
    check_resumable(folder)  # before a lock is left in what is not such a run
    with locked(folder / LOCK):
        manifest = read_manifest(folder)
        manifest = _with_draws(folder, manifest, manifest.draws if asked is None else asked)
        _warn_of_differences(folder, manifest.settings)
        try:
            spec = manifest.spec()
            checked_init(spec.init, spec.items)
            job = Job(spec=spec, max_seconds=limit, n_jobs=n_jobs, progress=progress)
            return continue_run(folder, manifest, job)
        except FAULTS as error:
            if isinstance(error, OSError) or str(folder) in str(error):
                raise
            raise ValueError(
                f"{folder} cannot be resumed, as {MANIFEST} or the data in {ARRAYS} are not what "
                f"mixwood wrote: {error}"
            ) from error


def _with_draws(folder: Path, manifest: Manifest, draws: int) -> Manifest:
    """Change how many draws are asked for."""
    made = max(0 if one is None else one.draws for one in read_checkpoints(folder, manifest))
    if draws < made:
        raise ValueError(
            f"draws must be at least {made:,}: {folder} has {count('draw', made)} per chain already"
        )
    arrays = manifest.open_draws(folder)
    if draws != manifest.draws or not arrays.has_room_for(draws):  # killed between these two steps
        arrays.resize(draws)
        change_draws(folder, draws)
    return manifest.with_draws(draws)


def _warn_of_differences(folder: Path, settings: RunInformation) -> None:
    changed = differing(settings, versions())
    if changed:
        warn(
            f"{folder} was begun elsewhere ({'; '.join(changed)}): it continues, but not with the "
            "draws, number for number, that it would have had there",
            RuntimeWarning,
        )
