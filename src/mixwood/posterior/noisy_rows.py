"""Rows with known errors, against clusters: given parameters that are drawn for it."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, FloatArray
    from mixwood.likelihoods.base import Likelihood

__all__ = ["NoisyRows"]


class NoisyRows:
    """Rows with errors in place of the compiled family over rows.

    ``P(x | X_c)`` is the mean of ``N(x; mean, Sigma + E)`` over the cluster's mean and covariance
    given its rows. It has no closed form: one is drawn for each cluster of each draw, so that over
    all draws the mean is taken. In a new cluster it is an integral in one dimension. Columns
    without errors, in other parts of a product, are compared as ever, with nothing drawn.

    Parameters
    ----------
    likelihood : Likelihood
        With explicit parameters, and the errors of these rows.
    X : array of shape (m, d)
        Checked rows.
    rest : Family, optional
        The compiled family over what of the rows has no errors, if there is something.
    """

    def __init__(self, likelihood: Likelihood, X: Data, rest: _core.Family | None = None) -> None:
        self._likelihood, self._X, self._rest = likelihood, X, rest
        self._base: FloatArray | None = None
        self.n_rows = int(X.shape[0])
        # Of the columns with errors: what compiled families leave out, this leaves out, too.
        self._constants = likelihood.row_constants(X)
        others = likelihood.without_errors(X)
        if others is not None:
            self._constants = self._constants - likelihood.row_constants(others)

    def at(self, base: FloatArray) -> NoisyRows:
        """Return the same rows under another base measure."""
        other = copy(self)
        other._base, other._rest = base, None if self._rest is None else self._rest.at(base)
        return other

    def log_alone_of_noisy(self) -> FloatArray:
        """Return the log density in a new cluster of what has errors, constants left out."""
        table = self._likelihood.log_alone_with_errors(self._X, self._base)
        return np.asarray(table - self._constants)

    def log_alone(self) -> FloatArray:
        """Return the log density of each row in a new cluster, constants left out."""
        alone = self.log_alone_of_noisy()
        return alone if self._rest is None else alone + self._rest.log_alone()

    def log_predictive_table(self, statistics: FloatArray, first: int, end: int) -> FloatArray:
        """Return the log density of rows in clusters, constants left out."""
        # Clusters have the same parameters for every portion of the rows, and others in every draw.
        rng = np.random.default_rng(crc32(np.ascontiguousarray(statistics).tobytes()))
        some = self._likelihood.of_rows(np.arange(first, end), self.n_rows)
        table = some.log_densities_with_errors(statistics, self._X[first:end], rng, self._base)
        table = table - self._constants[first:end, None]
        if self._rest is not None:
            table += self._rest.log_predictive_table(statistics, first, end)
        return np.asarray(table)
