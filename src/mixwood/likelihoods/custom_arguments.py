"""What users give as parameters of a family of their own, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mixwood._support.checks import finite_number, shown
from mixwood._support.types import FloatArray
from mixwood.hyper import Beta
from mixwood.likelihoods.learned import BOUNDS, is_learned, number_or_prior

__all__ = ["OPTIONAL", "bounds_of", "checked_names", "checked_parameters", "coordinate"]

#: Fields that may be None, and the argument of `conjugate_family` that each is.
OPTIONAL = {
    "data_check": "check",
    "row_constant": "row_constant",
    "log_predictive": "log_predictive",
    "log_density": "log_density",
    "parameter_sampler": "draw_parameters",
    "row_sampler": "draw_rows",
}


def checked_parameters(parameters: Any) -> FloatArray | dict[str, Any]:
    """Return parameters as a read-only array, or as a dict of numbers and hyperpriors by name."""
    if not isinstance(parameters, Mapping):
        return _numbers(parameters)
    for name in parameters:
        if not isinstance(name, str):
            raise TypeError(f"parameters must have names as keys, got {shown(name)}")
    return {name: _parameter(value, f"parameters[{name!r}]") for name, value in parameters.items()}


def checked_names(names: Any) -> tuple[str, ...]:
    """Return names of parameters, or raise."""
    given = () if isinstance(names, str) or not isinstance(names, Sequence) else tuple(names)
    if not given or not all(isinstance(name, str) for name in given) or len({*given}) < len(given):
        raise ValueError(
            "parameter_names must be different names, one for each number that draw_parameters "
            f"returns, got {shown(names)}"
        )
    return given


def _parameter(value: Any, name: str) -> Any:
    if isinstance(value, Beta):
        return value
    if is_learned(value):
        return number_or_prior(value, name)
    try:
        return finite_number(value, name)
    except TypeError:
        raise TypeError(
            f"{name} must be a number, or a distribution of mw.hyper to learn it, "
            f"got {shown(value)}"
        ) from None


def bounds_of(prior: Any) -> tuple[float, float]:
    """Return what a learned parameter is kept within."""
    return (BOUNDS[0], 1 - BOUNDS[0]) if isinstance(prior, Beta) else BOUNDS


def coordinate(prior: Any, value: float) -> float:
    """Return a learned parameter as the core has it: its log, or logit where it is a share."""
    return (
        float(np.log(value) - np.log1p(-value)) if isinstance(prior, Beta) else float(np.log(value))
    )


def _numbers(parameters: Any) -> FloatArray:
    """Return parameters as an array that cannot be written to."""
    try:
        array = np.array(parameters, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise ValueError(
            "parameters must be a sequence of finite numbers, a mapping from names to numbers and "
            f"distributions, or a function of X that returns one, got {shown(parameters)}"
        )
    array.flags.writeable = False
    return array
