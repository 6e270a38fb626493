"""Whether the chains have converged, in plain words.

The rule is that of Vehtari et al. (2021), *Rank-normalization, folding, and localization: an
improved R-hat*: R-hat at most 1.01, and effective sample sizes of at least 100 per chain.

Numbers are not all: chains may have equally many clusters, equally likely, of different rows. So
the partitions are compared as well. Their distances from the last partition of each chain are
numbers, which have the same distribution in all chains that agree, and R-hat judges those too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.partitions import losses
from mixwood.posterior.summary import diagnostics

if TYPE_CHECKING:
    from mixwood.posterior.posterior import Posterior

__all__ = ["Verdict", "judge"]

_GOOD_R_HAT, _FAIR_R_HAT = 1.01, 1.05
_ENOUGH_A_CHAIN, _FEW = 100, 100
#: Partitions are compared in at most this many draws of each chain, and on this many rows.
_DRAWS_COMPARED, _ROWS_COMPARED = 1000, 500
#: And differ if R-hat is above this: the largest of several is above 1.05 easily in short chains.
_APART_R_HAT = 1.1


@dataclass(frozen=True)
class Verdict:
    """What to make of a run.

    Attributes
    ----------
    level : {"good", "fair", "poor", "unknown"}
    headline, explanation : str
        In plain words.
    r_hat : float
        The largest over all quantities; NaN if none is defined.
    differs : str
        The quantity that has it, in words: where the chains differ most.
    effective_draws : float
        The smallest effective sample size, bulk or tail.
    draws_advised : int or None
        How many draws per chain would probably be enough; None if these are.
    """

    level: str
    headline: str
    explanation: str
    r_hat: float
    differs: str
    effective_draws: float
    draws_advised: int | None


def judge(posterior: Posterior, summary: Any = None) -> Verdict:
    """Judge the chains of a posterior.

    Parameters
    ----------
    posterior : Posterior
    summary : pandas.DataFrame, optional
        Its `Posterior.summary`, if it has been computed already.

    Examples
    --------
    >>> import mixwood as mw
    >>> post = mw.sample(mw.Mixture(), [[0.0], [0.1], [9.0]], draws=50, chains=1, seed=1,
    ...                  progress=False)
    >>> judge(post).level
    'unknown'
    """
    table = posterior.summary() if summary is None else summary
    r_hats = _r_hats(posterior, table)
    differs = max(r_hats, key=r_hats.__getitem__, default="")
    r_hat = r_hats.get(differs, float("nan"))
    effective = _effective(posterior, table)
    level = _level(posterior, r_hat, effective)
    return Verdict(
        level,
        *_in_words(posterior, level, r_hat, differs),
        r_hat,
        differs,
        effective,
        _advised(posterior, level, effective),
    )


def _in_words(posterior: Posterior, level: str, r_hat: float, differs: str) -> tuple[str, str]:
    """Return headline and explanation."""
    headline, explanation = _WORDS[level]
    if level == "poor" and r_hat <= _FAIR_R_HAT:
        return _TOO_FEW
    if level == "poor":
        return headline, f"They differ most in {differs}. {explanation}"
    if level == "unknown" and posterior.n_chains == 1:
        explanation = "A single chain cannot show whether it has converged: run several."
    return headline, explanation


_WORDS = {
    "good": (
        "The chains agree.",
        "They tell the same story, and there are enough effective draws to trust probabilities.",
    ),
    "fair": (
        "The chains nearly agree.",
        "What nearly all draws share can be trusted; other probabilities are rough.",
    ),
    "poor": (
        "The chains do not agree.",
        "They have not explored the same answers yet: take this as provisional, and run longer.",
    ),
    "unknown": (
        "Convergence cannot be judged.",
        "There are too few draws to compare the chains.",
    ),
}
#: What the rows of `Posterior.summary` are called in a sentence; others by their names.
_QUANTITIES = {
    "n_clusters": "the number of clusters",
    "log_joint": "the joint density",
    "width": "the width of the clusters",
}
_PARTITIONS = "which rows belong together"
#: Instead, where no two chains differ much.
_TOO_FEW = (
    "There are too few effective draws.",
    "The chains are near each other, but move slowly: take this as provisional, and run longer.",
)


def _level(posterior: Posterior, r_hat: float, effective: float) -> str:
    if posterior.n_chains == 1 or np.isnan(r_hat) or np.isnan(effective):
        return "unknown"
    if r_hat <= _GOOD_R_HAT and effective >= _ENOUGH_A_CHAIN * posterior.n_chains:
        return "good"
    return "fair" if r_hat <= _FAIR_R_HAT and effective >= _FEW else "poor"


def _advised(posterior: Posterior, level: str, effective: float) -> int | None:
    """Return how many draws would make the effective ones enough: two to ten times as many."""
    if level == "good":
        return None
    wanted = _ENOUGH_A_CHAIN * posterior.n_chains
    factor = wanted / effective if effective > 0 else 2.0  # an undefined one is not above 0 either
    draws = posterior.n_draws * min(max(factor, 2.0), 10.0)
    return 100 * int(np.ceil(draws / 100))


def _r_hats(posterior: Posterior, table: Any) -> dict[str, float]:
    """Return R-hat of each quantity, in words, that has one; 1 where nothing varies."""
    found = {
        _QUANTITIES.get(name, name): 1.0 if row["sd"] == 0 else float(row["r_hat"])
        for name, row in table.iterrows()
    }
    found[_PARTITIONS] = _partition_r_hat(posterior)
    return {name: value for name, value in found.items() if not np.isnan(value)}


def _partition_r_hat(posterior: Posterior) -> float:
    """Return the largest R-hat of the distances from the last partition of a chain.

    NaN where it is nothing to speak of.
    """
    every = -(-posterior.n_draws // _DRAWS_COMPARED)
    rows = np.unique(np.linspace(0, posterior.n_items - 1, _ROWS_COMPARED).astype(np.int64))
    labels = np.asarray(posterior.labels[:, every - 1 :: every])[..., rows]
    worst = float("nan")
    for last in labels[:, -1]:
        distances = losses(labels, last)
        worst = float(np.fmax(worst, diagnostics(distances)[2]))
    return worst if worst > _APART_R_HAT else float("nan")


def _effective(posterior: Posterior, table: Any) -> float:
    """Return the smallest effective sample size; where nothing varies, all draws count."""
    total = posterior.n_chains * posterior.n_draws
    numbers = np.where(table[["sd"]] == 0, total, table[["ess_bulk", "ess_tail"]])
    return float("nan") if np.all(np.isnan(numbers)) else float(np.nanmin(numbers))
