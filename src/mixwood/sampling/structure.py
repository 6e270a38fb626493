"""Which of several likelihoods fits rows best: short pilots decide.

Each runs one chain from a good start over some of the rows, and predicts every row from the others:
with the weights of `mixwood.posterior.leave_one_out`, ``p(x_i | the others)`` is one over the mean
of ``1/w_i`` over draws, the base measure integrated out along with the partition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixwood.core import bind_family, make_chain
from mixwood.likelihoods.base import Likelihood
from mixwood.model import Mixture
from mixwood.samplers import Gibbs
from mixwood.sampling.starting_point import best_start, for_part, some_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mixwood._support.types import Data

__all__ = ["Structure", "best_structure"]

#: How many iterations of a pilot are let go, and how many count.
WARMUP, DRAWS = 20, 20
#: By how much, per column, a likelihood must predict better whose answer depends on the units of
#: the columns: a change of units must not change the answer for next to nothing.
CLEARLY = 0.02


class Structure(NamedTuple):
    """The likelihood that was taken, and why, in a line."""

    likelihood: Likelihood
    reason: str


def best_structure(
    model: Mixture, candidates: Sequence[Likelihood], X: Data, seed: np.random.SeedSequence
) -> Structure:
    """Return which of the likelihoods, all explicit, predicts the rows of `X` best.

    Parameters
    ----------
    model : Mixture
        Its prior counts.
    candidates : sequence of Likelihood
        With explicit parameters.
    X : array
        Checked rows.
    seed : SeedSequence
        That of the run.
    """
    if len(candidates) == 1:
        return Structure(candidates[0], f"{candidates[0].in_words}: there is nothing to choose")
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 2**32 - 1))
    rows, n = some_rows(X, own), int(X.shape[0])
    models = [for_part(replace(model, likelihood=one), rows, n) for one in candidates]
    scores = np.array([_mean_log_prediction(one, rows, own) for one in models])
    handicaps = [0.0 if one.follows_units else CLEARLY * X.shape[1] for one in candidates]
    order = np.argsort(handicaps - scores, kind="stable")
    taken = candidates[order[0]]
    told = []
    for k in order:
        told.append(f"{candidates[k].in_words} {scores[k]:.2f}")
        if scores[k] > scores[order[0]]:
            told[-1] += " (not enough for what depends on units)"
    reason = f"{taken.in_words} predict rows best, by log density per row: {'; '.join(told)}"
    return Structure(taken, reason)


def _mean_log_prediction(explicit: Mixture, X: Data, seed: np.random.SeedSequence) -> float:
    family = bind_family(explicit, X)
    start = best_start(explicit, X, family, seed)
    stream = np.random.PCG64(seed)
    chain = make_chain(explicit, X, start.labels, stream, Gibbs(), start.family)
    chain.iterate(WARMUP)
    ordinates = []
    for _ in range(DRAWS):
        chain.iterate()
        ordinates.append(chain.log_ordinates())
    negative = -np.array(ordinates)
    peak = negative.max(axis=0)
    log_mean = peak + np.log(np.exp(negative - peak).mean(axis=0))
    return float(np.mean(explicit.likelihood.row_constants(X) - log_mean))
