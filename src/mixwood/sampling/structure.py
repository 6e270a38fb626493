"""Which of several likelihoods fits rows best: short pilots decide.

Each runs one chain from a good start over some of the rows, and predicts others, which it has not
seen. Reusing the rows that were fitted, as leave-one-out does, would be cheaper and wrong: short
chains of many columns hardly leave the partition that they start from, which knows the row that is
left out, and the more clusters there are the more it tells. (1,000 of the digits: left out in turn
they ask for diagonal covariances, by 1.2 nats per row; new rows for full ones, by 0.9, 1.2 and 1.5
with three seeds.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixwood.core import bind_family, make_chain
from mixwood.likelihoods.base import Likelihood
from mixwood.model import Mixture
from mixwood.priors import PriorValues
from mixwood.samplers import Gibbs
from mixwood.sampling.interruptible import at_once
from mixwood.sampling.starting_point import PILOT_ROWS, Way, best_start, for_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray

__all__ = [
    "Pilot",
    "Structure",
    "best_structure",
    "first_pilot",
    "has_rows_to_compare",
    "parts",
    "pilot",
    "pilot_seed",
    "share_fitted",
    "ways_of",
]

#: How many iterations of a pilot are let go, and how many count.
WARMUP, DRAWS = 20, 20
#: By how much a likelihood must predict better whose answer depends on the directions of the
#: columns, and by how much more if on their units: a change of axes must not change the answer
#: for next to nothing. And per column, for the share of the rows that pilots do not see: with
#: fewer rows, fewer parameters are worth more than they are in the run.
CLEARLY, PER_COLUMN = 0.04, 0.02
#: With rows to spare pilots see `PILOT_ROWS` and predict at most as many others. With fewer, each
#: of this many parts is predicted from the rest, until all but one likelihood is behind by this
#: many standard errors, or the difference is known well enough.
FOLDS, BEHIND = 5, 3.0


class Pilot(NamedTuple):
    """What a pilot found: log densities of new rows; partition and base; good ways to start."""

    log_densities: FloatArray
    labels: NDArray[np.int32]
    base: FloatArray
    ways: Sequence[Way] = ()


class Structure(NamedTuple):
    """The likelihood that was taken, why, in a line, and what its pilots found, part by part.

    With heavy tails the pilots are those of the likelihood without.
    """

    likelihood: Likelihood
    reason: str
    pilots: Sequence[Pilot] = ()


def best_structure(
    model: Mixture, candidates: Sequence[Likelihood], X: Data, seed: np.random.SeedSequence
) -> Structure:
    """Return which of the likelihoods, all explicit, predicts the rows of `X` best.

    Parameters
    ----------
    model : Mixture
        Its prior counts.
    candidates : sequence of Likelihood
        With explicit parameters, the one to take with too few rows for a comparison first.
    X : array
        Checked rows.
    seed : SeedSequence
        That of the run.
    """
    if len(candidates) == 1 or not has_rows_to_compare(int(X.shape[0])):
        why = "there is nothing to choose" if len(candidates) == 1 else "too few rows to compare"
        return Structure(candidates[0], f"{candidates[0].in_words}: {why}")
    own = pilot_seed(seed)
    n, columns = (int(extent) for extent in X.shape)
    handicap = CLEARLY + PER_COLUMN * columns * (1 - share_fitted(n))
    contest = _Contest(handicap * np.array([float(one.tied_to_columns) for one in candidates]))
    pilots: list[list[Pilot]] = [[] for _ in candidates]
    for fitted, others in parts(n, own):
        rows, new = X[fitted], X[others]

        def tried(k: int, rows: Data = rows, new: Data = new) -> Pilot:
            there = for_part(replace(model, likelihood=candidates[k]), rows, n)
            return first_pilot(there, rows, new, own, ways_of(pilots[k]))

        for k, found in zip(contest.left, at_once(tried, contest.left), strict=True):
            pilots[k].append(found)
            contest.scores[k].append(found.log_densities)
        if contest.is_decided(precise=handicap / 2):
            break
    words, best = [one.in_words for one in candidates], contest.best()
    return Structure(candidates[best], contest.in_words(words), pilots[best])


def pilot_seed(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Return the stream of pilots, apart from those of the chains."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 2**32 - 1))


def has_rows_to_compare(n: int) -> bool:
    """Tell whether there are rows enough to predict some from others."""
    return n >= 2 * FOLDS


def _has_rows_to_spare(n: int) -> bool:
    return n >= PILOT_ROWS + PILOT_ROWS // 4


def share_fitted(n: int) -> float:
    """Return which share of `n` rows a pilot sees."""
    return PILOT_ROWS / n if _has_rows_to_spare(n) else 1 - 1 / FOLDS


def parts(n: int, seed: np.random.SeedSequence) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield which rows are fitted, and which are predicted."""
    order = np.random.default_rng(seed).permutation(n)
    if _has_rows_to_spare(n):
        yield np.sort(order[:PILOT_ROWS]), np.sort(order[PILOT_ROWS : 2 * PILOT_ROWS])
        return
    for others in np.array_split(order, FOLDS):
        yield np.setdiff1d(order, others), np.sort(others)


class _Contest:
    """Log densities of rows under each likelihood, part by part; who is behind drops out."""

    def __init__(self, handicaps: FloatArray) -> None:
        self._handicaps = handicaps
        self.scores: list[list[FloatArray]] = [[] for _ in handicaps]
        self.left = list(range(len(handicaps)))

    def mean(self, k: int) -> float:
        """Return the mean log density per row."""
        return float(np.concatenate(self.scores[k]).mean())

    def best(self) -> int:
        """Return which of those that are left is best, all things considered."""
        return max(self.left, key=lambda k: self.mean(k) - self._handicaps[k])

    def is_decided(self, precise: float) -> bool:
        """Drop who is behind; tell whether more parts would not change the answer by much.

        That is, one is left, or two parts tell the leads of the best to within `precise`.
        """
        best, kept, errors = self.best(), [], []
        for k in self.left:
            lead = np.concatenate(self.scores[best]) - np.concatenate(self.scores[k])
            error = lead.std() / np.sqrt(len(lead))
            own = min(lead.mean(), lead.mean() - self._handicaps[best] + self._handicaps[k])
            if own <= BEHIND * error:
                kept.append(k)
                errors.append(error)
        self.left = kept
        return len(kept) == 1 or (len(self.scores[best]) > 1 and max(errors) < precise)

    def in_words(self, names: Sequence[str]) -> str:
        """Return what was found, the best first."""
        best = self.best()
        others = [k for k in range(len(names)) if k != best]
        told = [f"{names[best]} {self.mean(best):.2f}"]
        for k in sorted(others, key=self._lead_over):
            told.append(f"{names[k]} {self.mean(best) - self._lead_over(k):.2f}")
            if self._lead_over(k) < 0:
                told[-1] += " (better, but not enough for what depends on axes)"
        truly = all(self._lead_over(k) >= 0 for k in others)
        how = "predict new rows best" if truly else "are taken"
        return f"{names[best]} {how}, by log density per row: {'; '.join(told)}"

    def _lead_over(self, k: int) -> float:
        """Return by how much the best is better on the rows that both have predicted."""
        parts = len(self.scores[k])
        return float(np.concatenate(self.scores[self.best()][:parts]).mean()) - self.mean(k)


def ways_of(pilots: Sequence[Pilot]) -> Sequence[Way]:
    """Return the best ways to start that the first of some pilots has found; none if none is."""
    return pilots[0].ways if len(pilots) > 0 else ()


def first_pilot(
    explicit: Mixture, X: Data, new: Data, seed: np.random.SeedSequence, ways: Sequence[Way] = ()
) -> Pilot:
    """Return what a pilot over `X` says of new rows, from the best start that others find."""
    start, again = best_start(explicit, X, bind_family(explicit, X), seed, ways)
    found = pilot(explicit, X, new, start.labels, start.family.base, seed)
    return found._replace(ways=again)


def pilot(
    explicit: Mixture,
    X: Data,
    new: Data,
    labels: NDArray[np.int32],
    base: FloatArray,
    seed: np.random.SeedSequence,
) -> Pilot:
    """Return what a pilot over `X` says of new rows, from a partition and a base measure."""
    family, new_family = bind_family(explicit, X), bind_family(explicit, new)
    chain = make_chain(explicit, X, labels, np.random.PCG64(seed), Gibbs(), family.at(base))
    chain.iterate(WARMUP)
    total = np.full(new_family.n_rows, -np.inf)
    for _ in range(DRAWS):
        chain.iterate()
        np.logaddexp(total, _log_prediction(explicit, chain, family, new_family), out=total)
    log_densities = explicit.likelihood.row_constants(new) + total - np.log(DRAWS)
    return Pilot(np.asarray(log_densities), chain.state()["labels"], chain.base)


def _log_prediction(
    explicit: Mixture, chain: _core.Chain, family: _core.Family, new_family: _core.Family
) -> FloatArray:
    """Return the log density of each new row given the partition and values of a chain."""
    state = chain.state()
    # Statistics do not depend on the base measure.
    there = family.at(chain.base, chain.latent) if chain.latent_size else family
    new_there = new_family.at(chain.base)
    sizes = np.bincount(state["labels"])
    values = PriorValues(
        **{name: np.array([state[name]]) for name in ("log_u", "log_alpha", "sigma", "theta")}
    )
    weights = explicit.prior.predictive_weights(values, family.n_rows, np.array([len(sizes)]))
    statistics = there.cluster_statistics(state["labels"])
    table = new_there.log_predictive_table(statistics, 0, new_family.n_rows)
    table += weights.log_old(0, sizes)
    log_old = np.logaddexp.reduce(table, axis=1)
    return np.asarray(np.logaddexp(log_old, weights.log_new[0] + new_there.log_alone()))
