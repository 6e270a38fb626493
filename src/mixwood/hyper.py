"""Distributions that a parameter may be given instead of a number: it is then sampled."""

from __future__ import annotations

from dataclasses import dataclass

from mixwood._support.checks import positive_number

__all__ = ["Beta", "Gamma", "LogNormal"]


@dataclass(frozen=True)
class Gamma:
    """A Gamma distribution by shape and rate, for anything positive.

    Parameters
    ----------
    shape, rate : float
        Positive. The density is proportional to ``x**(shape - 1) * exp(-rate * x)``.

    Examples
    --------
    >>> Gamma(2, 1).mean
    2.0
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", positive_number(self.shape, "shape"))
        object.__setattr__(self, "rate", positive_number(self.rate, "rate"))

    @property
    def mean(self) -> float:
        """The expectation, ``shape / rate``."""
        return self.shape / self.rate


@dataclass(frozen=True)
class Beta:
    """A Beta distribution on (0, 1), for `sigma`.

    Parameters
    ----------
    a, b : float
        Positive. The density is proportional to ``x**(a - 1) * (1 - x)**(b - 1)``.

    Examples
    --------
    >>> Beta(2, 4).mean
    0.3333333333333333
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", positive_number(self.a, "a"))
        object.__setattr__(self, "b", positive_number(self.b, "b"))

    @property
    def mean(self) -> float:
        """The expectation, ``a / (a + b)``."""
        return self.a / (self.a + self.b)


@dataclass(frozen=True)
class LogNormal:
    """A log-normal distribution, for anything positive.

    Parameters
    ----------
    median : float
        Positive; half of the probability is below it.
    sd : float
        Positive; the standard deviation of the logarithm. About two thirds of the probability
        lie within a factor ``exp(sd)`` of the median.

    Examples
    --------
    >>> LogNormal(0.1, 1.5)
    LogNormal(median=0.1, sd=1.5)
    """

    median: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "median", positive_number(self.median, "median"))
        object.__setattr__(self, "sd", positive_number(self.sd, "sd"))
