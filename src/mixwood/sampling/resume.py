"""Runs that are stored as they go: their beginning, `resume`, and what both do then."""

from __future__ import annotations

import warnings
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mixwood._support.checks import positive_number, whole_number
from mixwood._support.seeding import chain_seeds
from mixwood._support.threads import thread_count
from mixwood._support.versions import differing, versions
from mixwood.posterior.posterior import Posterior
from mixwood.sampling.chain import ChainPlan
from mixwood.sampling.executor import Job, run_jobs
from mixwood.sampling.initial_partition import start_from
from mixwood.sampling.sample import warn_or_refuse
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import ARRAYS, LOCK, existing_run, new_run
from mixwood.store.load import read_checkpoints, read_posterior
from mixwood.store.lock import locked
from mixwood.store.manifest import (
    FAULTS,
    Description,
    Plan,
    change_draws,
    read_description,
    write_description,
)

__all__ = ["begin", "resume"]


def begin(
    path: str | PathLike[str],
    about: Description,
    job: Job,
    n_jobs: int | None,
    progress: bool,
) -> Posterior:
    """Make a run folder, and run what it describes.

    Parameters
    ----------
    path : str or path
        Where nothing is yet, or an empty folder.
    about : Description
        Of the run.
    job : Job
        The chains, whose draws go to the folder.
    n_jobs : int or None
        As for `mixwood.sample`.
    progress : bool
        Likewise.
    """
    shape = (about.chains, about.draws, about.items)
    with new_run(path) as folder:
        DrawArrays.create(folder / ARRAYS, about.model.prior, shape, clusters=about.items)
        write_description(folder, about)
    run = existing_run(path)
    with locked(run / LOCK):
        return _go_on(run, about, replace(job, store=run), n_jobs, progress)


def resume(
    path: str | PathLike[str],
    draws: int | None = None,
    progress: bool = True,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
) -> Posterior:
    """Go on with a run that ``mixwood.sample(..., store=path)`` began.

    However the run ended, by Ctrl-C, a time limit, a full disk, a killed process or a power
    cut, its chains go on from their last checkpoints, and the draws are those of a run that
    was never interrupted, number for number.

    Parameters
    ----------
    path : str or path
        The run folder.
    draws : int, optional
        How many draws each chain shall have in all; as many as first asked for by default.
        More than that extends a finished run.
    progress : bool
        Whether to show progress on a terminal or in a notebook.
    n_jobs : int, optional
        How many chains run at once, as for `sample`.
    max_seconds : float, optional
        Stop after so long; the run can be resumed again.

    Returns
    -------
    Posterior
        All draws, those of before included.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    BlockingIOError
        If another process is writing the run.
    ValueError
        If the folder is no run that can be resumed, or is damaged.

    Warns
    -----
    RuntimeWarning
        If version, instruction set or system are not those of before: the draws then are as
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
    _plan_of(folder, read_description(folder))  # before a lock is left in what is no such run
    with locked(folder / LOCK):
        about = read_description(folder)
        plan = _plan_of(folder, about)
        if asked is not None:
            about = _with_draws(folder, about, asked)
        _warn_of_differences(folder, about.settings)
        try:
            return _go_on(folder, about, _job(folder, about, plan, limit), n_jobs, progress)
        except FAULTS as error:
            if isinstance(error, OSError) or str(folder) in str(error):
                raise
            raise ValueError(f"{folder} cannot be gone on with: {error}") from error


def _plan_of(folder: Path, about: Description) -> Plan:
    """Return the plan of a run that can be resumed."""
    if about.plan is None or about.X is None:
        raise ValueError(
            f"{folder} cannot be resumed: it is a posterior that was saved, without the states "
            "of its chains. mixwood.sample(..., store=path) writes runs that can be"
        )
    return about.plan


def _with_draws(folder: Path, about: Description, draws: int) -> Description:
    """Change how many draws are asked for."""
    made = max(0 if one is None else one.draws for one in read_checkpoints(folder, about))
    if draws < made:
        raise ValueError(f"draws must be at least {made}, the draws that {folder} has already")
    if draws != about.draws:
        arrays = DrawArrays.open(folder / ARRAYS, about.model.prior, about.chains, about.items)
        arrays.resize(draws)
        change_draws(folder, draws)
    return replace(about, draws=draws, settings=about.settings | {"draws": draws})


def _warn_of_differences(folder: Path, settings: dict[str, Any]) -> None:
    changed = differing(settings, versions())
    if changed:
        warnings.warn(
            f"{folder} was begun elsewhere ({'; '.join(changed)}): it goes on, but not with the "
            "draws, number for number, that it would have had there",
            RuntimeWarning,
            stacklevel=3,
        )


def _job(folder: Path, about: Description, plan: Plan, max_seconds: float | None) -> Job:
    """Return the chains that the description says."""
    assert about.X is not None
    model = replace(about.model, likelihood=about.resolved)
    return Job(
        model,
        about.X,
        plan.sampler,
        ChainPlan(plan.warmup, about.draws, plan.thin),
        max_seconds,
        float(np.sum(about.resolved.row_constants(about.X))),
        start_from(plan.init, model, about.X, plan.sampler),
        chain_seeds(plan.seed, about.chains),
        folder,
    )


def _go_on(
    folder: Path, about: Description, job: Job, n_jobs: int | None, progress: bool
) -> Posterior:
    """Run the chains that are not finished, and return what there is then."""
    before = read_checkpoints(folder, about)
    numbers = [k for k, one in enumerate(before) if one is None or one.draws < about.draws]
    for k in numbers:
        one = before[k]
        if one is not None and one.error is not None:
            raise RuntimeError(f"{folder}: chain {k} cannot go on ({one.error})")
    errors = []
    if numbers:
        _, results = run_jobs(job, numbers, n_jobs, progress)
        errors = [result.error for result in results if result.error is not None]
    checkpoints = read_checkpoints(folder, about)
    shortest = min(0 if one is None else one.draws for one in checkpoints)
    warn_or_refuse(shortest, about.draws, errors, f"; mixwood.resume({str(folder)!r}) goes on")
    return read_posterior(folder, about, checkpoints)
