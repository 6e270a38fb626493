"""Families side by side, plainly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray, IntArray
from mixwood.reference.families.base import Density, Family
from mixwood.reference.random import Stream

__all__ = ["Product"]


class Product(Family[tuple[Any, ...]]):
    """Parts side by side, independent in a cluster.

    A part sees the rows that have some of its columns::

        P(X_c) = prod_p P_p(X_c[:, columns of p])
    """

    def __init__(self, likelihood: likelihoods.Product) -> None:
        from mixwood.reference.families.registry import family_of

        assert likelihood.columns is not None
        self.parts: list[Family[Any]] = []
        self.columns: list[list[int]] = []
        width = len(likelihood.columns)
        for key, part in likelihood.parts.items():
            labels = key if isinstance(key, tuple) else (key,)
            family = family_of(part)
            own = [likelihood.columns.index(label) for label in labels]
            added = range(width + self.extra, width + self.extra + family.extra)
            self.extra += family.extra
            self.parts.append(family)
            self.columns.append([*own, *added])
        self.redraws_at_once = any(part.redraws_at_once for part in self.parts)
        self.given_atoms = any(part.given_atoms for part in self.parts)
        self.base = np.concatenate([part.base for part in self.parts])

    def set_base(self, base: FloatArray) -> None:
        """Give each part its own numbers, which come one part after the other."""
        super().set_base(base)
        ends = np.cumsum([len(part.base) for part in self.parts])
        for part, own in zip(self.parts, np.split(self.base, ends[:-1]), strict=True):
            part.set_base(own)

    def update_base(self, stats: Sequence[tuple[Any, ...]], stream: Stream) -> None:
        for part, own in self.learned_parts(stats):
            part.update_base(own, stream)
        self.base = np.concatenate([part.base for part in self.parts])

    def learned_parts(
        self, stats: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Family[Any], list[Any]]]:
        return [(part, [stat[p] for stat in stats]) for p, part in enumerate(self.parts)]

    def entries(self, row: FloatArray) -> list[FloatArray | None]:
        """Return each part's columns of a row, None where all of them are missing."""
        own = [row[columns] for columns in self.columns]
        return [None if np.isnan(x).all() else x for x in own]

    def empty(self) -> tuple[Any, ...]:
        return tuple(part.empty() for part in self.parts)

    def observe(self, stat: tuple[Any, ...], row: FloatArray) -> tuple[Any, ...]:
        own = zip(self.parts, stat, self.entries(row), strict=True)
        return tuple(s if x is None else part.observe(s, x) for part, s, x in own)

    def forget(self, stat: tuple[Any, ...], row: FloatArray) -> tuple[Any, ...]:
        own = zip(self.parts, stat, self.entries(row), strict=True)
        return tuple(s if x is None else part.forget(s, x) for part, s, x in own)

    def merge(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        own = zip(self.parts, a, b, strict=True)
        return tuple(part.merge(mine, theirs) for part, mine, theirs in own)

    def with_latent(self, X: FloatArray, rows: IntArray) -> FloatArray:
        whole = super().with_latent(X, rows)
        for part, own, present in self._present(whole):
            given = X[present][:, own[: len(own) - part.extra]]
            whole[present[:, None], own] = part.with_latent(given, rows[present])
        return whole

    def lacks(self, row: FloatArray) -> bool:
        own = zip(self.parts, self.entries(row), strict=True)
        return any(x is not None and part.lacks(x) for part, x in own)

    def filled(self, row: FloatArray) -> FloatArray:
        whole = row.copy()
        for part, columns, x in zip(self.parts, self.columns, self.entries(row), strict=True):
            if x is not None and part.lacks(x):
                whole[columns] = part.filled(x)
        return whole

    def known_part(self, given: FloatArray, row: FloatArray) -> FloatArray:
        whole = given.copy()
        for part, columns in zip(self.parts, self.columns, strict=True):
            whole[columns] = part.known_part(given[columns], row[columns])
        return whole

    def latent_places(self, given: FloatArray) -> tuple[IntArray, IntArray]:
        rows, columns = [], []
        for part, own, present in self._present(given):
            r, c = part.latent_places(given[present][:, own])
            rows.append(present[r])
            columns.append(np.array(own)[c])
        return np.concatenate(rows), np.concatenate(columns)

    def latent_units(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = [
            part.latent_units(given[present][:, own]) for part, own, present in self._present(given)
        ]
        return np.concatenate([zero for zero, _ in found]), np.concatenate(
            [unit for _, unit in found]
        )

    def _present(self, X: FloatArray) -> list[tuple[Family[Any], list[int], IntArray]]:
        """Return the parts, their columns, and the rows that have something for them."""
        rows = [np.flatnonzero(~np.isnan(X[:, own]).all(axis=1)) for own in self.columns]
        return list(zip(self.parts, self.columns, rows, strict=True))

    def redrawn(
        self, X: FloatArray, labels: IntArray, stats: Sequence[tuple[Any, ...]], stream: Stream
    ) -> FloatArray:
        drawn = X.copy()
        for p, (part, own, present) in enumerate(self._present(X)):
            if part.redraws_at_once:
                place = (present[:, None], np.array(own))
                stat = [stat[p] for stat in stats]
                drawn[place] = part.redrawn(X[place], labels[present], stat, stream)
        self.base = np.concatenate([part.base for part in self.parts])
        return drawn

    def log_known(self, stat: tuple[Any, ...], row: FloatArray) -> float:
        own = zip(self.parts, stat, self.entries(row), strict=True)
        return float(sum(part.log_known(s, x) for part, s, x in own if x is not None))

    def completed(self, stat: tuple[Any, ...], row: FloatArray, stream: Stream) -> FloatArray:
        whole = row.copy()
        own = zip(self.parts, stat, self.columns, self.entries(row), strict=True)
        for part, s, columns, x in own:
            if x is not None and part.lacks(x):
                whole[columns] = part.completed(s, x, stream)
        return whole

    def draw_given(self, stat: tuple[Any, ...], stream: Stream) -> tuple[Any, ...]:
        """Draw the atoms of those parts that are given them."""
        own = zip(self.parts, stat, strict=True)
        return tuple(part.draw_given(s, stream) if part.given_atoms else None for part, s in own)

    def log_known_given(
        self, atom: tuple[Any, ...], stat: tuple[Any, ...], row: FloatArray
    ) -> float:
        own = zip(self.parts, atom, stat, self.entries(row), strict=True)
        return sum(
            part.log_known_given(a, s, x) if part.given_atoms else part.log_known(s, x)
            for part, a, s, x in own
            if x is not None
        )

    def completed_given(
        self, atom: tuple[Any, ...], stat: tuple[Any, ...], row: FloatArray, stream: Stream
    ) -> FloatArray:
        whole = row.copy()
        own = zip(self.parts, atom, stat, self.columns, self.entries(row), strict=True)
        for part, a, s, columns, x in own:
            if x is not None and part.given_atoms:
                whole[columns] = part.completed_given(a, s, x, stream)
            elif x is not None and part.lacks(x):
                whole[columns] = part.completed(s, x, stream)
        return whole

    def log_marginal(self, stat: tuple[Any, ...]) -> float:
        own = zip(self.parts, stat, strict=True)
        return float(sum(part.log_marginal(s) for part, s in own))

    def draw_atom(self, stat: tuple[Any, ...], stream: Stream) -> Density:
        """Draw the atoms of the parts, one after the other."""
        atoms = [part.draw_atom(s, stream) for part, s in zip(self.parts, stat, strict=True)]

        def log_density(row: FloatArray) -> float:
            own = zip(atoms, self.entries(row), strict=True)
            return float(sum(atom(x) for atom, x in own if x is not None))

        return log_density
