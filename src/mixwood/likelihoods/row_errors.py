"""Known errors of rows: variances or covariances, checked, and as factors."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.input.matrices import real_array

__all__ = ["checked_errors", "error_covariances", "log_t_with_errors", "lower_factors"]

_SHAPES = "variances (n,) or (n, d), or covariances (n, d, d)"


def checked_errors(value: Any, name: str = "errors") -> FloatArray:
    """Return errors as an array of one of the three forms, or raise.

    Examples
    --------
    >>> checked_errors([[0.1, 0.2], [0.3, 0.0]]).shape
    (2, 2)
    """
    errors = real_array(value, name)
    if errors.ndim not in (1, 2, 3) or (errors.ndim == 3 and errors.shape[1] != errors.shape[2]):
        raise ValueError(f"{name} must be {_SHAPES}, got shape {errors.shape}")
    bad = np.argwhere(~np.isfinite(errors))
    if len(bad):
        row = int(bad[0, 0])
        raise ValueError(
            f"{name} must be finite, got {errors[tuple(bad[0])]:g} in row {row}; a row of which "
            "nothing is known has a very large variance"
        )
    variances = np.diagonal(errors, axis1=1, axis2=2) if errors.ndim == 3 else errors
    bad = np.argwhere(variances < 0)
    if len(bad):
        row = int(bad[0, 0])
        raise ValueError(
            f"{name} must be variances, which are not negative, got "
            f"{variances[tuple(bad[0])]:g} in row {row}"
        )
    if errors.ndim == 3:
        _check_covariances(errors, name)
    return errors


def _check_covariances(errors: FloatArray, name: str) -> None:
    units = np.sqrt(np.diagonal(errors, axis1=1, axis2=2))
    units = np.where(units > 0, units, 1.0)
    scaled = errors / (units[:, :, None] * units[:, None, :])
    uneven = np.abs(scaled - scaled.swapaxes(1, 2)).max(axis=(1, 2), initial=0.0) > 1e-8
    if uneven.any():
        row = int(np.argmax(uneven))
        raise ValueError(f"{name} must be symmetric covariances, got {shown(errors[row])}")
    least = np.linalg.eigvalsh(scaled)[:, 0] if len(scaled) else np.empty(0)
    if np.any(least < -1e-8):
        row = int(np.argmin(least))
        raise ValueError(
            f"{name} must be covariances, positive semidefinite, got {shown(errors[row])} in "
            f"row {row}"
        )


def error_covariances(errors: FloatArray, n: int, d: int, name: str = "errors") -> FloatArray:
    """Return covariances (n, d, d) of checked errors, or raise if they are for other rows.

    Examples
    --------
    >>> error_covariances(np.array([4.0]), 1, 2)
    array([[[4., 0.],
            [0., 4.]]])
    """
    wanted = ((n,), (n, d), (n, d, d))[errors.ndim - 1]
    if errors.shape != wanted:
        raise ValueError(
            f"{name} must have one entry for each of the {n:,} rows of {d:,} columns: {_SHAPES}, "
            f"got shape {errors.shape}"
        )
    if errors.ndim == 3:
        return errors
    variances = errors[:, None] * np.ones(d) if errors.ndim == 1 else errors
    return np.asarray(variances[:, :, None] * np.eye(d))


def log_t_with_errors(
    away: FloatArray, scale: FloatArray, errors: FloatArray, degrees: float
) -> FloatArray:
    """Return the log densities of t distributed positions that are seen with normal errors.

    A t distribution is a mixture of normals, ``N(0, scale/q)`` with ``q ~ Gamma(f/2, f/2)``, and so
    the density is the mean of ``N(away; 0, scale/q + E)``: an integral over ``ln q``, by the
    trapezoidal rule, which is nearly exact for a function without an end.

    Parameters
    ----------
    away : array of shape (n, d)
        How far rows are from the centre.
    scale : array of shape (d, d)
    errors : array of shape (n, d, d)
    degrees : float

    Examples
    --------
    >>> given = log_t_with_errors(np.array([[2.0]]), np.eye(1), np.zeros((1, 1, 1)), 3.0)
    >>> from scipy.stats import t
    >>> bool(abs(given[0] - t(3).logpdf(2.0)) < 1e-10)
    True
    """
    f, d = degrees, away.shape[1]
    root = np.linalg.cholesky(scale)
    to_unit = np.linalg.inv(root)
    lengths, axes = np.linalg.eigh(to_unit @ errors @ to_unit.T)
    z = np.einsum("nji,nj->ni", axes, away @ to_unit.T)
    # Far out q is small: beyond these ends less than 1e-15 of the integral is left.
    far = float((z * z).sum(axis=1).max(initial=0.0))
    low = np.log(f / (f + far)) - 70 / (f + d) - 3
    high = np.log1p(80 / f + np.sqrt(80 / f)) + 1
    step = 0.35 / np.sqrt(1 + (f + d) / 2)
    grid = np.linspace(low, high, 2 + int((high - low) / step))
    log_gamma = f / 2 * (np.log(f / 2) + grid - np.exp(grid)) - lgamma(f / 2)
    log_gamma += np.log(grid[1] - grid[0])
    total = np.full(len(away), -np.inf)
    for at, weight in zip(np.exp(-grid), log_gamma, strict=True):
        variance = at + np.maximum(lengths, 0.0)
        log_normal = -0.5 * (np.log(variance) + z * z / variance).sum(axis=1)
        total = np.logaddexp(total, weight + log_normal)
    log_root = float(np.log(np.diagonal(root)).sum())
    return np.asarray(total - log_root - d / 2 * np.log(2 * np.pi))


def lower_factors(covariances: FloatArray) -> FloatArray:
    """Return lower triangular F with F F' the covariances (n, d, d), which may be singular.

    Examples
    --------
    >>> F = lower_factors(np.array([[[1.0, 1.0], [1.0, 1.0]]]))
    >>> (F @ F.swapaxes(1, 2)).round(12)
    array([[[1., 1.],
            [1., 1.]]])
    """
    lengths, axes = np.linalg.eigh(covariances)
    roots = np.sqrt(np.maximum(lengths, 0.0))[:, :, None] * axes.swapaxes(1, 2)
    upper = np.linalg.qr(roots, mode="r")
    signs = np.where(np.diagonal(upper, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return np.ascontiguousarray((signs[:, :, None] * upper).swapaxes(1, 2))
