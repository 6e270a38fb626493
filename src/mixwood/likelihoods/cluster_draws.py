"""What a likelihood says of clusters: their parameters, rows drawn from them, and a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mixwood._support.types import Data, FloatArray, IntArray

__all__ = ["Column", "MayDescribeClusters", "Parameters", "TargetTerms"]

#: Of some clusters: arrays by name, the first axis that of the clusters.
Parameters: TypeAlias = dict[str, FloatArray]


class Column(NamedTuple):
    """A column's name and, where its entries are codes of categories, those categories."""

    name: str
    categories: tuple[Any, ...] | None = None


class TargetTerms(NamedTuple):
    """The t distributions of the target of m rows in C clusters.

    Attributes
    ----------
    degrees : array of shape (C,)
    location, scale : array of shape (m, C)
    """

    degrees: FloatArray
    location: FloatArray
    scale: FloatArray


class MayDescribeClusters:
    """A likelihood whose clusters may be described and drawn; as it stands, it refuses."""

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw parameters of clusters given their rows, once for each of the statistics.

        Parameters
        ----------
        statistics : array of shape (C, statistic_size)
            What the compiled family's ``cluster_statistics`` returns; zeros are a cluster
            without rows, whose parameters come from the prior.
        rng : numpy.random.Generator
            Where the randomness comes from.
        base : array of shape (C, base_size) or (base_size,), optional
            The base measure of each cluster, or of all; needed where it is learned.

        Returns
        -------
        dict of arrays
            In the units of the data; the first axis is that of `statistics`.
        """
        raise self._cannot_draw()

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> Data:
        """Draw a row for each label from the cluster with these parameters.

        What the model does not say, such as the totals of `Multinomial`, is taken from random
        rows of `like`; `given_columns` from row after row of it, if there are as many as labels.
        """
        raise self._cannot_draw()

    def draw_rows_with_latent(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> tuple[Data, FloatArray]:
        """Draw the same as they are seen; and tell what was drawn for them that is not seen."""
        return self.draw_rows(parameters, labels, rng, like), np.empty(0)

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the mean of the rows of each cluster, from their statistics.

        One column for each of the data's, NaN where all rows lack it; but for a column of codes
        the share of each category, and for counts of words each word's.
        """
        raise TypeError(
            f"the likelihood {type(self).__name__} does not tell the mean of rows from their "
            "statistic, so weighted leaves have no coordinates in which they can be drawn"
        )

    def described_columns(self, names: Sequence[str]) -> dict[str, list[Column]]:
        """Return the columns that parameters are about, by what their names begin with.

        `names` are those of the data's columns, as `check` returns them.
        """
        return {"": self.parameter_columns([Column(name) for name in names])}

    def parameter_columns(self, columns: list[Column]) -> list[Column]:
        """Return what the parameters of a cluster are about, given the columns of the data."""
        return columns

    @property
    def draws_parameters(self) -> bool:
        """Whether the parameters of clusters can be drawn."""
        return True

    def _cannot_draw(self) -> TypeError:
        return TypeError(
            f"the likelihood {type(self).__name__} cannot draw the parameters of its clusters, "
            "so neither rows nor summaries of parameters can be had from it"
        )

    # --- a target

    @property
    def target_column(self) -> int | None:
        """The number of a column that is predicted from others, or None; parameters explicit."""
        return None

    def target_terms(self, statistics: FloatArray, base: FloatArray | None, X: Data) -> TargetTerms:
        """Return the distribution of the target of each row of checked `X` in each cluster.

        `statistics` are as for `draw_parameters`: zeros are those of a new cluster.
        """
        raise TypeError(f"the likelihood {type(self).__name__} has no target")
