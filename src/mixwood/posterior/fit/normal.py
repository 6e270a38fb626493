"""Normal columns: what of their rows is compared with replicates.

With ``e`` the residual of an entry in standard deviations of its cluster, and the sums over rows::

    spread      sum e^2                  asymmetry   sum e^3 - 3e, in each cluster
    tails       sum e^4 - 6e^2 + 3       humps       the same in each cluster, in columns and along
    bend        sum w_j w_k w_l          and peaks   its axes: the least and the largest
    dense half  share of rows within the ellipsoid that holds half of a normal

where ``w`` are residuals along the axes of the cluster, in units of theirs; the squares of the sums
for asymmetry and bend are added up over clusters (and all j, k, l: Mardia's skewness).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.fit.quantities import FEWEST_ROWS, Blocks, Checked, Quantity

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.likelihoods.base import Parameters

__all__ = ["FAR", "Normal", "independent_columns"]

#: How far out is far, in standard deviations.
FAR = 3.0
#: Bends are looked for along this many axes at most.
_MOST_AXES = 12
#: The standard deviation of a cluster's sum of fourth moments, over the root of its rows.
_SHAPE_SD = 24**0.5
#: Where the density falls to this part of the lower peak, with at least this share of the rows on
#: either side, they are two humps; if it falls by this many standard errors, so that of 150 rows
#: that are normal 1% seem to have two, of exponential ones 4%, of two groups 5 apart nearly all.
_VALLEY, _HUMP, _ERRORS = 0.9, 0.05, 0.75


class Normal(Checked):
    """Columns that are normal in a cluster."""

    def __init__(self, parameters: Parameters, places: list[int], blocks: Blocks) -> None:
        mean = parameters["mean"]
        self.joint = "covariance" in parameters
        if self.joint:
            covariance = parameters["covariance"]
            kept = independent_columns(covariance)
            covariance = covariance[:, kept[:, None], kept]
            variance = np.diagonal(covariance, axis1=1, axis2=2)
        else:
            variance = parameters["variance"]
            variance = np.broadcast_to(variance.reshape(len(mean), -1), mean.shape)
            kept = np.flatnonzero((variance > 0).all(axis=0))
            variance = variance[:, kept]
        self.columns = [places[j] for j in kept]
        self.blocks, labels = blocks, blocks.labels
        self._sd = np.sqrt(variance)
        self._mean_of_row, self._sd_of_row = mean[:, kept][labels], self._sd[labels]
        if self.joint:
            correlation = covariance / (self._sd[:, :, None] * self._sd[:, None, :])
            lengths, axes = np.linalg.eigh(correlation)
            self._to_axes = axes / np.sqrt(np.maximum(lengths, 1e-12))[:, None, :]
        each = [(name, (j,)) for name in ("spread", "tails", "asymmetry") for j in self.columns]
        whole = ["humps", "peaks", "dense half"] + ["bend"] * (len(self.columns) > 1)
        self.quantities = [Quantity(*one) for one in each] + [
            Quantity(name, tuple(self.columns)) for name in whole
        ]

    def _residuals(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        e = (rows[:, self.columns] - self._mean_of_row) / self._sd_of_row
        if not self.joint:
            return e, e
        parts = [e[self.blocks.of(c)] @ self._to_axes[c] for c in self.blocks.present]
        return e, np.concatenate(parts)

    def measure(self, rows: FloatArray, /) -> tuple[list[float], list[float]]:
        """Return the score and the value of each quantity."""
        from scipy.special import chdtri

        e, w = self._residuals(rows)
        squares = e * e
        fourth = squares * (squares - 6) + 3
        third = self.blocks.sums(e * (squares - 3))
        spread, sizes = squares.mean(axis=0), self.blocks.sizes[self.blocks.used]
        asymmetry = (third**2).sum(axis=0)
        shape = self._shape(fourth, w)
        inside = ((w * w).sum(axis=1) < chdtri(w.shape[1], 0.5)).mean()
        low, high = shape.min(), shape.max()
        scores = [*np.log(spread), *fourth.mean(axis=0), *np.cbrt(asymmetry)]
        scores += [low, np.arcsinh(high / _SHAPE_SD), inside]
        far = (np.abs(e) > FAR).mean(axis=0)
        values = [*np.sqrt(spread), *far, *np.sqrt(asymmetry / sizes.sum())]
        values += [*(extreme / np.sqrt(sizes.max()) for extreme in (low, high)), inside]
        if len(self.columns) > 1:
            bend = float(self._bends(w).sum())
            scores.append(np.cbrt(bend))
            values.append(np.sqrt(bend / sizes.sum()))
        return scores, values

    def _shape(self, fourth: FloatArray, w: FloatArray) -> FloatArray:
        """Return the fourth moments of each cluster, in columns and along its axes."""
        found = self.blocks.sums(fourth)
        if not self.joint:
            return found
        squares = w * w
        return np.hstack([found, self.blocks.sums(squares * (squares - 6) + 3)])

    def _bends(self, w: FloatArray) -> FloatArray:
        """Return Mardia's skewness of each used cluster times its rows, shape (clusters,)."""
        w = w[:, -_MOST_AXES:]  # the longest
        first, second = np.triu_indices(w.shape[1])
        times = np.where(first == second, 1.0, 2.0)
        found = []
        for c in self.blocks.used:
            own = w[self.blocks.of(c)]
            moments = (own[:, first] * own[:, second]).T @ own
            found.append(times @ (moments**2).sum(axis=1) / len(own))
        return np.array(found)

    def features(self, rows: FloatArray, /) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return residuals: of columns, or along axes where columns may depend on each other."""
        w = self._residuals(rows)[1]
        return w, [tuple(self.columns)] * w.shape[1] if self.joint else [(j,) for j in self.columns]

    def responsible(self, rows: FloatArray, /) -> dict[str, tuple[int, bool]]:
        """Return the flattest, the most peaked, and the most bent cluster, and if it has humps."""
        e, w = self._residuals(rows)
        squares = e * e
        shape = self._shape(squares * (squares - 6) + 3, w)
        used = self.blocks.used
        flat, peaked = used[shape.min(axis=1).argmin()], used[shape.max(axis=1).argmax()]
        bent = int(used[self._bends(w).argmax()])
        found = {"humps": int(flat), "peaks": int(peaked), "bend": bent, "asymmetry": bent}
        return {name: (c, self._has_humps(e, w, c)) for name, c in found.items()}

    def _has_humps(self, e: FloatArray, w: FloatArray, cluster: int) -> bool:
        """Tell whether a cluster has two humps in a direction where that is likely."""
        place = self.blocks.of(cluster)
        own = w[place]
        along = np.hstack([own, e[place]])
        third = np.abs((along**3).mean(axis=0))
        fourth = (along**4).mean(axis=0)
        skewed = own @ ((own * own).sum(axis=1) @ own)  # along the direction of most skewness
        likely = (along[:, fourth.argmin()], along[:, third.argmax()], skewed)
        return min(map(_valley, likely)) < _VALLEY


def _valley(values: FloatArray) -> float:
    """Return how far the density falls between two humps, as a part of the lower one; 1 if not.

    Smoothed somewhat less than is best for a normal, which a mixture of two is not. A fall that may
    be chance is none: the variance of a sum of kernels is about the sum of their squares.
    """
    spread = float(values.std())
    if spread == 0 or len(values) < 2 * FEWEST_ROWS:
        return 1.0
    counts, edges = np.histogram(values, bins=200)
    grid = (edges[1:] + edges[:-1]) / 2
    width = 0.7 * spread * len(values) ** -0.2
    kernels = np.exp(-0.5 * ((grid[:, None] - grid) / width) ** 2)
    low, high = np.quantile(values, [_HUMP, 1 - _HUMP])
    inside = (grid >= low) & (grid <= high)
    density, variance = (kernels @ counts)[inside], (kernels**2 @ counts)[inside]
    if len(density) == 0:  # nearly all values are equal, as those of a pixel at the edge
        return 1.0
    before = np.maximum.accumulate(density)
    after = np.maximum.accumulate(density[::-1])[::-1]
    peak = np.minimum(before, after)
    place = int((density / peak).argmin())
    error = np.sqrt(variance[place] + variance[density == peak[place]][0])
    fall = float(density[place] / peak[place])
    return fall if peak[place] - density[place] > _ERRORS * error else 1.0


def independent_columns(covariance: FloatArray) -> IntArray:
    """Return the columns that do not follow from those before them: others were left out."""
    mean = covariance.mean(axis=0)
    unit = np.sqrt(np.maximum(np.diagonal(mean), 1e-300))
    left = mean / np.outer(unit, unit)
    kept = []
    for j in range(len(left)):
        if np.diagonal(mean)[j] > 0 and left[j, j] > 1e-9:
            kept.append(j)
            left = left - np.outer(left[:, j], left[j]) / left[j, j]
    return np.array(kept, dtype=np.int64)
