"""Runs that go on until their chains agree, or the time is over."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from mixwood._support.checks import shown
from mixwood._support.numbers import count
from mixwood._support.warn import warn
from mixwood.posterior.posterior import Posterior
from mixwood.posterior.verdict import Verdict, judge
from mixwood.run_spec import RunInformation
from mixwood.sampling.executor import Job
from mixwood.sampling.progress import say
from mixwood.sampling.resume import resume
from mixwood.sampling.stored import begin

__all__ = ["checked_until", "run_until_agree"]

#: At the end chains have at most this many times the draws that were asked for.
MOST_TIMES = 64
#: Each time they get at most this many times the draws that they have: what is advised after
#: a few draws is a guess.
TIMES = 4


def checked_until(until: object, chains: int) -> bool:
    """Tell whether the chains go on until they agree, or raise if `until` says something else."""
    if until is None:
        return False
    if not isinstance(until, str) or until != "agree":
        raise ValueError(f'until must be None or "agree", got {shown(until)}')
    if chains == 1:
        raise ValueError("chains must be at least 2 where until='agree', got 1")
    return True


def run_until_agree(
    store: str | PathLike[str] | None, job: Job, information: RunInformation
) -> Posterior:
    """Run chains, and make them longer until they agree.

    A draw does not depend on how long its chain gets in the end: the run is the same as one that
    was asked for this many draws, and is resumed like any other.

    Parameters
    ----------
    store : path, optional
        The folder of the run; a temporary one, which goes in the end, by default.
    job : Job
        The chains, as long as they are at least.
    information : RunInformation
        What the posterior tells of how it was made.
    """
    if store is not None:
        return _run(Path(store), job, information)
    with TemporaryDirectory(prefix="mixwood-") as place:
        posterior = _run(Path(place) / "run", job, information)
    return replace(posterior)  # which does not know of the folder


def _run(folder: Path, job: Job, information: RunInformation) -> Posterior:
    deadline = job.deadline()
    asked, most = job.spec.draws, MOST_TIMES * job.spec.draws
    posterior = begin(folder, job, information)
    while (verdict := judge(posterior)).level != "good":
        if posterior.n_draws < asked or asked == most:  # out of time or interrupted, or enough
            warn(_still_apart(posterior, verdict), RuntimeWarning)
            break
        asked = _more(posterior, verdict, most)
        if job.progress:
            say(f"{verdict.headline} Going on to {count('draw', asked)} of each chain")
        posterior = _longer(folder, job, asked, deadline)
    return posterior


def _longer(folder: Path, job: Job, draws: int, deadline: float | None) -> Posterior:
    # The limit must be positive; where nothing is left, chains end before they begin.
    left = None if deadline is None else max(deadline - time.monotonic(), 1e-9)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "stopped early", RuntimeWarning)  # said at the end
        return resume(
            folder, draws=draws, progress=job.progress, n_jobs=job.n_jobs, max_seconds=left
        )


def _more(posterior: Posterior, verdict: Verdict, most: int) -> int:
    """Return how many draws the chains are to have next."""
    made = posterior.n_draws
    advised = made if verdict.draws_advised is None else verdict.draws_advised
    return min(max(advised, 2 * made), TIMES * made, most)


def _still_apart(posterior: Posterior, verdict: Verdict) -> str:
    kept = f"{count('draw', posterior.n_draws)} of each chain are kept"
    return f"{verdict.headline} {verdict.explanation} The run ended before they agreed; {kept}"
