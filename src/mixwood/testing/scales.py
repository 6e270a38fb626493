"""The law of the scales of Student t rows given a partition, by quadrature: for the oracle.

All scales of a cluster are integrated out on a grid of ``t = ln q``, one axis for each row. In
``t`` the integrand is smooth and falls exponentially, so that the trapezoidal rule is nearly exact
wherever the grid begins: exact draws come from grids that begin at random. Nothing of what the
samplers draw by is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, multigammaln

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.testing.missing import rows_of

__all__ = ["ScaleLaw"]

#: The grid in ``t``; and one that is finer, for distribution functions.
STEP, LOW, HIGH = 0.6, -7.0, 2.6
GRID, FINE = np.arange(LOW, HIGH, STEP), np.arange(LOW, HIGH, 0.1)
#: How many rows there may be, and how often a grid is laid anew for draws given a partition.
MOST, GRIDS = 4, 20


class ScaleLaw:
    """What scales of rows do to the posterior over partitions.

    Parameters
    ----------
    likelihood : StudentT
        With explicit parameters, none of them learned.
    X : array of shape (n, d)
        Checked; at most four rows.
    """

    def __init__(self, likelihood: Any, X: Data) -> None:
        assert isinstance(X, np.ndarray)
        if likelihood.base_size > 0 or len(X) > MOST:
            raise ValueError(
                "scales are integrated out for StudentT with its base measure fixed, and at most "
                f"{MOST} rows, got {len(X)} and {likelihood}"
            )
        self.likelihood, self.X = likelihood, X
        self.size = len(X)
        self._evidence: dict[tuple[int, ...], float] = {}
        self._distributions: dict[tuple[tuple[int, ...], int], FloatArray] = {}

    def log_likelihood(self, labels: IntArray) -> float:
        """Return ``sum_c log P(X_c)`` with the scales integrated out."""
        return sum(map(self._log_evidence, rows_of(labels)))

    def draw(self, labels: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scales (size, n) given a partition."""
        values = np.empty((size, len(self.X)))
        for rows in rows_of(labels):
            for some in np.array_split(np.arange(size), min(GRIDS, size)):
                grid = _points([GRID + STEP * rng.random() for _ in rows])
                weights = self._log_integrand(rows, grid)
                weights = np.exp(weights - weights.max())
                chosen = rng.choice(len(grid), size=len(some), p=weights / weights.sum())
                values[some[:, None], list(rows)] = np.exp(grid[chosen])
        return values

    def transforms(self, labels: IntArray, latent: FloatArray) -> dict[str, FloatArray]:
        """Return each scale's probability integral transform given the partition."""
        found = {}
        for rows in rows_of(labels):
            for axis, row in enumerate(rows):
                distribution = self._distribution(rows, axis)
                found[f"scale {row}"] = np.interp(np.log(latent[:, row]), FINE, distribution)
        return found

    def _log_evidence(self, rows: tuple[int, ...]) -> float:
        if rows not in self._evidence:
            terms = self._log_integrand(rows, _points([GRID] * len(rows)))
            self._evidence[rows] = float(logsumexp(terms)) + len(rows) * np.log(STEP)
        return self._evidence[rows]

    def _distribution(self, rows: tuple[int, ...], axis: int) -> FloatArray:
        key = (rows, axis)
        if key not in self._distributions:
            axes = [FINE if k == axis else GRID for k in range(len(rows))]
            terms = self._log_integrand(rows, _points(axes))
            density = np.exp(terms - terms.max()).reshape([len(t) for t in axes])
            density = np.moveaxis(density, axis, 0).reshape(len(FINE), -1).sum(axis=1)
            between = (density[1:] + density[:-1]) / 2
            self._distributions[key] = np.append(0.0, np.cumsum(between) / between.sum())
        return self._distributions[key]

    def _log_integrand(self, rows: tuple[int, ...], t: FloatArray) -> FloatArray:
        """Return ``log [P(X_c | q) prod Gamma(q; a/2, a/2) q]`` at points (B, m) of ``t``."""
        half, q = self.likelihood.df / 2, np.exp(t)
        prior = half * np.log(half) - gammaln(half) + half * (t - q)
        return np.asarray(prior.sum(axis=1) + self._log_marginals(self.X[list(rows)], q))

    def _log_marginals(self, x: FloatArray, q: FloatArray) -> FloatArray:
        """Return ``log P(X_c | q)`` for many q (B, m)."""
        likelihood, (n, d) = self.likelihood, x.shape
        r, nu, scale = likelihood.r, likelihood.nu, likelihood.scale
        total = q.sum(axis=1)
        centre = q @ x / total[:, None]
        away, apart = centre - likelihood.mean, x - centre[:, None]
        posterior = scale + np.einsum("bn,bni,bnj->bij", q, apart, apart)
        weight = r * total / (r + total)
        posterior = posterior + weight[:, None, None] * away[:, :, None] * away[:, None, :]
        value = d / 2 * (np.log(q).sum(axis=1) + np.log(r / (r + total)))
        value += multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d) - n * d / 2 * np.log(np.pi)
        value += nu / 2 * np.linalg.slogdet(scale)[1]
        return np.asarray(value - (nu + n) / 2 * np.linalg.slogdet(posterior)[1])


def _points(axes: list[FloatArray]) -> FloatArray:
    """Return all points of a grid, (B, axes)."""
    return np.stack([t.ravel() for t in np.meshgrid(*axes, indexing="ij")], axis=1)
