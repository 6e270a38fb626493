"""What the clusters of a point estimate are like: their parameters, with uncertainty.

The clusters of a draw are not those of the estimate. The parameters of the estimate's cluster
``k`` are taken to be those of a random member: for each draw an item of ``k`` is chosen at random,
and parameters are drawn given the items of that draw's cluster that holds it. So the intervals
know both uncertainties, that of the partition and that of the parameters, and they are exact in
this sense: a random member's own parameters lie in them with the probability that they state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import probability, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood.posterior.predictive_mixture import (
    DistinctClusters,
    flat_bases,
    flat_labels,
    flat_latents,
)

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.likelihoods.base import Parameters
    from mixwood.posterior.draws import Draws

__all__ = [
    "ParameterEstimate",
    "parameter_draws",
    "parameter_estimates",
    "parted",
]

#: How many numbers of statistics are held at a time.
_NUMBERS_AT_ONCE = 2**24


class ParameterEstimate(NamedTuple):
    """A parameter of every cluster; each array's first axis is that of the clusters.

    Attributes
    ----------
    mean, sd : array of shape (K, ...)
        Posterior mean and standard deviation.
    lower, upper : array of shape (K, ...)
        The ends of the central credible interval.
    """

    mean: FloatArray
    sd: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __repr__(self) -> str:
        return f"<mixwood.ParameterEstimate: mean, sd, lower, upper; each {self.mean.shape}>"


def parameter_estimates(
    draws: Draws,
    estimate: IntArray,
    *,
    level: float,
    seed: Any,
    n_draws: int,
    transform: Callable[[Parameters], Parameters] | None = None,
) -> dict[str, ParameterEstimate]:
    """Summarize the parameters of each cluster of `estimate`; see `Posterior.cluster_parameters`.

    `transform` makes other quantities of the drawn parameters, which are then summarized.
    """
    tail = (1 - probability(level, "level")) / 2
    rows: dict[str, list[tuple[FloatArray, ...]]] = {}
    for drawn in parameter_draws(draws, estimate, seed, n_draws):
        for name, values in (transform(drawn) if transform else drawn).items():
            low, high = np.quantile(values, [tail, 1 - tail], axis=0)
            summary = values.mean(axis=0), values.std(axis=0), low, high
            rows.setdefault(name, []).append(summary)
    return {
        name: ParameterEstimate(*(np.stack(column) for column in zip(*each, strict=True)))
        for name, each in rows.items()
    }


def parameter_draws(
    draws: Draws, estimate: IntArray, seed: Any, n_draws: int
) -> Iterator[Parameters]:
    """Yield draws of the parameters of each cluster of `estimate` in turn."""
    wanted = whole_number(n_draws, "draws", at_least=1)
    family = draws.family_for("a summary of cluster parameters")
    rng = np.random.default_rng(seed_sequence(seed))
    labels = flat_labels(draws)
    kept = np.linspace(0, len(labels) - 1, min(wanted, len(labels))).round().astype(int)
    labels, base = labels[kept], flat_bases(draws, kept)
    clusters = DistinctClusters.among(labels, draws.item_sizes, flat_latents(draws, kept))
    rows = np.arange(len(labels))
    K = int(estimate.max()) + 1
    at_once = max(_NUMBERS_AT_ONCE // (family.statistic_size * len(labels)), 1)
    for start in range(0, K, at_once):
        ids = []
        for k in range(start, min(start + at_once, K)):
            members = _drawn_members(np.flatnonzero(estimate == k), draws, len(labels), rng)
            ids.append(clusters.ids[clusters.starts[:-1] + labels[rows, members]])
        distinct, place = np.unique(np.concatenate(ids), return_inverse=True)
        statistics = clusters.statistics_of(family, distinct)
        for chosen in np.split(place, len(ids)):
            yield draws.resolved.draw_parameters(statistics[chosen], rng, base)


def _drawn_members(
    members: IntArray, draws: Draws, size: int, rng: np.random.Generator
) -> IntArray:
    """Draw items, as often as they stand for rows."""
    weights = draws.item_sizes[members]
    if weights.min() == weights.max():
        return rng.choice(members, size=size)
    return rng.choice(members, size=size, p=weights / weights.sum())


def parted(key: str) -> tuple[str, str]:
    """Return what the name of a parameter begins with, where parts have their own, and the rest."""
    before, colon, name = key.rpartition(": ")
    return before + colon, name
