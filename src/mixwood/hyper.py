"""Distributions that a parameter may be given instead of a number: it is then sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from mixwood._support.checks import positive_number

if TYPE_CHECKING:  # the first module that is imported: numpy only after `_support` has agreed
    import numpy as np

__all__ = ["Beta", "Gamma", "LogNormal"]

#: A hyperprior as the core reads it: kind, two numbers, and the bounds it is restricted to.
Law: TypeAlias = tuple[str, float, float, float, float]

Bounds: TypeAlias = tuple[Any, Any]

#: Learned parameters stay within these: beyond them log Gamma functions lose all digits.
BOUNDS = (1e-10, 1e10)


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


def centre(prior: Any) -> float:
    """Return where a chain starts: the median of a LogNormal, the mean of the others."""
    return prior.median if isinstance(prior, LogNormal) else float(prior.mean)


def law(value: Any, bounds: Bounds = BOUNDS) -> Law:
    """Return a parameter as the core reads it: a hyperprior or a fixed number.

    Examples
    --------
    >>> law(LogNormal(10, 2), (1, 100)), law(0.1)
    (('lognormal', 10.0, 2.0, 1.0, 100.0), ('fixed', 0.0, 0.0, 0.0, 0.0))
    """
    low, high = map(float, bounds)
    match value:
        case LogNormal(median, sd):
            return ("lognormal", median, sd, low, high)
        case Gamma(shape, rate):
            return ("gamma", shape, rate, low, high)
        case Beta(a, b):
            return ("beta", a, b, low, high)
    return ("fixed", 0.0, 0.0, 0.0, 0.0)


def draw(prior: Any, bounds: Bounds, rng: np.random.Generator, size: Any = None) -> Any:
    """Draw from a hyperprior restricted to `bounds`, by the inverse of its distribution function.

    `bounds` may be arrays. Without a `size` it is a number.

    Examples
    --------
    >>> import numpy as np
    >>> draws = draw(LogNormal(1, 9), (0.5, 2), np.random.default_rng(0), 1000)
    >>> bool(0.5 <= draws.min() < draws.max() <= 2)
    True
    """
    import numpy as np
    from scipy import special

    low, high = bounds

    def share(x: Any) -> Any:
        if isinstance(prior, LogNormal):
            return special.ndtr(np.log(x / prior.median) / prior.sd)
        if isinstance(prior, Gamma):
            return special.gammainc(prior.shape, prior.rate * x)
        return special.betainc(prior.a, prior.b, x)

    uniform = rng.uniform(share(low), share(high), size)
    if isinstance(prior, LogNormal):
        drawn = prior.median * np.exp(prior.sd * special.ndtri(uniform))
    elif isinstance(prior, Gamma):
        drawn = special.gammaincinv(prior.shape, uniform) / prior.rate
    else:
        drawn = special.betaincinv(prior.a, prior.b, uniform)
    inside = np.clip(drawn, low, high)
    return inside if np.ndim(inside) else float(inside)
