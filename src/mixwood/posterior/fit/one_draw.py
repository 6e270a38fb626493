"""One draw, its data and replicates of them: what a check of fit compares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.posterior.fit.dependence import Dependence
from mixwood.posterior.fit.discrete import Binary, Categories, Counts, Words
from mixwood.posterior.fit.groups import MOST_COLUMNS, groups_of
from mixwood.posterior.fit.normal import Normal, independent_columns
from mixwood.posterior.fit.quantities import Blocks, Checked, Quantity
from mixwood.posterior.fit.relation import Relation
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

__all__ = ["Gathered", "OneDraw"]

#: How many replicates of the data.
REPLICATES = 50
#: How many entries of the data are looked at, and how many rows at most.
_ENTRIES, _ROWS = 40_000, 2000


@dataclass
class Gathered:
    """What all draws say about one quantity."""

    observed: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    replicated: list[FloatArray] = field(default_factory=list)
    columns: list[tuple[int, ...]] = field(default_factory=list)
    clusters: list[tuple[int, ...]] = field(default_factory=list)
    two: int = 0  # in how many draws the cluster has two humps


@dataclass
class OneDraw:
    """One draw: complete rows, in the order of their groups, and the parameters of these."""

    draws: Draws
    rows: FloatArray
    blocks: Blocks
    items: IntArray  # which rows of the data they are
    groups: IntArray  # the group of every row of the data
    parameters: Parameters
    parts: list[Checked]
    dependence: Dependence | None
    chains: list[int]  # the groups that are chains of clusters

    @classmethod
    def of(cls, draws: Draws, at: int, rng: np.random.Generator) -> OneDraw:
        """Take one of all draws, put its clusters together, and draw their parameters."""
        X: Any = draws.X
        chosen = np.array([at])
        labels = flat_labels(draws)[at].astype(np.int64)
        base = flat_bases(draws, chosen)
        latent = flat_latents(draws, chosen)

        def parameters_of(partition: IntArray, times: int = 1) -> Parameters:
            clusters = DistinctClusters.apart(
                partition[None].astype(np.int32), draws.item_sizes, latent
            )
            family = draws.family_for("check_fit")
            statistics = clusters.statistics_of(family, np.arange(len(clusters)))
            own = None if base is None else np.repeat(base, len(statistics) * times, axis=0)
            return draws.resolved.draw_parameters(np.tile(statistics, (times, 1)), rng, own)

        columns = _columns(draws)
        whole = _one_normal(columns, draws)
        chains: list[int] = []
        if whole:
            labels, chains = _grouped(draws, labels, parameters_of, latent)
        parameters = parameters_of(labels)
        items = _some_rows(X, rng)
        items = items[np.argsort(labels[items], kind="stable")]
        blocks = Blocks(labels[items])
        rows = _complete(draws, items, labels, parameters, latent, rng)
        exposures = draws.resolved.exposures_in(rows) if isinstance(X, np.ndarray) else {}
        relations = draws.resolved.relations_in(rows) if isinstance(X, np.ndarray) else {}
        parts = checked_parts(parameters, columns, blocks, exposures, relations)
        dependence = Dependence(parts, rows, blocks) if isinstance(rows, np.ndarray) else None
        return cls(draws, rows, blocks, items, labels, parameters, parts, dependence, chains)

    @property
    def quantities(self) -> list[Quantity]:
        """What is looked at."""
        own = [quantity for part in self.parts for quantity in part.quantities]
        return own + ([] if self.dependence is None else self.dependence.quantities)

    def compared(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return scores and values of the data, first, and of replicates, (1 + R, quantities)."""
        found = [self._measured(self.rows)]
        found += [self._measured(self._replicate(rng)) for _ in range(REPLICATES)]
        scores, values = zip(*found, strict=True)
        return np.array(scores), np.array(values)

    def _replicate(self, rng: np.random.Generator) -> FloatArray:
        labels = self.blocks.labels
        if self.draws.resolved.has_row_totals:
            totals = np.asarray(self.rows.sum(axis=1)).ravel().astype(np.int64)
            chances = self.parameters["probabilities"][labels]
            drawn = rng.multinomial(totals, chances / chances.sum(axis=1, keepdims=True))
            return drawn.astype(np.float64)
        rows: Any = self.draws.resolved.draw_rows(self.parameters, labels, rng, like=self.rows)
        return np.asarray(rows)

    def _measured(self, rows: FloatArray) -> tuple[list[float], list[float]]:
        scores: list[float] = []
        values: list[float] = []
        for one in (*self.parts, self.dependence):
            if one is not None:
                own = one.measure(rows)
                scores += own[0]
                values += own[1]
        return scores, values

    def add_to(
        self,
        gathered: dict[Quantity, Gathered],
        scores: FloatArray,
        values: FloatArray,
        estimate: IntArray,
    ) -> None:
        """Add what this draw says about each quantity."""
        spread = scores[1:].std(axis=0)
        standard = (scores[0] - scores[1:].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        where = {name: c for part in self.parts for name, c in part.responsible(self.rows).items()}
        for k, quantity in enumerate(self.quantities):
            one = gathered.setdefault(quantity, Gathered())
            one.observed.append(float(values[0, k]))
            one.scores.append(float(standard[k]))
            one.replicated.append(values[1:, k])
            pair = quantity.name == "dependence" and self.dependence is not None
            one.columns.append(
                self.dependence.pair(self.rows) if pair and self.dependence else quantity.columns
            )
            group, humps = where.get(quantity.name, (None, False))
            one.clusters.append(() if group is None else self._clusters_in(group, estimate))
            one.two += humps

    def _clusters_in(self, group: int, estimate: IntArray) -> tuple[int, ...]:
        """Return the clusters of the estimate, most of whose rows are in a group of the draw."""
        inside = np.bincount(estimate, self.groups == group)
        rows = np.bincount(estimate)
        mostly = np.flatnonzero((inside > rows / 2) & (rows >= 2))
        return tuple(int(k) for k in mostly) or (int(inside.argmax()),)

    def chains_in(self, estimate: IntArray) -> list[tuple[int, ...]]:
        """Return the clusters of the estimate that the largest chain of the draw covers."""
        if not self.chains:
            return []
        sizes = np.bincount(self.groups)
        return [self._clusters_in(max(self.chains, key=lambda group: int(sizes[group])), estimate)]

    def ties(self) -> dict[int, float]:
        """Return how probable it is that two rows of one cluster are equal in a column.

        Only of columns that the model takes for continuous: in others ties are no wonder.
        """
        X: Any = self.draws.X
        found = {}
        pairs = float((self.blocks.sizes * (self.blocks.sizes - 1.0)).sum())
        for part in self.parts:
            if not isinstance(part, Normal) or pairs == 0:
                continue
            for j in part.columns:
                given = X[self.items, j]
                own = np.column_stack([self.blocks.labels, given])[np.isfinite(given)]
                counts = np.unique(own, axis=0, return_counts=True)[1]
                found[j] = float((counts * (counts - 1.0)).sum() / pairs)
        return found


def _columns(draws: Draws) -> dict[str, list[int]]:
    """Return the columns that parameters are about, by what the names of these begin with.

    None where parameters are about something else, such as the relation between columns.
    """
    X: Any = draws.X
    names = [str(j) for j in range(X.shape[1])]
    groups = draws.resolved.described_columns(names)
    return {
        prefix: [int(column.name) for column in own if column.name in names]
        for prefix, own in groups.items()
    }


def _one_normal(columns: dict[str, list[int]], draws: Draws) -> bool:
    """Tell whether all columns are normal together, and few enough to look for groups."""
    X: Any = draws.X
    return len(columns) == 1 and X.shape[1] <= MOST_COLUMNS and draws.resolved.continuous


def _grouped(
    draws: Draws, labels: IntArray, parameters_of: Any, latent: FloatArray | None
) -> tuple[IntArray, list[int]]:
    """Return the groups that a reader sees among normal clusters, and those that are chains."""
    times = 16
    K = int(labels.max()) + 1
    drawn = parameters_of(labels, times)
    mean = drawn["mean"].reshape(times, K, -1).mean(axis=0)
    if "covariance" in drawn:
        covariance = drawn["covariance"].reshape(times, K, *drawn["covariance"].shape[1:])
        covariance = covariance.mean(axis=0)
    else:
        variance = drawn["variance"].reshape(times, K, -1).mean(axis=0)
        covariance = np.broadcast_to(variance, mean.shape)[:, :, None] * np.eye(mean.shape[1])
    kept = independent_columns(covariance)
    filled = _with_drawn(draws, latent)
    filled = np.where(np.isnan(filled), mean[labels], filled)
    least = max(2, -(-len(labels) // 200))
    groups, chains = groups_of(
        filled[:, kept], labels, mean[:, kept], covariance[:, kept[:, None], kept], least
    )
    return groups, [int(groups[np.argmax(labels == chain[0])]) for chain in chains]


def _with_drawn(draws: Draws, latent: FloatArray | None) -> FloatArray:
    """Return the data with the missing entries that the draw has."""
    X: Any = draws.X
    if latent is None:
        return np.asarray(X)
    filled = np.array(X)
    filled[draws.resolved.missing_entries(X)] = draws.resolved.drawn_entries(X, latent[0])
    return filled


def _some_rows(X: Any, rng: np.random.Generator) -> IntArray:
    """Return all rows, or a sample: as many as there is time for."""
    most = min(_ROWS, max(_ENTRIES // X.shape[1], 100))
    n = int(X.shape[0])
    return np.arange(n) if n <= most else rng.choice(n, most, replace=False)


def _complete(
    draws: Draws,
    items: IntArray,
    labels: IntArray,
    parameters: Parameters,
    latent: FloatArray | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Return some rows; what is missing in them is drawn, as it is part of the model's draw."""
    X: Any = draws.X
    if not isinstance(X, np.ndarray):
        return np.asarray(X[items].toarray())
    rows = _with_drawn(draws, latent)[items]
    missing = np.isnan(rows)
    if missing.any():
        drawn: Any = draws.resolved.draw_rows(parameters, labels[items], rng, like=rows)
        rows = np.where(missing, drawn, rows)
    return rows


def checked_parts(
    parameters: Parameters,
    columns: dict[str, list[int]],
    blocks: Blocks,
    exposures: dict[str, FloatArray],
    relations: dict[str, tuple[int, tuple[int, ...]]],
) -> list[Checked]:
    """Return what can be checked, by the names of the parameters.

    `columns`, the `exposures` of counts and the targets of `relations` are by part.
    """
    parts: list[Checked] = []
    for prefix, places in columns.items():
        own = {
            key.removeprefix(prefix): values
            for key, values in parameters.items()
            if key.startswith(prefix)
        }
        if "mean" in own and ("covariance" in own or "variance" in own):
            parts.append(Normal(own, places, blocks))
        elif "rate" in own and own["rate"].shape[1] == len(places):
            given = own.get("size"), exposures.get(prefix)
            parts.append(Counts(own["rate"], places, blocks, *given))
        elif "probability" in own and own["probability"].shape[1] == len(places):
            parts.append(Binary(own["probability"], places, blocks))
        elif "probabilities" in own and own["probabilities"].ndim == 3:
            parts.append(Categories(own["probabilities"], places, blocks))
        elif "probabilities" in own:
            parts.append(Words())
        elif "parameters" in own and prefix in relations:
            parts.append(Relation(own["parameters"], *relations[prefix], blocks))
    return parts
