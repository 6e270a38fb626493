"""Prior scales of Gaussian clusters that are fixed before a chain runs, from the data."""

from __future__ import annotations

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.likelihoods.spread import sample_covariance, shrunk_covariance

__all__ = ["cell_fraction", "data_scale", "paper_scale", "standard_scale", "variance_factor"]

#: ``scale="data"`` expects a cluster to have this fraction of the data's variance; with a full
#: covariance more, if that is needed to fill one of this many cells of equal volume. Chosen by the
#: study in benchmarks/study_fixed.py.
SCALE_FRACTION = 0.1
SCALE_CELLS = 20


def cell_fraction(d: int) -> float:
    """Return which fraction of the data's variance a cluster with a full covariance has.

    A cell of ``1/20`` of the data's volume is ``20^(-1/d)`` as wide as the data. With many
    columns that is nearly as wide: clusters differ a little in each of them. A prior that
    expects less takes such clusters apart, row by row.

    Examples
    --------
    >>> [round(cell_fraction(d), 2) for d in (1, 2, 3, 5, 20)]
    [0.1, 0.1, 0.14, 0.3, 0.74]
    """
    return max(SCALE_FRACTION, float(SCALE_CELLS ** (-2 / d)))


def variance_factor(nu: float) -> float:
    """Return the factor of a variance in ``psi``; without an expectation, as if nu were 3."""
    return SCALE_FRACTION * max(nu - 2, 1.0)


def _covariance_factor(nu: float, d: int) -> float:
    """Return the factor of S in ``Psi``; without an expectation, as if nu were d + 2."""
    return cell_fraction(d) * max(nu - d - 1, 1.0)


def data_scale(X: FloatArray, nu: float) -> FloatArray:
    """Return ``Psi`` of ``scale="data"``."""
    return shrunk_covariance(X) * _covariance_factor(nu, X.shape[1])


def standard_scale(nu: float, d: int) -> FloatArray:
    """Return the same for standardized data."""
    return np.eye(d) * _covariance_factor(nu, d)


def paper_scale(X: FloatArray) -> FloatArray:
    """Return ``Psi`` of ``scale="paper"``, or raise where there is none."""
    d = X.shape[1]
    S = sample_covariance(X)
    sign, log_determinant = np.linalg.slogdet(S)
    if sign <= 0 or not np.isfinite(log_determinant):
        raise ValueError(
            "scale='paper' needs an invertible sample covariance; "
            "use scale='data', or drop constant and redundant columns of X"
        )
    return np.asarray(S / np.exp((np.log(10) + log_determinant) / d))
