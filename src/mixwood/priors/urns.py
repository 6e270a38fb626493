"""Partitions drawn from a prior, items one after another, and draws of its parameters."""

from __future__ import annotations

import numpy as np

from mixwood import hyper
from mixwood._support.gamma_draws import log_gamma_draws
from mixwood._support.types import FloatArray, IntArray

__all__ = [
    "NormalizedMeasure",
    "Urn",
    "draw_components",
    "draw_discount",
    "draw_finite_partitions",
    "draw_log_mass",
    "draw_partitions",
]


def draw_log_mass(law: float | hyper.Gamma, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw the logs of masses, which may be fixed."""
    if isinstance(law, hyper.Gamma):
        return np.asarray(log_gamma_draws(np.full(size, law.shape), rng) - np.log(law.rate))
    return np.full(size, np.log(law))


def draw_discount(law: float | hyper.Beta, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw discounts, which may be fixed."""
    if isinstance(law, hyper.Beta):
        return rng.beta(law.a, law.b, size)
    return np.full(size, law)


class Urn:
    """The Chinese restaurant with a discount: ``P(new) = (theta + K sigma) / (theta + i)``."""

    def __init__(self, theta: FloatArray, sigma: FloatArray) -> None:
        self.theta, self.sigma = theta, sigma

    def probability_new(self, i: int, clusters: FloatArray) -> FloatArray:
        """Return the probability that item `i` (from 0) starts a cluster."""
        return (self.theta + clusters * self.sigma) / (self.theta + i)


class NormalizedMeasure:
    """The NGGP given (alpha, sigma): no urn in closed form, so u is integrated on a grid.

    Given the first i items, v = log u has density ``u^i tau^(K sigma - i) e^-psi(u)``, and::

        P(new) = E[u alpha sigma tau^(sigma-1)] / i,  P(old) = E[(u/tau) (i - K sigma)] / i
    """

    POINTS = 200

    def __init__(self, log_alpha: FloatArray, sigma: FloatArray) -> None:
        self.log_alpha, self.sigma = log_alpha[:, None], sigma[:, None]
        self.placed_at = 0.0

    def probability_new(self, i: int, clusters: FloatArray) -> FloatArray:
        """Return the probability that item `i` (from 0) starts a cluster."""
        # the density moves little when i does: place the grid again every two percent
        if i >= 1.02 * self.placed_at:
            self._place(i, clusters)
            self.placed_at = float(i)
        log_weights = self._log_density(self.x, i, clusters)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        v = 2 * np.sinh(self.x)
        log_new = self.log_alpha + np.log(self.sigma) + self.sigma * np.logaddexp(0, v)
        common = np.exp(-np.logaddexp(0, -v))
        new = np.sum(weights * common * np.exp(log_new), axis=1)
        old = np.sum(weights * common, axis=1) * (i - clusters * self.sigma[:, 0])
        return np.asarray(new / (new + old))

    def _log_density(self, x: FloatArray, i: int, clusters: FloatArray) -> FloatArray:
        """Return the log density on ``x``, where ``v = 2 sinh(x)`` reaches the far tails."""
        v = 2 * np.sinh(x)
        power = self.sigma * np.logaddexp(0, v)
        with np.errstate(over="ignore"):
            mass = np.exp(self.log_alpha) * np.expm1(power)
        growth = clusters[:, None] * power - i * np.logaddexp(0, -v)
        return np.asarray(growth - mass + np.log(np.cosh(x)))

    def _place(self, i: int, clusters: FloatArray) -> None:
        """Put the grid where the density is, by zooming in from everywhere."""
        # beyond the right end, exp(-alpha tau^sigma) has beaten tau^(K sigma)
        reach = np.log1p((60 + 10 * clusters) / np.exp(self.log_alpha[:, 0]))
        low = np.full(len(clusters), -np.arcsinh(25.0))
        high = np.arcsinh((reach / self.sigma[:, 0] + np.log(i) + 5) / 2)
        fraction = np.linspace(0, 1, self.POINTS)
        for _ in range(3):
            self.x = low[:, None] + (high - low)[:, None] * fraction
            values = self._log_density(self.x, i, clusters)
            inside = values > values.max(axis=1, keepdims=True) - 50
            first = np.maximum(inside.argmax(axis=1) - 1, 0)
            last = self.POINTS - 1 - np.maximum(inside[:, ::-1].argmax(axis=1) - 1, 0)
            rows = np.arange(len(clusters))
            low, high = self.x[rows, first], self.x[rows, last]
        self.x = low[:, None] + (high - low)[:, None] * fraction

    def draw_log_u(self, n: int, clusters: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw ``log u`` given the sizes, by the inverse of its CDF on the grid."""
        self._place(n, clusters)
        values = self._log_density(self.x, n, clusters)
        weights = np.exp(values - values.max(axis=1, keepdims=True))
        cumulative = np.cumsum(weights[:, 1:] + weights[:, :-1], axis=1)
        cumulative = np.concatenate([np.zeros((len(weights), 1)), cumulative], axis=1)
        quantiles = rng.random(len(weights)) * cumulative[:, -1]
        x = [
            np.interp(q, row, points)
            for q, row, points in zip(quantiles, cumulative, self.x, strict=True)
        ]
        return np.asarray(2 * np.sinh(np.array(x)))


def draw_partitions(
    urn: Urn | NormalizedMeasure, n: int, sigma: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Seat `n` items one after another, in as many partitions as there are sigmas."""
    size = len(sigma)
    rows = np.arange(size)
    labels = np.zeros((size, n), dtype=np.int64)
    counts = np.zeros((size, n), dtype=np.int64)
    clusters = np.ones(size, dtype=np.int64)
    counts[:, 0] = 1
    for i in range(1, n):
        is_new = rng.random(size) < urn.probability_new(i, clusters.astype(np.float64))
        chosen = np.where(is_new, clusters, 0)
        # an old cluster has weight |c| - sigma: copy an item's label, kept with (|c|-sigma)/|c|
        pending = np.flatnonzero(~is_new)
        while pending.size:
            copied = labels[pending, rng.integers(i, size=pending.size)]
            chosen[pending] = copied
            sizes = counts[pending, copied]
            pending = pending[rng.random(pending.size) * sizes >= sizes - sigma[pending]]
        labels[:, i] = chosen
        counts[rows, chosen] += 1
        clusters += is_new
    return labels


def draw_components(rates: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw numbers of components, Poisson given that there is one; whole numbers, as floats.

    In a Poisson process of rate 1 that has a point before the time `rates`, the first is drawn,
    then how many follow.
    """
    first = -np.log1p(rng.random(len(rates)) * np.expm1(-rates))
    rest = np.maximum(rates - first, 0.0)
    # beyond what numpy draws, the number is the rate to nine digits
    return 1 + np.where(rest < 1e18, rng.poisson(np.minimum(rest, 1e18)), rest)


def draw_finite_partitions(
    components: FloatArray, gamma: FloatArray, n: int, rng: np.random.Generator
) -> IntArray:
    """Seat `n` items one after another in M components whose weights are Dirichlet(gamma).

    Item i starts a cluster with probability ``(M - K) gamma / (M gamma + i)``; an old cluster has
    weight ``|c| + gamma``.
    """
    size = len(gamma)
    rows = np.arange(size)
    labels = np.zeros((size, n), dtype=np.int64)
    clusters = np.ones(size, dtype=np.int64)
    for i in range(1, n):
        new, copied, coin, any_one = rng.random((4, size))
        is_new = new * (components * gamma + i) < (components - clusters) * gamma
        # one of |c| by the label of an item, one of gamma by that of any cluster
        by_item = coin * (clusters * gamma + i) < i
        old = np.where(by_item, labels[rows, (copied * i).astype(int)], (any_one * clusters))
        labels[:, i] = np.where(is_new, clusters, old.astype(int))
        clusters += is_new
    return labels
