"""Where a falling function crosses 0."""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq

__all__ = ["falling_zero"]


def falling_zero(f: Callable[[float], float]) -> float:
    """Return the zero of a falling function on the line, which may be infinite far out.

    Examples
    --------
    >>> round(falling_zero(lambda v: 40 - v), 9)
    40.0
    """

    def bounded(v: float) -> float:
        return max(min(f(v), 1e300), -1e300)

    low = high = 0.0
    step = 1.0
    while bounded(low) <= 0:
        low, step = low - step, 2 * step
    step = 1.0
    while bounded(high) >= 0:
        high, step = high + step, 2 * step
    return float(brentq(bounded, low, high, xtol=1e-12, rtol=1e-12))
