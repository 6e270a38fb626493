"""Functions of numbers that leave the range of floating point."""

from __future__ import annotations

from math import exp, log1p

import numpy as np
from numpy.typing import NDArray

__all__ = ["exponential", "softplus"]

#: ``exp`` of these is just above the smallest and just below the largest (normal) float64.
_EXPONENTS = (-708.39, 709.78)


def exponential(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``exp``, clipped so that it is never infinite and never 0.

    Examples
    --------
    >>> bool(np.isfinite(exponential(np.array(1e6))))
    True
    """
    return np.asarray(np.exp(np.clip(logarithms, *_EXPONENTS)))


def softplus(v: float) -> float:
    """Return ``log(1 + e^v)``, which with ``v = log u`` is ``log tau``.

    Examples
    --------
    >>> softplus(1e6)
    1000000.0
    """
    return max(v, 0.0) + log1p(exp(-abs(v)))
