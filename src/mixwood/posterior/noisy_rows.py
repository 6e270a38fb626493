"""New rows with known errors, against clusters: given parameters that are drawn for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from mixwood.likelihoods.row_errors import checked_errors, error_covariances

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import Data, FloatArray
    from mixwood.likelihoods.base import Likelihood

__all__ = ["NoisyRows", "new_errors"]


def new_errors(errors: Any, X: Data) -> FloatArray | None:
    """Return the covariances (m, d, d) of the errors of checked new rows, None without any."""
    if errors is None:
        return None
    return error_covariances(checked_errors(errors), *X.shape)


class NoisyRows:
    """New rows with errors in place of the compiled family over new rows.

    ``P(x | X_c)`` is the mean of ``N(x; mean, Sigma + E)`` over the cluster's mean and covariance
    given its rows. It has no closed form: one is drawn for each cluster of each draw, so that over
    all draws the mean is taken. In a new cluster it is an integral in one dimension.

    Parameters
    ----------
    likelihood : Likelihood
        With explicit parameters.
    plain : Family
        The compiled family over the same rows, without errors.
    X : array of shape (m, d)
        Checked rows.
    errors : array of shape (m, d, d)
        Covariances of their errors.
    base : array, optional
        The base measure.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        plain: _core.Family,
        X: Data,
        errors: FloatArray,
        base: FloatArray | None = None,
    ) -> None:
        self._likelihood, self._plain, self._base = likelihood, plain, base
        self._X, self._errors = X, errors
        self.n_rows = plain.n_rows

    def at(self, base: FloatArray) -> NoisyRows:
        """Return the same rows under another base measure."""
        return NoisyRows(self._likelihood, self._plain.at(base), self._X, self._errors, base)

    def log_alone(self) -> FloatArray:
        """Return the log density of each row in a new cluster, constants left out."""
        table = self._likelihood.log_alone_with_errors(self._X, self._errors, self._base)
        return np.asarray(table - self._likelihood.row_constants(self._X))

    def log_predictive_table(self, statistics: FloatArray, first: int, end: int) -> FloatArray:
        """Return the log density of rows in clusters, constants left out."""
        # Clusters have the same parameters for every portion of the rows, and others in every draw.
        rng = np.random.default_rng(crc32(np.ascontiguousarray(statistics).tobytes()))
        parameters = self._likelihood.draw_parameters(statistics, rng, self._base)
        rows, errors = self._X[first:end], self._errors[first:end]
        table = self._likelihood.log_densities_with_errors(parameters, rows, errors)
        return np.asarray(table - self._likelihood.row_constants(rows)[:, None])
