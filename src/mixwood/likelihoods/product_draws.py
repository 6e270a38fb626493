"""Clusters of a `Product` described, and rows drawn from them, part by part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.categories import Categories
from mixwood.likelihoods.base import Column, Likelihood, Parameters, TargetTerms
from mixwood.likelihoods.learned import base_of_clusters
from mixwood.likelihoods.product_parts import Parts, name_of
from mixwood.likelihoods.table_layout import labels_of

__all__ = ["DrawnByParts"]


class DrawnByParts(Parts):
    """Parameters, means and rows side by side; and the target that one of the parts predicts."""

    @property
    @abstractmethod
    def categories(self) -> tuple[Categories | None, ...] | None:
        """Of each column the categories, None where it holds numbers; None while open."""

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw the parameters of the parts, each named by its columns: ``x, y: mean``."""
        drawn: Parameters = {}
        bases = base_of_clusters(base, len(statistics), self.base_size)
        end = 0
        for key, part, own_base in self._bases(bases):
            start, end = end, end + part.statistic_size
            own = part.draw_parameters(statistics[:, start:end], rng, own_base)
            drawn |= {f"{name_of(key)}: {name}": values for name, values in own.items()}
        return drawn

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means that the parts give, in the order of the columns of one each.

        Where a part gives more, as the shares of categories, they are side by side.
        """
        assert self.columns is not None
        found: dict[int, FloatArray] = {}
        end = 0
        for key, part in self.parts.items():
            start, end = end, end + part.statistic_size
            means = part.mean_rows(statistics[:, start:end])
            places = [self.columns.index(label) for label in labels_of(key)]
            if means.shape[1] == len(places):
                found |= {place: means[:, [j]] for j, place in enumerate(places)}
            else:
                found[min(places)] = means
        return np.hstack([found[place] for place in sorted(found)])

    def described_columns(self, names: Sequence[str]) -> dict[str, list[Column]]:
        """Return the columns of each part, by what the names of its parameters begin with."""
        assert self.columns is not None
        categories = self.categories or (None,) * len(self.columns)
        columns = map(Column, names, categories)
        found = dict(zip(self.columns, columns, strict=True))
        return {
            f"{name_of(key)}: ": part.parameter_columns([found[label] for label in labels_of(key)])
            for key, part in self.parts.items()
        }

    @property
    def draws_parameters(self) -> bool:
        """Whether all parts draw theirs."""
        return all(part.draws_parameters for part in self.parts.values())

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw the columns of each part; nothing is missing in them."""

        def draw(part: Likelihood, own: Parameters, given: Data | None) -> tuple[Data, FloatArray]:
            return part.draw_rows(own, labels, rng, like=given), np.empty(0)

        return self._drawn(parameters, len(labels), rng, like, draw)[0]

    def draw_rows_with_latent(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the same as the parts see them, and what they draw for rows, one after the other."""

        def draw(part: Likelihood, own: Parameters, given: Data | None) -> tuple[Data, FloatArray]:
            return part.draw_rows_with_latent(own, labels, rng, like=given)

        return self._drawn(parameters, len(labels), rng, like, draw)

    def _drawn(
        self,
        parameters: Parameters,
        n: int,
        rng: np.random.Generator,
        like: Data | None,
        draw: Callable[[Likelihood, Parameters, Data | None], tuple[Data, FloatArray]],
    ) -> tuple[FloatArray, FloatArray]:
        """Return what `draw` has of each part, given its parameters and what it is given."""
        assert self.columns is not None
        given = {}
        if isinstance(like, np.ndarray):
            given = {part.key: part.data for part in self._slices(like) if len(part.rows)}
        X, latents = np.full((n, len(self.columns)), np.nan), {}
        place_of = {label: place for place, label in enumerate(self.columns)}
        # Those that are given columns come after those that may draw them.
        widths = {key: len(labels_of(key)) for key in self.parts}
        later = {key: bool(part.given_columns(widths[key])) for key, part in self.parts.items()}
        for key, part in sorted(self.parts.items(), key=lambda item: later[item[0]]):
            start = f"{name_of(key)}: "
            own = {k.removeprefix(start): v for k, v in parameters.items() if k.startswith(start)}
            places = [place_of[label] for label in labels_of(key)]
            like = self._with_drawn(part, given.get(key), X[:, places], rng)
            drawn, latents[key] = draw(part, own, like)
            X[:, places] = drawn if isinstance(drawn, np.ndarray) else drawn.toarray()
        return X, np.concatenate([latents[key] for key in self.parts])

    def _with_drawn(
        self, part: Likelihood, like: Data | None, drawn: FloatArray, rng: np.random.Generator
    ) -> Data | None:
        """Return rows that a part is given, with what other parts have drawn of their columns."""
        fixed = part.given_columns(drawn.shape[1])
        there = [j for j in fixed if not np.isnan(drawn[:, j]).any()]
        if not there:
            return like
        if like is None:
            rows = np.where(np.isnan(drawn), 1.0, drawn)
        else:
            n = len(drawn)
            assert isinstance(like, np.ndarray)
            rows = np.array(like if len(like) == n else like[rng.integers(len(like), size=n)])
        rows[:, there] = drawn[:, there]
        return rows

    # --- a target that one of the parts predicts

    @property
    def target_column(self) -> int | None:
        """The number of the column that a part predicts; None where none does, or several do."""
        found = [
            (key, part.target_column)
            for key, part in self.parts.items()
            if part.target_column is not None
        ]
        if len(found) != 1 or self.columns is None:
            return None
        [(key, place)] = found
        return self.columns.index(labels_of(key)[place])

    def target_terms(self, statistics: FloatArray, base: FloatArray | None, X: Data) -> TargetTerms:
        """Return what the part that has a target says of it."""
        assert isinstance(X, np.ndarray)
        for part, own, own_base in self._slices_with(X, statistics, base):
            if part.likelihood.target_column is not None:
                return part.likelihood.target_terms(own, own_base, part.data)
        return super().target_terms(statistics, base, X)
