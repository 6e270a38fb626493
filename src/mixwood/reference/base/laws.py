"""Positive numbers with hyperpriors, on their logarithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log
from typing import Any, TypeAlias

import numpy as np

from mixwood import hyper
from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import BOUNDS, LearnedScale
from mixwood.reference.random import Stream

__all__ = ["Law", "LogDensity", "law_of", "law_of_r", "slice_entry"]

LogDensity: TypeAlias = Callable[[FloatArray], float]


@dataclass(frozen=True)
class Law:
    """The law of the logarithm of a positive number; of the logit of a share, if it is Beta."""

    distribution: hyper.LogNormal | hyper.Gamma | hyper.Beta
    bounds: tuple[float, float] = BOUNDS

    def log_density(self, log_x: float) -> float:
        """Return the log density of ``ln x``, but for its constant; -inf outside the bounds."""
        if isinstance(self.distribution, hyper.Beta):
            a, b = self.distribution.a, self.distribution.b
            return -a * float(np.logaddexp(0, -log_x)) - b * float(np.logaddexp(0, log_x))
        if not log(self.bounds[0]) <= log_x <= log(self.bounds[1]):
            return -inf
        law = self.distribution
        if isinstance(law, hyper.Gamma):
            return law.shape * log_x - law.rate * exp(log_x)
        return -(((log_x - log(law.median)) / law.sd) ** 2) / 2


def law_of_r(r: Any, scale: LearnedScale) -> Law | None:
    """Return that of r, or of the factor between it and the width where it is tied to that."""
    return law_of(scale.tie if r is None else r)


def law_of(value: Any, bounds: tuple[float, float] = BOUNDS) -> Law | None:
    """Return the law of a parameter, None where it is a number.

    Examples
    --------
    >>> law_of(hyper.Gamma(2, 1)).log_density(0.0)
    -1.0
    >>> law_of(0.5) is None
    True
    """
    if isinstance(value, (int, float)):
        return None
    if not isinstance(value, (hyper.Gamma, hyper.LogNormal)):
        raise TypeError(f"a positive parameter has a Gamma or LogNormal, got {shown(value)}")
    return Law(value, bounds)


def slice_entry(
    base: FloatArray, place: int, width: float, log_density: LogDensity, stream: Stream
) -> FloatArray:
    """Return `base` after a slice step of one of its entries."""

    def moved(value: float) -> FloatArray:
        other = np.array(base)
        other[place] = value
        return other

    return moved(stream.slice_line(lambda v: log_density(moved(v)), float(base[place]), width))
