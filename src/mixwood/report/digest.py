"""What reports and commands say about a run, computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import number
from mixwood.posterior.contrasts import Contrast, contrasts
from mixwood.posterior.describe import column_names
from mixwood.posterior.markers import Marker, markers_from
from mixwood.report.about import About
from mixwood.report.headline import Headline, headline
from mixwood.report.labels import labels_csv
from mixwood.report.verdict import Verdict, judge

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
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
        return markers_from(self.contrasts, clusters, most=8, probability=0.9)

    @cached_property
    def adjusted_rand(self) -> float | None:
        """How well the estimate agrees with labels known beforehand."""
        known = self.about.known
        return None if known is None else known.adjusted_rand(self.estimate)
