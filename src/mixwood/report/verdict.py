"""Whether the chains have converged, in plain words.

The rule is that of Vehtari et al. (2021), *Rank-normalization, folding, and localization: an
improved R-hat*: R-hat at most 1.01, and effective sample sizes of at least 100 per chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mixwood.posterior.posterior import Posterior

__all__ = ["Verdict", "judge"]

_GOOD_R_HAT, _FAIR_R_HAT = 1.01, 1.05
_ENOUGH_A_CHAIN, _FEW = 100, 100


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
    effective_draws : float
        The smallest effective sample size, bulk or tail.
    draws_advised : int or None
        How many draws per chain would probably be enough; None if these are.
    """

    level: str
    headline: str
    explanation: str
    r_hat: float
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
    r_hat = _extreme(table, "r_hat", np.nanmax, 1.0)
    total = posterior.n_chains * posterior.n_draws
    effective = min(_extreme(table, name, np.nanmin, total) for name in ("ess_bulk", "ess_tail"))
    level = _level(posterior, r_hat, effective)
    headline, explanation = _WORDS[level]
    if level == "poor" and r_hat <= _FAIR_R_HAT:
        headline, explanation = _TOO_FEW
    if level == "unknown":
        explanation = (
            "A single chain cannot show whether it has converged: run several."
            if posterior.n_chains == 1
            else "There are too few draws to compare the chains."
        )
    return Verdict(
        level, headline, explanation, r_hat, effective, _advised(posterior, level, effective)
    )


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
    "unknown": ("Convergence cannot be judged.", ""),
}
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


def _extreme(table: Any, column: str, choose: Any, constant: float) -> float:
    """Return the worst entry of a column; where nothing varies, there is nothing to worry about."""
    numbers = np.where(table["sd"] == 0, constant, table[column])
    return float("nan") if np.all(np.isnan(numbers)) else float(choose(numbers))
