"""`resume`: a stored run goes on where it was left."""

from __future__ import annotations

from os import PathLike

from mixwood.posterior import Posterior

__all__ = ["resume"]


def resume(
    path: str | PathLike[str],
    draws: int | None = None,
    progress: bool = True,
    n_jobs: int | None = None,
    max_seconds: float | None = None,
) -> Posterior:
    """Go on with a run that ``mixwood.sample(..., store=path)`` began.

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
    """
    raise NotImplementedError
