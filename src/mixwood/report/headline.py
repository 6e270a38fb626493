"""How many clusters there are, in plain words: the one place where these sentences are made.

What users ask for is the number of groups worth the name, those of at least 0.5% of the rows and
two of them; a draw may also set odd rows apart, which makes the number of all clusters large and
uncertain. So the groups come first, then the rows outside them, then the number of all clusters.
Where every cluster is such a group there is one number, and one sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mixwood._support.numbers import chance, count
from mixwood.posterior.group_counts import groups_of_at_least

if TYPE_CHECKING:
    from mixwood._support.types import IntArray
    from mixwood.posterior.draws import Draws

__all__ = ["LEVEL", "Headline", "Number", "headline", "least_size"]

#: The probability of the intervals that are named.
LEVEL = 0.9


@dataclass(frozen=True)
class Number:
    """What the draws say about how many there are of something.

    Attributes
    ----------
    likeliest : int
        The number that most draws have; of several, the smallest.
    probability : float
        Of that one.
    low, high : int
        With a probability of at least 90%, the number is from `low` to `high`, and the likeliest
        is among these.
    estimate : int
        How many the point estimate has.
    """

    likeliest: int
    probability: float
    low: int
    high: int
    estimate: int

    @classmethod
    def of(cls, draws: IntArray, estimate: int) -> Number:
        """Return what these draws say."""
        values, counts = np.unique(draws, return_counts=True)
        likeliest = int(values[counts.argmax()])
        ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        low, high = (int(end) for end in np.quantile(draws, ends, method="inverted_cdf"))
        # Of very many numbers the likeliest may be a rare one, far out.
        low, high = min(low, likeliest), max(high, likeliest)
        return cls(likeliest, float(counts.max() / counts.sum()), low, high, estimate)

    @property
    def interval(self) -> tuple[int, int]:
        """The pair of `low` and `high`."""
        return self.low, self.high

    @property
    def far_out(self) -> str:
        """In words, that the estimate has more or fewer than the interval says; or nothing."""
        if self.low <= self.estimate <= self.high:
            return ""
        return f" ({'fewer' if self.estimate < self.low else 'more'} than nearly all draws have)"


@dataclass(frozen=True)
class Headline:
    """How many clusters, as numbers and in words.

    Attributes
    ----------
    least : int
        How many rows make a group.
    rows : int
        How many rows there are.
    groups, clusters : Number
        How many groups, of at least `least` rows, there are, and how many clusters of every
        size.
    outside, typically_outside : int
        How many rows are in no group: in the estimate, and in the median draw.
    noun : str
        What such a group is called: a cluster, where "group" is a group of rows that users gave.
    """

    least: int
    rows: int
    groups: Number
    clusters: Number
    outside: int
    typically_outside: int
    noun: str = "group"

    @property
    def one_number(self) -> bool:
        """Whether groups and clusters are the same, so that there is one number to tell."""
        return (
            self.groups.likeliest == self.clusters.likeliest
            and self.groups.interval == self.clusters.interval
            and self.groups.estimate == self.clusters.estimate
            and self.typically_outside == 0
        )

    @property
    def leads(self) -> str:
        """What is counted first: "3 clusters", "9 groups of at least 27 rows"."""
        if self._leading is self.clusters:
            return count("cluster", self.clusters.likeliest)
        return f"{count(self.noun, self.groups.likeliest)} of at least {count('row', self.least)}"

    @property
    def probability(self) -> float:
        """The probability of the number that leads."""
        return self._leading.probability

    @property
    def answer(self) -> str:
        """The first sentence: "3 clusters, with probability 97%."."""
        return f"{self.leads}, with probability {chance(self.probability)}."

    @property
    def details(self) -> list[str]:
        """The sentences that follow; none where the first says it all."""
        said = [self._range(), self._no_groups(), self._rows_outside(), self._all_clusters()]
        return [sentence for sentence in (*said, self._estimate()) if sentence]

    @property
    def sentences(self) -> list[str]:
        """The answer and all details."""
        return [self.answer, *self.details]

    @property
    def _leading(self) -> Number:
        """Which number leads: that of groups, if there are some."""
        return self.clusters if self.one_number or self.groups.likeliest == 0 else self.groups

    def _range(self) -> str:
        low, high = self._leading.interval
        if low == high:
            return ""  # then the answer has a probability above 90%
        what = "clusters" if self._leading is self.clusters else f"such {self.noun}s"
        return f"With {LEVEL:.0%} probability there are {low:,} to {high:,} {what}."

    def _no_groups(self) -> str:
        if self.groups.likeliest > 0 or self.rows == 1:
            return ""
        none = f"No cluster has {count('row', self.least)} or more"
        return f"{none}, with probability {chance(self.groups.probability)}."

    def _rows_outside(self) -> str:
        outside, typically = self.outside, self.typically_outside
        if self._leading is self.clusters or outside == typically == 0:
            return ""
        be = "is" if outside <= 1 else "are"
        text = f"{_some(outside)} of the {self.rows:,} rows {be} outside these {self.noun}s"
        if outside == typically:
            return f"{text}."
        return f"In the estimate, {text}; in a typical draw, {_some(typically)}."

    def _all_clusters(self) -> str:
        if self._leading is self.clusters:
            return ""
        number, counting = self.clusters, "Counting smaller clusters too, there"
        probability = chance(number.probability)
        if number.low == number.high:
            be = "is" if number.low == 1 else "are"
            return f"{counting} {be} {number.low:,} in all, with probability {probability}."
        less = (
            f", fewer than {self.groups.likeliest:,} since draws with that many {self.noun}s "
            "differ in how many smaller clusters they have"
        )
        return (
            f"{counting} are {number.low:,} to {number.high:,} in all, with {LEVEL:.0%} "
            f"probability; {number.likeliest:,} is likeliest ({probability})"
            f"{less if number.likeliest < self.groups.likeliest else ''}."
        )

    def _estimate(self) -> str:
        """Say what the estimate has, and why, where that is not what is likeliest."""
        groups = count(f"such {self.noun}", self.groups.estimate)
        if self._leading is self.clusters:  # groups were not spoken of
            groups = f"{count(self.noun, self.groups.estimate)} of at least {self.least:,} rows"
        clusters = count("cluster", self.clusters.estimate)
        said = [(self.clusters, clusters)]
        if not self.one_number:
            said = [(self.groups, groups), (self.clusters, f"{clusters} in all")]
        said = [(number, text) for number, text in said if number.estimate != number.likeliest]
        if not said:
            return ""
        has = " and ".join(f"{text}{number.far_out}" for number, text in said)
        return (
            f"The estimate has {has}: it minimizes the expected variation of information over all "
            f"draws, {_REASONS[frozenset(n.estimate > n.likeliest for n, _ in said)]}."
        )


#: Why the estimate has other numbers than are likeliest, by whether it has more.
_REASONS = {
    frozenset({False}): (
        "which tends to fewer, since what draws divide in different ways stays together"
    ),
    frozenset({True}): (
        "which may give more, since rows whose place differs from draw to draw are set apart"
    ),
    frozenset({False, True}): (
        "which leaves together what draws divide in different ways, and sets apart rows whose "
        "place differs from draw to draw"
    ),
}


def _some(number: int) -> str:
    return f"{number:,}" if number else "none"


def least_size(rows: int) -> int:
    """Return how many rows make a group: 0.5% of them, rounded up, and at least two.

    Examples
    --------
    >>> least_size(100), least_size(1300), least_size(1400), least_size(1401)
    (2, 7, 7, 8)
    """
    return max(2, -(-rows // 200))


def headline(draws: Draws, estimate: IntArray) -> Headline:
    """Return how many clusters there are.

    Parameters
    ----------
    draws : Draws
        The posterior.
    estimate : int array of shape (n,)
        Its point estimate, labels 0 to K-1.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=2, seed=3, progress=False)
    >>> print(*headline(post, post.point_estimate()).sentences)  # doctest: +ELLIPSIS
    2 clusters, with probability ...99%.
    """
    rows = round(float(draws.item_sizes.sum()))
    least = least_size(rows)
    groups, inside = groups_of_at_least(draws, least)
    sizes = np.bincount(estimate, draws.item_sizes)
    large = sizes >= least
    return Headline(
        least=least,
        rows=rows,
        groups=Number.of(groups, int(large.sum())),
        clusters=Number.of(draws.n_clusters, len(sizes)),
        outside=rows - round(float(sizes[large].sum())),
        typically_outside=rows - int(np.quantile(inside, 0.5, method="inverted_cdf")),
        noun="group" if draws.groups is None else "cluster",
    )
