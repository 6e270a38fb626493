"""The random draws of a chain, made of uniforms in a fixed order.

The compiled core consumes its bit generator in exactly this order, so that from the same
seed both give the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, log, sqrt

import numpy as np

from mixwood._support.types import FloatArray, IntArray

__all__ = ["Stream"]


class Stream:
    """Draws from one stream of uniforms.

    Parameters
    ----------
    rng : numpy.random.Generator
        Each draw below is made of calls of ``rng.random()``, one uniform each.

    Examples
    --------
    >>> stream = Stream(np.random.default_rng(1))
    >>> 0 <= stream.uniform() < 1
    True
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    @property
    def generator(self) -> np.random.Generator:
        """The stream itself, for who draws from it by other means."""
        return self._rng

    def uniform(self) -> float:
        """Draw from [0, 1)."""
        return float(self._rng.random())

    def positive_uniform(self) -> float:
        """Draw from (0, 1], whose logarithm is finite."""
        return 1.0 - self.uniform()

    def exponential(self) -> float:
        """Draw an exponential of rate 1."""
        return -log(self.positive_uniform())

    def normal(self) -> float:
        """Draw a standard normal by Marsaglia's polar method; the second one is discarded."""
        while True:
            a = 2 * self.uniform() - 1
            b = 2 * self.uniform() - 1
            s = a * a + b * b
            if 0 < s < 1:
                return a * sqrt(-2 * log(s) / s)

    def log_gamma_draw(self, shape: float) -> float:
        """Draw the log of a Gamma(`shape`, 1), by Marsaglia and Tsang.

        Below shape 1, ``log G(a) = log G(a+1) + log(U)/a``: in logs nothing underflows.
        """
        if shape < 1:
            larger = self.log_gamma_draw(shape + 1)
            return larger + log(self.positive_uniform()) / shape
        d = shape - 1 / 3
        c = 1 / sqrt(9 * d)
        while True:
            x = self.normal()
            t = 1 + c * x
            if t <= 0:
                continue
            v = t * t * t
            w = self.positive_uniform()
            if log(w) < 0.5 * x * x + d - d * v + d * log(v):
                return log(d) + log(v)

    def gamma_above(self, shape: float, rate: float, least: float) -> float:
        """Draw a Gamma(`shape`, `rate`) of a shape of at least 1 that is not below `least`.

        Above the mode, an exponential of the density's slope at `least` is thinned.
        """
        if least <= (shape - 1) / rate:
            while True:
                x = exp(self.log_gamma_draw(shape)) / rate
                if x >= least:
                    return x
        slope = rate - (shape - 1) / least
        while True:
            x = least + self.exponential() / slope
            bound = (shape - 1) * (log(x / least) - (x - least) / least)
            if log(self.positive_uniform()) <= bound:
                return x

    def wishart_root(self, d: int, nu: float) -> FloatArray:
        """Draw a lower triangular ``T`` with ``T'T ~ Wishart(I, nu)``, by Bartlett, in reverse."""
        root = np.zeros((d, d))
        for j in range(d):
            root[j, j] = sqrt(2 * exp(self.log_gamma_draw((nu - (d - 1 - j)) / 2)))
            for i in range(j + 1, d):
                root[i, j] = self.normal()
        return root

    def pick(self, log_weights: FloatArray) -> int:
        """Draw an index with probability proportional to ``exp(log_weights)``."""
        cumulative = np.cumsum(np.exp(log_weights - np.max(log_weights)))
        return int(np.searchsorted(cumulative, self.uniform() * cumulative[-1], side="right"))

    def below(self, count: int) -> int:
        """Draw from ``0..count-1``."""
        return floor(self.uniform() * count)

    def shuffle_front(self, order: IntArray, count: int) -> None:
        """Bring `count` entries, drawn without replacement, to the front of `order`."""
        n = len(order)
        for j in range(count):
            k = j + self.below(n - j)
            order[j], order[k] = order[k], order[j]

    def slice_line(
        self, f: Callable[[float], float], x: float, width: float, growth: float = 1.0
    ) -> float:
        """Make one slice step from `x` for the log density `f` on the line, stepping out.

        Each stride is `growth` times the last, which is right for a density with one mode:
        any interval that covers the slice gives a uniform draw from it.
        """
        level = f(x) - self.exponential()
        left = x - width * self.uniform()
        right = left + width
        stride = width
        while f(left) > level:
            left -= stride
            stride *= growth
        stride = width
        while f(right) > level:
            right += stride
            stride *= growth
        return self._shrink(f, x, level, left, right)

    def slice_unit(self, f: Callable[[float], float], x: float) -> float:
        """Make one slice step from `x` for the log density `f` on (0, 1)."""
        level = f(x) - self.exponential()
        return self._shrink(f, x, level, 0.0, 1.0)

    def _shrink(
        self, f: Callable[[float], float], x: float, level: float, left: float, right: float
    ) -> float:
        while True:
            y = left + (right - left) * self.uniform()
            if f(y) > level:
                return y
            if y == x:
                return x  # the interval is down to rounding: only x itself is left
            if y < x:
                left = y
            else:
                right = y
