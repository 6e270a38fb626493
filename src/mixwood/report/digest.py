"""What reports and commands say about a run, computed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import number
from mixwood.plots.colours import cluster_colours
from mixwood.plots.plane import plane_of
from mixwood.plots.style import COLOURS, MIXED_COLOUR, colour, sample_of
from mixwood.posterior.contrasts import Contrast, contrasts
from mixwood.posterior.describe import column_names
from mixwood.posterior.markers import Marker, markers_from
from mixwood.posterior.verdict import Verdict, judge
from mixwood.report.about import About
from mixwood.report.headline import Headline, headline
from mixwood.report.labels import labels_csv

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.posterior.fit.check import FitCheck
    from mixwood.posterior.posterior import Posterior

__all__ = ["SUMMARY_FORMATS", "Digest"]

#: The estimate, and what is seen through it, use draws with at most this many labels in all.
MOST_LABELS = 4 * 10**7


#: How numbers of `Posterior.summary` are written that are not written as others are.
SUMMARY_FORMATS: dict[str, Callable[[float], str]] = {
    "ess_bulk": lambda size: number(np.round(size)),
    "ess_tail": lambda size: number(np.round(size)),
    "r_hat": lambda r_hat: f"{r_hat:.3f}" if np.isfinite(r_hat) else number(r_hat),
}


@dataclass(frozen=True, eq=False)
class Digest:
    """A posterior with what is known about its data, and what is said about both.

    Attributes
    ----------
    posterior : Posterior
    about : About
    """

    posterior: Posterior
    about: About

    @cached_property
    def thinned(self) -> Posterior:
        """The posterior, thinned if its draws hold too many labels for estimates."""
        each = max(1, MOST_LABELS // (self.posterior.n_chains * self.posterior.n_items))
        return self.posterior.thinned(each)

    @cached_property
    def estimate(self) -> IntArray:
        """The partition that stands best for all draws."""
        return np.asarray(self.thinned.point_estimate())

    @cached_property
    def certainty(self) -> FloatArray:
        """How probable the cluster of each item is."""
        return np.asarray(self.thinned.certainty())

    @cached_property
    def sizes(self) -> FloatArray:
        """The rows of each cluster of the estimate, the largest first."""
        return np.bincount(self.estimate, self.posterior.item_sizes).astype(np.float64)

    @property
    def n_shown(self) -> int:
        """How many clusters are shown by themselves, and not folded, or grey: the groups."""
        return int(np.count_nonzero(self.sizes >= self.least_shown))

    @property
    def least_shown(self) -> int:
        """The rows of the smallest of these; if no cluster is a group, all are shown."""
        least = self.headline.least
        return least if self.sizes.max() >= least else 1

    @cached_property
    def colours(self) -> list[str]:
        """The colour of each cluster, the same in the whole report; small ones are grey."""
        some, shown = self.thinned, self.n_shown
        colours = [colour(k) for k in range(shown)]
        if shown > len(COLOURS) and some.X is not None:
            items = sample_of(some.n_items, 10_000)
            labels = self.estimate[items]
            with suppress(TypeError):  # leaves that have no place
                plane = plane_of(some, items, labels, self.certainty[items])
                colours = cluster_colours(plane.points, labels, shown)
        return colours + [MIXED_COLOUR] * (len(self.sizes) - shown)

    @cached_property
    def labels(self) -> Any:
        """The table of the rows: what names them, their clusters, how sure these are."""
        return self.thinned.labels_table(self.about.rows(self.posterior.n_items))

    @cached_property
    def labels_csv(self) -> str:
        """The same as text."""
        return labels_csv(self.labels)

    @cached_property
    def summary(self) -> Any:
        """The table of the chains."""
        return self.posterior.summary()

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the chains have converged."""
        return judge(self.posterior, self.summary)

    @cached_property
    def fit(self) -> FitCheck | str:
        """Whether the model fits, or why that cannot be told."""
        try:
            return self.thinned.check_fit(self.about.words)
        except (ValueError, TypeError) as error:  # no data, leaves, a family that draws no rows
            return str(error)

    @cached_property
    def headline(self) -> Headline:
        """How many clusters there are, in words."""
        return headline(self.posterior, self.estimate)

    @cached_property
    def contrasts(self) -> list[Contrast]:
        """How each cluster compares with the rest; nothing where no parameters can be compared."""
        some = self.thinned
        if some.X is None:
            return []
        try:
            return contrasts(
                some, self.estimate, column_names(some, self.about.words), seed=0, n_draws=200
            )
        except TypeError:  # a family of a user that cannot draw parameters
            return []

    @cached_property
    def markers(self) -> list[list[Marker]]:
        """What sets each cluster of the estimate apart, the largest effect first."""
        clusters = int(self.estimate.max()) + 1
        # Some words tell what a text is about even where none is sure.
        sure = 0.5 if self.of_words else 0.9
        return markers_from(self.contrasts, clusters, most=8, probability=sure)

    @property
    def of_words(self) -> bool:
        """Whether clusters differ in words."""
        return any(contrast.kind == "word" for contrast in self.contrasts)

    @cached_property
    def adjusted_rand(self) -> float | None:
        """How well the estimate agrees with labels known beforehand."""
        known = self.about.known
        return None if known is None else known.adjusted_rand(self.estimate)
