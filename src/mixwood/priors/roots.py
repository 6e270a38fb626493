"""Where a falling function crosses 0."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["falling_zero"]

#: How near the zero must be, absolutely and relatively.
TOLERANCE = 1e-12


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
    return _between(bounded, low, high)


def _between(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero between two points of different sign, by Brent's method.

    The same steps as ``scipy.optimize.brentq``, whose import would take longer than small runs.
    """
    before, here, across = low, high, 0.0  # the last point, this one, one of the other sign
    f_before, f_here, f_across = f(low), f(high), 0.0
    last = step = 0.0
    while True:
        if f_before != 0 and (f_before > 0) != (f_here > 0):
            across, f_across = before, f_before
            last = step = here - before
        if abs(f_across) < abs(f_here):
            before, here, across = here, across, here
            f_before, f_here, f_across = f_here, f_across, f_here
        near = (TOLERANCE + TOLERANCE * abs(here)) / 2
        half = (across - here) / 2
        if f_here == 0 or abs(half) < near:
            return here
        trial = float("inf")
        if abs(last) > near and abs(f_here) < abs(f_before):
            trial = _secant((before, f_before), (here, f_here), (across, f_across))
        if 2 * abs(trial) < min(abs(last), 3 * abs(half) - near):
            last, step = step, trial
        else:
            last = step = half
        before, f_before = here, f_here
        here += step if abs(step) > near else (near if half > 0 else -near)
        f_here = f(here)


def _secant(
    before: tuple[float, float], here: tuple[float, float], across: tuple[float, float]
) -> float:
    """Return the step to where a curve through two or three points is 0, infinite if nowhere."""
    (x0, f0), (x1, f1), (x2, f2) = before, here, across
    if x0 == x2:
        return -f1 * (x1 - x0) / (f1 - f0)
    slope, other = (f0 - f1) / (x0 - x1), (f2 - f1) / (x2 - x1)
    below = other * slope * (f2 - f0)
    return -f1 * (f2 * other - f0 * slope) / below if below != 0 else float("inf")
