"""The law of missing entries given a partition, by quadrature: for the oracle of few rows.

The density of all entries of a cluster, ``P(X_c)``, is integrated over those that are missing, on
a grid that reaches far out: ``x = m + s sinh(t)``, so that polynomial tails fall exponentially in
``t`` and the trapezoidal rule is nearly exact. Nothing of what the samplers draw by is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, multigammaln

from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods.row_errors import error_covariances

__all__ = ["MissingLaw", "rows_of"]

#: The grid in ``t``.
STEP, END = 0.05, 10.0
GRID = np.arange(-END, END + STEP / 2, STEP)
#: How many missing entries one cluster may have.
MOST = 2


class _Cluster(NamedTuple):
    """The missing entries of a cluster: ``log P`` integrated, and their density on the grid."""

    log_evidence: float
    holes: IntArray
    density: FloatArray  # one axis per missing entry; it sums to 1


class MissingLaw:
    """What missing entries do to the posterior over partitions.

    Parameters
    ----------
    likelihood : Gaussian
        With explicit parameters, none of them learned.
    X : array of shape (n, d)
        Checked; at most two entries are missing, or have errors.
    """

    def __init__(self, likelihood: Any, X: Data) -> None:
        assert isinstance(X, np.ndarray)
        if likelihood.base_size > 0:
            raise ValueError("missing entries are integrated out for fixed base measures only")
        self.likelihood, self.X = likelihood, X
        self.rows, self.columns = likelihood.missing_entries(X)
        self.size = len(self.rows)
        given = likelihood.errors
        self.errors = None if given is None else error_covariances(given, *X.shape)
        if self.errors is None:
            self.drawn = np.arange(len(self.rows))
        else:  # where there is no error, a position is known
            variances = np.diagonal(self.errors, axis1=1, axis2=2)
            self.drawn = np.flatnonzero(variances[self.rows, self.columns] > 0)
        if len(self.drawn) > MOST:
            raise ValueError(
                f"X may have at most {MOST} entries that are missing or have errors, got "
                f"{len(self.drawn)}"
            )
        self._clusters: dict[tuple[int, ...], _Cluster] = {}

    def log_likelihood(self, labels: IntArray) -> float:
        """Return ``sum_c log P(X_c)`` with the missing entries integrated out."""
        return sum(self._cluster(rows).log_evidence for rows in rows_of(labels))

    def draw(self, labels: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw missing entries (size, entries) given a partition, as the core has them."""
        values = np.empty((size, len(self.rows)))
        if self.errors is not None:
            centre, scale = self._grid_of()
            values[:] = np.arcsinh((self.X[self.rows, self.columns] - centre) / scale)
        for rows in rows_of(labels):
            cluster = self._cluster(rows)
            if len(cluster.holes) == 0:
                continue
            first = cluster.density.reshape(len(GRID), -1).sum(axis=1)
            t = _inverse(first, rng.random(size))
            values[:, cluster.holes[0]] = t
            if len(cluster.holes) == 2:
                nearest = np.rint((t + END) / STEP).astype(int)
                for k in np.unique(nearest):
                    here = np.flatnonzero(nearest == k)
                    second = _inverse(cluster.density[k], rng.random(len(here)))
                    values[here, cluster.holes[1]] = second
        return self._in_core_units(self._places(values))

    def transforms(self, labels: IntArray, latent: FloatArray) -> dict[str, FloatArray]:
        """Return each entry's probability integral transform given the partition."""
        entries = self.likelihood.drawn_entries(self.X, latent)
        centre, scale = self._grid_of()
        t = np.arcsinh((entries - centre) / scale)
        found = {}
        for rows in rows_of(labels):
            cluster = self._cluster(rows)
            for axis, hole in enumerate(cluster.holes):
                density = np.moveaxis(cluster.density, axis, 0).reshape(len(GRID), -1).sum(axis=1)
                found[f"missing {hole}"] = np.interp(t[:, hole], *_distribution(density))
        return found

    # --- clusters

    def _cluster(self, rows: tuple[int, ...]) -> _Cluster:
        if rows not in self._clusters:
            self._clusters[rows] = self._integrated(rows)
        return self._clusters[rows]

    def _integrated(self, rows: tuple[int, ...]) -> _Cluster:
        holes = np.array([k for k in self.drawn if self.rows[k] in rows], dtype=np.int64)
        there = list(rows)
        centre, scale = self._grid_of()
        grids = np.meshgrid(*[GRID] * len(holes), indexing="ij")
        points = np.stack([t.ravel() for t in grids], axis=1) if len(holes) else np.empty((1, 0))
        table = np.repeat(self.X[there][None], len(points), axis=0)
        log_density = np.zeros(len(points))
        for axis, hole in enumerate(holes):
            place = there.index(int(self.rows[hole]))
            values = centre[hole] + scale[hole] * np.sinh(points[:, axis])
            table[:, place, self.columns[hole]] = values
            log_density += np.log(scale[hole] * np.cosh(points[:, axis]) * STEP)
        log_density += _log_marginals(self.likelihood, table)
        if self.errors is not None:
            log_density += _log_errors(self.X[there] - table, self.errors[there])
        total = float(logsumexp(log_density))
        density = np.exp(log_density - total).reshape([len(GRID)] * len(holes))
        return _Cluster(total, holes, density)

    def _grid_of(self) -> tuple[FloatArray, FloatArray]:
        """Return the centre and the scale of each entry's grid."""
        scales = np.sqrt(np.diag(self.likelihood.scale))
        return self.likelihood.mean[self.columns], scales[self.columns]

    def _places(self, t: FloatArray) -> FloatArray:
        centre, scale = self._grid_of()
        return np.asarray(centre + scale * np.sinh(t))

    def _in_core_units(self, entries: FloatArray) -> FloatArray:
        zero = self.likelihood.drawn_entries(self.X, np.zeros(len(self.rows)))
        one = self.likelihood.drawn_entries(self.X, np.ones(len(self.rows)))
        return np.asarray((entries - zero) / (one - zero))


def _log_errors(away: FloatArray, errors: FloatArray) -> FloatArray:
    """Return the log density of the errors (B, n, d) of rows; columns without any are passed by."""
    total = np.zeros(len(away))
    for row, covariance in enumerate(errors):
        own = np.flatnonzero(np.diag(covariance) > 0)
        if len(own):
            inner = covariance[np.ix_(own, own)]
            e = away[:, row][:, own]
            total -= np.einsum("bi,bi->b", e, np.linalg.solve(inner, e.T).T) / 2
            total -= len(own) / 2 * np.log(2 * np.pi) + np.linalg.slogdet(inner)[1] / 2
    return total


def rows_of(labels: IntArray) -> list[tuple[int, ...]]:
    """Return the rows of each cluster."""
    return [tuple(np.flatnonzero(labels == c).tolist()) for c in range(int(labels.max()) + 1)]


def _log_marginals(gaussian: Any, table: FloatArray) -> FloatArray:
    """Return ``log P(X_c)`` of many clusters (B, n, d) of as many rows, nothing missing."""
    n, d = table.shape[1:]
    if n == 0:
        return np.zeros(len(table))
    r, nu, scale = gaussian.r, gaussian.nu, gaussian.scale
    centre = table.mean(axis=1)
    away, apart = centre - gaussian.mean, table - centre[:, None]
    posterior = scale + np.einsum("bni,bnj->bij", apart, apart)
    posterior = posterior + r * n / (r + n) * away[:, :, None] * away[:, None, :]
    value = -n * d / 2 * np.log(np.pi) + d / 2 * np.log(r / (r + n))
    value += multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d)
    value += nu / 2 * np.linalg.slogdet(scale)[1]
    return np.asarray(value - (nu + n) / 2 * np.linalg.slogdet(posterior)[1])


def _distribution(density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the edges of cells about the points of the grid, and the distribution there."""
    edges = np.append(GRID - STEP / 2, GRID[-1] + STEP / 2)
    sums = np.concatenate([[0.0], np.cumsum(density)])
    return edges, sums / sums[-1]


def _inverse(density: FloatArray, uniform: FloatArray) -> FloatArray:
    edges, sums = _distribution(density)
    return np.interp(uniform, sums, edges)
