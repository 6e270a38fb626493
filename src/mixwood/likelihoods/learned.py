"""Parts of a base measure that are learned: hyperpriors, and what the data say before a chain runs.

The base measure is the prior of a cluster's parameters. Where it is learned, its own parameters
are part of a chain's state: a vector of numbers, positive ones as their logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mixwood._support.checks import moderate_number, shown
from mixwood._support.types import FloatArray
from mixwood.hyper import BOUNDS, Beta, Bounds, Gamma, Law, LogNormal, centre, draw, law
from mixwood.input.matrices import real_array

__all__ = [
    "BOUNDS",
    "C0",
    "NU_BOUNDS",
    "NU_PRIOR",
    "Hyperprior",
    "KeptColumns",
    "Law",
    "LearnedScale",
    "TiedRate",
    "base_of_clusters",
    "centre",
    "centre_spread",
    "draw",
    "is_learned",
    "law",
    "law_argument",
    "log_draws",
    "log_start",
    "nu_bounds",
    "nu_prior",
    "number_or_prior",
    "of_clusters",
    "spread_sd",
    "start_or_draw",
]

#: What a positive parameter may be given instead of a number.
Hyperprior: TypeAlias = Gamma | LogNormal

#: The share of the data's variance that a cluster is expected to have, before the data speak.
C0 = 0.2
#: Of ``nu - d - 1`` (one column: ``nu - 2``), within bounds. Large: clusters share one covariance.
#: As many rows are worth as much as the prior; where columns share a variance, see `nu_bounds`.
NU_PRIOR = LogNormal(10, 2)
NU_BOUNDS = (1.0, 2e4)


#: Where r is tied: the least variance of the centres of clusters over the data's. Large, so that a
#: row on its own is expensive and says nothing about the width of clusters.
LEAST_SPREAD = 200.0
#: How far from that the data can take it: the standard deviation of its logarithm, in one column
#: or two.
SPREAD_SD = 0.1
#: In few columns that is not enough: how much of the mass of a new cluster's center may lie where
#: the data are, within three standard deviations of their mean.
MASS_WITHIN = 0.05


def centre_spread(d: int) -> float:
    """Return ``tau``, the variance of the centres of clusters over that of the data.

    The centre of a new cluster is normal with ``tau`` times the data's variance, so within three
    standard deviations of the data's it is with probability of about
    ``(6 / sqrt(2 pi tau))^d``: that is how many rows, for each unit of the prior's mass, start a
    cluster of their own in data that are one cluster. It is at most a twentieth.

    Examples
    --------
    >>> [round(centre_spread(d), 1) for d in (1, 2, 3, 4, 20)]
    [2291.8, 200.0, 200.0, 200.0, 200.0]
    """
    few = 36 / (2 * np.pi) * MASS_WITHIN ** (-2 / d)
    return max(LEAST_SPREAD, float(few))


def spread_sd(d: int) -> float:
    """Return the standard deviation of ``ln tau``: less in many columns.

    What clusters as near as the data are gain by it grows with the columns, ``(d/2) ln tau`` nats
    each, and so does what ``tau`` costs on the way there: how many clusters it takes, some
    hundreds, does not depend on the columns.

    Examples
    --------
    >>> [round(spread_sd(d), 3) for d in (1, 2, 8, 200)]
    [0.1, 0.1, 0.05, 0.01]
    """
    return SPREAD_SD * float(np.sqrt(2 / max(d, 2)))


def nu_prior(columns: int) -> LogNormal:
    """Return the law of ``nu'`` where a variance is that of so many columns."""
    return LogNormal(NU_PRIOR.median * columns, NU_PRIOR.sd)


def nu_bounds(columns: int) -> tuple[float, float]:
    """Return the bounds of ``nu'`` where a variance is that of so many columns.

    ``nu'`` counts entries, not rows: one row tells as much about a variance as it has columns. The
    prior is worth a row at least. Were it worth less, a row on its own would cost little however
    far the centres of clusters are apart: its variance would be ``tau`` times smaller, and the
    centre, whose variance is ``1/r`` times that, as near as the data are.

    Examples
    --------
    >>> nu_bounds(1), nu_bounds(20)
    ((1.0, 20000.0), (20.0, 400000.0))
    """
    low, high = NU_BOUNDS
    return low * columns, high * columns


class _ByArrays:
    """Equal if all fields are, arrays entry by entry."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[key], theirs[key]) for key in mine)

    def __hash__(self) -> int:
        return hash(type(self))


@dataclass(frozen=True, eq=False)
class KeptColumns(_ByArrays):
    """Which columns take part, and how the others follow: ``x = centre + weights (y - centre)``.

    Attributes
    ----------
    columns : int array of shape (k,)
        The columns that take part, in rising order, out of ``d``; their entries are ``y``.
    centre : array of shape (d,)
        A point that the rows lie about; of a constant its value.
    weights : array of shape (d, k)
        What each column is made of; rows of zeros are constants.
    """

    columns: Any
    centre: Any
    weights: Any

    def __post_init__(self) -> None:
        columns = np.asarray(self.columns, dtype=np.int64)
        centre = real_array(self.centre, "centre of the kept columns")
        weights = real_array(self.weights, "weights of the kept columns")
        d, k = np.size(centre), np.size(columns)
        if columns.shape != (k,) or centre.shape != (d,) or weights.shape != (d, k) or k == 0:
            raise ValueError(
                f"kept columns need a centre (d,) and weights (d, {k}), "
                f"got {centre.shape} and {weights.shape}"
            )
        if columns[0] < 0 or columns[-1] >= d or np.any(np.diff(columns) <= 0):
            raise ValueError(f"kept columns must rise from 0 to below {d}, got {shown(columns)}")
        if not (np.isfinite(centre).all() and np.isfinite(weights).all()):
            raise ValueError("kept columns need finite centres and weights")
        for name, value in (("columns", columns), ("centre", centre), ("weights", weights)):
            object.__setattr__(self, name, value)

    @property
    def left_out(self) -> dict[int, str]:
        """The columns that do not take part, and why: ``"constant"`` or ``"combination"``."""
        others = sorted(set(range(len(self.centre))) - set(self.columns.tolist()))
        return {j: "combination" if self.weights[j].any() else "constant" for j in others}


@dataclass(frozen=True, eq=False)
class LearnedScale(_ByArrays):
    """The covariance that clusters are expected to have is sampled.

    Attributes
    ----------
    covariance : array of shape (d, d), (d,) or float
        That of all rows together; full, diagonal or spherical. Of the columns that take part.
    floor : array of the same shape
        What the expected covariance of a cluster cannot fall below.
    tie_floor : array of the same shape, optional
        What ``nu'`` times the expected covariance cannot fall below; 0 by default.
    kept : KeptColumns, optional
        Which columns take part; all by default.
    spread_sd : float
        Where r is tied: how far the data can take the variance of the centres of clusters from
        `centre_spread`, the standard deviation of its logarithm.
    """

    covariance: Any
    floor: Any
    tie_floor: Any = None
    kept: KeptColumns | None = None
    spread_sd: float = SPREAD_SD

    def __post_init__(self) -> None:
        if self.tie_floor is None:
            object.__setattr__(self, "tie_floor", np.zeros(np.shape(self.floor)))
        arrays = {
            name: real_array(getattr(self, name), f"{name} of the learned scale")
            for name in ("covariance", "floor", "tie_floor")
        }
        covariance = arrays["covariance"]
        square = covariance.ndim == 2 and covariance.shape[0] == covariance.shape[1]
        variances = np.diag(covariance) if square else covariance
        shapes = [array.shape for array in arrays.values()]
        if len(set(shapes)) > 1 or not (square or covariance.ndim < 2):
            raise ValueError(
                f"a learned scale needs a covariance and floors of one shape, got {shapes}"
            )
        if not (all(np.isfinite(a).all() for a in arrays.values()) and np.all(variances > 0)):
            raise ValueError("a learned scale needs finite covariances with positive variances")
        if self.kept is not None and variances.shape != self.kept.columns.shape:
            raise ValueError(
                f"a learned scale of {np.size(variances)} columns cannot be that of the kept "
                f"columns {shown(self.kept)}"
            )
        for name, value in arrays.items():
            object.__setattr__(self, name, value if value.ndim else float(value))
        object.__setattr__(self, "spread_sd", moderate_number(self.spread_sd, "spread_sd"))

    @property
    def tie(self) -> LogNormal:
        """The law of the factor between r and what it is tied to."""
        return LogNormal(1, self.spread_sd)


@dataclass(frozen=True, eq=False)
class TiedRate(_ByArrays):
    """The rate of a Gamma prior follows its sampled shape, so that its mean stays.

    Attributes
    ----------
    mean : array of shape (d,)
        The prior mean of each column.
    """

    mean: Any

    def __post_init__(self) -> None:
        mean = real_array(self.mean, "mean of the tied rate")
        if mean.ndim != 1 or not np.isfinite(mean).all() or np.any(mean <= 0):
            raise ValueError(f"a tied rate needs positive means, got {shown(self.mean)}")
        object.__setattr__(self, "mean", mean)


def is_learned(value: Any) -> bool:
    """Tell whether a parameter is a distribution, so that it is sampled.

    Examples
    --------
    >>> is_learned(LogNormal(1, 1)), is_learned(1.0)
    (True, False)
    """
    return isinstance(value, (Gamma, LogNormal, Beta))


def number_or_prior(value: Any, name: str, bounds: Bounds = BOUNDS) -> float | Hyperprior:
    """Return a positive number as a float, a hyperprior as it is, or raise.

    Examples
    --------
    >>> number_or_prior(3, "beta"), number_or_prior(LogNormal(1, 2), "beta")
    (3.0, LogNormal(median=1.0, sd=2.0))
    """
    if isinstance(value, (Gamma, LogNormal)):
        if not bounds[0] <= centre(value) <= bounds[1]:
            raise ValueError(
                f"{name} is learned between {bounds[0]:g} and {bounds[1]:g}, and the "
                f"{'median' if isinstance(value, LogNormal) else 'mean'} of {value} is not there"
            )
        return value
    try:
        return moderate_number(value, name)
    except TypeError:
        raise TypeError(
            f"{name} must be a positive number, or a distribution of positive numbers to learn it "
            f"(mw.hyper.LogNormal or mw.hyper.Gamma), got {shown(value)}"
        ) from None


def law_argument(value: Any) -> dict[str, Law]:
    """Return the argument that tells the core of a hyperprior: none where the value is fixed."""
    return {"law": law(value)} if is_learned(value) else {}


def log_start(value: Any, size: int) -> FloatArray:
    """Return the logs of `size` learned parameters where a chain starts, none if fixed."""
    return np.full(size, np.log(centre(value))) if is_learned(value) else np.empty(0)


def log_draws(value: Any, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw the logs of `size` learned parameters from their hyperprior, none if fixed."""
    return np.log(draw(value, BOUNDS, rng, size)) if is_learned(value) else np.empty(0)


def of_clusters(value: Any, base: FloatArray | None, clusters: int, size: int) -> Any:
    """Return a parameter: itself if it is a number, else that of each cluster and column."""
    return np.exp(base_of_clusters(base, clusters, size)) if is_learned(value) else value


def start_or_draw(value: Any, rng: np.random.Generator | None, bounds: Bounds = BOUNDS) -> float:
    """Return a fixed number as it is; a learned one's start, or a draw with `rng`."""
    if not is_learned(value):
        return float(value)
    return centre(value) if rng is None else float(draw(value, bounds, rng))


def base_of_clusters(base: FloatArray | None, clusters: int, size: int) -> FloatArray:
    """Return the base measure of each cluster, an array (clusters, size); `base` may be one.

    Examples
    --------
    >>> base_of_clusters(np.array([0.5, 2.0]), 2, 2)
    array([[0.5, 2. ],
           [0.5, 2. ]])
    """
    if size == 0:
        return np.empty((clusters, 0))
    if base is None:
        raise ValueError(
            "base must be given: the base measure is learned, so clusters have the one of their "
            "draw (see draw_base for one from its hyperprior)"
        )
    return np.broadcast_to(base, (clusters, size))
