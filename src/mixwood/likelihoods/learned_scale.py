"""What the Gaussians with a learned base measure share: hyperpriors, floor, tied r.

Everything here is in units of the data's standard deviations, in which the spread ``R`` of the
data has a unit diagonal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.hyper import Gamma
from mixwood.likelihoods.learned import (
    C0,
    NU_BOUNDS,
    KeptColumns,
    Law,
    LearnedScale,
    centre_spread,
    draw,
    is_learned,
    law,
    nu_bounds,
    nu_prior,
    number_or_prior,
    spread_sd,
    start_or_draw,
)
from mixwood.likelihoods.spread import Rounding

__all__ = [
    "Start",
    "above_ties",
    "check_learned",
    "check_nu_of_variances",
    "check_r_and_nu",
    "draw_expected_covariance",
    "draw_expected_variances",
    "effective_rows",
    "explicit_r_and_nu",
    "floor_matrix",
    "floor_variances",
    "laws",
    "learned_covariance",
    "learned_variance",
    "learned_variances",
    "learns",
    "log_tail",
    "rounding_variances",
    "scalars_learned",
    "start_grid",
    "tie_floor_matrix",
    "tie_floor_variances",
    "tie_variances",
]

#: The expected covariance of a cluster is at least what rounding makes of a single value, or this
#: share of the data's variance, and at most the second share of it in any direction: without
#: a floor chains run to 0 where rows are tied, and with a high one they cannot move.
SMALLEST = 1e-6
LARGEST = 1 / 20
#: Where entries far from all others make up the variance, the first is a share of the bulk's
#: variance (`far_entries`), but at least this one of the column's: sums of squares are rounded.
SMALLEST_OF_BULK = 1e-11
#: Likewise of ``Psi``, at most this many times the covariance of the data.
LARGEST_TIES = 100.0
#: Where chains may start: expected covariances over `C0` times the data's, and ``nu'``. Base
#: measure and partition find each other only from a good start, and clusters that share
#: a covariance (large ``nu'``) are a mode of their own.
START_SHARES = (1.0, 1 / 4, 1 / 16, 1 / 64)
START_EXCESSES = (5.0, 500.0)
#: Tight clusters may also be many and close, most of them lone rows: another mode, in which the
#: variance of their centres over the data's is this.
CLOSE_SHARES, CLOSE_SPREAD = (1 / 16, 1 / 64), 2.0
#: How often a draw is tried anew until it is above the floor, and the steps of a chain otherwise.
TRIES = 100
STEPS = 300


def learns(scale: Any) -> bool:
    """Tell whether `scale` asks for, or is, a learned one."""
    return isinstance(scale, LearnedScale) or (isinstance(scale, str) and scale == "learn")


def check_r_and_nu(r: Any, nu: Any, scale: Any) -> tuple[Any, Any]:
    """Return `r` and `nu` as None, numbers or hyperpriors, or raise.

    Examples
    --------
    >>> check_r_and_nu(None, 8, "learn")
    (None, 8.0)
    """
    r = None if r is None else number_or_prior(r, "r")
    nu = None if nu is None else number_or_prior(nu, "nu", NU_BOUNDS)
    for name, value in (("r", r), ("nu", nu)):
        if is_learned(value) and not learns(scale):
            raise ValueError(
                f"{name} must be a number where scale is fixed, got {value}; use scale='learn'"
            )
    return r, nu


def check_learned(scale: LearnedScale, dimension: int) -> None:
    """Raise if a learned scale is that of another kind of Gaussian."""
    if np.ndim(scale.covariance) != dimension:
        shape = ("a number", "a vector", "a matrix")[dimension]
        raise ValueError(
            f"scale must be learned as {shape}, got one of shape {np.shape(scale.covariance)}"
        )


def check_nu_of_variances(nu: Any, scale: Any) -> None:
    """Raise if the degrees of freedom of a learned variance leave it without an expectation."""
    if learns(scale) and nu is not None and not is_learned(nu) and nu <= 2:
        raise ValueError(f"nu must be above 2 where scale='learn', got {nu}")


def explicit_r_and_nu(
    r: Any, nu: Any, scale: Any, fixed_nu: float, columns: int = 1
) -> tuple[Any, Any]:
    """Return `r` and `nu` with what None stands for; a tied r stays None.

    `columns` is how many have one variance.

    Examples
    --------
    >>> explicit_r_and_nu(None, None, "data", 7.0)
    (0.1, 7.0)
    """
    if learns(scale):
        return r, nu_prior(columns) if nu is None else number_or_prior(nu, "nu", nu_bounds(columns))
    return 0.1 if r is None else r, fixed_nu if nu is None else nu


def laws(r: Any, nu: Any, scale: LearnedScale, columns: int = 1) -> tuple[Law, Law]:
    """Return the hyperpriors of nu and r as the core reads them."""
    of_r = law(r) if r is not None else ("tied", *law(scale.tie)[1:])
    return law(nu, nu_bounds(columns)), of_r


def log_tail(
    r: Any,
    nu: Any,
    scale: LearnedScale,
    offset: float,
    rng: np.random.Generator | None,
    columns: int = 1,
) -> list[float]:
    """Return the logs of ``nu - offset`` and of r, the start or a draw from the hyperpriors.

    Of a tied r, the log of the factor between it and what it is tied to.
    """
    excess = start_or_draw(nu, rng, nu_bounds(columns)) if is_learned(nu) else nu - offset
    free = start_or_draw(scale.tie if r is None else r, rng)
    return [float(np.log(excess)), float(np.log(free))]


def scalars_learned(
    r: Any, nu: Any, base: FloatArray, d: int, offset: float
) -> dict[str, FloatArray]:
    """Return draws of nu, and of r or tau, by name, if they are sampled.

    `base` ends with the log of ``nu - offset``, and of r or of what it is tied by.
    """
    excess, free = np.exp(base[..., -2]), np.exp(base[..., -1])
    found = {"nu": excess + offset} if is_learned(nu) else {}
    if r is None:
        return found | {"tau": centre_spread(d) / free}
    return found | {"r": free} if is_learned(r) else found


class Start(NamedTuple):
    """Where a base measure may start: a share of the usual covariance, and its last two numbers."""

    share: float
    log_tail: tuple[float, float]


def start_grid(
    r: Any, nu: Any, d: int, log_tail: tuple[float, float], columns: int = 1
) -> list[Start]:
    """Return the starts; what is fixed stays as in `log_tail`. `columns` have one variance.

    Examples
    --------
    >>> learned = start_grid(None, nu_prior(1), 2, (0.0, 0.0))
    >>> len(learned), start_grid(0.1, 8.0, 2, (2.0, -1.0))[0]
    (10, Start(share=1.0, log_tail=(2.0, -1.0)))
    """
    log_nu, free = log_tail
    excesses = [float(np.log(x * columns)) for x in START_EXCESSES] if is_learned(nu) else [log_nu]
    starts = [Start(share, (excess, free)) for share in START_SHARES for excess in excesses]
    if r is None:
        close = float(np.log(centre_spread(d) / CLOSE_SPREAD))
        starts += [Start(share, (excesses[-1], close)) for share in CLOSE_SHARES]
    return starts


def rounding_variances(steps: Any, variances: Any, bulk: Any = 1.0) -> Any:
    """Return the diagonal ``D``, in units of the columns' variances.

    Without rounding a millionth, of the variance that is the `bulk`'s.

    Clusters of one covariance whose variance is at least ``step^2/(2 pi)`` gain nothing from a
    cluster of its own for each rounded value: the density at its centre is then at most
    ``1/step``, which a smooth density reaches, too. Twice that, as clusters may differ, too:
    see `tie_variances`.
    """
    with np.errstate(over="ignore", under="ignore"):
        least = np.maximum(SMALLEST * bulk, SMALLEST_OF_BULK)
        return np.maximum((steps / np.sqrt(variances)) ** 2 / np.pi, least)


def tie_variances(rounding: Rounding, variances: Any) -> Any:
    """Return the same for ``psi = nu' omega``, where each cluster has a covariance of its own.

    The density of ``m`` tied values, their variance integrated out, is for each of them at most
    ``1/step`` if ``psi >= (nu + m/2) step^2/(2 pi)``. The larger one of two terms is at least half
    of their sum, so it is enough that each is twice as large: ``omega >= step^2/pi``, and
    ``psi >= m step^2/(2 pi)``.
    """
    with np.errstate(over="ignore", under="ignore"):
        squared = (rounding.steps / np.sqrt(variances)) ** 2
        return np.minimum(squared * rounding.ties / (2 * np.pi), 1e12)


def tie_floor_matrix(spread: FloatArray, least: FloatArray) -> FloatArray:
    """Return ``(M^-1 + R^-1/100)^-1``, M diagonal: below both ``M`` and ``100 R``; M may be 0.

    Examples
    --------
    >>> tie_floor_matrix(np.eye(2), np.array([0.0, 100.0]))
    array([[ 0.,  0.],
           [ 0., 50.]])
    """
    root = np.sqrt(least)
    inner = np.eye(len(least)) + root[:, None] * np.linalg.inv(spread) * root / LARGEST_TIES
    floor = root[:, None] * np.linalg.inv(inner) * root
    return np.asarray((floor + floor.T) / 2)


def tie_floor_variances(least: Any) -> Any:
    """Return the same for single variances."""
    return least / (1 + least / LARGEST_TIES)


def floor_variances(least: Any) -> Any:
    """Return the floor of variances, given those of rounding; never above a twentieth.

    Examples
    --------
    >>> floor_variances(np.array([1e-6, 0.05, 1e9])).round(6)
    array([1.0e-06, 2.5e-02, 5.0e-02])
    """
    return 1 / (1 / least + 1 / LARGEST)


def floor_matrix(spread: FloatArray, least: FloatArray) -> FloatArray:
    """Return ``(D^-1 + 20 R^-1)^-1``: below both ``D`` and ``R/20`` in every direction.

    Examples
    --------
    >>> floor_matrix(np.eye(2), np.array([0.05, 0.05])).round(3)
    array([[0.025, 0.   ],
           [0.   , 0.025]])
    """
    floor = np.linalg.inv(np.diag(1 / least) + np.linalg.inv(spread) / LARGEST)
    return np.asarray((floor + floor.T) / 2)


def learned_covariance(
    covariance: FloatArray,
    rounding: Rounding,
    kept: KeptColumns | None = None,
    bulk: FloatArray | float = 1.0,
) -> LearnedScale:
    """Return what data with this covariance and rounding say of a learned scale.

    `bulk` is the share of each variance that is not of a few far entries.
    """
    variances = np.diag(covariance)
    units = np.sqrt(variances)
    square = np.outer(units, units)
    spread = covariance / square
    floor = floor_matrix(spread, rounding_variances(rounding.steps, variances, bulk))
    tie_floor = tie_floor_matrix(spread, tie_variances(rounding, variances))
    sd = spread_sd(len(covariance))
    return LearnedScale(covariance, floor * square, tie_floor * square, kept, sd)


def learned_variances(
    variances: FloatArray,
    rounding: Rounding,
    kept: KeptColumns | None = None,
    bulk: FloatArray | float = 1.0,
) -> LearnedScale:
    """Return the same where columns are independent."""
    floor = floor_variances(rounding_variances(rounding.steps, variances, bulk))
    tie_floor = tie_floor_variances(tie_variances(rounding, variances))
    sd = spread_sd(len(variances))
    return LearnedScale(variances, floor * variances, tie_floor * variances, kept, sd)


def learned_variance(
    variance: float, steps: FloatArray, copies: float = 1.0, bulk: float = 1.0
) -> LearnedScale:
    """Return the same where all columns have one variance.

    Here nothing is gained from ties in some columns, only from rows that are the same in all:
    `copies` is how many rows are as a random one, in the mean.
    """
    step = np.sqrt(np.mean(steps**2))
    floor = floor_variances(rounding_variances(step, variance, bulk))
    ties = Rounding(np.asarray(step), np.asarray((copies - 1.0) * len(steps)))
    tie_floor = tie_floor_variances(tie_variances(ties, variance))
    sd = spread_sd(len(steps))
    return LearnedScale(variance, floor * variance, tie_floor * variance, spread_sd=sd)


def effective_rows(n: int, clusters: int, nu: float) -> float:
    """Return about how many rows' worth the clusters say of their expected covariance.

    Each cluster's own covariance is `nu` rows' worth, if it is known; and it is known from its
    rows.

    Examples
    --------
    >>> effective_rows(100, 1, 1e9).__round__(), effective_rows(10**9, 5, 20.0).__round__()
    (100, 100)
    """
    return 1 / (1 / (clusters * nu) + 1 / n)


def above_ties(
    base: FloatArray, needed: float, nu: Any, shift: Any, columns: int = 1
) -> FloatArray:
    """Return a base measure whose ``Psi`` is above its floor.

    Parameters
    ----------
    base : array of shape (base_size,)
        Ends with ``ln nu'`` and ``ln r``.
    needed : float
        The factor by which ``Psi`` has to grow.
    nu : float or hyperprior
        Where it is learned it grows; else the covariance does, by ``shift(base, factor)``.
    columns : int
        How many have one variance.
    """
    if needed <= 1:
        return base
    if is_learned(nu) and np.exp(base[-2]) * needed * 1.05 < nu_bounds(columns)[1]:
        moved = base.copy()
        moved[-2] += np.log(needed * 1.05)
        return moved
    return np.asarray(shift(base, needed * 1.05))


def draw_expected_variances(floor: Any, rng: np.random.Generator) -> Any:
    """Draw variances from Gamma(3/2, 3/(2 c0)) above their floors."""
    return draw(Gamma(1.5, 1.5 / C0), (floor, np.inf), rng, np.shape(floor) or None)


def draw_expected_covariance(
    spread: FloatArray, floor: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw a covariance from Wishart(d + 2, c0 R/(d + 2)) above its floor.

    Where few draws are above the floor (many columns with coarse values) it is the last of a long
    chain of independent proposals: ``floor + Wishart(d + 1)`` has the density wanted but for the
    root of the determinant.
    """
    d = len(spread)
    root: FloatArray = np.linalg.cholesky(spread * C0 / (d + 2)).astype(np.float64)
    for _ in range(TRIES):
        drawn = _wishart(root, d + 2, rng)
        if np.linalg.eigvalsh(drawn - floor)[0] >= 0:
            return drawn
    state, log_root = floor, float(-np.inf)
    for _ in range(STEPS):
        proposal = floor + _wishart(root, d + 1, rng)
        proposed = float(np.linalg.slogdet(proposal)[1]) / 2
        if np.log(rng.random()) <= proposed - log_root:
            state, log_root = proposal, proposed
    return state


def _wishart(root: FloatArray, degrees: int, rng: np.random.Generator) -> FloatArray:
    """Draw from a Wishart distribution with whole degrees and scale ``root root'``."""
    rows = rng.standard_normal((degrees, len(root))) @ root.T
    return np.asarray(rows.T @ rows)
