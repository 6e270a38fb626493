"""Whether the model fits: the data against what the model itself would have made.

A posterior predictive check, draw by draw. Given the partition and the parameters of a draw, each
row is drawn anew from its cluster, again and again, and quantities of the data are compared with
those of such replicates. Under the model, data, partition and parameters are a draw from their
joint law, hence the data are one more replicate: the largest of all standardized quantities has a
uniform rank among those of the replicates, and a right model fails one check in twenty, however
many columns and quantities there are. (Averaged over draws before it is ranked, as usual, it would
fail far fewer: parameters follow the data, and such probabilities are near 1/2.) Of several draws
the median of the ranks decides, so that no single odd draw does.

The clusters are put together as a reader sees them first, see `fit_groups`: a mixture of normals
fits every density, by clusters that are none.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.seeding import seed_sequence
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.posterior.fit.one_draw import Gathered, OneDraw
from mixwood.posterior.fit.quantities import Quantity
from mixwood.posterior.fit.words import Miss, in_words
from mixwood.posterior.predictive_mixture import flat_labels

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["FitCheck", "check_fit"]

#: How many draws.
DRAWS = 5
#: The rate at which right models fail.
LEVEL = 0.05
#: Two rows of one cluster that are equal with this probability or more are ties that matter: values
#: rounded to a quarter of the standard deviation within clusters, `1/(2 sqrt(pi))` of it being the
#: probability. Finer rounding adds less than half a percent to the variance (Sheppard's `h^2/12`).
TIES = 0.07


@dataclass(frozen=True, eq=False, repr=False)
class FitCheck:
    """Whether a model fits, from `Posterior.check_fit`.

    Attributes
    ----------
    ok : bool
        Whether everything is as the model expects.
    sentence : str
        The same in words: what the model misses, if anything.
    probability : float
        How probable it is that data which the model itself has made look at least as odd, all
        columns and quantities taken together; ties apart.
    table : pandas.DataFrame
        One row per quantity, the oddest first: ``quantity``, ``column`` (all where empty),
        ``observed``, ``expected``, ``low`` and ``high`` (95% of replicated data are between),
        ``score``, the distance from the replicates' mean in their standard deviations (of ties,
        which replicates do not have, the probability over 2%, times the limit), and ``missed``.
    misses : tuple of str
        What the sentence names, in a word or two each: ``"tails"``, ``"two groups"``, ...
    limit : float
        In one of twenty replicated data sets the largest score of all is beyond this.
    """

    ok: bool
    sentence: str
    probability: float
    table: Any
    misses: tuple[str, ...] = ()
    limit: float = np.inf

    def __repr__(self) -> str:
        return f"<mixwood.FitCheck: {self.sentence}>"


def check_fit(draws: Draws, estimate: IntArray, names: Sequence[str], seed: Any = 0) -> FitCheck:
    """Return whether the model fits; see `Posterior.check_fit`.

    Parameters
    ----------
    draws : Draws
        With data.
    estimate : int array of shape (n,)
        By whose numbers clusters are named.
    names : sequence of str
        Of the columns.
    seed : int, SeedSequence, Generator or None
    """
    X = draws.data_for("check_fit")
    if isinstance(X, WeightedLeaves):
        raise ValueError(
            "check_fit compares single rows with what the model expects of them: weighted leaves, "
            "and rows with weights=, have none"
        )
    rng = np.random.default_rng(seed_sequence(seed))
    labels = flat_labels(draws)
    kept = np.linspace(0, len(labels) - 1, min(DRAWS, len(labels))).round().astype(np.int64)
    gathered: dict[Quantity, Gathered] = {}
    worst: list[float] = []
    of_replicates: list[FloatArray] = []
    tied: dict[int, float] = {}
    chains: list[tuple[int, ...]] = []
    for at in kept:
        one = OneDraw.of(draws, int(at), rng)
        if not one.quantities:
            continue
        scores, values = one.compared(rng)
        # The data are one of the replicates, also when these are standardized: so ranks are exact.
        scale = scores.std(axis=0)
        standard = np.abs(scores - scores.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
        largest = standard.max(axis=1)
        worst.append(float(largest[0]))
        of_replicates.append(largest[1:])
        one.add_to(gathered, scores, values, estimate)
        tied = tied or one.ties()
        chains += one.chains_in(estimate)
    probability = _rank(np.array(worst), np.concatenate(of_replicates)) if worst else 1.0
    limit = float(np.quantile(np.concatenate(of_replicates), 1 - LEVEL)) if worst else np.inf
    found = _judged(gathered, probability < LEVEL, limit, len(worst), chains)
    far = (limit if np.isfinite(limit) else 1.0) / TIES  # so that marks of ties are beyond it, too
    found += [
        Miss(Quantity("ties", (j,)), share, 0.0, 0.0, 0.0, far * share, share >= TIES, (j,), ())
        for j, share in tied.items()
    ]
    missed = [miss for miss in found if miss.missed]
    sentence, kinds = in_words(missed, names, nothing=not found)
    return FitCheck(not missed, sentence, probability, _table(found, names), kinds, limit)


def _rank(worst: FloatArray, replicates: FloatArray) -> float:
    """Return the rank of the data among the replicates, from 0 to 1: the median of all draws'."""
    ranks = (1 + (replicates >= worst[:, None]).sum(axis=1)) / (1 + len(replicates))
    return float(np.median(ranks))


def _judged(
    gathered: dict[Quantity, Gathered],
    some: bool,
    limit: float,
    n_draws: int,
    chains: list[tuple[int, ...]],
) -> list[Miss]:
    """Return all quantities, and which are missed: if `some` are, those beyond the limit."""
    found = []
    chain = max(set(chains), key=chains.count) if 2 * len(chains) > n_draws else ()
    for quantity, one in gathered.items():
        replicated = np.concatenate(one.replicated)
        low, high = np.quantile(replicated, [0.025, 0.975])
        score = float(np.median(one.scores)) if 2 * len(one.scores) > n_draws else 0.0
        columns = max(set(one.columns), key=one.columns.count)
        clusters = max(set(one.clusters), key=one.clusters.count)
        found.append(
            Miss(
                quantity,
                float(np.mean(one.observed)),
                float(replicated.mean()),
                float(low),
                float(high),
                score,
                False,
                columns,
                clusters,
                2 * one.two > n_draws,
                chain,
            )
        )
    if some:
        most = max(abs(miss.score) for miss in found)
        found = [miss._replace(missed=abs(miss.score) >= min(limit, most)) for miss in found]
    return found


def _column(miss: Miss, names: Sequence[str]) -> str:
    """Return which column it is, or the two that go together; nothing where it is all of them."""
    few = len(miss.columns) == 1 or miss.quantity.name == "dependence"
    return " and ".join(names[j] for j in miss.columns) if few else ""


def _table(found: list[Miss], names: Sequence[str]) -> Any:
    pandas = importlib.import_module("pandas")  # only now: heavy; and it has no types to check
    rows = [
        (
            miss.quantity.name, _column(miss, names), miss.observed, miss.expected,
            miss.low, miss.high, miss.score, miss.missed,
        )
        for miss in sorted(found, key=lambda miss: (not miss.missed, -abs(miss.score)))
    ]  # fmt: skip
    titles = ["quantity", "column", "observed", "expected", "low", "high", "score", "missed"]
    return pandas.DataFrame(rows, columns=titles)
