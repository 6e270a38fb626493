"""Checks of single arguments, and the words of the errors they raise.

Every message names the argument, says what was given and what is right.
Checks of whole data sets are in `mixwood.data`.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

__all__ = ["finite_number", "positive_number", "probability", "shown", "whole_number"]


def shown(value: Any) -> str:
    """Return a short form of `value` for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite_number(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not a finite real number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    return number


def positive_number(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not finite and positive."""
    number = finite_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {shown(value)}")
    return number


def probability(value: Any, name: str) -> float:
    """Return `value` as a float, or raise if it is not strictly between 0 and 1."""
    number = finite_number(value, name)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {shown(value)}")
    return number


def whole_number(value: Any, name: str, *, at_least: int) -> int:
    """Return `value` as an int, or raise if it is not a whole number of at least `at_least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    number = int(value)
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {number}")
    return number
