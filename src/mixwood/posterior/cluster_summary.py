"""What the clusters of a point estimate are like: their parameters, and how sure they are.

The clusters of a draw are not those of the estimate. The parameters of the estimate's cluster
``k`` are taken to be those of a random member: for each draw an item of ``k`` is chosen at random,
and parameters are drawn given the items of that draw's cluster that holds it. So the intervals
know both uncertainties, that of the partition and that of the parameters, and they are exact in
this sense: a random member's own parameters lie in them with the probability that they state.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import probability, shown, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood.likelihoods.base import Column
from mixwood.posterior.membership import certainty
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
    "describe",
    "parameter_estimates",
]

#: How many numbers of statistics are held at a time.
_NUMBERS_AT_ONCE = 2**24

#: How many words say what a cluster is about.
_TOP_WORDS = 8


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
    for drawn in _parameter_draws(draws, estimate, seed, n_draws):
        for name, values in (transform(drawn) if transform else drawn).items():
            low, high = np.quantile(values, [tail, 1 - tail], axis=0)
            summary = values.mean(axis=0), values.std(axis=0), low, high
            rows.setdefault(name, []).append(summary)
    return {
        name: ParameterEstimate(*(np.stack(column) for column in zip(*each, strict=True)))
        for name, each in rows.items()
    }


def _parameter_draws(
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


def describe(
    draws: Draws, estimate: IntArray, *, words: Any, level: float, seed: Any, n_draws: int
) -> Any:
    """Return a table with one row per cluster; see `Posterior.describe`."""
    names = _column_names(draws, words)
    estimates = parameter_estimates(
        draws, estimate, level=level, seed=seed, n_draws=n_draws, transform=_shown_parameters
    )
    pandas = importlib.import_module("pandas")  # only now: heavy; and it has no types to check
    sizes = np.bincount(estimate, draws.item_sizes).astype(np.int64)
    sure = np.bincount(estimate, draws.item_sizes * certainty(draws, estimate)) / sizes
    table: dict[str, Any] = {"size": sizes, "certainty": sure}
    groups = draws.resolved.described_columns(names)
    for key, value in estimates.items():
        prefix, name = _parted(key)
        columns = groups[prefix]
        if name == "words":
            table |= _word_columns(value, columns, prefix)
        elif name == "categories":
            table |= _category_columns(value, columns)
        else:
            table |= _number_columns(value, columns, name)
    index = pandas.RangeIndex(len(table["size"]), name="cluster")
    return pandas.DataFrame(table, index=index)


def _parted(key: str) -> tuple[str, str]:
    """Return what the name of a parameter begins with, where parts have their own, and the rest."""
    before, colon, name = key.rpartition(": ")
    return before + colon, name


def _shown_parameters(parameters: Parameters) -> Parameters:
    """Return what a table shows: standard deviations instead of covariances, one per column."""
    result = {}
    for key, values in parameters.items():
        prefix, name = _parted(key)
        if name == "covariance":
            result[f"{prefix}sd"] = np.sqrt(np.diagonal(values, axis1=1, axis2=2))
        elif name == "variance":
            spread = np.sqrt(values if values.ndim == 2 else values[:, None])
            result[f"{prefix}sd"] = np.broadcast_to(spread, parameters[f"{prefix}mean"].shape)
        elif name == "probabilities":
            result[prefix + ("words" if values.ndim == 2 else "categories")] = values
        else:
            result[key] = values
    return result


def _with_ends(name: str, value: ParameterEstimate, *place: Any) -> dict[str, Any]:
    """Return the mean of a parameter and the ends of its interval, as three columns."""
    ends = {"": value.mean, " low": value.lower, " high": value.upper}
    return {f"{name}{end}": values[:, *place] for end, values in ends.items()}


def _number_columns(value: ParameterEstimate, columns: list[Column], name: str) -> dict[str, Any]:
    table: dict[str, Any] = {}
    if value.mean.shape[1] != len(columns):  # of a user's family: as many as it likes
        columns = [Column(f"{j}") for j in range(value.mean.shape[1])]
    for j, (column, known) in enumerate(columns):
        # of truth values and the like, the probability of the second
        title = column if known is None or len(known) < 2 else f"{column} = {known[1]}"
        table |= _with_ends(f"{title} {name}", value, j)
    return table


def _word_columns(value: ParameterEstimate, columns: list[Column], prefix: str) -> dict[str, Any]:
    """Return the most probable words of each cluster, and the probability of the first."""
    order = np.argsort(-value.mean, axis=1, kind="stable")[:, :_TOP_WORDS]
    rows = np.arange(len(order))
    first = ParameterEstimate(*(values[rows, order[:, 0]][:, None] for values in value))
    words = [", ".join(columns[v].name for v in row) for row in order]
    return {f"{prefix}words": words} | _with_ends(f"{prefix}first word probability", first, 0)


def _category_columns(value: ParameterEstimate, columns: list[Column]) -> dict[str, Any]:
    """Return the most probable category of each column, and its probability."""
    table: dict[str, Any] = {}
    for j, column in enumerate(columns):
        mode = value.mean[:, j].argmax(axis=1)
        rows = np.arange(len(mode))
        table[f"{column.name} mode"] = (
            mode if column.categories is None else [column.categories[code] for code in mode]
        )
        likeliest = ParameterEstimate(*(values[rows, j, mode][:, None] for values in value))
        table |= _with_ends(f"{column.name} probability", likeliest, 0)
    return table


def _column_names(draws: Draws, words: Any) -> Sequence[str]:
    width = draws.data_for("describe").shape[1]
    if words is None:
        return draws.column_names
    try:
        names = None if isinstance(words, str) else [str(word) for word in words]
    except Exception:  # it is nothing to go through
        names = None
    if names is None or len(names) != width:
        raise ValueError(f"words must be {width} names, one per column of X, got {shown(words)}")
    return names
