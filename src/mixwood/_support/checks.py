"""Checks of single arguments, and the words of the errors they raise.

Every message names the argument, says what was given and what is right.
Checks of whole data sets are in `mixwood.input.matrices`.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

__all__ = [
    "finite_number",
    "moderate_number",
    "positive_number",
    "probability",
    "shown",
    "whole_number",
]


def shown(value: Any) -> str:
    """Return a short form of `value` for an error message."""
    try:
        text = repr(value)
    except Exception:  # such as that of an int of more than 4,300 digits
        text = f"one of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite_number(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not a finite real number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except (OverflowError, ValueError):  # an int beyond the floats; a signalling NaN
        raise ValueError(f"{name} must be a finite float, got {shown(value)}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    return number


def positive_number(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not finite and positive."""
    number = finite_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {shown(value)}")
    return number


def moderate_number(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not positive, or so extreme that sums lose it.

    What a prior is worth (masses, pseudo-counts, degrees of freedom): beyond these bounds log
    Gamma functions overflow, and densities are not numbers.
    """
    number = positive_number(value, name)
    if not 1e-100 <= number <= 1e100:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {shown(value)}")
    return number


def probability(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not strictly between 0 and 1."""
    number = finite_number(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {shown(value)}")
    return number


#: The largest number of anything: what 64 bits hold.
LARGEST = 2**63 - 1


def whole_number(value: Any, name: str, *, at_least: int, at_most: int | None = LARGEST) -> int:
    """Return `value` as an int, or raise if it is not a whole number within the bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    number = int(value)
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {shown(number)}")
    if at_most is not None and number > at_most:
        raise ValueError(f"{name} must be at most {at_most}, got {shown(number)}")
    return number
