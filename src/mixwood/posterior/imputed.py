"""`Posterior.imputed`: draws of the entries that are missing in the data."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import count
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.posterior.draws import Draws

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray

__all__ = ["Imputed", "imputed"]


@dataclass(frozen=True, eq=False, repr=False)
class Imputed:
    """Draws of missing entries, in the units of the data; the k-th entry is the k-th everywhere.

    Attributes
    ----------
    rows, columns : int arrays of shape (entries,)
        Where each entry is in the data as the chains saw them.
    names : tuple of str
        The names of those columns.
    values : array of shape (chain, draw, entries)
        The draws, each along with the clusters of the same draw.
    """

    rows: IntArray
    columns: IntArray
    names: tuple[str, ...]
    values: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        chains, draws, entries = self.values.shape
        found = count("entry", entries, plural="entries")
        return f"<mixwood.Imputed: {found}, {chains} x {draws:,} draws of each>"

    def mean(self) -> FloatArray:
        """Return the mean of each entry over all draws, shape (entries,)."""
        return np.asarray(self.values.mean(axis=(0, 1)))

    def sd(self) -> FloatArray:
        """Return the standard deviation of each entry over all draws, shape (entries,)."""
        return np.asarray(self.values.std(axis=(0, 1)))

    def table(self) -> Any:
        """Return a pandas table: ``row``, ``column``, ``mean``, ``sd``, ``q5``, ``q95``."""
        pandas = importlib.import_module("pandas")  # only now: heavy; and it has no types to check
        low, high = np.quantile(self.values, [0.05, 0.95], axis=(0, 1))
        return pandas.DataFrame(
            {
                "row": self.rows,
                "column": list(self.names),
                "mean": self.mean(),
                "sd": self.sd(),
                "q5": low,
                "q95": high,
            }
        )


def imputed(draws: Draws) -> Imputed:
    """Return the draws of missing entries; see `Posterior.imputed`."""
    X = draws.data_for("imputed")
    if isinstance(X, WeightedLeaves) or not len(draws.resolved.missing_entries(X)[0]):
        skipped = isinstance(X, np.ndarray) and bool(np.isnan(X).any())
        why = (
            f"its likelihood, {type(draws.resolved).__name__}, skips the missing entries; "
            "mw.Gaussian() draws them"
            if skipped
            else "nothing is missing in X"
        )
        raise ValueError(f"this posterior has no draws of missing entries: {why}")
    assert draws.latents is not None
    rows, columns = draws.resolved.missing_entries(X)
    names = tuple(draws.column_names[column] for column in columns)
    return Imputed(rows, columns, names, draws.resolved.drawn_entries(X, draws.latents))
