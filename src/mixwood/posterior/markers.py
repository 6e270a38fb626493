"""What sets each cluster apart: the columns, words and categories in which it differs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import probability as checked_probability
from mixwood._support.checks import whole_number
from mixwood.posterior.contrasts import Contrast, contrasts

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["Marker", "find_markers", "markers_from", "markers_in_words", "markers_table"]

#: How the cluster's parameter is, if above the rest's and if below. What has no second word is
#: a marker only where it is above: that a word is missing tells little.
_WORDS = {
    "mean": ("high", "low"),
    "rate": ("high", "low"),
    "probability": ("often", "rarely"),
    "category": ("", None),
    "word": ("", None),
}
#: Effects below this part of a row's standard deviation are no markers, however sure they are.
LEAST_EFFECT = 0.2


class Marker(NamedTuple):
    """A column that sets a cluster apart; see `Posterior.markers` for its numbers."""

    column: str
    how: str
    value: float
    rest: float
    effect: float
    probability: float

    @property
    def text(self) -> str:
        """In words: "high length", "often smoker = yes", "colour = red", "neuron"."""
        return f"{self.how} {self.column}".strip()


def find_markers(
    draws: Draws,
    estimate: IntArray,
    names: Sequence[str],
    *,
    most: int = 10,
    probability: float = 0.9,
    seed: Any = 0,
    n_draws: int = 200,
) -> list[list[Marker]]:
    """Return the markers of each cluster, the largest effect first; see `Posterior.markers`."""
    limit = whole_number(most, "n", at_least=1)
    sure = checked_probability(probability, "probability")
    found = contrasts(draws, estimate, names, seed=seed, n_draws=n_draws)
    return markers_from(found, int(estimate.max()) + 1, limit, sure)


def markers_from(
    found: Sequence[Contrast], n_clusters: int, most: int, probability: float
) -> list[list[Marker]]:
    """Return the markers in comparisons that are made already."""
    if n_clusters == 1:
        return [[]]
    return [
        sorted(
            (marker for contrast in found for marker in _of_one(contrast, k, most, probability)),
            key=lambda marker: -abs(marker.effect),
        )[:most]
        for k in range(n_clusters)
    ]


def _of_one(contrast: Contrast, k: int, most: int, probability: float) -> list[Marker]:
    effect, above = contrast.effect[k], contrast.probability[k]
    high, low = _WORDS[contrast.kind]
    sure = np.where(effect > 0, above, 0.0 if low is None else 1 - above) >= probability
    chosen = np.flatnonzero(sure & (np.abs(effect) >= LEAST_EFFECT))
    chosen = chosen[np.argsort(-np.abs(effect[chosen]), kind="stable")[:most]]
    found = []
    for j in chosen:
        value, rest = float(contrast.value[k, j]), float(contrast.rest[k, j])
        other = None if contrast.others is None else contrast.others[j]
        if effect[j] < 0 and other is not None:  # "often smoker = no", not "often smoker = yes"
            found.append(
                Marker(other, high, 1 - value, 1 - rest, -float(effect[j]), 1 - float(above[j]))
            )
            continue
        how = str(high if effect[j] > 0 else low)
        found.append(Marker(contrast.names[j], how, value, rest, float(effect[j]), float(above[j])))
    return found


def markers_in_words(markers: Sequence[Marker], most: int = 4) -> str:
    """Return a list in words: "high length, low width".

    Examples
    --------
    >>> markers_in_words([Marker("length", "high", 5.0, 1.0, 3.0, 1.0)])
    'high length'
    """
    return ", ".join(marker.text for marker in markers[:most])


def markers_table(found: list[list[Marker]]) -> Any:
    """Return a table with one row per marker."""
    pandas = importlib.import_module("pandas")
    rows = [(k, *marker) for k, markers in enumerate(found) for marker in markers]
    table = pandas.DataFrame(rows, columns=["cluster", *Marker._fields])
    kinds = {"cluster": "int64", "column": object, "how": object}
    kinds |= dict.fromkeys(("value", "rest", "effect", "probability"), "float64")
    return table.astype(kinds)
