"""Each cluster of a point estimate against the rest: what its profile and its markers are made of.

In every draw the parameters of a cluster are those of a random member, as in `cluster_summary`, and
the rest's are the mean of the other clusters' in the same draw, by their rows. The comparison is
made draw by draw, so that it knows how uncertain both the partition and the parameters are.

Effects have one unit for columns of every kind, the standard deviation of a single row: ::

    mean         (m_k - m_rest) / s         s: standard deviation within clusters
    rate         2 sqrt(r_k) - 2 sqrt(r_rest)                    (Poisson counts)
                 2 sqrt(s) (asinh sqrt(r_k/s) - asinh sqrt(r_rest/s))    (of the size s)
    probability  2 asin sqrt(p_k) - 2 asin sqrt(p_rest)          (Cohen's h)
    word         the same times sqrt(L)     L: the mean number of words in a row

the roots being those that make the variance of counts and shares constant. Of words it ranks by
distinctiveness: a frequent word that is everywhere has none, nor has a word that came once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import whole_number
from mixwood._support.seeding import seed_sequence
from mixwood.likelihoods.base import Column
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.posterior.cluster_summary import parameter_draws, parted

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.likelihoods.base import Parameters
    from mixwood.posterior.draws import Draws

__all__ = ["Contrast", "contrasts"]

#: How many numbers, of draws by columns, are held at a time.
_NUMBERS_AT_ONCE = 2**23


@dataclass(frozen=True)
class Contrast:
    """Columns with one kind of parameter, cluster by cluster; arrays are of shape (K, p).

    Attributes
    ----------
    kind : {"mean", "rate", "probability", "category", "word"}
    names : list of p str
        Of the columns, words, or categories: ``colour = red``.
    value, rest : array
        Posterior means of the parameter, of the cluster and of the rest.
    effect : array
        By how much they differ, in standard deviations of a row.
    probability : array
        That the cluster's is above the rest's.
    overall, spread : array of shape (p,)
        The mean of all rows, and the standard deviation about it: of rows, but for words that
        between clusters.
    others : list of p str, optional
        Of probabilities, what is left: ``smoker = no``; None where it has no name.
    """

    kind: str
    names: list[str]
    value: FloatArray
    rest: FloatArray
    effect: FloatArray
    probability: FloatArray
    overall: FloatArray
    spread: FloatArray
    others: list[str | None] | None = None

    @property
    def standardized(self) -> FloatArray:
        """How far each cluster is from the mean of all rows, in units of `spread`."""
        spread = np.where(self.spread > 0, self.spread, 1.0)
        return np.asarray((self.value - self.overall) / spread)


def contrasts(
    draws: Draws, estimate: IntArray, names: Sequence[str], *, seed: Any, n_draws: int
) -> list[Contrast]:
    """Return how each cluster of `estimate` compares with the rest, one entry per kind of column.

    Parameters
    ----------
    draws : Draws
        With data.
    estimate : int array of shape (n,)
    names : sequence of str
        Of the data's columns.
    seed : int, SeedSequence, Generator or None
    n_draws : int
        At most this many draws are used, fewer where there are very many columns.

    Returns
    -------
    list of Contrast
        Empty where the parameters of the likelihood are none of those that can be compared.
    """
    X: Any = draws.data_for("a comparison of clusters")
    if not draws.resolved.draws_parameters:
        return []
    most = whole_number(n_draws, "draws", at_least=1)
    most = min(most, max(_NUMBERS_AT_ONCE // X.shape[1], 20))
    sizes = np.bincount(estimate, draws.item_sizes)
    row_total = 1.0
    if draws.resolved.has_row_totals:
        counts = X.statistics if isinstance(X, WeightedLeaves) else X
        row_total = max(float(counts.sum() / sizes.sum()), 1.0)
    groups = draws.resolved.described_columns(names)
    sequence = seed_sequence(seed)  # the same draws in both passes

    def every() -> Iterator[dict[str, _Compared]]:
        for drawn in parameter_draws(draws, estimate, sequence, most):
            yield _compared(drawn, groups, row_total)

    totals = _Totals()
    for size, found in zip(sizes, every(), strict=True):
        totals.add(size, found)
    rows: dict[str, list[tuple[FloatArray, ...]]] = {key: [] for key in totals.parts}
    for size, found in zip(sizes, every(), strict=True):
        for key, part in found.items():
            rows[key].append(_against_rest(part, totals, key, size, float(sizes.sum())))
    return [
        _finished(totals.parts[key], [np.stack(column) for column in zip(*each, strict=True)],
                  totals.variance[key] / sizes.sum(), sizes / sizes.sum())
        for key, each in rows.items()
    ]  # fmt: skip


@dataclass(frozen=True)
class _Compared:
    """Draws of one kind of parameter of a cluster, (draws, p), and of the variance of rows."""

    kind: str
    names: list[str]
    values: FloatArray
    variance: FloatArray
    row_total: float = 1.0
    size: FloatArray | None = None  # of counts that vary more than Poisson's: m + m^2/size
    others: list[str | None] | None = None

    def scaled(self, values: FloatArray, sd: FloatArray) -> FloatArray:
        """Return parameters in standard deviations of a row, the same whatever their size."""
        if self.kind == "mean":
            return np.asarray(values / sd)
        if self.kind == "rate" and self.size is not None:
            return np.asarray(2 * np.sqrt(self.size) * np.arcsinh(np.sqrt(values / self.size)))
        if self.kind == "rate":
            return np.asarray(2 * np.sqrt(values))
        return np.asarray(2 * np.arcsin(np.sqrt(np.clip(values, 0, 1))) * np.sqrt(self.row_total))


class _Totals:
    """Sums over clusters, each times its rows."""

    def __init__(self) -> None:
        self.parts: dict[str, _Compared] = {}
        self.values: dict[str, FloatArray] = {}
        self.variance: dict[str, FloatArray] = {}

    def add(self, size: float, found: dict[str, _Compared]) -> None:
        for key, part in found.items():
            if key not in self.parts:
                self.parts[key] = part
                self.values[key] = np.zeros(part.values.shape)
                self.variance[key] = np.zeros(part.values.shape[1])
            self.values[key] += size * part.values
            self.variance[key] += size * part.variance


def _against_rest(
    part: _Compared, totals: _Totals, key: str, size: float, rows: float
) -> tuple[FloatArray, ...]:
    """Return value, rest, effect and probability of one cluster; without a rest, no difference."""
    own = part.values
    rest = (totals.values[key] - size * own) / (rows - size) if rows > size else own
    rest = np.maximum(rest, 0.0) if part.kind != "mean" else rest  # rounding
    variance = totals.variance[key] / rows
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    effect = part.scaled(own, sd) - part.scaled(rest, sd)
    above = (own > rest) + 0.5 * (own == rest)
    return own.mean(axis=0), rest.mean(axis=0), effect.mean(axis=0), above.mean(axis=0)


def _finished(
    part: _Compared, columns: list[FloatArray], within: FloatArray, shares: FloatArray
) -> Contrast:
    value, rest, effect, probability = columns
    overall = shares @ value
    between = shares @ (value - overall) ** 2
    spread = np.sqrt(between if part.kind == "word" else between + within)
    return Contrast(
        part.kind, part.names, value, rest, effect, probability, overall, spread, part.others
    )


def _compared(
    drawn: Parameters, groups: dict[str, list[Column]], row_total: float
) -> dict[str, _Compared]:
    """Return the parameters that can be compared, from draws of all of one cluster."""
    found: dict[str, _Compared] = {}
    for key, values in drawn.items():
        prefix, name = parted(key)
        columns = groups[prefix]
        if name == "probabilities" and values.ndim == 3:
            found[key] = _categories(values, columns)
        elif values.ndim == 2 and values.shape[1] == len(columns):
            if name == "mean":
                variance = _variance(drawn, prefix, values.shape[1])
                found[key] = _Compared("mean", [c.name for c in columns], values, variance)
            elif name == "rate":
                names = [column.name for column in columns]
                sizes = drawn.get(f"{prefix}size")
                size = None if sizes is None else sizes.mean(axis=0)
                over = values if sizes is None else values * (1 + values / sizes)
                found[key] = _Compared("rate", names, values, over.mean(axis=0), size=size)
            elif name == "probability":
                binary = (values * (1 - values)).mean(axis=0)
                others = _first(columns)
                found[key] = _Compared(
                    "probability", _second(columns), values, binary, others=others
                )
            elif name == "probabilities":
                words = [column.name for column in columns]
                none = np.zeros(values.shape[1])
                found[key] = _Compared("word", words, values, none, row_total)
    return found


def _variance(drawn: Parameters, prefix: str, width: int) -> FloatArray:
    """Return the mean over draws of the variance of each column within the cluster."""
    if f"{prefix}covariance" in drawn:
        diagonals = np.diagonal(drawn[f"{prefix}covariance"], axis1=1, axis2=2)
        return np.asarray(diagonals.mean(axis=0))
    variance = drawn.get(f"{prefix}variance")
    if variance is None:
        return np.zeros(width)
    return np.broadcast_to(variance.mean(axis=0), (width,)).copy()


def _second(columns: Sequence[Column]) -> list[str]:
    """Return what is probable: a column, or of truth values and the like the second."""
    return [
        name if known is None or len(known) < 2 else f"{name} = {known[1]}"
        for name, known in columns
    ]


def _first(columns: Sequence[Column]) -> list[str | None]:
    """Return what is probable if the second is not, where that has a name."""
    return [
        None if known is None or len(known) != 2 else f"{name} = {known[0]}"
        for name, known in columns
    ]


def _categories(values: FloatArray, columns: Sequence[Column]) -> _Compared:
    """Return one column for each category that is one: codes beyond a column's have no chance."""
    names, places = [], []
    real = values.max(axis=0) > 0
    for j, (name, known) in enumerate(columns):
        for code in np.flatnonzero(real[j]):
            category = code if known is None or code >= len(known) else known[code]
            names.append(f"{name} = {category}")
            places.append((j, code))
    own = values[:, [j for j, _ in places], [code for _, code in places]]
    return _Compared("category", names, own, (own * (1 - own)).mean(axis=0))
