"""Whether clusters have heavy tails: pilots decide, as they do on covariances.

Student t clusters include Gaussian ones (many degrees of freedom), so nothing is lost where they
are taken in vain but time. They are compared with the Gaussian ones that were chosen, on the same
rows, from where the pilots of these have ended.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mixwood.sampling.interruptible import at_once
from mixwood.sampling.starting_point import for_part
from mixwood.sampling.structure import (
    PER_COLUMN,
    Pilot,
    Structure,
    first_pilot,
    has_rows_to_compare,
    parts,
    pilot,
    pilot_seed,
    share_fitted,
    ways_of,
)

if TYPE_CHECKING:
    from mixwood._support.types import Data, FloatArray
    from mixwood.likelihoods.base import Likelihood
    from mixwood.model import Mixture

__all__ = ["with_tails_if_heavy"]

#: By how many standard errors heavy tails must predict better: rarely by chance.
CLEARLY = 2.5


def with_tails_if_heavy(
    model: Mixture,
    chosen: Structure,
    heavier: Likelihood,
    X: Data,
    seed: np.random.SeedSequence,
) -> Structure:
    """Return what was chosen, or the same with heavy tails where these predict rows better.

    Better by `CLEARLY` standard errors, and by what fewer clusters are worth only as long as there
    are fewer rows than in the run: with more, Gaussian clusters come to describe the tails.

    Parameters
    ----------
    model : Mixture
        Its prior counts.
    chosen : Structure
        Gaussian clusters, and what their pilots found.
    heavier : Likelihood
        The same with heavy tails. Its base measure is theirs and then some numbers more.
    X : array
        Checked rows.
    seed : SeedSequence
        That of the run.
    """
    n, columns = (int(extent) for extent in X.shape)
    if not has_rows_to_compare(n):
        return chosen
    own, known = pilot_seed(seed), list(chosen.pilots)
    leads: list[FloatArray] = []
    for number, (fitted, others) in enumerate(parts(n, own)):
        rows, new = X[fitted], X[others]
        normal, heavy = (
            for_part(replace(model, likelihood=one), rows, n)
            for one in (chosen.likelihood, heavier)
        )
        if number == len(known):
            known.append(first_pilot(normal, rows, new, own, ways_of(known)))
        leads.append(_lead(heavy, normal, known[number], rows, new, own))
        if _mean(leads) < (0 if len(leads) > 1 else -_error(leads)):
            break
    needed = CLEARLY * _error(leads) + PER_COLUMN * columns * (1 - share_fitted(n))
    if _mean(leads) <= needed:
        return chosen
    told = f"{heavier.in_words} predict new rows better than {chosen.likelihood.in_words}"
    reason = f"{told}, by {_mean(leads):.2f} in log density per row"
    return Structure(heavier, reason, known)


def _lead(
    heavy: Mixture,
    normal: Mixture,
    known: Pilot,
    X: Data,
    new: Data,
    seed: np.random.SeedSequence,
) -> FloatArray:
    """Return by how much each new row is denser with heavy tails."""
    more = heavy.likelihood.start_base()[len(known.base) :]
    heavier, same = at_once(
        lambda one: pilot(one[0], X, new, known.labels, one[1], seed),
        [(heavy, np.append(known.base, more)), (normal, known.base)],
    )
    return heavier.log_densities - same.log_densities


def _mean(leads: list[FloatArray]) -> float:
    return float(np.concatenate(leads).mean())


def _error(leads: list[FloatArray]) -> float:
    each = np.concatenate(leads)
    return float(each.std() / np.sqrt(len(each)))
